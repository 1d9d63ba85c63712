package lsp

import (
	"fmt"
	"path/filepath"
	"sort"
	"strings"

	"github.com/hookc/hookc/internal/covered"
	"github.com/hookc/hookc/internal/fix"
	"github.com/hookc/hookc/internal/witness"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
	"github.com/hookc/hookc/policy/source/print"
	"github.com/hookc/hookc/rego"
)

// format lays a document out as hookc fmt does.
func (s *Server) format(p *place) (any, error) {
	after, err := []byte(nil), error(nil)
	if filepath.Ext(p.doc.path) == ".rego" {
		after, err = rego.Format(p.doc.path, []byte(p.doc.s), "")
	} else {
		after, err = print.Tidy(p.doc.path, []byte(p.doc.s))
	}
	switch {
	case err != nil:
		return nil, err
	case string(after) == p.doc.s:
		return []any{}, nil
	}
	return []any{obj("range", p.doc.span(0, len(p.doc.s)), "newText", string(after))}, nil
}

// actions are the repairs of the findings in a range.
func (s *Server) actions(p *place) (any, error) {
	out := []object{}
	u, v := s.viewOf(p.doc.path)
	if u == nil {
		return out, nil
	}
	from, to := p.doc.offset(p.Range.Start), p.doc.offset(p.Range.End)
	for _, d := range v.found {
		e, ok := fix.Of(d)
		if !ok || u.pathOf(d.Span) != p.doc.path || d.Span.Source.Content != p.doc.s || d.Span.End < from || d.Span.Start > to {
			continue
		}
		out = append(out, obj("title", "Write "+e.Text, "kind", "quickfix", "isPreferred", true, "diagnostics", []any{shown(d, map[*diag.Source]*text{})},
			"edit", obj("changes", obj(p.doc.uri, []any{obj("range", rangeOf(e.At), "newText", e.Text)}))))
	}
	return out, nil
}

// lenses say above each hook what evaluates it, whether it can fire, and what its
// tests reach.
func (s *Server) lenses(p *place) (any, error) {
	out := []object{}
	u, v := s.viewOf(p.doc.path)
	if u == nil || v.program == nil {
		return out, nil
	}
	reached := coverage(v.policy.Hooks, p.doc.path, p.doc.s)
	for _, h := range v.policy.Hooks {
		if u.pathOf(h.Span) != p.doc.path || h.Span.Source.Content != p.doc.s {
			continue
		}
		at := rangeOf(h.Span)
		lens := func(title, command string, args ...any) {
			out = append(out, obj("range", at, "command", obj("title", title, "command", command, "arguments", args)))
		}
		lens("runs on "+runsOn(v, h), "")
		if w := fires(v, h); w != "" {
			lens(w, "")
		}
		if line, _ := h.Span.Position(); reached[line] != "" {
			lens(reached[line], "")
		}
		lens("run test", "hookc.test", p.doc.uri, h.Name)
	}
	return out, nil
}

// runsOn is the event and the engine of a hook.
func runsOn(v view, h *policy.Hook) string {
	out := string(h.Event)
	if n := nodeOf(v, h); n != nil && n.Engine != "" {
		return out + ", by " + n.Engine
	}
	return out + ", by " + string(h.Kind)
}

// fires says of a hook's rules how many can fire, "" where nobody has looked.
func fires(v view, h *policy.Hook) string {
	n, all := 0, 0
	for _, r := range v.rules {
		if r.Hook == h.Name && r.Event == h.Event {
			all++
			if r.Status == witness.Fires {
				n++
			}
		}
	}
	if all == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %d rules can fire", n, all)
}

// coverage says of each hook of a text how many of its lines the tests reached when they
// ran last, by the line it begins on. Its lines are those up to the next hook.
func coverage(hooks []*policy.Hook, path, text string) map[int]string {
	reached := covered.Of(path, text)
	if reached == nil {
		return nil
	}
	var first []int
	for _, h := range hooks {
		if h.Span.Source != nil && h.Span.Source.Content == text {
			line, _ := h.Span.Position()
			first = append(first, line)
		}
	}
	sort.Ints(first)
	whole, of, out := map[int]int{}, map[int]int{}, map[int]string{}
	for line, all := range reached {
		if at := sort.SearchInts(first, line+1) - 1; at >= 0 {
			of[first[at]]++
			if all {
				whole[first[at]]++
			}
		}
	}
	for line, n := range of {
		out[line] = fmt.Sprintf("tests reach %d of %d lines", whole[line], n)
	}
	return out
}

// witnessOf is an event on which a rule of a hook fires, as one line, "" if there is none.
func witnessOf(v view, hook string, event policy.Event) string {
	for _, r := range v.rules {
		if r.Hook == hook && r.Event == event && r.Witness != nil {
			if text, err := policy.EncodeJSON(r.Witness); err == nil {
				return strings.TrimSpace(string(text))
			}
		}
	}
	return ""
}
