package build

import (
	"reflect"
	"strconv"
	"strings"

	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/executor"
	"github.com/hookc/hookc/internal/gate/rules"
	"github.com/hookc/hookc/policy"
)

// stage decides events of one plan of which one hook speaks: by the definition
// (executor.Serial), with that hook alone and what it is made to say.
type stage struct {
	program *dag.Program
	plan    *dag.Plan
	in      *policy.Context
	// stranger is a hook that may say everything; known are the Decisions on it.
	stranger dag.Node
	known    map[string]*policy.Decision
}

// strangerName is in no policy.
const strangerName = "hookc\x00stranger"

func newStage(program *dag.Program, plan *dag.Plan) *stage {
	s := &stage{program: &dag.Program{Hash: program.Hash, Warnings: program.Warnings, Agent: program.Agent}, plan: plan, known: map[string]*policy.Decision{}}
	s.in = policy.NewContext(plan.Event).Frozen(plan.Event)
	s.stranger = dag.Node{Hook: &policy.Hook{Name: strangerName, Event: plan.Event, Kind: policy.KindRego}, RecheckOf: -1}
	s.stranger.Effects.May = policy.AllPowers
	return s
}

// line is a hook's result, made to be said.
type line struct {
	executor.Timeless
	contribution *policy.Result
	calls        int
}

func (l *line) Call(*dag.Node, *policy.Context, int) (policy.Result, error) {
	l.calls++
	if l.calls > 1 || l.contribution == nil {
		return policy.Result{}, nil
	}
	return *l.contribution, nil
}

// decide is the Decision when a node says something, nil nothing; halts says that
// a hook after it is not asked. What is not the same for every hook is taken out.
func (s *stage) decide(n *dag.Node, contribution *policy.Result) (d *policy.Decision, halts bool) {
	plan := &dag.Plan{Event: s.plan.Event, Spec: s.plan.Spec, Strategy: s.plan.Strategy, Inline: true, Volatile: true}
	own := dag.Node{Hook: n.Hook, Effects: n.Effects, RecheckOf: -1}
	next := s.stranger
	own.Item, next.Item = 0, 1
	fold := s.plan.Strategy.Fold
	if n != &s.stranger {
		fold = s.plan.Items[n.Item].Fold
	}
	plan.Nodes = []dag.Node{own, next}
	plan.Items = []dag.Item{{Members: []int{0}, Fold: fold, MayHalt: true}, {Members: []int{1}, Fold: fold, MayHalt: true}}
	w := &line{contribution: contribution}
	d, _ = executor.Serial(s.program, plan, s.in, w)
	d.Hooks, d.Final = nil, nil
	return d, w.calls < 2
}

// silent reports whether a hook that says nothing is as good as none.
func (s *stage) silent() bool {
	empty := &dag.Plan{Event: s.plan.Event, Spec: s.plan.Spec, Strategy: s.plan.Strategy, Inline: true, Volatile: true}
	want, _ := executor.Serial(s.program, empty, s.in, &line{})
	want.Hooks, want.Final = nil, nil
	got, halts := s.decide(&s.stranger, nil)
	return !halts && reflect.DeepEqual(want, got)
}

// probe finds which of the outcomes wanted of a node are told as those of any hook
// are, and which of them end the chain.
func (s *stage) probe(n *dag.Node, wanted uint) (says, halts uint) {
	for i := range rules.NumOutcomes {
		if wanted>>i&1 == 0 {
			continue
		}
		texts := []string{"one", "two"}
		got, ends := s.decide(n, result(i, n.Hook.Name, texts))
		want, also := s.decide(&s.stranger, result(i, strangerName, texts))
		got.At, want.At = s.stranger.Hook.Span, s.stranger.Hook.Span
		named := got.By == "" && want.By == "" || got.By == n.Hook.Name && want.By == strangerName
		got.By, want.By = "", ""
		if !named || ends != also || !reflect.DeepEqual(got, want) {
			continue
		}
		if says |= 1 << i; ends {
			halts |= 1 << i
		}
	}
	return says, halts
}

// delivered is the Decision on an outcome with some texts; of one without, the hook's
// name is the text.
func (s *stage) delivered(outcome int, texts []string) *policy.Decision {
	key := strconv.Itoa(outcome) + "\x00" + strings.Join(texts, "\x00")
	if s.known[key] == nil {
		hook := strangerName
		if outcome >= rules.BareDeny {
			hook = texts[0]
		}
		s.known[key], _ = s.decide(&s.stranger, result(outcome, hook, texts))
	}
	return s.known[key]
}

// result is an outcome with some texts, as package rego has it.
func result(outcome int, hook string, texts []string) *policy.Result {
	r := &policy.Result{}
	switch outcome {
	case rules.Context:
		r.Context = texts
		return r
	case rules.Message:
		r.System = texts
		return r
	case rules.Feedback:
		r.Feedback = texts
		return r
	}
	bare := outcome >= rules.BareDeny
	if bare {
		outcome -= rules.BareDeny
	}
	r.Verdict = [...]policy.Verdict{rules.Deny: policy.Deny, rules.Ask: policy.Ask, rules.Allow: policy.Allow}[outcome]
	r.VerdictBy = policy.By{Name: hook}
	for _, text := range texts {
		if !bare {
			r.Reasons = append(r.Reasons, policy.Reason{Text: text})
		}
	}
	return r
}
