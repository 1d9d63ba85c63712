package runner

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"sync"
	"time"

	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/agent"
)

const (
	// maxStdout bounds what a hook may answer; more is ErrOversize.
	maxStdout = 1 << 20
	// stderrTail is how much of the end of standard error is kept, and
	// stderrHead how much of its beginning.
	stderrTail, stderrHead = 64 << 10, 4 << 10
	// grace is how long a process group may take to end after the polite
	// signal, before the one it cannot refuse.
	grace = 250 * time.Millisecond
	// linger is how long the streams of a process that has ended are waited
	// for while a process it started keeps them open.
	linger = 500 * time.Millisecond
)

// command is one process to run.
type command struct {
	path  string
	args  []string
	dir   string
	env   []string
	stdin []byte
	// limit bounds what it may write to standard output, in bytes; more is an
	// error, or with cut is left away.
	limit int
	cut   bool
	// tail is how much of the end of standard error is kept, 0 is stderrTail.
	tail int
	// more is nil, or says of what is known when the streams were held for linger
	// whether what holds them is waited for until ctx ends.
	more func(agent.Outcome) bool
}

// run runs a command in a process group of its own. When ctx ends, or the
// command says too much, the whole group is asked to end, killed 250 ms later
// and reaped. When run returns, whatever the outcome, no process is left in
// the group, no goroutine is left and every pipe is closed; a process that
// must outlive its hook has to leave the group (setsid). The outcome is
// returned beside an error too, as far as it is known.
func (c command) run(ctx context.Context) (agent.Outcome, error) {
	if err := ctx.Err(); err != nil {
		return agent.Outcome{Exit: -1}, ended(ctx)
	}
	cmd := &exec.Cmd{Path: c.path, Args: c.args, Dir: c.dir, Env: c.env, WaitDelay: linger}
	overflow := make(chan struct{}, 1)
	stdout := &capped{limit: c.limit, cut: c.cut, overflow: overflow}
	stderr := &tail{most: c.tail}
	// Writing stdin from a reader is concurrent with the process and ignores
	// EPIPE: a hook need not read its event.
	cmd.Stdin = bytes.NewReader(c.stdin)
	leadGroup(cmd)
	watch, giveUp := context.WithCancel(ctx)
	defer giveUp()
	sofar := func() agent.Outcome {
		out := agent.Outcome{Exit: cmd.ProcessState.ExitCode(), Signal: signalOf(cmd.ProcessState), Stdout: stdout.text()}
		out.Head, out.Stderr = stderr.kept()
		return out
	}
	finish, err := start(watch, cmd, stdout, stderr, func() bool { return c.more != nil && c.more(sofar()) })
	if err != nil {
		return agent.Outcome{Exit: -1}, spawnError(c, err)
	}
	group := adopt(cmd)
	defer group.close()
	waited, held, late := make(chan struct{}), false, false
	go func() {
		held, late = finish()
		close(waited)
	}()
	var failure error
	select {
	case <-waited:
	case <-overflow:
		failure = policy.Failf(policy.ErrOversize, "wrote more than %d KiB to standard output", c.limit>>10)
	case <-ctx.Done():
		failure = endedBefore(ctx, waited)
	}
	if failure == nil && held {
		failure = overdue(ctx)
	}
	if failure != nil {
		giveUp()
		stop(group, waited)
	}
	// The leader is reaped, but the system does not give its number away while
	// the group has a member: a number without one is nobody's.
	group.kill()
	out := sofar()
	out.Late = late
	if failure == nil && stdout.over {
		failure = policy.Failf(policy.ErrOversize, "wrote more than %d KiB to standard output", c.limit>>10)
	}
	return out, failure
}

// start starts a process whose outputs go to the writers. finish returns when
// it has ended and what it wrote is written, and whether a process it started
// held its streams for longer than they are waited for, and so its standard output:
// for linger, and if more says so then until ctx ends.
func start(ctx context.Context, cmd *exec.Cmd, stdout, stderr io.Writer, more func() bool) (finish func() (held, late bool), err error) {
	out, err := openStream()
	if err != nil {
		return nil, err
	}
	errs, err := openStream()
	if err != nil {
		out.abandon()
		return nil, err
	}
	cmd.Stdout, cmd.Stderr = out.write, errs.write
	if err := cmd.Start(); err != nil {
		out.abandon()
		errs.abandon()
		return nil, err
	}
	out.copyTo(stdout)
	errs.copyTo(stderr)
	return func() (held, late bool) {
		// What Wait returns is told better by ProcessState and the streams.
		_ = cmd.Wait()
		patience := make(chan time.Time)
		timer := time.AfterFunc(linger, func() {
			if more() {
				<-ctx.Done()
			}
			close(patience)
		})
		defer timer.Stop()
		late = out.settle(patience)
		return errs.settle(patience) || late, late
	}, nil
}

