package solve

import (
	"fmt"
	"slices"
	"strings"
)

// Closed reports whether a formula says all there is to say of an event, in terms of
// it: what does not fulfil it is then known as well as what does.
func (f *Formula) Closed() bool {
	switch f.op {
	case isUnknown, isSome:
		return false
	case isAtom:
		return f.atom.a.closed() && (f.atom.b == nil || f.atom.b.closed())
	}
	return !slices.ContainsFunc(f.parts, func(p *Formula) bool { return !p.Closed() })
}

//go:noinline
func (t *Term) closed() bool {
	return t.op != isElement && t.op != isOpaque && !slices.ContainsFunc(t.args, func(a *Term) bool { return !a.closed() })
}

// Key is the same for formulas that were made in the same way. Others have other
// keys, though they may mean the same.
func (f *Formula) Key() string {
	var b strings.Builder
	f.key(&b)
	return b.String()
}

func (f *Formula) key(b *strings.Builder) {
	fmt.Fprintf(b, "%d(%s", f.op, f.why)
	if a := f.atom; a != nil {
		fmt.Fprintf(b, "%d %d %p %s", a.op, a.kinds, a.lang, a.a.id)
		if a.b != nil {
			b.WriteString(" " + a.b.id)
		}
	}
	for _, p := range f.parts {
		p.key(b)
	}
	b.WriteByte(')')
}
