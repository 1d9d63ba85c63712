package winshell

import (
	"regexp"
	"strings"
	"sync"
)

// batch reads the code of cmd.
type batch struct {
	text   string
	at     int
	depth  int
	steps  int
	partly bool
}

// done reports whether there is nothing left to be read.
func (r *batch) done() bool {
	full := r.steps > maxSteps
	r.partly = r.partly || full
	return full || r.at >= len(r.text)
}

// lines reads commands up to the byte end, which it passes.
func (r *batch) lines(end byte) string {
	if r.depth++; r.depth > maxDepth {
		r.at, r.partly = len(r.text), true
	}
	defer func() { r.depth-- }()
	var b strings.Builder
	for {
		for r.at < len(r.text) && strings.IndexByte(" \t\n;@,=", r.text[r.at]) >= 0 {
			r.at++
		}
		if r.done() {
			r.partly = r.partly || end != 0
			return b.String()
		}
		switch c := r.text[r.at]; {
		case c == end:
			r.at++
			return b.String()
		case c == '(':
			r.at++
			b.WriteString(group(r.lines(')')))
		case c == '&' || c == '|':
			op := string(c)
			if strings.HasPrefix(r.text[r.at:], op+op) {
				op += op
			}
			r.at += len(op)
			if op == "&" {
				op = "\n"
			}
			if strings.TrimSpace(b.String()) == "" {
				op = ""
			}
			b.WriteString(" " + op + " ")
		case c == ')':
			r.partly = true
			r.at++
		default:
			before := r.at
			code := r.command(r.words())
			b.WriteString(code)
			if r.at == before {
				r.at, r.partly = r.at+1, true
			}
			if r.at >= len(r.text) || r.text[r.at] == '\n' {
				b.WriteByte('\n')
			}
		}
	}
}

var percentOf = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:%%?~?[a-z]*([A-Za-z0-9])(?:$|[^%\w(:])|[%!]([\w()]+)(?::[^%!\n]*)?[%!]|%%?~?[a-z]*([A-Za-z0-9*]))`)
})

// blockWords begin commands in which brackets hold other commands.
var blockWords = map[string]bool{"if": true, "for": true, "else": true, "do": true}

// words reads the words of one command, redirections as they are written.
func (r *batch) words() (out []word, suffix string) {
	var parts []word
	var b strings.Builder
	quoted, open := false, 0
	flush := func() {
		if r.steps++; b.Len() > 0 {
			parts = append(parts, globbed(b.String()))
			b.Reset()
		}
	}
	finish := func() {
		r.steps++
		flush()
		if len(parts) > 0 {
			out = append(out, joined(parts))
			parts = nil
		}
	}
	for !r.done() {
		c := r.text[r.at]
		switch {
		case c == '^' && !quoted && r.at+1 < len(r.text):
			if r.text[r.at+1] != '\n' {
				b.WriteByte(r.text[r.at+1])
			}
			r.at += 2
			continue
		case c == '"':
			quoted = !quoted
			if flush(); len(parts) == 0 {
				parts = append(parts, word{known: true})
			}
		case !quoted && c == '(' && (len(out) > 0 || b.Len() > 0) && !blockWords[strings.ToLower(joined(out[:min(1, len(out))]).lit)]:
			open++
			b.WriteByte(c)
		case !quoted && c == ')' && open > 0:
			open--
			b.WriteByte(c)
		case c == '\n' || !quoted && strings.IndexByte("&|()", c) >= 0:
			finish()
			return out, suffix
		case !quoted && (c == '>' || c == '<'):
			finish()
			if n := len(out); n > 0 && len(out[n-1].lit) == 1 && strings.Contains("0123456789", out[n-1].lit) && r.text[r.at-1] != ' ' {
				suffix += " " + out[n-1].lit
				out = out[:n-1]
			}
			suffix += r.redirect(c)
			continue
		case !quoted && (c == ' ' || c == '\t' || c == ',' || c == ';'):
			finish()
		case (c == '%' || c == '!') && percentOf().MatchString(r.text[r.at:]):
			flush()
			m := percentOf().FindStringSubmatch(r.text[r.at:])
			switch {
			case m[2] != "":
				parts = append(parts, fromEnvironment(m[2]))
				r.at += len(m[0])
			default:
				name := m[1] + m[3]
				length := strings.Index(m[0], name) + len(name)
				r.at += length
				if name[0] <= '9' {
					parts = append(parts, opaque(nil))
				} else {
					parts = append(parts, word{code: `"$for_` + name + `"`})
				}
			}
			continue
		default:
			b.WriteByte(c)
		}
		r.at++
	}
	finish()
	r.partly = r.partly || quoted
	return out, suffix
}

// redirect reads > file, >> file, 2>&1 and < file.
func (r *batch) redirect(c byte) string {
	op := string(c)
	r.at++
	if strings.HasPrefix(r.text[r.at:], ">") {
		op += ">"
		r.at++
	}
	if rest := r.text[r.at:]; len(rest) > 1 && rest[0] == '&' {
		r.at += 2
		return op + rest[:2]
	}
	for r.at < len(r.text) && r.text[r.at] == ' ' {
		r.at++
	}
	rest := r.text[r.at:]
	end := strings.IndexAny(rest, " \t\n&|)<>")
	if strings.HasPrefix(rest, `"`) {
		end = strings.Index(rest[1:], `"`) + 2
	}
	if end < 1 {
		end = len(rest)
	}
	r.at += end
	inner := batch{text: strings.Trim(rest[:end], `"`)}
	target, _ := inner.words()
	if w := joined(target); !strings.EqualFold(w.lit, "nul") {
		return op + " " + w.code
	}
	return op + " /dev/null"
}

