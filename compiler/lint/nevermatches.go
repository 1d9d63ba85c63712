package lint

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
	"github.com/hookc/hookc/policy/pattern"
)

// CodeNeverMatches is HK150.
var CodeNeverMatches = diag.Define("HK150", diag.Warning, "filter can never match").Guarding()

// NeverMatches reports a node whose filter provably matches no event.
func NeverMatches(plan *dag.Plan, id int) (diag.Diagnostic, bool) {
	n := &plan.Nodes[id]
	a, b := n.Matcher.Contradiction()
	if a == nil {
		a, b = toolContradiction(plan, n.Matcher)
	}
	if a == nil {
		return diag.Diagnostic{}, false
	}
	text := fmt.Sprintf("no value satisfies %s", condition(a))
	if b != nil {
		text = fmt.Sprintf("no call satisfies both %s and %s", condition(a), condition(b))
	}
	return CodeNeverMatches.Report(a.Origin, "%s: %s", n.Hook.Name, text).WithHook(n.Hook.Name), true
}

func condition(a *policy.Atom) string {
	return fmt.Sprintf("%s %q", a.Key, strings.Join(a.Values, "|"))
}

// toolContradiction looks for a condition on a call's tool that none of the
// names the filter lists fulfils. What a condition says of a name alone is
// found by asking it.
func toolContradiction(plan *dag.Plan, m *policy.Matcher) (a, b *policy.Atom) {
	i := lists.At(m.Atoms, func(a *policy.Atom) bool { return a.Field == policy.FieldToolName && a.Op == policy.AtomIn })
	if i < 0 {
		return nil, nil
	}
	for j := range m.Atoms {
		some := slices.ContainsFunc(m.Atoms[i].Values, func(tool string) bool { return holds(plan.Event, tool, &m.Atoms[j]) })
		if j != i && !some {
			return &m.Atoms[i], &m.Atoms[j]
		}
	}
	return nil, nil
}

func neverMatches(t *Target) diag.List {
	var out diag.List
	for _, plan := range t.Plans {
		for id := range plan.Nodes {
			if d, never := NeverMatches(plan, id); never && original(&plan.Nodes[id]) {
				out.Add(d)
				continue
			}
			out.Add(unknownTools(t, &plan.Nodes[id])...)
		}
	}
	return out
}

// unknownTools reports names the catalogue does not know.
func unknownTools(t *Target, n *dag.Node) diag.List {
	if len(t.Tools.Known) == 0 || !original(n) {
		return nil
	}
	var out diag.List
	for i := range n.Matcher.Atoms {
		a := &n.Matcher.Atoms[i]
		if a.Field != policy.FieldToolName || a.Op != policy.AtomIn {
			continue
		}
		for _, name := range a.Values {
			if knownTool(&t.Tools, name) {
				continue
			}
			out.Add(CodeNeverMatches.Report(nameSpan(n.Hook, a, name), "%s: no known tool is called %q", n.Hook.Name, name).WithHook(n.Hook.Name).
				WithHint("%s", diag.DidYouMean(name, t.Tools.Known, "add it to tools: known, or a glob to tools: open")))
		}
	}
	return out
}

func knownTool(tools *policy.Catalogue, name string) bool {
	return lists.Has(tools.Known, name) || slices.ContainsFunc(tools.Open, func(glob string) bool {
		p, err := pattern.Glob(glob)
		return err != nil || p.Match(name) // an unusable glob is reported by validate and excludes nothing
	})
}

// nameSpan is where one name of a list was written.
func nameSpan(h *policy.Hook, a *policy.Atom, name string) diag.Span {
	text, ok := h.Filter.Get(a.Key)
	at := strings.Index(text.Value, name)
	if !ok || at < 0 {
		return a.Origin
	}
	return text.At(at, at+len(name))
}
