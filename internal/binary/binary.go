// Package binary writes values as bytes and reads them: numbers as varints, texts
// with their length before them. All formats of hookc's are made of it but the
// gate's table. encoding/binary would link reflect into the gate.
package binary

import "math"

// Writer appends values.
type Writer struct{ B []byte }

// Byte appends a byte.
//
//go:noinline
func (b *Writer) Byte(c byte) { b.B = append(b.B, c) }

// Float appends a float64.
func (b *Writer) Float(f float64) {
	for bits, i := math.Float64bits(f), 0; i < 8; i++ {
		b.B = append(b.B, byte(bits>>(8*i)))
	}
}

// Uint appends a number.
//
//go:noinline
func (b *Writer) Uint(v uint64) {
	for v >= 0x80 {
		b.B = append(b.B, byte(v)|0x80)
		v >>= 7
	}
	b.B = append(b.B, byte(v))
}

// Int appends a number that may be negative.
//
//go:noinline
func (b *Writer) Int(v int64) { b.Uint(uint64(v)<<1 ^ uint64(v>>63)) }

// Bool appends a truth value.
//
//go:noinline
func (b *Writer) Bool(v bool) {
	if v {
		b.B = append(b.B, 1)
		return
	}
	b.B = append(b.B, 0)
}

// Text appends a text.
//
//go:noinline
func (b *Writer) Text(s string) {
	b.Uint(uint64(len(s)))
	b.B = append(b.B, s...)
}

// Reader reads what a Writer wrote. What does not fit is zero values and makes
// it Bad; it never panics.
type Reader struct {
	rest []byte
	// texts is a copy of what is read, of which texts are parts; "" where each
	// text is a copy of its own.
	texts string
	bad   bool
}

// NewReader reads bytes, which are not to be changed meanwhile.
//
//go:noinline
func NewReader(b []byte) *Reader { return &Reader{rest: b} }

// NewTextReader reads bytes that are mostly texts: these share one copy of all.
func NewTextReader(b []byte) *Reader { return &Reader{rest: b, texts: string(b)} }

// Bad reports whether anything did not fit.
func (r *Reader) Bad() bool { return r.bad }

// Done reports whether everything was read.
func (r *Reader) Done() bool { return len(r.rest) == 0 }

// Rest is what was not read yet.
func (r *Reader) Rest() []byte { return r.rest }

// Uint reads a number.
func (r *Reader) Uint() uint64 {
	if len(r.rest) > 0 && r.rest[0] < 0x80 {
		c := r.rest[0]
		r.rest = r.rest[1:]
		return uint64(c)
	}
	var v uint64
	for i := 0; i < len(r.rest) && i < 10; i++ {
		c := r.rest[i]
		if i == 9 && c > 1 {
			break
		}
		v |= uint64(c&0x7f) << (7 * i)
		if c < 0x80 {
			r.rest = r.rest[i+1:]
			return v
		}
	}
	r.Fail()
	return 0
}

// Int reads a number that may be negative.
func (r *Reader) Int() int64 {
	v := r.Uint()
	return int64(v>>1) ^ -int64(v&1)
}

// Bool reads a truth value.
func (r *Reader) Bool() bool {
	b := r.Take(1)
	if b == nil || b[0] > 1 {
		r.Fail()
		return false
	}
	return b[0] == 1
}

// Count reads a number of things that follow, each of at least a byte and no
// more than a limit.
func (r *Reader) Count(limit int) int {
	n := r.Uint()
	if n > uint64(limit) || n > uint64(len(r.rest)) {
		r.Fail()
		return 0
	}
	return int(n)
}

// Text reads a text.
func (r *Reader) Text() string {
	if r.texts == "" {
		return string(r.Bytes())
	}
	n := len(r.Bytes())
	end := len(r.texts) - len(r.rest)
	return r.texts[end-n : end]
}

// Byte reads a byte.
func (r *Reader) Byte() byte {
	if len(r.rest) == 0 {
		r.Fail()
		return 0
	}
	c := r.rest[0]
	r.rest = r.rest[1:]
	return c
}

// Float reads a float64.
func (r *Reader) Float() float64 {
	var bits uint64
	for i := range 8 {
		bits |= uint64(r.Byte()) << (8 * i)
	}
	return math.Float64frombits(bits)
}

// Bytes reads a text without copying it.
func (r *Reader) Bytes() []byte {
	n := r.Uint()
	if n > uint64(len(r.rest)) {
		r.Fail()
		return nil
	}
	return r.Take(int(n))
}

// Take reads n bytes as they are; nil when there are not as many.
func (r *Reader) Take(n int) []byte {
	if n < 0 || n > len(r.rest) {
		r.Fail()
		return nil
	}
	out := r.rest[:n:n]
	r.rest = r.rest[n:]
	return out
}

// Fail makes it Bad: a value is none that was written.
//
//go:noinline
func (r *Reader) Fail() { r.bad, r.rest = true, nil }
