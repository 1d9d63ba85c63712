package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"sort"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hookc/hookc"
	"github.com/hookc/hookc/compiler"
	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/internal/fix"
	"github.com/hookc/hookc/internal/host"
	"github.com/hookc/hookc/internal/report"
	"github.com/hookc/hookc/policy/diag"
)

func newLint() *cobra.Command {
	var s sources
	var f findings
	var repair bool
	cmd := &cobra.Command{
		Use:   "lint [PATH…]",
		Short: "Everything that can be said about a policy, hints included, by kind of finding",
		Long: `lint compiles every source and shows all findings by code, worst first, each with
its hint: what check reports, and besides it the hints on latency (HK21x: hooks that
start a process for every call, rules that could stand earlier, observers that
declare nothing, rules that no index can leave out) and on what is merely likely.
check is for gates and says what is wrong; lint is for whoever improves a policy.

Exit codes: 0 no errors, whatever the hints · 1 errors, or warnings under --strict ·
3 could not run. Hints never fail anything.`,
		Example: `  hookc lint                          # what is discovered here
  hookc lint --strict policies/
  hookc lint hooks.yaml --json | jq '.codes[].code'
  hookc lint --format sarif > hookc.sarif`,
		RunE: func(cmd *cobra.Command, args []string) error {
			look := func() (*dag.Program, diag.List, error) {
				return s.compile(cmd, args, host.Compiler[hookc.Option](func(c *compiler.Config) { c.Hints = true }), hookc.AsFound())
			}
			program, found, err := look()
			for round, made := 0, repair; err == nil && made && round < 10; round++ {
				if made, err = fix.Repair(found, len(args)+len(s.files) > 0, cmd.ErrOrStderr()); err != nil {
					return cannot("%v", err)
				}
				program, found, err = look()
			}
			if err != nil {
				return err
			}
			return f.report(cmd, &s, program, found, func(rest diag.List, out io.Writer) error {
				r := newLintReport(rest)
				if f.asJSON {
					r.Suppressed = f.suppressed
					return writeJSON(out, r)
				}
				return r.text(out)
			})
		},
	}
	s.flags(cmd)
	f.flags(cmd)
	cmd.Flags().BoolVar(&repair, "fix", false, "write what findings suggest where the repair is exact")
	return cmd
}

// lintReport is the findings on a policy by code.
type lintReport struct {
	Codes    []lintCode `json:"codes"`
	Errors   int        `json:"errors"`
	Warnings int        `json:"warnings"`
	Hints    int        `json:"hints"`
	// Suppressed are those that comments or a baseline accept.
	Suppressed []report.Suppressed `json:"suppressed,omitempty"`
}

// lintCode is the findings of one code and severity, in the order of the source.
type lintCode struct {
	Code     string        `json:"code"`
	Severity diag.Severity `json:"severity"`
	Title    string        `json:"title"`
	Findings diag.List     `json:"findings"`
}

// newLintReport groups findings, worst first, then by code.
func newLintReport(found diag.List) *lintReport {
	r := &lintReport{Codes: []lintCode{}}
	for _, d := range found {
		switch d.Severity {
		case diag.Error:
			r.Errors++
		case diag.Warning:
			r.Warnings++
		case diag.Hint:
			r.Hints++
		}
		i := slices.IndexFunc(r.Codes, func(c lintCode) bool { return c.Code == d.Code.ID && c.Severity == d.Severity })
		if i < 0 {
			i = len(r.Codes)
			r.Codes = append(r.Codes, lintCode{Code: d.Code.ID, Severity: d.Severity, Title: d.Code.Title})
		}
		r.Codes[i].Findings.Add(d)
	}
	sort.SliceStable(r.Codes, func(i, j int) bool {
		a, b := &r.Codes[i], &r.Codes[j]
		return cmp.Or(cmp.Compare(a.Severity, b.Severity), cmp.Compare(a.Code, b.Code)) < 0
	})
	return r
}

// text is the report for people.
func (r *lintReport) text(out io.Writer) error {
	var s strings.Builder
	for _, c := range r.Codes {
		fmt.Fprintf(&s, "%s %s: %s (%s; hookc help %s)\n", c.Code, c.Severity, c.Title, count(len(c.Findings), "finding"), c.Code)
		for _, d := range c.Findings {
			at := d.Span.String()
			if at != "" {
				at += ": "
			}
			fmt.Fprintf(&s, "  %s%s\n", at, d.Text)
			if d.Hint != "" {
				fmt.Fprintf(&s, "      hint: %s\n", d.Hint)
			}
		}
	}
	if len(r.Codes) == 0 {
		s.WriteString("nothing to say\n")
	} else {
		fmt.Fprintf(&s, "%s, %s, %s\n", count(r.Errors, "error"), count(r.Warnings, "warning"), count(r.Hints, "hint"))
	}
	if _, err := io.WriteString(out, s.String()); err != nil {
		return cannot("the findings cannot be written: %v", err)
	}
	return nil
}
