package shell

import (
	"maps"
	"slices"
	"strings"

	"github.com/hookc/hookc/builtins/calls"
	"github.com/hookc/hookc/builtins/losses"
	"github.com/hookc/hookc/builtins/tokens"
	"github.com/hookc/hookc/internal/spell"
)

// langSpec is how a program takes code of a language.
type langSpec struct {
	lang tokens.Lang
	// code are the options whose value is code, short and long those that take a value.
	code        []string
	short, long string
}

func langOf(name string) langSpec {
	switch name {
	case "node", "nodejs", "bun", "tsx", "ts-node":
		return langSpec{lang: tokens.JS, code: []string{"-e", "--eval", "-p", "--print", "-pe"}, short: "eprCi", long: "--eval --print --require --import --loader --conditions --env-file -e -p"}
	case "perl":
		return langSpec{lang: tokens.Perl, code: []string{"-e", "-E"}, short: "eEIMmCFx"}
	case "ruby", "jruby", "irb":
		return langSpec{lang: tokens.Ruby, code: []string{"-e"}, short: "eIrEKF"}
	case "php":
		return langSpec{lang: tokens.PHP, code: []string{"-r", "-B", "-R", "-E", "--run"}, short: "rBREdcfzS", long: "--run --file --define"}
	case "lua", "luajit":
		return langSpec{lang: tokens.Lua, code: []string{"-e"}, short: "el"}
	}
	return langSpec{lang: tokens.Python, code: []string{"-c"}, short: "cmWXQ"}
}

// interpreter reads python, node and their kin: code in an option, in a script
// that was written before, or on standard input.
func (a *analysis) interpreter(c *shCall) shValue {
	name := c.name
	if programOf(name) == nil {
		name = Versionless(name)
	}
	if strings.HasPrefix(name, "python") || strings.HasPrefix(name, "pypy") {
		name = "python"
	}
	args := c.args()
	if name == "deno" || name == "bun" {
		return a.denoCode(c, args)
	}
	spec := langOf(name)
	switch {
	case name == "php" && HasFlag(args, "-S"):
		web := options(args, "St", "", 0)
		dir, _ := web.value("-t")
		a.serves(c, dir)
	case name == "ruby" && HasFlag(args, "httpd", "-ehttpd"):
		a.serves(c, args[len(args)-1])
	}
	o := options(args, spec.short, spec.long, optStop)
	if o.exact("--version", "--help", "-V", "--check") {
		return printsPlain(a, c)
	}
	if code := o.values(spec.code...); len(code) > 0 {
		switch inPlace := o.exact("-i"); {
		case o.exact("-n", "-p") && !inPlace:
			a.input(c, o.operands)
		case inPlace && (name == "perl" || name == "ruby"):
			a.takenOff(c, code)
			a.files(EffectWrite, c.target("edit-in-place"), o.operands...)
		}
		if spec.lang == tokens.JS && o.exact("-p", "--print", "-pe") && !code[0].Dynamic {
			code = []Word{NewWord("console.log(" + code[0].Text + ")")}
		}
		return a.langs(c, spec.lang, code)
	}
	if m, ok := o.value("-m"); ok && spec.lang == tokens.Python {
		return a.pythonModule(c, m, o.operands)
	}
	if len(o.operands) == 0 || o.operands[0].Is("-", "/dev/stdin") {
		return a.langs(c, spec.lang, []Word{c.fr.stdin.value.word()})
	}
	return a.langScript(c, spec.lang, o.operands)
}

// denoCode is deno eval CODE, deno run FILE and bun -e CODE.
func (a *analysis) denoCode(c *shCall, args []Word) shValue {
	o := options(args, "ep", "--eval --print -e", optStop)
	code := o.values("-e", "--eval", "-p", "--print")
	inner := options(o.rest(1), "c", "--config --ext", optStop)
	switch rest := inner.operands; {
	case o.first("eval"):
		code = append(code, rest...)
	case len(rest) > 0 && strings.Contains(rest[0].Text, "://"):
		a.effect(c, Effect{Kind: EffectExec, Domain: DomainCode, Op: "remote-code", Target: rest[0].Text})
	case len(rest) > 0 && o.first("run"):
		return a.langScript(c, tokens.JS, rest)
	case len(o.operands) == 0 || len(rest) == 0 && o.first("-"):
		code = append(code, c.fr.stdin.value.word())
	}
	return a.langs(c, tokens.JS, code)
}

