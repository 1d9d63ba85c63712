package shell

import (
	"slices"
	"strings"

	"github.com/hookc/hookc/builtins/losses"
	"github.com/hookc/hookc/builtins/winshell"
	"github.com/hookc/hookc/internal/spell"
)

// Shells are the programs that read code of the POSIX shell or one close to it,
// foreignShells those that read a language that is not read here, or by winshell.
var (
	Shells        = losses.Words("sh bash zsh dash ksh ash mksh rbash fish rzsh ksh93 yash bash.exe")
	foreignShells = losses.Words("csh tcsh nu xonsh elvish")
)

// shellProgram is bash, sh and their kin.
func (a *analysis) shellProgram(c *shCall) shValue {
	o := options(withoutPlus(c.args()), "oO", "--rcfile --init-file -o", optStop)
	if o.exact("-n", "--version", "--help", "--norun") {
		return nil
	}
	in := a.childShell(c)
	if c.name != "bash" {
		in.st.funcs = nil
	}
	if b, ok := a.lookup(in.st, "BASH_ENV"); ok && c.name == "bash" && !b.unset && !b.open {
		a.runScript(c, b.value().word(), in)
	}
	switch {
	case o.exact("-c", "--command"):
		if c.name == "fish" {
			a.fish(c, &o)
		}
		if v, ok := o.value("--command"); ok {
			return a.interpret(c, v.value(), in, c.name)
		}
		if len(o.operands) == 0 {
			return nil
		}
		if len(o.operands) > 1 {
			in.st.name = o.operands[1].value()
			a.setPositionals(o.operands[2:], in.st)
		}
		in.st.argsKnown = true
		return a.interpret(c, o.operands[0].value(), in, c.name)
	case len(o.operands) > 0 && !o.exact("-s"):
		a.setPositionals(o.operands[1:], in.st)
		if _, written := a.written(o.operands[0], in); !written {
			a.scriptLoss(c, o.operands)
		}
		return a.runScript(c, o.operands[0], in)
	}
	a.setPositionals(o.operands, in.st)
	return a.interpretStdin(c, in)
}

// withoutPlus takes out the options that turn something off (+x, +o NAME):
// they stand among the others, and change nothing that is read here.
func withoutPlus(args []Word) []Word {
	var out []Word
	for len(args) > 0 {
		text, n := args[0].prefix(), 1
		if len(text) < 2 || text[0] != '-' && text[0] != '+' || text == "--" {
			break
		}
		if text[:2] != "--" && strings.ContainsAny(text[len(text)-1:], "oO") && len(args) > 1 {
			n = 2
		}
		if text[0] == '-' {
			out = append(out, args[:n]...)
		}
		args = args[n:]
	}
	return append(out, args...)
}

// childShell is the frame of a shell that is started.
func (a *analysis) childShell(c *shCall) *shFrame {
	in := c.fr.subshell()
	in.st.inherit()
	in.process = false
	for _, e := range c.env {
		in.st.set(e.Name, e.Value.value())
		in.st.exports = in.st.exports.put(e.Name, true)
	}
	return in
}

// interpretStdin reads what comes from standard input as code. A terminal, or a background's nothing, gives none.
func (a *analysis) interpretStdin(c *shCall, in *shFrame) shValue {
	if !in.stdin.set {
		return nil
	}
	code, via := in.stdin.value, "stdin"
	if in.stdin.here {
		via = "heredoc"
	}
	in.stdin = shStream{}
	return a.interpret(c, code, in, via)
}

// interpret reads a value as code in fr. What is not known of it is an effect.
func (a *analysis) interpret(c *shCall, code shValue, fr *shFrame, via string) shValue {
	hasText, hasUnknown := false, false
	for _, p := range code {
		if p.known() {
			hasText = hasText || strings.TrimSpace(p.text) != ""
		} else {
			hasUnknown = true
			if p.origin.kind != "" && p.origin.kind != credential || !hasText && len(code) == 1 {
				a.codeEffect(c, p)
			}
		}
	}
	if !hasText {
		if hasUnknown {
			return shUnknown("$(...)", shOrigin{kind: "output"})
		}
		return nil
	}
	v := a.captured(fr, func(in *shFrame) { a.runCode(code, in, via, c.offset) })
	if fr.host == c.fr.host { // what a child shell writes is there after it
		c.fr.st.files = joinTable(c.fr.st.files, fr.st.files)
	}
	return v
}

// runAll reads words as code that a command starts.
func (a *analysis) runAll(c *shCall, code []Word) {
	for _, w := range code {
		a.interpret(c, w.value(), a.childShell(c), c.name)
	}
}

