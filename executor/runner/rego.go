package runner

import (
	"time"

	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
	"github.com/hookc/hookc/rego"
)

// regoKind runs policies written in Rego, in process. Its timeout is a step
// budget. A rule that fails is a mistake in the policy and not bad luck, so at
// a guard it denies; a quality gate must not keep a turn going for it.
func regoKind(o Options) dag.Kind {
	c := &rego.Compiler{Budget: o.budget(), Shared: o.Shared, Lints: rego.Lints{NoReason: codeNoReason, MissingPasses: codeGuardUndefined}}
	return dag.Kind{
		Name:    policy.KindRego,
		Timeout: o.budget(),
		Cost:    13 * time.Microsecond,
		OnGuard: policy.OnErrorDeny,
		OnOther: policy.OnErrorSkip,
		Prepare: func(h *policy.Hook) (dag.Body, diag.List) {
			m, found := c.Compile(h)
			if m == nil {
				return dag.Body{}, found
			}
			return dag.Body{Runner: m, Effects: m.Effects(), Always: m.Always(), Unindexed: m.Unindexed(),
				Fresh: func() bool { return c.Fresh(h, m) }}, found
		},
		Begin:  c.Begin,
		Fuse:   fuseRego,
		Digest: c.Digest,
		Doc:    "evaluates Rego in process, given inline or as a file",
	}
}

// fuseRego makes one query of the Rego of several hooks. A hook whose answer
// is given, for a test of its policy, has no Rego to fuse.
func fuseRego(parts []dag.FusePart) []dag.Fused {
	var list []rego.Part
	var places []int
	for i, p := range parts {
		if m, ok := p.Runner.(*rego.Module); ok {
			list, places = append(list, rego.Part{Module: m, Filter: p.Filter}), append(places, i)
		}
	}
	var out []dag.Fused
	for _, f := range rego.Sort(list) {
		fused := dag.Fused{Make: func() (dag.FusedRun, string) {
			made := f.Fuse()
			if made.Fault != "" {
				return nil, made.Fault
			}
			return made.Run, ""
		}}
		for _, i := range f.Members {
			fused.Members = append(fused.Members, places[i])
		}
		out = append(out, fused)
	}
	return out
}
