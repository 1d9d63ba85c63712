package wire

// Whole finds the end of a JSON object, or list, in a stream that is read piece
// by piece: an agent may leave its end open after the event. What is not JSON
// has no end here, and is read until the stream ends. The zero Whole is ready.
type Whole struct {
	depth   int
	text    bool // within a string
	escaped bool // after a backslash in one
	other   bool // it begins as no object
	done    bool
}

// Add takes the next piece and reports whether the object has ended in it or
// before.
func (w *Whole) Add(b []byte) bool {
	for i := 0; i < len(b) && !w.done && !w.other; i++ {
		c := b[i]
		switch {
		case w.escaped:
			w.escaped = false
		case w.text:
			w.escaped, w.text = c == '\\', c != '"'
		case c == '{' || c == '[':
			w.depth++
		case c == '}' || c == ']':
			w.depth--
			w.done, w.other = w.depth == 0, w.depth < 0
		case c == '"':
			w.text = true
			w.other = w.depth == 0
		case w.depth == 0:
			w.other = !space(c)
		}
	}
	return w.done
}

// space reports whether a byte may stand before an event: white space, or one of
// a byte order mark.
func space(c byte) bool {
	switch c {
	case ' ', '\t', '\r', '\n', 0xEF, 0xBB, 0xBF:
		return true
	}
	return false
}