// langs adds what several texts of a language do.
func (a *analysis) langs(c *shCall, lang tokens.Lang, code []Word) shValue {
	for _, w := range code {
		a.lang(c, lang, w.value())
	}
	return printsText(a, c)
}

// langScript reads a script that was written before, and otherwise notes that
// it runs. Scripts of frameworks have rules of their own.
func (a *analysis) langScript(c *shCall, lang tokens.Lang, operands []Word) shValue {
	if v, ok := a.written(operands[0], c.fr); ok {
		a.lang(c, lang, v)
		return printsText(a, c)
	}
	t := c.target("script")
	t.domain = DomainCode
	a.fileEffect(EffectExec, operands[0], t)
	tool := losses.Program(operands[0].Text)
	a.scriptLoss(c, operands)
	a.codeTool(c, tool, operands[1:])
	if rulesOf(tool) != nil {
		return a.applyRules(c, tool, operands[1:])
	}
	a.lexicon(c, DomainOutside, operands[1:])
	return printsText(a, c)
}

// pythonModule is python -m: some modules are programs that are known.
func (a *analysis) pythonModule(c *shCall, m Word, rest []Word) shValue {
	args := c.args()
	if i := slices.IndexFunc(args, func(w Word) bool { return strings.HasPrefix(w.Text, "-m") }); i >= 0 && args[i].Is("-m") && i+2 <= len(args) {
		rest = args[i+2:]
	}
	switch {
	case m.Is("http.server", "SimpleHTTPServer", "pyftpdlib", "uploadserver", "twisted"):
		a.server(&shCall{argv: append([]Word{m}, rest...), fr: c.fr, name: m.Text, index: c.index, offset: c.offset})
	case m.Is("zipfile", "tarfile") && len(rest) > 2 && rest[0].Is("-e", "--extract"):
		a.fileEffect(EffectWrite, rest[2], c.target("extract"))
	case m.Is("json.tool", "base64"):
		return a.input(c, options(rest, "", "--indent", 0).operands)
	case m.Is("timeit"):
		o := options(rest, "nrus", "--number --repeat --unit --setup", optStop)
		return a.langs(c, tokens.Python, append(o.values("-s", "--setup"), o.operands...))
	case m.Is("cProfile", "profile", "trace", "pdb", "coverage", "runpy") || losses.TextPrograms()[m.Text]:
	case programOf(m.Text) != nil || rulesOf(m.Text) != nil:
		return a.wrapped(c, append([]Word{m}, rest...), c.fr)
	default:
		a.lexicon(c, DomainOutside, rest)
	}
	return printsText(a, c)
}

