package table

import "bytes"

// concerned reports whether a hook of a plan that has no rule concerns the event,
// or may.
func (e *event) concerned(plan int) bool {
	t := e.t
	if e.set(t.word(plan+planAlways), plan) {
		return true
	}
	if t.word(plan+planTool) == 0 || len(e.name) == 0 && len(e.values[FieldToolName].text) == 0 {
		return e.set(t.word(plan+planAbsent), plan)
	}
	const row = textSize + 4
	patterns := t.word(plan + planPatterns)
	names := plan + planNames
	if at := t.find(names+4, t.count(names, row), row, e.name); at >= 0 {
		return e.set(t.word(at+textSize), plan)
	}
	n := t.count(patterns, 8)
	for i := range n {
		at := patterns + 4 + 8*i
		if set := t.word(at + 4); set != setNone && e.tests(t.word(at)) && e.set(set, plan) {
			return true
		}
	}
	return t.bad
}

// tests reports whether the tool's name passes all of a list of tests.
func (e *event) tests(at int) bool {
	t := e.t
	for i := range t.count(at, 4) {
		test := t.word(at + 4 + 4*i)
		ok := true
		switch t.word(test) {
		case TestAny:
		case TestPrefix:
			ok = bytes.HasPrefix(e.name, t.text(test+4))
		case TestSuffix:
			ok = bytes.HasSuffix(e.name, t.text(test+4))
		case TestDFA:
			ok = t.match(t.word(test+4), e.name)
		default:
			t.bad = true
		}
		if !ok && !t.bad {
			return false
		}
	}
	return true
}

// set reports whether one of a set of hooks concerns the event, or may, and has
// no rule. Each is a list of conditions that must all hold. Rules of those that do
// concern it are kept.
func (e *event) set(at, plan int) bool {
	t := e.t
	switch at {
	case setNone:
		return t.bad
	case setSome:
		return true
	}
	for i := range t.count(at, 8) {
		hook, rule := t.word(at+4+8*i), t.word(at+8+8*i)
		switch holds := e.all(hook, plan); {
		case t.bad, holds == unsure, holds == yes && rule == 0:
			return true
		case holds == yes:
			e.rules = append(e.rules, rule)
		}
	}
	return t.bad
}

// truth is what is known of a condition.
type truth uint8

const (
	no truth = iota
	yes
	unsure
)

func is(holds bool) truth {
	if holds {
		return yes
	}
	return no
}

// all is whether every condition of a list holds: no when one does not.
func (e *event) all(list, plan int) truth {
	t, out := e.t, yes
	for i := range t.count(list, 4) {
		switch e.atom(t.word(list+4+4*i), plan) {
		case no:
			return no
		case unsure:
			out = unsure
		}
	}
	return out
}

// Offsets within an atom.
const (
	atomKind   = 0
	atomSlot   = 4 // the field, or the expression of a command
	atomAbsent = 8
	atomEmpty  = 12
	atomElse   = 16
	atomRows   = 20
)

// atom is whether a condition holds.
func (e *event) atom(at, plan int) truth {
	t := e.t
	kind, slot := t.word(at+atomKind), t.word(at+atomSlot)
	if kind == AtomCommand {
		return e.command(at, t.word(plan+planCommand))
	}
	if kind != AtomField || slot >= Fields {
		t.bad = true
		return unsure
	}
	v := e.values[slot]
	if len(v.text) == 0 {
		return t.flag(at + atomAbsent)
	}
	text, ok := v.plain()
	if !ok {
		return unsure
	}
	if len(text) == 0 {
		return t.flag(at + atomEmpty)
	}
	const row = textSize + 4
	exact := at + atomRows
	n := t.count(exact, row)
	for i := range n {
		if r := exact + 4 + row*i; string(t.text(r)) == string(text) {
			return t.flag(r + textSize)
		}
	}
	prefixes := exact + 4 + row*n
	for i := range t.count(prefixes, row) {
		if r := prefixes + 4 + row*i; bytes.HasPrefix(text, t.text(r)) {
			return t.flag(r + textSize)
		}
	}
	return t.flag(at + atomElse)
}

// flag is what a word says of a condition.
func (t *Table) flag(at int) truth {
	holds := t.word(at) != 0
	if t.bad {
		return unsure
	}
	return is(holds)
}

// command looks for the command line in tool_input, under the keys that agents
// give it, and tries an expression on it.
func (e *event) command(at, keys int) truth {
	t := e.t
	input := e.values[FieldToolInput]
	if len(input.text) == 0 {
		return t.flag(at + atomAbsent)
	}
	if !e.open() || e.nested() {
		return unsure // words to be quoted, or another command line
	}
	for i := range t.count(keys, textSize) {
		v := get(e.inputs, string(t.text(keys+4+textSize*i)))
		switch v.kind() {
		case '"':
			text, ok := v.ascii(make([]byte, 0, len(v.text)))
			switch {
			case !ok:
				return unsure
			case len(text) == 0:
				return t.flag(at + atomEmpty)
			}
			return is(t.match(t.word(at+atomSlot), text)) // a mistake is bad
		}
	}
	return t.flag(at + atomAbsent)
}

// open reads the members of tool_input.
func (e *event) open() bool {
	if e.inputs == nil {
		members, ok := object(e.values[FieldToolInput].text, make([]member, 0, 8))
		if !ok {
			return false
		}
		e.inputs = members
	}
	return true
}

// Offsets within an automaton: the number of states and of classes of bytes,
// the class of each byte of ASCII, then for each state where each class leads
// and whether the end of the text is a match.
const (
	dfaStates  = 0
	dfaClasses = 4
	dfaMap     = 8
	dfaRows    = dfaMap + 128
	dfaAccept  = 0xff
)

// match runs an automaton on a text. Anything out of the ordinary matches; what
// is no automaton is bad.
func (t *Table) match(at int, text []byte) bool {
	states, classes := t.word(at+dfaStates), t.word(at+dfaClasses)
	if t.bad || states < 1 || states >= dfaAccept || classes < 1 || classes > 128 || at+dfaRows+states*(classes+1) > len(t.b) {
		t.bad = true
		return true
	}
	class, rows := t.b[at+dfaMap:at+dfaRows], t.b[at+dfaRows:at+dfaRows+states*(classes+1)]
	state := 0
	for _, c := range text {
		if c >= 0x80 {
			return true
		}
		if int(class[c]) >= classes {
			t.bad = true
			return true
		}
		next := rows[state*(classes+1)+int(class[c])]
		if int(next) >= states {
			t.bad = t.bad || next != dfaAccept
			return true
		}
		state = int(next)
	}
	return rows[state*(classes+1)+classes] != 0
}
