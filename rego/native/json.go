package native

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	bound "github.com/hookc/hookc/policy/digits"
)

// maxEventDepth bounds the nesting of what ParseJSON reads, as policy's
// DecodeJSON is sure to read it.
const maxEventDepth = 512

// ParseJSON reads one JSON value (RFC 8259) as the resident engine's input has
// it: whole numbers are ints and fractions float64s where that loses nothing,
// any other is a Number. It reads nothing that readers differ about: a key
// that appears twice in an object, half a surrogate pair, bytes that are no
// UTF-8, more than 512 levels and text after the value are false, as is what
// is no JSON; another reader is to say what it makes of them. The value's
// strings share one copy of text.
func ParseJSON(text []byte) (Value, bool) {
	r := jsonReader{s: string(text)}
	return r.document()
}

// jsonReader reads one JSON document.
type jsonReader struct {
	s  string
	at int
	// longExponent is true when a number has an exponent of more than two digits.
	longExponent bool
}

func (r *jsonReader) document() (Value, bool) {
	v, ok := r.value(0)
	if !ok {
		return nil, false
	}
	r.space()
	return v, r.at == len(r.s)
}

// space skips blanks and returns the byte that follows, 0 at the end.
func (r *jsonReader) space() byte {
	for ; r.at < len(r.s); r.at++ {
		c := r.s[r.at]
		if c > ' ' || c != ' ' && c != '\t' && c != '\r' && c != '\n' {
			return c
		}
	}
	return 0
}

// next takes a character that must come after blanks.
func (r *jsonReader) next(c byte) bool {
	if r.space() != c {
		return false
	}
	r.at++
	return true
}

func (r *jsonReader) value(depth int) (Value, bool) {
	c := r.space()
	switch c {
	case '"':
		s, ok := r.text()
		return s, ok
	case 't':
		return true, r.word("true")
	case 'f':
		return false, r.word("false")
	case 'n':
		return nil, r.word("null")
	case '[', '{':
	default:
		return r.number()
	}
	if depth >= maxEventDepth {
		return nil, false
	}
	r.at++
	if c == '[' {
		return r.array(depth + 1)
	}
	return r.object(depth + 1)
}

func (r *jsonReader) word(w string) bool {
	if !strings.HasPrefix(r.s[r.at:], w) {
		return false
	}
	r.at += len(w)
	return true
}

func (r *jsonReader) number() (Value, bool) {
	end := numberEnd(r.s, r.at)
	if end < 0 {
		return nil, false
	}
	text := r.s[r.at:end]
	if bound.Long(text) {
		return nil, false // nobody may compute with it
	}
	r.at = end
	if i := strings.IndexAny(text, "eE"); i >= 0 && len(text)-i > 3 {
		r.longExponent = true
	}
	return exactNumber(text), true
}

// exactNumber is the number of a text that JSON knows for one: an int or a
// float64 if that is written back as it was.
func exactNumber(text string) Value {
	if !strings.ContainsAny(text, ".eE") && text != "-0" {
		if i, err := strconv.Atoi(text); err == nil {
			return i
		}
	}
	if f, err := strconv.ParseFloat(text, 64); err == nil {
		var room [32]byte
		if string(appendFloat(room[:0], f)) == text {
			return f
		}
	}
	return Number(text)
}

func (r *jsonReader) array(depth int) (Value, bool) {
	out := []Value{}
	if r.next(']') {
		return out, true
	}
	for {
		v, ok := r.value(depth)
		if !ok {
			return nil, false
		}
		out = append(out, v)
		if r.next(']') {
			return out, true
		}
		if !r.next(',') {
			return nil, false
		}
	}
}

func (r *jsonReader) object(depth int) (Value, bool) {
	out := map[string]Value{}
	if r.next('}') {
		return out, true
	}
	for {
		key, ok := r.key()
		if !ok {
			return nil, false
		}
		if _, twice := out[key]; twice {
			return nil, false
		}
		if out[key], ok = r.value(depth); !ok {
			return nil, false
		}
		if r.next('}') {
			return out, true
		}
		if !r.next(',') {
			return nil, false
		}
	}
}

// key reads a key and its colon.
func (r *jsonReader) key() (string, bool) {
	if r.space() != '"' {
		return "", false
	}
	key, ok := r.text()
	return key, ok && r.next(':')
}

// text reads a string: a part of what is read if it stands there as it is.
func (r *jsonReader) text() (string, bool) {
	r.at++
	begin := r.at
	end, high := r.run(begin)
	if end < 0 {
		return "", false
	}
	if s := r.s[begin:end]; r.s[end] == '"' && (!high || utf8.ValidString(s)) {
		r.at = end + 1
		return s, true
	}
	return r.escaped()
}

// run is where the characters end that stand for themselves: at a quote or a
// backslash; -1 without either, or at a control character. High says that some
// are not ASCII.
func (r *jsonReader) run(i int) (end int, high bool) {
	var or byte
	for ; i < len(r.s); i++ {
		c := r.s[i]
		if c == '"' || c == '\\' {
			return i, or >= utf8.RuneSelf
		}
		if c < ' ' {
			break
		}
		or |= c
	}
	return -1, false
}

// escaped reads a string that is not what stands there.
func (r *jsonReader) escaped() (string, bool) {
	var b []byte
	for {
		end, high := r.run(r.at)
		if end < 0 {
			return "", false
		}
		plain := r.s[r.at:end]
		if high && !utf8.ValidString(plain) {
			return "", false
		}
		b = append(b, plain...)
		r.at = end + 1
		if r.s[end] == '"' {
			return string(b), true
		}
		ok := false
		if b, ok = r.escape(b); !ok {
			return "", false
		}
	}
}

// escape reads what follows a backslash.
func (r *jsonReader) escape(b []byte) ([]byte, bool) {
	if r.at == len(r.s) {
		return b, false
	}
	c := r.s[r.at]
	r.at++
	switch c {
	case '"', '\\', '/':
		return append(b, c), true
	case 'b':
		return append(b, '\b'), true
	case 'f':
		return append(b, '\f'), true
	case 'n':
		return append(b, '\n'), true
	case 'r':
		return append(b, '\r'), true
	case 't':
		return append(b, '\t'), true
	case 'u':
		return r.unicode(b)
	}
	return b, false
}

func (r *jsonReader) unicode(b []byte) ([]byte, bool) {
	char, ok := r.hex4(r.at)
	if !ok {
		return b, false
	}
	r.at += 4
	if !utf16.IsSurrogate(char) {
		return utf8.AppendRune(b, char), true
	}
	if r.at+1 < len(r.s) && r.s[r.at] == '\\' && r.s[r.at+1] == 'u' {
		low, ok := r.hex4(r.at + 2)
		if pair := utf16.DecodeRune(char, low); ok && pair != utf8.RuneError {
			r.at += 6
			return utf8.AppendRune(b, pair), true
		}
	}
	return b, false
}

func (r *jsonReader) hex4(at int) (rune, bool) {
	if at+4 > len(r.s) {
		return 0, false
	}
	var char rune
	for i := at; i < at+4; i++ {
		d, ok := hexDigit(r.s[i])
		if !ok {
			return 0, false
		}
		char = char<<4 | rune(d)
	}
	return char, true
}

func hexDigit(c byte) (byte, bool) {
	switch {
	case c >= '0' && c <= '9':
		return c - '0', true
	case c|0x20 >= 'a' && c|0x20 <= 'f':
		return c | 0x20 - 'a' + 10, true
	}
	return 0, false
}
