package shell

import (
	"maps"
	"slices"
	"strings"

	"github.com/hookc/hookc/builtins/calls"
	"github.com/hookc/hookc/builtins/losses"
	"github.com/hookc/hookc/builtins/tokens"
	"github.com/hookc/hookc/internal/lists"
)

// shellCode means code of the shell among languages, anyCode for that of a
// language that has no reader here: of its strings it is told what the names around
// them do with such.
const (
	shellCode tokens.Lang = 100 + iota
	anyCode
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
	if i := slices.IndexFunc(args, func(w Word) bool { return w.Is("-pe") }); i >= 0 && spec.lang == tokens.JS {
		args = lists.Concat(args[:i], []Word{NewWord("--print")}, args[i+1:])
	}
	o := options(args, spec.short, spec.long, optStop)
	if o.exact("--version", "--help", "-V", "--check") {
		return printsPlain(a, c)
	}
	if code := o.values(spec.code...); len(code) > 0 {
		if lib, ok := o.value("-r"); ok && lib.Is("un") && name == "ruby" { // -run -e rm -- file
			return a.wrapped(c, append([]Word{code[0]}, o.operands...), c.fr)
		}
		switch inPlace := o.exact("-i"); {
		case !inPlace && (o.exact("-n", "-p") || name == "perl" && strings.Contains(code[0].Text, "<>") || name == "ruby" && strings.Contains(code[0].Text, "ARGF")):
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
	inner := options(o.rest(1), "ce", "--config --ext --eval", optStop)
	code = append(code, inner.values("-e", "--eval")...)
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
	case m.Is("venv", "virtualenv"):
		in := *c
		in.name = "virtualenv"
		a.ownCommand(&in, rest)
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
	if lang == tokens.Perl && strings.Contains(text, "<") {
		text = losses.PerlGlob().ReplaceAllString(text, `glob("$1")`)
	}
	if lang == tokens.PHP {
		text = strings.ReplaceAll(text, " @", " ")
	}
	program := calls.Parse(lang, text)
	if program.Cut {
		a.unknown(c.fr, shellTooMany, c.offset)
	}
	if len(program.Listed) == 0 {
		program.Listed = program.Handed
	}
	a.requests(c, text)
	memory := strings.Contains(text, ":memory:")
	for _, call := range program.Found {
		if a.full || memory && WordIn(calls.Last(call.Name), losses.CallsSQL) {
			continue // a database that is gone with its program
		}
		if act := calls.Act(lang, call.Name); len(program.Listed) > 0 && (act == calls.Delete || act == calls.Tree || act == calls.SelfDelete || act == calls.SelfTree) {
			call = call.OfAll("os.remove", program.Listed)
		} else if len(program.Listed) > 0 && (act == calls.SelfWrite && call.Recv.Text == "" || act == calls.Mode) {
			call = call.OfAll("fs.writeFileSync", program.Listed)
		} else if len(program.Listed) > 0 && (act == calls.Read || act == calls.Open || act == calls.SelfRead) {
			call = call.OfAll("fs.readFileSync", program.Listed)
		}
		a.langCall(c, lang, call)
		for _, v := range slices.AppendSeq(calls.Flatten(call.Args), maps.Values(call.Named)) {
			if v.Origin.Kind == "environment" && WordIn(calls.Last(call.Name), "send sendall sendto write end post put request Request urlopen mail sendMail publish emit syswrite") {
				a.effect(c, Effect{Kind: EffectConnect, Domain: DomainNetwork, Op: "upload", Target: call.Name, Secret: "environment"})
			}
		}
	}
}

// langCall adds what one call does.
func (a *analysis) langCall(c *shCall, lang tokens.Lang, call calls.Call) {
	if call.Name == "require" && strings.HasSuffix(call.Arg(0).Text, ".json") {
		call.Name = "fs.readFileSync"
	} else if len(call.Args) == 0 && calls.Last(call.Name) == "dotenv_values" {
		call.Args = []calls.Value{{Text: ".env", Known: true}}
	}
	switch act := calls.Act(lang, call.Name); act {
	case calls.Shell:
		a.langCommand(c, call)
	case calls.Argv:
		a.langArgv(c, call)
	case calls.Delete, calls.Tree:
		for _, v := range calls.Flatten(call.Args) {
			if strings.HasPrefix(v.Text, "-") {
				continue // rm('-rf', …)
			}
			a.langFile(c, EffectDelete, "delete", v, act == calls.Tree)
			if act == calls.Tree && lang != tokens.Perl && lang != tokens.Ruby {
				break
			}
		}
	case calls.Write, calls.Mode:
		v, mode := call.Arg(0), call.Arg(len(call.Args)-1)
		if strings.HasPrefix(call.Name, "FileUtils.ch") || strings.HasPrefix(call.Name, "File.ch") || call.Name == "chmod" && lang != tokens.PHP {
			v, mode = call.Arg(1), call.Arg(0)
		}
		if act == calls.Mode && strings.Contains(call.Name, "chmod") && v.Text != "" {
			a.modeEffect(c, strings.TrimLeft(mode.Text, "0o"), a.langPath(langText(v).word().Text, c.fr), strings.HasSuffix(call.Name, "_R"))
		}
		a.langFile(c, EffectWrite, "write", v, false)
	case calls.Read:
		if text := call.Arg(0).Text; strings.HasPrefix(text, "http") && strings.Contains(text, "://") {
			call.Name = "fetch"
			a.langCall(c, tokens.JS, call)
			return
		}
		a.langFile(c, EffectRead, "read", call.Arg(0), false)
	case calls.Open:
		a.langOpened(c, lang, call)
	case calls.Move:
		a.langFile(c, EffectDelete, "move", call.Arg(0), true)
		a.langFile(c, EffectWrite, "move", call.Arg(1), false)
	case calls.Copy, calls.Link:
		if len(call.Args) < 2 {
			return // a method of something else
		}
		a.langFetched(c, call.Args)
		a.langFile(c, EffectRead, "copy", call.Arg(0), false)
		a.langFile(c, EffectWrite, map[calls.Action]string{calls.Copy: "copy", calls.Link: "link"}[act], call.Arg(1), false)
	case calls.SelfDelete, calls.SelfTree:
		a.langFile(c, EffectDelete, "delete", call.Recv, act == calls.SelfTree)
	case calls.SelfWrite:
		a.langFile(c, EffectWrite, "write", call.Recv, false)
	case calls.SelfRead:
		a.langFile(c, EffectRead, "read", call.Recv, false)
	case calls.Send:
		if calls.Last(call.Name) == "urlretrieve" {
			a.langFetched(c, call.Args)
		}
		e := Effect{Kind: EffectConnect, Domain: DomainNetwork, Op: "request", Target: losses.AddressHost(call.Arg(0).Text)}
		for _, v := range slices.AppendSeq(calls.Flatten(call.Args), maps.Values(call.Named)) {
			if what := a.secretOf(langText(v)); what != "" {
				e.Secret = max(e.Secret, what)
			}
		}
		if host := losses.AddressHost(call.Arg(0).Text); strings.HasSuffix(call.Name, ".delete") && host != "" && !losses.IsLocal(host) {
			a.effect(c, Effect{Kind: EffectDelete, Domain: DomainOutside, Op: "http-delete", Target: call.Arg(0).Text})
		}
		a.effect(c, e)
	case calls.Eval:
		a.lang(c, lang, langText(call.Arg(0)))
	default:
		a.langLoss(c, call)
	}
}

// langLoss adds what a call does to a database or a service, going by its name,
// and the secrets it prints.
func (a *analysis) langLoss(c *shCall, call calls.Call) {
	last := strings.Trim(calls.Last(call.Name), "$!")
	switch {
	case last == "chdir" && len(call.Args) > 0:
		c.fr = c.fr.subshell()
		a.moveTo(langText(call.Arg(0)).word(), c.fr)
	case slices.ContainsFunc(losses.Tokens(last), func(t string) bool { return WordIn(t, losses.CallsSQL) }) || WordIn(last, losses.CallsSQL):
		for _, text := range call.Args {
			if a.sql(c, shLiteral(text.Text)); text.Known {
				a.commandLine(c, NewWord(text.Text)) // Connection("web").run("rm -rf /srv")
			}
		}
	case strings.HasSuffix(call.Name, "git."+last):
		a.langWords(c, append([]calls.Value{{Text: "git", Known: true}, {Text: last, Known: true}}, call.Args...))
	case WordIn(call.Name, losses.CallsPrint):
		for _, v := range call.Args {
			a.shown(c, langText(v))
		}
	case (call.Name == "os.kill" || call.Name == "process.kill") && call.Arg(0).Text == "1":
		a.effect(c, Effect{Kind: EffectExec, Domain: DomainSystem, Op: "kill-all", Target: call.Name})
	case WordIn(strings.ToLower(last), "updatemany update_many") && call.Everything(), last == "update" && strings.HasPrefix(call.Name, "db.") && call.Everything() && len(call.Args) > 0,
		call.Recv.Rows && losses.Destroys()[last] && call.Everything(), WordIn(last, "flushall flushdb shutdownServer obliterate dropTableIfExists dropAllTables dropAllSchemas"), last == "drop" && len(call.Args)+len(call.Named) == 0, last == "remove" && len(call.Args) == 1 && call.Everything(), last == "truncate" && len(call.Args) == 0 && call.Recv.Text == "" && !strings.HasPrefix(call.Name, "."):
		a.effect(c, Effect{Kind: EffectDelete, Domain: DomainDatabase, Op: "delete-rows", Target: call.Name})
	default:
		a.langLexicon(c, call, losses.Tokens(last))
	}
}

// langLexicon asks the lexicon about the words in a call's name: drop_table,
// DeleteBucketCommand, octokit.repos.delete.
func (a *analysis) langLexicon(c *shCall, call calls.Call, tokens []string) {
	parts := strings.Split(call.Name, ".")
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
	if len(tokens) == 1 && len(parts) > 1 && (len(parts) > 2 || WordIn(parts[0], "Schema DB Database")) && !strings.HasPrefix(call.Arg(0).Text, "/") {
		tokens = append(tokens, losses.Tokens(parts[len(parts)-2])...)
	}
	if len(tokens) < 2 || !losses.Destroys()[tokens[0]] && tokens[0] != "del" {
		return
	}
	e := Effect{Kind: EffectDelete, Domain: DomainOutside, Op: strings.Join(tokens, "-"), Target: call.Name}
	switch object := tokens[len(tokens)-1]; {
	case WordIn(object, "database db table tables collection schema keyspace all query objects") && (object != "all" || len(tokens) == 2), object == "many" && call.Everything():
		e.Domain = DomainDatabase
	case own || len(parts) < 2 && !command || WordIn(object, "node key data") || !losses.Elsewhere(object):
		return
	}
	a.effect(c, e)
}

// langText is a text of a program as a value of the shell.
func langText(v calls.Value) shValue {
	if v.Known {
		return shLiteral(v.Text)
	}
	if strings.HasPrefix(v.Text, "/") || strings.HasPrefix(v.Text, "~") || strings.HasPrefix(v.Text, "./") || strings.HasPrefix(v.Text, "../") {
		// It begins as is known: everything that does.
		return shValue{{text: v.Text, kind: shGlob}, {text: "*", kind: shGlob}}
	}
	return shUnknown("$("+strings.TrimSpace(v.Text)+")", shOrigin{v.Origin.Kind, v.Origin.From})
}

// langFile adds an effect on a file a program names.
func (a *analysis) langFile(c *shCall, kind EffectKind, op string, v calls.Value, recursive bool) {
	if v.Text == "" && v.Known {
		return
	}
	t := c.target(op)
	t.recursive = recursive
	w := langText(v).word()
	if v.Known || w.Pattern {
		w = a.langPath(w.Text, c.fr)
	}
	a.fileEffect(kind, w, t)
}

// langFetched remembers the file into which a call writes what lies at an address.
func (a *analysis) langFetched(c *shCall, args []calls.Value) {
	if len(args) > 1 && args[1].Known && strings.Contains(args[0].Text, "://") {
		a.downloaded(c, []Word{a.langPath(args[1].Text, c.fr)}, []Word{NewWord(args[0].Text)})
	}
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
func (a *analysis) langOpened(c *shCall, lang tokens.Lang, call calls.Call) {
	mode, file := call.Arg(1).Text, call.Arg(0)
	if m, ok := call.Named["mode"]; ok {
		mode = m.Text
	}
	if lang == tokens.Perl && len(call.Args) > 2 {
		file = call.Arg(2)
	}
	if lang == tokens.Perl && len(call.Args) == 2 { // open F, ">file"
		file.Text, file.Known = strings.TrimLeft(mode, "+<> "), call.Arg(1).Known
	}
	kind, op := EffectRead, "read"
	if strings.ContainsAny(mode, "wax+>") {
		kind, op = EffectWrite, "write"
	}
	if strings.Contains(mode, "|") || strings.HasPrefix(file.Text, "|") || lang == tokens.Perl && strings.HasSuffix(file.Text, "|") {
		a.interpret(c, shLiteral(strings.Trim(file.Text, "| ")), a.childShell(c), c.name)
		return
	}
	a.langFile(c, kind, op, file, false)
}

// langCommand runs a text as code of the shell, and a list as a command.
func (a *analysis) langCommand(c *shCall, call calls.Call) {
	first := call.Arg(0)
	if first.IsList {
		a.langWords(c, first.List)
		return
	}
	if len(call.Args) > 1 && call.Args[1].Known && (call.Name == "system" || call.Name == "exec" || strings.HasPrefix(call.Name, "Kernel.") || call.Name == "spawn") {
		a.langWords(c, call.Args)
		return
	}
	if v := langText(first); len(call.Args) > 0 {
		a.interpret(c, v, a.childShell(c), c.name)
	}
}

// langArgv runs a program with a list of arguments.
func (a *analysis) langArgv(c *shCall, call calls.Call) {
	words := calls.Flatten(call.Args)
	if shell, ok := call.Named["shell"]; ok && shell.Text != "false" && len(call.Args) > 0 && call.Args[0].Known {
		a.interpret(c, shLiteral(call.Args[0].Text), a.childShell(c), c.name)
		return
	}
	if named, ok := call.Named["args"]; ok {
		words = append(words, calls.Flatten([]calls.Value{named})...)
	}
	if strings.HasPrefix(call.Name, "os.exec") || strings.HasPrefix(call.Name, "os.spawn") {
		// The program, and then its own name for itself.
		if i := slices.IndexFunc(words, func(v calls.Value) bool { return v.Known }); i >= 0 && len(words) > i+1 {
			words = append(words[i:i+1:i+1], words[i+2:]...)
		}
	}
	a.langWords(c, words)
}

func (a *analysis) langWords(c *shCall, list []calls.Value) {
	var argv []Word
	for _, v := range list[:min(len(list), maxFields)] {
		w := langText(v).word()
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
	if _, ok := v.known(); ok && len(programs) == 1 && strings.TrimSpace(programs[0].Text) == "{print}" {
		return v
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
	program := calls.Parse(tokens.Awk, w.Text)
	for _, call := range program.Found {
		if call.Name == "system" && len(call.Args) > 0 {
			a.interpret(c, langText(call.Args[0]), a.childShell(c), c.name)
		}
	}
	for i, t := range program.Tokens {
		sign := func(at int) string { // a sign or a name, no text
			if at = min(at, len(program.Tokens)-1); at < 0 || program.Tokens[at].Kind == tokens.String {
				return ""
			}
			return program.Tokens[at].Text
		}
		switch {
		case t.Kind != tokens.String:
		case sign(i+1) == "|" && sign(i+2) == "getline", sign(i-1) == "|":
			a.interpret(c, shLiteral(t.Text), a.childShell(c), c.name)
		case sign(i-1) == "(" && sign(i-2) == "system" && sign(i+1) != ")":
			a.interpret(c, shLiteral(t.Text+`"$field"`), a.childShell(c), c.name)
		case sign(i-1) == "<" && (sign(i-2) == "getline" || sign(i-3) == "getline"):
			a.fileEffect(EffectRead, NewWord(t.Text), c.target("read"))
		case sign(i-1) == ">" && strings.ContainsAny(t.Text, "/."):
			a.fileEffect(EffectWrite, NewWord(t.Text), c.target("write"))
		}
	}
}
