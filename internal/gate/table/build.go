package table

// Source is what a table is made of. hookc makes it of a program
// (internal/gate/build); the layout is this package's.
type Source struct{ Dialects []Dialect }

// Dialect is how an agent's events are read.
type Dialect struct {
	// Names are the dialect's, its ID first.
	Names              []string
	EventKey, EventEnv string
	Env                []Env
	// Events are sorted by their names.
	Events []Named
	Points []Point
}

// Env is a variable that stands in for a field.
type Env struct {
	Name  string
	Field int
}

// Named is what a name of an event means: the first alternative that holds.
type Named struct {
	Name string
	Alts []Alternative
}

// Alternative is a point, by index, where the object under a key has a member;
// with no key always.
type Alternative struct {
	Key, Member string
	Point       int
}

// Point is one event of an agent.
type Point struct {
	Native, Event string
	// Keys are sorted.
	Keys []Key
	// Implied is the tool's name where Implies says so.
	Implied string
	Implies int
	Flags   int
	// Answer is nil where the answer is left to hookc, Plan where no hook is on
	// the event.
	Answer *Delivered
	Plan   *Plan
	// Number is that of its answers among those of the event's rules.
	Number int
}

// Key is a key of an event and what it is there.
type Key struct {
	Name              string
	Code, Field, Type int
}

// Delivered is an answer.
type Delivered struct {
	Stdout, Stderr string
	Exit           int
}

// Plan says which hooks of an event may concern which calls.
type Plan struct {
	// Tool is true where the event has a tool's name.
	Tool bool
	// Absent are the hooks of an event without one, Always those that do not
	// look at it.
	Absent, Always Set
	// Command are the keys of tool_input under which a command line is.
	Command []string
	// Parts are the keys of tool_input under which a call says what it is about, each
	// part's on its own.
	Parts [][]string
	// Names are sorted; a name that is not among them is tried by Patterns.
	Names    []Name
	Patterns []Pattern
}

// Name is a tool's name and the hooks that may concern its calls.
type Name struct {
	Name  string
	Hooks Set
}

// Pattern are the hooks that may concern a tool whose name passes all tests.
type Pattern struct {
	Tests []Test
	Hooks Set
}

// Test is one test on a name.
type Test struct {
	Kind int
	Text string
	// DFA is an automaton (Automaton), for TestDFA.
	DFA []byte
}

// Set are the hooks that may concern an event.
type Set []Hook

// Hook is one hook: the conditions that must all hold.
type Hook struct {
	Atoms []*Atom
	// Rule is the number of its rule, from 1, in the rules of the event
	// (internal/gate/rules), and 0 of a hook that is left to hookc. The conditions
	// of a hook with a rule are all there are of its filter.
	Rule int
}

// Atom is one condition: what it says of an absent value, of an empty text, of
// the texts it names, and of any other.
type Atom struct {
	Kind, Field         int
	Absent, Empty, Else bool
	Exact, Prefixes     []Row
	// DFA says what a command line is, for AtomCommand.
	DFA []byte
}

// Row is a text and whether the condition holds for it.
type Row struct {
	Text  string
	Holds bool
}

// Automaton is the bytes of an automaton: for each state where each class of
// bytes leads, dfaAccept for a match, and at last whether the end of the text
// is one. There are fewer than MaxStates.
func Automaton(classes int, class *[128]byte, rows [][]byte) []byte {
	b := appendWord(appendWord(nil, len(rows)), classes)
	b = append(b, class[:]...)
	for _, row := range rows {
		b = append(b, row...)
	}
	return b
}

// MaxStates bounds the states of an automaton; Accept means a match.
const (
	MaxStates = dfaAccept - 1
	Accept    = dfaAccept
)

//go:noinline
func appendWord(b []byte, n int) []byte {
	return append(b, byte(n), byte(n>>8), byte(n>>16), byte(n>>24))
}

// writer lays a table out. What is the same is there once.
type writer struct {
	b    []byte
	seen map[string]int
}

// record is a record being filled in.
type record struct {
	w *writer
	b []byte
}

func (w *writer) record() *record { return &record{w: w} }

func (r *record) word(n int) { r.b = appendWord(r.b, n) }

func (r *record) bool(v bool) {
	if v {
		r.word(1)
		return
	}
	r.word(0)
}

func (r *record) text(s string) {
	r.word(r.w.place([]byte(s)))
	r.word(len(s))
}

func (r *record) texts(list []string) {
	r.word(len(list))
	for _, s := range list {
		r.text(s)
	}
}

// put is where the record lies.
func (r *record) put() int { return r.w.place(r.b) }

//go:noinline
func (w *writer) place(b []byte) int {
	if at, ok := w.seen[string(b)]; ok {
		return at
	}
	at := len(w.b)
	w.b = append(w.b, b...)
	w.seen[string(b)] = at
	return at
}

