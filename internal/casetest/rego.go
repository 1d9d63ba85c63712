package casetest

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/rego"
)

// rules runs the Rego test rules: once for each `rego:` configuration in the
// policy, beside the hooks' own modules.
func (t *tester) rules(ctx context.Context, p *policy.Policy, files []string) error {
	for _, set := range t.sets(p, files) {
		set.Only, set.Trace = t.Run, t.Trace
		if t.seen != nil {
			set.Cover = t.seen
		}
		results, found := rego.RunTests(ctx, set)
		t.report.Findings.Add(found...)
		for _, r := range results {
			if r.Skip {
				continue
			}
			text := r.Error
			if !r.Pass && text == "" {
				text = notHeld(&r)
			}
			t.report.add(Outcome{Name: r.Name, File: r.At.File(), At: r.At.String(), Pass: r.Pass, Text: text, Output: r.Output,
				Trace: strings.Join(r.Trace, "\n"), Micros: r.Duration.Microseconds()})
		}
	}
	return ctx.Err()
}

// notHeld shows the line of a test that did not hold, and the values in it.
func notHeld(r *rego.TestResult) string {
	if r.Failed.IsZero() {
		return "the rule does not hold"
	}
	row, _ := r.Failed.Position()
	text := "this does not hold, at " + r.Failed.String() + "\n  " + strings.TrimSpace(r.Failed.Source.Line(row))
	for _, v := range r.Values {
		text += "\n    " + v
	}
	return text
}

// sets pairs the test files with the modules they are about: those of the policy
// files in whose folders, or under whose Rego, they lie.
func (t *tester) sets(p *policy.Policy, files []string) []rego.Tests {
	var order []*policy.FileConfig
	sets := map[*policy.FileConfig]*rego.Tests{}
	for _, h := range p.Hooks {
		if h.Kind != policy.KindRego {
			continue
		}
		set := sets[h.File]
		if set == nil {
			set = &rego.Tests{Config: h.File.Rego}
			sets[h.File] = set
			order = append(order, h.File)
		}
		set.Sources = append(set.Sources, h.Body.Source)
		for _, f := range files {
			if shown := t.Shown(f); about(f, h) && !lists.Has(set.Paths, shown) {
				set.Paths = append(set.Paths, shown)
			}
		}
	}
	var out []rego.Tests
	for _, config := range order {
		if len(sets[config].Paths) > 0 {
			out = append(out, *sets[config])
		}
	}
	return out
}

// about reports whether a test file lies in the folder of a hook's policy file or
// of its Rego file.
func about(file string, h *policy.Hook) bool {
	dir, body := filepath.Dir(file), h.Body.File
	if body != "" && !filepath.IsAbs(body) {
		body = filepath.Join(h.File.Dir, body)
	}
	return dir == h.File.Dir || body != "" && dir == filepath.Dir(body)
}
