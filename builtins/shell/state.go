package shell

import (
	"maps"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/hookc/hookc/internal/lists"
)

// shTable is a map that is copied when one of those who share it writes.
type shTable[V any] struct {
	m      map[string]V
	shared bool
}

func (t *shTable[V]) get(name string) (v V, ok bool) {
	if t != nil {
		v, ok = t.m[name]
	}
	return v, ok
}

// put stores v and returns the table to use from now on.
func (t *shTable[V]) put(name string, v V) *shTable[V] {
	if t == nil {
		t = &shTable[V]{m: map[string]V{}}
	} else if t.shared {
		t = &shTable[V]{m: maps.Clone(t.m)}
	}
	t.m[name] = v
	return t
}

func (t *shTable[V]) share() *shTable[V] {
	if t != nil {
		t.shared = true
	}
	return t
}

// names lists the keys in order.
func (t *shTable[V]) names() []string {
	if t == nil {
		return nil
	}
	return lists.Keys(t.m)
}

// shElem is an element of a variable; a variable that is no array has one.
type shElem struct {
	key   string
	value shValue
}

func (e shElem) many() bool { return e.value.many() }

// shBinding is what a variable may hold.
type shBinding struct {
	elems []shElem
	array bool
	unset bool
	// open is true for a variable of which nothing is known.
	open bool
}

//go:noinline
func scalarBinding(v shValue) shBinding { return shBinding{elems: []shElem{{"0", v}}} }

//go:noinline
func (b shBinding) value() shValue {
	for _, e := range b.elems {
		if e.key == "0" {
			return e.value
		}
	}
	return nil
}

func (b shBinding) same(c shBinding) bool {
	return b.array == c.array && b.unset == c.unset && b.open == c.open && slices.EqualFunc(b.elems, c.elems, func(x, y shElem) bool {
		return x.key == y.key && lists.Equal(x.value, y.value)
	})
}

// maxAlternatives is how many values of a variable are told apart before it
// counts as not known.
const maxAlternatives = 8

// shState is what a shell remembers between commands. Where two branches meet
// a variable may hold what it holds in either.
type shState struct {
	// shell is the state of the shell that this is one of, in the end as it ends.
	shell   *shState
	vars    *shTable[[]shBinding]
	funcs   *shTable[*shFunction]
	aliases *shTable[shValue]
	// files are the contents of files written before, by absolute path.
	files *shTable[shValue]
	// gitAliases are those of git config alias.NAME and -c alias.NAME.
	gitAliases *shTable[shValue]
	// args are the positional parameters; argsKnown is false when the caller
	// may have given any. otherArgs are what they may be besides.
	args      []shValue
	argsKnown bool
	otherArgs [][]shValue
	// name is $0.
	name shValue
	// dirs are the directories it may be in, "" for one that is not known.
	dirs, stack []string
	// exports are the variables that programs see; exportAll is true after
	// set -a, exportFuncs when child shells may know any
	// function; one that they know is there as "-f name".
	exports                *shTable[bool]
	exportAll, exportFuncs bool
	// level counts the functions around, locals are the variables that end with
	// one of them, and frozen those that cannot be assigned.
	level  int
	locals []shLocal
	frozen *shTable[bool]
	// refs are the variables that change when one does: declare -n.
	refs *shTable[string]
	// several is true when a variable or the directory may be one of several.
	several bool
	// dead is true after exit and return.
	dead bool
}

// shFunction is a function and where its text is.
type shFunction struct {
	body *syntax.Stmt
	src  string
	base int
	// args are those of the call being read.
	args []Word
	// or are the functions it may be, where that is not known; nil among them: none.
	or []*shFunction
}

func (f *shFunction) all() []*shFunction {
	if f == nil || f.or == nil {
		return []*shFunction{f}
	}
	return f.or
}

// joinFuncs keeps what either has; where that differs, it may be any.
func joinFuncs(a, b *shTable[*shFunction]) *shTable[*shFunction] {
	if a == b {
		return a
	}
	for _, name := range append(a.names(), b.names()...) {
		x, _ := a.get(name)
		y, _ := b.get(name)
		all := lists.Copy(x.all())
		for _, g := range y.all() {
			if !slices.ContainsFunc(all, func(f *shFunction) bool { return f == g || f != nil && g != nil && f.body == g.body }) {
				all = append(all, g)
			}
		}
		if len(all) > 1 {
			a = a.put(name, &shFunction{or: all})
		}
	}
	return a
}

func (s *shState) clone() *shState {
	c := *s
	c.vars, c.funcs, c.aliases = s.vars.share(), s.funcs.share(), s.aliases.share()
	c.files, c.gitAliases, c.exports = s.files.share(), s.gitAliases.share(), s.exports.share()
	c.frozen, c.refs, c.locals = s.frozen.share(), s.refs.share(), lists.Copy(s.locals)
	c.dirs, c.stack, c.args, c.otherArgs = slices.Clip(s.dirs), slices.Clip(s.stack), slices.Clip(s.args), slices.Clip(s.otherArgs)
	return &c
}

