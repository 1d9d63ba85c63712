package shell

import (
	"slices"
	"strings"

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
		"alias": (*analysis).alias, "unalias": quietBuiltin, "export": (*analysis).exportArgs, "readonly": (*analysis).exportArgs,
		"declare": (*analysis).exportArgs, "typeset": (*analysis).exportArgs, "local": (*analysis).exportArgs,
		"unset": (*analysis).unsetVars, "set": (*analysis).setArgs, "shift": (*analysis).shift, "read": (*analysis).readVars,
		"mapfile": (*analysis).mapfile, "readarray": (*analysis).mapfile, "getopts": (*analysis).getopts,
		"exit": (*analysis).exit, "return": (*analysis).exit, "logout": (*analysis).exit, "break": quietBuiltin, "continue": quietBuiltin,
		"printf": (*analysis).printfBuiltin, "let": quietBuiltin, "shopt": quietBuiltin, "wait": quietBuiltin, "umask": quietBuiltin,
		":": quietBuiltin, "true": quietBuiltin, "false": quietBuiltin, "hash": quietBuiltin, "ulimit": quietBuiltin, "test": quietBuiltin, "[": quietBuiltin,
		"bind": quietBuiltin, "complete": quietBuiltin, "disown": quietBuiltin, "fg": quietBuiltin, "bg": quietBuiltin, "setopt": quietBuiltin,
	}
}

