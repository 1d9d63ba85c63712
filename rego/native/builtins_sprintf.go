package native

import (
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"
)

var sprintfBuiltins = []own{
	{"sprintf", 2, func() Builtin { return sprintf }},
}

// scratch is memory to print into, so that only the text itself is allocated.
var scratch = sync.Pool{New: func() any { return new(printer) }}

// maxScratch is what is kept of it.
const maxScratch = 1 << 14

// sprintf is OPA's: integers are printed as int64 or *big.Int, numbers with a
// point or an exponent as float64, strings as string, and all else as the
// string that Rego writes. Flags and verbs beyond the usual bail.
func sprintf(_ *Call, args []Value) (Value, bool, error) {
	format, ok1 := args[0].(string)
	list, ok2 := args[1].([]Value)
	if !ok1 || !ok2 {
		return bail()
	}
	p := scratch.Get().(*printer)
	p.b = p.b[:0]
	ok := p.print(format, list)
	out := string(p.b)
	if cap(p.b) <= maxScratch {
		scratch.Put(p)
	}
	if !ok {
		return bail()
	}
	return out, true, nil
}

type printer struct{ b []byte }

// verb is one directive: width and precision are -1 when there is none.
type verb struct {
	char        byte
	minus, zero bool
	width, prec int
}

func (v *verb) plain() bool { return !v.minus && !v.zero && v.width < 0 && v.prec < 0 }

func (p *printer) print(format string, args []Value) bool {
	next := 0
	for {
		i := strings.IndexByte(format, '%')
		if i < 0 {
			p.b = append(p.b, format...)
			return p.extra(args[min(next, len(args)):])
		}
		p.b = append(p.b, format[:i]...)
		var v verb
		var ok bool
		v, format, ok = parseVerb(format[i+1:])
		switch {
		case !ok:
			return false
		case v.char == 0:
			p.b = append(p.b, "%!(NOVERB)"...)
		case v.char == '%':
			p.b = append(p.b, '%')
		case next >= len(args):
			p.b = append(append(append(p.b, "%!"...), v.char), "(MISSING)"...)
		default:
			if !p.arg(&v, args[next]) {
				return false
			}
			next++
		}
	}
}

// parseVerb reads what follows a percent sign. Char is 0 when nothing does.
func parseVerb(s string) (v verb, rest string, ok bool) {
	v.width, v.prec = -1, -1
	for ; s != "" && (s[0] == '-' || s[0] == '0'); s = s[1:] {
		v.minus = v.minus || s[0] == '-'
		v.zero = v.zero || s[0] == '0'
	}
	if v.minus && v.zero {
		return v, s, false
	}
	v.width, s = digits(s)
	if s != "" && s[0] == '.' {
		if v.prec, s = digits(s[1:]); v.prec < 0 {
			v.prec = 0
		}
	}
	if v.width > 1000 || v.prec > 1000 {
		return v, s, false
	}
	if s == "" {
		return v, s, true
	}
	v.char, s = s[0], s[1:]
	if v.char == 0 || v.char >= utf8.RuneSelf || strings.IndexByte("+# *[", v.char) >= 0 {
		return v, s, false
	}
	return v, s, true
}

// digits reads a number, -1 when there is none.
func digits(s string) (int, string) {
	n, i := -1, 0
	for ; i < len(s) && s[i] >= '0' && s[i] <= '9'; i++ {
		n = max(n, 0)*10 + int(s[i]-'0')
		n = min(n, 1<<20)
	}
	return n, s[i:]
}

func (p *printer) arg(v *verb, a Value) bool {
	switch x := a.(type) {
	case string:
		return p.text(v, x)
	case int:
		return p.int(v, int64(x))
	}
	if kindOf(a) != kindNumber {
		return p.composite(v, a)
	}
	text := numberText(a)
	if strings.ContainsAny(text, ".eE") {
		if f, ok := float(a); ok {
			return p.float(v, f)
		}
		return p.text(v, text)
	}
	if i, ok := integer(text); ok {
		return p.int(v, i)
	}
	return p.big(v, text)
}

// composite prints what Rego writes as a string.
func (p *printer) composite(v *verb, a Value) bool {
	if v.plain() && (v.char == 'v' || v.char == 's') {
		p.b = AppendText(p.b, a)
		return true
	}
	return p.text(v, Text(a))
}

func (p *printer) text(v *verb, s string) bool {
	switch v.char {
	case 'v', 's':
		if v.prec >= 0 {
			s = s[:byteAt(s, v.prec)]
		}
		return p.padded(v, s)
	case 'q':
		if v.plain() {
			p.b = strconv.AppendQuote(p.b, s)
			return true
		}
		return v.prec < 0 && p.padded(v, strconv.Quote(s))
	case 'x', 'X':
		return v.plain() && p.hex(v.char, s)
	case 'T', 'p':
		return false
	}
	return p.wrong(v, "string", func(v *verb) bool { return p.text(v, s) })
}

func (p *printer) hex(char byte, s string) bool {
	table := "0123456789abcdef"
	if char == 'X' {
		table = "0123456789ABCDEF"
	}
	for i := range len(s) {
		p.b = append(p.b, table[s[i]>>4], table[s[i]&15])
	}
	return true
}

