package shell

import (
	"slices"
	"sort"
	"strings"

	"github.com/hookc/hookc/builtins/losses"
	"github.com/hookc/hookc/builtins/posix"
	"github.com/hookc/hookc/builtins/quoting"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/internal/spell"
	"mvdan.cc/sh/v3/syntax"
)

// shCall is a simple command being read.
type shCall struct {
	// argv are the words; argv[0] is the program.
	argv []Word
	env  []Assign
	fr   *shFrame
	// name is the program's base name.
	name string
	// index is the command's in the list. muted is true for one that was
	// listed before: its effects were too.
	index  int
	muted  bool
	offset int
}

// args are the words after the program.
//
//go:noinline
func (c *shCall) args() []Word { return c.argv[1:] }

// call reads a simple command, once for each combination of values that its words may have.
func (a *analysis) call(s *syntax.Stmt, c *syntax.CallExpr, fr *shFrame) {
	if c == nil {
		c = &syntax.CallExpr{}
	}
	if len(s.Redirs) == 0 && !a.changesState(c, fr.st) {
		a.each(fr, func() { a.callOnce(s, c, fr, fr.st) })
		return
	}
	a.eachState(fr, func(in *shFrame) { a.callOnce(s, c, fr, in.st) })
}

// eachState is each for what changes the shell: all begin in the state before; after it is what any of them leaves.
func (a *analysis) eachState(fr *shFrame, f func(in *shFrame)) {
	n := len(a.before)
	a.before = append(a.before, shBegun{now: fr.st})
	if fr.st.several {
		a.before[n].start = fr.st.clone()
	}
	var ends []*shState
	a.each(fr, func() {
		in := *fr
		if len(ends) > 0 {
			in.st = a.before[n].start.clone()
		}
		f(&in)
		ends = append(ends, in.st)
	})
	a.before = a.before[:n]
	a.joinAll(fr.st, ends[1:])
}

func (a *analysis) joinAll(s *shState, list []*shState) {
	for _, t := range list {
		a.join(s, t)
	}
}

// join is the states' join, which takes as long as they are large.
func (a *analysis) join(s, t *shState) bool {
	if s.vars != t.vars && s.vars != nil && t.vars != nil {
		a.work((len(s.vars.m) + len(t.vars.m)) / 2)
	}
	return s.join(t)
}

// changesState reports whether a command may change the shell it runs in.
func (a *analysis) changesState(c *syntax.CallExpr, st *shState) bool {
	if len(c.Args) == 0 {
		return true
	}
	name, ok := posix.PlainLit(c.Args[0])
	if !ok || builtinOf(name) != nil {
		return true
	}
	return st.shadows(name)
}

func (a *analysis) callOnce(s *syntax.Stmt, c *syntax.CallExpr, fr *shFrame, st *shState) {
	in := *fr
	in.st = st
	words := a.fields(c.Args, &in)
	r := a.redirect(s.Redirs, &in)
	env := a.assigns(c.Assigns, &in, len(words) == 0)
	offset := fr.offset(s)
	if len(words) == 0 {
		if len(s.Redirs) > 0 {
			bare := &shCall{fr: &in, offset: offset}
			a.list(bare)
			a.emptied(r, bare, nil)
			a.redirectEffects(r, bare.target(""))
			a.closeRedirect(r, &in, bare.index)
		}
		return
	}
	call := &shCall{argv: words, env: env, fr: &in, offset: offset}
	v := a.run(call)
	if in.out == nil && !r.diverted {
		a.shown(call, v)
	}
	if in.out != nil && (in.conditional || in.st.dead) && len(v) > 0 {
		v = append(append(shValue{perhapsPrinted}, v...), perhapsPrinted)
	}
	a.print(in.out, v)
	if call.index >= 0 && len(s.Redirs) > 0 {
		a.emptied(r, call, v)
	}
	a.redirectEffects(r, call.target(""))
	a.closeRedirect(r, &in, call.index)
}

// perhapsPrinted stands around what a command prints that may not run.
var perhapsPrinted = shPart{quoted: true, origin: shOrigin{kind: "perhaps"}}