// lang adds what code of a language does.
func (a *analysis) lang(c *shCall, lang tokens.Lang, v shValue) {
	o := v.origin()
	if o.kind != "" && o.kind != credential {
		for _, p := range v {
			if !p.known() {
				a.codeEffect(c, p)
				break
			}
		}
	}
	text := v.text()
	if strings.TrimSpace(text) == "" || a.code >= maxShellCode || !a.spend(c.fr) {
		return
	}
	if len(v) == 1 && !v[0].known() {
		if o.kind == "" {
			a.codeEffect(c, v[0])
		}
		return
	}
	if len(text) > MaxBytes {
		a.unknown(c.fr, shellTooLong, c.offset)
		return
	}
	if losses.HandsOverShell(text) {
		a.effect(c, Effect{Kind: EffectConnect, Domain: DomainNetwork, Op: "reverse-shell"})
	}
	a.codeRuns(c, text)
	a.bytes += len(text)
	a.code++
	defer func() { a.code-- }()
	if lang == tokens.Perl && strings.Contains(text, "</") {
		text = losses.PerlGlob().ReplaceAllString(text, `glob("$1")`)
	}
	if lang == tokens.PHP {
		text = strings.ReplaceAll(text, " @", " ")
	}
	program := readLang(lang, text)
	if program.cut {
		a.unknown(c.fr, shellTooMany, c.offset)
	}
	if len(program.listed) == 0 {
		program.listed = program.handed
	}
	a.requests(c, text)
	memory := strings.Contains(text, ":memory:")
	for _, call := range program.found {
		if a.full || memory && WordIn(lastName(call.name), losses.CallsSQL) {
			continue // a database that is gone with its program
		}
		if act := calls.Act(lang, call.name); len(program.listed) > 0 && (act == calls.Delete || act == calls.Tree || act == calls.SelfDelete || act == calls.SelfTree) {
			call = call.ofAll("os.remove", program.listed)
		} else if len(program.listed) > 0 && (act == calls.SelfWrite && call.recv.text == "" || act == calls.Mode) {
			call = call.ofAll("fs.writeFileSync", program.listed)
		} else if len(program.listed) > 0 && (act == calls.Read || act == calls.Open || act == calls.SelfRead) {
			call = call.ofAll("fs.readFileSync", program.listed)
		}
		a.langCall(c, lang, call)
		for _, v := range slices.AppendSeq(flatten(call.args), maps.Values(call.named)) {
			if v.origin.kind == "environment" && WordIn(lastName(call.name), "send sendall sendto write end post put request Request urlopen mail sendMail publish emit syswrite") {
				a.effect(c, Effect{Kind: EffectConnect, Domain: DomainNetwork, Op: "upload", Target: call.name, Secret: "environment"})
			}
		}
	}
}

// ofAll is a call of what is not known as one of all whose names were read.
func (c langCall) ofAll(does string, listed []langValue) langCall {
	if !c.recv.known && strings.HasPrefix(c.name, ".") {
		c.name, c.args = does, listed // whatever the language calls it
	}
	for i, v := range c.args {
		if !v.known && v.text == "" {
			c.args = spell.Concat(c.args[:i], listed, c.args[i+1:])
			break
		}
	}
	return c
}

// langCall adds what one call does.
func (a *analysis) langCall(c *shCall, lang tokens.Lang, call langCall) {
	switch act := calls.Act(lang, call.name); act {
	case calls.Shell:
		a.langCommand(c, call)
	case calls.Argv:
		a.langArgv(c, call)
	case calls.Delete, calls.Tree:
		for _, v := range flatten(call.args) {
			if strings.HasPrefix(v.text, "-") {
				continue // rm('-rf', …)
			}
			a.langFile(c, EffectDelete, "delete", v, act == calls.Tree)
			if act == calls.Tree && lang != tokens.Perl && lang != tokens.Ruby {
				break
			}
		}
	case calls.Write, calls.Mode:
		v, mode := call.arg(0), call.arg(len(call.args)-1)
		if strings.HasPrefix(call.name, "FileUtils.ch") || strings.HasPrefix(call.name, "File.ch") || call.name == "chmod" && lang != tokens.PHP {
			v, mode = call.arg(1), call.arg(0)
		}
		if act == calls.Mode && strings.Contains(call.name, "chmod") && v.text != "" {
			a.modeEffect(c, strings.TrimLeft(mode.text, "0o"), a.langPath(v.value().word().Text, c.fr), strings.HasSuffix(call.name, "_R"))
		}
		a.langFile(c, EffectWrite, "write", v, false)
	case calls.Read:
		if text := call.arg(0).text; strings.HasPrefix(text, "http") && strings.Contains(text, "://") {
			call.name = "fetch"
			a.langCall(c, tokens.JS, call)
			return
		}
		a.langFile(c, EffectRead, "read", call.arg(0), false)
	case calls.Open:
		a.langOpened(c, lang, call)
	case calls.Move:
		a.langFile(c, EffectDelete, "move", call.arg(0), true)
		a.langFile(c, EffectWrite, "move", call.arg(1), false)
	case calls.Copy, calls.Link:
		if len(call.args) < 2 {
			return // a method of something else
		}
		a.langFile(c, EffectRead, "copy", call.arg(0), false)
		a.langFile(c, EffectWrite, map[calls.Action]string{calls.Copy: "copy", calls.Link: "link"}[act], call.arg(1), false)
	case calls.SelfDelete, calls.SelfTree:
		a.langFile(c, EffectDelete, "delete", call.recv, act == calls.SelfTree)
	case calls.SelfWrite:
		a.langFile(c, EffectWrite, "write", call.recv, false)
	case calls.SelfRead:
		a.langFile(c, EffectRead, "read", call.recv, false)
	case calls.Send:
		e := Effect{Kind: EffectConnect, Domain: DomainNetwork, Op: "request", Target: losses.AddressHost(call.arg(0).text)}
		for _, v := range slices.AppendSeq(flatten(call.args), maps.Values(call.named)) {
			if what := a.secretOf(v.value()); what != "" {
				e.Secret = max(e.Secret, what)
			}
		}
		if host := losses.AddressHost(call.arg(0).text); strings.HasSuffix(call.name, ".delete") && host != "" && !losses.IsLocal(host) {
			a.effect(c, Effect{Kind: EffectDelete, Domain: DomainOutside, Op: "http-delete", Target: call.arg(0).text})
		}
		a.effect(c, e)
	case calls.Eval:
		a.lang(c, lang, call.arg(0).value())
	default:
		a.langLoss(c, call)
	}
}

