package lsp

import (
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/internal/spell"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
	"github.com/hookc/hookc/policy/source/tree"
	"github.com/hookc/hookc/rego/outline"
)

// mark is a place at which something is named: a hook ("hook deploys"), or what Rego
// names ("data.guard.deny", "input.tool_name").
type mark struct {
	name  string
	path  string
	place diag.Span
	// made is true where the thing is, false where it is spoken of.
	made bool
}

func (m mark) location() location { return location{uriOf(m.path), rangeOf(m.place)} }

// viewOf is what is known of the policy of a document.
func (s *Server) viewOf(path string) (*unit, view) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, u := range s.units {
		if u.policy != nil && u.holds(path) {
			return u, u.view
		}
	}
	return nil, view{}
}

// maxFiles is how many files are looked into for names.
const maxFiles = 2000

// marks are all names in the files of a unit that are the editor's, as the texts are
// now.
func (s *Server) marks(u *unit, v view) []mark {
	var out []mark
	seen := map[string]bool{}
	add := func(path string, m *outline.Module) {
		if m == nil {
			return
		}
		out = append(out, mark{m.Package, path, m.Place, true})
		for _, r := range m.Rules {
			out = append(out, mark{r.Path, path, r.Place, true})
		}
		for _, r := range m.Refs {
			out = append(out, mark{r.Path, path, r.Place, false})
		}
	}
	visit := func(path string) {
		if seen[path] || len(seen) > maxFiles {
			return
		}
		seen[path] = true
		text, ok := s.textOf(path)
		switch {
		case !ok:
		case strings.HasSuffix(path, ".rego"):
			src := diag.NewSource(path, text)
			add(path, outline.Of(diag.NewText(text, diag.Span{Source: src, End: len(text)}, []diag.Mark{{}}), false))
		case strings.HasSuffix(path, "_test.yaml"):
			out = append(out, caseMarks(path, text)...)
		}
	}
	folders := map[string]bool{u.dir: false}
	for _, f := range v.policy.Sources {
		if f.Tier < policy.TierProject {
			continue
		}
		folders[filepath.Dir(f.Path)] = true
		for _, use := range f.Uses {
			folders[use] = !strings.HasSuffix(use, ".rego")
			visit(use)
		}
	}
	for dir, within := range folders {
		if !within || !s.inside(dir) {
			continue
		}
		_ = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
			switch {
			case err != nil || len(seen) > maxFiles:
				return fs.SkipAll // what cannot be read names nothing here
			case e.IsDir() && path != dir && (strings.HasPrefix(e.Name(), ".") || e.Name() == "node_modules"):
				return fs.SkipDir
			case e.Type().IsRegular():
				if strings.HasSuffix(path, "_test.yaml") || folders[dir] && lists.Some(v.policy.Sources, func(f *policy.SourceFile) bool { return lists.Has(f.Uses, dir) }) {
					visit(path)
				}
			}
			return nil
		})
	}
	for _, h := range v.policy.Hooks {
		path := u.pathOf(h.Span)
		if named(h) {
			out = append(out, mark{"hook " + h.Name, path, h.Span, !h.Off})
		}
		if in := u.pathOf(h.Body.Source.Span); h.Kind == policy.KindRego && !seen[in] {
			add(in, outline.Of(h.Body.Source, h.File != nil && h.File.Rego.Version == "v0"))
		}
	}
	return out
}

// named reports whether a hook's place is its name.
func named(h *policy.Hook) bool {
	return h.Span.Source != nil && unquoted(h.Span) == h.Name
}

// unquoted is what stands at a place, without quotes around it.
//
//go:noinline
func unquoted(at diag.Span) string {
	return strings.Trim(at.Source.Content[at.Start:min(at.End, len(at.Source.Content))], `"'`)
}

// caseMarks are the hooks that a file of test cases names.
func caseMarks(path, text string) []mark {
	src := diag.NewSource(path, text)
	root, _ := tree.ParseYAML(src, 0, len(text))
	if root == nil || root.Get("cases") == nil {
		return nil
	}
	var out []mark
	name := func(n *tree.Node) {
		hook, _, _ := spell.Cut(n.Text.Value, "#")
		if at := n.Span; strings.HasPrefix(unquoted(at), hook) && hook != "" {
			at.Start += strings.Index(src.Content[at.Start:at.End], hook)
			at.End = at.Start + len(hook)
			out = append(out, mark{"hook " + hook, path, at, false})
		}
	}
	keys := func(n *tree.Node) {
		if n != nil {
			for _, e := range n.Entries {
				name(e.Key)
			}
		}
	}
	for _, c := range root.Get("cases").Items {
		keys(c.Get("answers"))
		if expect := c.Get("expect"); expect != nil {
			keys(expect.Get("hooks"))
			if by := expect.Get("by"); by != nil {
				name(by)
			}
		}
	}
	return out
}

