package laws

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/hookc/hookc"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
	"github.com/hookc/hookc/tests/depth"
	"github.com/hookc/hookc/tests/processes"
)

// soakFor is how long TestSoak lasts: go test ./tests/laws -run Soak -soak 10m. It
// ends before the test binary's own -timeout strikes.
var soakFor = flag.Duration("soak", 3*time.Second, "how long TestSoak lasts")

const (
	soakWorkers  = 64
	soakSessions = 2
)

// soaked is one run: an engine under events, reloads and registrations.
type soaked struct {
	t      *testing.T
	eng    *hookc.Engine
	oracle *soakOracle
	path   string
	inputs []soakInput

	version timeline
	own     [soakSessions]timeline

	events, cancelled, dropped, repeated    atomic.Int64
	reloads, refused, registers, mismatches atomic.Int64
	actions                                 sync.Map
}

// TestSoak: 64 goroutines fire a mix of every kind of hook while the policy is
// reloaded, now and then a broken one, and sessions register and remove hooks.
// Every Decision is the serial interpreter's under a program that was in force
// between the beginning and the end of its event. Nothing is left behind.
func TestSoak(t *testing.T) {
	depth.NotShort(t)
	length := *soakFor
	if deadline, ok := t.Deadline(); ok {
		length = min(length, time.Until(deadline)-30*time.Second)
	}
	require.NoError(t, exec.Command("true").Run()) // what the runtime opens once, it opens now
	goroutines, files := goleak.IgnoreCurrent(), openFiles()

	s := newSoaked(t)
	s.drive(length / 4)
	warm := heapInUse()
	s.drive(length - length/4)
	end := heapInUse()
	s.checkMetrics()
	for range 60 { // a busy machine gets to see everything later
		if len(s.missing()) == 0 {
			break
		}
		s.drive(time.Second)
	}
	assert.Empty(t, s.missing(), "the mix did not reach all it is about")
	require.NoError(t, s.eng.Close())
	s.oracle.close()

	t.Logf("%v: %d events (%.0f/s), %d cancelled, %d repeated calls, %d reloads, %d broken ones refused, %d registered or removed, %d async dropped, %d mismatches; heap %.1f MB warm, %.1f MB at the end",
		length.Round(time.Second), s.events.Load(), float64(s.events.Load())/length.Seconds(), s.cancelled.Load(), s.repeated.Load(), s.reloads.Load(),
		s.refused.Load(), s.registers.Load(), s.dropped.Load(), s.mismatches.Load(), float64(warm)/1e6, float64(end)/1e6)
	assert.Zero(t, s.mismatches.Load())
	// A short run is still filling the oracle's tables at its end.
	assert.Less(t, end, warm+warm/2+48<<20, "the heap grows")
	goleak.VerifyNone(t, goroutines)
	assert.Empty(t, processes.Children())
	assert.Equal(t, files, openFiles(), "open files")
}

func newSoaked(t *testing.T) *soaked {
	s := &soaked{t: t, path: filepath.Join(t.TempDir(), "hooks.yaml"), inputs: soakInputs()}
	s.write(soakVersions[0])
	eng, err := soakEngine(hookc.Files(s.path))
	require.NoError(t, err)
	s.eng = eng
	s.oracle = &soakOracle{t: t, path: s.path, engines: map[string]*hookc.Engine{}, known: map[soakKey]string{}}
	s.version.states = []string{"0"}
	for i := range s.own {
		s.own[i].states = []string{""}
	}
	return s
}

// write replaces the policy file at once, as an editor does.
func (s *soaked) write(text string) {
	next := s.path + ".next"
	require.NoError(s.t, os.WriteFile(next, []byte(text), 0o600))
	require.NoError(s.t, os.Rename(next, s.path))
}

// drive soaks for so long and returns when every goroutine it started has.
func (s *soaked) drive(length time.Duration) {
	ctx, cancel := context.WithTimeout(s.t.Context(), length)
	defer cancel()
	var wg sync.WaitGroup
	for n := range soakWorkers {
		wg.Go(func() { s.work(ctx, n) })
	}
	wg.Go(func() { s.reload(ctx) })
	for n := range s.own {
		wg.Go(func() { s.register(ctx, n) })
	}
	wg.Wait()
}

