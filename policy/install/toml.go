package install

import (
	"fmt"
	"strings"

	"github.com/hookc/hookc/policy/agent"
	"github.com/hookc/hookc/policy/diag"
	"github.com/hookc/hookc/policy/source/tree"
)

func (t *Target) readTOML(content []byte) ([]Found, map[string]any, error) {
	root, found := tree.ParseTOML(diag.NewSource(t.Name, string(content)))
	if err := t.syntax(found); err != nil {
		return nil, nil, err
	}
	var out []Found
	hooks := root.Get("hooks")
	switch {
	case hooks == nil:
	case t.Layout == agent.FlatTables:
		for _, h := range hooks.Items {
			out = append(out, t.treeHook(textAt(h, "event"), textAt(h, "matcher"), h))
		}
	default:
		for _, e := range hooks.Entries {
			for _, g := range e.Value.Items {
				for _, h := range itemsAt(g, "hooks") {
					out = append(out, t.treeHook(e.Key.Text.Value, textAt(g, "matcher"), h))
				}
			}
		}
	}
	settings, _ := root.Value().(map[string]any)
	return out, settings, nil
}

// syntax is the first error of a reader.
func (t *Target) syntax(found diag.List) error {
	for _, d := range found {
		if d.Severity == diag.Error {
			line, col := d.Span.Position()
			return &Problem{t.Name, line, col, d.Text}
		}
	}
	return nil
}

// treeHook is one hook of a tree.
func (t *Target) treeHook(event, matcher string, h *tree.Node) Found {
	f := Found{Event: event, Matcher: matcher, Command: textAt(h, t.Handler.Command)}
	f.Own = t.Own(f.Command)
	f.Line, _ = h.Span.Position()
	if v := h.Get(t.Handler.Timeout); v != nil {
		if n, ok := v.Float(); ok {
			f.Timeout = t.duration(n)
		}
	}
	return f
}

// textAt is the text under a key, "" when there is none.
func textAt(n *tree.Node, key string) string {
	if v := n.Get(key); v != nil && v.IsText() {
		return v.Text.Value
	}
	return ""
}

func itemsAt(n *tree.Node, key string) []*tree.Node {
	if v := n.Get(key); v != nil {
		return v.Items
	}
	return nil
}

func (t *Target) writeTOML(want []Entry) []string {
	out := []string{beginLine}
	for i, e := range want {
		if i > 0 {
			out = append(out, "")
		}
		matcher := "matcher = " + tomlText(e.Matcher)
		if t.Layout == agent.FlatTables {
			out = append(out, "[[hooks]]", "event = "+tomlText(e.Event))
			if e.Matcher != "" {
				out = append(out, matcher)
			}
		} else {
			out = append(out, "[[hooks."+e.Event+"]]")
			if e.Matcher != "" {
				out = append(out, matcher)
			}
			out = append(out, "[[hooks."+e.Event+".hooks]]")
		}
		if t.Handler.Type != "" {
			out = append(out, "type = "+tomlText(t.Handler.Type))
		}
		out = append(out, t.Handler.Command+" = "+tomlText(e.Command), fmt.Sprintf("%s = %d", t.Handler.Timeout, t.count(e.Timeout)))
	}
	return append(out, endLine)
}

// tomlText is a basic string; its escapes are those of JSON.
func tomlText(s string) string { return strings.ReplaceAll(scalar(s), "\x7f", `\u007F`) }
