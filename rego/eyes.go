package rego

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"reflect"
	"sync"
	"sync/atomic"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/hookc/hookc/internal/lazy"
	"github.com/hookc/hookc/policy"
)

// Eyes are the second pair that looks at what native code says: the first
// evaluation of every path through a rule is asked of topdown too, beside the
// event, and until topdown has said the same, topdown decides the events that take
// that path. Code that is wrong once is never used again. Eyes are shared by all
// plans of a process; they are safe for concurrent use.
type Eyes struct {
	// Paranoid asks both at every event, before it is decided, and takes the
	// stricter.
	Paranoid bool
	// Report is told of code that was wrong, once for each; nil tells nobody. It
	// runs beside events.
	Report func(Difference)

	checks   sync.WaitGroup
	pending  atomic.Int32
	checked  atomic.Int64
	changes  atomic.Int64
	mu       sync.Mutex
	rejected map[string]string   // hook by code
	leaving  map[string]*leaving // by code
	leaves   func(Leaving)
}

// Difference is native code that said what topdown does not say.
type Difference struct {
	// Hook is the hook's name, Code the hash of its native code.
	Hook, Code string
	// Module is the Rego, as it is written.
	Module string
	// Event is what the hook saw of the event that showed it.
	Event any
	// Native and Topdown are what each said.
	Native, Topdown string
}

// maxPending bounds how many checks wait; topdown decides what cannot be checked.
const maxPending = 64

// NewEyes begin with code that was wrong before, by its hash.
//
//go:noinline
func NewEyes(paranoid bool, rejected map[string]string, report func(Difference)) *Eyes {
	e := &Eyes{Paranoid: paranoid, Report: report, rejected: map[string]string{}}
	for code, hook := range rejected {
		e.rejected[code] = hook
	}
	if len(rejected) > 0 {
		e.changes.Add(1)
	}
	return e
}

// Close waits for the checks under way.
func (e *Eyes) Close() { e.checks.Wait() }

// Checked is how many evaluations were asked of topdown too.
func (e *Eyes) Checked() int64 { return e.checked.Load() }

// Rejected is the code that is not used any more: the hook by its hash.
func (e *Eyes) Rejected() map[string]string {
	e.mu.Lock()
	defer e.mu.Unlock()
	out := make(map[string]string, len(e.rejected))
	for code, hook := range e.rejected {
		out[code] = hook
	}
	return out
}

// rejects reports whether code is not used any more.
func (e *Eyes) rejects(code string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	_, is := e.rejected[code]
	return is
}

// reject ends the use of code, and tells of it once.
func (e *Eyes) reject(d Difference) {
	e.mu.Lock()
	_, known := e.rejected[d.Code]
	e.rejected[d.Code] = d.Hook
	e.mu.Unlock()
	e.changes.Add(1)
	if !known && e.Report != nil {
		e.Report(d)
	}
}

// glance is what a module's native code is known by to its Eyes. The zero glance
// has none.
type glance struct {
	eyes   *Eyes
	digest func() string
	source string
	// change is the number of changes that were looked at, rejected what they said.
	change   atomic.Int64
	rejected atomic.Bool
	paths    paths
}

// settled reports whether topdown said the same before on a path, and nothing
// changed since it was last asked what code is wrong.
func (g *glance) settled(path uint64) bool {
	return !g.eyes.Paranoid && g.change.Load() == g.eyes.changes.Load() && g.paths.sees(path)
}

// Watch lets eyes look at a module's code. Rules that look at the world or the
// clock cannot be asked twice.
func (n *Native) Watch(e *Eyes, h *policy.Hook) {
	n.eyes, n.source = e, h.Body.Source.Value
	n.digest = lazy.Value(func() string {
		sum := sha256.Sum256(n.code.Program().Append(nil))
		return hex.EncodeToString(sum[:])
	})
	if l := e.known(n); l != nil {
		n.count(l)
	}
}

// Wrong reports whether the code was found wrong, here or in another plan.
func (g *glance) Wrong() bool {
	if now := g.eyes.changes.Load(); g.change.Load() != now {
		if g.eyes.rejects(g.digest()) { // and never believed again, whatever another goroutine saw before
			g.rejected.Store(true)
		}
		g.change.Store(now)
	}
	return g.rejected.Load()
}

