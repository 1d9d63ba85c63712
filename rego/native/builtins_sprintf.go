package native

import (
	"strconv"
	"strings"
	"sync"
)

var sprintfBuiltins = []own{
	{"sprintf", 2, func() Builtin { return sprintf }},
}

// scratch is memory to print into, so that only the text itself is allocated.
var scratch = sync.Pool{New: func() any { return new(printer) }}

// maxScratch is what is kept of it.
const maxScratch = 1 << 14

// sprintf is OPA's for %v, %s, %d, %q and %% without flags. Integers are printed
// as int64 or *big.Int, numbers with a point or an exponent as float64, strings as
// string, and all else as the string that Rego writes. Other verbs, verbs that are
// not of the argument's type, and arguments too few or too many are left to OPA.
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

func (p *printer) print(format string, args []Value) bool {
	for {
		i := strings.IndexByte(format, '%')
		if i < 0 {
			p.b = append(p.b, format...)
			return len(args) == 0
		}
		p.b = append(p.b, format[:i]...)
		if i+1 == len(format) {
			return false
		}
		verb := format[i+1]
		format = format[i+2:]
		switch {
		case verb == '%':
			p.b = append(p.b, '%')
			continue
		case len(args) == 0 || !p.arg(verb, args[0]):
			return false
		}
		args = args[1:]
	}
}

func (p *printer) arg(verb byte, a Value) bool {
	text, isText := a.(string)
	number := kindOf(a) == kindNumber
	switch {
	case verb == 'q' && isText:
		p.b = strconv.AppendQuote(p.b, text)
		return true
	case number && (verb == 'v' || verb == 'd'):
		return p.number(verb, a)
	case number || verb != 'v' && verb != 's':
		return false
	case isText:
		p.b = append(p.b, text...)
	default:
		p.b = AppendText(p.b, a)
	}
	return true
}

// number prints an integer, or as %v a fraction.
func (p *printer) number(verb byte, a Value) bool {
	text := numberText(a)
	if strings.ContainsAny(text, ".eE") {
		f, ok := float(a)
		if ok {
			p.b = strconv.AppendFloat(p.b, f, 'g', -1, 64)
		}
		return ok && verb == 'v'
	}
	i, ok := integer(text)
	p.b = strconv.AppendInt(p.b, i, 10)
	return ok
}