func (p *printer) int(v *verb, i int64) bool {
	base := 10
	switch v.char {
	case 'v', 'd':
	case 'b':
		base = 2
	case 'o':
		base = 8
	case 'x', 'X':
		base = 16
	case 'c', 'q', 'U', 'O', 'T', 'p':
		return false
	default:
		return p.wrong(v, "int64", func(v *verb) bool { return p.int(v, i) })
	}
	if v.plain() && v.char != 'X' {
		p.b = strconv.AppendInt(p.b, i, base)
		return true
	}
	s := strconv.FormatInt(i, base)
	if v.char == 'X' {
		s = strings.ToUpper(s)
	}
	p.integer(v, s)
	return true
}

// integer prints an integer's digits: at least as many as the precision says,
// and of zero none where that is none. Zeros that fill the width are digits.
func (p *printer) integer(v *verb, s string) {
	least := v.prec
	digits := strings.TrimPrefix(s, "-")
	sign := len(s) - len(digits)
	switch {
	case v.prec == 0 && s == "0":
		digits = ""
	case v.prec < 0 && v.zero:
		least = v.width - sign
	}
	zeros := max(least-len(digits), 0)
	blanks := v.width - sign - zeros - len(digits)
	if !v.minus {
		p.repeat(' ', blanks)
	}
	p.b = append(p.b, s[:sign]...)
	p.repeat('0', zeros)
	p.b = append(p.b, digits...)
	if v.minus {
		p.repeat(' ', blanks)
	}
}

func (p *printer) repeat(c byte, n int) {
	for ; n > 0; n-- {
		p.b = append(p.b, c)
	}
}

func (p *printer) float(v *verb, f float64) bool {
	char, prec := v.char, v.prec
	switch char {
	case 'v', 'g', 'G':
		if char == 'v' {
			char = 'g'
		}
	case 'e', 'f', 'F', 'E':
		if char == 'F' {
			char = 'f'
		}
		if prec < 0 {
			prec = 6
		}
	case 'b', 'x', 'X', 'T', 'p':
		return false
	default:
		return p.wrong(v, "float64", func(v *verb) bool { return p.float(v, f) })
	}
	if v.width < 0 {
		p.b = strconv.AppendFloat(p.b, f, char, prec, 64)
		return true
	}
	return p.number(v, strconv.FormatFloat(f, char, prec, 64))
}

// big prints an integer beyond int64. A text that is not as big.Int writes it
// is left to OPA.
func (p *printer) big(v *verb, text string) bool {
	first := strings.TrimPrefix(text, "-")
	if !v.plain() || first == "" || first[0] < '1' || first[0] > '9' {
		return false
	}
	switch v.char {
	case 'v', 'd', 's':
		p.b = append(p.b, text...)
		return true
	}
	return false
}

// wrong is a verb that is none of the argument's type: it is printed as %v
// prints it, with the width and the precision that were meant for the other.
func (p *printer) wrong(v *verb, kind string, print func(*verb) bool) bool {
	p.b = append(append(p.b, "%!"...), v.char, '(')
	p.b = append(append(p.b, kind...), '=')
	other := *v
	other.char = 'v'
	ok := print(&other)
	p.b = append(p.b, ')')
	return ok
}

// number pads a number; zeros stand behind the sign.
func (p *printer) number(v *verb, s string) bool {
	if !v.zero {
		return p.padded(v, s)
	}
	if s[0] == '-' {
		p.b = append(p.b, '-')
		s = s[1:]
		v.width--
	}
	p.repeat('0', v.width-len(s))
	p.b = append(p.b, s...)
	return true
}

// padded pads a text with blanks; what zeros do to it is left to OPA.
func (p *printer) padded(v *verb, s string) bool {
	if v.zero {
		return false
	}
	n := v.width - utf8.RuneCountInString(s)
	if v.width < 0 {
		n = 0
	}
	if v.minus {
		p.b = append(p.b, s...)
	}
	p.repeat(' ', n)
	if !v.minus {
		p.b = append(p.b, s...)
	}
	return true
}

// extra prints the arguments that no verb took.
func (p *printer) extra(args []Value) bool {
	if len(args) == 0 {
		return true
	}
	p.b = append(p.b, "%!(EXTRA "...)
	v := verb{char: 'v', width: -1, prec: -1}
	for i, a := range args {
		if i > 0 {
			p.b = append(p.b, ", "...)
		}
		p.b = append(append(p.b, typeOf(a)...), '=')
		if !p.arg(&v, a) {
			return false
		}
	}
	p.b = append(p.b, ')')
	return true
}

// typeOf is the Go type that OPA prints an argument as.
func typeOf(a Value) string {
	if kindOf(a) != kindNumber {
		return "string"
	}
	text := numberText(a)
	if strings.ContainsAny(text, ".eE") {
		if _, ok := float(a); ok {
			return "float64"
		}
		return "string"
	}
	if _, ok := integer(text); ok {
		return "int64"
	}
	return "*big.Int"
}
