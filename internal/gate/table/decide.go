package table

import (
	"bytes"

	"github.com/hookc/hookc/policy/scan"
)

// Fields is how many fields an event can have; a field's number is that of
// policy.Field.
const Fields = 64

// The fields the gate looks at itself (TestFields keeps them equal).
const (
	FieldCwd            = 2
	FieldProjectRoot    = 3
	FieldPermissionMode = 6
	FieldUserInput      = 19
	FieldToolName       = 25
	FieldToolInput      = 28
)

// Asked is an event as hookgate has it.
type Asked struct {
	Dialect string
	// Event is what the command line calls the event, "" for nothing.
	Event string
	// Input is what the agent sent.
	Input []byte
	// Env reads the environment.
	Env func(string) string
}

// Answer is what hookc run answers to an event that no hook concerns, or none
// that has something to say. The texts
// are the table's.
type Answer struct {
	Stdout, Stderr []byte
	Exit           int
	// Agent and Native are the dialect and its name of the event.
	Agent, Native []byte
	// Root is the project the event names, Cwd the folder it is about; "" where
	// it names none.
	Root, Cwd string
	// Named is true where a variable says Root: it counts where the disk says the same.
	Named bool
	// Counted is true where hookc run forgets the blocks of a gate, if there are
	// any.
	Counted bool
	// Rules are the numbers of the rules, ascending, of the hooks that concern the
	// event: the answer is this one when none of them says anything. Event is the
	// canonical event, Point the number of the agent's.
	Rules []int
	Event []byte
	Point int

	e *event
}

// event is an event being read. Its values outlast the reading, by their
// fields: what rules are evaluated on.
type event struct {
	t     *Table
	asked *Asked
	at    dialectParts
	// members are the keys of the event, inputs those of tool_input where they
	// are looked at.
	members, inputs []member
	values          [Fields]Value
	// moved are members of tool_input that the agent sends beside it.
	moved []member
	// name is the tool's, folder the first of the workspace's.
	name, folder []byte
	narrowed     bool // the project is, by a variable
	// rules are those of hooks that concern the event.
	rules []int
}

// Decide answers an event; false when that is left to hookc: a hook concerns
// it, or may, or anything about the event or the table is out of the ordinary.
func (t *Table) Decide(asked *Asked) (*Answer, bool) {
	t.bad, t.steps = false, len(t.b)+1<<20
	dialect := t.dialect(asked.Dialect)
	if dialect == 0 || t.bad {
		return nil, false
	}
	e := &event{t: t, asked: asked, at: t.parts(dialect)}
	ok := false
	if e.members, ok = object(asked.Input, make([]member, 0, 16)); !ok {
		return nil, false
	}
	point := e.point()
	if point == 0 || t.bad || !e.read(point) || !e.complete(point) {
		return nil, false
	}
	answer := t.word(point + pointAnswer)
	if answer == 0 || t.bad {
		return nil, false
	}
	if plan := t.word(point + pointPlan); plan != 0 && (e.unfit(point) || e.double(plan) || e.concerned(plan)) {
		return nil, false
	}
	agent, _, _ := bytes.Cut(t.text(e.at.id), []byte("@")) // a version of its own is the same agent
	out := &Answer{Stdout: t.text(answer), Stderr: t.text(answer + textSize), Exit: t.word(answer + 2*textSize),
		Agent: agent, Native: t.text(point + pointNative), Counted: t.word(point+pointFlags)&Counted != 0}
	if !e.places(out) || t.bad || out.Exit > 255 {
		return nil, false
	}
	if len(e.rules) > 0 {
		out.Rules, out.Event, out.Point, out.e = ascending(e.rules), t.text(point+pointEvent), t.word(point+pointNumber), e
	}
	return out, !t.bad
}

// unfit reports whether a guarded call may be one that hookc refuses to decide:
// it names no tool, or a text in it may have a NUL character.
func (e *event) unfit(point int) bool {
	switch string(e.t.text(point + pointEvent)) {
	case "pre_tool_execution", "permission_request":
	default:
		return false
	}
	if len(e.name) == 0 && len(e.values[FieldToolName].text) == 0 {
		return true
	}
	return bytes.Contains(e.asked.Input, []byte(`\u0000`))
}

// double reports whether tool_input may say twice what the call is about: under two of
// the keys of a part, or under one that is spelt in another way.
func (e *event) double(plan int) bool {
	t := e.t
	if len(e.values[FieldToolInput].text) == 0 {
		return false
	}
	if !e.open() {
		return true
	}
	parts := t.word(plan + planParts)
	for i := range t.count(parts, 4) {
		keys, seen := t.word(parts+4+4*i), 0
		n := t.count(keys, textSize)
		for k := range e.inputs {
			seen += t.spelt(e.inputs[k].key, keys, n)
		}
		if seen > 1 {
			return true
		}
	}
	return t.bad
}

