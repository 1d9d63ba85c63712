package install

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/tailscale/hujson"
)

// document is a JSON text, comments and commas before a closing bracket
// allowed, that is edited by inserting and cutting. Whatever is not inserted
// or cut keeps its bytes.
type document struct {
	text []byte
	root *hujson.Value
}

// parse reads a text without a byte order mark.
func parse(text []byte) (*document, error) {
	v, err := hujson.Parse(text)
	if err != nil {
		return nil, err
	}
	return &document{text, &v}, nil
}

// parsePosition takes the place out of the parser's message.
func parsePosition(err error) (line, col int, text string) {
	text = strings.TrimPrefix(err.Error(), "hujson: ")
	if n, _ := fmt.Sscanf(text, "line %d, column %d:", &line, &col); n != 2 {
		return 1, 1, text
	}
	if _, rest, ok := strings.Cut(text, ": "); ok {
		text = rest
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		text = "it ends before the value does"
	}
	return line, col, text
}

// name is a member's key.
func name(m *hujson.ObjectMember) string { return text(&m.Name) }

// text is the value of a string, "" for anything else.
func text(v *hujson.Value) string {
	if l, ok := v.Value.(hujson.Literal); ok && l.Kind() == '"' {
		return l.String()
	}
	return ""
}

// member finds a key of an object.
func member(v *hujson.Value, key string) *hujson.Value {
	if o, ok := v.Value.(*hujson.Object); ok {
		for i := range o.Members {
			if name(&o.Members[i]) == key {
				return &o.Members[i].Value
			}
		}
	}
	return nil
}

// twice is the second place at which an object has a key, or -1.
func twice(v *hujson.Value) int {
	o, ok := v.Value.(*hujson.Object)
	if !ok {
		return -1
	}
	seen := map[string]bool{}
	for i := range o.Members {
		if seen[name(&o.Members[i])] {
			return o.Members[i].Name.StartOffset
		}
		seen[name(&o.Members[i])] = true
	}
	return -1
}

// elements are the values of a list, nil for anything else.
func elements(v *hujson.Value) []hujson.Value {
	if a, ok := v.Value.(*hujson.Array); ok {
		return a.Elements
	}
	return nil
}

// span is the bytes [start,end) of an item of a container.
type span struct{ start, end int }

// items are the places of a container's elements or members.
func items(v *hujson.Value) []span {
	var out []span
	switch c := v.Value.(type) {
	case *hujson.Array:
		for i := range c.Elements {
			out = append(out, span{c.Elements[i].StartOffset, c.Elements[i].EndOffset})
		}
	case *hujson.Object:
		for i := range c.Members {
			out = append(out, span{c.Members[i].Name.StartOffset, c.Members[i].Value.EndOffset})
		}
	}
	return out
}

// plain is a value as Go has it.
func (d *document) plain(v *hujson.Value) any {
	std, err := hujson.Standardize(bytes.Clone(d.text[v.StartOffset:v.EndOffset]))
	if err != nil {
		panic("install: what was parsed cannot be standardized: " + err.Error())
	}
	var out any
	if err := json.Unmarshal(std, &out); err != nil {
		return nil // a number beyond float64: nobody's hook
	}
	return out
}

// scan finds in the gap [from,to) between tokens the comma, or -1, the end of
// the last comment, or from, and whether that comment ends with its line.
func (d *document) scan(from, to int) (comma, last int, line bool) {
	comma, last = -1, from
	for i := from; i < to; {
		switch rest := d.text[i:to]; {
		case rest[0] == ',':
			comma, last, line = i, i+1, false
			i++
		case bytes.HasPrefix(rest, []byte("//")):
			n := bytes.IndexByte(rest, '\n')
			if n < 0 {
				n = len(rest)
			}
			i += n
			last, line = i, true
			if i > 0 && d.text[i-1] == '\r' {
				last--
			}
		case bytes.HasPrefix(rest, []byte("/*")):
			i += bytes.Index(rest, []byte("*/")) + 2
			last, line = i, false
		default:
			i++
		}
	}
	return comma, last, line
}

// indentAt is the white space the line of a byte begins with.
func (d *document) indentAt(at int) string {
	begin := bytes.LastIndexByte(d.text[:at], '\n') + 1
	end := begin
	for end < len(d.text) && (d.text[end] == ' ' || d.text[end] == '\t') {
		end++
	}
	return string(d.text[begin:end])
}

