package witness

import (
	"fmt"
	"strings"

	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy/diag"
)

var codeNever = diag.Define("HK156", diag.Error, "rule that never fires")
var codeUnusual = diag.Define("HK157", diag.Warning, "rule that fires on no event as agents send it").Guarding()
var codeUnknown = diag.Define("HK167", diag.Hint, "rule of which nobody knows whether it fires")
var codeNoDocument = diag.Define("HK168", diag.Warning, "Rego reads what no document has")

// Findings are what is to be said of rules beside what was found before: of those
// that never fire, those that no agent's event makes fire, and those of which nobody
// knows.
func Findings(rules []Rule, before diag.List) diag.List {
	var out diag.List
	for _, r := range rules {
		if r.Status == Fires || r.explained(before) {
			continue
		}
		what := r.Hook + ": " + r.Rule
		for _, m := range r.Missing {
			d := codeNoDocument.Report(m.At, "%s reads %s, which no document has", what, m.Ref).WithHook(r.Hook)
			if m.Meant != "" {
				d = d.WithHint("did you mean %q?", m.Meant)
			}
			out.Add(d)
		}
		at := r.Span
		if at.IsZero() {
			at = r.At
		}
		why := strings.Join(r.Why, "; ")
		var d diag.Diagnostic
		switch {
		case r.Status == Never && len(r.Missing) > 0:
			continue
		case r.Status == Never:
			d = codeNever.Report(at, "%s never fires: %s", what, why)
		case r.Status == Unusual:
			d = codeUnusual.Report(at, "%s fires on no event as agents send it: %s", what, why)
		default:
			d = codeUnknown.Report(at, "%s: no event was found that makes it fire, and no proof that there is none; not understood: %s", what, why).
				WithHint("write a test case that makes it fire")
		}
		if r.Hint != "" {
			d = d.WithHint("%s", r.Hint)
		}
		out.Add(d.WithHook(r.Hook))
	}
	return out
}

// Lints are what bodies say of rules that do nothing.
func Lints(prog *dag.Program) diag.List {
	var out diag.List
	for _, plan := range prog.Plans {
		for i := range plan.Nodes {
			if body, ok := plan.Nodes[i].Runner.(interface{ Inert() diag.List }); ok && plan.Nodes[i].RecheckOf < 0 {
				out.Add(body.Inert()...)
			}
		}
	}
	return out
}

// explained reports whether a finding says already why a rule does not fire: that its
// event lacks a field, or, of one of which nobody knows, that its hook fails.
func (r *Rule) explained(before diag.List) bool {
	line, _ := r.Span.Position()
	return lists.Some(before, func(d *diag.Diagnostic) bool {
		if d.Hook != r.Hook || d.Severity > diag.Warning {
			return false
		}
		at, _ := d.Span.Position()
		lacks := d.Code.ID == "HK076" || d.Code.ID == "HK082"
		return r.Status == Unknown || r.Status == Never && lacks && (at == line || line == 0)
	})
}

// Counts are how many rules have each answer.
type Counts struct {
	Fires   int `json:"fires"`
	Never   int `json:"never"`
	Unusual int `json:"unusual"`
	Unknown int `json:"unknown"`
}

// Count counts answers.
//
//go:noinline
func Count(rules []Rule) Counts {
	var c Counts
	for _, r := range rules {
		switch r.Status {
		case Fires:
			c.Fires++
		case Never:
			c.Never++
		case Unusual:
			c.Unusual++
		default:
			c.Unknown++
		}
	}
	return c
}

func (c Counts) String() string {
	return fmt.Sprintf("%d fire, %d never, %d on no agent's event, %d unknown", c.Fires, c.Never, c.Unusual, c.Unknown)
}