// spelt is 1 where a name is one of n keys, 2 where it is one in another spelling, else 0.
func (t *Table) spelt(name []byte, keys, n int) int {
	out := 0
	for j := range n {
		key := t.text(keys + 4 + textSize*j)
		if string(key) == string(name) {
			return 1
		}
		if same(key, name) {
			out = 2
		}
	}
	return out
}

// nested reports whether a member of tool_input may have members of its own.
func (e *event) nested() bool {
	for i := range e.inputs {
		if kind := e.inputs[i].value.kind(); kind == '{' || kind == '[' {
			return true
		}
	}
	return false
}

// same reports whether two names differ at most in what agents write differently.
func same(a, b []byte) bool {
	i, k := 0, 0
	for {
		for i < len(a) && (a[i] == '_' || a[i] == '-' || a[i] == ' ') {
			i++
		}
		for k < len(b) && (b[k] == '_' || b[k] == '-' || b[k] == ' ') {
			k++
		}
		if i == len(a) || k == len(b) {
			return i == len(a) && k == len(b)
		}
		if a[i]|' ' != b[k]|' ' {
			return false
		}
		i, k = i+1, k+1
	}
}

// ascending sorts a few numbers, which nearly are.
func ascending(list []int) []int {
	for i := 1; i < len(list); i++ {
		for k := i; k > 0 && list[k] < list[k-1]; k-- {
			list[k], list[k-1] = list[k-1], list[k]
		}
	}
	return list
}

// get is a member by its key.
func get(members []member, key string) Value {
	for i := range members {
		if string(members[i].key) == key {
			return members[i].value
		}
	}
	return Value{}
}

// eventKeys are the keys under which some agent names the event, after its own.
var eventKeys = [...]string{"hook_event_name", "hookEventName", "event_type", "event"}

// point finds the event's point; 0 where names are unknown or disagree.
func (e *event) point() int {
	own, ok := e.sent(string(e.t.text(e.at.eventKey)))
	for i := 0; ok && len(own) == 0 && i < len(eventKeys); i++ {
		own, ok = e.sent(eventKeys[i])
	}
	if !ok {
		return 0
	}
	named := []byte(e.asked.Event)
	if env := e.t.text(e.at.eventEnv); len(own) == 0 && len(named) == 0 && len(env) > 0 {
		named = []byte(e.asked.Env(string(env)))
	}
	var theirs, ours int
	if len(own) > 0 {
		if theirs = e.named(own); theirs == 0 {
			return 0
		}
	}
	if len(named) > 0 {
		if ours = e.named(named); ours == 0 {
			return 0
		}
	}
	switch {
	case theirs == 0:
		return ours
	case ours == 0 || ours == theirs,
		string(e.t.text(ours+pointNative)) == string(e.t.text(theirs+pointNative)),
		string(e.t.text(ours+pointEvent)) == string(e.t.text(theirs+pointEvent)):
		return theirs
	}
	return 0
}

// sent is a name that the event carries under a key, nil where the key holds no
// text; false when it is not plain.
func (e *event) sent(key string) ([]byte, bool) {
	v := get(e.members, key)
	if v.kind() != '"' {
		return nil, true
	}
	return v.plain()
}

// named is the point that a name means here.
func (e *event) named(name []byte) int {
	row := e.t.find(e.at.events, e.at.names, textSize+4, name)
	if row < 0 {
		return 0
	}
	at := e.t.word(row + textSize)
	const size = 2*textSize + 4
	for i := range e.t.count(at, size) {
		alt := at + 4 + size*i
		key, inner := e.t.text(alt), e.t.text(alt+textSize)
		if len(key) > 0 {
			holds, ok := e.has(string(key), string(inner))
			if !ok {
				return 0
			}
			if !holds {
				continue
			}
		}
		return e.t.word(alt + 2*textSize)
	}
	return 0
}

// has reports whether the object under a key has a member that is not null.
func (e *event) has(key, inner string) (holds, ok bool) {
	v := get(e.members, key)
	if v.kind() != '{' {
		return false, true
	}
	members, ok := object(v.text, nil)
	return !get(members, inner).null(), ok
}

// read gives the members of the event their fields.
func (e *event) read(point int) bool {
	t := e.t
	keys := t.word(point + pointKeys)
	const size = textSize + 8
	n := t.count(keys, size)
	for i := range e.members {
		m := &e.members[i]
		row := t.find(keys+4, n, size, m.key)
		if row < 0 {
			continue
		}
		code, field := t.word(row+textSize), t.word(row+textSize+4)
		switch {
		case code == KeyRefuse:
			return false
		case code == KeyIgnore:
		case m.value.null():
			if code != KeyField {
				return false
			}
		case code == KeyField:
			if !e.put(field&0xff, field>>8, m.value) {
				return false
			}
		case code == KeyText, code == KeyTextOrNone:
			v, ok := e.inner(m.value, code == KeyTextOrNone)
			if !ok || !e.put(FieldToolInput, TypeObject, v) {
				return false
			}
		case code == KeyMove:
			e.moved = append(e.moved, *m)
		case code == KeyRoots:
			if !e.roots(m.value) {
				return false
			}
		default:
			return false
		}
	}
	return !t.bad && e.implied(point) && e.environment()
}

