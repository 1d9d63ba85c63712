package shell

import (
	"slices"
	"strings"

	"github.com/hookc/hookc/builtins/losses"
	"github.com/hookc/hookc/builtins/quoting"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/internal/spell"
)

// gitStarts are options whose value git starts, with the commands that take a letter.
var gitStarts = map[string]string{"": "--extcmd --exec --upload-pack --receive-pack --open-files-in-pager", "difftool": "-x", "rebase": "-x", "clone": "-u", "grep": "-O"}

// git reads its options before the command, aliases, and the command.
func (a *analysis) git(c *shCall) shValue {
	o := options(c.args(), "Cc", "-C -c --git-dir --work-tree --namespace --super-prefix --exec-path --config-env --attr-source", optStop)
	fr := *c.fr
	for _, dir := range append(o.values("-C"), o.values("--work-tree")...) {
		sub := fr.subshell()
		a.moveTo(dir, sub)
		fr = *sub
	}
	in := *c
	in.fr = &fr
	a.gitSettings(&in, o.values("-c"))
	if len(o.operands) == 0 {
		return printsText(a, c)
	}
	sub, ok := o.operands[0].known()
	if !ok || o.operands[0].Pattern {
		a.effect(c, Effect{Kind: EffectUnknown, Domain: DomainGit, Op: DynamicName, Target: "git " + sub, Certainty: CertainDynamic})
		return printsText(a, c)
	}
	for _, w := range o.operands[1:] {
		if what := lists.First(a.secretOf(w.value()), a.strange(w, []Word{w})); what != "" && w.Dynamic && strings.Contains(w.prefix(), "://") {
			a.connectTo(c, "upload", w, what)
		}
	}
	tool := toolOf("git-" + sub)
	parsed := options(o.operands[1:], tool.short, tool.long, 0)
	parsed.operands, parsed.shortened = slices.Clip(parsed.operands), true
	if parsed.exact("--help", "-h") && sub != "clean" && sub != "grep" {
		return printsText(a, c)
	}
	for _, w := range parsed.values(strings.Fields(gitStarts[""] + " " + gitStarts[sub])...) {
		a.gitProgram(&in, w)
	}
	a.ruled(&in, "git-"+sub, &parsed)
	if a.gitReads(&in, sub, &parsed) {
	} else if code, ok := fr.st.gitAliases.get(sub); ok && !lists.Has(fr.via, "git alias "+sub) {
		rest := append(shValue{{text: " "}}, quoteWords(o.operands[1:])...)
		if program, ok := spell.CutPrefix(code.text(), "!"); ok && program != "" {
			code = code.word().after(1).value()
		} else {
			code = append(shLiteral("git "), code...)
		}
		a.interpret(&in, append(code, rest...), a.childShell(&in), "git alias "+sub)
	} else if verb, _ := losses.Verb(sub); losses.Destroys()[verb] && !parsed.dry() { // of its own: git-delete-branch
		a.gitLoss(&in, verb, strings.Join(WordTexts(parsed.operands), " "))
	}
	return a.gitPrints(&in, sub)
}

// gitSettings notes what -c says: aliases, and programs that git starts.
func (a *analysis) gitSettings(c *shCall, given []Word) {
	for _, v := range given {
		if name, value, ok := v.cut("="); ok {
			a.gitSetting(c, strings.ToLower(name), value)
		}
	}
}

// launched reads the commands in variables of losses.Launches.
func (a *analysis) launched(c *shCall, name string, value Word) {
	if losses.Launches()[name] {
		if text := strings.TrimLeft(value.Text, "|-!@ "); text != value.Text && !value.Dynamic {
			value = NewWord(text)
		}
		a.gitProgram(c, value)
	}
}

func (a *analysis) gitSetting(c *shCall, name string, value Word) {
	if alias, ok := spell.CutPrefix(name, "alias."); ok {
		st := c.fr.st
		st.gitAliases = st.gitAliases.put(alias, value.value())
		return
	}
	switch name {
	case "clean.requireforce":
		if value.Is("false", "no", "off", "0") {
			a.gitLoss(c, "clean", name)
		}
	case "core.hookspath":
		if a.zone(c, value) != ZoneProject || value.Text == "" {
			a.effect(c, Effect{Kind: EffectWrite, Domain: DomainGit, Op: "hooks-off", Target: name + "=" + value.Text})
		}
	case "core.pager", "core.editor", "core.sshcommand", "core.fsmonitor", "init.templatedir", "sequence.editor", "diff.external", "core.askpass", "credential.helper":
		if a.zone(c, value) == ZoneTemp {
			a.effect(c, Effect{Kind: EffectWrite, Domain: DomainGit, Op: "hooks-off", Target: name + "=" + value.Text})
		}
		a.gitProgram(c, value)
	}
}

// gitProgram is a command line that git starts.
func (a *analysis) gitProgram(c *shCall, value Word) {
	text := strings.TrimPrefix(value.Text, "!")
	if text == "" || text == "true" || text == "false" || strings.Trim(text, quoting.Plain) == "" && !strings.ContainsAny(text, "/ ") {
		return
	}
	a.interpret(c, shLiteral(text), a.childShell(c), "git")
}

// gitPrints is what a command prints, where that tells something.
func (a *analysis) gitPrints(c *shCall, sub string) shValue {
	switch {
	case sub == "rev-parse" && HasFlag(c.argv, "--show-toplevel", "--git-dir", "--absolute-git-dir", "--git-common-dir", "--git-path"):
		below := ""
		if !HasFlag(c.argv, "--show-toplevel") {
			below = "/.git"
		}
		if HasFlag(c.argv, "--git-path") {
			below += "/" + c.argv[len(c.argv)-1].Text
		}
		if dir := a.dir(c.fr.st); a.at.Root != "" && c.fr.host == "" && dir != "" && losses.IsUnder(a.at.Root, dir) {
			return shLiteral(a.at.Root + below + "\n")
		}
		if a.dir(c.fr.st) != "" {
			return printsText(a, c) // of another project
		}
		return shUnknown("$(git rev-parse --show-toplevel)", shOrigin{"toplevel", "git"})
	case strings.HasPrefix(sub, "credential") && HasFlag(c.args(), "fill", "get"), sub == "config" && strings.HasSuffix(strings.ToLower(c.argv[len(c.argv)-1].Text), "extraheader"):
		return shUnknown("$(git credential)", shOrigin{credential, "git " + sub})
	case sub == "ls-files" && !slices.ContainsFunc(c.args()[1:], func(w Word) bool { return !w.Is("-z", "-c", "--cached", "--full-name") }):
		return shValue{{text: "./**", kind: shMatch}, {text: "\n"}} // all there is
	case sub == "config" || sub == "remote":
		return shUnknown("$(git "+sub+")", shOrigin{kind: settings})
	case sub == "rev-parse" || sub == "describe" || sub == "rev-list" || sub == "merge-base":
		return shValue{{text: "$(git " + sub + ")", kind: shPlain}}
	}
	return shUnknown("$(git "+sub+")", shOrigin{kind: "output", from: "git"})
}

// gitLoss is an effect that loses history or work.
func (a *analysis) gitLoss(c *shCall, op, target string) {
	e := Effect{Kind: EffectGitHistory, Domain: DomainGit, Op: op, Target: target}
	if dir := a.dir(c.fr.st); dir != "" {
		e.Place, _ = a.placeIn(dir, c.fr)
	} else {
		e.Place = ZoneUnknown
	}
	a.effect(c, e)
}