// pause waits a while; false when the run is over.
func pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}

// reload alternates between the versions; every fourth time it tries a broken
// policy first.
func (s *soaked) reload(ctx context.Context) {
	for pause(ctx, 15*time.Millisecond) {
		if s.reloads.Load()%4 == 3 { // of all there were: a slow run is driven in short parts
			s.write(soakBroken)
			var list diag.ListError
			if !errors.As(s.eng.Reload(context.Background()), &list) {
				s.wrong("a broken policy was taken")
			}
			s.refused.Add(1)
		}
		v := 1 - int(s.version.states[len(s.version.states)-1][0]-'0')
		s.write(soakVersions[v])
		if err := s.version.change(fmt.Sprint(v), func() error { return s.eng.Reload(context.Background()) }); err != nil {
			s.wrong("reload: %v", err)
		}
		s.reloads.Add(1)
	}
}

// register adds and removes hooks of a session, in any order.
func (s *soaked) register(ctx context.Context, n int) {
	line, own := &s.own[n], s.eng.Session(soakSession(n))
	rng := rand.New(rand.NewPCG(7, uint64(n)))
	for pause(ctx, time.Duration(1+rng.IntN(20))*time.Millisecond) {
		if _, err := own.Register(hookc.Hook{Event: "stop", Deny: "("}); err == nil {
			s.wrong("a broken hook was taken")
		}
		hook := rng.IntN(len(soakHooks))
		now, id := line.states[len(line.states)-1], fmt.Sprint(hook)
		var err error
		if !strings.Contains(now, id) {
			err = line.change(now+id, func() error {
				_, err := own.Register(soakHooks[hook])
				return err
			})
		} else {
			err = line.change(strings.Replace(now, id, "", 1), func() error { return own.Remove(indexOf(own, soakHooks[hook].Name)) })
		}
		if err != nil {
			s.wrong("session hook: %v", err)
		}
		s.registers.Add(1)
	}
}

func soakSession(n int) string { return fmt.Sprint("s", n) }

func indexOf(own *hookc.Session, name string) int {
	for _, l := range own.List() {
		if l.Name == name {
			return l.Index
		}
	}
	return -1
}

// work fires one event after another. Worker n begins at the n-th input, so
// that even a short run sees them all.
func (s *soaked) work(ctx context.Context, n int) {
	rng := rand.New(rand.NewPCG(uint64(n), uint64(s.events.Load())))
	g := &gateCount{session: fmt.Sprintf("turn-%d-%d", n, s.events.Load())}
	for at := n; ctx.Err() == nil; at++ {
		in := &s.inputs[at%len(s.inputs)]
		if in.gate {
			s.check(in, g.session, g, nil)
			continue
		}
		s.check(in, soakSession(rng.IntN(soakSessions)), nil, rng)
	}
}

// gateCount is how often running the gate has blocked the turn of one worker.
type gateCount struct {
	session string
	blocks  int
}

// check fires one event and compares its Decision. With rng, it may be
// cancelled, or be a call that came before.
func (s *soaked) check(in *soakInput, session string, g *gateCount, rng *rand.Rand) {
	c := in.context.in(session)
	ctx, end := context.Background(), context.CancelFunc(func() {})
	if rng != nil && rng.IntN(40) == 0 {
		ctx, end = context.WithTimeout(ctx, time.Duration(rng.IntN(5000))*time.Microsecond)
	}
	defer end()
	if rng != nil && in.event == hookc.PreToolExecution && rng.IntN(3) > 0 {
		c.Set(policy.FieldToolUseID, fmt.Sprint(in.name, rng.IntN(1<<(2+rng.IntN(20)))))
		s.repeated.Add(1)
	}
	version, own := s.version.begun(), 0
	var line *timeline
	if g == nil {
		line = &s.own[session[1]-'0']
		own = line.begun()
	}
	d, err := s.eng.Fire(ctx, in.event, c)
	s.events.Add(1)
	if err != nil {
		s.wrong("%s: %v", in.name, err)
		return
	}
	for _, w := range d.Warnings {
		if isDrop(w) {
			s.dropped.Add(1)
		}
	}
	if d.Action == policy.Cancelled {
		// The deadline may be over before the context's timer says so.
		if until, limited := ctx.Deadline(); ctx.Err() == nil && (!limited || time.Now().Before(until)) || d.Permits() {
			s.wrong("%s: cancelled by nobody", in.name)
		}
		s.cancelled.Add(1)
		return
	}
	s.actions.Store(string(in.event)+" "+string(d.Action), true)
	owns := []string{""}
	if line != nil {
		owns = line.since(own)
	}
	s.compare(d, in, session, g, s.version.since(version), owns)
	g.judge(d)
}

