package diff

import (
	"encoding/json"
	"hash/fnv"
	"iter"
	"math/rand/v2"
	"slices"
	"sort"

	"github.com/hookc/hookc/builtins/toolcall"
	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy"
)

// made is an event that was made up.
type made struct {
	context *policy.Context
	text    json.RawMessage
	// answers are what it supposes of hooks that are not run.
	answers map[string]any
}

// probe is a hook that events are made for: the places that it looks at, and the
// constants of each of its rules.
type probe struct {
	matcher *policy.Matcher
	places  []policy.Path
	rules   [][]any
}

// maker makes events of a lifecycle point that reach what the hooks of two
// policies test: from the places they look at, the constants of their rules, and
// their filters. Equal policies give equal events.
type maker struct {
	event    policy.Event
	spec     *policy.EventSpec
	tool     string
	tools    []string
	sources  []probe
	focus    []int // those of sources that are not in both policies alike
	reads    []policy.Path
	volatile bool
	rng      *rand.Rand
	seen     map[string]bool
}

func newMaker(old, new *dag.Program, event policy.Event, tool string, touched map[string]bool) *maker {
	h := fnv.New64a()
	h.Write([]byte(event))
	m := &maker{event: event, spec: event.Spec(), tool: tool, rng: rand.New(rand.NewPCG(0x68636469, h.Sum64())), seen: map[string]bool{}}
	m.tools = lists.Concat(toolsNamed(old), toolsNamed(new))
	m.tools = lists.Distinct(m.tools)
	seen := map[string]bool{}
	for _, p := range []*dag.Program{old, new} {
		shared := sharedConstants(p)
		plan := p.Plan(event)
		if plan == nil {
			continue
		}
		for i := range plan.Nodes {
			m.learn(&plan.Nodes[i], shared, touched, seen)
		}
	}
	sort.Slice(m.reads, func(i, j int) bool {
		a, b := m.reads[i], m.reads[j]
		return slices.Compare(append([]string{a.Field.String()}, a.Keys...), append([]string{b.Field.String()}, b.Keys...)) < 0
	})
	m.reads = lists.CompactFunc(m.reads, func(a, b policy.Path) bool { return a.String() == b.String() })
	return m
}

// sharedConstants are those of the Rego and data beside a policy.
func sharedConstants(p *dag.Program) [][]any {
	var out [][]any
	for _, text := range literalFiles(p) {
		out = append(out, constantsOf(text)...)
	}
	return out
}

// learn takes what a node looks at, and its constants.
func (m *maker) learn(n *dag.Node, shared [][]any, touched, seen map[string]bool) {
	m.volatile = m.volatile || n.Effects.Volatile || n.Effects.World != policy.WorldNone && n.Hook.Kind.InProcess()
	src := probe{matcher: n.Matcher}
	for _, p := range n.Effects.Reads.All() {
		if !n.Hook.Kind.InProcess() {
			break // it is not run, and may read everything
		}
		at := sent(p)
		m.reads = append(m.reads, at)
		if !p.Field.Spec().Always && !lists.Some(src.places, func(q *policy.Path) bool { return q.String() == at.String() }) {
			src.places = append(src.places, at)
		}
	}
	key := describe(&dag.Entry{Hook: n.Hook, Status: dag.Live}).text()
	if seen[key] {
		return
	}
	seen[key] = true
	for _, text := range textsOf(n.Hook) {
		src.rules = append(src.rules, constantsOf(text)...)
	}
	if n.Hook.Kind == policy.KindRego {
		src.rules = append(src.rules, shared...)
	}
	if len(n.Hook.Body.Options) > 0 {
		var options []any
		for _, o := range n.Hook.Body.Options {
			options = append(options, constantsIn(o.Value)...)
		}
		src.rules = append(src.rules, options)
	}
	if len(src.rules) == 0 {
		src.rules = [][]any{nil}
	}
	if touched[n.Hook.Name] {
		m.focus = append(m.focus, len(m.sources))
	}
	m.sources = append(m.sources, src)
}

// textsOf are the texts of a hook's rules.
func textsOf(h *policy.Hook) []string {
	var out []string
	switch h.Kind {
	case policy.KindRego:
		out = append(out, h.Body.Source.Value)
	case policy.KindExpr:
		for _, r := range h.Body.Rules {
			out = append(out, h.Body.When.Value+"\n"+r.Condition.Value)
		}
		for _, s := range h.Body.Set {
			out = append(out, h.Body.When.Value+"\n"+s.Path.Value+" "+s.Value.Value)
		}
		if h.Body.Context.Value != "" {
			out = append(out, h.Body.When.Value+"\n"+h.Body.Context.Value)
		}
	}
	return out
}

// constantsIn are the texts and numbers in an option.
func constantsIn(v any) []any {
	switch v := v.(type) {
	case string, json.Number:
		return []any{v}
	case []any:
		var out []any
		for _, item := range v {
			out = append(out, constantsIn(item)...)
		}
		return out
	}
	return nil
}

// rounds is how often each constant of each rule is tried in turn before events
// are drawn.
const rounds = 48

