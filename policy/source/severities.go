package source

import (
	"sort"

	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/internal/severity"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
	"github.com/hookc/hookc/policy/source/tree"
)

var codeSeverity = diag.Define("HK049", diag.Error, "severity that may not be lowered")

// severitySetting is what one file makes of a code.
type severitySetting struct {
	in   *File
	code *diag.Code
	to   diag.Severity
	at   diag.Span
}

// severities reads what a file makes of codes.
func (r *yamlReader) severities(f fields, n *tree.Node) {
	for _, e := range n.Entries {
		code := diag.Lookup(e.Key.Text.Value)
		if code == nil || code.ID != e.Key.Text.Value {
			ids := lists.Each(diag.Codes(), func(c *diag.Code) string { return c.ID })
			r.report(codeWord.Report(e.Key.Span, "there is no code %q", e.Key.Text.Value).
				WithHint("%s", diag.DidYouMean(e.Key.Text.Value, ids, "docs/reference/diagnostics.md lists them")))
			continue
		}
		to, known := severity.Off, false
		f.wordOf("severity", e.Value, func(w string) bool {
			to, known = severity.Parse(w)
			return known
		})
		switch {
		case !known || r.in.Untrusted != "":
		case severity.Firm(code) && to > code.Severity:
			hint := "accept one finding with a comment: # hookc:ignore " + code.ID + " the reason"
			if code.Severity == diag.Error {
				hint = "mend what it reports"
			}
			r.report(codeSeverity.Report(e.Value.Span, "%s (%s) cannot be lowered", code.ID, code.Title).WithHint("%s", hint))
		default:
			r.l.severities = append(r.l.severities, severitySetting{r.in, code, to, e.Value.Span})
		}
	}
}

// settleSeverities takes what the most trusted tier says, and whatever is worse.
func (l *Loader) settleSeverities() map[string]diag.Severity {
	if len(l.severities) == 0 {
		return nil
	}
	all, tiers := l.severities, map[string]policy.Tier{}
	sort.SliceStable(all, func(i, j int) bool { return all[i].in.Tier < all[j].in.Tier })
	out := map[string]diag.Severity{}
	for _, s := range all {
		held, set := out[s.code.ID]
		if !set || s.to < held {
			out[s.code.ID] = s.to
			tiers[s.code.ID] = s.in.Tier
		} else if tier := tiers[s.code.ID]; s.to > held && tier != s.in.Tier {
			d := codeSeverity.Report(s.at, "%s stays %s: the %s tier sets it", s.code.ID, held, tier).WithHint("remove it here")
			d.Severity = diag.Warning
			l.Report(s.in, d)
		}
	}
	return out
}
