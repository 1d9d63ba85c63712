package shell

import (
	"slices"
	"strings"

	"github.com/hookc/hookc/builtins/losses"
	"github.com/hookc/hookc/builtins/posix"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/internal/spell"
	"mvdan.cc/sh/v3/syntax"
)

// shBuiltin reads a builtin of the shell, which may change the shell's state.
type shBuiltin func(a *analysis, c *shCall) shValue

var shBuiltinTable map[string]shBuiltin

func builtinOf(name string) shBuiltin {
	shFilled()
	return shBuiltinTable[name]
}

func fillBuiltin() {
	shBuiltinTable = map[string]shBuiltin{
		"cd": (*analysis).cd, "pushd": (*analysis).pushd, "popd": (*analysis).popd, "chdir": (*analysis).cd,
		"eval": (*analysis).eval, "source": (*analysis).source, ".": (*analysis).source, "trap": (*analysis).trap,
		"alias": (*analysis).alias, "export": (*analysis).exportArgs, "readonly": (*analysis).exportArgs,
		"declare": (*analysis).exportArgs, "typeset": (*analysis).exportArgs, "local": (*analysis).exportArgs,
		"unset": (*analysis).unsetVars, "set": (*analysis).setArgs, "shift": (*analysis).shift, "read": (*analysis).readVars,
		"mapfile": (*analysis).mapfile, "readarray": (*analysis).mapfile, "getopts": (*analysis).getopts,
		"break": (*analysis).jump, "continue": (*analysis).jump, "exit": (*analysis).exit, "return": (*analysis).exit, "logout": (*analysis).exit, "printf": (*analysis).printfBuiltin,
	}
	for _, name := range strings.Fields("unalias let shopt wait umask : true false hash ulimit test [ bind complete disown fg bg setopt") {
		shBuiltinTable[name] = func(*analysis, *shCall) shValue { return nil }
	}
}

func (a *analysis) cd(c *shCall) shValue {
	o := options(c.args(), "", "", optStop)
	to := a.home(c.fr).word()
	if len(o.operands) > 0 {
		to = o.operands[0]
	}
	a.moveTo(to, c.fr)
	return nil
}

// moveTo changes the directory.
func (a *analysis) moveTo(to Word, fr *shFrame) {
	st := fr.st
	here := a.dir(st)
	b, _ := a.lookup(st, "OLDPWD")
	old, known := b.value().known()
	if !known {
		old = ""
	}
	st.set("OLDPWD", pathValue(here, "$OLDPWD"))
	switch {
	case to.Is("-"):
		st.dirs = []string{old}
	case to.Dynamic || to.Pattern:
		p := a.resolve(to, fr)
		st.dirs = []string{""}
		if origin := to.value().origin(); origin.kind == "toplevel" && a.at.Root != "" {
			st.dirs = []string{a.at.Root}
		} else if p.certainty == CertainPattern && p.shape != "" {
			st.dirs = []string{p.text}
		}
	default:
		p, _ := a.resolve(to, fr).known()
		if to.Text == "" {
			p = here
		}
		st.dirs = []string{p}
	}
}

func (a *analysis) pushd(c *shCall) shValue {
	o := options(c.args(), "", "", optStop)
	st := c.fr.st
	if len(o.operands) == 0 || strings.HasPrefix(o.operand(0), "+") {
		st.dirs = []string{""}
		return nil
	}
	st.stack = append(slices.Clip(st.stack), a.dir(st))
	a.moveTo(o.operands[0], c.fr)
	return nil
}

func (a *analysis) popd(c *shCall) shValue {
	st := c.fr.st
	switch n := len(st.stack); {
	case len(c.args()) > 0:
		st.dirs = []string{""}
	case n > 0: // else it fails
		st.dirs, st.stack = []string{st.stack[n-1]}, slices.Clip(st.stack[:n-1])
	}
	return nil
}

func (a *analysis) eval(c *shCall) shValue {
	args := c.args()
	if len(args) > 0 && args[0].Is("--") {
		args = args[1:]
	}
	before := c.fr.st.clone()
	for _, e := range c.env {
		c.fr.st.set(e.Name, e.Value.value())
	}
	v := a.interpret(c, joinWords(args), c.fr, "eval")
	if len(c.env) > 0 {
		a.join(c.fr.st, before)
	}
	return v
}

