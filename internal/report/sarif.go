package report

import (
	"net/url"
	"path/filepath"

	"github.com/hookc/hookc/policy/diag"
)

// The parts of SARIF 2.1.0 (OASIS) that a finding needs; the names of the fields
// are the standard's.
type (
	sarifText struct {
		Text string `json:"text"`
	}
	sarifRule struct {
		ID      string    `json:"id"`
		Short   sarifText `json:"shortDescription"`
		Full    sarifText `json:"fullDescription"`
		Help    sarifText `json:"help"`
		Default struct {
			Level string `json:"level"`
		} `json:"defaultConfiguration"`
	}
	sarifRegion struct {
		StartLine   int `json:"startLine"`
		StartColumn int `json:"startColumn,omitempty"`
		EndLine     int `json:"endLine,omitempty"`
		EndColumn   int `json:"endColumn,omitempty"`
	}
	sarifPlace struct {
		Physical struct {
			Artifact struct {
				URI string `json:"uri"`
			} `json:"artifactLocation"`
			Region *sarifRegion `json:"region,omitempty"`
		} `json:"physicalLocation"`
	}
	sarifSuppression struct {
		Kind          string `json:"kind"`
		Justification string `json:"justification"`
	}
	sarifResult struct {
		RuleID       string             `json:"ruleId"`
		RuleIndex    int                `json:"ruleIndex"`
		Level        string             `json:"level"`
		Message      sarifText          `json:"message"`
		Locations    []sarifPlace       `json:"locations,omitempty"`
		Fingerprints map[string]string  `json:"partialFingerprints,omitempty"`
		Suppressions []sarifSuppression `json:"suppressions,omitempty"`
	}
	sarifRun struct {
		Tool struct {
			Driver struct {
				Name    string      `json:"name"`
				Version string      `json:"version,omitempty"`
				About   string      `json:"informationUri"`
				Rules   []sarifRule `json:"rules"`
			} `json:"driver"`
		} `json:"tool"`
		Columns string        `json:"columnKind"`
		Results []sarifResult `json:"results"`
	}
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
)

var sarifLevels = map[diag.Severity]string{diag.Error: "error", diag.Warning: "warning", diag.Hint: "note"}

// sarif writes a log of one run. What was suppressed is in it, marked as such.
func sarif(r *Report) (string, error) {
	run := sarifRun{Columns: "unicodeCodePoints", Results: []sarifResult{}}
	driver := &run.Tool.Driver
	driver.Name, driver.Version, driver.About, driver.Rules = "hookc", r.Version, "https://github.com/hookc/hookc", []sarifRule{}
	rules := map[string]int{}
	rule := func(id, title, help, level string) int {
		i, known := rules[id]
		if !known {
			i = len(driver.Rules)
			rules[id] = i
			made := sarifRule{ID: id, Short: sarifText{title}, Full: sarifText{help}, Help: sarifText{help}}
			made.Default.Level = level
			driver.Rules = append(driver.Rules, made)
		}
		return i
	}
	finding := func(d diag.Diagnostic, fingerprint string) *sarifResult {
		run.Results = append(run.Results, sarifResult{RuleID: d.Code.ID, RuleIndex: rule(d.Code.ID, d.Code.Title, d.Code.Help, sarifLevels[d.Code.Severity]),
			Level: sarifLevels[d.Severity], Message: sarifText{whole(d)}, Fingerprints: map[string]string{"hookc/v1": fingerprint}})
		made := &run.Results[len(run.Results)-1]
		if line, col, endLine, endCol := place(d); line > 0 {
			made.Locations = located(d.Span.File(), &sarifRegion{line, col, endLine, endCol})
		}
		return made
	}
	names := fingerprints(r.Findings)
	for i, d := range r.Findings {
		finding(d, names[i])
	}
	all := make(diag.List, len(r.Suppressed))
	for i, s := range r.Suppressed {
		all[i] = s.Finding
	}
	names = fingerprints(all)
	for i, s := range r.Suppressed {
		finding(s.Finding, names[i]).Suppressions = []sarifSuppression{{s.kind(), s.Reason}}
	}
	for _, t := range r.Results {
		if t.Status != Failed {
			continue
		}
		made := sarifResult{RuleID: "test", RuleIndex: rule("test", "a test of the policy fails", "A case of hookc test expects what the policy does not do.", "error"),
			Level: "error", Message: sarifText{t.Name + " failed: " + t.Text}}
		var at *sarifRegion
		if t.Line > 0 {
			at = &sarifRegion{StartLine: t.Line}
		}
		made.Locations = located(t.File, at)
		run.Results = append(run.Results, made)
	}
	return indented(sarifLog{"https://json.schemastore.org/sarif-2.1.0.json", "2.1.0", []sarifRun{run}})
}

// located is a place in a file, whose name becomes a relative or absolute URI.
func located(file string, at *sarifRegion) []sarifPlace {
	uri := url.URL{Path: filepath.ToSlash(file)}
	if filepath.IsAbs(file) {
		uri.Scheme = "file"
	}
	var p sarifPlace
	p.Physical.Artifact.URI, p.Physical.Region = uri.String(), at
	return []sarifPlace{p}
}