// judge counts as the engine does.
func (g *gateCount) judge(d *policy.Decision) {
	switch {
	case g == nil:
	case d.Action == policy.KeepWorking:
		g.blocks++
	default:
		g.blocks = 0
	}
}

// compare demands that the Decision is that of a program that may have been in
// force.
func (s *soaked) compare(d *policy.Decision, in *soakInput, session string, g *gateCount, versions, owns []string) {
	got := soakText(d)
	var wants []string
	for _, v := range versions {
		for _, own := range owns {
			key := soakKey{version: v, own: own, session: session, input: string(in.event) + in.name}
			if g != nil {
				key.session = ""
			}
			if g != nil && in.event == hookc.StopEvent {
				key.blocks = g.blocks
			}
			want := s.oracle.expects(key, in)
			if got == want {
				return
			}
			wants = append(wants, want)
		}
	}
	s.wrong("%s: got\n%s\nwant one of\n%s", in.name, got, strings.Join(wants, "\n"))
}

// wrong counts a mismatch and shows the first ones.
func (s *soaked) wrong(format string, args ...any) {
	if s.mismatches.Add(1) <= 3 {
		s.t.Errorf(format, args...)
	}
}

// checkMetrics: what was started ended in one way, and the quantiles are in
// order.
func (s *soaked) checkMetrics() {
	for _, m := range s.eng.Metrics().List() {
		assert.Equal(s.t, m.Runs, m.OK+m.Failed+m.Squashed, m.Hook)
		assert.LessOrEqual(s.t, m.P50, m.P95, m.Hook)
		// Half of the runs took the median or more, which is known to 12.5 %.
		assert.LessOrEqual(s.t, float64(m.P50)*float64(m.Runs)/2/1.125, float64(m.Total)+1, m.Hook)
		assert.False(s.t, m.Hook == "guess" && m.OK > 0, "it is told to sleep for minutes")
	}
}

// missing lists what the mix is about and has not happened yet.
func (s *soaked) missing() []string {
	var out []string
	want := func(happened bool, what string) {
		if !happened {
			out = append(out, what)
		}
	}
	seen := map[string]hookc.HookMetrics{}
	for _, m := range s.eng.Metrics().List() {
		seen[m.Hook] = m
	}
	for _, hook := range []string{"greet", "jail", "shell", "moody", "pnpm", "sneaky", "broken", "slow", "guess", "judge", "scan", "weak",
		"mask", "look", "note", "gate", "beep", "seen", "short", "own", "sly", "more"} {
		want(seen[hook].Runs > 0, hook)
	}
	for _, hook := range []string{"moody", "broken", "weak"} {
		want(seen[hook].Retries > 0, hook+" retried")
		want(seen[hook].Failed > 0, hook+" failed")
	}
	want(seen["guess"].Squashed > 0, "guess squashed")
	for _, what := range []string{"pre_tool_execution proceed", "pre_tool_execution block", "pre_tool_execution ask", "stop keep_working", "stop proceed",
		"pre_send_message block", "pre_send_message proceed", "pre_micro_compact abort", "post_tool_execution proceed", "notify proceed"} {
		_, ok := s.actions.Load(what)
		want(ok, what)
	}
	want(s.reloads.Load() > 0, "reload")
	want(s.refused.Load() > 0, "broken policy")
	want(s.registers.Load() > 0, "session hook")
	return out
}

// heapInUse is what is in use once everything unused is collected.
func heapInUse() uint64 {
	for range 3 { // finalizers, and what they let go
		runtime.GC()
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapInuse
}

// openFiles counts the file descriptors of this process; -1 where the system
// does not list them.
func openFiles() int {
	entries, err := os.ReadDir("/dev/fd")
	if err != nil {
		return -1
	}
	return len(entries)
}
