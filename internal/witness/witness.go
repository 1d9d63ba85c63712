// Package witness looks, for each rule of a compiled policy, for an event that makes
// it fire: by solving what it tests (compiler/solve), and by running what was found
// through the serial interpreter. A rule fires, with a witness; or it never does, with
// a proof; or nobody knows, and then what stopped the search is said.
package witness

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sort"
	"strings"
	"sync"

	"github.com/hookc/hookc/compiler/solve"
	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/executor"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
)

// Status is one of the answers of a rule.
type Status string

// The answers. Unusual is a rule that fires, but on no event as known agents send
// them.
const (
	Fires   Status = "fires"
	Never   Status = "never"
	Unusual Status = "unusual"
	Unknown Status = "unknown"
)

// Rule is what was found of one rule; one that is in several hooks, or at several
// events, fires where it does in one of them.
type Rule struct {
	Hook  string       `json:"hook"`
	Event policy.Event `json:"event"`
	// Rule is the entry point or the condition, "filter" for a hook that is none.
	Rule   string    `json:"rule"`
	At     diag.Span `json:"-"`
	Place  string    `json:"at"`
	Status Status    `json:"status"`
	// Witness is an event on which the rule fired.
	Witness map[string]any `json:"witness,omitempty"`
	// Why says, in words, what contradicts what, or what stopped the search.
	Why []string `json:"why,omitempty"`
	// Hint says what to do about it.
	Hint string `json:"hint,omitempty"`
	// Span is the test that is at fault.
	Span diag.Span `json:"-"`
	// shadow is the earlier hook that decides the witness first.
	shadow string
	// own is what the witness alone follows from, as a hash, "" where it follows from
	// other hooks as well.
	own string
	// Missing are documents of which the rule reads what they do not have.
	Missing []solve.Missing `json:"-"`
}

// finder looks for the witnesses of one program.
type finder struct {
	ctx   context.Context
	prog  *dag.Program
	tools policy.Catalogue
	// build is that of hookc where what is found is kept, known the events of the last
	// time.
	build string
	known map[string]map[string]any
	// jobs are the rules in the order of the program; todo is who works on them.
	jobs []*job
	todo chan *job
	out  []Rule
	at   map[string]int
}

// job is the search of one rule. It shares with others what does not change.
type job struct {
	*finder
	*place
	rule  solve.Rule
	own   string
	found Rule
}

// place is where in a chain a rule is.
type place struct {
	world *solve.World
	plan  *dag.Plan
	id    int
	// upto is the plan up to the rule's hook: what comes later does not change
	// whether it is asked.
	upto   dag.Plan
	filter *solve.Formula
	before []earlier
	// rewritten is true behind a hook that may change the event.
	rewritten bool
}

// mostWaiting bounds the rules that are read before they are looked at.
const mostWaiting = 64

// Find looks for a witness of every rule of a program that was compiled with its
// bodies. Rules are looked at side by side; what is found does not depend on it.
//
//go:noinline
func Find(ctx context.Context, prog *dag.Program, tools policy.Catalogue) []Rule {
	return (&finder{ctx: ctx, prog: prog, tools: tools}).find()
}

func (f *finder) find() []Rule {
	f.at, f.todo = map[string]int{}, make(chan *job, mostWaiting)
	var working sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		working.Go(func() {
			for j := range f.todo {
				j.look()
			}
		})
	}
	for _, plan := range f.prog.Plans {
		f.read(plan)
	}
	close(f.todo)
	working.Wait()
	for _, j := range f.jobs {
		if j.found.Status != "" {
			f.add(j.found)
		}
	}
	sort.SliceStable(f.out, func(i, j int) bool { return f.out[i].Hook < f.out[j].Hook })
	return f.out
}

// earlier is a rule that decides before others are asked.
type earlier struct {
	hook string
	rule solve.Rule
	when *solve.Formula
}

