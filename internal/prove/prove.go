// Package prove decides properties of policies: what no decision may be, or every one
// has to be, over the fields of an event and the action that is decided. A property is
// proved by what the compiled rules test; or refuted by an event on which it really does
// not hold, by the serial definition; or neither, and then what stopped the proof is
// said.
package prove

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"

	"github.com/hookc/hookc"
	"github.com/hookc/hookc/builtins/toolcall"
	"github.com/hookc/hookc/compiler/solve"
	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/executor"
	"github.com/hookc/hookc/internal/fault"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/internal/spell"
	"github.com/hookc/hookc/internal/witness"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
	"github.com/hookc/hookc/policy/rollout"
)

// Status is what became of a property.
type Status string

// The answers.
const (
	Proved  Status = "proved"
	Refuted Status = "refuted"
	Unknown Status = "unknown"
)

// Property is what is to hold of every event of a lifecycle point.
type Property struct {
	Event policy.Event
	// Never is what no decision may fulfil; Always is what every one has to.
	Never, Always string
}

// Result is what became of one.
type Result struct {
	Property string       `json:"property"`
	Event    policy.Event `json:"event"`
	Status   Status       `json:"status"`
	// Witness is an event on which it does not hold, Action what is decided then.
	Witness map[string]any `json:"witness,omitempty"`
	Action  policy.Action  `json:"action,omitempty"`
	By      string         `json:"by,omitempty"`
	// Why says what stopped the proof.
	Why []string `json:"why,omitempty"`
}

// Parse reads "never: EXPR" and "always: EXPR".
func Parse(text string, event policy.Event) (Property, error) {
	word, rest, found := spell.Cut(text, ":")
	rest = strings.TrimSpace(rest)
	switch strings.TrimSpace(word) {
	case "never":
		return Property{Event: event, Never: rest}, nil
	case "always":
		return Property{Event: event, Always: rest}, nil
	}
	if !found {
		word = text
	}
	return Property{}, fault.Errorf("a property begins with never: or always:, not with %q", word)
}

func (p *Property) String() string {
	if p.Always != "" {
		return "always: " + p.Always
	}
	return "never: " + p.Never
}

// actions are what may be decided.
var actions = []policy.Action{policy.Proceed, policy.AskUser, policy.DeferCall, policy.Block, policy.KeepWorking, policy.RetryTurn, policy.Hide, policy.Abort, policy.EndTurn}

// prover decides one property of one plan.
type prover struct {
	ctx   context.Context
	prog  *dag.Program
	plan  *dag.Plan
	world *solve.World
	// bad are, for each action, when a decision for it breaks the property.
	bad map[policy.Action]solve.Rule
	out Result
}

// Decide finds out whether a property holds of a policy. The error says what is wrong
// with the property.
func Decide(ctx context.Context, prog *dag.Program, p Property) (*Result, error) {
	v := &prover{ctx: ctx, prog: prog, plan: prog.Plan(p.Event), world: &solve.World{Event: p.Event, Tools: prog.Tools, Facts: prog.Facts},
		out: Result{Property: p.String(), Event: p.Event, Status: Proved}}
	if err := v.read(p); err != nil {
		return nil, err
	}
	for _, a := range actions {
		bad := v.bad[a]
		if bad.When == solve.False || v.out.Status == Refuted || a != policy.Proceed && (v.plan == nil || !possible(v.plan.Spec.Class, a)) {
			continue
		}
		v.decide(a, bad)
	}
	v.out.Why = lists.Distinct(v.out.Why)
	if v.out.Status != Unknown {
		v.out.Why = nil
	}
	return &v.out, ctx.Err()
}

// possible reports whether a step of a class may be decided so: what a refusal is
// called depends on the class.
func possible(class policy.Class, a policy.Action) bool {
	switch a {
	case policy.Block:
		return class != policy.Quality && class != policy.Transform
	case policy.KeepWorking:
		return class == policy.Quality
	case policy.Hide:
		return class == policy.Transform
	}
	return true
}