// named at a place: the mark whose place the cursor is in, and all marks.
func (s *Server) markAt(p *place) (*mark, []mark, *unit, view) {
	u, v := s.viewOf(p.doc.path)
	if u == nil {
		if !strings.HasSuffix(p.doc.path, "_test.yaml") {
			return nil, nil, nil, view{}
		}
		if u, v = s.nearest(p.doc.path); u == nil {
			return nil, nil, nil, view{}
		}
	}
	all := s.marks(u, v)
	var best *mark
	for i := range all {
		m := &all[i]
		if m.path == p.doc.path && m.place.Source != nil && m.place.Source.Content == p.doc.s && m.place.Start <= p.offset && p.offset <= m.place.End &&
			(best == nil || m.place.End-m.place.Start < best.place.End-best.place.Start) {
			best = m
		}
	}
	return best, all, u, v
}

// nearest is the unit whose files a file of test cases lies beside.
func (s *Server) nearest(path string) (*unit, view) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, u := range s.units {
		for _, f := range u.policy.Sources {
			if below(filepath.Dir(f.Path), path) {
				return u, u.view
			}
		}
	}
	return nil, view{}
}

// about reports whether two names are of one thing: a reference may go on below it.
func about(ref, made string) bool {
	return ref == made || strings.HasPrefix(made, "data.") && strings.HasPrefix(ref, made+".")
}

// definition is where a hook, a rule or a package is, or the file that a key names.
func (s *Server) definition(p *place) (any, error) {
	out := []location{}
	at, all, _, _ := s.markAt(p)
	if at != nil {
		best := ""
		for _, m := range all {
			if m.made && about(at.name, m.name) && len(m.name) > len(best) {
				best = m.name
			}
		}
		for _, m := range all {
			if m.made && m.name == best && (strings.HasPrefix(best, "hook ") || strings.HasPrefix(best, "data.")) {
				out = append(out, m.location())
			}
		}
	}
	c := contextAt(p.doc.text, p.offset)
	if name := c.value(); len(out) == 0 && name != "" && lists.Has([]string{"file", "paths", "data", "include"}, c.key) {
		path := filepath.Clean(filepath.Join(filepath.Dir(p.doc.path), filepath.FromSlash(name)))
		if filepath.IsAbs(name) {
			path = filepath.Clean(name)
		}
		if s.inside(path) && regular(path) {
			out = append(out, location{URI: uriOf(path)})
		}
	}
	return out, nil
}

func (s *Server) references(p *place) (any, error) {
	out := []location{}
	at, all, _, _ := s.markAt(p)
	if at == nil {
		return out, nil
	}
	for _, m := range all {
		if about(m.name, at.name) && s.inside(m.path) {
			out = append(out, m.location())
		}
	}
	return out, nil
}

func (s *Server) prepareRename(p *place) (any, error) {
	at, _, _, _ := s.markAt(p)
	if at == nil || !strings.HasPrefix(at.name, "hook ") {
		return nil, failed(codeFailed, "only the name of a hook can be changed")
	}
	return rangeOf(inQuotes(at.place)), nil
}

// inQuotes is a place without the quotes around it.
func inQuotes(at diag.Span) diag.Span {
	content := at.Source.Content
	if at.End-at.Start >= 2 && strings.ContainsRune(`"'`, rune(content[at.Start])) {
		return diag.Span{Source: at.Source, Start: at.Start + 1, End: at.End - 1}
	}
	return at
}

// rename gives a hook another name wherever the project names it: hooks of one name on
// one event replace each other, so all that have it get the new one.
func (s *Server) rename(p *place) (any, error) {
	at, all, _, v := s.markAt(p)
	if at == nil || !strings.HasPrefix(at.name, "hook ") {
		return nil, failed(codeFailed, "only the name of a hook can be changed")
	}
	if strings.Trim(p.NewName, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./") != "" || strings.Trim(p.NewName, "0123456789.-/") == "" || spell.Name(p.NewName) != p.NewName {
		return nil, failed(codeInvalidParams, "a hook's name has letters, digits, _, -, . and / here, and a letter")
	}
	old := strings.TrimPrefix(at.name, "hook ")
	events := map[policy.Event]bool{}
	for _, h := range v.policy.Hooks {
		if h.Name == old {
			events[h.Event] = true
			if !named(h) {
				return nil, failed(codeFailed, "the name of %s at %s is not written as it is", old, h.Span)
			}
		}
	}
	for _, h := range v.policy.Hooks {
		if h.Name == p.NewName {
			return nil, failed(codeFailed, "%s has a hook called %s", h.Span, p.NewName)
		}
	}
	changes := map[string][]object{}
	for _, m := range all {
		if m.name != at.name {
			continue
		}
		if !s.inside(m.path) {
			return nil, failed(codeFailed, "%s names it too, and lies outside the workspace", m.place)
		}
		uri := uriOf(m.path)
		changes[uri] = append(changes[uri], obj("range", rangeOf(inQuotes(m.place)), "newText", p.NewName))
	}
	return obj("changes", changes), nil
}
