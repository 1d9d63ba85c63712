package rego

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/topdown/cache"

	"github.com/hookc/hookc/builtins"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
	"github.com/hookc/hookc/rego/directed"
	"github.com/hookc/hookc/rego/native"
	"github.com/hookc/hookc/rego/thread"
)

// verifyBudget bounds one evaluation of one made-up event, whatever budget the
// hook has; one that takes longer says nothing of the code.
const verifyBudget = 50 * time.Millisecond

// codeDiffers is a bug of hookc that it has noticed in time.
var codeDiffers = diag.Define("HK079", diag.Warning, "the native code of a rule differs from its Rego").Guarding().Unprovoked("Only a bug of hookc reports it, so there is no example.")

// Whole reports whether topdown evaluates none of the entry points.
func (n *Native) Whole() bool { return !n.rest }

// Verify compares the module with its code on events directed at its rules. A
// finding says that they differ: the module is then to be evaluated itself. What
// it was compared on is the code's evidence. Nothing of the world is looked at:
// functions that would are replaced on both sides.
func (n *Native) Verify(h *policy.Hook) diag.List {
	tried := evidence{forms: n.evidence.forms, engines: engines()}
	n.evidence = evidence{forms: tried.forms}
	m, err := n.module()
	if err != nil {
		return diag.List{codeDiffers.Report(h.Body.Source.Span, "native code was not compared with OPA: %v", err).WithHook(h.Name)}
	}
	trial := n
	if n.rest {
		trial, m = n.alone(m)
	}
	p := n.code.Program()
	events := directed.Events(p, h.Event, m.missing(p), m.orphans(p), func(v native.Value) any { return toJSON(fromNative(v)) })
	sieves, done := trial.sieves(m, events)
	defer done()
	patterns := cache.NewInterQueryValueCache(context.Background(), nil)
	for i, e := range events.Events {
		c := comparison{n: trial, m: m, patterns: patterns}
		if c.native(e); c.fell && !timedOut(c.gotErr) {
			tried.left++
			continue
		}
		sieved := false
		for _, s := range sieves {
			sieved = s.ask(i, c.delivered) || sieved
		}
		if c.topdown(e); sieved && !c.late() && !c.same() {
			askAll(sieves)
			c.native(e)
			c.topdown(e)
		}
		askAll(sieves)
		switch {
		case c.late():
			tried.late++
			continue
		case !c.same():
			return diag.List{codeDiffers.Report(h.Body.Source.Span, "native evaluation differs from OPA's; the rule is evaluated by OPA").WithHook(h.Name)}
		}
		tried.answered++
	}
	n.evidence = tried
	return nil
}

// comparison is what both say of one event at a time.
type comparison struct {
	n        *Native
	m        *Module
	patterns cache.InterQueryValueCache
	start    time.Time

	got, want       policy.Result
	gotErr, wantErr error
	delivered       []delivered
	values          []ast.Value
	fell            bool
}

func (c *comparison) native(e *policy.Context) {
	c.start = time.Now() // Both have one time.
	c.got, c.delivered, c.gotErr, c.fell = c.n.once(e, c.start)
}

func (c *comparison) topdown(e *policy.Context) {
	steps := &stepBudget{ctx: context.Background(), start: c.start, limit: verifyBudget, at: thread.Read(), madeUp: true, patterns: c.patterns}
	term := ast.NewTerm(c.m.Input(e))
	c.want = policy.Result{}
	if c.values, c.wantErr = c.m.values(c.m.ask, c.m.entries, term, steps); c.wantErr == nil {
		c.want, c.wantErr = c.m.result(c.values, term, steps)
	}
}

// late reports whether one of both took too long.
func (c *comparison) late() bool { return timedOut(c.gotErr) || timedOut(c.wantErr) }

func (c *comparison) same() bool {
	return reflect.DeepEqual(c.got, c.want) && failureText(c.gotErr) == failureText(c.wantErr) && c.n.gave(c.delivered, c.values)
}

// mostMissing bounds how many literals a program may lack that are tried.
const mostMissing = 64

// missing are the literals of the bodies and values of the module's own rules
// that are nowhere in a program: mostly none.
func (m *Module) missing(p *native.Program) []any {
	there := map[string]bool{}
	for _, c := range p.Consts {
		ast.WalkTerms(fromNativeTerm(c), func(t *ast.Term) bool { there[t.String()] = true; return false })
	}
	var out []any
	visit := func(t *ast.Term) bool {
		switch t.Value.(type) {
		case ast.Ref:
			return true
		case ast.String, ast.Number:
			if text := t.String(); !there[text] && len(out) < mostMissing {
				there[text] = true
				out = append(out, toJSON(t.Value))
			}
		}
		return false
	}
	m.walkOwn(visit)
	return out
}

