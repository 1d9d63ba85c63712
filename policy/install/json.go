package install

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/hookc/hookc/policy/diag"
	"github.com/hookc/hookc/policy/source/tree"
)

// document is a JSON text, comments and commas before a closing bracket
// allowed, that is edited by inserting and cutting. Whatever is not inserted
// or cut keeps its bytes.
type document struct {
	text []byte
	root *tree.Node
}

// parse reads a text without a byte order mark.
func parse(name string, text []byte) (*document, error) {
	root, found := tree.ParseLoose(diag.NewSource(name, string(text)))
	if root != nil {
		return &document{text, root}, nil
	}
	what, line, col := "it ends before the value does", 0, 0
	if line, col = position(text, len(text)); len(found) > 0 {
		line, col = found[0].Span.Position()
		what = strings.TrimPrefix(found[0].Text, "not JSON: ")
	}
	return nil, &Problem{name, line, col, "it is not valid JSON: " + what}
}

// text is the value of a string, "" for anything else.
func text(v *tree.Node) string {
	if v.Shape == tree.Scalar && v.Tag == tree.TagText {
		return v.Text.Value
	}
	return ""
}

// twice is the second place at which an object has a key, or -1.
//
//go:noinline
func twice(v *tree.Node) int {
	seen := map[string]bool{}
	for _, e := range v.Entries {
		if seen[e.Key.Text.Value] {
			return e.Key.Span.Start
		}
		seen[e.Key.Text.Value] = true
	}
	return -1
}

// span is the bytes [start,end) of an item of a container.
type span struct{ start, end int }

// items are the places of a container's elements or members.
//
//go:noinline
func items(v *tree.Node) []span {
	var out []span
	for _, item := range v.Items {
		out = append(out, span{item.Span.Start, item.Span.End})
	}
	for _, e := range v.Entries {
		out = append(out, span{e.Key.Span.Start, e.Value.Span.End})
	}
	return out
}

// plain is a value as encoding/json has it, nil for a number beyond float64: nobody's
// hook.
func plain(v *tree.Node) (out any) {
	if data, err := json.Marshal(v.Value()); err == nil {
		_ = json.Unmarshal(data, &out)
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
//
//go:noinline
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
			if indent := strings.TrimPrefix(d.indentAt(at.start), d.indentAt(d.root.Span.Start)); indent != "" {
				return indent
			}
		}
	}
	return "  "
}

// oneLine reports whether the text, which is not empty, has a single line.
func (d *document) oneLine() bool {
	return len(items(d.root)) > 0 && !bytes.Contains(d.text[:d.root.Span.End], []byte("\n"))
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
func (d *document) append(v *tree.Node, key string, value any) []insertion {
	all, end := items(v), v.Span.End-1
	from := v.Span.Start + 1
	if len(all) > 0 {
		from = all[len(all)-1].end
	}
	comma, at, line := d.scan(from, end)
	outer := d.indentAt(v.Span.Start)
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
func (d *document) cut(v *tree.Node, i int) []span {
	all, end := items(v), v.Span.End-1
	it := all[i]
	next := end
	if i+1 < len(all) {
		next = all[i+1].start
	}
	begin := it.start
	for begin > 0 && bytes.IndexByte([]byte(" \t\r\n"), d.text[begin-1]) >= 0 {
		begin--
	}
	from := v.Span.Start + 1
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
//
//go:noinline
func (d *document) without(list []span) []byte {
	var out []byte
	done := 0
	for _, s := range list {
		out = append(out, d.text[done:s.start]...)
		done = s.end
	}
	return append(out, d.text[done:]...)
}
