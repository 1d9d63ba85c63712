package runner

import (
	"time"

	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/executor/kind/expr"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/approval"
	"github.com/hookc/hookc/policy/diag"
	"github.com/hookc/hookc/rego"
)

// regoKind runs policies written in Rego, in process. Its timeout is a step
// budget. A rule that fails is a mistake in the policy and not bad luck, so at
// a guard it denies; a quality gate must not keep a turn going for it.
func regoKind(o Options) dag.Kind {
	c := &rego.Compiler{Budget: o.budget(), Shared: o.Shared, Draft: o.Draft, Eyes: o.Eyes, Cover: o.Cover, Lints: rego.Lints{NoReason: expr.CodeNoReason, MissingPasses: expr.CodeGuardUndefined}}
	prepare := func(h *policy.Hook) (dag.Body, diag.List) {
		m, found := c.Compile(h)
		if m == nil {
			return dag.Body{}, found
		}
		return dag.Body{Runner: m, Effects: m.Effects(), Always: m.Always(), Unindexed: m.Unindexed(),
			Fresh: func() bool { return c.Fresh(h, m) }}, found
	}
	begin := c.Begin
	if o.Moving {
		m := &moved{make: prepare, digest: c.Digest}
		prepare = m.prepare
		begin = func() { m.begin(); c.Begin() }
	}
	return dag.Kind{
		Name:    policy.KindRego,
		Timeout: o.budget(),
		Cost:    13 * time.Microsecond,
		OnGuard: policy.OnErrorDeny,
		OnOther: policy.OnErrorSkip,
		Prepare: prepare,
		Decode: func(h *policy.Hook, code []byte) policy.Runner {
			if len(code) == 0 {
				return &deferred{hook: h, prepare: prepare}
			}
			if s := c.Load(h, code); s != nil {
				return s
			}
			return nil
		},
		Native: func(h *policy.Hook, b *dag.Body) diag.List { return nativeRego(h, b, o.Eyes) },
		Begin:  begin,
		Fuse:   fuseRego,
		Digest: c.Digest,
		Encode: func(_ *policy.Hook, body policy.Runner) []byte {
			if n, ok := body.(*rego.Native); ok && n.Compared() {
				return n.Append(nil)
			}
			return nil
		},
		Doc: "evaluates Rego in process, given inline or as a file",
	}
}

// nativeCost is the class estimate of a rule that is code.
const nativeCost = 300 * time.Nanosecond

// nativeRego makes native code of a module, and compares it with the module:
// nothing decides by code that was not compared.
func nativeRego(h *policy.Hook, b *dag.Body, eyes *rego.Eyes) diag.List {
	m, ok := b.Runner.(*rego.Module)
	if !ok {
		return nil // a hook whose answer is given, for a test of its policy
	}
	n, engine := m.Native()
	var found diag.List
	if n != nil {
		found = n.Verify(h)
	}
	b.Engine = engine
	switch {
	case n == nil:
		return nil
	case found != nil:
		b.Engine = "rego(topdown: its native code differs)"
		return found
	case !n.Compared():
		b.Engine = "rego(topdown: its native code decided no event that it was tried on)"
		return nil
	}
	if eyes != nil {
		if n.Watch(eyes, h); n.Wrong() {
			b.Engine = "rego(topdown: its native code was wrong before)"
			return nil
		}
		if why := n.LeftBefore(); why != "" {
			b.Engine = "rego(topdown: its native code left too many events: " + why + ")"
			return nil
		}
	}
	b.Runner, b.Unindexed = n, n.Unindexed()
	if n.Whole() {
		b.Brief, b.Cost = true, nativeCost
	}
	return nil
}

// fuseRego makes one evaluation of the Rego of several hooks, as far as it is
// native code. OPA evaluates its hooks one by one.
func fuseRego(parts []dag.FusePart) (members []int, fuse func() dag.FusedRun) {
	var natives []*rego.Native
	for i, p := range parts {
		if n, ok := p.Runner.(*rego.Native); ok && n.Fusible() {
			natives, members = append(natives, n), append(members, i)
		}
	}
	return members, func() dag.FusedRun { return rego.FuseNative(natives).Run }
}

// CheckApprovals finds what is wrong with the Rego of approval.source, which is evaluated
// when somebody answers: as a hook of its own.
func CheckApprovals(blocks approval.Blocks, o Options) (found diag.List) {
	for i := range blocks {
		if blocks[i].At.IsZero() {
			continue
		}
		h := &policy.Hook{Name: "approval.source", Kind: policy.KindRego, Event: policy.PreToolExecution, Span: blocks[i].At.Span}
		h.Body.Source = blocks[i].At
		kind := regoKind(Options{Budget: o.Budget})
		kind.Begin()
		_, wrong := kind.Prepare(h)
		for _, d := range wrong {
			if d.Severity == diag.Error {
				d.Hook = ""
				found.Add(d)
			}
		}
	}
	return found
}