// doubted is what is said on a path that native code was not yet believed on.
func (n *Native) doubted(ctx context.Context, in *policy.Context, path uint64, out *policy.Result, err error) (*policy.Result, error) {
	switch {
	case n.Wrong():
		return n.topdown(ctx, in)
	case timedOut(err): // there is no answer
		return out, err
	case n.eyes.Paranoid:
		return n.stricter(ctx, in, out, err)
	}
	switch n.paths.look(path) {
	case seen:
		return out, err
	case first:
		if n.later(in, path, out, err) {
			return out, err
		}
	}
	return n.topdown(ctx, in)
}

// topdown is what the module itself says.
func (n *Native) topdown(ctx context.Context, in *policy.Context) (*policy.Result, error) {
	m, err := n.module()
	if err != nil {
		return nil, err
	}
	out, err := m.Run(ctx, in, 0)
	if err != nil || out.Quiet() {
		return nil, err
	}
	return &out, nil
}

// later asks topdown beside the event; false when too much waits already. What the
// event is must be read now: its host may use it again.
func (n *Native) later(in *policy.Context, path uint64, contribution *policy.Result, err error) bool {
	e := n.eyes
	if e.pending.Add(1) > maxPending {
		e.pending.Add(-1)
		n.paths.done(path, false)
		return false
	}
	if n.input.long(in) {
		e.pending.Add(-1)
		n.paths.done(path, false)
		return false
	}
	input := n.input.value(in)
	if contribution != nil {
		kept := *contribution
		contribution = &kept
	}
	e.checks.Add(1)
	go func() {
		defer e.checks.Done()
		defer e.pending.Add(-1)
		n.paths.done(path, n.check(input, contribution, err))
	}()
	return true
}

// check asks topdown what it says of an event of which native code said something,
// and whether that is the same. A panic of OPA's is no answer, and must not end the
// process, which has other events to decide.
func (n *Native) check(input ast.Value, contribution *policy.Result, err error) (same bool) {
	defer func() {
		if recover() != nil {
			same = false
		}
	}()
	m, broken := n.module()
	if broken != nil {
		return false
	}
	if m.effects.Volatile || m.effects.World != policy.WorldNone {
		return true
	}
	want, wantErr := m.Eval(context.Background(), input)
	if timedOut(wantErr) {
		return false
	}
	n.eyes.checked.Add(1)
	return n.same(input, contribution, err, &want, wantErr)
}

// same compares what both said. Code that was wrong is rejected.
func (n *Native) same(input ast.Value, contribution *policy.Result, err error, want *policy.Result, wantErr error) bool {
	var got policy.Result
	if contribution != nil {
		got = *contribution
	}
	if failureText(err) == failureText(wantErr) && (err != nil || reflect.DeepEqual(got, *want)) {
		return true
	}
	d := Difference{Hook: n.name, Code: n.digest(), Module: n.source, Event: toJSON(input), Native: describeResult(&got, err), Topdown: describeResult(want, wantErr)}
	n.eyes.reject(d)
	return false
}

// stricter asks topdown too, and gives what permits less.
func (n *Native) stricter(ctx context.Context, in *policy.Context, contribution *policy.Result, err error) (*policy.Result, error) {
	m, broken := n.module()
	if broken != nil || m.effects.Volatile || m.effects.World != policy.WorldNone {
		return contribution, err
	}
	if n.input.long(in) {
		return contribution, err
	}
	input := n.input.value(in)
	want, wantErr := m.Eval(ctx, input)
	if timedOut(wantErr) {
		return nil, wantErr
	}
	n.eyes.checked.Add(1)
	if n.same(input, contribution, err, &want, wantErr) {
		return contribution, err
	}
	switch {
	case err != nil:
		return nil, err
	case wantErr != nil:
		return nil, wantErr
	case contribution != nil && contribution.Verdict > want.Verdict:
		return contribution, nil
	}
	return &want, nil
}

// describeResult is what was said, for a report.
func describeResult(r *policy.Result, err error) string {
	if err != nil {
		return "failed: " + err.Error()
	}
	out := r.Verdict.String() + " " + r.Control.String()
	for _, reason := range r.Reasons {
		out += ", " + reason.Text
	}
	return out
}
