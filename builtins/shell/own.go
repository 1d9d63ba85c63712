package shell

import (
	"slices"
	"strings"

	"github.com/hookc/hookc/builtins/losses"
	"github.com/hookc/hookc/builtins/tokens"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/internal/spell"
)

// ownProgram reads what a tool that builds and starts a program of the project is
// told to hand to it, and what it does to a folder that an option names.
func (a *analysis) ownProgram(c *shCall) {
	args := c.args()
	if c.name == "qemu-img" && len(args) > 2 && args[0].Is("create", "convert", "rebase") {
		for _, w := range args[1:] {
			if strings.HasPrefix(w.Text, "/") || strings.HasPrefix(w.Text, "~") {
				a.fileEffect(EffectWrite, w, c.target("write"))
			}
		}
	}
	for name, option := range losses.Empties(c.name) {
		o := options(args, "d", option, 0)
		for _, w := range o.values(strings.Fields(option)...) {
			if !w.Dynamic && (name == "" || o.exact(name) || o.first(name)) {
				t := c.target("empty")
				t.recursive = true
				a.fileEffect(EffectDelete, w, t)
			}
		}
	}
	with, ok := losses.Deletes[c.name]
	if ok || programOf(c.name) == nil && losses.Removes(c.name) {
		o, t := options(args, "", "", 0), c.target("delete")
		t.recursive = true
		for _, w := range o.operands {
			if with == "" || HasFlag(args, strings.Fields(with)...) || o.exact(strings.Fields(with)...) {
				a.fileEffect(EffectDelete, w, t)
			}
		}
	}
	for i, w := range args {
		text := w.Text
		if len(text) < 2 {
			continue
		}
		name, value, set := w.cut("=")
		if !set && i+1 < len(args) {
			name, value = text, args[i+1]
		}
		switch {
		case losses.TakesCommand()[name] && c.name != "git":
			a.gitProgram(c, value)
		case name == "--bind":
			for _, key := range strings.Split(value.Text, "(")[1:] { // execute(…), become(…)
				code, _, _ := spell.Cut(key, ")")
				a.commandLine(c, NewWord(code))
			}
		case (losses.Outputs()[name] || WordIn(name, losses.OutputsOf()[c.name])) && strings.IndexAny(value.prefix(), "/~") == 0 && !strings.HasPrefix(name, "/"):
			a.fileEffect(EffectWrite, value, c.target("write"))
		case i > 0 && programOf(c.name) == nil && !losses.TextPrograms()[c.name] && losses.Disk(text) && text[0] == '/' && strings.ContainsAny(args[i-1].prefix(), "./") && args[i-1].prefix()[0] != '-':
			a.fileEffect(EffectWrite, w, c.target("write")) // after what is written to it
		case set && programOf(c.name) == nil && losses.Disk(value.prefix()) && WordIn(strings.TrimLeft(name, "-"), "of o out output target dest destination wipe"):
			a.fileEffect(EffectWrite, value, c.target("write"))
		case strings.HasPrefix(text, "-o/"):
			a.fileEffect(EffectWrite, w.after(2), c.target("extract"))
		case losses.Escapes()[c.name]:
			if set && strings.HasPrefix(text, "--") {
				text = value.Text
			}
			for _, mark := range []string{"!", "shell ", "platform shell "} {
				if code, ok := spell.CutPrefix(strings.TrimLeft(text, "+:"), mark); ok {
					a.interpret(c, shLiteral(code), a.childShell(c), c.name)
				}
			}
		}
	}
	a.ownCommand(c, args)
	if i := slices.IndexFunc(args, func(w Word) bool { return w.Is("-jar") }); c.name == "java" && i >= 0 && i+1 < len(args) {
		a.lexicon(c, DomainOutside, args[i+2:])
	} else if losses.Runners()[c.name] {
		a.ownTask(c, args)
	}
}