// set gives a variable one value.
func (s *shState) set(name string, v shValue) {
	old, _ := s.vars.get(name)
	if !slices.ContainsFunc(old, func(b shBinding) bool { return len(b.elems) > 1 }) {
		s.bind(name, scalarBinding(v))
		return
	}
	var out []shBinding
	for _, b := range old { // the first element of an array
		out = append(out, withElem(b, "0", v))
	}
	s.bind(name, out...)
}

// holds remembers what a file holds.
//
//go:noinline
func (s *shState) holds(key string, v shValue) { s.files = s.files.put(key, v) }

//go:noinline
func (s *shState) bind(name string, b ...shBinding) {
	s.vars = s.vars.put(name, b)
	s.openRefs(name)
	s.several = s.several || len(b) > 1
}

// openRefs makes the other names of a variable, and theirs, unknown.
func (s *shState) openRefs(name string, seen ...string) {
	others, _ := s.refs.get(name)
	for _, other := range strings.Fields(others) {
		if seen = append(seen, name); !slices.Contains(seen, other) {
			s.vars = s.vars.put(other, []shBinding{{open: true}})
			s.openRefs(other, seen...)
		}
	}
}

// forget makes a variable one of which nothing is known.
func (s *shState) forget(name string) { s.bind(name, shBinding{open: true}) }

// refer makes a variable another name of one: a change of either is one of both.
// A loop over the name, and over no other, sets what it names.
func (s *shState) refer(name, of string) {
	others, _ := s.refs.get(of)
	names, _ := s.refs.get(name)
	s.refs = s.refs.put(name, names+" "+of).put(of, others+" "+name).put("for "+name, "")
	s.forget(of)
}

// environmentNames are variables that a shell finds in its environment.
const environmentNames = " HOME PATH USER LOGNAME PWD SHELL TMPDIR LANG TERM EDITOR PAGER HOSTNAME "

// inherit makes s the state of a shell that is started: a variable that was
// not exported is there if it was in the environment before, and else is not.
func (s *shState) inherit() {
	for _, name := range s.vars.names() {
		alts, _ := s.vars.get(name)
		for _, l := range s.locals { // one without a value hides nothing from a child
			if l.name == name && len(alts) > 0 && alts[0].unset {
				alts = mergeBindings(alts, l.before())
				s.bind(name, alts...)
			}
		}
		switch exported, _ := s.exports.get(name); {
		case name == "IFS" || len(alts) > 0 && alts[0].array:
			s.bind(name)
		case exported || s.exportAll || strings.Contains(environmentNames, " "+name+" "):
		default:
			s.bind(name, mergeBindings(alts, []shBinding{{unset: true}})...)
		}
	}
	for _, name := range s.funcs.names() {
		if exported, _ := s.exports.get("-f " + name); !exported && !s.exportFuncs {
			s.funcs = s.funcs.drop(name)
		}
	}
	s.setArgs(true)
	s.aliases, s.dead, s.level, s.locals, s.frozen, s.refs = nil, false, 0, nil, nil, nil
}

// shadows reports whether a function or an alias has the name of a program.
func (s *shState) shadows(name string) bool {
	_, function := s.funcs.get(name)
	_, alias := s.aliases.get(name)
	return function || alias
}

// join makes s what it is if either s or t happened, and reports whether that
// is more than s was.
func (s *shState) join(t *shState) bool {
	if t.dead {
		return false
	}
	if s.dead {
		dead := *s
		*s = *t.clone()
		return !dead.within(t)
	}
	changed := s.joinVars(t)
	s.joinLocals(t)
	for _, d := range t.dirs {
		if lists.Has(s.dirs, d) {
			continue
		}
		changed = true
		if len(s.dirs) >= maxAlternatives {
			s.dirs = []string{""}
			break
		}
		s.dirs = append(slices.Clip(s.dirs), d)
		s.several = true
	}
	s.funcs, s.aliases = joinFuncs(s.funcs, t.funcs), joinTable(s.aliases, t.aliases)
	s.gitAliases = joinTable(s.gitAliases, t.gitAliases)
	if !lists.Equal(s.stack, t.stack) {
		s.stack = []string{""}
	}
	changed = s.joinFiles(t) || changed
	s.exports, s.refs, s.frozen = joinTable(s.exports, t.exports), joinTable(s.refs, t.refs), joinTable(s.frozen, t.frozen)
	return s.joinArgs(t) || changed
}

// setArgs makes lists what the positional parameters may be; without one there are none, or any.
func (s *shState) setArgs(known bool, lists ...[]shValue) {
	s.args, s.argsKnown, s.otherArgs = nil, known, nil
	for i, list := range lists {
		if i == 0 {
			s.args = list
		} else if !slices.ContainsFunc(append(s.otherArgs, s.args), func(other []shValue) bool { return sameArgs(list, other) }) {
			s.otherArgs = append(s.otherArgs, list)
		}
	}
	s.several = s.several || len(s.otherArgs) > 0
}

