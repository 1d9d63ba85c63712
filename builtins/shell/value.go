package shell

import (
	"slices"
	"strings"

	"github.com/hookc/hookc/builtins/losses"
	"github.com/hookc/hookc/builtins/posix"
	"github.com/hookc/hookc/internal/lists"
)

// shPartKind is what a part of a word is.
type shPartKind uint8

const (
	// shText is text that is known and means itself.
	shText shPartKind = iota
	// shGlob is known text that is not quoted and has characters of a glob.
	shGlob
	// shMatch is something that a glob matches: what a loop over *.txt gives
	// its variable.
	shMatch
	// shPlain is text that is not known, but has no slash, no blank and no
	// `..`, and is not empty: a number, a date, a random name.
	shPlain
	// shAny is text of which nothing is known.
	shAny
	// shVar is shAny of a variable, which may be empty.
	shVar
)

// shPart is a part of a word. The text of a part that is not known is how it
// is written.
type shPart struct {
	text   string
	kind   shPartKind
	quoted bool
	// remote, decoded: where the text of a part that is not known comes from.
	origin shOrigin
}

// shOrigin says where text comes from that is not known.
type shOrigin struct {
	// kind is "", "remote", "decoded", "output", "file", "stdin", or credential.
	kind string
	// from is the address, file or program.
	from string
}

// shValue is the value of an expansion.
type shValue []shPart

//go:noinline
func shLiteral(s string) shValue { return shValue{{text: s}} }

//go:noinline
func shUnknown(written string, o shOrigin) shValue {
	return shValue{{text: written, kind: shAny, origin: o}}
}

//go:noinline
func (p shPart) known() bool { return p.kind <= shMatch }

// fixed is known where no part is what a glob may match: what a test of it says is known, too.
func (v shValue) fixed() (string, bool) {
	text, ok := v.known()
	return text, ok && !slices.ContainsFunc(v, func(p shPart) bool { return p.kind == shMatch || p.kind == shGlob })
}

// known is the text of a value when all of it is known.
func (v shValue) known() (string, bool) {
	switch len(v) {
	case 0:
		return "", true
	case 1:
		return v[0].text, v[0].known()
	}
	for _, p := range v {
		if !p.known() {
			return "", false
		}
	}
	return v.text(), true
}

// text is the value with the parts that are not known as they are written.
//
//go:noinline
func (v shValue) text() string {
	switch len(v) {
	case 0:
		return ""
	case 1:
		return v[0].text
	}
	var b strings.Builder
	for _, p := range v {
		b.WriteString(p.text)
	}
	return b.String()
}

// origin is where the first part comes from that says so.
//
//go:noinline
func (v shValue) origin() shOrigin {
	var out shOrigin
	for _, p := range v {
		if p.known() || p.origin.kind == "" {
			continue
		}
		if out.kind == "" || p.origin.kind == "remote" {
			out = p.origin
		}
	}
	return out
}

// made is the text that a program makes of a known value: what a glob matches in it, it may still be.
func (v shValue) made(text string) shValue {
	if _, fixed := v.fixed(); fixed {
		return shLiteral(text)
	}
	var out shValue
	for _, piece := range posix.Pieces(text) {
		p := shPart{text: piece}
		if strings.ContainsAny(piece, losses.GlobChars) {
			p.kind = shMatch
		}
		out = append(out, p)
	}
	return out
}

// many reports whether an element of a list may be several, or none.
func (v shValue) many() bool {
	return slices.ContainsFunc(v, func(p shPart) bool {
		return (!p.quoted || p.text == "$@") && p.kind != shText && p.kind != shPlain
	})
}

// trimNewlines is the value of $(…): without the newlines at its end.
func (v shValue) trimNewlines() shValue {
	for len(v) > 0 {
		last := v[len(v)-1]
		if !last.known() {
			return v
		}
		t := strings.TrimRight(last.text, "\n")
		if t != "" {
			out := append(shValue{}, v...)
			out[len(out)-1].text = t
			return out
		}
		v = v[:len(v)-1]
	}
	return v
}

// mapped is the value with each part changed.
//
//go:noinline
func (v shValue) mapped(change func(p *shPart)) shValue {
	out := lists.Copy(v)
	for i := range out {
		change(&out[i])
	}
	return out
}

// quote marks every part as quoted: what is known means itself.
func (v shValue) quote() shValue {
	return v.mapped(func(p *shPart) {
		if p.quoted = true; p.kind == shGlob {
			p.kind = shText
		}
	})
}

// word makes a word of parts.
func (v shValue) word() Word {
	if len(v) == 1 && v[0].kind == shText {
		return Word{Text: v[0].text, parts: v}
	}
	w := Word{Text: v.text(), parts: v}
	for _, p := range v {
		switch p.kind {
		case shGlob, shMatch:
			w.Pattern = true
		case shPlain, shAny, shVar:
			w.Dynamic = true
		}
	}
	return w
}

//go:noinline
func NewWord(s string) Word { return Word{Text: s, parts: shLiteral(s)} }

// value is the word's parts as the value of a variable.
//
//go:noinline
func (w Word) value() shValue {
	if w.parts == nil && w.Text != "" {
		return shLiteral(w.Text)
	}
	return w.parts
}

// known is the word's text when all of it is known.
//
//go:noinline
func (w Word) known() (string, bool) { return w.Text, !w.Dynamic }

// Is reports whether the word is known and is one of the given.
//
//go:noinline
func (w Word) Is(texts ...string) bool { return !w.Dynamic && lists.Has(texts, w.Text) }

// after is the word without its first n bytes, which are known text.
func (w Word) after(n int) Word {
	var out shValue
	for _, p := range w.value() {
		if n >= len(p.text) {
			n -= len(p.text)
			continue
		}
		p.text = p.text[n:]
		n = 0
		out = append(out, p)
	}
	return out.word()
}

// prefix is the known text the word begins with.
func (w Word) prefix() string {
	if !w.Dynamic {
		return w.Text
	}
	var b strings.Builder
	for _, p := range w.value() {
		if !p.known() {
			break
		}
		b.WriteString(p.text)
	}
	return b.String()
}

// cut splits the word at the first sep in its known prefix.
func (w Word) cut(sep string) (before string, after Word, found bool) {
	i := strings.Index(w.prefix(), sep)
	if i < 0 {
		return w.Text, Word{}, false
	}
	return w.Text[:i], w.after(i + len(sep)), true
}

// joinWords is the words with blanks between them, as eval and ssh join them.
func joinWords(words []Word) shValue {
	var out shValue
	for i, w := range words {
		if i > 0 {
			out = append(out, shPart{text: " "})
		}
		out = append(out, w.value()...)
	}
	return out
}