// unit is one step of indentation in the text: that of the outermost members.
func (d *document) unit() string {
	for _, at := range items(d.root) {
		if d.first(at.start) {
			if indent := strings.TrimPrefix(d.indentAt(at.start), d.indentAt(d.root.StartOffset)); indent != "" {
				return indent
			}
		}
	}
	return "  "
}

// oneLine reports whether the text, which is not empty, has a single line.
func (d *document) oneLine() bool {
	return len(items(d.root)) > 0 && !bytes.Contains(d.text[:d.root.EndOffset], []byte("\n"))
}

// first reports whether a byte is the first of its line that is not space.
func (d *document) first(at int) bool {
	begin := bytes.LastIndexByte(d.text[:at], '\n') + 1
	return begin > 0 && len(bytes.Trim(d.text[begin:at], " \t")) == 0
}

// insertion is text to put at a byte.
type insertion struct {
	at   int
	text string
}

// append adds an item at the end of a container: a member when key is not "".
func (d *document) append(v *hujson.Value, key string, value any) []insertion {
	all, end := items(v), v.EndOffset-1
	from := v.StartOffset + 1
	if len(all) > 0 {
		from = all[len(all)-1].end
	}
	comma, at, line := d.scan(from, end)
	outer := d.indentAt(v.StartOffset)
	w := writer{unit: d.unit(), nl: lineEnd(d.text)}
	space := ""
	switch {
	case len(all) > 0 && d.first(all[0].start):
		w.indent = d.indentAt(all[0].start)
	case len(all) > 0 && !line, len(all) == 0 && d.oneLine():
		w.compact, space = true, " "
	default:
		w.indent = outer + w.unit
	}
	switch {
	case !w.compact:
		space = w.nl + w.indent
	case len(all) == 0:
		space = ""
	}
	item := space + w.item(key, value)
	switch {
	case len(all) == 0 && !w.compact && !bytes.Contains(d.text[at:end], []byte("\n")):
		return []insertion{{at, item + w.nl + outer}}
	case len(all) == 0:
		return []insertion{{at, item}}
	case comma >= 0:
		return []insertion{{at, item + ","}}
	case at == from:
		return []insertion{{at, "," + item}}
	}
	return []insertion{{from, ","}, {at, item}}
}

// cut is the bytes to take out so that item i of a container is gone: its own,
// the white space before it and one comma.
func (d *document) cut(v *hujson.Value, i int) []span {
	all, end := items(v), v.EndOffset-1
	it := all[i]
	next := end
	if i+1 < len(all) {
		next = all[i+1].start
	}
	begin := it.start
	for begin > 0 && bytes.IndexByte([]byte(" \t\r\n"), d.text[begin-1]) >= 0 {
		begin--
	}
	from := v.StartOffset + 1
	if i > 0 {
		from = all[i-1].end
	}
	before, last, line := d.scan(from, it.start)
	comma, _, _ := d.scan(it.end, next)
	out := []span{{begin, it.end}}
	if comma >= 0 {
		if comma == it.end {
			out[0].end++
		} else {
			out = append(out, span{comma, comma + 1})
		}
	} else if i > 0 {
		out = append([]span{{before, before + 1}}, out...)
		if before+1 == begin {
			out = []span{{before, it.end}}
		}
	}
	// A comment that ends with its line must not swallow what follows.
	after := out[len(out)-1].end
	if line && last >= begin-1 && !lineBreak(d.text[after:]) {
		for k := range out {
			if out[k].start == begin {
				out[k].start = begin + len(breakAt(d.text[begin:]))
			}
		}
	}
	return out
}

// lineBreak reports whether only space stands before the end of the line.
func lineBreak(rest []byte) bool {
	rest = bytes.TrimLeft(rest, " \t\r")
	return len(rest) > 0 && rest[0] == '\n'
}

func breakAt(s []byte) []byte {
	if bytes.HasPrefix(s, []byte("\r\n")) {
		return s[:2]
	}
	return s[:1]
}

// with is the text with the insertions, ascending.
func (d *document) with(list []insertion) []byte {
	var out []byte
	done := 0
	for _, in := range list {
		out = append(append(out, d.text[done:in.at]...), in.text...)
		done = in.at
	}
	return append(out, d.text[done:]...)
}

// without is the text without the spans, ascending.
func (d *document) without(list []span) []byte {
	var out []byte
	done := 0
	for _, s := range list {
		out = append(out, d.text[done:s.start]...)
		done = s.end
	}
	return append(out, d.text[done:]...)
}