// ownCommand reads a command, or code, that stands among the words of a tool that starts it.
func (a *analysis) ownCommand(c *shCall, args []Word) {
	if !WordIn(c.name, "cmake crontab hyperfine sops dpkg dpkg-deb virtualenv uv cpio npm "+losses.Copiers) {
		return
	}
	o, after := options(args, "cpswmMn", "--command --name --zone --cluster --task --container", 0), []Word(nil)
	if i := separatorAt(args); i >= 0 {
		after = args[i+1:]
	}
	switch {
	case c.name == "cmake" && len(args) > 3 && args[0].Is("-E") && args[1].Is("chdir"):
		in := c.fr.subshell()
		a.moveTo(args[2], in)
		a.wrapped(c, args[3:], in)
	case c.name == "cmake" && len(args) > 2 && args[0].Is("-E"):
		a.wrapped(c, args[1:], c.fr)
	case c.name == "crontab" && c.fr.stdin.set && len(o.operands) == 0 && !o.exact("-l", "-e", "-r"):
		a.ruled(c, c.name, &shOpts{operands: []Word{NewWord("-")}})
	case c.name == "hyperfine":
		a.runAll(c, o.values("-p", "-c", "-s"))
	case c.name == "sops" && len(o.operands) > 2 && o.operands[0].Is("exec-env", "exec-file"):
		a.runAll(c, o.operands[2:])
	case len(o.operands) > 1 && WordIn(c.name, "dpkg dpkg-deb") && o.exact("-x", "-X", "-R", "--extract", "--vextract", "--raw-extract"):
		a.fileEffect(EffectWrite, o.operands[1], c.target("extract"))
	case (c.name == "virtualenv" || c.name == "uv" && o.first("venv")) && o.exact("--clear"):
		t := c.target("empty")
		t.recursive = true
		a.files(EffectDelete, t, o.operands...)
	case c.name == "cpio" && !o.exact("-t", "-o", "--list", "--create"):
		k := options(args, "DFHCIOERM", "--directory --file --format", 0)
		a.fileEffect(EffectWrite, lists.Concat(k.values("-D", "--directory"), k.operands, []Word{NewWord(".")})[0], c.target("extract"))
	case WordIn(c.name, losses.Copiers) && len(o.operands) > 2 && slices.ContainsFunc(o.operands[:2], func(w Word) bool { return WordIn(w.Text, losses.Copies) }):
		if last := len(o.operands) - 1; !remotePath(o.operands[last]) && !o.operands[last].Is("-") {
			a.fileEffect(EffectWrite, o.operands[last], c.target("copy"))
			a.into(o.operands[last-1:last], o.operands[last], c, "copy")
			a.fetched(c, o.operands[last-1], o.operands[last])
		}
	case c.name == "npm" && o.first("explore"):
		a.wrapped(c, after, c.fr)
	case c.name == "gcloud" && lists.Has(WordTexts(o.operands[:min(3, len(o.operands))]), "ssh") || c.name == "aws" && o.first("ecs", "execute-command"):
		for _, code := range append(o.values("--command"), joinWords(after).word()) {
			a.interpret(c, code.value(), a.elsewhere(c, "ssh:"+o.operand(2)), c.name)
		}
	}
}

// ownTask asks the lexicon about what a build tool or a runner of tasks hands to a
// program of the project: after run and --, or all of it.
func (a *analysis) ownTask(c *shCall, args []Word) {
	if len(args) == 1 && strings.Contains(args[0].Text, " ") {
		args = stdinItems(args[0].value(), " \n")
	}
	start := slices.IndexFunc(args[:min(2, len(args))], func(w Word) bool { return w.Is("run", "exec", "runhaskell", "task", "runMain") })
	if start < 0 && !WordIn(c.name, "nox tox") {
		return
	} else if start < 0 {
		for _, w := range (&shOpts{list: options(args, "se", "--session --sessions --env", 0).list}).values("-s", "-e", "--session", "--sessions") {
			a.scriptLoss(c, []Word{NewWord("./" + w.Text)})
		}
		return
	}
	args = args[start+1:]
	if i := separatorAt(args); i >= 0 {
		args = args[i+1:]
	} else if c.name == "go" {
		o := options(args, "", "-exec -tags -ldflags -gcflags -C -mod -modfile -p", optDash|optStop)
		args = o.operands
	}
	if len(args) > 0 && strings.ContainsAny(args[0].Text, "./") {
		a.scriptLoss(c, append([]Word{NewWord("./" + args[0].Text[strings.LastIndexAny(args[0].Text, "/:")+1:])}, args[1:]...))
		args = args[min(1, len(args)-1):]
	}
	a.lexicon(c, DomainOutside, args)
}