// langLoss adds what a call does to a database or a service, going by its name,
// and the secrets it prints.
func (a *analysis) langLoss(c *shCall, call langCall) {
	last := strings.Trim(lastName(call.name), "$!")
	switch {
	case last == "chdir" && len(call.args) > 0:
		c.fr = c.fr.subshell()
		a.moveTo(call.arg(0).value().word(), c.fr)
	case slices.ContainsFunc(losses.Tokens(last), func(t string) bool { return WordIn(t, losses.CallsSQL) }) || WordIn(last, losses.CallsSQL):
		for _, text := range call.args {
			if a.sql(c, shLiteral(text.text)); text.known {
				a.commandLine(c, NewWord(text.text)) // Connection("web").run("rm -rf /srv")
			}
		}
	case strings.HasSuffix(call.name, "git."+last):
		a.langWords(c, append([]langValue{{text: "git", known: true}, {text: last, known: true}}, call.args...))
	case WordIn(call.name, losses.CallsPrint):
		for _, v := range call.args {
			a.shown(c, v.value())
		}
	case (call.name == "os.kill" || call.name == "process.kill") && call.arg(0).text == "1":
		a.effect(c, Effect{Kind: EffectExec, Domain: DomainSystem, Op: "kill-all", Target: call.name})
	case WordIn(strings.ToLower(last), "updatemany update_many") && call.everything(), last == "update" && strings.HasPrefix(call.name, "db.") && call.everything() && len(call.args) > 0,
		call.recv.rows && losses.Destroys()[last] && call.everything(), WordIn(last, "flushall flushdb shutdownServer obliterate"), last == "drop" && len(call.args)+len(call.named) == 0, last == "remove" && len(call.args) == 1 && call.everything(), last == "truncate" && len(call.args) == 0 && call.recv.text == "" && !strings.HasPrefix(call.name, "."):
		a.effect(c, Effect{Kind: EffectDelete, Domain: DomainDatabase, Op: "delete-rows", Target: call.name})
	default:
		a.langLexicon(c, call, losses.Tokens(last))
	}
}

