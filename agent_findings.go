package hookc

import (
	"fmt"
	"strings"

	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/agent"
	"github.com/hookc/hookc/policy/diag"
)

var codeNeverSent = diag.Define("HK037", diag.Warning, "field that the agent does not send")
var codeNotObeyed = diag.Define("HK038", diag.Warning, "agent cannot do what the hook says").Guarding()

// AgentFindings are the codes of what is found because [Agent] names the agent.
var AgentFindings = []string{codeNeverSent.ID, codeNotObeyed.ID}

// agentFindings are what the hooks of a program read that an agent does not
// send, and say that it does not obey.
func agentFindings(d *agent.Agent, p *dag.Program) diag.List {
	var out diag.List
	for _, plan := range p.Plans {
		for i := range plan.Nodes {
			if n := &plan.Nodes[i]; n.RecheckOf < 0 {
				out.Add(neverSent(d, plan, n)...)
				out.Add(notObeyed(d, plan, n)...)
			}
		}
	}
	return out
}

// neverSent: of a rule every field that it reads is known, of other hooks those
// of the filter. What a built-in rule looks at besides is its own affair.
func neverSent(d *agent.Agent, plan *dag.Plan, n *dag.Node) diag.List {
	if len(d.Can(plan.Event)) == 0 {
		return nil // it is never fired
	}
	var reads []policy.Field
	if n.Hook.Kind == policy.KindRego || n.Hook.Kind == policy.KindExpr {
		for _, path := range n.Reads.All() {
			reads = append(reads, path.Field)
		}
	}
	if n.Matcher != nil {
		for i := range n.Matcher.Atoms {
			reads = append(reads, n.Matcher.Atoms[i].Reads...)
		}
	}
	lists.Sort(reads)
	sent := d.Sends(plan.Event)
	var out diag.List
	for _, f := range lists.Compact(reads) {
		if !lists.Among(sent, f) && plan.Spec.CanRead(f) {
			r := codeNeverSent.Report(n.Hook.Span, "%s reads %s, which %s does not send at %s", n.Hook.Name, f, d.ID, plan.Event)
			r.Hook = n.Hook.Name
			out.Add(r)
		}
	}
	return out
}

// notObeyed: what becomes of an answer is nothing, or words beside what should
// not be read.
func notObeyed(d *agent.Agent, plan *dag.Plan, n *dag.Node) diag.List {
	var out diag.List
	for _, l := range losses(d, plan) {
		ignored := lists.Has([]string{"none", "context", "dropped"}, l.To) && l.From != "context" && l.From != "allow"
		if l.To == "feedback" { // which a rule may mean; a guard means to hide
			ignored = n.Hook.Kind == policy.KindBuiltin && n.Effects.Writes.Empty()
		}
		if !ignored || !nodeSays(plan, n, l.From) || declaresNothing(n) && plan.Spec.Class == policy.Transform {
			continue
		}
		r := codeNotObeyed.Report(n.Hook.Span, "%s has no effect under %s at %s: %s", n.Hook.Name, d.ID, plan.Event, what(l))
		r.Hook = n.Hook.Name
		if l.From == "feedback" {
			r.Hint = "refuse with it: deny, ask or skip"
		} else if plan.Spec.CanRead(policy.FieldToolName) {
			r.Hint = "decide at pre_tool_execution, where the agent obeys"
		}
		out.Add(r)
		break // one finding tells of the hook
	}
	return out
}

func what(l dag.Loss) string { return fmt.Sprintf("%s (%s)", l, strings.TrimSuffix(l.Why, ".")) }

// declaresNothing reports whether what a hook says is not known: a process, or a
// model, that may say anything.
func declaresNothing(n *dag.Node) bool {
	return !n.Hook.Kind.InProcess() && n.Effects.May == policy.AllPowers
}
