package approval

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/internal/share"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/approval"
	"github.com/hookc/hookc/policy/state"
)

// Caller says for whom an event is decided.
type Caller struct {
	// CanAsk is true where the agent puts questions to its user.
	CanAsk bool
	// Agent is its name.
	Agent string
	// Until is when the agent must have its answer; nil is the deadline of the context.
	Until func() time.Time
}

type callerKey struct{}

// With returns a context for the events of a caller, nil if there is none. Without, nobody can
// be asked.
func With(ctx context.Context, c *Caller) context.Context {
	if c == nil {
		return ctx
	}
	return context.WithValue(ctx, callerKey{}, c)
}

func callerOf(ctx context.Context) *Caller {
	if c, ok := ctx.Value(callerKey{}).(*Caller); ok {
		return c
	}
	return &Caller{}
}

// end is until when the caller can be kept waiting; false is for ever.
func (c *Caller) end(ctx context.Context) (time.Time, bool) {
	end, ok := ctx.Deadline()
	if c.Until != nil {
		if own := c.Until(); !ok || own.Before(end) {
			end, ok = own, true
		}
	}
	left := time.Until(end)
	return end.Add(-min(left/4, time.Second)), ok // the answer takes its time
}

// Asks reports whether a Decision is a question.
func Asks(d *policy.Decision) bool { return d.Action == policy.AskUser || d.Action == policy.DeferCall }

// Answered is a Decision that is a question, of a plan and of the hook that decides
// it first, with what came of it. d stays as it is: the duplicate guard may remember it.
func Answered(ctx context.Context, blocks approval.Blocks, plan *dag.Plan, first string, d *policy.Decision, in *policy.Context) *policy.Decision {
	answered := *d
	home, err := state.Home()
	if err != nil {
		Refuse(&answered, "hookc: this must be approved, and there is no place for approvals: "+err.Error())
		return &answered
	}
	if d.Final != nil {
		in = d.Final
	}
	Open(home).Resolve(ctx, blocks, Askers(plan, d, first), &answered, in)
	return &answered
}

// Askers are the hooks of a plan that ask, first the one that decides.
func Askers(plan *dag.Plan, d *policy.Decision, first string) []approval.Asker {
	out := []approval.Asker{{Name: first}} // of a hook that is in no plan nothing is known
	for i := range d.Hooks {
		h := &d.Hooks[i]
		if h.Name == first || h.Verdict != policy.Ask && h.Verdict != policy.Defer || h.Recheck {
			continue
		}
		out = append(out, approval.Asker{Name: h.Name})
	}
	for i := range out {
		for n := range plan.Nodes {
			if h := plan.Nodes[n].Hook; h.Name == out[i].Name {
				out[i].Tier = max(out[i].Tier, uint8(h.Tier))
			}
		}
	}
	return out
}

// Resolve turns a Decision that is a question into what came of it: the action goes
// ahead by a grant, or is refused, with the id by which it may be granted. askers are the
// hooks that ask, the one that decides first; in is the event after the chain.
func (s *Store) Resolve(ctx context.Context, blocks approval.Blocks, askers []approval.Asker, d *policy.Decision, in *policy.Context) {
	terms, ok := blocks.For(askers)
	who := callerOf(ctx)
	if !ok || who.CanAsk && !terms.Always {
		return
	}
	input, _ := in.Get(policy.FieldToolInput)
	q := &Question{Call: Call{Event: d.Event, Tool: in.Text(policy.FieldToolName), Input: input, Cwd: in.Text(policy.FieldCwd)},
		Session: in.Text(policy.FieldSessionID), Policy: d.Policy, Reasons: d.Reasons, Agent: who.Agent, Terms: terms, Rules: []string{d.By}}
	for _, a := range askers[1:] {
		q.Rules = append(q.Rules, a.Name)
	}
	end, bounded := who.end(ctx)
	if bounded {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, end)
		defer cancel()
	}
	a, used, made, err := s.Ask(ctx, q)
	if alone := s.Reach(err); alone != nil {
		d.Warnings = append(lists.Copy(d.Warnings), share.Apart(d.By, "only this machine is asked", err))
		s = alone
		a, used, made, err = s.Ask(ctx, q)
	}
	if err != nil {
		refuse(d, err)
		return
	}
	told := make(chan []string, 1)
	if made && len(terms.Webhooks) > 0 {
		go func() { told <- s.tell(ctx, a, terms.Webhooks) }()
	} else {
		told <- nil
	}
	if !used && a.State == Pending && terms.Wait > 0 {
		a, used, err = s.await(ctx, q, a, terms.Wait)
	}
	failed := <-told
	switch {
	case err != nil:
		refuse(d, err)
	case used:
		Permit(d, &approval.Grant{ID: a.ID, By: a.By(), Scope: a.Scope.String(), Use: a.Used, Reason: a.Why()})
	default:
		Refuse(d, append([]string{a.refusal(terms.Wait)}, failed...)...)
	}
}

