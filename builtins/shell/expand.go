package shell

import (
	"slices"
	"strconv"
	"strings"

	"github.com/hookc/hookc/builtins/losses"
	"github.com/hookc/hookc/builtins/posix"
	"github.com/hookc/hookc/builtins/quoting"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/internal/spell"
	"mvdan.cc/sh/v3/syntax"
)

// shFields collects the words that one word expands to.
type shFields struct {
	done []Word
	cur  shValue
	// open is true when there is a word even if it is empty: it was quoted.
	open bool
	ifs  string
}

func (f *shFields) add(v ...shPart) {
	for _, p := range v {
		if p.text == "" && p.known() {
			f.open = f.open || p.quoted
			continue
		}
		f.cur = append(f.cur, p)
	}
}

func (f *shFields) end() {
	if len(f.cur) > 0 || f.open {
		if len(f.done) < maxFields {
			f.done = append(f.done, f.cur.word())
		}
		f.cur, f.open = nil, false
	}
}

// split adds the value of an expansion that is not quoted: blanks end words, and what looks like a glob is one.
func (f *shFields) split(v shValue) {
	for _, p := range v {
		if !p.known() || f.ifs == "" {
			f.add(p)
			continue
		}
		text := p.text
		for text != "" {
			i := strings.IndexAny(text, f.ifs)
			if i < 0 {
				f.add(globLike(p, text))
				break
			}
			if i > 0 {
				f.add(globLike(p, text[:i]))
			}
			if sep := text[i]; len(f.cur) > 0 || sep != ' ' && sep != '\t' && sep != '\n' {
				f.open = true
				f.end()
			}
			text = text[i+1:]
		}
	}
}

// globLike is a piece of an expansion's text that was not quoted.
func globLike(p shPart, text string) shPart {
	if p.kind == shText && strings.ContainsAny(text, losses.GlobChars) {
		p.kind = shGlob
	}
	if p.kind <= shGlob && strings.ContainsAny(text, "!@+") && posix.Extended(text) {
		p.kind = shAny // which names it means is not looked into
	}
	p.text, p.quoted = text, false
	return p
}

// fields expands words as the arguments of a command.
func (a *analysis) fields(words []*syntax.Word, fr *shFrame) []Word {
	f := shFields{ifs: a.ifs(fr.st), done: make([]Word, 0, len(words))}
	for _, w := range words {
		if !a.spend(fr) {
			break
		}
		if lit, ok := posix.PlainLit(w); ok {
			f.done = append(f.done, Word{Text: lit, parts: shValue{{text: lit}}})
			continue
		}
		for _, b := range a.braces(w, fr) {
			a.word(b, fr, &f)
			f.end()
		}
	}
	return f.done
}

func (a *analysis) ifs(st *shState) string {
	if b, ok := a.lookup(st, "IFS"); ok && !b.unset && !b.open {
		if s, known := b.value().known(); known {
			return s
		}
	}
	return " \t\n"
}

// word expands one word, without braces, into f.
func (a *analysis) word(w *syntax.Word, fr *shFrame, f *shFields) {
	for i, part := range w.Parts {
		if lit, ok := part.(*syntax.Lit); ok {
			text := lit.Value
			if i == 0 && strings.HasPrefix(text, "~") {
				home, rest := a.tilde(text, fr, len(w.Parts) > 1)
				f.add(home...)
				text = rest
			}
			if name, value, ok := spell.Cut(text, "=~"); ok && i == 0 && syntax.ValidName(name) {
				// bash expands a tilde in what looks like an assignment.
				home, rest := a.tilde("~"+value, fr, len(w.Parts) > 1)
				f.add(shPart{text: name + "="})
				f.add(home...)
				text = rest
			}
			f.add(a.literal(text)...)
			continue
		}
		a.part(part, fr, f, false)
	}
}

// single expands a word that stays one: an assignment's value, a redirection's target, the subject of case.
func (a *analysis) single(w *syntax.Word, fr *shFrame) shValue {
	if w == nil || !a.spend(fr) {
		return nil
	}
	f := shFields{}
	a.word(w, fr, &f)
	return a.bounded(f.joined(), fr)
}

// joined is all the words as one value.
func (f *shFields) joined() shValue {
	if len(f.done) == 0 {
		return f.cur
	}
	f.end()
	return joinWords(f.done)
}

// quoted expands parts as inside double quotes: bodies of here-documents.
func (a *analysis) quoted(w *syntax.Word, fr *shFrame) shValue {
	if w == nil {
		return nil
	}
	f := shFields{}
	for _, part := range w.Parts {
		if lit, ok := part.(*syntax.Lit); ok { // a quote means nothing there, nor a backslash before it
			part = &syntax.Lit{Value: strings.ReplaceAll(lit.Value, `\"`, `\\"`)}
		}
		a.part(part, fr, &f, true)
	}
	return a.bounded(f.joined(), fr)
}

