package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"runtime/metrics"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/hookc/hookc/internal/decide"
	"github.com/hookc/hookc/internal/spell"
)

// watchdog answers one event when deciding it does not: when the time is up,
// when the process uses too much memory, or when it is told to end. It answers
// with the posture, in the words of whoever asks, and ends the process; so it
// does not matter what the rest of the process is doing. There is one answer:
// whoever claims it first speaks.
type watchdog struct {
	began time.Time
	// limit is the time to the answer, from began; fixed when it was given.
	limit atomic.Int64
	fixed bool
	// waiting is set while the event is not there yet and nobody said how long
	// it may take.
	waiting atomic.Bool
	claimed atomic.Bool
	// refuse speaks the posture and returns the exit code. It may be replaced
	// as more of the event is known.
	refuse atomic.Pointer[func(why string, interrupted bool) int]
	// ended is closed when the process has come to its answer itself.
	ended chan struct{}
	once  sync.Once
	// cancel, when set, stops the hooks that run.
	cancel atomic.Pointer[context.CancelFunc]
	exit   func(int)
	// graceful makes a signal wait for the process to end on its own first.
	graceful bool
}

const (
	// readyBy is how long reading and compiling a policy may take, where no
	// deadline was given and the agent does not wait for less.
	readyBy = 20 * time.Second
	// overtime is what deciding may take beyond the deadline of the plan, which
	// rules do not see that look at one thing for long.
	overtime = 2 * time.Second
	// looking is how often the memory is looked at.
	looking = 25 * time.Millisecond
	// parting is how long hooks have to end once the answer is given.
	parting = 300 * time.Millisecond
	// grace is how long a graceful process has to answer on its own.
	grace = time.Second
)

const noTime = "no answer before the deadline of "

// newWatchdog is one that waits for a time; fixed when the caller gave it.
func newWatchdog(limit time.Duration, fixed bool) *watchdog {
	w := &watchdog{began: time.Now(), fixed: fixed, ended: make(chan struct{}), exit: os.Exit}
	w.limit.Store(int64(limit))
	return w
}

// answers says how to refuse from here on.
//
//go:noinline
func (w *watchdog) answers(refuse func(why string, interrupted bool) int) { w.refuse.Store(&refuse) }

// planned is called when the plan is known: from here on its own deadline
// counts, where no other was given.
func (w *watchdog) planned(deadline time.Duration) {
	if w == nil || w.fixed {
		return
	}
	w.limit.Store(int64(max(time.Duration(w.limit.Load()), time.Since(w.began)+deadline+overtime)))
}

// until is when the answer is due.
func (w *watchdog) until() time.Time { return w.began.Add(time.Duration(w.limit.Load())) }

// await is called around the wait for an event of which nobody said how long it
// may take: the time counts from its end.
func (w *watchdog) await() (here func()) {
	if w == nil || w.fixed {
		return func() {}
	}
	w.waiting.Store(true)
	return func() {
		w.limit.Add(int64(time.Since(w.began)))
		w.waiting.Store(false)
	}
}

// claim is true for the one that answers.
func (w *watchdog) claim() bool { return !w.claimed.Swap(true) }

// finish is called when the process has an answer: false when the watchdog has
// given one, which then ends the process.
func (w *watchdog) finish() bool {
	w.once.Do(func() { close(w.ended) })
	return w.claim()
}

// watch looks on until the process has an answer.
func (w *watchdog) watch() {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, endings()...)
	limit, most := time.NewTimer(time.Duration(w.limit.Load())), uint64(0)
	look := time.NewTicker(looking)
	defer look.Stop()
	for {
		select {
		case <-w.ended:
			return
		case s := <-signals:
			w.interrupted(s)
		case <-limit.C:
			left := time.Duration(w.limit.Load()) - time.Since(w.began)
			if w.waiting.Load() {
				left = time.Duration(w.limit.Load())
			}
			if left <= 0 {
				w.speak(noTime+time.Duration(w.limit.Load()).Round(time.Millisecond).String(), false)
				return
			}
			limit.Reset(left)
		case <-look.C:
			if most == 0 {
				most = memoryLimit()
			}
			if used := heap(); used > most {
				w.speak(fmt.Sprintf("hookc uses more than %d MiB of memory", most>>20), false)
				return
			}
		}
	}
}

// endings are the signals by which a process is told to end. A hangup that was
// ignored when the process began, as nohup does, stays ignored.
//
//go:noinline
func endings() []os.Signal {
	out := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		out = append(out, syscall.SIGHUP)
	}
	return out
}

// interrupted answers a signal. A graceful process has a moment to answer on its
// own.
func (w *watchdog) interrupted(s os.Signal) {
	if w.graceful {
		select {
		case <-w.ended:
			return
		case <-time.After(grace):
		}
	}
	w.speak(fmt.Sprintf("it was interrupted (%s)", s), true)
}

// speak gives the answer and ends the process, with the hooks that run.
func (w *watchdog) speak(why string, interrupted bool) {
	if !w.claim() {
		return
	}
	code := (*w.refuse.Load())(why, interrupted)
	if cancel := w.cancel.Load(); cancel != nil {
		(*cancel)()
		select {
		case <-w.ended:
		case <-time.After(parting):
		}
	}
	w.exit(code)
}

// heap is how much memory the process has from the system and uses.
func heap() uint64 {
	samples := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(samples)
	return samples[0].Value.Uint64() - samples[1].Value.Uint64()
}

const (
	// mostMemory is what one event may use, where the machine has it.
	mostMemory = 2 << 30
	// leastMemory is what it always may.
	leastMemory = 256 << 20
)

// testMemory, in bytes, replaces the limit in programs that tests build with it:
// nothing that runs sets it.
var testMemory string

// memoryLimit is what the process may use: three quarters of what the control
// group allows, and half of what the machine has.
func memoryLimit() uint64 {
	if n, err := strconv.ParseUint(testMemory, 10, 64); err == nil {
		return n
	}
	most := uint64(mostMemory)
	if n, ok := readBytes("/sys/fs/cgroup/memory.max", ""); ok {
		most = min(most, n/4*3)
	}
	if n, ok := readBytes("/proc/meminfo", "MemTotal:"); ok {
		most = min(most, n<<10/2)
	}
	return max(most, leastMemory)
}

// readBytes is the number in a file of the system's, after a word where there
// is one.
func readBytes(path, after string) (n uint64, ok bool) {
	text, err := os.ReadFile(path)
	if err != nil {
		return 0, false
	}
	_, rest, found := spell.Cut(string(text), after)
	if !found {
		return 0, false
	}
	_, err = fmt.Sscan(rest, &n)
	return n, err == nil && n > 0
}

type watchdogKey struct{}

// watchdogOf is the one that looks after a command, or nil.
//
//go:noinline
func watchdogOf(ctx context.Context) *watchdog {
	w, _ := ctx.Value(watchdogKey{}).(*watchdog)
	return w
}

// givenDeadline is the --deadline of a command line, found before anything else
// is looked at.
func givenDeadline(args []string) (d time.Duration, ok bool) {
	const flag = "--" + decide.DeadlineName
	for i, arg := range args {
		value, joined := spell.CutPrefix(arg, flag+"=")
		if arg == flag && i+1 < len(args) {
			value, joined = args[i+1], true
		}
		if arg == "--" {
			break
		}
		if joined {
			given, err := time.ParseDuration(value)
			d, ok = given, err == nil && given > 0
		}
	}
	return d, ok
}