// put sets a field that must be of a type and not be there yet.
func (e *event) put(field, kind int, v Value) bool {
	if field >= Fields || !v.of(kind) || len(e.values[field].text) > 0 {
		return false
	}
	e.values[field] = v
	return true
}

// inner is tool_input from an object or from the text of one.
func (e *event) inner(v Value, none bool) (Value, bool) {
	if v.kind() == '{' {
		return v, true
	}
	if v.kind() != '"' {
		return Value{}, false
	}
	text, ok := v.ascii(make([]byte, 0, len(v.text)))
	if ok && none && len(text) == 0 {
		return Value{[]byte("{}")}, true
	}
	if !ok {
		return Value{}, false
	}
	if _, ok = object(text, nil); !ok {
		return Value{}, false
	}
	s := newScanner(text)
	s.Space()
	return Value{text[s.At:]}, true
}

// roots takes the first of a list of folders for the project.
func (e *event) roots(v Value) bool {
	if v.kind() != '[' {
		return false
	}
	s := scan.Scanner{Data: v.text, At: 1}
	switch s.Space() {
	case ']':
		return true
	case '"':
	default:
		return false
	}
	from := s.At
	if _, ok := s.SkipText(); !ok {
		return false
	}
	root, ok := Value{v.text[from:s.At]}.plain()
	e.folder = root
	return ok && len(root) > 0
}

// implied fills in what the agent's own names of events say of the tool, and
// what its workspace says of the project.
func (e *event) implied(point int) bool {
	t := e.t
	how := t.word(point + pointImplies)
	if how == ImpliesAlways || how == ImpliesMoved && len(e.moved) > 0 {
		if len(e.values[FieldToolName].text)+len(e.values[FieldToolInput].text) > 0 {
			return false
		}
		e.name, e.inputs = t.text(point+pointImplied), e.moved
		e.values[FieldToolInput] = Value{[]byte("{}")} // its members are in inputs
	}
	if e.folder == nil {
		return true
	}
	if len(e.values[FieldProjectRoot].text) > 0 {
		return false
	}
	root := quoted(e.folder)
	e.values[FieldProjectRoot] = Value{root}
	if cwd := e.values[FieldCwd]; len(cwd.text) == 0 || string(cwd.text) == `""` {
		e.values[FieldCwd] = Value{root}
	}
	return true
}

// environment fills in the folders that the agent says in its environment.
func (e *event) environment() bool {
	for i := range e.at.envs {
		at := e.at.env + (textSize+4)*i
		field := e.t.word(at + textSize)
		if field != FieldCwd && field != FieldProjectRoot || len(e.values[field].text) > 0 {
			continue
		}
		v := e.asked.Env(string(e.t.text(at)))
		if v == "" || v[0] != '/' {
			continue
		}
		for _, c := range []byte(v) {
			if c < ' ' || c >= 0x80 || c == '"' || c == '\\' {
				return false
			}
		}
		if field == FieldProjectRoot {
			cwd, ok := e.values[FieldCwd].path()
			if !ok || len(cwd) < len(v) || cwd[:len(v)] != v || len(cwd) > len(v) && cwd[len(v)] != '/' {
				return false // a variable does not move the project
			}
			e.narrowed = true
		}
		e.values[field] = Value{[]byte(`"` + v + `"`)}
	}
	return true
}

// complete reports whether the event has what it cannot be decided without.
func (e *event) complete(point int) bool {
	flags := e.t.word(point + pointFlags)
	if v := e.values[FieldToolName]; len(v.text) > 0 {
		name, ok := v.plain()
		if !ok {
			return false
		}
		e.name = name
	}
	switch {
	case flags&NeedsTool != 0 && (len(e.name) == 0 || len(e.values[FieldToolInput].text) == 0):
		return false
	case flags&NeedsPrompt != 0 && len(e.values[FieldUserInput].text) == 0:
		return false
	}
	return true
}

// places says where the event is about.
func (e *event) places(out *Answer) bool {
	var ok, also bool
	out.Cwd, ok = e.values[FieldCwd].path()
	out.Root, also = e.values[FieldProjectRoot].path()
	out.Named = e.narrowed
	return ok && also
}

// path is an absolute path, "" for an absent one; false when it is anything
// else.
func (v Value) path() (string, bool) {
	if len(v.text) == 0 {
		return "", true
	}
	text, ok := v.plain()
	return string(text), ok && len(text) > 0 && text[0] == '/'
}