// printed is all of what is printed, or one piece of it where some may not be.
func (a *analysis) printed(v shValue, fr *shFrame, at *syntax.CmdSubst) shValue {
	alts, piece := []shValue{a.bounded(v, fr)}, shValue(nil)
	for i, p := range v {
		if p != perhapsPrinted {
			piece = append(piece, p)
		}
		if (p == perhapsPrinted || i == len(v)-1) && len(piece) > 0 {
			alts, piece = append(alts, a.bounded(piece, fr)), nil
		}
	}
	if len(alts) <= 2 {
		return alts[0]
	} else if len(alts) > maxAlternatives {
		alts = append(alts[:1], shUnknown("$(...)", shOrigin{kind: "output"}))
	}
	if len(at.Stmts) == 1 && posix.Either(at.Stmts[0]) {
		alts = alts[1:]
	}
	return alts[a.choose("\x00printed"+itoa(fr.base)+" "+itoa(int(at.Pos().Offset())), len(alts))]
}

// print adds what a command prints to what is collected.
func (a *analysis) print(out *shValue, v shValue) {
	if out != nil {
		*out = append(*out, v...)
	}
}

// assigns expands assignments. They change the shell when there is no command (keep), else only what the command sees.
func (a *analysis) assigns(list []*syntax.Assign, fr *shFrame, keep bool) []Assign {
	var env []Assign
	for _, as := range list {
		if as.Name == nil {
			continue
		}
		if keep {
			a.assign(as, fr)
			continue
		}
		env = append(env, Assign{Name: as.Name.Value, Value: a.single(as.Value, fr).word()})
	}
	return env
}

// assign changes a variable of the shell.
func (a *analysis) assign(as *syntax.Assign, fr *shFrame) {
	name := as.Name.Value
	a.special(as, fr)
	defer fr.st.keeps(name)()
	var old shBinding
	if as.Append || as.Index != nil {
		old, _ = a.lookup(fr.st, name)
	}
	switch {
	case as.Array != nil:
		b := shBinding{array: true}
		if as.Append && !old.open {
			b.elems = slices.Clip(old.elems)
		}
		fr.st.bind(name, a.arrayElems(b, as.Array, fr))
	case as.Index != nil:
		key, ok := a.indexKey(as.Index, fr)
		v := a.single(as.Value, fr)
		if !ok || old.open {
			fr.st.forget(name)
			return
		}
		fr.st.bind(name, withElem(old, key, v))
	default:
		v := a.single(as.Value, fr)
		if as.Append {
			if old.open {
				v = append(shValue{{text: "$" + name, kind: shVar}}, v...)
			} else {
				v = append(slices.Clip(old.value()), v...)
			}
		}
		if name == "PWD" {
			return // a name for the directory; it does not change it
		}
		for i, p := range v { // a tilde behind a colon, as in PATH
			if !p.quoted && p.kind == shText && strings.Contains(p.text, ":~/") {
				v = lists.Copy(v)
				v[i].text = strings.ReplaceAll(p.text, ":~/", ":"+a.home(fr).text()+"/")
			}
		}
		fr.st.set(name, a.bounded(v, fr))
	}
}

// special is for variables that change how the shell reads what follows.
func (a *analysis) special(as *syntax.Assign, fr *shFrame) {
	if as.Name != nil && as.Value != nil && posix.Special(as.Name.Value, fr.source(as.Value)) {
		a.unknown(fr, DynamicCode, fr.offset(as))
	}
}

func withElem(b shBinding, key string, v shValue) shBinding {
	out := shBinding{array: true, elems: lists.Copy(b.elems)}
	for i := range out.elems {
		if out.elems[i].key == key {
			out.elems[i].value = v
			return out
		}
	}
	out.elems = append(out.elems, shElem{key, v})
	sort.SliceStable(out.elems, func(i, j int) bool { return posix.CompareIndexes(out.elems[i].key, out.elems[j].key) < 0 })
	return out
}

func (a *analysis) arrayElems(b shBinding, x *syntax.ArrayExpr, fr *shFrame) shBinding {
	for _, e := range x.Elems {
		if len(b.elems) >= maxFields {
			return shBinding{open: true}
		}
		if e.Index != nil {
			key, ok := a.indexKey(e.Index, fr)
			if !ok {
				return shBinding{open: true}
			}
			b = withElem(b, key, a.single(e.Value, fr))
			continue
		}
		for _, w := range a.fields([]*syntax.Word{e.Value}, fr) {
			b.elems = append(b.elems, shElem{posix.NextIndex(len(b.elems), func(i int) string { return b.elems[i].key }), matched(w)})
		}
	}
	return b
}

