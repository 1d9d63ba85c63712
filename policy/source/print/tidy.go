package print

import (
	"bytes"
	"errors"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/hookc/hookc/internal/fault"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy/diag"
	"github.com/hookc/hookc/policy/source"
	"github.com/hookc/hookc/policy/source/tree"
)

// Tidy is a hooks.yaml, or with the name HOOK.md the frontmatter of one, laid out
// as everybody's: indented by two, lists below their keys, texts that are quoted
// in double quotes unless that needs escapes, a collection in braces on one line
// or else in lines of its own, at most one empty line, none at the end. Order,
// comments, anchors and empty lines between entries stay, and so do the columns of
// comments at the ends of lines. What it says stays too:
// the result is read again and compared, and the error says what would have been
// lost where that cannot be. Tidy of its own result changes nothing.
func Tidy(name string, data []byte) ([]byte, error) {
	text := string(data)
	if !strings.HasSuffix(name, source.HookFile) {
		return tidied(name, text)
	}
	head, fields, rest, err := source.CutFrontmatter(name, text)
	if err != nil {
		return nil, err
	}
	out, err := tidied(name, fields)
	if err != nil {
		return nil, err
	}
	return lists.Concat([]byte(head), out, []byte(rest)), nil
}

// tidied lays one document out.
func tidied(name, text string) ([]byte, error) {
	src := diag.NewSource(name, text)
	tree, found := tree.ParseYAML(src, 0, len(src.Content))
	if found.HasErrors() {
		return nil, found.Err()
	}
	if tree == nil {
		return []byte(text), nil // nothing, or comments alone
	}
	once, err := laidOut(text)
	if err != nil {
		return nil, fault.Errorf("%s: %w", name, err)
	}
	if err := sameYAML(text, string(once)); err != nil {
		return nil, fault.Errorf("%s cannot be laid out: %w", name, err)
	}
	for range 3 { // where comments go may take a second look
		twice, err := laidOut(string(once))
		if err != nil {
			return nil, fault.Errorf("%s: %w", name, err)
		}
		if bytes.Equal(once, twice) {
			return once, nil
		}
		once = twice
	}
	return nil, fault.Errorf("%s cannot be laid out: its comments do not keep their places", name)
}

// laidOut writes a document again, empty lines between entries included. The YAML
// writer panics on what it cannot write; that is an error of the text.
func laidOut(text string) (out []byte, err error) {
	defer func() {
		if r := recover(); r != nil {
			out, err = nil, fault.Errorf("yaml: %v", r)
		}
	}()
	text = strings.TrimPrefix(text, tree.BOM(text))
	doc, err := tree.Document(text)
	if err != nil {
		return nil, err
	}
	lines := lineList(text)
	spaced, folded, commented := spaces(doc, lines), foldedTexts(doc, lines), columns(doc, lines)
	restyle(doc)
	var b bytes.Buffer
	enc := yaml.NewEncoder(&b)
	enc.SetIndent(2)
	if err := enc.Encode(doc); err != nil {
		return nil, err
	}
	if err := enc.Close(); err != nil {
		return nil, err
	}
	again, err := tree.Document(b.String())
	if err != nil {
		return nil, err
	}
	refolded := refold(again, lineList(b.String()), folded)
	if again, err = tree.Document(refolded); err != nil {
		return nil, err
	}
	out, err = respaced(again, refolded, spaced)
	if err != nil {
		return nil, err
	}
	if again, err = tree.Document(string(out)); err != nil {
		return nil, err
	}
	return []byte(aligned(again, string(out), commented)), nil
}

//go:noinline
func lineList(text string) []string { return strings.Split(text, "\n") }

// whole is a node and all that is below it, in the order they are written.
func whole(n *yaml.Node) []*yaml.Node {
	out := []*yaml.Node{n}
	for _, c := range n.Content {
		out = append(out, whole(c)...)
	}
	return out
}

// restyle gives every node its canonical style.
func restyle(doc *yaml.Node) {
	for _, n := range whole(doc) {
		switch n.Kind {
		case yaml.MappingNode, yaml.SequenceNode:
			if n.Style&yaml.FlowStyle != 0 && len(n.Content) > 0 && lastLine(n) > n.Line {
				n.Style &^= yaml.FlowStyle
			}
		case yaml.ScalarNode:
			if n.Tag == "!!merge" {
				n.Tag = "" // it would be written
			}
			if n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle) != 0 {
				n.Style = n.Style&^(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle) | quoting(n.Value)
			}
		}
	}
}

// quoting is how a text is quoted: in double quotes, unless it has what must be
// escaped there and nothing that only they can write.
func quoting(text string) yaml.Style {
	if !strings.ContainsAny(text, `"\`) {
		return yaml.DoubleQuotedStyle
	}
	for _, r := range text {
		if r < ' ' || r == 0x7f || r == 0x85 || r == 0xa0 || r >= 0x2028 && r <= 0x2029 || r == 0xfeff {
			return yaml.DoubleQuotedStyle
		}
	}
	return yaml.SingleQuotedStyle
}

// lastLine is the last line on which a part of a collection begins.
//
//go:noinline
func lastLine(n *yaml.Node) int {
	line := n.Line
	for _, c := range n.Content {
		line = max(line, lastLine(c))
	}
	return line
}

// errNotSame is what would be lost.
var errNotSame = errors.New("it would not say the same")

// sameYAML compares two documents: values, tags, anchors and comments.
func sameYAML(a, b string) error {
	x, err := tree.Document(strings.TrimPrefix(a, tree.BOM(a)))
	if err != nil {
		return err
	}
	y, err := tree.Document(b)
	if err != nil {
		return err
	}
	if err := sameNodes(x, y); err != nil {
		return err
	}
	if before, after := comments(x), comments(y); !lists.Equal(before, after) {
		return errors.New("a comment would be lost")
	}
	return nil
}

func sameNodes(a, b *yaml.Node) error {
	if a.Kind != b.Kind || a.ShortTag() != b.ShortTag() || a.Value != b.Value || a.Anchor != b.Anchor || len(a.Content) != len(b.Content) {
		return fault.Errorf("line %d: %w", a.Line, errNotSame)
	}
	for i := range a.Content {
		if err := sameNodes(a.Content[i], b.Content[i]); err != nil {
			return err
		}
	}
	return nil
}

// comments are the lines of all comments, sorted: which entry one belongs to is
// the reader's guess.
func comments(doc *yaml.Node) []string {
	var out []string
	for _, n := range whole(doc) {
		for _, text := range []string{n.HeadComment, n.LineComment, n.FootComment} {
			for line := range strings.Lines(text) {
				if line = strings.TrimSpace(line); line != "" {
					out = append(out, line)
				}
			}
		}
	}
	lists.Sort(out)
	return out
}