func (a *analysis) source(c *shCall) shValue {
	o := options(c.args(), "", "", optStop)
	if len(o.operands) == 0 {
		return nil
	}
	if _, secret := a.placeIn(a.resolve(o.operands[0], c.fr).text, c.fr); secret != "" {
		a.sourced = secret
	}
	st, outer := c.fr.st, a.returned
	saved, known := st.argLists(), st.argsKnown
	if len(o.operands) > 1 {
		a.setPositionals(o.operands[1:], st)
		defer func() { st.setArgs(known, saved...) }()
	}
	a.returned, a.sourcing = nil, a.sourcing+1
	v := a.runScript(c, o.operands[0], c.fr)
	for _, r := range a.returned {
		a.join(st, r)
	}
	a.returned, a.sourcing = outer, a.sourcing-1
	return v
}

func (a *analysis) trap(c *shCall) shValue {
	o := options(c.args(), "", "", optStop)
	if len(o.operands) < 2 || o.operands[0].Text == "" || o.operands[0].Is("-") || o.exact("-p", "-l") {
		return nil
	}
	in := *c.fr
	in.st, in.out, in.stdin = c.fr.st.clone(), nil, shStream{}
	if in.base < 0 {
		in.base = c.offset
	}
	a.traps = append(a.traps, shTrap{o.operands[0].value(), in})
	if !slices.ContainsFunc(o.operands[1:], func(w Word) bool { return w.Is("EXIT", "0", "exit") }) { // at any time from now on
		in.st = c.fr.st.clone()
		a.runCode(o.operands[0].value(), &in, "trap", c.offset)
		a.join(c.fr.st, in.st)
	}
	return nil
}

func (a *analysis) alias(c *shCall) shValue {
	for _, w := range c.args() {
		if name, value, ok := w.cut("="); ok {
			c.fr.st.aliases = c.fr.st.aliases.put(name, value.value())
		}
	}
	return nil
}

// shDeclared are the options of declare and its kin.
type shDeclared struct{ local, global, export, unexport, readonly, array, other, function bool }

func declared(name string, words []Word, level int) shDeclared {
	letters := ""
	for _, w := range words {
		if rest, ok := spell.CutPrefix(w.Text, "-"); ok {
			letters += rest
		}
	}
	has := func(any string) bool { return strings.ContainsAny(letters, any) }
	export := name == "export"
	return shDeclared{
		local: level > 0 && !export && name != "readonly" && !has("g"), global: level > 0 && has("g"),
		export: export || has("x"), unexport: export && has("n"), readonly: name == "readonly" || has("r"), array: has("aA"), other: has("ilu") || has("n") && !export,
		function: has("f"),
	}
}

// mark gives a variable the options it was declared with.
func (st *shState) mark(name string, d shDeclared) {
	if d.export && d.function {
		name = "-f " + name
	}
	if d.export {
		st.exports = st.exports.put(name, !d.unexport)
	}
	if d.readonly {
		st.frozen = st.frozen.put(name, true)
	}
	for i, l := range st.locals {
		if now, ok := st.vars.get(name); ok && l.given && l.name == name && (d.readonly || d.export) { // outlives the function
			st.locals = lists.Copy(st.locals)
			st.locals[i].old, st.locals[i].had = mergeBindings(l.before(), now), true
		}
	}
	if d.other { // what it holds is changed, or is in another variable
		st.forget(name)
	}
}

