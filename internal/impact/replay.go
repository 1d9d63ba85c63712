package impact

import (
	"context"
	"slices"
	"strings"

	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/executor"
	"github.com/hookc/hookc/executor/runner"
	"github.com/hookc/hookc/internal/decisionlog"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/internal/spell"
	"github.com/hookc/hookc/policy"
)

// withheld is a plan with no hook in force: each is asked about the event as it came,
// and none ends the chain.
func withheld(plan *dag.Plan) *dag.Plan {
	out := *plan
	out.Nodes = lists.Copy(plan.Nodes)
	for i := range out.Nodes {
		n := &out.Nodes[i]
		if n.Would == nil {
			n.Would = &dag.Would{Effects: n.Effects, OnError: n.OnError, OnTimeout: n.OnTimeout}
		}
		h := *n.Hook
		h.Enforcement, n.Hook = policy.EnforceDryRun, &h
		n.Effects.May, n.Effects.Writes = 0, policy.Paths{}
		n.OnError, n.OnTimeout = policy.OnErrorSkip, policy.OnErrorSkip
	}
	return &out
}

// recorded is the world of an entry: rules are evaluated, what is no rule answers what
// it answered then.
type recorded struct {
	executor.Timeless
	j       *Judge
	ctx     context.Context
	event   policy.Event
	entry   *decisionlog.Entry
	answers *runner.Answers
	masked  policy.Paths
}

// Why a hook could not be replayed.
const (
	noAnswer = "the record has no answer of it"
	unseen   = "it reads what was masked"
)

func (w *recorded) Call(n *dag.Node, in *policy.Context, attempt int) (policy.Result, error) {
	_, answered := w.entry.Answers[n.Hook.Name]
	switch {
	case n.Hook.Async:
	case n.Hook.Kind.InProcess() && n.Reads.Overlaps(w.masked):
		w.j.hook(w.event, n.Hook.Name).NotReplayed[unseen]++
	case n.Hook.Kind.InProcess():
		return n.Runner.Run(w.ctx, in, attempt)
	case !answered || w.answers == nil:
		w.j.hook(w.event, n.Hook.Name).NotReplayed[noAnswer]++
	default:
		if w.entry.Result["policy"] != w.j.program.Hash {
			w.j.borrowed++
		}
		return n.Runner.Run(runner.WithAnswers(w.ctx, w.answers), in, attempt)
	}
	return policy.Result{}, nil
}

// replay asks every hook of the program about the event of an entry.
func (j *Judge) replay(ctx context.Context, event policy.Event, in *policy.Context, e *decisionlog.Entry) ([]*policy.Would, error) {
	plan := j.plans[event]
	if plan == nil {
		return nil, nil
	}
	w := &recorded{j: j, ctx: ctx, event: event, entry: e}
	if len(e.Answers) > 0 {
		text, err := policy.EncodeJSON(e.Answers)
		if err != nil {
			return nil, err
		}
		w.answers = runner.AnswersBefore(text)
	}
	var paths []policy.Path
	for _, p := range append(lists.Copy(e.Masked), e.Erased...) {
		parts := strings.Split(p, "/")
		if len(parts) < 3 || parts[1] != "input" {
			continue
		}
		keys := parts[3:]
		if i := slices.IndexFunc(keys, func(k string) bool { return strings.Trim(k, "0123456789") == "" || strings.ContainsAny(k, "*~") }); i >= 0 {
			keys = keys[:i] // a list, or a name that is not spelled out
		}
		if f, ok := policy.ParseField(parts[2]); ok {
			paths = append(paths, policy.Path{Field: f, Keys: keys})
		}
	}
	w.masked = policy.NewPaths(paths...)
	d, _ := executor.Serial(j.program, plan, in.Frozen(event), w)
	return d.Would(), ctx.Err()
}

// notes say what the counts do not.
func (j *Judge) notes() []string {
	if j.program == nil {
		return []string{"this counts hooks that were not in force when the log was written; name a policy to try that one"}
	}
	out := []string{"each hook is judged alone, about the event as it came: no other hook has changed it or ended the chain"}
	if j.borrowed > 0 {
		out = append(out, spell.Count(j.borrowed, "answer")+" of scripts and models, as a hook of that name gave it under another policy")
	}
	var now []string
	for _, plan := range j.program.Plans {
		for i := range plan.Nodes {
			n := &plan.Nodes[i]
			if n.RecheckOf < 0 && n.Hook.Kind.InProcess() && n.Hook.Tier != policy.TierBuiltin && (n.Effects.Volatile || n.Effects.World != policy.WorldNone) && !lists.Has(now, n.Hook.Name) {
				now = append(now, n.Hook.Name)
			}
		}
	}
	if len(now) > 0 {
		lists.Sort(now)
		out = append(out, "asked about the disk or the time as they are now: "+strings.Join(now, ", "))
	}
	return out
}
