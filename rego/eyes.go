package rego

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"reflect"
	"sync"
	"sync/atomic"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/hookc/hookc/dag"
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
	rejected map[string]string // hook by code
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

// paths are the paths that were checked, and those that are being checked.
type paths struct {
	known atomic.Pointer[pathSet]
	mu    sync.Mutex
	under map[uint64]bool
}

// maxPaths bounds the paths of a module; topdown decides what takes others.
const maxPaths = 4096

// verdict on a path.
type sight uint8

const (
	seen   sight = iota // topdown said the same before
	first               // nobody took it
	unsure              // a check is under way, or there is no room for one
)

// pathSet is a table of paths, of which at most half is taken; 0 is no path. It is
// not changed.
type pathSet struct {
	table []uint64
	n     int
}

func (s *pathSet) has(path uint64) bool {
	if s == nil {
		return false
	}
	for at := path; ; at++ {
		switch s.table[at&uint64(len(s.table)-1)] {
		case path:
			return true
		case 0:
			return false
		}
	}
}

// with is the set with a path that is not in it.
func (s *pathSet) with(path uint64) *pathSet {
	all := []uint64{path}
	if s != nil {
		all = append(all, s.table...)
	}
	out := &pathSet{n: 1, table: make([]uint64, 8)}
	if s != nil {
		out.n = s.n + 1
	}
	for len(out.table) < 2*out.n {
		out.table = make([]uint64, 2*len(out.table))
	}
	for _, p := range all {
		if p == 0 {
			continue
		}
		at := p
		for out.table[at&uint64(len(out.table)-1)] != 0 {
			at++
		}
		out.table[at&uint64(len(out.table)-1)] = p
	}
	return out
}

// look says what is known of a path, and begins its check when nothing is.
func (p *paths) look(path uint64) sight {
	if p.known.Load().has(path | 1) {
		return seen
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	switch known := p.known.Load(); {
	case known.has(path | 1):
		return seen
	case p.under[path|1], known != nil && known.n >= maxPaths:
		return unsure
	}
	if p.under == nil {
		p.under = map[uint64]bool{}
	}
	p.under[path|1] = true
	return first
}

// done ends the check of a path: whether topdown said the same.
func (p *paths) done(path uint64, same bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.under, path|1)
	if same {
		p.known.Store(p.known.Load().with(path | 1))
	}
}

// Watch lets eyes look at a module's code. Rules that look at the world or the
// clock cannot be asked twice.
func (n *Native) Watch(e *Eyes, h *policy.Hook) {
	n.eyes, n.source = e, h.Body.Source.Value
	n.digest = sync.OnceValue(func() string {
		sum := sha256.Sum256(n.code.Program().Append(nil))
		return hex.EncodeToString(sum[:])
	})
}

// Wrong reports whether the code was found wrong, here or in another plan.
func (g *glance) Wrong() bool {
	if now := g.eyes.changes.Load(); g.change.Load() != now {
		g.rejected.Store(g.eyes.rejects(g.digest()))
		g.change.Store(now)
	}
	return g.rejected.Load()
}

// watched is Tell under the eyes of topdown.
func (n *Native) watched(ctx context.Context, in *policy.Context) (*policy.Result, error) {
	if n.Wrong() {
		return n.topdown(ctx, in)
	}
	r := nativeRuns.Get().(*nativeRun)
	r.begin(ctx, n.budget, n.timely)
	r.input = eventInput{event: in, slots: n.slots, part: &n.input, steps: &r.steps}
	out, err := n.tell(r, in)
	path, fell := r.machine.Path, r.fell
	r.release()
	if fell || timedOut(err) { // it is topdown's answer already, or there is none
		return out, err
	}
	if n.eyes.Paranoid {
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
func (n *Native) later(in *policy.Context, path uint64, said *policy.Result, err error) bool {
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
	if said != nil {
		kept := *said
		said = &kept
	}
	e.checks.Add(1)
	go func() {
		defer e.checks.Done()
		defer e.pending.Add(-1)
		n.paths.done(path, n.check(input, said, err))
	}()
	return true
}

// check asks topdown what it says of an event of which native code said something,
// and whether that is the same.
func (n *Native) check(input ast.Value, said *policy.Result, err error) bool {
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
	return n.same(input, said, err, &want, wantErr)
}

// same compares what both said. Code that was wrong is rejected.
func (n *Native) same(input ast.Value, said *policy.Result, err error, want *policy.Result, wantErr error) bool {
	var got policy.Result
	if said != nil {
		got = *said
	}
	if failureText(err) == failureText(wantErr) && (err != nil || reflect.DeepEqual(got, *want)) {
		return true
	}
	d := Difference{Hook: n.name, Code: n.digest(), Module: n.source, Event: toJSON(input), Native: describeResult(&got, err), Topdown: describeResult(want, wantErr)}
	n.eyes.reject(d)
	return false
}

// stricter asks topdown too, and gives what permits less.
func (n *Native) stricter(ctx context.Context, in *policy.Context, said *policy.Result, err error) (*policy.Result, error) {
	m, broken := n.module()
	if broken != nil || m.effects.Volatile || m.effects.World != policy.WorldNone {
		return said, err
	}
	if n.input.long(in) {
		return said, err
	}
	input := n.input.value(in)
	want, wantErr := m.Eval(ctx, input)
	if timedOut(wantErr) {
		return nil, wantErr
	}
	n.eyes.checked.Add(1)
	if n.same(input, said, err, &want, wantErr) {
		return said, err
	}
	switch {
	case err != nil:
		return nil, err
	case wantErr != nil:
		return nil, wantErr
	case said != nil && said.Verdict > want.Verdict:
		return said, nil
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

// watched lets the eyes of the members look at what was said together. A member
// that is not to be believed is asked by itself, which is topdown then.
func (f *FusedNative) watched(ctx context.Context, in *policy.Context, path uint64, chosen []int, said []dag.FusedSaid) {
	eyes := f.members[0].eyes
	for k, i := range chosen {
		path = (path ^ uint64(i)) * 0x9E3779B97F4A7C15
		if eyes.Paranoid || f.members[i].Wrong() {
			said[k] = dag.FusedSaid{Alone: true}
		}
	}
	if eyes.Paranoid {
		return
	}
	sight := f.paths.look(path)
	if sight == seen {
		return
	}
	if sight == first && f.later(in, path, chosen, said) {
		return
	}
	for k, i := range chosen {
		if said[k].Alone {
			continue
		}
		out, err := f.members[i].topdown(ctx, in)
		said[k] = dag.FusedSaid{Result: out, Alone: err != nil}
	}
}

// later asks topdown for each of the chosen, beside the event.
func (f *FusedNative) later(in *policy.Context, path uint64, chosen []int, said []dag.FusedSaid) bool {
	e := f.members[0].eyes
	if e.pending.Add(1) > maxPending || f.input.long(in) {
		e.pending.Add(-1)
		f.paths.done(path, false)
		return false
	}
	type asked struct {
		n     *Native
		input ast.Value
		said  *policy.Result
	}
	var all []asked
	for k, i := range chosen {
		if said[k].Alone {
			continue
		}
		a := asked{n: f.members[i], input: f.members[i].input.value(in)}
		if said[k].Result != nil {
			kept := *said[k].Result
			a.said = &kept
		}
		all = append(all, a)
	}
	e.checks.Add(1)
	go func() {
		defer e.checks.Done()
		defer e.pending.Add(-1)
		same := true
		for _, a := range all {
			same = a.n.check(a.input, a.said, nil) && same
		}
		f.paths.done(path, same)
	}()
	return true
}