// alone is the code with the module, both without the entry points that are
// topdown's: those may say something else each time.
func (n *Native) alone(m *Module) (*Native, *Module) {
	of := &Module{name: m.name, code: m.code, input: m.input, effects: m.effects, budget: m.budget, where: m.where, names: m.names}
	out := &Native{name: n.name, budget: n.budget, code: n.code, slots: n.slots, input: n.input, timely: n.timely, alike: n.alike,
		engine: n.engine, module: func() (*Module, error) { return of, nil }}
	for i, e := range n.entries {
		if e.fn >= 0 {
			out.entries, of.entries = append(out.entries, e), append(of.entries, m.entries[i])
		}
	}
	of.ask = compileQuery(m.compiler, of.entries)
	return out, of
}

// once is Run at a time, within verifyBudget; fell says that native evaluation
// left the event to topdown.
func (n *Native) once(in *policy.Context, start time.Time) (got policy.Result, all []delivered, err error, fell bool) {
	r := nativeRuns.Get().(*nativeRun)
	r.begin(context.Background(), verifyBudget, false)
	r.steps.start, r.steps.at, r.of.start = start, thread.Read(), start
	r.steps.madeUp, r.of.madeUp = true, true
	r.input.event, r.input.slots, r.input.part = in, n.slots, &n.input
	out, err := n.tell(r, in)
	all, fell = lists.Copy(r.delivered), r.fell
	r.release()
	if err == nil && out != nil {
		got = *out
	}
	return got, all, err, fell
}

// gave reports whether entry points gave the values that topdown has: of what
// is said the strictest hides the rest.
func (n *Native) gave(all []delivered, values []ast.Value) bool {
	for i := range n.entries {
		var own []*ast.Term
		for _, t := range all {
			if t.entry == int32(i) {
				own = append(own, fromNativeTerm(t.v))
			}
		}
		switch want := values[i].(type) {
		case nil:
			if len(own) > 0 {
				return false
			}
		case ast.Set:
			if n.entries[i].many && ast.NewSet(own...).Compare(want) != 0 {
				return false
			}
		default:
			if !n.entries[i].many && (len(own) != 1 || own[0].Value.Compare(want) != 0) {
				return false
			}
		}
	}
	return true
}

func timedOut(err error) bool { return err != nil && policy.KindOf(err).Late() }

func failureText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// callOf is what a function does in an evaluation: where the event is made up,
// one that looks at the world has a stand-in.
func callOf(f *builtins.Func, madeUp bool) func(args []any) (any, error) {
	if !madeUp || f.World == policy.WorldNone {
		return f.Call
	}
	return func(args []any) (any, error) { return standIn(f, args) }
}

// standIn gives something of a function's arguments instead of its result, now
// and then nothing.
func standIn(f *builtins.Func, args []any) (any, error) {
	text := fmt.Sprint(args...)
	switch {
	case len(text)%5 == 4:
		return nil, builtins.ErrUndefined
	case f.Result == policy.BoolType:
		return len(text)%2 == 0, nil
	case f.Result == policy.StringType && len(args) > 0:
		return fmt.Sprint(args[0]), nil
	}
	return nil, builtins.ErrUndefined
}

// mostOrphans bounds how many tables a program may lack that are tried.
const mostOrphans = 8

// orphans are the constant collections of the module's own rules that are nowhere
// in a program: mostly none.
func (m *Module) orphans(p *native.Program) []native.Value {
	var out []native.Value
	known := func(v native.Value) bool {
		equal := func(c native.Value) bool { return native.Equal(c, v) }
		return slices.ContainsFunc(p.Consts, func(c native.Value) bool { return directed.Collection(c) && equal(c) }) || slices.ContainsFunc(out, equal)
	}
	visit := func(t *ast.Term) bool {
		switch t.Value.(type) {
		case ast.Object, ast.Set, *ast.Array:
			if t.IsGround() && constant(t) && len(out) < mostOrphans {
				if v := toNative(t.Value); !known(v) {
					out = append(out, v)
				}
				return true
			}
		}
		return false
	}
	m.walkOwn(visit)
	return out
}

// constant reports whether a term has neither references nor what is computed.
func constant(t *ast.Term) bool {
	is := true
	ast.WalkTerms(t, func(t *ast.Term) bool {
		switch t.Value.(type) {
		case ast.Ref, ast.Var, ast.Call, *ast.ArrayComprehension, *ast.SetComprehension, *ast.ObjectComprehension:
			is = false
		}
		return !is
	})
	return is
}

// ownModules are the modules of the packages that the entry points are in.
func (m *Module) ownModules() []*ast.Module {
	var out []*ast.Module
	for _, module := range m.compiler.Modules {
		if slices.ContainsFunc(m.entries, func(e *entry) bool { return len(e.sources) > 0 && e.ref.HasPrefix(module.Package.Path) }) {
			out = append(out, module)
		}
	}
	return out
}

// walkOwn visits the terms of the bodies and values of their rules.
func (m *Module) walkOwn(visit func(*ast.Term) bool) {
	for _, module := range m.ownModules() {
		for _, r := range module.Rules {
			ast.WalkTerms(r.Body, visit)
			if r.Head.Value != nil {
				ast.WalkTerms(r.Head.Value, visit)
			}
		}
	}
}