// exportArgs is export and its kin where their words were expanded.
func (a *analysis) exportArgs(c *shCall) shValue {
	st := c.fr.st
	d := declared(c.argv[0].Text, c.args(), st.level)
	st.exportFuncs = st.exportFuncs || d.export && d.function && slices.ContainsFunc(c.args(), func(w Word) bool { return w.Dynamic })
	for _, w := range c.args() {
		name, value, ok := w.cut("=")
		name = strings.TrimSuffix(name, "+")
		if head, _, assigns := spell.Cut(w.Text, "="); assigns && w.Dynamic && strings.HasPrefix(head, "$") {
			a.unknown(c.fr, DynamicCode, c.offset)
		}
		if strings.HasPrefix(w.Text, "-") || !syntax.ValidName(name) {
			continue
		}
		a.declareOne(st, name, value.value(), ok, d)
		if ok && d.export {
			a.launched(c, name, value)
		}
	}
	if len(c.args()) == 0 || len(c.args()) == 1 && c.args()[0].Is("-p", "-x", "-px", "-xp") || HasFlag(c.args(), "-f") && !d.export {
		return shUnknown("$("+c.name+")", shOrigin{"environment", c.name})
	}
	return nil
}

// declareOne is one name of declare, with its value when ok is true.
func (a *analysis) declareOne(st *shState, name string, v shValue, ok bool, d shDeclared) {
	defer st.keeps(name)()
	fresh := d.local && st.local(name)
	switch {
	case ok && d.array && strings.HasPrefix(v.text(), "("): // a list in a text
		st.forget(name)
	case ok && d.global:
		st.setGlobal(name, v)
	case ok:
		st.set(name, v)
	case d.array:
		st.bind(name, shBinding{array: true})
	case fresh:
		st.bind(name, shBinding{unset: true})
	}
	st.mark(name, d)
}

// declare is export, local, declare and readonly as the parser knows them.
// Every value is expanded before the first is assigned.
func (a *analysis) declare(d *syntax.DeclClause, fr *shFrame) {
	c := &shCall{fr: fr, offset: fr.offset(d), argv: []Word{NewWord(d.Variant.Value)}, name: d.Variant.Value}
	values := make([]shValue, len(d.Args))
	for i, as := range d.Args {
		switch {
		case as.Name == nil && as.Value != nil:
			c.argv = append(c.argv, a.fields([]*syntax.Word{as.Value}, fr)...)
		case as.Name != nil && as.Naked:
			c.argv = append(c.argv, NewWord(as.Name.Value))
		case as.Name != nil:
			if as.Array == nil && as.Index == nil {
				values[i] = a.single(as.Value, fr)
			}
			c.argv = append(c.argv, NewWord(as.Name.Value+"="))
		}
	}
	a.list(c)
	if args := c.args(); fr.out == nil && len(args) > 1 && args[0].Is("-p") && losses.SecretVariable(args[1].Text) {
		a.effect(c, Effect{Kind: EffectRead, Domain: DomainCloud, Op: credential, Target: "$" + args[1].Text})
	}
	if c.name == "local" && fr.st.level == 0 {
		return // an error of the shell
	}
	if HasFlag(c.args(), "-I") { // with the value that there was
		a.unknown(fr, DynamicCode, c.offset)
	}
	how := declared(c.name, c.args(), fr.st.level)
	for i, as := range d.Args {
		a.special(as, fr)
		switch {
		case as.Name == nil:
		case as.Array != nil || as.Index != nil || as.Append:
			if how.local {
				fr.st.local(as.Name.Value)
			}
			a.assign(as, fr)
			fr.st.mark(as.Name.Value, how)
		default:
			a.declareOne(fr.st, as.Name.Value, a.bounded(values[i], fr), !as.Naked, how)
			if HasFlag(c.args(), "-n") && c.name != "export" { // another name for a variable: both may be changed by either
				of, _, _ := spell.Cut(values[i].text(), "[")
				fr.st.refer(as.Name.Value, of)
			}
		}
	}
	// The names that only running the words shows: declare "$x=1".
	rest := []Word{c.argv[0]}
	for _, w := range c.args() {
		if w.Dynamic || strings.HasPrefix(w.Text, "-") || strings.Contains(strings.TrimSuffix(w.Text, "="), "=") {
			rest = append(rest, w)
		}
	}
	c.argv = rest
	v := a.exportArgs(c)
	if !slices.ContainsFunc(d.Args, func(as *syntax.Assign) bool { return as.Name != nil }) {
		if fr.out == nil {
			a.shown(c, v)
		}
	} else if !slices.ContainsFunc(c.args(), func(w Word) bool { return strings.HasPrefix(w.Text, "-") && strings.ContainsAny(w.Text, "fFp") }) {
		v = nil // nothing is printed of names that are declared
	}
	a.print(fr.out, v)
}