// read reads the rules of a plan, and hands them to those who look.
func (f *finder) read(plan *dag.Plan) {
	world := &solve.World{Event: plan.Event, Tools: f.tools, Facts: f.prog.Facts}
	var before []earlier
	rewritten := false
	for id := range plan.Nodes {
		n := &plan.Nodes[id]
		if n.RecheckOf >= 0 || f.ctx.Err() != nil {
			continue
		}
		at := &place{world: world, plan: plan, id: id, upto: *plan, filter: FilterOf(n), before: slices.Clip(before), rewritten: rewritten}
		at.upto.Items = plan.Items[:n.Item+1]
		members := plan.Items[n.Item].Members
		at.upto.Nodes = plan.Nodes[:members[len(members)-1]+1]
		rules, own := RulesOf(n), at.ownKey(f.build)
		for i, r := range rules {
			j := &job{finder: f, place: at, rule: r}
			if own != "" {
				j.own = fmt.Sprint(own, i)
			}
			f.jobs = append(f.jobs, j)
			f.todo <- j
		}
		rewritten = rewritten || !n.Effects.Writes.Empty()
		if !rewritten {
			before = append(before, deciding(plan, n, at.filter, rules)...)
		}
	}
}

// look looks for the witness of a rule.
func (j *job) look() {
	if j.ctx.Err() != nil {
		return
	}
	n, r := &j.plan.Nodes[j.id], j.rule
	when := solve.And(j.filter, r.When)
	found, known := j.again()
	if !known {
		found = j.search(when)
	}
	if found.shadow != "" {
		found = j.behind(when, found)
		found.own = ""
	}
	if found.Status == Unusual && len(j.tools.Known) > 0 && named(n, found.Span) {
		found.Status = Fires // HK150 says it
	}
	found.Hook, found.Event, found.Rule, found.At, found.Missing = n.Hook.Name, j.plan.Event, r.Name, r.At, r.Missing
	if found.At.IsZero() {
		found.At = n.Hook.Span
	}
	j.found, j.rule, j.place = found, solve.Rule{}, nil
}

// named reports whether a place is the condition of a filter on the tool's name.
func named(n *dag.Node, at diag.Span) bool {
	return lists.Some(n.Matcher.Atoms, func(a *policy.Atom) bool { return a.Field == policy.FieldToolName && a.Origin == at })
}

// mostAtOnce bounds how many rules of one earlier hook are looked behind at once.
const mostAtOnce = 8

// deciding are the rules of a hook that end the chain wherever they hold.
func deciding(plan *dag.Plan, n *dag.Node, filter *solve.Formula, rules []solve.Rule) []earlier {
	alone := len(plan.Items[n.Item].Members) == 1
	if !alone || n.Hook.Async || n.Hook.Spared > 0 || n.OnError != policy.OnErrorDeny || plan.Strategy.Halt != policy.HaltDeny && plan.Strategy.Halt != policy.HaltAsk {
		return nil
	}
	var out []earlier
	for _, r := range rules {
		power, is := decides[strings.SplitAfter(r.Name, "_")[0]]
		when := solve.And(filter, r.When)
		if is && n.Effects.May.Has(power) && plan.Spec.Powers.Has(power) && when.Exact() {
			out = append(out, earlier{n.Hook.Name, r, when})
		}
	}
	return out
}

// decides are the rules that end a chain.
var decides = map[string]policy.Powers{"deny": policy.MayDeny, "deny_": policy.MayDeny, "violation": policy.MayDeny, "skip": policy.MaySkip, "stop": policy.MayStop}

// mostBehind bounds how often is looked behind what decides first.
const mostBehind = 12

// behind looks again where an earlier rule decides the event that was found: for one
// that fulfils what the rule tests and not what that one does.
func (j *job) behind(when *solve.Formula, found Rule) Rule {
	var ahead []earlier
	for turn := 0; found.shadow != ""; turn++ {
		known := len(ahead)
		in := ContextOf(j.plan.Event, found.Witness)
		for _, e := range j.before {
			if e.hook == found.shadow && e.rule.Fires(in) && len(ahead) < known+mostAtOnce {
				ahead, when = append(ahead, e), solve.And(when, solve.Not(e.when))
			}
		}
		if len(ahead) == known || turn == mostBehind {
			return found
		}
		if found = j.search(when); found.Status != Never {
			continue
		}
		names := make([]string, len(ahead))
		for i, e := range ahead {
			names[i] = e.hook + " (" + e.rule.Name + " at " + e.rule.At.String() + ")"
		}
		found.Why = []string{"where it holds, an earlier hook has decided: " + strings.Join(lists.Compact(names), ", ")}
		found.Hint = "put it before that one, or take it out"
		found.Span = j.rule.At
	}
	return found
}

