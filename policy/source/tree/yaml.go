package tree

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/hookc/hookc/internal/fault"
	"github.com/hookc/hookc/policy/diag"
	"gopkg.in/yaml.v3"
)

const (
	// maxNesting bounds how deep a tree may be, maxAliased how many nodes its
	// aliases may mean in all, MaxBytes how large a file may be.
	maxNesting = 100
	maxAliased = 50_000
	MaxBytes   = 8 << 20
)

// ParseYAML reads the one YAML document in src.Content[start:end]. The tree is
// nil when the document is empty or cannot be read. Merge keys (`<<`) are
// resolved.
func ParseYAML(src *diag.Source, start, end int) (*Node, diag.List) {
	if start == 0 {
		start = len(BOM(src.Content[:end]))
	}
	if found := CheckText(src, start, end); found != nil {
		return nil, found
	}
	text := src.Content[start:end]
	doc, err := Document(text)
	if err != nil {
		return nil, diag.List{syntaxError(src, start, text, err)}
	}
	if doc == nil || len(doc.Content) == 0 {
		return nil, nil
	}
	t := &yamlTree{src: src, end: end, lines: yamlLines(text, start), made: map[*yaml.Node]*Node{}, sizes: map[*yaml.Node]int{}}
	root := t.node(doc.Content[0], -1, 0)
	if t.found.HasErrors() && root == nil {
		return nil, t.found
	}
	if root.IsNull() && root.Span.Start == root.Span.End {
		root = nil
	}
	return root, t.found
}

// BOM returns the byte order mark a text begins with, or "".
//
//go:noinline
func BOM(text string) string {
	const mark = "\ufeff"
	if strings.HasPrefix(text, mark) {
		return mark
	}
	return ""
}

var errSecondDocument = errors.New("a second document begins here")

// Document runs the YAML reader. It panics on some malformed texts; that
// is an error of the text like any other.
func Document(text string) (doc *yaml.Node, err error) {
	defer func() {
		if r := recover(); r != nil {
			doc, err = nil, fault.Errorf("yaml: %v", r)
		}
	}()
	dec := yaml.NewDecoder(strings.NewReader(text))
	var first, second yaml.Node
	if err := dec.Decode(&first); errors.Is(err, io.EOF) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	switch err := dec.Decode(&second); {
	case errors.Is(err, io.EOF):
		return &first, nil
	case err != nil:
		return nil, err
	case len(second.Content) == 1 && second.Content[0].Tag == TagNull && second.Content[0].Value == "":
		return &first, nil
	}
	return nil, fault.Errorf("yaml: line %d: %w", second.Line, errSecondDocument)
}

// yamlLines lists the byte offsets at which lines begin, counted as the YAML
// reader counts them: it knows more line breaks than a text editor.
func yamlLines(text string, start int) []int {
	lines := []int{start}
	for i := 0; i < len(text); {
		w, _ := breakAt(text, i)
		if w == 0 {
			i++
			continue
		}
		i += w
		lines = append(lines, start+i)
	}
	return lines
}

// yamlTree turns the reader's nodes into ours.
type yamlTree struct {
	src   *diag.Source
	end   int
	lines []int
	// made holds finished nodes; nil marks one that is being made.
	made map[*yaml.Node]*Node
	// sizes counts the nodes of a finished one, aliases followed.
	sizes   map[*yaml.Node]int
	aliased int
	found   diag.List
}

//go:noinline
func (t *yamlTree) span(start, end int) diag.Span {
	return diag.Span{Source: t.src, Start: start, End: max(start, end)}
}

// offset is the byte at which a node begins; its column counts characters.
func (t *yamlTree) offset(y *yaml.Node) int {
	if y.Line < 1 || y.Line > len(t.lines) {
		return t.end
	}
	at := t.lines[y.Line-1]
	for n := y.Column - 1; n > 0 && at < t.end; n-- {
		at += runeWidth(t.src.Content[at])
	}
	return min(at, t.end)
}