// unguarded adds what a variable of hookc's own that is gone lets past it.
func (a *analysis) unguarded(c *shCall, name string) {
	if strings.HasPrefix(name, "HOOKC_") {
		a.effect(c, Effect{Kind: EffectPrivilege, Domain: DomainSystem, Op: "agent-unguarded", Target: name})
	}
}

func (a *analysis) unsetVars(c *shCall) shValue {
	o := options(c.args(), "", "", optStop)
	st := c.fr.st
	for _, w := range o.operands {
		a.unguarded(c, w.Text)
		_, isVar := st.vars.get(w.Text)
		keep := st.keeps(w.Text)
		if of, _, element := spell.Cut(w.Text, "["); element {
			st.forget(of)
			continue
		}
		switch {
		case o.exact("-f"), !isVar && !o.exact("-v"):
			st.funcs = st.funcs.drop(w.Text)
			if !o.exact("-f") {
				st.unset(w.Text)
			}
		default:
			st.unset(w.Text)
			keep()
		}
	}
	return nil
}

func (a *analysis) setArgs(c *shCall) shValue {
	args := c.args()
	if len(args) == 0 {
		return shUnknown("$(set)", shOrigin{"environment", "set"})
	}
	for i, w := range args {
		switch {
		case w.Is("--") || w.Is("-"):
			a.setPositionals(args[i+1:], c.fr.st)
			return nil
		case w.Is("-a", "-o") && (w.Is("-a") || i+1 < len(args) && args[i+1].Is("allexport")):
			c.fr.st.exportAll = true
			return nil
		case w.Is("+a"):
			c.fr.st.exportAll = false
		case w.Is("-o", "+o"):
			return nil
		case w.Dynamic || w.Text == "" || w.Text[0] != '-' && w.Text[0] != '+':
			a.setPositionals(args[i:], c.fr.st)
			return nil
		}
	}
	return nil
}

//go:noinline
func (a *analysis) setPositionals(words []Word, st *shState) {
	all := make([][]shValue, 1, 3)
	for _, w := range words {
		all[0] = append(all[0], matched(w))
	}
	for i, v := range all[0] { // without quotes it is no word where it is empty
		if (words[i].Dynamic || words[i].Pattern) && len(all) < maxAlternatives && !slices.ContainsFunc(v, func(p shPart) bool { return p.quoted && p.text != "$@" || p.kind == shText || p.kind == shPlain }) {
			all = append(all, slices.Delete(lists.Copy(all[0]), i, i+1))
		}
	}
	st.setArgs(true, all...)
}

func (a *analysis) shift(c *shCall) shValue {
	n := 1
	if len(c.args()) > 0 {
		v, ok := posix.Number(c.args()[0].Text)
		if !ok || v < 0 {
			c.fr.st.setArgs(false)
			return nil
		}
		n = int(min(v, 1<<20))
	}
	var lists [][]shValue
	for _, list := range c.fr.st.argLists() {
		many := slices.IndexFunc(list, shValue.many)
		for i := max(many, 0); many >= 0 && i < min(n, len(list)); i++ { // one that may be several may be left
			lists = append(lists, list[i:])
		}
		if n <= len(list) {
			list = list[n:]
		}
		lists = append(lists, list)
	}
	if len(lists) > maxAlternatives {
		lists, c.fr.st.argsKnown = nil, false
	}
	c.fr.st.setArgs(c.fr.st.argsKnown, lists...)
	return nil
}