// command writes one command.
func (r *batch) command(words []word, suffix string) string {
	if len(words) == 0 {
		return ":" + suffix
	}
	r.steps++
	if r.depth++; r.depth > maxDepth {
		r.partly = true
		return ":"
	}
	defer func() { r.depth-- }()
	name := words[0]
	rest := words[1:]
	if !name.known {
		return name.code + " " + codes(rest) + suffix
	}
	lower := strings.ToLower(strings.TrimLeft(name.lit, "@"))
	for _, glued := range []string{"del/", "erase/", "rd/", "rmdir/", "cd/", "cd.", "cd\\", "dir/", "echo.", "echo:", "rd.", "call:"} {
		if after, ok := strings.CutPrefix(lower, glued); ok {
			lower = glued[:len(glued)-1]
			rest = append([]word{globbed(glued[len(glued)-1:] + after)}, rest...)
		}
	}
	lower = strings.TrimSuffix(lower[strings.LastIndexByte(lower, '/')+1:], ".exe")
	return r.named(lower, name, rest) + suffix
}

func (r *batch) named(lower string, name word, words []word) string {
	on, rest := switches(words)
	switch lower {
	case "rem", "::", "echo.", "title", "color", "prompt", "chcp", "exit", "goto", "shift", "verify", "pause", "cls", "timeout", "choice", "assoc", "ftype":
		return ":"
	case "del", "erase":
		return "rm -f " + pick(has(on, "s"), "-r ", "") + "-- " + codes(rest)
	case "rd", "rmdir":
		return pick(has(on, "s"), "rm -rf -- ", "rmdir -- ") + codes(rest)
	case "copy":
		return "cp -- " + codes(rest)
	case "move", "ren", "rename":
		return "mv -- " + codes(rest)
	case "type":
		return "cat -- " + codes(rest)
	case "md", "mkdir":
		return "mkdir -p -- " + codes(rest)
	case "dir":
		return "ls " + codes(rest)
	case "cd", "chdir", "pushd":
		return pick(lower == "pushd", "pushd ", "cd ") + codes(rest)
	case "echo", "popd":
		return lower + " " + codes(words)
	case "findstr", "find":
		return "grep -e " + codes(rest)
	case "curl", "tar", "ssh", "git":
	case "start":
		for len(words) > 0 && (words[0].lit == "" || strings.ContainsAny(words[0].lit, " ") || words[0].lit[0] == '/') {
			words = words[1:] // the title and options
		}
		return r.command(words, "")
	case "call":
		return r.command(words, "")
	case "set":
		return set(words)
	case "if":
		return r.conditional(words)
	case "for":
		return r.loop(words)
	case "do", "else":
		return r.command(words, "")
	}
	if code, ok := native(lower, words); ok {
		return code
	}
	if i := strings.LastIndexByte(lower, '.'); i > 0 && !strings.ContainsAny(name.lit, `/\`) && strings.Contains(".bat.cmd.ps1.exe", lower[i:]) {
		return "./" + quote(name.lit) + " " + codes(words)
	}
	return quote(slashed(name.lit)) + " " + codes(words)
}

// set is set NAME=value.
func set(words []word) string {
	all := word{}
	for i, w := range words {
		if i > 0 {
			all.code += "' '"
			all.lit += " "
		}
		all.code += w.code
		all.lit += w.lit
	}
	name, value, ok := strings.Cut(all.lit, "=")
	if !ok || strings.HasPrefix(name, "/") {
		return ":"
	}
	name = strings.ToUpper(strings.TrimSpace(name))
	if strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") != "" || name == "" || name[0] <= '9' {
		return ":"
	}
	if joined(words).known {
		return name + "=" + quote(value)
	}
	_, code, _ := strings.Cut(all.code, "=")
	return name + "=" + code
}

// conditional is the command after a condition.
func (r *batch) conditional(words []word) string {
	i := 0
	for i < len(words) && (strings.EqualFold(words[i].lit, "not") || strings.EqualFold(words[i].lit, "/i")) {
		i++
	}
	if i < len(words) && (strings.EqualFold(words[i].lit, "exist") || strings.EqualFold(words[i].lit, "defined") || strings.EqualFold(words[i].lit, "errorlevel")) {
		i++
	}
	i++
	if i < len(words) && (len(words[i].lit) == 3 && strings.Contains("EQU NEQ LSS LEQ GTR GEQ", strings.ToUpper(words[i].lit)) || words[i].lit == "==") {
		i += 2
	}
	if i >= len(words) {
		return ":"
	}
	return r.command(words[i:], "")
}

// loop is for %x in (…) do command.
func (r *batch) loop(words []word) string {
	name, folders := "", false
	for _, w := range words {
		if strings.HasPrefix(w.code, `"$for_`) {
			name = strings.Trim(w.code, `"$`)
		}
		folders = folders || strings.EqualFold(w.lit, "/f")
	}
	if r.at >= len(r.text) || r.text[r.at] != '(' || name == "" {
		r.partly = true
		return ":"
	}
	r.at++
	items, _ := r.words()
	if r.at < len(r.text) && r.text[r.at] == ')' {
		r.at++
	} else {
		r.partly = true
	}
	if folders {
		items = []word{opaque(nil)}
	}
	for r.at < len(r.text) && r.text[r.at] == ' ' {
		r.at++
	}
	body := ""
	do, suffix := r.words()
	if len(do) == 1 && r.at < len(r.text) && r.text[r.at] == '(' {
		r.at++
		body = r.lines(')')
	} else {
		body = r.command(do, suffix)
	}
	return "for " + name + " in " + codes(items) + "; do " + group(body+"\n") + "; done"
}