// server serves a folder to whoever asks.
func (a *analysis) server(c *shCall) shValue {
	o := options(c.args(), "pPlahdbD", "--port --listen --bind --directory --root --host --address --docroot --path", 0)
	dir, ok := o.value("-d", "--directory", "--root", "--docroot", "--path")
	if h, set := o.value("-h"); set && c.name == "httpd" {
		dir, ok = h, true
	}
	if !ok {
		dir = NewWord(".")
		if len(o.operands) > 0 && (len(o.operands) > 1 || strings.Trim(o.operand(0), "0123456789") != "") {
			dir = o.operands[0]
		}
	}
	a.serves(c, dir)
	return nil
}

// serves adds the giving away of a folder: one of secrets, or one that holds them.
func (a *analysis) serves(c *shCall, dir Word) {
	zone, secret := a.placeIn(a.resolve(dir, c.fr).shape, c.fr)
	if zone == ZoneHome || zone == ZoneRoot {
		secret = "home"
	}
	if secret != "" {
		a.effect(c, Effect{Kind: EffectConnect, Domain: DomainNetwork, Op: "upload", Target: "whoever asks", Secret: secret})
	}
}

// ftp reads the commands of -c and -e, or of standard input.
func (a *analysis) ftp(c *shCall) shValue {
	o := options(c.args(), "ceupf", "", 0)
	for _, w := range o.values("-c", "-e") {
		a.ftpScript(c, w.Text)
	}
	a.ftpScript(c, c.fr.stdin.value.text())
	return printsText(a, c)
}

// ftpScript adds what commands of a file transfer delete on the other machine, and send to it.
func (a *analysis) ftpScript(c *shCall, text string) {
	for _, line := range strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == ';' }) {
		f := strings.Fields(strings.TrimLeft(line, "-@ "))
		if len(f) > 1 && (WordIn(f[0], "rm rmdir mrm del delete mdelete rmd") || f[0] == "glob" && f[1] == "rm" || f[0] == "mirror" && lists.Has(f, "--delete") && (lists.Has(f, "-R") || lists.Has(f, "--reverse"))) {
			a.does(c, EffectDelete, DomainOutside, "remote-delete", strings.Join(f[1:], " "))
		}
		if len(f) > 1 && WordIn(f[0], "put mput reput send append") {
			a.effect(c, Effect{Kind: EffectConnect, Domain: DomainNetwork, Op: "upload", Target: c.name, Secret: a.sent(c, NewWord(f[1]))})
		}
		if code, ok := spell.CutPrefix(strings.TrimSpace(line), "!"); ok {
			a.interpret(c, shLiteral(code), a.childShell(c), c.name)
		}
	}
}

// editorCommand reads a command that an editor is told to run: those after ! are the
// shell's.
func (a *analysis) editorCommand(c *shCall, text string) {
	text = strings.TrimLeft(text, "+: ")
	for _, quiet := range []string{"silent! ", "silent ", "sil! ", "sil ", "exec ", "execute "} {
		text = strings.Trim(strings.TrimPrefix(text, quiet), "'\"")
	}
	for _, mark := range []string{"!", "r !", "r!", "w !", "1,$!", "%!", "terminal ", "term "} {
		if code, ok := spell.CutPrefix(text, mark); ok {
			a.interpret(c, shLiteral(code), a.childShell(c), c.name)
			return
		}
	}
	if strings.Contains(text, "(") {
		a.lang(c, tokens.PHP, shLiteral(losses.EditorScripts.Replace(text)))
	}
}
