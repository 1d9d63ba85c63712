package hookc

import (
	"context"

	"github.com/hookc/hookc/internal/approval"
	"github.com/hookc/hookc/policy"
)

// Approvals is for a host that can ask nobody: where `approval:` of the policy says how
// a question is answered, ask and defer become approvals (docs/guide/approvals.md). Fire
// then waits for an answer as long as the policy says and ctx lasts. By a grant the
// Decision permits the action, and Decision.Grant says whose it is; else it refuses.
func Approvals() Option { return func(c *config) { c.approvals = true } }

// approve makes of a question what came of it.
func (e *Engine) approve(ctx context.Context, l *live, d *policy.Decision, in *policy.Context) *policy.Decision {
	if !e.config.approvals || !approval.Asks(d) || len(l.policy.Approvals) == 0 {
		return d
	}
	return approval.Answered(ctx, l.policy.Approvals, l.program.Plan(d.Event), hookOf(d.By, l.policy.Hooks), d, in)
}