// runeWidth is the width in bytes of the character that begins with b.
func runeWidth(b byte) int {
	switch {
	case b < 0x80:
		return 1
	case b < 0xE0:
		return 2
	case b < 0xF0:
		return 3
	}
	return 4
}

// node converts y, which stands in a collection indented by parent. It
// returns nil after reporting what cannot be converted at all.
func (t *yamlTree) node(y *yaml.Node, parent, depth int) *Node {
	at := t.offset(y)
	if y.Kind == yaml.AliasNode {
		return t.alias(y, at)
	}
	if depth > maxNesting {
		t.found.Add(CodeTooLarge.Report(t.span(at, at+1), "nested deeper than %d levels", maxNesting))
		return nil
	}
	t.made[y] = nil
	var n *Node
	switch y.Kind {
	case yaml.ScalarNode:
		n = t.scalar(y, at, parent)
	case yaml.SequenceNode:
		n = t.list(y, at, depth)
	case yaml.MappingNode:
		n = t.mapping(y, at, depth)
	default:
		panic(fmt.Sprintf("tree: a YAML node of kind %d", y.Kind))
	}
	if n == nil {
		return nil
	}
	t.made[y] = n
	size := 1
	for _, c := range y.Content {
		if c.Kind == yaml.AliasNode {
			c = c.Alias
		}
		size += t.sizes[c]
	}
	t.sizes[y] = size
	return n
}

func (t *yamlTree) alias(y *yaml.Node, at int) *Node {
	span := t.span(at, at+1+len(y.Value))
	n, begun := t.made[y.Alias]
	if n == nil {
		if begun {
			t.found.Add(CodeTooLarge.Report(span, "alias %q means a value that holds the alias itself", y.Value))
		}
		return nil
	}
	t.aliased += t.sizes[y.Alias]
	if t.aliased > maxAliased {
		t.found.Add(CodeTooLarge.Report(span, "the aliases up to %q mean more than %d values", y.Value, maxAliased))
		return nil
	}
	return n
}

func (t *yamlTree) list(y *yaml.Node, at, depth int) *Node {
	n := &Node{Shape: List, Items: make([]*Node, 0, len(y.Content))}
	t.checkTag(y, at, "!!seq")
	end := at + 1
	for _, c := range y.Content {
		item := t.node(c, y.Column-1, depth+1)
		if item == nil {
			return nil
		}
		end = max(end, t.ends(c, item))
		n.Items = append(n.Items, item)
	}
	n.Span = t.span(at, end)
	return n
}

// ends is where the text of a child ends: an alias ends where it is written,
// not where its anchor does.
//
//go:noinline
func (t *yamlTree) ends(y *yaml.Node, n *Node) int {
	if y.Kind == yaml.AliasNode {
		return t.offset(y) + 1 + len(y.Value)
	}
	return n.Span.End
}

func (t *yamlTree) mapping(y *yaml.Node, at, depth int) *Node {
	n := &Node{Shape: Map}
	t.checkTag(y, at, "!!map")
	indent, end := y.Column-1, at+1
	if len(y.Content) > 0 {
		indent = y.Content[0].Column - 1
	}
	var merged []*Node
	for i := 0; i+1 < len(y.Content); i += 2 {
		key, value := t.node(y.Content[i], indent, depth+1), t.node(y.Content[i+1], indent, depth+1)
		if key == nil || value == nil {
			return nil
		}
		end = max(end, t.ends(y.Content[i], key), t.ends(y.Content[i+1], value))
		switch {
		case key.Shape != Scalar:
			t.found.Add(CodeType.Report(key.Span, "a key must be text; this is %s", key.What()))
		case key.Tag == tagMerge:
			merged = append(merged, value)
		default:
			n.Entries = append(n.Entries, Entry{key, value})
		}
	}
	entries, found := checkKeys(n.Entries)
	t.found.Add(found...)
	n.Entries, n.Span = entries, t.span(at, end)
	for _, m := range merged {
		t.merge(n, m)
	}
	return n
}