// codeEffect is running code that is not known: Op says where it comes from.
func (a *analysis) codeEffect(c *shCall, p shPart) {
	e := Effect{Kind: EffectExec, Domain: DomainCode, Target: p.origin.from, Certainty: CertainDynamic}
	switch p.origin.kind {
	case "remote":
		e.Op = "remote-code"
	case "decoded":
		e.Op = "decoded-code"
	case "file":
		if strings.HasPrefix(p.text, "$(") && !strings.HasPrefix(p.text, "$(<") && !WordIn(p.text, "$(tr) $(sed)") {
			a.effect(c, Effect{Kind: EffectUnknown, Domain: DomainCode, Op: DynamicCode, Target: p.text, Certainty: CertainDynamic}) // lines of it, whichever they are
			return
		}
		t := c.target("script")
		t.domain = DomainCode
		a.fileEffect(EffectExec, NewWord(p.origin.from), t)
		return
	case "output", "toplevel":
		e.Op = "generated-code"
	default:
		e.Kind, e.Op, e.Target = EffectUnknown, DynamicCode, p.text
	}
	a.effect(c, e)
}

// runScript reads a script's text when it was written before, and else notes that it runs.
func (a *analysis) runScript(c *shCall, file Word, fr *shFrame) shValue {
	if file.Is("-", "/dev/stdin") {
		return a.interpretStdin(c, fr)
	}
	v, written := a.written(file, fr)
	if !written {
		t := c.target("script")
		t.domain = DomainCode
		a.fileEffect(EffectExec, file, t)
		return shUnknown("$("+c.name+")", shOrigin{kind: "output", from: file.Text})
	}
	return a.interpret(c, v, fr, "script")
}

// written is the content of a file that an earlier command wrote.
func (a *analysis) written(file Word, fr *shFrame) (shValue, bool) {
	return fr.st.files.get(a.fileKey(file, fr))
}

// wrapped reads what a wrapper starts.
func (a *analysis) wrapped(c *shCall, argv []Word, fr *shFrame) shValue {
	if len(argv) == 0 {
		return nil
	}
	if text := argv[0].Text; WordIn(c.name, "npx bunx pnpx uvx npm yarn pnpm bun") && !argv[0].Dynamic {
		if i := strings.LastIndexByte(text, '@'); i > 0 && !strings.ContainsAny(text[i:], "/:") { // rimraf@5
			argv = append([]Word{NewWord(text[:i])}, argv[1:]...)
		}
	}
	in := fr.within(c.name)
	in.process = true
	inner := &shCall{argv: argv, env: c.env, fr: in, offset: c.offset}
	return a.run(inner)
}

// runProgram reads a program by its reader and the table of losses, and asks the lexicon about one that has neither.
func (a *analysis) runProgram(c *shCall, program string) shValue {
	if strings.Contains(program, "/") {
		a.runPath(c, program)
	}
	if args := c.args(); len(args) == 1 && args[0].Is("-h", "--help", "--version") && !(c.name == "shutdown" && args[0].Is("-h")) {
		return printsText(a, c)
	}
	if c.fr.out != nil && losses.CacheQuestions()[strings.Join(WordTexts(c.args()), " ")] {
		return append(a.home(c.fr), shPart{text: "/.cache/" + c.name + "\n"})
	}
	for _, e := range c.env {
		a.launched(c, e.Name, e.Value)
		if c.name == "git" && WordIn(e.Name, "HUSKY HUSKY_SKIP_HOOKS LEFTHOOK SKIP PRE_COMMIT_ALLOW_NO_CONFIG SKIP_HOOKS") {
			a.does(c, EffectWrite, DomainGit, "hooks-off", e.Name)
		}
		if tokens := losses.Tokens(e.Name); strings.HasPrefix(e.Name, "HOOKC_") && WordIn(tokens[len(tokens)-1], "disable disabled bypass off skip policy config hooks") || toolOf(c.name).agent && (e.Name == "HOME" || strings.Contains(e.Name, "HOOK") || strings.HasSuffix(e.Name, "_CONFIG_DIR") || strings.HasSuffix(e.Name, "_HOME")) {
			a.does(c, EffectPrivilege, DomainSystem, "agent-unguarded", e.Name)
		}
	}
	for _, w := range c.args() {
		if host := losses.Unread(w.Text); host != "" && losses.Installers()[c.name] && !(WordIn(c.name, "kubectl oc") && HasFlag(c.args(), "run", "exec", "debug")) {
			a.does(c, EffectExec, DomainCode, "remote-code", host)
		}
	}
	a.codeTool(c, c.name, c.args())
	a.ownProgram(c)
	if programOf(c.name) == nil && !losses.TextPrograms()[c.name] && !WordIn(c.name, "gh glab hub") {
		a.sqlWords(c)
	}
	v, read := a.readProgram(c)
	switch {
	case rulesOf(c.name) != nil:
		if w := a.applyRules(c, c.name, c.args()); !read || w.origin().kind == credential {
			v = w
		}
	case !read && !losses.TextPrograms()[c.name]:
		if w := a.lexicon(c, DomainOutside, c.args()); w != nil {
			v = w
		}
	}
	if !losses.TextPrograms()[c.name] || losses.Senders()[c.name] {
		a.leak(c, read)
	}
	return v
}

