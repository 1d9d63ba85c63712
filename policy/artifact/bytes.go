package artifact

// Writer and Reader of values: numbers as varints, texts with their length
// before them. encoding/binary would link reflect into the gate.

// Buffer appends values.
type Buffer struct{ B []byte }

// Uint appends a number.
func (b *Buffer) Uint(v uint64) {
	for v >= 0x80 {
		b.B = append(b.B, byte(v)|0x80)
		v >>= 7
	}
	b.B = append(b.B, byte(v))
}

// Int appends a number that may be negative.
func (b *Buffer) Int(v int64) { b.Uint(uint64(v)<<1 ^ uint64(v>>63)) }

// Bool appends a truth value.
func (b *Buffer) Bool(v bool) {
	if v {
		b.B = append(b.B, 1)
		return
	}
	b.B = append(b.B, 0)
}

// Text appends a text.
func (b *Buffer) Text(s string) {
	b.Uint(uint64(len(s)))
	b.B = append(b.B, s...)
}

// Reader reads what a Buffer wrote. What does not fit is zero values and makes
// it Bad; it never panics.
type Reader struct {
	rest []byte
	bad  bool
}

// NewReader reads bytes, which are not to be changed meanwhile.
func NewReader(b []byte) *Reader { return &Reader{rest: b} }

// Bad reports whether anything did not fit.
func (r *Reader) Bad() bool { return r.bad }

// Done reports whether everything was read.
func (r *Reader) Done() bool { return len(r.rest) == 0 }

// Rest is what was not read yet.
func (r *Reader) Rest() []byte { return r.rest }

// Uint reads a number.
func (r *Reader) Uint() uint64 {
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
	r.fail()
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
		r.fail()
		return false
	}
	return b[0] == 1
}

// Count reads a number of things that follow, each of at least a byte and no
// more than a limit.
func (r *Reader) Count(limit int) int {
	n := r.Uint()
	if n > uint64(limit) || n > uint64(len(r.rest)) {
		r.fail()
		return 0
	}
	return int(n)
}

// Text reads a text.
func (r *Reader) Text() string { return string(r.Bytes()) }

// Bytes reads a text without copying it.
func (r *Reader) Bytes() []byte {
	n := r.Uint()
	if n > uint64(len(r.rest)) {
		r.fail()
		return nil
	}
	return r.Take(int(n))
}

// Take reads n bytes as they are; nil when there are not as many.
func (r *Reader) Take(n int) []byte {
	if n < 0 || n > len(r.rest) {
		r.fail()
		return nil
	}
	out := r.rest[:n:n]
	r.rest = r.rest[n:]
	return out
}

func (r *Reader) fail() { r.bad, r.rest = true, nil }

func le32(b []byte) uint32 {
	return uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16 | uint32(b[3])<<24
}

func appendLE32(b []byte, v uint32) []byte {
	return append(b, byte(v), byte(v>>8), byte(v>>16), byte(v>>24))
}