// merge adds the entries of from, a map or a list of maps, that n lacks.
func (t *yamlTree) merge(n, from *Node) {
	maps := []*Node{from}
	if from.Shape == List {
		maps = from.Items
	}
	for _, m := range maps {
		if m.Shape != Map {
			t.found.Add(CodeType.Report(m.Span, "<< takes a map or a list of maps; this is %s", m.What()))
			continue
		}
		for _, e := range m.Entries {
			if n.Get(e.Key.Text.Value) == nil {
				n.Entries = append(n.Entries, e)
			}
		}
	}
}

func (t *yamlTree) scalar(y *yaml.Node, at, parent int) *Node {
	n := &Node{Shape: Scalar, Tag: y.ShortTag()}
	switch n.Tag {
	case TagText, TagInt, tagFloat, tagBool, TagNull, tagTime, tagMerge:
	default:
		t.found.Add(codeFeature.Report(t.span(at, at+len(y.Tag)), "the tag %s means nothing here", y.Tag).
			WithHint("write the value without a tag"))
		n.Tag = TagText
	}
	n.Text = t.text(y, at, parent)
	n.Span = n.Text.Span
	return n
}

func (t *yamlTree) checkTag(y *yaml.Node, at int, want string) {
	if y.ShortTag() != want {
		t.found.Add(codeFeature.Report(t.span(at, at+len(y.Tag)), "the tag %s means nothing here", y.Tag).
			WithHint("write the value without a tag"))
	}
}

// text finds where each byte of a scalar was written. When its own walk does
// not end in the value the reader decoded, the text keeps the reader's value
// and only the place where it begins.
func (t *yamlTree) text(y *yaml.Node, at, parent int) diag.Text {
	at = t.skipProperties(at)
	indents := []int{parent}
	if y.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0 {
		// An anchor before a collection hides how far the collection is
		// indented; the value tells.
		for i := -1; i < 32; i++ {
			indents = append(indents, i)
		}
	}
	for _, indent := range indents {
		s := scalarScan{text: t.src.Content[:t.end], at: at}
		if s.scan(y, indent) && string(s.value) == y.Value {
			return diag.NewText(y.Value, t.span(at, s.at), s.marks)
		}
	}
	return diag.NewText(y.Value, t.span(at, at+1), nil)
}

func (s *scalarScan) scan(y *yaml.Node, parent int) bool {
	first := byte(0)
	if !s.done() {
		first = s.text[s.at]
	}
	switch {
	case y.Style&yaml.DoubleQuotedStyle != 0:
		return first == '"' && s.double()
	case y.Style&yaml.SingleQuotedStyle != 0:
		return first == '\'' && s.single()
	case y.Style&yaml.LiteralStyle != 0:
		return first == '|' && s.block(false, parent)
	case y.Style&yaml.FoldedStyle != 0:
		return first == '>' && s.block(true, parent)
	}
	return s.plain(y.Value)
}

// skipProperties returns where the value itself begins after an anchor and a
// tag.
func (t *yamlTree) skipProperties(at int) int {
	text := t.src.Content[:t.end]
	start := at
	for at < len(text) {
		w, _ := breakAt(text, at)
		switch {
		case text[at] == '&':
			for at++; at < len(text) && anchorByte(text[at]); {
				at++
			}
		case text[at] == '!':
			for at < len(text) && !blank(text, at) && w == 0 {
				at++
				w, _ = breakAt(text, at)
			}
		case at > start && (blank(text, at) || w > 0):
			at += max(w, 1)
		case at > start && text[at] == '#':
			for at < len(text) && w == 0 {
				at++
				w, _ = breakAt(text, at)
			}
		default:
			return at
		}
	}
	return at
}

func anchorByte(b byte) bool {
	return b >= '0' && b <= '9' || b >= 'A' && b <= 'Z' || b >= 'a' && b <= 'z' || b == '_' || b == '-'
}
