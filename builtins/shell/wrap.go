package shell

import (
	"strings"

	"github.com/hookc/hookc/builtins/losses"
	"github.com/hookc/hookc/builtins/tokens"
	"mvdan.cc/sh/v3/syntax"
)

var shWrapperTable map[string]losses.Wrapper

// wrapper reads a program of the table.
func (a *analysis) wrapper(c *shCall, w losses.Wrapper) (v shValue, read bool) {
	args := c.args()
	if c.name == "sg" && HasFlag(args, "-p", "--pattern", "-r", "--rewrite", "-l", "--lang", "scan") {
		return printsText(a, c), true // ast-grep
	}
	var sub shOpts
	if w.Sub != "" {
		sub = options(args, w.Short, w.Long, optStop)
		if len(sub.operands) == 0 || !WordIn(sub.operands[0].Text, w.Sub) {
			return printsText(a, c), false
		}
		args = sub.operands[1:]
	}
	o := options(args, w.Short, w.Long, optStop)
	for _, opt := range o.list {
		if c.name == "command" && opt.name == "-v" {
			return whereIs(o.operands), true
		}
		if WordIn(opt.name, w.Quiet) {
			return printsText(a, c), true
		}
	}
	fr := c.fr
	if w.Privilege {
		fr = a.privileged(c, &o)
	}
	if dir, ok := o.value(strings.Fields(w.Dir)...); ok && w.Dir != "" {
		fr = fr.subshell()
		a.moveTo(dir, fr)
	}
	v = a.startWrapped(c, w, &o, fr)
	c.fr.st.files = joinTable(c.fr.st.files, fr.st.files)
	return v, true
}

// privileged notes that a command gets the rights of another user.
func (a *analysis) privileged(c *shCall, o *shOpts) *shFrame {
	user := "root"
	if u, ok := o.value("-u", "--user"); ok {
		user = u.Text
	} else if c.name == "su" && len(o.operands) > 0 && !o.operands[0].Is("-") {
		user = o.operands[0].Text
	}
	a.effect(c, Effect{Kind: EffectPrivilege, Domain: DomainPermission, Op: c.name, Target: user})
	if !WordIn(c.name, "sudo doas") || o.exact("-E", "--preserve-env") {
		return c.fr
	}
	fr := c.fr.subshell() // most variables do not get there
	for _, name := range fr.st.vars.names() {
		if alts, _ := fr.st.vars.get(name); !strings.Contains(environmentNames, " "+name+" ") {
			fr.st.bind(name, mergeBindings(alts, []shBinding{{unset: true}})...)
		}
	}
	return fr
}

func (a *analysis) startWrapped(c *shCall, w losses.Wrapper, o *shOpts, fr *shFrame) shValue {
	if w.Code != "" {
		if code, ok := suCode(o, w.Code); ok {
			in := a.childShell(&shCall{fr: fr, env: c.env})
			return a.interpret(c, code.value(), in, c.name)
		}
	}
	argv := o.operands
	switch {
	case w.Skip < 0: // su, runuser: a user, and then arguments of its shell
		if c.name == "runuser" && o.exact("-u", "--user") {
			break
		}
		if fr.stdin.set {
			return a.interpretStdin(c, a.childShell(&shCall{fr: fr, env: c.env}))
		}
		return nil
	case w.Skip > 0:
		if len(argv) > 0 && (w.Skip > 9 || !losses.Dangerous()[argv[0].Text]) {
			argv = argv[min(w.Skip, len(argv)):]
		}
	}
	if w.Assigns {
		argv, c.env = leadingAssigns(argv, c.env)
	}
	if c.name == "uv" && len(argv) > 0 && strings.HasSuffix(argv[0].Text, ".py") {
		a.langScript(c, tokens.Python, argv)
	} else if c.name == "uv" && len(argv) > 0 && argv[0].Is("-") && fr.stdin.set {
		a.lang(c, tokens.Python, fr.stdin.value)
	}
	for len(argv) > 0 && (argv[0].Is("--", "-") || c.name == "dotenv" && argv[0].Is("run")) {
		argv = argv[1:]
	}
	if len(argv) == 0 && c.name == "arch" {
		return printsPlain(a, c)
	}
	if w.Joined || len(argv) == 1 && strings.Contains(argv[0].prefix(), " ") && c.name != "nohup" {
		return a.joinedCode(c, argv, fr)
	}
	if len(argv) == 0 && w.Privilege && (fr.stdin.set || o.exact("-s", "-i", "--shell", "--login")) {
		return a.interpretStdin(c, a.childShell(&shCall{fr: fr, env: c.env}))
	}
	if c.name == "flock" && len(argv) > 1 && argv[0].Is("-c") {
		return a.interpret(c, argv[1].value(), a.childShell(&shCall{fr: fr, env: c.env}), c.name)
	}
	if c.name == "command" || c.name == "builtin" || c.name == "exec" {
		return a.shellWrapped(c, argv, fr)
	}
	return a.wrapped(c, argv, fr)
}

