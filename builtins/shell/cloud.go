package shell

import (
	"slices"
	"strings"

	"github.com/hookc/hookc/builtins/losses"
	"github.com/hookc/hookc/internal/spell"
)

// npm is a package manager: it runs programs of packages, and publishes.
func (a *analysis) npm(c *shCall) shValue {
	o := options(c.args(), "CwFc", "--prefix --workspace --filter --cwd --dir --registry --tag --otp --call -c", optStop)
	if o.dry() || len(o.operands) == 0 {
		return printsText(a, c)
	}
	rest := o.operands[1:]
	if HasFlag(c.args(), "-g", "--global") || slices.ContainsFunc(rest, func(w Word) bool { return w.Is("hookc") }) {
		a.uninstalled(c)
	}
	switch sub := o.operands[0].Text; sub {
	case "exec", "x", "dlx":
		if code, ok := o.value("-c", "--call"); ok {
			return a.interpret(c, code.value(), a.childShell(c), c.name)
		}
		inner := options(rest, "pcwF", "--package --call --filter", optStop)
		if code, ok := inner.value("-c", "--call"); ok {
			return a.interpret(c, code.value(), a.childShell(c), c.name)
		}
		return a.wrapped(c, inner.operands, c.fr)
	case "config":
		if len(rest) > 0 && rest[0].Is("get", "list") && strings.Contains(strings.Join(WordTexts(rest), " "), "_auth") {
			a.effect(c, Effect{Kind: EffectRead, Domain: DomainPlatform, Op: "read-token", Target: "npm", Secret: "token"})
		}
	case "run", "run-script":
		if c.name == "bun" && len(rest) > 0 && programOf(rest[0].Text) != nil {
			return a.wrapped(c, rest, c.fr)
		}
		a.lexicon(c, DomainOutside, rest)
	case "-e", "--eval":
		return a.interpreter(c)
	default:
		if c.name != "npm" && (programOf(sub) != nil || rulesOf(sub) != nil) && !packageCommands()[sub] {
			return a.wrapped(c, o.operands, c.fr)
		}
	}
	if c.name == "bun" && HasFlag(c.args(), "-e", "--eval", "-p") {
		return a.interpreter(c)
	}
	return printsText(a, c)
}

// uninstalled adds the removal of packages that the machine needs, of all, of some that
// only the running shell knows, and of a package manager on its own.
func (a *analysis) uninstalled(c *shCall) shValue {
	o := options(c.args(), "", "", 0)
	flags := WordIn(c.name, "rpm dpkg emerge nix-env pacman yay paru xbps-remove pkg_delete")
	arch := WordIn(c.name, "pacman yay paru emerge")
	removes := flags && o.exact(strings.Fields(losses.RemoveFlags)...) || WordIn(c.name, "pkg_delete xbps-remove removepkg urpme")
	all := HasFlag(c.args(), strings.Fields(losses.RemovesToo)...)
	names := o.operands
	for i, w := range o.operands {
		if !removes && i < 2 && WordIn(w.Text, losses.RemoveWords) {
			removes, names = true, o.operands[i+1:]
		}
		if name, ok := spell.CutSuffix(w.Text, "-"); ok && i > 0 && o.first("install") && strings.HasPrefix(c.name, "apt") {
			all = all || losses.System(name) // apt install x systemd-
		}
	}
	dry := o.dry() || !flags && o.exact("-s") || arch && o.exact("-p") || slices.ContainsFunc(o.list, func(opt shOpt) bool { return losses.Dry()[opt.name] })
	if removes {
		all = all || HasFlag(c.args(), strings.Fields(losses.RemoveAll)...) || WordIn(o.operand(0), "self group groupremove uninstall-all") || c.name == "snap" && o.exact("--purge") || len(names) == 0 && o.exact("-a") || arch && o.exact("-c", "-d") && c.name != "emerge"
		for _, w := range names {
			all = all || w.Dynamic || w.Pattern || w.Is("all", "installed", Versionless(c.name)) || len(losses.Tokens(w.Text)) == 0 || strings.HasPrefix(w.Text, "/dev/fd/") || c.name == "aptitude" && strings.IndexAny(w.Text, "~?") == 0 || losses.System(w.Text)
		}
	}
	if all && !dry {
		a.effect(c, Effect{Kind: EffectDelete, Domain: DomainSystem, Op: "uninstall", Target: strings.Join(WordTexts(names), " ")})
	}
	return printsText(a, c)
}

// packageCommands are commands of package managers that are programs as well.
var packageCommands = losses.Words("link unlink rm test install pack set env why patch rebuild dedupe")

//go:noinline
func HasFlag(args []Word, flags ...string) bool {
	return slices.ContainsFunc(args, func(w Word) bool { return w.Is(flags...) })
}

// ansible runs a module on other machines; shell and command take code.
func (a *analysis) ansible(c *shCall) shValue {
	o := options(c.args(), "imaeuflt", "--inventory --module-name --args --extra-vars --user --limit", 0)
	module, _ := o.value("-m", "--module-name")
	if module.Is("reboot", "ansible.builtin.reboot") && !o.exact("-C", "--check") {
		a.resource(c, EffectExec, DomainSystem, "shutdown", nil)
	}
	if code, ok := o.value("-a", "--args"); ok && !o.exact("-C", "--check") {
		in := a.elsewhere(c, "ssh:"+o.operand(0))
		if o.first("localhost") {
			in = a.childShell(c)
		}
		if module.Text != "" && !WordIn(module.Text[strings.LastIndexByte(module.Text, '.')+1:], "shell command raw script") {
			if strings.Contains(code.Text, "state=absent") {
				t := c.target("ansible")
				t.fr, t.recursive = in, true
				for _, arg := range strings.Fields(code.Text) {
					switch name, value, _ := spell.Cut(arg, "="); {
					case name == "path" || name == "dest":
						a.fileEffect(EffectDelete, NewWord(value), t)
					case (name == "name" || name == "pkg") && !o.first("localhost") && !module.Is("file"):
						a.resource(c, EffectDelete, DomainOutside, "remove", []Word{NewWord(value)})
					case (name == "name" || name == "pkg") && (losses.System(value) || value == "*"):
						a.resource(c, EffectDelete, DomainSystem, "uninstall", []Word{NewWord(value)})
					}
				}
			}
			return printsText(a, c)
		}
		return a.interpret(c, code.value(), in, c.name)
	}
	return printsText(a, c)
}