// Bytes is the table of a source.
func Bytes(s *Source) []byte {
	w := &writer{b: []byte(magic), seen: map[string]int{}}
	w.b = appendWord(w.b, len(s.Dialects))
	root := len(w.b)
	w.b = append(w.b, make([]byte, 4*len(s.Dialects))...)
	for i := range s.Dialects {
		at := w.dialect(&s.Dialects[i])
		copy(w.b[root+4*i:], appendWord(nil, at))
	}
	return w.b
}

func (w *writer) dialect(d *Dialect) int {
	points := make([]int, len(d.Points))
	for i := range d.Points {
		points[i] = w.point(&d.Points[i])
	}
	r := w.record()
	r.texts(d.Names)
	r.text(d.EventKey)
	r.text(d.EventEnv)
	r.word(len(d.Env))
	for _, e := range d.Env {
		r.text(e.Name)
		r.word(e.Field)
	}
	r.word(len(d.Events))
	for _, e := range d.Events {
		alts := w.record()
		alts.word(len(e.Alts))
		for _, a := range e.Alts {
			alts.text(a.Key)
			alts.text(a.Member)
			alts.word(points[a.Point])
		}
		r.text(e.Name)
		r.word(alts.put())
	}
	return r.put()
}

func (w *writer) point(p *Point) int {
	keys := w.record()
	keys.word(len(p.Keys))
	for _, k := range p.Keys {
		keys.text(k.Name)
		keys.word(k.Code)
		keys.word(k.Field | k.Type<<8)
	}
	answer, plan := 0, 0
	if p.Answer != nil {
		a := w.record()
		a.text(p.Answer.Stdout)
		a.text(p.Answer.Stderr)
		a.word(p.Answer.Exit)
		answer = a.put()
	}
	if p.Plan != nil {
		plan = w.plan(p.Plan)
	}
	r := w.record()
	r.text(p.Native)
	r.text(p.Event)
	r.word(keys.put())
	r.text(p.Implied)
	r.word(p.Implies)
	r.word(p.Flags)
	r.word(answer)
	r.word(plan)
	r.word(p.Number)
	return r.put()
}

func (w *writer) plan(p *Plan) int {
	command, patterns := w.record(), w.record()
	command.texts(p.Command)
	parts := w.record()
	parts.word(len(p.Parts))
	for _, keys := range p.Parts {
		list := w.record()
		list.texts(keys)
		parts.word(list.put())
	}
	patterns.word(len(p.Patterns))
	for _, pattern := range p.Patterns {
		tests := w.record()
		tests.word(len(pattern.Tests))
		for _, t := range pattern.Tests {
			tests.word(w.test(t))
		}
		patterns.word(tests.put())
		patterns.word(w.set(pattern.Hooks))
	}
	r := w.record()
	r.bool(p.Tool)
	r.word(w.set(p.Absent))
	r.word(w.set(p.Always))
	r.word(command.put())
	r.word(parts.put())
	r.word(patterns.put())
	r.word(len(p.Names))
	for _, n := range p.Names {
		r.text(n.Name)
		r.word(w.set(n.Hooks))
	}
	return r.put()
}

func (w *writer) test(t Test) int {
	r := w.record()
	r.word(t.Kind)
	if t.Kind == TestDFA {
		r.word(w.place(t.DFA))
	} else {
		r.text(t.Text)
	}
	return r.put()
}

func (w *writer) set(s Set) int {
	r := w.record()
	seen := map[[2]int]bool{}
	var hooks [][2]int
	for _, hook := range s {
		if len(hook.Atoms) == 0 && hook.Rule == 0 {
			return setSome
		}
		h := w.record()
		h.word(len(hook.Atoms))
		for _, a := range hook.Atoms {
			h.word(w.atom(a))
		}
		if row := [2]int{h.put(), hook.Rule}; !seen[row] {
			seen[row] = true
			hooks = append(hooks, row)
		}
	}
	if len(hooks) == 0 {
		return setNone
	}
	r.word(len(hooks))
	for _, row := range hooks {
		r.word(row[0])
		r.word(row[1])
	}
	return r.put()
}

func (w *writer) atom(a *Atom) int {
	slot := a.Field
	if a.Kind == AtomCommand {
		slot = w.place(a.DFA)
	}
	r := w.record()
	r.word(a.Kind)
	r.word(slot)
	r.bool(a.Absent)
	r.bool(a.Empty)
	r.bool(a.Else)
	for _, rows := range [][]Row{a.Exact, a.Prefixes} {
		r.word(len(rows))
		for _, row := range rows {
			r.text(row.Text)
			r.bool(row.Holds)
		}
	}
	return r.put()
}

// Match runs an automaton on a text as a table does, for whoever makes one.
func Match(automaton []byte, text string) bool {
	t := &Table{b: append([]byte(magic), automaton...), steps: 8}
	return t.match(rootAt, []byte(text)) && !t.bad
}