// read compiles a property as the conditions of hooks, one for each action.
func (v *prover) read(p Property) error {
	condition := p.Never
	if p.Always != "" {
		condition = "not (" + p.Always + ")"
	}
	says := ""
	for _, word := range policy.PowerNames() {
		if power, _ := policy.ParsePower(word); says == "" && p.Event.Spec().Powers.Has(power) {
			says = word
		}
	}
	if says == "" {
		return fault.Errorf("nothing is decided at %s", p.Event)
	}
	var hooks []any
	for _, a := range actions {
		hooks = append(hooks, map[string]any{"name": string(a), "type": "expr", says: fmt.Sprintf("let action = %q; (%s)", a, condition), "reason": "the property"})
	}
	text, err := json.Marshal(map[string]any{string(p.Event): hooks})
	if err != nil {
		return err
	}
	compiled, found := hookc.Compile(hookc.Text("property.yaml", string(text)), hookc.AsFound(), hookc.SkipVerify())
	for _, d := range found {
		if d.Severity == diag.Error {
			return errors.New(strings.TrimPrefix(d.Text, string(actions[0])+": "))
		}
	}
	v.bad = map[policy.Action]solve.Rule{}
	for _, a := range actions {
		v.bad[a] = solve.Rule{When: solve.False, Fires: func(*policy.Context) bool { return false }}
	}
	for i, plan := 0, compiled.Plan(p.Event); plan != nil && i < len(plan.Nodes); i++ {
		for _, r := range witness.RulesOf(&plan.Nodes[i]) {
			v.bad[policy.Action(plan.Nodes[i].Hook.Name)] = r
		}
	}
	return nil
}

// decide looks for a proof that no decision for an action breaks the property, or for
// an event of one that does.
func (v *prover) decide(a policy.Action, bad solve.Rule) {
	if in := policy.NewContext(v.out.Event); in.Frozen(v.out.Event).Unfit(v.out.Event) != nil { // which nobody decides without its tool
		bad.When = solve.And(bad.When, solve.Is(solve.Input.Member(policy.FieldToolName.String()), solve.String, solve.Place{}))
	}
	whole := solve.And(bad.When, v.excluded(a))
	tries := []*solve.Formula{whole, bad.When}
	for i := 0; v.plan != nil && i < len(v.plan.Nodes) && a != policy.Proceed; i++ {
		for _, r := range witness.RulesOf(&v.plan.Nodes[i]) {
			tries = append(tries, solve.And(bad.When, witness.FilterOf(&v.plan.Nodes[i]), r.When))
		}
	}
	for i, f := range tries {
		answer := v.world.Search(f, v.breaks)
		if v.out.Status == Refuted || i == 0 && answer.Proof != nil && !answer.Proof.Unusual || v.ctx.Err() != nil {
			return
		}
		v.out.Status = Unknown
		if v.out.Why = append(v.out.Why, answer.Unknown...); len(answer.Unknown) == 0 && i == 0 {
			v.out.Why = append(v.out.Why, fmt.Sprintf("%s: of %d events that were made none breaks it, and no proof was found", a, answer.Tried))
		}
	}
}

// breaks reports whether an event breaks the property, if possible one of a tool that
// agents have.
func (v *prover) breaks(doc map[string]any) bool {
	if name, is := doc["tool_name"].(string); is && !lists.Has(toolcall.Names(), name) {
		for _, known := range []string{"Bash", "Read", "Write", "Edit", "WebFetch", "Task", "mcp__github__create_issue"} {
			other := maps.Clone(doc)
			if other["tool_name"] = known; v.broken(other) {
				return true
			}
		}
	}
	return v.broken(doc)
}

// broken reports whether an event breaks the property, as decided by rules alone.
func (v *prover) broken(doc map[string]any) bool {
	in := witness.ContextOf(v.out.Event, doc)
	if in == nil {
		return false
	}
	action, by := policy.Proceed, ""
	if v.plan != nil {
		d, _ := executor.Serial(v.prog, v.plan, in, &onlyRules{ctx: v.ctx})
		action, by = d.Action, d.By
	}
	bad, known := v.bad[action]
	if !known || !bad.Fires(in) || v.ctx.Err() != nil {
		return false
	}
	for i := 0; v.plan != nil && i < len(v.plan.Nodes); i++ {
		n := &v.plan.Nodes[i]
		if !n.Hook.Kind.InProcess() && (n.CanDeny() || n.Effects.May != 0 || !n.Effects.Writes.Empty()) && (n.Matcher == nil || n.Matcher.Match(in)) {
			v.out.Why = append(v.out.Why, n.Hook.Name+" is no rule, and was not run: it may decide otherwise")
			return false
		}
	}
	v.out.Status, v.out.Witness, v.out.Action, v.out.By = Refuted, doc, action, by
	return true
}

