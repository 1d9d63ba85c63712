package executor

import (
	"bytes"
	"regexp"
	"strings"

	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/internal/fault"
	"github.com/hookc/hookc/internal/lazy"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
)

// Equal compares two programs that are to mean the same, such as a
// configuration and the hooks.yaml it was converted to: events mock events of
// each event go through the serial definition of both, with mock bodies that
// answer alike where they are called alike, hook by hook of one name. Decisions
// must agree but for places, warnings and the programs' names, and so must the
// calls: which hook, which attempt, given what. The error names the first event
// that tells the programs apart. It runs no real body and depends on nothing
// but the programs.
func Equal(a, b *dag.Program, events int) error {
	for _, plan := range lists.Concat(a.Plans, b.Plans) {
		x, y := a.Plan(plan.Event), b.Plan(plan.Event)
		if x == nil || y == nil {
			if len(plan.Nodes) == 0 {
				continue
			}
			return fault.Errorf("%s has hooks in one of the two only", plan.Event)
		}
		for seed := range uint64(events) {
			if err := equalOn(a, b, x, y, seed); err != nil {
				return err
			}
		}
	}
	return nil
}

func equalOn(a, b *dag.Program, x, y *dag.Plan, seed uint64) error {
	m, n := newMock(x, seed), newMock(y, seed)
	for f, words := range n.words {
		m.words[f] = append(m.words[f], words...)
	}
	m.spread()
	n.follow(m)
	in := m.event()
	want, calls := Serial(a, m.plan, in, m)
	got, made := Serial(b, n.plan, in, n)
	text, _ := in.MarshalJSON()
	if w, g := delivered(want), delivered(got); !bytes.Equal(w, g) {
		return fault.Errorf("%s differs on mock event %d %s: %s, then %s", x.Event, seed, text, w, g)
	}
	if w, g := texts(calls), texts(made); !lists.Equal(w, g) {
		return fault.Errorf("%s differs on mock event %d %s: calls %q, then %q", x.Event, seed, text, w, g)
	}
	return nil
}

// delivered is a Decision as JSON without places, warnings and the program's name,
// and the context it leaves.
func delivered(d *policy.Decision) []byte {
	out := *d
	out.At, out.Policy, out.Warnings, out.Hooks = diag.Span{}, "", nil, nil
	for _, h := range d.Hooks {
		if h.Status == policy.StatusDisabled {
			continue // which of those are listed is not what they mean
		}
		h.Micros = 0
		out.Hooks = append(out.Hooks, h)
	}
	text, err := out.MarshalJSON()
	if err != nil {
		panic("executor: a mock Decision has no JSON: " + err.Error())
	}
	final, err := d.Final.MarshalJSON()
	if err != nil {
		panic("executor: a mock context has no JSON: " + err.Error())
	}
	return lists.Concat(text, []byte(" leaving "), final)
}

func texts(calls []Call) []string {
	out := make([]string, len(calls))
	for i, c := range calls {
		out[i] = c.text()
	}
	return out
}

// anyTools are names of tools that agents have, so that a condition on a kind
// of tool holds now and then.
var anyTools = []string{"Bash", "Read", "Write", "Edit", "WebFetch", "Task", "run_shell_command", "write_file", "mcp__a__b"}

// wordIn finds what a pattern matches literally, more or less.
var wordIn = lazy.Value(func() *regexp.Regexp { return regexp.MustCompile(`[\pL\pN_.-]+`) })

// spread adds words to those that filters compare with: of a pattern, the
// words in it, alone and as part of a longer one, and tools nobody named.
func (m *mock) spread() {
	for f, words := range m.words {
		var more []string
		for _, w := range words {
			for _, part := range append(wordIn().FindAllString(w, -1), strings.Split(w, "|")...) {
				more = append(more, part, "x"+part, part+"x", strings.ToUpper(part))
			}
		}
		m.words[f] = append(words, more...)
	}
	for _, f := range []policy.Field{policy.FieldCommand, policy.FieldPath, policy.FieldContent, policy.FieldURL} {
		m.words[policy.FieldToolInput] = append(m.words[policy.FieldToolInput], m.words[f]...)
	}
	m.words[policy.FieldToolName] = append(m.words[policy.FieldToolName], anyTools...)
	for f, words := range m.words {
		m.words[f] = lists.Distinct(words)
	}
}

// follow makes the bodies of n answer as those of m do: to the same input the
// same, whatever the program of n lets them say.
func (n *mock) follow(m *mock) {
	for i := range n.plan.Nodes {
		to := &n.plan.Nodes[i]
		for j := range m.plan.Nodes {
			from := &m.plan.Nodes[j]
			if from.Hook.Name != to.Hook.Name || (from.RecheckOf < 0) != (to.RecheckOf < 0) {
				continue
			}
			as := *from
			as.Effects.Reads = to.Effects.Reads
			n.late[to] = m.late[from]
			to.Runner = m.body(&as)
		}
	}
}
