package report

import (
	"cmp"
	"slices"
	"sort"

	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy/diag"
)

// Lint is the findings on a policy by code.
type Lint struct {
	Codes    []LintCode `json:"codes"`
	Errors   int        `json:"errors"`
	Warnings int        `json:"warnings"`
	Hints    int        `json:"hints"`
	// Suppressed are those that comments or a baseline accept.
	Suppressed []Suppressed `json:"suppressed,omitempty"`
}

// LintCode is the findings of one code and severity, in the order of the source.
type LintCode struct {
	Code     string        `json:"code"`
	Severity diag.Severity `json:"severity"`
	Title    string        `json:"title"`
	Findings diag.List     `json:"findings"`
}

// NewLint groups findings, worst first, then by code.
func NewLint(found diag.List) *Lint {
	r := &Lint{Codes: []LintCode{}}
	for _, d := range found {
		switch d.Severity {
		case diag.Error:
			r.Errors++
		case diag.Warning:
			r.Warnings++
		case diag.Hint:
			r.Hints++
		}
		i := slices.IndexFunc(r.Codes, func(c LintCode) bool { return c.Code == d.Code.ID && c.Severity == d.Severity })
		if i < 0 {
			i = len(r.Codes)
			r.Codes = append(r.Codes, LintCode{Code: d.Code.ID, Severity: d.Severity, Title: d.Code.Title})
		}
		r.Codes[i].Findings.Add(d)
	}
	sort.SliceStable(r.Codes, func(i, j int) bool {
		a, b := &r.Codes[i], &r.Codes[j]
		return lists.First(cmp.Compare(a.Severity, b.Severity), cmp.Compare(a.Code, b.Code)) < 0
	})
	return r
}
