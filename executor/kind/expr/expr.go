// Package expr is the kind of hooks whose body is expressions of the expr
// language: they are read, compiled and evaluated in process.
package expr

import (
	"context"
	"fmt"
	"time"

	"github.com/expr-lang/expr/ast"

	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
)

// Kind is the kind of hooks whose body is expressions of the expr language
// (semantics.md §3.2, §3.3). A condition that is undefined does not fire; a
// type error is a failure on which on_error decides. A reason is literal text:
// nothing in it is evaluated. cover, if not nil, sees what else is.
func Kind(budget time.Duration, cover dag.Cover) dag.Kind {
	return dag.Kind{
		Name:    policy.KindExpr,
		Timeout: budget,
		Cost:    200 * time.Nanosecond,
		OnGuard: policy.OnErrorDeny,
		OnOther: policy.OnErrorSkip,
		Prepare: func(h *policy.Hook) (dag.Body, diag.List) { return prepareExpr(h, budget, cover) },
		Doc:     "rules as expressions of the expr language, evaluated in process",
	}
}

// exprHook is an expr hook made ready.
type exprHook struct {
	budget       time.Duration
	when         *formula
	rules        []exprRule
	sets         []exprSet
	context      *formula
	vars, scopes int
}

// exprRule is one rule: what it says when its condition holds. result is all
// of that, ready for the common case of one rule firing alone.
type exprRule struct {
	condition *formula
	result    policy.Result
}

func prepareExpr(h *policy.Hook, budget time.Duration, cover dag.Cover) (dag.Body, diag.List) {
	b := exprBuilder{hook: h, cover: cover, out: &exprHook{budget: budget}}
	b.build()
	for i := range b.found {
		b.found[i].Hook = h.Name
	}
	eff := b.effects()
	body := dag.Body{Runner: b.out, Effects: eff, Engine: "expr", Always: b.always(&eff), Brief: b.brief(),
		Fresh: func() bool { return true }}
	if b.found.HasErrors() {
		body.Runner = dag.Broken(b.found)
		body.Always = 0
	}
	return body, b.found
}

// exprBuilder compiles the expressions of one hook.
type exprBuilder struct {
	hook  *policy.Hook
	cover dag.Cover
	out   *exprHook
	uses  uses
	says  policy.Powers
	found diag.List
	// sure is true while nothing that may fail was seen.
	sure bool
}

func (b *exprBuilder) build() {
	body := &b.hook.Body
	b.sure = true
	if !body.When.IsZero() {
		b.out.when = b.formula("when", body.When, wantTest)
	}
	for i, rule := range body.Rules {
		b.rule(rule, i)
	}
	for _, assign := range body.Set {
		b.set(assign)
	}
	if !body.Context.IsZero() {
		b.out.context = b.formula("context", body.Context, wantText)
		b.sure = false
		if !b.hook.Event.Spec().Context {
			b.found.Add(codeExprTarget.Report(body.Context.Span, "%s takes no additional_context", b.hook.Event))
		}
	}
	if len(body.Rules) == 0 && len(body.Set) == 0 && body.Context.IsZero() {
		b.found.Add(codeExprEmpty.Report(b.hook.Span, "%s has no rule, no set and no context", b.hook.Name).
			WithHint("write a condition such as deny:, rules:, set: or context:"))
	}
}

// formula compiles one expression; nil when it has errors.
func (b *exprBuilder) formula(what string, text diag.Text, want wanted) *formula {
	x, found := compileFormula(b.hook, what, text, want)
	b.found.Add(found...)
	if x == nil {
		return nil
	}
	b.uses.add(x.uses)
	b.sure = b.sure && x.sure && (want != wantTest || x.test)
	b.out.vars = max(b.out.vars, x.vars)
	b.out.scopes = max(b.out.scopes, x.scopes)
	if b.cover != nil {
		b.covered(x, want)
	}
	return x
}

// covered has a formula tell that it is evaluated, and a test whether it holds.
func (b *exprBuilder) covered(x *formula, want wanted) {
	kind, eval := dag.PartLine, x.eval
	if want == wantTest {
		kind = dag.PartCondition
	}
	b.cover.Part(dag.Part{Kind: kind, Name: x.what, At: x.text.Span})
	x.eval = func(f *frame) any {
		v := eval(f)
		b.cover.Seen(x.text.Span, want != wantTest || v == true)
		return v
	}
}

func (b *exprBuilder) rule(rule policy.Rule, i int) {
	b.says |= rule.Says
	what := rule.Says.String()
	x := b.formula(what, rule.Condition, wantTest)
	if x == nil {
		return
	}
	b.lint(rule, x)
	name := b.hook.Name
	if len(b.hook.Body.Rules) > 1 {
		name = fmt.Sprintf("%s#%d", name, i+1)
	}
	b.out.rules = append(b.out.rules, exprRule{condition: x, result: ruleResult(rule, policy.By{Name: name, At: ruleSpan(b.hook, rule)})})
}

func ruleSpan(h *policy.Hook, rule policy.Rule) diag.Span {
	switch {
	case !rule.Span.IsZero():
		return rule.Span
	case !rule.Condition.Span.IsZero():
		return rule.Condition.Span
	}
	return h.Span
}