// bounded makes a value that is too long one that is not known, and one part of text that is known.
func (a *analysis) bounded(v shValue, fr *shFrame) shValue {
	if slices.Contains(v, perhapsPrinted) {
		v = lists.DeleteFunc(lists.Copy(v), func(p shPart) bool { return p == perhapsPrinted })
	}
	n := 16 * len(v) // a part takes more room than its text
	plain := true
	for _, p := range v {
		n += len(p.text)
		plain = plain && p.kind == shText
	}
	a.bytes += n
	if n > maxShellValue || a.bytes > maxShellText {
		return shUnknown("$(...)", shOrigin{kind: "output", from: "long"})
	}
	if plain && len(v) > 1 {
		return shLiteral(v.text())
	}
	return v
}

func (a *analysis) part(part syntax.WordPart, fr *shFrame, f *shFields, quoted bool) {
	switch p := part.(type) {
	case *syntax.Lit:
		if quoted {
			f.add(a.decode(posix.Unquoted(p.Value), shText, true)...)
			return
		}
		f.add(a.literal(p.Value)...)
	case *syntax.SglQuoted:
		text := p.Value
		if p.Dollar {
			text = quoting.AnsiC(text)
		}
		f.open = true
		f.add(a.decode(text, shText, true)...)
	case *syntax.DblQuoted:
		f.open = f.open || len(p.Parts) == 0 || !onlyAt(p.Parts)
		for _, q := range p.Parts {
			a.part(q, fr, f, true)
		}
	case *syntax.ParamExp:
		a.paramPart(p, fr, f, quoted)
	case *syntax.CmdSubst:
		a.addValue(a.substitute(p, fr), f, quoted)
	case *syntax.ArithmExp:
		v := shPart{text: "$((...))", kind: shPlain, quoted: quoted}
		if n, ok := a.arithm(p.X, fr); ok {
			v.text, v.kind = strconv.FormatInt(n, 10), shText
		}
		f.add(v)
	case *syntax.ProcSubst:
		f.add(a.processSubst(p, fr)...)
	case *syntax.ExtGlob:
		text := p.Op.String() + p.Pattern.Value + ")"
		if p.Op == syntax.GlobExcept {
			text = "*" // all but some
		}
		f.add(shPart{text: text, kind: shGlob})
	case *syntax.BraceExp:
		f.add(shPart{text: "{...}", kind: shAny})
	}
}

// onlyAt is true for "$@", which is no word when there are no arguments.
func onlyAt(parts []syntax.WordPart) bool {
	p, ok := parts[0].(*syntax.ParamExp)
	return ok && len(parts) == 1 && (p.Param != nil && p.Param.Value == "@" || isAtIndex(p.Index))
}

func (a *analysis) addValue(v shValue, f *shFields, quoted bool) {
	if quoted {
		f.add(v.quote()...)
		return
	}
	f.split(v)
}

// literal removes the backslashes of unquoted text.
func (a *analysis) literal(text string) shValue {
	if !strings.ContainsAny(text, "\\*?[\uE0F0") {
		return shValue{{text: text}}
	}
	glob := false
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		c := text[i]
		if c == '\\' && i+1 < len(text) {
			i++
			if text[i] != '\n' {
				b.WriteByte(text[i])
			}
			continue
		}
		glob = glob || strings.IndexByte(losses.GlobChars, c) >= 0 && text != "[" // a name of test
		b.WriteByte(c)
	}
	kind := shText
	if glob {
		kind = shGlob
	}
	v := a.decode(b.String(), kind, false)
	if b.Len() > 0 && len(v) > 0 && strings.IndexByte(text, '\\') >= 0 {
		v[0].quoted = !glob
	}
	return v
}

// tilde expands ~, ~+, ~- and ~user at the start of an unquoted literal. more is true when other parts of the word follow.
func (a *analysis) tilde(text string, fr *shFrame, more bool) (shValue, string) {
	user, rest := text[1:], ""
	if i := strings.IndexByte(user, '/'); i >= 0 {
		user, rest = user[:i], user[i:]
	} else if more {
		return nil, text
	}
	switch user {
	case "":
		return a.home(fr), rest
	case "+":
		return pathValue(a.dir(fr.st), "~+"), rest
	case "-":
		return shUnknown("~-", shOrigin{}), rest
	case "root":
		return shValue{{text: "/root", quoted: true}}, rest
	}
	if strings.IndexByte(user, '\\') >= 0 {
		return nil, text
	}
	return shValue{{text: "/home/" + user, quoted: true}}, rest
}

func (a *analysis) home(fr *shFrame) shValue {
	if b, ok := a.lookup(fr.st, "HOME"); ok && !b.open {
		return b.value().quote()
	}
	return pathValue(a.at.Home, "~")
}

//go:noinline
func pathValue(p, written string) shValue {
	if p == "" {
		return shUnknown(written, shOrigin{})
	}
	return shValue{{text: p, quoted: true}}
}

// braces expands {a,b} and {1..3}; a word that would become too many is not expanded, and so not known.
func (a *analysis) braces(w *syntax.Word, fr *shFrame) []*syntax.Word {
	out, ok := posix.Expand(w, maxShellValue)
	if !ok {
		a.unknown(fr, shellTooMany, fr.offset(w))
	}
	return out
}