// add notes what was found; of a rule that is asked twice, the better.
func (f *finder) add(r Rule) {
	r.Place = r.At.String()
	key := r.Place + " " + r.Rule
	i, known := f.at[key]
	if !known || r.Place == "" {
		f.at[key] = len(f.out)
		f.out = append(f.out, r)
		return
	}
	order := []Status{Fires, Unknown, Unusual, Never}
	if slices.Index(order, r.Status) < slices.Index(order, f.out[i].Status) {
		f.out[i] = r
	}
}

// RulesOf are the rules of a node. A hook that knows none has its filter.
func RulesOf(n *dag.Node) []solve.Rule {
	if body, ok := n.Runner.(solve.Ruled); ok {
		return body.Rules()
	}
	if n.Hook.Kind == policy.KindRego || n.Hook.Kind == policy.KindExpr || n.Matcher == nil || len(n.Matcher.Atoms) == 0 {
		return nil
	}
	at := n.Hook.Filter.Span
	if at.IsZero() {
		at = n.Hook.Span
	}
	return []solve.Rule{{Name: "filter", At: at, When: solve.True, Fires: func(*policy.Context) bool { return true }}}
}

// seen is what was seen of the events of a search.
type seen struct {
	// alone is an event on which the rule would fire if an earlier hook, by, did not
	// decide it; failed says why one was not taken on which it fires.
	alone  map[string]any
	by     string
	failed string
	// chained is true once an event was not taken for what other hooks make of it.
	chained bool
}

// accepts reports whether the rule fires on an event: the serial interpreter says it.
func (j *job) accepts(doc map[string]any, s *seen) bool {
	n, r := &j.plan.Nodes[j.id], &j.rule
	in := ContextOf(j.plan.Event, doc)
	if in == nil {
		return false
	}
	if !j.rewritten && (!n.Matcher.Match(in) || !r.Fires(in)) {
		return false
	}
	plan, id := j.asked(in)
	w := &onlyRules{n: &plan.Nodes[id]}
	d, _ := executor.Serial(j.prog, plan, in, w)
	if w.given == nil {
		s.chained = true
		if !j.rewritten || n.Matcher.Match(in) && r.Fires(in) {
			s.alone, s.by = doc, d.By
		}
		return false
	}
	if d.Hooks[id].Status == policy.StatusFailed {
		s.chained, s.failed = true, "the hook fails on the events that were tried"
		return false
	}
	return r.Fires(w.given)
}

// search looks for an event of a formula on which the rule fires.
func (j *job) search(when *solve.Formula) Rule {
	var s seen
	answer := j.world.Search(when, func(doc map[string]any) bool { return j.accepts(doc, &s) })
	out := Rule{Witness: answer.Event}
	switch {
	case answer.Proof == nil && answer.Event != nil:
		out.Status = Fires
		if !s.chained {
			out.own = j.own
		}
	case answer.Proof != nil:
		out.Status = Never
		if answer.Proof.Unusual {
			out.Status = Unusual
		}
		out.Why, out.Hint, out.Span = words(answer.Proof)
	case s.alone != nil:
		out.Status, out.Witness, out.shadow = Fires, s.alone, s.by
		out.Why = []string{"an earlier hook decides this event first: " + s.by}
		if s.by == "" {
			out.Why = []string{"an earlier hook changes this event first"}
		}
	default:
		out.Status, out.Why = Unknown, answer.Unknown
		if s.failed != "" {
			out.Why = append(out.Why, s.failed)
		}
		if len(out.Why) == 0 {
			out.Why = []string{"no event that was tried made it fire"}
		}
	}
	return out
}

// ContextOf is an event of a document, nil for one that is none.
func ContextOf(event policy.Event, doc map[string]any) *policy.Context {
	text, err := policy.EncodeJSON(doc)
	if err != nil {
		return nil
	}
	in, _, err := policy.DecodeContext(text)
	if err != nil {
		return nil
	}
	in = in.Frozen(event)
	if in.Unfit(event) != nil {
		return nil
	}
	return in
}

// onlyRules is a world in which rules are run and other hooks say nothing.
type onlyRules struct {
	executor.Timeless
	n     *dag.Node
	given *policy.Context
}

func (w *onlyRules) Call(n *dag.Node, in *policy.Context, attempt int) (policy.Result, error) {
	if n == w.n {
		w.given = in
	}
	if !n.Hook.Kind.InProcess() {
		return policy.Result{}, nil
	}
	return n.Runner.Run(context.Background(), in, attempt)
}
