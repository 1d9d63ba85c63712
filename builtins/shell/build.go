package shell

import (
	"strings"

	"github.com/hookc/hookc/builtins/losses"
	"github.com/hookc/hookc/builtins/tokens"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/internal/spell"
)

// goTool is go: some of its options are programs that it starts.
func (a *analysis) goTool(c *shCall) shValue {
	o := options(c.args(), "", "-exec -toolexec -vettool -o -run -bench -tags -ldflags -gcflags -count -timeout -C -mod -modfile -p -coverprofile -cpuprofile -memprofile -fuzz -fuzztime", optDash)
	a.runAll(c, o.values("-exec", "-toolexec", "-vettool"))
	a.files(EffectWrite, c.target("write"), o.values("-o", "-coverprofile", "-cpuprofile", "-memprofile")...)
	if to, ok := o.value("-o"); ok && o.first("build") && len(o.operands) > 1 {
		c.fr.st.holds(a.fileKey(to, c.fr), shUnknown(to.Text, shOrigin{"program", losses.Program(o.operand(1))}))
	}
	if o.first("run") {
		for _, w := range o.operands[1:] {
			if v, ok := a.written(w, c.fr); ok && strings.HasSuffix(w.Text, ".go") {
				a.lang(c, tokens.JS, v)
			}
		}
	}
	if o.first("run") && len(o.operands) > 1 && strings.Contains(o.operand(1), "@") {
		a.does(c, EffectExec, DomainCode, "package", o.operand(1))
	}
	return printsText(a, c)
}

// multiplexer runs its operands as code in another terminal.
func (a *analysis) multiplexer(c *shCall) shValue {
	o := options(c.args(), "LSftncxyFsTep", "", optStop)
	if c.name == "screen" {
		return a.wrapped(c, o.operands, c.fr)
	}
	inner := options(o.rest(1), "cFnsteExyPlpSf", "", optStop)
	switch o.operand(0) {
	case "new-session", "new", "new-window", "neww", "split-window", "splitw", "respawn-pane", "respawn-window", "run-shell", "run", "popup", "display-popup", "if-shell", "if", "pipe-pane":
		if len(inner.operands) > 0 {
			return a.interpret(c, joinWords(inner.operands), a.childShell(c), c.name)
		}
	case "send-keys", "send":
		keys := lists.Without(options(o.rest(1), "tNc", "", optStop).operands, func(w *Word) bool { return w.Is("Enter", "C-m", "KPEnter", "C-c", "Escape", "Space") })
		return a.interpret(c, joinWords(keys), a.childShell(c), c.name)
	}
	return printsText(a, c)
}

// makeTool is make, which runs the code of --eval, and the recipes of a file that
// was written before, or comes from standard input.
func (a *analysis) makeTool(c *shCall) shValue {
	o := options(c.args(), "CfIojlWE", "--directory --file --makefile --eval --jobs", 0)
	for _, w := range o.operands {
		if name, code, ok := w.cut("="); ok && name == "SHELL" {
			a.gitProgram(c, code)
		}
	}
	if o.exact("-n", "--just-print", "--dry-run", "--recon", "-q", "--question") {
		return printsText(a, c)
	}
	for _, w := range o.values("--eval", "-E") {
		a.recipes(c, w.Text)
	}
	if dir, ok := o.value("-C", "--directory"); ok {
		in := *c
		in.fr = c.fr.subshell()
		a.moveTo(dir, in.fr)
		c = &in
	}
	files := append(o.values("-f", "--file", "--makefile"), NewWord("Makefile"), NewWord("makefile"), NewWord("GNUmakefile"))
	for _, w := range files {
		v, ok := a.written(w, c.fr)
		if w.Is("-", "/dev/stdin") {
			v, ok = c.fr.stdin.value, c.fr.stdin.set
		}
		if ok {
			a.recipes(c, v.text())
		}
	}
	a.lexicon(c, DomainOutside, o.operands)
	return printsText(a, c)
}

// recipes reads the commands of a makefile.
func (a *analysis) recipes(c *shCall, text string) {
	for _, line := range strings.Split(text, "\n") {
		recipe, ok := spell.CutPrefix(line, "\t")
		if _, after, inline := spell.Cut(line, ";"); !ok && inline {
			recipe, ok = after, true
		} else if _, code, shell := spell.Cut(line, "$(shell "); !ok && shell {
			recipe, ok = strings.TrimSuffix(strings.TrimSpace(code), ")"), true
		}
		if ok && a.spend(c.fr) {
			a.interpret(c, shLiteral(strings.ReplaceAll(strings.TrimLeft(recipe, "@-+ "), "$$", "$")), a.childShell(c), c.name)
		}
	}
}