// langLexicon asks the lexicon about the words in a call's name: drop_table,
// DeleteBucketCommand, octokit.repos.delete.
func (a *analysis) langLexicon(c *shCall, call langCall, tokens []string) {
	parts := strings.Split(call.name, ".")
	own := WordIn(parts[0], "self this")
	command := len(tokens) > 2 && tokens[len(tokens)-1] == "command"
	if command {
		tokens = tokens[:len(tokens)-1]
	}
	for len(tokens) > 1 && !losses.Destroys()[tokens[0]] { // begin_delete, db_drop_table, queue_purge
		if last := tokens[len(tokens)-1]; losses.Destroys()[last] {
			tokens = append([]string{last}, tokens[:len(tokens)-1]...)
			if WordIn(tokens[1], "begin recursive") {
				tokens = tokens[:1]
			}
			break
		}
		tokens = tokens[1:]
	}
	if len(tokens) == 1 && len(parts) > 1 && (len(parts) > 2 || WordIn(parts[0], "Schema DB Database")) && !strings.HasPrefix(call.arg(0).text, "/") {
		tokens = append(tokens, losses.Tokens(parts[len(parts)-2])...)
	}
	if len(tokens) < 2 || !losses.Destroys()[tokens[0]] && tokens[0] != "del" {
		return
	}
	e := Effect{Kind: EffectDelete, Domain: DomainOutside, Op: strings.Join(tokens, "-"), Target: call.name}
	switch object := tokens[len(tokens)-1]; {
	case WordIn(object, "database db table tables collection schema keyspace all query objects") && (object != "all" || len(tokens) == 2), object == "many" && call.everything():
		e.Domain = DomainDatabase
	case own || len(parts) < 2 && !command || WordIn(object, "node key data") || !losses.Elsewhere(object):
		return
	}
	a.effect(c, e)
}

// value is a text of a program as a value of the shell.
func (v langValue) value() shValue {
	if v.known {
		return shLiteral(v.text)
	}
	if strings.HasPrefix(v.text, "/") || strings.HasPrefix(v.text, "~") || strings.HasPrefix(v.text, "./") {
		// It begins as is known: everything that does.
		return shValue{{text: v.text, kind: shGlob}, {text: "*", kind: shGlob}}
	}
	return shUnknown("$("+strings.TrimSpace(v.text)+")", v.origin)
}

//go:noinline
func flatten(args []langValue) []langValue {
	var out []langValue
	for _, v := range args {
		if v.isList {
			out = append(out, v.list...)
			continue
		}
		out = append(out, v)
	}
	return out
}

// langFile adds an effect on a file a program names.
func (a *analysis) langFile(c *shCall, kind EffectKind, op string, v langValue, recursive bool) {
	if v.text == "" && v.known {
		return
	}
	t := c.target(op)
	t.recursive = recursive
	w := v.value().word()
	if v.known || w.Pattern {
		w = a.langPath(w.Text, c.fr)
	}
	a.fileEffect(kind, w, t)
}

// langPath is a path as a program writes it; a ~ is what expanduser makes it.
func (a *analysis) langPath(text string, fr *shFrame) Word {
	if text == "~" || strings.HasPrefix(text, "~/") {
		return append(slices.Clip(a.home(fr)), shPart{text: text[1:]}).word()
	}
	if strings.ContainsAny(text, "*?") {
		return shValue{{text: text, kind: shGlob}}.word()
	}
	return NewWord(text)
}

// langOpened is open(path, mode).
func (a *analysis) langOpened(c *shCall, lang tokens.Lang, call langCall) {
	mode, file := call.arg(1).text, call.arg(0)
	if m, ok := call.named["mode"]; ok {
		mode = m.text
	}
	if lang == tokens.Perl && len(call.args) > 2 {
		file = call.arg(2)
	}
	if lang == tokens.Perl && len(call.args) == 2 { // open F, ">file"
		file.text, file.known = strings.TrimLeft(mode, "+<> "), call.arg(1).known
	}
	kind, op := EffectRead, "read"
	if strings.ContainsAny(mode, "wax+>") {
		kind, op = EffectWrite, "write"
	}
	if strings.Contains(mode, "|") || strings.HasPrefix(file.text, "|") || lang == tokens.Perl && strings.HasSuffix(file.text, "|") {
		a.interpret(c, shLiteral(strings.Trim(file.text, "| ")), a.childShell(c), c.name)
		return
	}
	a.langFile(c, kind, op, file, false)
}

// langCommand runs a text as code of the shell, and a list as a command.
func (a *analysis) langCommand(c *shCall, call langCall) {
	first := call.arg(0)
	if first.isList {
		a.langWords(c, first.list)
		return
	}
	if len(call.args) > 1 && call.args[1].known && (call.name == "system" || call.name == "exec" || strings.HasPrefix(call.name, "Kernel.") || call.name == "spawn") {
		a.langWords(c, call.args)
		return
	}
	if v := first.value(); len(call.args) > 0 {
		a.interpret(c, v, a.childShell(c), c.name)
	}
}

