package shell

import (
	"slices"
	"strings"

	"github.com/hookc/hookc/builtins/posix"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/internal/spell"
)

// sed edits files in place, and runs commands with e.
func (a *analysis) sed(c *shCall) shValue {
	o := options(c.args(), "efl", "--expression --file --line-length", optShort)
	operands := o.operands
	scripts := o.values("-e", "--expression")
	if len(scripts) == 0 && !o.exact("-f", "--file") && len(operands) > 0 {
		scripts, operands = operands[:1], operands[1:]
	}
	inPlace := o.has("-i", "--in-place")
	for _, s := range scripts {
		a.sedScript(c, s.Text)
	}
	if inPlace {
		a.takenOff(c, scripts)
		a.files(EffectWrite, c.target("sed-in-place"), lists.Without(operands, func(w *Word) bool { return w.Text == "" })...)
		return nil
	}
	v := a.input(c, operands)
	if text, ok := v.known(); ok && len(scripts) == 1 {
		if out, simple := posix.SedSubstitute(text, scripts[0].Text); simple && !(o.exact("-E", "-r", "--regexp-extended") && strings.ContainsAny(scripts[0].Text, "()|+?{}")) {
			return v.made(out)
		}
		return decoded(c, v)
	}
	return shUnknown("$(sed)", v.origin())
}

// sedScript finds what a script runs: the command e, and the flag e and the
// file of w in s///.
func (a *analysis) sedScript(c *shCall, script string) {
	if len(script) > maxShellValue {
		return
	}
	for _, line := range strings.FieldsFunc(script, func(r rune) bool { return r == '\n' || r == ';' || r == '{' || r == '}' }) {
		line = strings.TrimLeft(line, " \t0123456789,$")
		if strings.HasPrefix(line, "/") {
			if end := strings.IndexByte(line[1:], '/'); end >= 0 {
				line = strings.TrimLeft(line[end+2:], " \t")
			}
		}
		if code, ok := spell.CutPrefix(line, "e "); ok {
			a.interpret(c, shLiteral(code), a.childShell(c), c.name)
		}
		if file, ok := spell.CutPrefix(line, "w "); ok {
			a.fileEffect(EffectWrite, NewWord(file), c.target("write"))
		}
	}
	if parts, ok := posix.SedParts(script); ok {
		flags := parts[2]
		if i := strings.IndexAny(flags, ";}\n "); i >= 0 {
			flags = flags[:i]
		}
		if strings.Contains(flags, "e") && strings.Trim(flags, "gpiIeM0123456789") == "" {
			a.interpret(c, shLiteral(parts[1]), a.childShell(c), c.name)
		}
		if _, file, found := spell.Cut(parts[2], "w "); found {
			a.fileEffect(EffectWrite, NewWord(file), c.target("write"))
		}
	}
}

// editor runs the commands of -c, + and --eval, and those that come from standard
// input.
func (a *analysis) editor(c *shCall) shValue {
	o := options(c.args(), "cSTuUiw", "--cmd --eval", 0)
	for _, w := range append(o.values("-c", "--cmd", "--eval"), o.operands...) {
		if w.Text != "" && (w.Text[0] == '+' || !slices.ContainsFunc(o.operands, func(f Word) bool { return f.Text == w.Text })) {
			a.editorCommand(c, w.Text)
		}
	}
	script := strings.Join(WordTexts(append(o.values("-c", "--cmd"), o.operands...)), "\n") + "\n" + c.fr.stdin.value.text()
	for _, line := range strings.FieldsFunc(script, func(r rune) bool { return r == '\n' || r == '|' }) {
		if WordIn(strings.Trim(line, "+:!()"), "w wq x xit up update wa xa save-buffer") {
			a.files(EffectWrite, c.target("edit-in-place"), o.operands...)
		}
		if WordIn(strings.Trim(line, "+:"), "p %p ,p 1,$p %print ,n %n %nu %number ,l %l") {
			a.files(EffectRead, c.target("read"), o.operands...)
		}
	}
	if c.name != "emacs" {
		for _, line := range strings.Split(c.fr.stdin.value.text(), "\n") {
			a.editorCommand(c, line)
		}
	}
	return nil
}