// await waits for an answer, and uses it.
func (s *Store) await(ctx context.Context, q *Question, a *Approval, wait time.Duration) (*Approval, bool, error) {
	limited, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	now, err := s.Wait(limited, a.ID)
	if err != nil || now.State != Granted {
		return now, false, err
	}
	used, err := s.use(context.WithoutCancel(ctx), now.ID)
	if err != nil { // another process with the same call was faster
		a, _, _, err := s.Ask(context.WithoutCancel(ctx), q)
		return a, false, err
	}
	return used, true, nil
}

// refusal is what the agent is told.
func (a *Approval) refusal(waited time.Duration) string {
	switch a.State {
	case Denied:
		return fmt.Sprintf("hookc: %s was denied by %s%s", a.ID, strings.Join(a.By(), " and "), because(a.Why()))
	case Expired:
		return fmt.Sprintf("hookc: nobody answered %s in time: it has expired", a.ID)
	}
	out := fmt.Sprintf("hookc: nobody can be asked here, so somebody must approve this call, and has not yet: it is %s, open until %s. ",
		a.ID, a.Until.Local().Format("2006-01-02 15:04:05"))
	if waited > 0 {
		out = fmt.Sprintf("hookc: nobody approved this call within %s: it is %s, open until %s. ", waited, a.ID, a.Until.Local().Format("2006-01-02 15:04:05"))
	}
	if n := len(a.Votes); n > 0 {
		out += fmt.Sprintf("%d of %d have granted it. ", n, a.Terms.Quorum)
	}
	return out + "A person grants it with `hookc approvals grant " + a.ID + "`; then make the same call again"
}

func because(reason string) string {
	if reason == "" {
		return ""
	}
	return ": " + reason
}

// refuse makes a question that cannot be answered a refusal.
func refuse(d *policy.Decision, err error) {
	var away *share.AwayError
	if errors.As(err, &away) {
		d.Warnings = append(lists.Copy(d.Warnings), share.Apart(d.By, "nothing is approved", err))
	}
	Refuse(d, "hookc: this must be approved, and it cannot be: "+err.Error())
}

// Refuse makes a question a refusal.
func Refuse(d *policy.Decision, why ...string) {
	spec := d.Event.Spec()
	d.Action, d.Verdict, d.Scope = policy.Block, policy.Deny, spec.Step
	d.Reasons = append(append([]string{}, d.Reasons...), why...)
}

// Permit has a question go ahead by a grant.
func Permit(d *policy.Decision, g *approval.Grant) {
	d.Grant = g
	d.Action, d.Verdict, d.Scope = policy.Proceed, policy.Allow, policy.NoLabel
	d.Reasons = []string{"approved by " + strings.Join(g.By, " and ") + " (" + g.ID + ", " + g.Scope + ")" + because(g.Reason)}
}
