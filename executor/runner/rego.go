package runner

import (
	"context"
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
	c := &rego.Compiler{Budget: o.budget(), Lints: rego.Lints{NoReason: codeNoReason, MissingPasses: codeGuardUndefined}}
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
			return dag.Body{Runner: m, Effects: m.Effects(), Always: m.Always()}, found
		},
		Fuse:   fuseRego,
		Digest: c.Digest,
		Doc:    "evaluates Rego in process, given inline or as a file",
	}
}

// fuseRego makes one query of the Rego of several hooks.
func fuseRego(parts []dag.FusePart) []dag.Fused {
	list := make([]rego.Part, len(parts))
	for i, p := range parts {
		list[i] = rego.Part{Module: p.Runner.(*rego.Module), Filter: p.Filter}
	}
	var out []dag.Fused
	for _, f := range rego.Fuse(list) {
		fused := dag.Fused{Members: f.Members, Fault: f.Fault}
		if f.Fault == "" {
			fused.Run = f.Run
		}
		out = append(out, fused)
	}
	return out
}