func (s *shState) argLists() [][]shValue { return append([][]shValue{s.args}, s.otherArgs...) }

func sameArgs(a, b []shValue) bool { return slices.EqualFunc(a, b, slices.Equal[shValue]) }

func (s *shState) joinArgs(t *shState) bool {
	n, known := len(s.otherArgs), s.argsKnown
	if n+len(t.otherArgs) == 0 && known == t.argsKnown && sameArgs(s.args, t.args) {
		return false
	}
	s.setArgs(known && t.argsKnown, append(s.argLists(), t.argLists()...)...)
	if !s.argsKnown || len(s.otherArgs) >= maxAlternatives {
		s.setArgs(false)
	}
	return len(s.otherArgs) != n || s.argsKnown != known
}

// widenArgs adds what shifting may leave; other differences make the parameters unknown.
func (s *shState) widenArgs() {
	lists := s.argLists()
	longest := slices.MaxFunc(lists, func(a, b []shValue) int { return len(a) - len(b) })
	known := s.argsKnown && len(longest) < maxAlternatives && !slices.ContainsFunc(lists, func(list []shValue) bool { return !sameArgs(list, longest[len(longest)-len(list):]) })
	if lists = nil; known {
		for i := range len(longest) + 1 {
			lists = append(lists, longest[i:])
		}
	}
	s.setArgs(known, lists...)
}

func (s *shState) within(t *shState) bool { return s.vars == t.vars && lists.Equal(s.dirs, t.dirs) }

func (s *shState) joinVars(t *shState) bool {
	if s.vars == t.vars {
		return false
	}
	changed := false
	for _, name := range t.vars.names() {
		theirs, _ := t.vars.get(name)
		ours, ok := s.vars.get(name)
		if !ok {
			ours = []shBinding{{open: true, unset: true}}
		}
		merged := mergeBindings(ours, theirs)
		if len(merged) != len(ours) || !ok {
			s.bind(name, merged...)
			changed = true
		}
	}
	for _, name := range s.vars.names() {
		if _, ok := t.vars.get(name); ok {
			continue
		}
		ours, _ := s.vars.get(name)
		if merged := mergeBindings(ours, []shBinding{{open: true, unset: true}}); len(merged) != len(ours) {
			s.bind(name, merged...)
			changed = true
		}
	}
	return changed
}

// joinFiles keeps what either wrote; where that differs, one after the other.
func (s *shState) joinFiles(t *shState) (changed bool) {
	if s.files == t.files {
		return false
	}
	for _, name := range t.files.names() {
		theirs, _ := t.files.get(name)
		ours, ok := s.files.get(name)
		switch {
		case ok && lists.Equal(ours, theirs):
			continue
		case ok && len(ours.text())+len(theirs.text()) > maxShellValue:
			theirs = shUnknown("$(< "+name+")", shOrigin{"file", name})
		case ok:
			theirs = append(append(slices.Clip(ours), shPart{text: "\n"}), theirs...)
		}
		s.files, changed = s.files.put(name, theirs), true
	}
	return changed
}

func mergeBindings(ours, theirs []shBinding) []shBinding {
	out := slices.Clip(ours)
	for _, b := range theirs {
		if slices.ContainsFunc(out, b.same) {
			continue
		}
		if len(out) >= maxAlternatives {
			return []shBinding{{open: true}}
		}
		out = append(out, b)
	}
	return out
}

// joinTable keeps what either has; where both do, what the second has.
func joinTable[V any](a, b *shTable[V]) *shTable[V] {
	if a == b || b == nil {
		return a
	}
	for _, name := range b.names() {
		v, _ := b.get(name)
		a = a.put(name, v)
	}
	return a
}

// widen forgets the variables and files in which s differs from t, so that a loop comes
// to an end. It reports whether that is more than was forgotten before.
func (s *shState) widen(t *shState) (more bool) {
	for _, name := range s.vars.names() {
		ours, _ := s.vars.get(name)
		theirs, ok := t.vars.get(name)
		if !ok || !slices.EqualFunc(ours, theirs, shBinding.same) {
			more = more || !ok || len(theirs) != 1 || !theirs[0].open || theirs[0].unset
			s.forget(name)
		}
	}
	for _, name := range s.files.names() {
		ours, _ := s.files.get(name)
		if theirs, ok := t.files.get(name); !ok || !lists.Equal(ours, theirs) {
			v := shUnknown("$(< "+name+")", shOrigin{"file", name})
			more = more || !ok || !lists.Equal(theirs, v)
			s.holds(name, v)
		}
	}
	if !lists.Equal(s.dirs, t.dirs) {
		s.dirs, more = []string{""}, more || !lists.Equal(t.dirs, []string{""})
	}
	if len(s.otherArgs) != len(t.otherArgs) {
		s.widenArgs()
	}
	return more
}