// events yields up to n different events: each rule's constants in turn, first of
// the hooks that differ, then drawn.
func (m *maker) events(n int) iter.Seq2[int, made] {
	return func(yield func(int, made) bool) {
		order := lists.Copy(m.focus)
		for i := range m.sources {
			if !lists.Among(m.focus, i) {
				order = append(order, i)
			}
		}
		give := func(fields map[string]any) bool {
			e, ok := m.finish(fields)
			return !ok || yield(len(m.seen)-1, e)
		}
		for turn := range rounds {
			for _, i := range order {
				for _, constants := range m.sources[i].rules {
					if len(m.seen) >= n/2 || turn > 0 && turn >= len(constants)*len(m.sources[i].places) {
						continue
					}
					if !give(m.reach(&m.sources[i], constants, turn)) {
						return
					}
				}
			}
		}
		for tries := 0; tries < 4*n && len(m.seen) < n; tries++ {
			if !give(m.draw()) {
				return
			}
		}
	}
}

// made is how many events there were.
func (m *maker) made() int { return len(m.seen) }

// reach is the event in which one place has one of the constants, each in its turn,
// and others what agents send or another constant.
func (m *maker) reach(s *probe, constants []any, turn int) map[string]any {
	fields := m.base()
	m.filter(fields, s.matcher)
	for i, p := range s.places {
		if i == turn%len(s.places) {
			m.set(fields, p, constants, turn/len(s.places), true)
		} else if m.rng.IntN(2) == 0 {
			m.set(fields, p, constants, m.rng.IntN(rounds), true)
		}
	}
	return fields
}

// draw is an event made at random of one or two rules.
func (m *maker) draw() map[string]any {
	fields := m.base()
	for range 1 + m.rng.IntN(2) {
		if len(m.sources) == 0 {
			break
		}
		i := m.rng.IntN(len(m.sources))
		if len(m.focus) > 0 && m.rng.IntN(2) == 0 {
			i = m.focus[m.rng.IntN(len(m.focus))]
		}
		s := &m.sources[i]
		if m.rng.IntN(8) > 0 {
			m.filter(fields, s.matcher)
		}
		constants := s.rules[m.rng.IntN(len(s.rules))]
		for _, p := range s.places {
			if m.rng.IntN(8) > 0 {
				m.set(fields, p, constants, m.rng.IntN(1<<16), m.rng.IntN(2) == 0)
			}
		}
	}
	return fields
}

// base is an event as agents send it.
func (m *maker) base() map[string]any {
	out := map[string]any{"event": string(m.event), "session_id": "s", "cwd": "/repo", "project_root": "/repo"}
	if m.spec.CanRead(policy.FieldToolName) {
		out["tool_name"] = m.tools[m.rng.IntN(len(m.tools))]
		if m.rng.IntN(2) == 0 {
			out["tool_name"] = "Bash"
		}
		out["tool_input"] = map[string]any{}
	}
	for _, p := range m.reads {
		if list := usual(p); len(list) > 0 && m.spec.CanRead(p.Field) && m.rng.IntN(5) > 0 {
			m.set(out, p, list, m.rng.IntN(len(list)), true)
		}
	}
	return out
}

// set gives a place one of some values; where there are none, one of the usual ones.
func (m *maker) set(fields map[string]any, p policy.Path, values []any, at int, exact bool) {
	if len(values) == 0 || at%16 == 15 {
		values = lists.Concat(values, usual(p))
	}
	if len(values) == 0 || !m.spec.CanRead(p.Field) {
		return
	}
	v, ok := valueFor(m.rng, p, values[at%len(values)], exact)
	if ok && p.Field != policy.FieldToolUseID { // repeated calls are remembered
		put(fields, append([]string{p.Field.String()}, p.Keys...), v)
	}
}

func put(to map[string]any, keys []string, v any) {
	for _, k := range keys[:len(keys)-1] {
		inner, ok := to[k].(map[string]any)
		if !ok {
			inner = map[string]any{}
			to[k] = inner
		}
		to = inner
	}
	to[keys[len(keys)-1]] = v
}

// filter makes an event one that a filter lets through, if it can.
func (m *maker) filter(fields map[string]any, matcher *policy.Matcher) {
	if matcher == nil {
		return
	}
	for i := range matcher.Atoms {
		a := &matcher.Atoms[i]
		values := a.Values
		switch {
		case a.Field == policy.FieldToolKind && a.Op == policy.AtomIn:
			values = nil
			for _, kind := range a.Values {
				values = append(values, toolcall.OfKind(kind)...)
			}
		case a.Op == policy.AtomMatch && len(a.Literals.Exact) > 0:
			values = a.Literals.Exact
		}
		if len(values) == 0 {
			continue
		}
		one := []any{values[m.rng.IntN(len(values))]}
		m.set(fields, sent(policy.Path{Field: a.Field}), one, 0, a.Op != policy.AtomPrefix || m.rng.IntN(2) == 0)
	}
}

// finish makes an event of its fields, unless there was the same one.
func (m *maker) finish(fields map[string]any) (made, bool) {
	fields["event"] = string(m.event)
	if m.tool != "" && m.spec.CanRead(policy.FieldToolName) {
		fields["tool_name"] = m.tool
	}
	e, ok := eventOf(m.event, fields)
	if !ok || m.seen[string(e.text)] {
		return made{}, false
	}
	m.seen[string(e.text)] = true
	return e, true
}

// eventOf is an event of fields; false when one has a type that the field does
// not have, or when every policy refuses the event alike.
func eventOf(event policy.Event, fields map[string]any) (made, bool) {
	text, err := policy.EncodeJSON(fields)
	if err != nil {
		return made{}, false
	}
	in, _, err := policy.DecodeContext(text)
	if err != nil {
		return made{}, false
	}
	in = in.Frozen(event)
	return made{context: in, text: text}, in.Unfit(event) == nil
}
