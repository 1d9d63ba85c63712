package shell

import (
	"slices"
	"strings"

	"github.com/hookc/hookc/builtins/calls"
	"github.com/hookc/hookc/builtins/losses"
	"github.com/hookc/hookc/builtins/tokens"
	"github.com/hookc/hookc/internal/spell"
)

// codeTools are programs that take code of a language: as the value of an
// option, or, where operand is true, as what follows one of the commands.
// Without any they read it from standard input.
var codeTools = map[string]struct {
	lang          tokens.Lang
	commands, opt string
	operand       bool
}{
	"manage.py": {tokens.Python, "shell shell_plus", "-c --command", false}, "django-admin": {tokens.Python, "shell shell_plus", "-c --command", false},
	"rails": {tokens.Ruby, "runner r console c", "", true}, "artisan": {tokens.PHP, "tinker", "--execute", false}, "flask": {tokens.Python, "shell", "", false},
	"wp": {tokens.PHP, "eval shell", "", true}, "drush": {tokens.PHP, "ev eval php:eval php-eval", "", true}, "mix": {tokens.Ruby, "run eval", "-e --eval", true},
	"elixir": {tokens.Ruby, "", "-e --eval", false}, "iex": {tokens.Ruby, "", "-e --eval", false}, "crystal": {anyCode, "eval", "", true},
	"aws": {anyCode, "ssm", "--parameters", false}, "osascript": {tokens.JS, "", "-e", false}, "emacs": {tokens.JS, "", "--eval -eval", false},
	"fly": {shellCode, "ssh", "-C --command", false}, "kubectl": {shellCode, "virt", "-c --command", false}, "flyctl": {shellCode, "ssh", "-C --command", false}, "gcloud": {shellCode, "compute", "--command", false},
	"az": {shellCode, "vm container", "--scripts --exec-command", false}, "eb": {shellCode, "ssh", "-c --command", false}, "cf": {shellCode, "ssh", "-c --command", false},
	"salt": {shellCode, "", "cmd.run", false}, "salt-ssh": {shellCode, "", "cmd.run", false}, "salt-call": {shellCode, "", "cmd.run", false},
	"zx": {tokens.JS, "", "-e --eval", false}, "m4": {tokens.JS, "", "", false}, "emacsclient": {tokens.JS, "", "-e --eval", false}, "psysh": {tokens.PHP, "", "", false}, "prisma": {tokens.JS, "db", "", false}, "arangosh": {tokens.JS, "", "--javascript.execute-string", false},
}

// codeTool reads the code that such a program is given.
func (a *analysis) codeTool(c *shCall, name string, args []Word) {
	t, ok := codeTools[name]
	if !ok && !losses.Languages()[name] {
		return
	} else if !ok {
		t.lang, t.opt = anyCode, losses.TakesCode
	}
	how := 0
	if t.opt == losses.TakesCode || strings.HasSuffix(t.opt, " -eval") {
		how = optDash
	}
	o := options(args, "", t.opt, how)
	if len(t.opt) > 1 && how == 0 && t.opt[0] == '-' && t.opt[1] != '-' {
		o = options(args, t.opt[1:2], t.opt, 0)
	}
	if !ok && len(o.operands) > 0 && strings.HasPrefix(o.operands[0].Text, "http") && strings.Contains(o.operands[0].Text, "://") {
		a.effect(c, Effect{Kind: EffectExec, Domain: DomainCode, Op: "remote-code", Target: o.operands[0].Text})
	}
	if t.commands != "" && (len(o.operands) == 0 || !WordIn(o.operands[0].Text, t.commands)) {
		return
	}
	code := o.values(strings.Fields(t.opt)...)
	if t.operand && len(o.operands) > 1 {
		code = append(code, o.operands[1])
	}
	if len(code) == 0 && c.fr.stdin.set {
		code = []Word{c.fr.stdin.value.word()}
	}
	if i := slices.IndexFunc(args, func(w Word) bool { return w.Is("cmd.run") }); t.lang == shellCode && i >= 0 && i+1 < len(args) {
		code = args[i+1 : i+2]
	}
	for _, w := range code {
		if t.lang == shellCode {
			a.interpret(c, w.value(), a.elsewhere(c, "ssh:"+name), name)
			continue
		}
		if t.lang == anyCode {
			if _, line, ok := w.cut("="); ok {
				a.commandLine(c, line)
			}
			a.anyLanguage(c, w.Text)
			continue
		}
		switch name {
		case "osascript":
			a.anyLanguage(c, w.Text)
			if text := strings.ToLower(w.Text); losses.AppleLosses().MatchString(text) {
				a.effect(c, Effect{Kind: EffectDelete, Domain: DomainOutside, Op: name, Target: text})
			}
		case "emacsclient", "emacs":
			a.editorCommand(c, w.Text)
			a.anyLanguage(c, w.Text)
		case "m4":
			for _, code := range strings.Split(w.Text, "syscmd(")[1:] {
				code, _, _ = spell.Cut(strings.TrimLeft(code, "` "), ")")
				a.interpret(c, shLiteral(strings.TrimRight(code, "' ")), a.childShell(c), name)
			}
		case "prisma":
			a.sql(c, w.value())
		default:
			a.lang(c, t.lang, w.value())
		}
	}
}

