package lsp

import (
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/hookc/hookc/builtins"
	"github.com/hookc/hookc/builtins/toolcall"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
	"github.com/hookc/hookc/policy/source"
	"github.com/hookc/hookc/policy/source/tree"
	"github.com/hookc/hookc/rego/outline"
)

// The kinds of completion, as the protocol numbers them.
const (
	kindFunction = 3
	kindField    = 5
	kindModule   = 9
	kindProperty = 10
	kindValue    = 12
	kindEvent    = 23
)

// complete offers what can stand at a place.
func (s *Server) complete(p *place) (any, error) {
	c := contextAt(p.doc.text, p.offset)
	start := p.offset
	for start > 0 && strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-", rune(p.doc.s[start-1])) {
		start--
	}
	begun := p.doc.s[start:p.offset]
	items := map[string]object{}
	offer := func(kind int, label, detail string) {
		if strings.HasPrefix(label, begun) && items[label] == nil {
			items[label] = obj("label", label, "kind", kind, "detail", detail, "sortText", label,
				"textEdit", obj("range", p.doc.span(start, p.offset), "newText", label))
		}
	}
	u, v := s.viewOf(p.doc.path)
	switch rego := strings.HasSuffix(p.doc.path, ".rego"); {
	case rego || c.code:
		s.completeCode(p, c, rego || c.key == "source", u, v, offer)
	case c.key == "":
		completeKey(c, offer)
	default:
		completeValue(c, v, offer)
	}
	out := make([]object, 0, len(items))
	for _, label := range lists.Keys(items) {
		out = append(out, items[label])
	}
	return obj("isIncomplete", false, "items", out), nil
}

func completeKey(c spot, offer func(kind int, label, detail string)) {
	for _, k := range source.Schema() {
		if k.Place == c.in || c.in == source.InHook && k.Place == source.InGroup {
			offer(kindProperty, k.Name, k.Note)
		}
	}
	if c.in == source.InFile {
		for _, e := range policy.Events() {
			offer(kindEvent, string(e), e.Spec().Title())
		}
	}
}

func completeValue(c spot, v view, offer func(kind int, label, detail string)) {
	k := source.FindKey(c.in, c.key)
	if k == nil {
		return
	}
	for _, w := range k.Words {
		offer(kindValue, w, k.Note)
	}
	switch {
	case k.Type == source.TypeBool:
		offer(kindValue, "true", k.Note)
		offer(kindValue, "false", k.Note)
	case k.Name == "use":
		for _, r := range builtins.Rules() {
			offer(kindFunction, r.Name, r.Doc)
		}
	case k.Place == source.InFilter && (k.Name == "tool_name" || k.Name == "tool_matcher"):
		for _, name := range toolcall.Names() {
			offer(kindValue, name, "tool")
		}
		if v.program != nil {
			for _, name := range v.program.Tools.Known {
				offer(kindValue, name, "tool")
			}
		}
	case k.Name == "reads" || k.Name == "writes":
		for _, f := range policy.Fields() {
			if spec := c.event; spec == "" || k.Name == "reads" && spec.Spec().CanRead(f) || spec.Spec().CanWrite(f) {
				offer(kindField, f.String(), f.Spec().Doc)
			}
		}
	case k.Name == "may":
		for _, name := range policy.PowerNames() {
			offer(kindValue, name, "verdict or control")
		}
	}
}

// completeCode offers what an expression or Rego can name. In Rego fields stand below
// input, in an expression on their own.
func (s *Server) completeCode(p *place, c spot, rego bool, u *unit, v view, offer func(kind int, label, detail string)) {
	prefix := ""
	if rego {
		prefix = "input."
	}
	for _, f := range policy.Fields() {
		if c.event == "" || c.event.Spec().CanRead(f) {
			offer(kindField, prefix+f.String(), f.Spec().Doc)
		}
	}
	for _, f := range builtins.Funcs() {
		offer(kindFunction, f.Name, callOf(f)+" → "+f.Result.String())
	}
	if v.policy != nil {
		for _, f := range v.policy.Facts {
			offer(kindField, prefix+"facts."+f.Name, "fact of type "+f.Type)
		}
	}
	if !rego {
		return
	}
	for _, name := range outline.Functions() {
		call, _ := outline.Function(name)
		offer(kindFunction, name, call)
	}
	if u == nil {
		return
	}
	for _, m := range s.marks(u, v) {
		if m.made && strings.HasPrefix(m.name, "data.") {
			offer(kindModule, m.name, "Rego")
		}
	}
	for _, path := range s.documents(v) {
		offer(kindModule, path, "document")
	}
}

// documents are the paths under data that the documents of a policy set, two names deep.
func (s *Server) documents(v view) []string {
	var out []string
	seen := map[string]bool{}
	for _, h := range v.policy.Hooks {
		if h.File == nil {
			continue
		}
		for _, root := range h.File.Rego.Data {
			if seen[root.Value] || !s.inside(root.Value) {
				continue
			}
			seen[root.Value] = true
			_ = filepath.WalkDir(root.Value, func(path string, e fs.DirEntry, err error) error {
				if err != nil || len(seen) > maxFiles {
					return fs.SkipAll // what cannot be read offers nothing
				}
				seen[path] = true
				below := "data"
				if rel, err := filepath.Rel(root.Value, filepath.Dir(path)); err == nil && filepath.IsLocal(rel) && rel != "." {
					below += "." + strings.ReplaceAll(filepath.ToSlash(rel), "/", ".")
				}
				if text, ok := s.textOf(path); ok && lists.Has([]string{".json", ".yaml", ".yml"}, filepath.Ext(path)) {
					doc, _ := tree.ParseYAML(diag.NewSource(path, text), 0, len(text)) // which JSON is too
					out = append(out, names(below, doc, 2)...)
				}
				return nil
			})
		}
	}
	return out
}

func names(below string, n *tree.Node, deep int) []string {
	var out []string
	if n == nil || deep == 0 {
		return nil
	}
	for _, e := range n.Entries {
		name := below + "." + e.Key.Text.Value
		out = append(append(out, name), names(name, e.Value, deep-1)...)
	}
	return out
}