// readVars is read: the variables hold one of the lines that come from standard input.
func (a *analysis) readVars(c *shCall) shValue {
	o := options(c.args(), "adinNptu", "", optStop)
	ends := "\n\x00"
	if d, ok := o.value("-d"); ok && d.Text != "" {
		ends = d.Text[:1] + "\n"
	}
	lines := stdinItems(c.fr.stdin.value, ends)
	names := WordTexts(o.operands)
	if len(names) == 0 {
		names = []string{"REPLY"}
	}
	seps := a.ifs(c.fr.st)
	for _, e := range c.env {
		if text, known := e.Value.known(); e.Name == "IFS" && known {
			seps = text
		}
	}
	if array, ok := o.value("-a"); ok && len(lines) == 1 && !lines[0].Dynamic {
		b := shBinding{array: true}
		for i, text := range posix.Fields(lines[0].Text, seps, maxFields) {
			b.elems = append(b.elems, shElem{itoa(i), lines[0].value().made(text)})
		}
		c.fr.st.bind(array.Text, b)
	} else if ok {
		c.fr.st.forget(array.Text)
	}
	from := c.fr.stdin.value.origin()
	dynamic := !c.fr.stdin.set || o.exact("-n", "-N", "-u") || ends == "\n\x00" && o.exact("-d") && len(names) > 1 || len(lines) == 0 || len(lines) > maxAlternatives || len(lines) == 1 && lines[0].Dynamic && len(names) > 1
	for i, name := range names {
		if !syntax.ValidName(name) {
			continue
		}
		if dynamic {
			v := shValue{{text: "$" + name, kind: shAny, origin: from}}
			if i == 0 && len(names) > 1 && strings.Contains(seps, "=") && losses.Secret(from.from, a.at.Home) == "env-file" {
				v[0].origin = shOrigin{} // the name of a variable
			}
			c.fr.st.set(name, v)
			continue
		}
		var alts []shBinding
		for _, line := range lines {
			alts = append(alts, scalarBinding(readField(line, i, len(names), name, seps)))
		}
		c.fr.st.bind(name, mergeBindings(nil, alts)...)
	}
	return nil
}

// readField is the i-th of n fields of a line; the last one is the rest.
func readField(line Word, i, n int, name, seps string) shValue {
	switch fields := posix.Fields(line.Text, seps, n); {
	case n == 1:
		return line.value()
	case line.Dynamic:
		return shValue{{text: "$" + name, kind: shAny, origin: line.value().origin()}}
	case i < len(fields):
		return line.value().made(fields[i])
	}
	return nil
}

func (a *analysis) mapfile(c *shCall) shValue {
	o := options(c.args(), "dnOsuCc", "", optStop)
	name := "MAPFILE"
	if len(o.operands) > 0 {
		name = o.operands[0].Text
	}
	text, known := c.fr.stdin.value.known()
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if slices.ContainsFunc(o.list, func(opt shOpt) bool { return opt.name != "-t" }) {
		c.fr.st.forget(name)
		return nil
	}
	if !known || !c.fr.stdin.set || len(lines) > maxFields {
		v := shValue{{text: "$" + name, kind: shAny, origin: c.fr.stdin.value.origin()}}
		c.fr.st.bind(name, shBinding{array: true, elems: []shElem{{"0", v}}})
		return nil
	}
	b := shBinding{array: true}
	for i, l := range lines {
		b.elems = append(b.elems, shElem{itoa(i), c.fr.stdin.value.made(l)})
	}
	c.fr.st.bind(name, b)
	return nil
}

func (a *analysis) getopts(c *shCall) shValue {
	if len(c.args()) > 1 && syntax.ValidName(c.args()[1].Text) {
		c.fr.st.forget(c.args()[1].Text)
	}
	c.fr.st.forget("OPTARG")
	return nil
}

func (a *analysis) exit(c *shCall) shValue {
	if c.name == "return" && len(a.active)+a.sourcing > 0 {
		a.returned = append(a.returned, c.fr.st.clone())
	}
	c.fr.st.dead = true
	return nil
}

func (a *analysis) printfBuiltin(c *shCall) shValue {
	o := options(c.args(), "v", "", optStop)
	v := a.bounded(printfValue(o.operands), c.fr)
	name, ok := o.value("-v")
	if !ok {
		return v
	}
	of, _, element := spell.Cut(name.Text, "[")
	defer c.fr.st.keeps(of)()
	if element || name.Dynamic {
		a.arithmText(name.Text, c.fr) // an index may run code
		c.fr.st.forget(of)
	} else if syntax.ValidName(name.Text) {
		c.fr.st.set(name.Text, v)
	}
	return nil
}