// run lists a command and reads what it does; the result is what it prints.
func (a *analysis) run(c *shCall) (out shValue) {
	if !a.spend(c.fr) || !a.enter(c.fr) {
		c.index = -1
		return shUnknown("$(...)", shOrigin{kind: "output"})
	}
	defer a.leave()
	a.work(len(c.argv) / 4)
	program, known := c.argv[0].known()
	if !c.fr.process {
		if v, ok := c.fr.st.aliases.get(program); known && ok && !lists.Has(c.fr.via, "alias "+program) {
			if text := v.text(); strings.HasSuffix(text, " ") || strings.ContainsAny(text, ";\n=") && len(c.args()) > 0 {
				a.unknown(c.fr, DynamicCode, c.offset)
			}
			code := append(append(slices.Clip(v), shPart{text: " "}), quoteWords(c.args())...)
			defer a.perhaps(c, &out, func(in *shCall) shValue { // bash knows aliases where somebody types only
				return a.captured(in.fr, func(in *shFrame) { a.runCode(code, in, "alias "+program, c.offset) })
			})()
		}
	}
	if known && (!c.argv[0].Pattern || !strings.ContainsAny(losses.Program(program), losses.GlobChars)) {
		c.name = losses.Program(program)
		if rest, ok := spell.CutPrefix(c.name, "g"); ok && losses.GNU()[rest] && programOf(c.name) == nil {
			c.name = rest
		}
	}
	a.list(c)
	if words := posix.Strange[c.name]; words != "" && slices.ContainsFunc(c.args(), func(w Word) bool { return WordIn(w.Text, words) }) && !HasFlag(c.args(), "-q") && !HasFlag(c.args(), "-u") || c.name == "cd" && slices.ContainsFunc(c.env, func(e Assign) bool { return e.Name == "CDPATH" && e.Value.Text != "" }) {
		a.unknown(c.fr, DynamicCode, c.offset)
	}
	if c.name == "" {
		return a.runUnknown(c, program)
	}
	if !c.fr.process && !strings.Contains(program, "/") {
		if f, ok := c.fr.st.funcs.get(c.name); ok && f.or == nil {
			return a.runFunction(c, f)
		} else if ok {
			for _, g := range f.or {
				if g != nil {
					defer a.perhaps(c, &out, func(in *shCall) shValue { return a.runFunction(in, g) })()
				}
			}
			if !slices.Contains(f.or, nil) {
				return shUnknown("$("+c.name+")", shOrigin{kind: "output", from: c.name})
			}
		}
		if b := builtinOf(c.name); b != nil {
			return b(a, c)
		}
	}
	if f, ok := c.fr.st.funcs.get(notFoundHandler); ok && !c.fr.process && programOf(c.name) == nil {
		a.runFunction(&shCall{argv: append([]Word{NewWord(notFoundHandler)}, c.argv...), env: c.env, fr: c.fr, offset: c.offset, name: notFoundHandler}, f)
	}
	return a.runProgram(c, program)
}

// perhaps reads what a command may do or not; what it returns is for the end, when out is what is printed else.
func (a *analysis) perhaps(c *shCall, out *shValue, f func(in *shCall) shValue) func() {
	in, fr := *c, *c.fr
	fr.st, in.fr = c.fr.st.clone(), &fr
	v := f(&in)
	a.join(c.fr.st, fr.st)
	a.repeat()
	return func() {
		if c.fr.out != nil && !lists.Equal(v, *out) {
			*out = shUnknown("$("+c.name+")", shOrigin{kind: "output", from: c.name})
		}
	}
}

// notFoundHandler is the function that bash calls for a program that is not there; which those are is not known.
const notFoundHandler = "command_not_found_handle"

// captured runs f and returns what it prints, if anybody wants to know.
//
//go:noinline
func (a *analysis) captured(fr *shFrame, f func(in *shFrame)) shValue {
	in := *fr
	var printed shValue
	in.out = nil
	if fr.out != nil {
		in.out = &printed
	}
	f(&in)
	return printed
}