func quietBuiltin(*analysis, *shCall) shValue { return nil }

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
	old := a.oldDirs(st)
	st.set("OLDPWD", pathValue(here, "$OLDPWD"))
	switch {
	case to.Is("-"):
		st.dirs = old
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

func (a *analysis) oldDirs(st *shState) []string {
	b, ok := a.lookup(st, "OLDPWD")
	if !ok {
		return []string{""}
	}
	old, known := b.value().known()
	if !known {
		old = ""
	}
	return []string{old}
}

func (a *analysis) pushd(c *shCall) shValue {
	o := options(c.args(), "", "", optStop)
	st := c.fr.st
	here := a.dir(st)
	if len(o.operands) == 0 || strings.HasPrefix(o.operand(0), "+") {
		st.dirs = []string{""}
		return nil
	}
	st.stack = append(slices.Clip(st.stack), here)
	a.moveTo(o.operands[0], c.fr)
	return nil
}

func (a *analysis) popd(c *shCall) shValue {
	st := c.fr.st
	if len(c.args()) > 0 {
		st.dirs = []string{""}
		return nil
	}
	if len(st.stack) == 0 {
		return nil // which fails
	}
	st.dirs = []string{st.stack[len(st.stack)-1]}
	st.stack = slices.Clip(st.stack[:len(st.stack)-1])
	return nil
}

func (a *analysis) eval(c *shCall) shValue {
	args := c.args()
	if len(args) > 0 && args[0].Is("--") {
		args = args[1:]
	}
	return a.interpret(c, joinWords(args), c.fr, "eval")
}

func (a *analysis) source(c *shCall) shValue {
	o := options(c.args(), "", "", optStop)
	if len(o.operands) == 0 {
		return nil
	}
	return a.runScript(c, o.operands[0], c.fr)
}

func (a *analysis) trap(c *shCall) shValue {
	o := options(c.args(), "", "", optStop)
	if len(o.operands) < 2 || o.operands[0].Text == "" || o.operands[0].Is("-") || o.exact("-p", "-l") {
		return nil
	}
	in := *c.fr
	in.out, in.stdin = nil, shStream{}
	if in.base < 0 {
		in.base = c.offset
	}
	a.traps = append(a.traps, shTrap{o.operands[0].value(), in})
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

// exportArgs is export and its kin where their words were expanded.
func (a *analysis) exportArgs(c *shCall) shValue {
	st := c.fr.st
	exports := c.argv[0].Is("export")
	for _, w := range c.args() {
		if strings.HasPrefix(w.Text, "-") {
			exports = exports || strings.Contains(w.Text, "x")
			st.exportFuncs = st.exportFuncs || exports && strings.Contains(w.Text, "f")
		} else if name, _, _ := strings.Cut(strings.TrimSuffix(w.Text, "+="), "="); exports && syntax.ValidName(name) {
			st.exports = st.exports.put(name, true)
		}
		if name, value, ok := w.cut("="); ok && syntax.ValidName(name) && !strings.HasSuffix(w.Text, "=") {
			st.set(name, value.value())
		}
	}
	return nil
}

// declare is export, local, declare and readonly as the parser knows them.
func (a *analysis) declare(d *syntax.DeclClause, fr *shFrame) {
	c := &shCall{fr: fr, offset: fr.offset(d), argv: []Word{NewWord(d.Variant.Value)}, name: d.Variant.Value}
	array := false
	for _, as := range d.Args {
		if as.Naked || as.Name == nil {
			if as.Value != nil {
				words := a.fields([]*syntax.Word{as.Value}, fr)
				c.argv = append(c.argv, words...)
				array = array || len(words) > 0 && strings.HasPrefix(words[0].Text, "-") && strings.ContainsAny(words[0].Text, "aA")
				continue
			}
			if as.Name != nil {
				c.argv = append(c.argv, NewWord(as.Name.Value))
				if array {
					fr.st.bind(as.Name.Value, shBinding{array: true})
				}
			}
			continue
		}
		a.assign(as, fr)
		c.argv = append(c.argv, NewWord(as.Name.Value+"="))
	}
	a.list(c)
	a.exportArgs(c)
}

func (a *analysis) unsetVars(c *shCall) shValue {
	o := options(c.args(), "", "", optStop)
	for _, w := range o.operands {
		c.fr.st.bind(w.Text, shBinding{unset: true})
	}
	return nil
}

func (a *analysis) setArgs(c *shCall) shValue {
	args := c.args()
	for i, w := range args {
		switch {
		case w.Is("--") || w.Is("-"):
			a.setPositionals(args[i+1:], c.fr.st)
			return nil
		case w.Is("-a", "-o") && (w.Is("-a") || i+1 < len(args) && args[i+1].Is("allexport")):
			c.fr.st.exportAll = true
			return nil
		case w.Is("-o", "+o"):
			return nil
		case w.Dynamic || w.Text == "" || w.Text[0] != '-' && w.Text[0] != '+':
			a.setPositionals(args[i:], c.fr.st)
			return nil
		}
	}
	return nil
}

func (a *analysis) setPositionals(words []Word, st *shState) {
	st.args, st.argsKnown = nil, true
	for _, w := range words {
		st.args = append(st.args, matched(w))
	}
}

func (a *analysis) shift(c *shCall) shValue {
	n := 1
	if len(c.args()) > 0 {
		v, ok := shellNumber(c.args()[0].Text)
		if !ok || v < 0 {
			c.fr.st.args, c.fr.st.argsKnown = nil, false
			return nil
		}
		n = int(min(v, 1<<20))
	}
	if n <= len(c.fr.st.args) {
		c.fr.st.args = c.fr.st.args[n:]
	}
	return nil
}

// readVars is read: the variables hold one of the lines that come from
// standard input.
func (a *analysis) readVars(c *shCall) shValue {
	o := options(c.args(), "adeinNptu", "", optStop)
	lines := stdinItems(c.fr.stdin.value, "\n\x00")
	if array, ok := o.value("-a"); ok {
		c.fr.st.forget(array.Text)
	}
	names := WordTexts(o.operands)
	if len(names) == 0 {
		names = []string{"REPLY"}
	}
	for i, name := range names {
		if !syntax.ValidName(name) {
			continue
		}
		if !c.fr.stdin.set || len(lines) == 0 || len(lines) > maxAlternatives {
			c.fr.st.set(name, shValue{{text: "$" + name, kind: shAny, origin: c.fr.stdin.value.origin()}})
			continue
		}
		var alts []shBinding
		for _, line := range lines {
			alts = append(alts, scalarBinding(readField(line, i, len(names), name)))
		}
		c.fr.st.bind(name, mergeBindings(nil, alts)...)
	}
	return nil
}

// readField is the i-th of n fields of a line; the last one is the rest.
func readField(line Word, i, n int, name string) shValue {
	if n == 1 {
		return line.value()
	}
	if line.Dynamic {
		return shValue{{text: "$" + name, kind: shAny, origin: line.value().origin()}}
	}
	fields := strings.Fields(line.Text)
	switch {
	case i >= len(fields):
		return nil
	case i == n-1:
		return shLiteral(strings.Join(fields[i:], " "))
	}
	return shLiteral(fields[i])
}

func (a *analysis) mapfile(c *shCall) shValue {
	o := options(c.args(), "dnOsuCc", "", optStop)
	name := "MAPFILE"
	if len(o.operands) > 0 {
		name = o.operands[0].Text
	}
	text, known := c.fr.stdin.value.known()
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if !known || !c.fr.stdin.set || len(lines) > maxFields {
		c.fr.st.forget(name)
		return nil
	}
	b := shBinding{array: true}
	for i, l := range lines {
		b.elems = append(b.elems, shElem{itoa(i), shLiteral(l)})
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
	if c.name == "return" && len(a.active) > 0 {
		a.returned = append(a.returned, c.fr.st.clone())
	}
	c.fr.st.dead = true
	return nil
}

func (a *analysis) printfBuiltin(c *shCall) shValue {
	args := c.args()
	if len(args) > 2 && args[0].Is("-v") {
		if v := printfValue(args[2:]); syntax.ValidName(args[1].Text) {
			c.fr.st.set(args[1].Text, a.bounded(v, c.fr))
		}
		return nil
	}
	if len(args) > 1 && strings.HasPrefix(args[0].Text, "-v") && syntax.ValidName(args[0].Text[2:]) {
		c.fr.st.set(args[0].Text[2:], a.bounded(printfValue(args[1:]), c.fr))
		return nil
	}
	if len(args) > 0 && args[0].Is("--") {
		args = args[1:]
	}
	return a.bounded(printfValue(args), c.fr)
}
