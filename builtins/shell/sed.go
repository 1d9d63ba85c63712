package shell

import (
	"strings"
)

// sed edits files in place, and runs commands with e.
func (a *analysis) sed(c *shCall) shValue {
	o := options(c.args(), "efl", "--expression --file --line-length", 0)
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
		for _, w := range operands {
			if w.Text != "" {
				a.fileEffect(EffectWrite, w, c.target("sed-in-place"))
			}
		}
		return nil
	}
	v := a.input(c, operands)
	if text, ok := v.known(); ok && len(scripts) == 1 {
		if out, simple := sedSubstitute(text, scripts[0].Text); simple {
			return shLiteral(out)
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
	for line := range strings.FieldsFuncSeq(script, func(r rune) bool { return r == '\n' || r == ';' || r == '{' || r == '}' }) {
		line = strings.TrimLeft(line, " \t0123456789,$")
		if strings.HasPrefix(line, "/") {
			if end := strings.IndexByte(line[1:], '/'); end >= 0 {
				line = strings.TrimLeft(line[end+2:], " \t")
			}
		}
		if code, ok := strings.CutPrefix(line, "e "); ok {
			a.interpret(c, shLiteral(code), a.childShell(c), c.name)
		}
		if file, ok := strings.CutPrefix(line, "w "); ok {
			a.fileEffect(EffectWrite, NewWord(file), c.target("write"))
		}
	}
	if parts, ok := sedParts(script); ok {
		flags := parts[2]
		if i := strings.IndexAny(flags, ";}\n "); i >= 0 {
			flags = flags[:i]
		}
		if strings.Contains(flags, "e") && strings.Trim(flags, "gpiIeM0123456789") == "" {
			a.interpret(c, shLiteral(parts[1]), a.childShell(c), c.name)
		}
		if _, file, found := strings.Cut(parts[2], "w "); found {
			a.fileEffect(EffectWrite, NewWord(file), c.target("write"))
		}
	}
}

// sedParts splits s/pattern/with/flags.
func sedParts(script string) ([3]string, bool) {
	var out [3]string
	s := strings.TrimSpace(script)
	if len(s) < 4 || s[0] != 's' || s[1] == '\\' || s[1] == ' ' {
		return out, false
	}
	sep, n := s[1], 0
	var b strings.Builder
	for i := 2; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) && n < 2 {
			if s[i+1] != sep {
				b.WriteByte('\\')
			}
			b.WriteByte(s[i+1])
			i++
			continue
		}
		if s[i] == sep && n < 2 {
			out[n] = b.String()
			b.Reset()
			n++
			continue
		}
		b.WriteByte(s[i])
	}
	out[2] = b.String()
	return out, n == 2
}

// sedSubstitute does s/a/b/ for plain texts.
func sedSubstitute(text, script string) (string, bool) {
	parts, ok := sedParts(script)
	if !ok || strings.ContainsAny(parts[0], `\.*[]^$`) || strings.ContainsAny(parts[1], `\&`) || strings.Trim(parts[2], "g") != "" || parts[0] == "" {
		return "", false
	}
	if len(text)*max(len(parts[1]), 1) > maxShellText {
		return "", false
	}
	if parts[2] == "g" {
		return strings.ReplaceAll(text, parts[0], parts[1]), true
	}
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		lines[i] = strings.Replace(l, parts[0], parts[1], 1)
	}
	return strings.Join(lines, "\n"), true
}

// editor runs the commands of -c and +: those that begin with ! are the
// shell's.
func (a *analysis) editor(c *shCall) shValue {
	o := options(c.args(), "cTuUiwSs", "--cmd --eval", 0)
	for _, w := range append(o.values("-c", "--cmd"), o.operands...) {
		text := strings.TrimLeft(w.Text, "+: ")
		if code, ok := strings.CutPrefix(text, "!"); ok && (w.Text[0] == '+' || w.Text[0] == ':' || w.Text[0] == '!') {
			a.interpret(c, shLiteral(code), a.childShell(c), c.name)
		}
	}
	return nil
}
