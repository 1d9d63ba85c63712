package executor

import (
	"context"

	"github.com/hookc/hookc/internal/fault"
	"github.com/hookc/hookc/policy"
)

// RunAsync makes the one attempt of an async hook that another process handed
// over (Options.Async there), under the hook's own timeout, and reports it to
// Count and Observe. in is what the hook may read. The error says that the program has
// no such hook, or why the hook failed.
func (x *Executor) RunAsync(ctx context.Context, e policy.Event, hook string, in *policy.Context) error {
	plan := x.prog.Plan(e)
	if plan == nil {
		return fault.Errorf("no hook is on %s", e)
	}
	for i := range plan.Nodes {
		n := &plan.Nodes[i]
		if n.Hook.Name != hook || !n.Hook.Async {
			continue
		}
		x.running.Add()
		defer x.running.Done()
		c := caller{plan: plan, n: n}
		return x.async.attempt(ctx, n, &c, in)
	}
	return fault.Errorf("no async hook of %s is called %q", e, hook)
}