// codeRuns adds the running of code that is loaded, and of itself without end.
func (a *analysis) codeRuns(c *shCall, text string) {
	if losses.Loads(text) {
		a.effect(c, Effect{Kind: EffectExec, Domain: DomainCode, Op: "remote-code", Target: "an address"})
	}
	if losses.ShowsEnvironment(text) {
		a.effect(c, Effect{Kind: EffectRead, Domain: DomainCloud, Op: credential, Target: "the environment"})
	}
	if losses.Forks(text) {
		a.effect(c, Effect{Kind: EffectExec, Domain: DomainSystem, Op: "fork-bomb", Target: c.name, Certainty: CertainKnown})
	}
}

func (a *analysis) anyLanguage(c *shCall, text string) {
	if len(text) > maxShellValue {
		a.unknown(c.fr, shellTooMany, c.offset)
		return
	}
	a.codeRuns(c, text)
	runs, deletes := losses.CodeRuns().MatchString(text), losses.CodeDeletes().MatchString(text)
	for _, mark := range []string{"spawn ", "exec ", "system "} {
		if _, code, ok := spell.Cut(text, mark); ok {
			a.interpret(c, shLiteral(code), a.childShell(c), c.name)
		}
	}
	t := c.target("delete")
	t.recursive = true
	if home := losses.HomeIn(text); deletes && home != "" {
		a.fileEffect(EffectDelete, a.langPath(home, c.fr), t)
	}
	for _, s := range calls.Parse(tokens.JS, text).Tokens {
		if s.Kind != tokens.String && s.Kind != tokens.Command {
			continue
		}
		if runs && strings.Contains(s.Text, " ") {
			a.interpret(c, shLiteral(s.Text), a.childShell(c), c.name)
		} else if deletes && strings.IndexAny(s.Text, "/~") == 0 {
			a.fileEffect(EffectDelete, a.langPath(s.Text, c.fr), t)
		}
	}
}

// unlisted looks at what a program that is in no table is given: code of whichever
// language after an option that says so, commands of its own, requests, disks, and files
// of secrets to show.
func (a *analysis) unlisted(c *shCall) {
	o := options(c.args(), "", losses.TakesCode+" "+losses.TakesLine, optDash)
	lines := strings.Split(c.fr.stdin.value.text(), "\n")
	for _, opt := range o.list {
		if strings.Contains(opt.value.Text, "(") && WordIn(opt.name, losses.TakesCode) && !losses.Languages()[c.name] {
			a.anyLanguage(c, opt.value.Text)
		} else if opt.set {
			lines = append(lines, strings.Split(opt.value.Text, ";")...)
		}
	}
	for _, line := range lines[:min(len(lines), maxItems)] {
		if len(line) < 6 {
			continue
		}
		if own := options(stdinItems(shLiteral(line), " "), "", "", 0); len(own.operands) > 1 && len(own.operands) < 8 {
			own.operands = own.operands[:2:2]
			if verb := a.lexVerb(c, DomainOutside, &own); losses.Destroys()[verb] || losses.Takes()[verb] {
				a.effect(c, Effect{Kind: EffectDelete, Domain: DomainOutside, Op: verb, Target: line})
			}
		}
	}
	for i, w := range append(WordTexts(o.operands), c.fr.stdin.value.text()) {
		a.requests(c, w)
		if (i == len(o.operands) || i > 0 && o.operands[i-1].Is("eval", "shell", "exec")) && strings.Contains(w, "(") {
			a.anyLanguage(c, w)
		}
	}
	for _, w := range c.args() {
		if !HasFlag(c.args(), "-n", "-N") && losses.Disk(w.Text[strings.IndexByte(w.Text, '=')+1:]) && slices.ContainsFunc(c.argv, func(w Word) bool { return losses.Formats().MatchString(strings.ToLower(w.Text)) }) {
			a.fileEffect(EffectWrite, w.after(strings.IndexByte(w.Text, '=')+1), c.target("write"))
		}
	}
	name := losses.Tokens(strings.TrimRight(c.name, "0123456789"))
	shows := len(name) > 0 && losses.Shows(name[len(name)-1])
	for i, w := range o.operands {
		if i > 1 || i == 1 && !losses.Shows(o.operands[0].Text) || w.Dynamic {
			break
		}
		shown := shows || i == 1
		if !shown && (len(o.operands) > 1 || len(o.list) > 0 || losses.UsesSecret("--"+c.name) || strings.HasPrefix(c.name, "ssh")) {
			break
		}
		if what := a.given(c, w); what != "" && (shown || what != "env-file") {
			a.fileEffect(EffectRead, w, c.target("read"))
		}
	}
}
