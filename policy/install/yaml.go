package install

import (
	"fmt"
	"strings"

	"github.com/hookc/hookc/policy/diag"
	"github.com/hookc/hookc/policy/source/tree"
)

// tree reads a YAML file of events; nil for an empty one.
func (t *Target) tree(content []byte) (*tree.Node, error) {
	src := diag.NewSource(t.Name, string(content))
	root, found := tree.ParseYAML(src, 0, len(src.Content))
	if err := t.syntax(found); err != nil {
		return nil, err
	}
	if root != nil && root.Shape != tree.Map {
		return nil, t.problem(content, root.Span.Start, "it is no map of events")
	}
	return root, nil
}

func (t *Target) readYAML(content []byte) ([]Found, map[string]any, error) {
	root, err := t.tree(content)
	if err != nil || root == nil {
		return nil, nil, err
	}
	var out []Found
	for _, e := range root.Entries {
		for _, item := range e.Value.Items {
			if item.Shape != tree.Map {
				continue
			}
			f := t.treeHook(e.Key.Text.Value, "", item)
			if filter := item.Get("filter"); filter != nil {
				f.Matcher, f.Odd = yamlMatcher(filter)
			}
			out = append(out, f)
		}
	}
	settings, _ := root.Value().(map[string]any)
	return out, settings, nil
}

// yamlMatcher is the condition of a filter on the tool's name; odd when there
// are others.
func yamlMatcher(filter *tree.Node) (text string, odd bool) {
	v := filter.Get("tool_name")
	if v == nil {
		v = filter.Get("tool_matcher")
	}
	if v == nil {
		return "", len(filter.Entries) > 0
	}
	return v.Text.Value, len(filter.Entries) > 1
}

// writeYAML adds each entry to its event's list, which is made at the end of
// the file where there is none.
func (t *Target) writeYAML(content []byte, want []Entry) ([]byte, error) {
	var missing []Entry
	out := content
	for _, e := range want {
		root, err := t.tree(out)
		if err != nil {
			return nil, err
		}
		var list *tree.Node
		if root != nil {
			list = root.Get(e.Event)
		}
		if list == nil {
			missing = append(missing, e)
			continue
		}
		at, indent, err := t.listEnd(out, list)
		if err != nil {
			return nil, err
		}
		lines := append(append([]string{beginLine}, t.yamlItem(e)...), endLine)
		for i := range lines {
			lines[i] = indent + lines[i]
		}
		out = addLines(out, at, lines)
	}
	if len(missing) == 0 {
		return out, nil
	}
	lines := []string{beginLine}
	for _, e := range missing {
		lines = append(lines, e.Event+":")
		for _, l := range t.yamlItem(e) {
			lines = append(lines, "  "+l)
		}
	}
	return addLines(out, len(out), append(lines, endLine)), nil
}

func (t *Target) yamlItem(e Entry) []string {
	out := []string{"- type: " + t.Handler.Type, "  " + t.Handler.Command + ": " + scalar(e.Command),
		fmt.Sprintf("  %s: %d", t.Handler.Timeout, t.count(e.Timeout))}
	if e.Matcher != "" {
		out = append(out, "  filter:", "    tool_matcher: "+scalar(e.Matcher))
	}
	return out
}

// listEnd is where a further item of a block list goes, and how far its dash
// is indented. Any other form of list is a problem.
func (t *Target) listEnd(content []byte, list *tree.Node) (at int, indent string, err error) {
	if list.Shape != tree.List || len(list.Items) == 0 {
		return 0, "", t.problem(content, list.Span.Start, "an item can be added only to a list with a dash before each item")
	}
	line, _ := position(content, list.Items[0].Span.Start)
	for ; line > 0; line-- {
		text := textOf(content, line)
		trimmed := strings.TrimLeft(text, " ")
		if dash(trimmed) {
			indent = text[:len(text)-len(trimmed)]
			break
		}
		if strings.TrimSpace(text) != "" {
			line = 0
			break
		}
	}
	if line == 0 {
		return 0, "", t.problem(content, list.Span.Start, "an item can be added only to a list with a dash before each item, each on a line of its own")
	}
	last := line
	for n, total := line+1, 1+strings.Count(string(content), "\n"); n <= total; n++ {
		text := textOf(content, n)
		trimmed := strings.TrimLeft(text, " ")
		depth := len(text) - len(trimmed)
		switch {
		case strings.TrimSpace(text) == "", strings.HasPrefix(trimmed, "#"):
			continue
		case depth < len(indent), depth == len(indent) && !dash(trimmed):
			return min(lineStart(content, last+1), len(content)), indent, nil
		}
		last = n
	}
	return endOfLine(content, last), indent, nil
}

// endOfLine is the byte after a line, its line end included if it has one.
func endOfLine(content []byte, line int) int {
	at := lineStart(content, line)
	if n := strings.IndexByte(string(content[at:]), '\n'); n >= 0 {
		return at + n + 1
	}
	return len(content)
}

func dash(trimmed string) bool {
	return trimmed == "-" || trimmed == "-\r" || strings.HasPrefix(trimmed, "- ")
}

// textOf is a line without its end.
func textOf(content []byte, line int) string {
	at := lineStart(content, line)
	return strings.TrimRight(string(content[at:endOfLine(content, line)]), "\r\n")
}