// excluded is what is known of events of which an action is decided: of those that
// proceed that no rule that decides holds, of others that some hook may decide so.
func (v *prover) excluded(a policy.Action) *solve.Formula {
	if v.plan == nil {
		return solve.True
	}
	strategy := v.plan.Strategy
	folds := strategy.Rules.Conclude == nil && strategy.Fold == policy.FoldMax && strategy.Halt != policy.HaltExplicit
	var silent, speaks []*solve.Formula
	for i := range v.plan.Nodes {
		n := &v.plan.Nodes[i]
		filter := witness.FilterOf(n)
		rules := witness.RulesOf(n)
		for _, r := range rules {
			power := powers[strings.SplitN(r.Name, "_", 2)[0]]
			when := solve.And(filter, r.When)
			if power == 0 || powersOf[a].Has(power) {
				speaks = append(speaks, when)
			}
			if power != 0 && folds && refuses(v.plan, n) && n.Effects.May.Has(power) && v.plan.Spec.Powers.Has(power) && when.Closed() {
				silent = append(silent, solve.Not(when))
			}
		}
		if !n.Hook.Kind.InProcess() && n.Effects.May.Has(powersOf[a]) || len(rules) == 0 || n.Effects.MayFail && (failures[n.OnError]|failures[n.OnTimeout]).Has(powersOf[a]) {
			speaks = append(speaks, filter)
		}
		if !n.Effects.Writes.Empty() { // what follows sees another event
			speaks = append(speaks, solve.True)
			break
		}
	}
	switch {
	case a == policy.Proceed:
		return solve.And(silent...)
	case !folds:
		return solve.True
	}
	return solve.Or(speaks...)
}

// powers are what rules say that keeps a step from proceeding; powersOf what an action
// comes of, failures what a failure says.
var (
	powers = map[string]policy.Powers{"deny": policy.MayDeny, "violation": policy.MayDeny, "ask": policy.MayAsk, "defer": policy.MayDefer,
		"skip": policy.MaySkip, "stop": policy.MayStop, "halt": policy.MayHalt}
	powersOf = map[policy.Action]policy.Powers{policy.AskUser: policy.MayAsk, policy.DeferCall: policy.MayDefer, policy.Abort: policy.MayStop, policy.EndTurn: policy.MayHalt | policy.MayStop,
		policy.RetryTurn: policy.MayStop, policy.Block: policy.MayDeny | policy.MaySkip, policy.Hide: policy.MayDeny | policy.MaySkip, policy.KeepWorking: policy.MayDeny | policy.MaySkip | policy.MayStop}
	failures = map[policy.Posture]policy.Powers{policy.OnErrorDeny: policy.MayDeny, policy.OnErrorAsk: policy.MayAsk | policy.MayDeny, policy.OnErrorAbort: policy.MaySkip | policy.MayStop | policy.MayHalt}
)

// refuses reports whether what a hook says counts, and its failure refuses too.
func refuses(plan *dag.Plan, n *dag.Node) bool {
	item := &plan.Items[n.Item]
	alone := len(item.Members) == 1 || item.Group == "" || item.Fold == policy.FoldMax
	held := func(p policy.Posture) bool { return p == policy.OnErrorDeny || p == policy.OnErrorAsk }
	return alone && n.Hook.Kind.InProcess() && !n.Hook.Async && rollout.Text(n.Hook) == "" && n.RecheckOf < 0 &&
		(!n.Effects.MayFail || held(n.OnError) && held(n.OnTimeout))
}

// onlyRules is a world in which rules are run and other hooks say nothing.
type onlyRules struct {
	executor.Timeless
	ctx context.Context
}

func (w *onlyRules) Call(n *dag.Node, in *policy.Context, attempt int) (policy.Result, error) {
	if !n.Hook.Kind.InProcess() {
		return policy.Result{}, nil
	}
	return n.Runner.Run(w.ctx, in, attempt)
}

// Text is the result for people.
func (r *Result) Text() string {
	out := fmt.Sprintf("%s at %s: %s\n", r.Status, r.Event, r.Property)
	if r.Witness != nil {
		event, err := policy.EncodeJSON(r.Witness)
		if err != nil {
			panic("prove: an event has no JSON: " + err.Error())
		}
		out += fmt.Sprintf("  %s: %s\n", strings.TrimSpace(string(r.Action)+" "+r.By), event)
	}
	for _, w := range r.Why {
		out += "  " + w + "\n"
	}
	return out
}