// readProgram reads a program that has a reader, and looks for a command line in the arguments of one that is in no table.
func (a *analysis) readProgram(c *shCall) (v shValue, read bool) {
	if f := programOf(c.name); f != nil {
		return f(a, c), true
	}
	if w, ok := shWrapperTable[c.name]; ok {
		return a.wrapper(c, w)
	}
	if f := programOf(Versionless(c.name)); f != nil {
		return f(a, c), true
	}
	if known, _ := c.argv[0].known(); strings.HasSuffix(strings.ToLower(known), ".exe") && rulesOf(c.name) == nil {
		return a.dialectCode(c, "cmd", joinWords(append([]Word{NewWord(c.name)}, c.args()...)), c.fr), true
	}
	if winshell.Cmdlet(c.name) {
		return a.dialectCode(c, "pwsh", joinWords(c.argv), c.fr), true
	}
	if foreignShells()[c.name] {
		a.effect(c, Effect{Kind: EffectUnknown, Domain: DomainCode, Op: ShellNotPosix, Target: c.name, Certainty: CertainDynamic})
		return printsText(a, c), true
	}
	if !losses.Inert()[c.name] && !losses.TextPrograms()[c.name] {
		read = a.tail(c)
		a.unlisted(c)
	}
	return printsText(a, c), read
}

// runPath is a program named by its path: a script that was written before is
// read, any other outside of the directories of programs is noted.
func (a *analysis) runPath(c *shCall, program string) {
	if strings.HasPrefix(program, "/etc/init.d/") && HasFlag(c.args(), "stop") {
		a.resource(c, EffectDelete, DomainSystem, "service-stop", []Word{NewWord(c.name)})
	}
	if v, ok := a.written(c.argv[0], c.fr); ok {
		if o := v.origin(); o.kind == "program" {
			a.wrapped(c, append([]Word{NewWord(o.from)}, c.args()...), c.fr)
			return
		}
		in := a.childShell(c)
		a.setPositionals(c.args(), in.st)
		switch lower := strings.ToLower(program); {
		case strings.HasSuffix(lower, ".ps1"):
			in.dialect = "pwsh"
		case strings.HasSuffix(lower, ".bat"), strings.HasSuffix(lower, ".cmd"):
			in.dialect = "cmd"
		}
		a.interpret(c, v, in, "script")
		return
	}
	if strings.Contains(program, "://") || strings.HasPrefix(program, "//") && strings.Count(program, "/") > 3 && !strings.Contains(program, ":") || strings.HasPrefix(program, "github:") || strings.HasPrefix(program, "gist:") {
		a.does(c, EffectExec, DomainCode, "remote-code", program)
		return
	}
	if programOf(c.name) == nil && !slices.ContainsFunc(binDirs, func(dir string) bool { return strings.HasPrefix(program, dir) }) {
		t := c.target("script")
		t.domain = DomainCode
		a.fileEffect(EffectExec, c.argv[0], t)
	}
}

var binDirs = []string{"/bin/", "/usr/", "/sbin/", "/opt/", "/snap/bin/", "/nix/"}

// Versionless is python3.12 as python.
//
//go:noinline
func Versionless(name string) string { return strings.TrimRight(name, "0123456789.-") }

// commandLine reads a word that is a command line with a program that may destroy.
func (a *analysis) commandLine(c *shCall, w Word) bool {
	first, _, more := spell.Cut(w.prefix(), " ")
	if !more || !losses.Dangerous()[first] {
		return false
	}
	a.interpret(c, w.value(), a.childShell(c), c.name)
	return true
}

// tail looks into the arguments of a program that is not known for a command line it may run: tool [options] rm -rf /.
func (a *analysis) tail(c *shCall) bool {
	args := c.args()
	for i, w := range args[:min(len(args), 8)] {
		if i > 0 && args[i-1].Is("--", "run", "exec") && (programOf(w.Text) != nil || rulesOf(w.Text) != nil) && !losses.Dangerous()[w.Text] {
			a.wrapped(c, args[i:], c.fr)
			return true
		}
		_, code, ok := w.cut("=")
		if !ok || w.Text[0] != '-' {
			code = w
		}
		if (i == 0 || !losses.Says()[args[i-1].Text]) && a.commandLine(c, code) {
			continue
		}
		if name := w.Text[strings.LastIndexByte(w.Text, '#')+1:]; !w.Dynamic && losses.Dangerous()[losses.Program(name)] && len(args)-i > 1 {
			rest := args[i+1:]
			if name != w.Text && rest[0].Is("--") {
				rest = rest[1:]
			}
			a.wrapped(c, append([]Word{NewWord(name)}, rest...), c.fr)
			// After a word of its own this may as well be a command of the program.
			return strings.HasPrefix(args[0].Text, "-")
		}
	}
	return false
}