// suCode is the value of the option that holds code. su takes it after the
// user as well.
func suCode(o *shOpts, names string) (Word, bool) {
	if v, ok := o.value(strings.Fields(names)...); ok {
		return v, true
	}
	if !strings.Contains(names, "-c") {
		return Word{}, false
	}
	for i, w := range o.operands {
		if i > 0 && (w.Is("-c", "--command")) && i+1 < len(o.operands) {
			return o.operands[i+1], true
		}
		if name, v, ok := w.cut("="); ok && name == "--command" {
			return v, true
		}
	}
	return Word{}, false
}

// shellWrapped is what command, builtin and exec run: a program or a builtin
// of this shell, but no function and no alias.
func (a *analysis) shellWrapped(c *shCall, argv []Word, fr *shFrame) shValue {
	if len(argv) == 0 {
		return nil
	}
	in := fr.within(c.name)
	if b := builtinOf(argv[0].Text); b != nil && !argv[0].Dynamic && c.name != "exec" {
		inner := &shCall{argv: argv, env: c.env, fr: in, offset: c.offset, name: argv[0].Text}
		a.list(inner)
		return b(a, inner)
	}
	return a.wrapped(c, argv, fr)
}

// joinedCode reads words as code: all of them as one, or each on its own when
// they are quoted command lines.
func (a *analysis) joinedCode(c *shCall, argv []Word, fr *shFrame) shValue {
	if len(argv) == 0 {
		return nil
	}
	in := a.childShell(&shCall{fr: fr, env: c.env})
	if c.name != "hyperfine" && c.name != "concurrently" {
		return a.interpret(c, joinWords(argv), in, c.name)
	}
	for _, w := range argv {
		a.interpret(c, w.value(), in.subshell(), c.name)
	}
	return shUnknown("$("+c.name+")", shOrigin{kind: "output", from: c.name})
}

// leadingAssigns takes NAME=value words off the start of a command.
func leadingAssigns(argv []Word, env []Assign) ([]Word, []Assign) {
	for len(argv) > 0 {
		name, value, ok := argv[0].cut("=")
		if !ok || !syntax.ValidName(name) {
			break
		}
		env = append(env[:len(env):len(env)], Assign{name, value})
		argv = argv[1:]
	}
	return argv, env
}

// env is the program env: options, assignments, and a command.
func (a *analysis) env(c *shCall) shValue {
	o := options(c.args(), "uCS", "--unset --chdir --split-string", optStop|optShort)
	fr := c.fr
	if dir, ok := o.value("-C", "--chdir"); ok {
		fr = fr.subshell()
		a.moveTo(dir, fr)
	}
	if code, ok := o.value("-S", "--split-string"); ok {
		v := append(code.value()[:len(code.value()):len(code.value())], shPart{text: " "})
		return a.interpret(c, append(v, quoteWords(o.operands)...), a.childShell(c), c.name)
	}
	gone := WordTexts(o.values("-u", "--unset"))
	for _, name := range gone {
		a.unguarded(c, name)
	}
	if o.exact("-i", "--ignore-environment") || len(o.operands) > 0 && o.operands[0].Is("-") {
		gone = append(gone, fr.st.vars.names()...)
	}
	if len(gone) > 0 {
		fr = fr.subshell()
		defer func() { c.fr.st.files = joinTable(c.fr.st.files, fr.st.files) }()
	}
	for _, name := range gone {
		fr.st.bind(name, shBinding{unset: true})
	}
	argv, env := leadingAssigns(o.operands, c.env)
	c.env = env
	if len(argv) == 0 {
		return shUnknown("$(env)", shOrigin{"environment", "env"})
	}
	return a.wrapped(c, argv, fr)
}
