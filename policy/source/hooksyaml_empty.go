package source

import (
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
	"github.com/hookc/hookc/policy/source/tree"
)

var codeEmpty = diag.Define("HK017", diag.Error, "policy or event without a value")
var codeNoHooks = diag.Define("HK022", diag.Warning, "policy file without hooks")

// switchedOff reads a top-level enabled: hooks of a file that says false, and of
// what it includes, are listed and do not run.
func (r *yamlReader) switchedOff(f fields) {
	if !f.bool("enabled", true) {
		r.in.Off = true
		r.l.policy.Notes = append(r.l.policy.Notes, r.in.Name+": enabled: false: none of its hooks runs")
	}
}

// declares reports a file that declares nothing. A file of settings alone is
// enough where another one has events, which finish finds out.
func (r *yamlReader) declares(root *tree.Node) {
	settings := false
	for _, e := range root.Entries {
		name := e.Key.Text.Value
		row := FindKey(InFile, name)
		if _, event := policy.ParseEvent(name); event || row == nil || name == "include" || r.in.Off {
			r.l.declared = true
			return // or an unknown key, which is reported
		}
		empty := e.Value.IsNull() || e.Value.Shape == tree.Map && len(e.Value.Entries) == 0 && name != "approval"
		settings = settings || row.Type != TypeWord && !empty
	}
	switch {
	case len(root.Entries) == 0:
		r.report(codeNoHooks.Report(diag.Span{Source: r.src}, "the file declares no hooks").
			WithHint("write an event with its hooks, or take the file away"))
		return
	case settings:
		if r.l.bare.IsZero() && r.in.Untrusted == "" {
			r.l.bare = diag.Span{Source: r.src}
		}
		return
	}
	r.report(codeEmpty.Report(diag.Span{Source: r.src}, "the file declares nothing").
		WithHint("write an event with its hooks; {} says that there are none, enabled: false switches the policy off"))
}

// noValue reports an event whose value is missing: perhaps the rest of the file
// is not written yet.
func (r *yamlReader) noValue(name string, at diag.Span) {
	r.report(codeEmpty.Report(at, "%s has no value", name).WithHint("write its hooks, or [] where it has none"))
}