// overdue is the failure of a run whose streams were held until after the time
// it had: a busy machine may notice the end of the waiting before the earlier
// end of the time.
func overdue(ctx context.Context) error {
	until, ok := ctx.Deadline()
	if !ok || time.Now().Before(until) {
		return nil
	}
	<-ctx.Done()
	return ended(ctx)
}

// endedBefore is the failure of a run whose context is over, nil when the run
// was over too: which of the two is noticed first must not matter.
func endedBefore(ctx context.Context, waited <-chan struct{}) error {
	select {
	case <-waited:
		return nil
	default:
		return ended(ctx)
	}
}

// stop ends a group: politely, then not. It returns when its leader is
// reaped.
func stop(group *group, waited <-chan struct{}) {
	group.terminate()
	patience := time.NewTimer(grace)
	defer patience.Stop()
	select {
	case <-waited:
	case <-patience.C:
		group.kill()
		<-waited
	}
}

// ended is the failure of a run whose context is over. A cause that is a
// HookError itself is the failure.
func ended(ctx context.Context) error {
	var cause *policy.HookError
	if errors.As(context.Cause(ctx), &cause) {
		return cause
	}
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return policy.Failf(policy.ErrTimeout, "timed out: %w", ctx.Err())
	}
	return policy.Failf(policy.ErrDeadline, "cancelled: %w", ctx.Err())
}

// spawnError says in plain words why a process did not start.
func spawnError(c command, err error) error {
	if c.dir != "" {
		if info, statErr := os.Stat(c.dir); statErr != nil || !info.IsDir() {
			return badDir(c.dir)
		}
	}
	switch {
	case errors.Is(err, os.ErrNotExist):
		return policy.Failf(policy.ErrSpawn, "%s: not found: %w", c.path, err)
	case errors.Is(err, os.ErrPermission):
		return policy.Failf(policy.ErrSpawn, "%s: not executable: %w", c.path, err)
	}
	return policy.Failf(policy.ErrSpawn, "cannot start %s: %w", c.path, err)
}

// badDir is the failure of a hook whose working directory is not there.
func badDir(dir string) error {
	return policy.Failf(policy.ErrSpawn, "working directory %s does not exist or is not a directory", dir)
}

// capped keeps what is written to it up to a limit, then reports the overflow
// once and drops the rest.
type capped struct {
	mu       sync.Mutex
	kept     []byte
	limit    int
	cut      bool
	over     bool
	overflow chan<- struct{}
}

func (w *capped) Write(p []byte) (int, error) {
	w.mu.Lock()
	room := w.limit - len(w.kept)
	w.kept = append(w.kept, p[:min(len(p), room)]...)
	if len(p) > room && !w.over && !w.cut {
		w.over = true
		w.overflow <- struct{}{}
	}
	w.mu.Unlock()
	return len(p), nil
}

func (w *capped) text() string {
	w.mu.Lock()
	out := valid(string(w.kept))
	w.mu.Unlock()
	return out
}

// tail keeps the beginning of what is written to it, and of the end so much, 0 is stderrTail.
type tail struct {
	mu        sync.Mutex
	head, end []byte
	most      int
}

func (w *tail) Write(p []byte) (int, error) {
	w.mu.Lock()
	if room := stderrHead - len(w.head); room > 0 {
		w.head = append(w.head, p[:min(room, len(p))]...)
	}
	w.end = append(w.end, p...)
	if most := lists.First(w.most, stderrTail); len(w.end) > 2*most {
		w.end = append(w.end[:0], w.end[len(w.end)-most:]...)
	}
	w.mu.Unlock()
	return len(p), nil
}

// kept are the beginning and the end.
func (w *tail) kept() (head, end string) {
	w.mu.Lock()
	head = valid(string(w.head))
	end = valid(string(w.end[max(0, len(w.end)-lists.First(w.most, stderrTail)):]))
	w.mu.Unlock()
	return head, end
}