// langArgv runs a program with a list of arguments.
func (a *analysis) langArgv(c *shCall, call langCall) {
	words := flatten(call.args)
	if shell, ok := call.named["shell"]; ok && shell.text != "false" && len(call.args) > 0 && call.args[0].known {
		a.interpret(c, shLiteral(call.args[0].text), a.childShell(c), c.name)
		return
	}
	if named, ok := call.named["args"]; ok {
		words = append(words, flatten([]langValue{named})...)
	}
	if strings.HasPrefix(call.name, "os.exec") || strings.HasPrefix(call.name, "os.spawn") {
		// The program, and then its own name for itself.
		if i := slices.IndexFunc(words, func(v langValue) bool { return v.known }); i >= 0 && len(words) > i+1 {
			words = append(words[i:i+1:i+1], words[i+2:]...)
		}
	}
	a.langWords(c, words)
}

func (a *analysis) langWords(c *shCall, list []langValue) {
	var argv []Word
	for _, v := range list[:min(len(list), maxFields)] {
		w := v.value().word()
		if strings.HasPrefix(w.Text, "~") {
			w = a.langPath(w.Text, c.fr)
		}
		argv = append(argv, w)
	}
	a.wrapped(c, argv, c.fr)
}

// awk runs the texts of system() and of pipes.
func (a *analysis) awk(c *shCall) shValue {
	o := options(c.args(), "fFvWie", "--file --field-separator --assign --include --source", optStop)
	operands := o.operands
	programs := o.values("-e", "--source")
	if len(programs) == 0 && !o.exact("-f", "--file") && len(operands) > 0 {
		programs, operands = operands[:1], operands[1:]
	}
	for _, w := range programs {
		a.awkProgram(c, w)
	}
	if i, ok := o.value("-i", "--include"); ok && i.Is("inplace") {
		a.files(EffectWrite, c.target("edit-in-place"), operands...)
	}
	v := a.input(c, operands)
	if text, ok := v.known(); ok && len(programs) == 1 && strings.TrimSpace(programs[0].Text) == "{print}" {
		return shLiteral(text)
	}
	if o := v.origin(); o.kind == "process" && strings.ContainsAny(strings.Join(WordTexts(programs), ""), "/~=<>") {
		return printsText(a, c) // some of them
	} else if o.kind == "remote" || o.kind == "decoded" || o.kind == "process" {
		return shUnknown("$(awk)", o)
	}
	return shUnknown("$(awk)", shOrigin{kind: "output", from: "awk"})
}

func (a *analysis) awkProgram(c *shCall, w Word) {
	if len(w.Text) > maxShellValue || !a.spend(c.fr) {
		return
	}
	a.printsVariable(c, w.Text)
	a.codeRuns(c, w.Text)
	program := readLang(tokens.Awk, w.Text)
	for _, call := range program.found {
		if call.name == "system" && len(call.args) > 0 {
			a.interpret(c, call.args[0].value(), a.childShell(c), c.name)
		}
	}
	for i, t := range program.tokens {
		sign := func(at int) string { // a sign or a name, no text
			if at = min(at, len(program.tokens)-1); at < 0 || program.tokens[at].Kind == tokens.String {
				return ""
			}
			return program.tokens[at].Text
		}
		switch {
		case t.Kind != tokens.String:
		case sign(i+1) == "|" && sign(i+2) == "getline", sign(i-1) == "|":
			a.interpret(c, shLiteral(t.Text), a.childShell(c), c.name)
		case sign(i-1) == "(" && sign(i-2) == "system" && sign(i+1) != ")":
			a.interpret(c, shLiteral(t.Text+`"$field"`), a.childShell(c), c.name)
		case sign(i-1) == ">" && strings.ContainsAny(t.Text, "/."):
			a.fileEffect(EffectWrite, NewWord(t.Text), c.target("write"))
		}
	}
}
