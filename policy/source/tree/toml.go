package tree

import (
	"errors"
	"strings"

	"github.com/pelletier/go-toml/v2/unstable"

	"github.com/hookc/hookc/policy/diag"
)

// ParseTOML reads a TOML file into the same tree as YAML and JSON. The tree is
// nil when the file cannot be read. A key that is written twice is reported,
// and the first counts.
func ParseTOML(src *diag.Source) (*Node, diag.List) {
	start := len(BOM(src.Content))
	if found := CheckText(src, start, len(src.Content)); found != nil {
		return nil, found
	}
	t := &tomlTree{src: src, start: start, fixed: map[*Node]bool{}}
	t.parser.Reset([]byte(src.Content[start:]))
	t.root = &Node{Shape: Map, Span: t.span(0, len(src.Content)-start)}
	t.table = t.root
	for t.parser.NextExpression() {
		if !t.expression(t.parser.Expression()) {
			return nil, t.found
		}
	}
	if err := t.parser.Error(); err != nil {
		return nil, diag.List{t.syntax(err)}
	}
	return t.root, t.found
}

// tomlTree turns the reader's expressions into one tree.
type tomlTree struct {
	src    *diag.Source
	start  int
	parser unstable.Parser
	// root is the whole, table what key = value adds to now.
	root, table *Node
	// fixed are tables that have had their header or stand between braces, and
	// lists that stand between brackets: nothing may be added from elsewhere.
	fixed map[*Node]bool
	found diag.List
}

//go:noinline
func (t *tomlTree) span(start, end int) diag.Span {
	return diag.Span{Source: t.src, Start: t.start + start, End: t.start + max(start, end)}
}

//go:noinline
func (t *tomlTree) at(r unstable.Range) diag.Span {
	return t.span(int(r.Offset), int(r.Offset)+int(r.Length))
}

func (t *tomlTree) syntax(err error) diag.Diagnostic {
	var bad *unstable.ParserError
	if !errors.As(err, &bad) {
		return CodeSyntax.Report(t.span(0, 0), "not TOML: %v", err)
	}
	span := t.span(len(t.src.Content)-t.start, len(t.src.Content)-t.start)
	if len(bad.Highlight) > 0 {
		span = t.at(t.parser.Range(bad.Highlight))
	}
	return CodeSyntax.Report(span, "not TOML: %s", bad.Message)
}

// expression adds one line: a header or a key with its value. It reports
// whether reading can go on.
func (t *tomlTree) expression(e *unstable.Node) bool {
	switch e.Kind {
	case unstable.KeyValue:
		return t.keyValue(t.table, e, 0)
	case unstable.Table:
		return t.header(t.keys(e.Key()), false)
	case unstable.ArrayTable:
		return t.header(t.keys(e.Key()), true)
	}
	return true // a comment
}

// keys are the parts of a dotted key.
func (t *tomlTree) keys(it unstable.Iterator) []*Node {
	var out []*Node
	for it.Next() {
		out = append(out, t.text(it.Node()))
	}
	return out
}

// text is a scalar as written, each byte with its place where no escape
// stands between.
func (t *tomlTree) text(n *unstable.Node) *Node {
	span, value := t.at(n.Raw), string(n.Data)
	var l lift
	raw := string(t.parser.Raw(n.Raw))
	if at := strings.Index(raw, value); at >= 0 {
		l.put(value, span.Start+at)
	} else {
		l.escape(value, span.Start)
	}
	return &Node{Shape: Scalar, Tag: TagText, Span: span, Text: diag.NewText(value, span, l.marks)}
}

// Entry is the entry of a map with a key, nil if there is none.
//
//go:noinline
func (n *Node) Entry(key string) *Entry {
	for i := range n.Entries {
		if n.Entries[i].Key.Text.Value == key {
			return &n.Entries[i]
		}
	}
	return nil
}

func (t *tomlTree) twice(key, first *Node) {
	line, col := first.Span.Position()
	t.found.Add(codeDuplicateKey.Report(key.Span, "key %q is written twice; first at %d:%d", key.Text.Value, line, col).WithHint("keep one of the two"))
}