func ruleResult(rule policy.Rule, by policy.By) policy.Result {
	var r policy.Result
	if v, ok := policy.ParseVerdict(rule.Says.String()); ok {
		r.Verdict, r.VerdictBy = v, by
	} else if c, ok := policy.ParseControl(rule.Says.String()); ok {
		r.Control, r.ControlBy = c, by
	}
	if rule.Reason.Value != "" {
		r.Reasons = []policy.Reason{{Text: rule.Reason.Value, At: by.At}}
	}
	return r
}

// brief reports whether all that is evaluated are fields, constants and
// operators on them. A parsed command line, and an event as one object, are
// made when first looked at.
func (b *exprBuilder) brief() bool {
	long := b.uses.whole || len(b.hook.Body.Set) > 0 || !b.hook.Body.Context.IsZero() || lists.Some(b.uses.paths, func(p *policy.Path) bool {
		return p.Field == policy.FieldShell || p.Field == policy.FieldToolArguments
	})
	calls := &callFinder{}
	for _, x := range append([]*formula{b.out.when}, conditions(b.out.rules)...) {
		if x != nil {
			ast.Walk(&x.tree, calls)
		}
	}
	return !long && !calls.found
}

func conditions(rules []exprRule) []*formula {
	out := make([]*formula, len(rules))
	for i := range rules {
		out[i] = rules[i].condition
	}
	return out
}

// callFinder finds functions and loops.
type callFinder struct{ found bool }

func (c *callFinder) Visit(n *ast.Node) {
	switch (*n).(type) {
	case *ast.BuiltinNode, *ast.CallNode, *ast.PredicateNode:
		c.found = true
	}
}

// effects are what the hook may do (semantics.md §3.2).
func (b *exprBuilder) effects() policy.Effects {
	var writes []policy.Path
	for _, s := range b.out.sets {
		if !s.output {
			writes = append(writes, s.path)
		}
	}
	return policy.Effects{
		Reads:    b.uses.reads(b.hook.Event.Spec()),
		Writes:   policy.NewPaths(writes...),
		May:      b.says,
		World:    max(b.uses.world, policy.WorldNone),
		Spec:     true,
		MayFail:  !b.sure || b.found.HasErrors(),
		Volatile: b.uses.volatile,
	}
}

// always is what the hook says whatever it reads: what rules that hold always
// say, when nothing can fail before and no condition stands in front. A
// verdict counts only if no other rule can say a greater one.
func (b *exprBuilder) always(eff *policy.Effects) policy.Powers {
	if eff.MayFail || b.out.when != nil && !b.out.when.holds() {
		return 0
	}
	var verdict policy.Verdict
	var control policy.Control
	for _, r := range b.out.rules {
		if r.condition.holds() {
			verdict, control = max(verdict, r.result.Verdict), max(control, r.result.Control)
		}
	}
	for _, r := range b.out.rules {
		if r.result.Verdict > verdict {
			verdict = policy.None
		}
		if r.result.Control > control {
			control = policy.Go
		}
	}
	v, _ := policy.ParsePower(verdict.String())
	c, _ := policy.ParsePower(control.String())
	return v | c
}

// holds reports whether a condition is always true.
func (x *formula) holds() bool { return x.constant && x.value == true }

// Run is Tell.
func (h *exprHook) Run(ctx context.Context, in *policy.Context, attempt int) (policy.Result, error) {
	r, err := h.Tell(ctx, in, attempt)
	if r == nil {
		return policy.Result{}, err
	}
	return *r, err
}

// Tell evaluates the rules on an event: `when`, then every rule, every set and
// the context. An error in one of them is an error of the whole hook.
func (h *exprHook) Tell(ctx context.Context, in *policy.Context, _ int) (r *policy.Result, err error) {
	f := newFrame(ctx, in, h.budget, h.vars, h.scopes)
	defer func() {
		if p := recover(); p != nil {
			r, err = nil, f.failure(p)
		}
		f.release()
	}()
	if h.when != nil && !f.fires(h.when) {
		return nil, nil
	}
	for i := range h.rules {
		rule := &h.rules[i]
		if !f.fires(rule.condition) {
			continue
		}
		if r == nil {
			r = new(rule.result)
			continue
		}
		*r = policy.Join(policy.FoldMax, *r, rule.result)
	}
	if len(h.sets) == 0 && h.context == nil {
		return r, nil
	}
	if r == nil {
		r = new(policy.Result)
	}
	for i := range h.sets {
		if err := h.sets[i].apply(f, r); err != nil {
			return nil, err
		}
	}
	if h.context != nil {
		f.addContext(h.context, r)
	}
	return r, nil
}

// fires reports whether a condition holds; an undefined one does not.
func (f *frame) fires(x *formula) bool {
	v := x.run(f)
	if b, ok := v.(bool); ok {
		return b
	}
	if !isUndefined(v) {
		f.fail(0, "%s is neither true nor false", typeName(v))
	}
	return false
}

func (f *frame) addContext(x *formula, r *policy.Result) {
	switch v := x.run(f).(type) {
	case string:
		r.Context = append(r.Context, v)
	case nil, *undefinedValue:
	default:
		f.fail(0, "must be a text, not %s", typeName(v))
	}
}