// quoteWords is words as code that gives the same words.
func quoteWords(words []Word) shValue {
	var out shValue
	for i, w := range words {
		if i > 0 {
			out = append(out, shPart{text: " "})
		}
		if !w.Dynamic && !w.Pattern {
			out = append(out, shPart{text: quoting.Quote(w.Text)})
			continue
		}
		for _, p := range w.value() {
			switch p.kind {
			case shText:
				p.text = quoting.Quote(p.text)
			case shGlob, shMatch:
				p = shPart{text: p.text}
			}
			out = append(out, p)
		}
	}
	return out
}

// maxCalls bounds how often a function is read within itself.
const maxCalls = 2

func (a *analysis) runFunction(c *shCall, f *shFunction) shValue {
	if a.active == nil {
		a.active = map[*shFunction]int{}
	}
	if a.active[f] == 1 && (c.fr.pipe > 0 || c.fr.background) {
		a.effect(c, Effect{Kind: EffectExec, Domain: DomainSystem, Op: "fork-bomb", Target: c.name, Certainty: CertainKnown})
	}
	deep := a.active[f] == maxCalls && !slices.EqualFunc(c.args(), f.args, func(w, last Word) bool {
		return w.Pattern || w.Text == last.Text || strings.Trim(w.Text, "0123456789") == ""
	})
	if a.active[f] >= maxCalls && !deep {
		return shUnknown("$("+c.name+")", shOrigin{kind: "output", from: c.name})
	}
	a.active[f]++
	defer func(args []Word) { a.active[f], f.args = a.active[f]-1, args }(f.args)
	f.args = c.args()
	a.repeat()
	return a.captured(c.fr, func(in *shFrame) {
		in = in.within("function")
		saved, savedKnown := in.st.argLists(), in.st.argsKnown
		if a.setPositionals(c.args(), in.st); deep { // once more, with any
			in.st.setArgs(false)
		}
		in.st.level++
		for _, e := range c.env {
			keep := in.st.keeps(e.Name)
			in.st.local(e.Name)
			in.st.locals[len(in.st.locals)-1].given = true
			in.st.set(e.Name, e.Value.value())
			keep()
			in.st.exports = in.st.exports.put(e.Name, true)
		}
		if in.base < 0 {
			in.base = c.offset
		}
		in.src = f.src
		outer, jumps := a.returned, a.jumps
		a.returned, a.jumps = nil, nil
		a.stmt(f.body, in)
		a.joinAll(in.st, a.returned)
		a.returned, a.jumps = outer, jumps
		in.st.leave()
		in.st.setArgs(savedKnown, saved...)
		in.st.dead = false
	})
}

// runUnknown is a command whose name is not known: what it would do is not
// either, but for the programs that a glob in the name can match.
func (a *analysis) runUnknown(c *shCall, program string) shValue {
	if c.argv[0].Pattern && !c.argv[0].Dynamic {
		base := program[strings.LastIndexByte(program, '/')+1:]
		if strings.Trim(base, "*?") == "" {
			base = "" // any program at all
		}
		for _, name := range programNames() {
			if losses.GlobMatch(base, name) {
				again := *c
				again.argv = append([]Word{NewWord(strings.TrimSuffix(program, base) + name)}, c.args()...)
				a.run(&again)
			}
		}
		return shUnknown("$(...)", shOrigin{kind: "output"})
	}
	a.effect(c, Effect{Kind: EffectUnknown, Domain: DomainCode, Op: DynamicName, Target: program, Certainty: CertainDynamic})
	if rest, ok := unsetName(c.argv[0]); ok {
		again := *c
		again.argv = append([]Word{NewWord(rest)}, c.args()...)
		a.run(&again)
	}
	return shUnknown("$("+program+")", c.argv[0].value().origin())
}

// unsetName is a command's name when the variables in it that are not known are
// empty: ${NONE}rm. False for one that is not the name of a program then.
func unsetName(w Word) (string, bool) {
	var name strings.Builder
	for _, p := range w.value() {
		switch {
		case p.known():
			name.WriteString(p.text)
		case p.kind != shVar:
			return "", false
		}
	}
	return name.String(), programOf(losses.Program(name.String())) != nil
}