// header makes the table that the lines below it fill.
func (t *tomlTree) header(keys []*Node, list bool) bool {
	in, ok := t.reach(t.root, keys[:len(keys)-1])
	if !ok {
		return false
	}
	last := keys[len(keys)-1]
	fresh := &Node{Shape: Map, Span: last.Span}
	e := in.Entry(last.Text.Value)
	switch {
	case e == nil && list:
		in.Entries = append(in.Entries, Entry{last, &Node{Shape: List, Span: last.Span, Items: []*Node{fresh}}})
	case e == nil:
		in.Entries = append(in.Entries, Entry{last, fresh})
	case list && e.Value.Shape == List && !t.fixed[e.Value]:
		e.Value.Items = append(e.Value.Items, fresh)
	case !list && e.Value.Shape == Map && !t.fixed[e.Value]:
		fresh = e.Value
	default:
		t.twice(last, e.Key)
		t.table = fresh // what follows it is lost, and said to be
		return true
	}
	if !list {
		t.fixed[fresh] = true
	}
	t.table = fresh
	return true
}

// reach goes down a dotted key, making the tables on the way. Of a list of
// tables the last is meant.
func (t *tomlTree) reach(in *Node, keys []*Node) (*Node, bool) {
	for _, key := range keys {
		e := in.Entry(key.Text.Value)
		if e == nil {
			next := &Node{Shape: Map, Span: key.Span}
			in.Entries = append(in.Entries, Entry{key, next})
			in = next
			continue
		}
		next := e.Value
		if next.Shape == List && len(next.Items) > 0 && !t.fixed[next] {
			next = next.Items[len(next.Items)-1]
		}
		if next.Shape != Map {
			t.found.Add(CodeSyntax.Report(key.Span, "not TOML: %q is no table", key.Text.Value))
			return nil, false
		}
		in = next
	}
	return in, true
}

// keyValue adds a key with its value to a table.
func (t *tomlTree) keyValue(table *Node, e *unstable.Node, depth int) bool {
	keys := t.keys(e.Key())
	in, ok := t.reach(table, keys[:len(keys)-1])
	if !ok {
		return false
	}
	value := t.value(e.Value(), depth)
	if value == nil {
		return false
	}
	last := keys[len(keys)-1]
	if old := in.Entry(last.Text.Value); old != nil {
		t.twice(last, old.Key)
		return true
	}
	in.Entries = append(in.Entries, Entry{last, value})
	return true
}

var tomlTags = map[unstable.Kind]string{
	unstable.String: TagText, unstable.Bool: tagBool, unstable.Integer: TagInt, unstable.Float: tagFloat,
	unstable.DateTime: tagTime, unstable.LocalDate: tagTime, unstable.LocalTime: tagTime, unstable.LocalDateTime: tagTime,
}

// value converts one value, nil after reporting one that is nested too deep.
func (t *tomlTree) value(v *unstable.Node, depth int) *Node {
	if depth > maxNesting {
		t.found.Add(CodeTooLarge.Report(t.at(v.Raw), "nested deeper than %d levels", maxNesting))
		return nil
	}
	if tag, ok := tomlTags[v.Kind]; ok {
		n := t.text(v)
		n.Tag = tag
		return n
	}
	n := &Node{Shape: List, Span: t.at(v.Raw)}
	if v.Kind == unstable.InlineTable {
		n.Shape = Map
	}
	for it := v.Children(); it.Next(); {
		child := it.Node()
		switch {
		case child.Kind == unstable.Comment:
		case n.Shape == Map:
			if !t.keyValue(n, child, depth+1) {
				return nil
			}
		default:
			item := t.value(child, depth+1)
			if item == nil {
				return nil
			}
			n.Items = append(n.Items, item)
			if n.Span.Start == n.Span.End {
				n.Span = item.Span
			}
		}
	}
	t.fixed[n] = true
	return n
}
