package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/internal/release"
	"github.com/hookc/hookc/internal/report"
	"github.com/hookc/hookc/internal/screen"
	"github.com/hookc/hookc/internal/severity"
	"github.com/hookc/hookc/policy/diag"
	"github.com/hookc/hookc/policy/source"
)

// reporting are the commands whose --format also names how they report.
var reporting = []string{"check", "lint", "test", "diff"}

// formats is the flag --format: the format that policies are read in and, of the
// commands that report, the one in which they write. No name means both.
func (s *sources) formats(cmd *cobra.Command) {
	if !lists.Has(reporting, cmd.Name()) {
		s.ReadAs(cmd)
		return
	}
	cmd.Flags().Var(formatFlag{s}, "format", "report as text, json, "+strings.Join(report.Formats(), ", ")+"; the `NAME` of a policy's format: read the files as that (both may be given)")
}

// formatFlag sorts the names of --format.
type formatFlag struct{ s *sources }

func (f formatFlag) String() string { return "" }
func (f formatFlag) Type() string   { return "string" }

func (f formatFlag) Set(name string) error {
	if name == "text" || name == "json" || lists.Has(report.Formats(), name) {
		f.s.Output = name
	} else {
		f.s.Format = name
	}
	return nil
}

// findings are the flags and the work of the commands that report findings.
type findings struct {
	strict, asJSON  bool
	baseline, write string
	suppressed      []report.Suppressed
}

func (f *findings) flags(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&f.strict, "strict", false, "warnings are exit 1 too")
	cmd.Flags().BoolVar(&f.asJSON, "json", false, "findings as JSON on stdout")
	cmd.Flags().StringVar(&f.baseline, "baseline", "", "accept the findings that `FILE` lists")
	cmd.Flags().StringVar(&f.write, "write-baseline", "", "list the findings in `FILE`, for --baseline, and accept them")
}

// fails reports whether findings are exit 1.
func (f *findings) fails(found diag.List) bool {
	return lists.Some(found, func(d *diag.Diagnostic) bool {
		return d.Severity == diag.Error || f.strict && d.Severity == diag.Warning
	})
}

// report takes out what was accepted and writes the rest, in hookc's own forms by
// own.
func (f *findings) report(cmd *cobra.Command, s *sources, program *dag.Program, found diag.List, own func(diag.List, io.Writer) error) error {
	f.asJSON = f.asJSON && s.Output == "" || s.Output == "json"
	if program != nil {
		found = severity.Apply(program.Severities, found)
	}
	rest, suppressed := report.Suppress(found, policyTexts(program))
	if f.write != "" {
		var text bytes.Buffer
		if err := writeJSON(&text, report.NewBaseline(rest)); err != nil {
			return err
		}
		if err := os.WriteFile(f.write, text.Bytes(), 0o666); err != nil {
			return cannot("--write-baseline: %v", err)
		}
		f.baseline = f.write
	}
	if f.baseline != "" {
		b, err := report.ReadBaseline(f.baseline)
		if err != nil {
			return cannot("--baseline: %v", err)
		}
		var more []report.Suppressed
		var gone int
		rest, more, gone = b.Accept(rest)
		suppressed = append(suppressed, more...)
		if gone > 0 {
			fmt.Fprintf(cmd.ErrOrStderr(), "hookc: %s of the baseline %s no more: write it again\n", count(gone, "finding"), is(gone))
		}
	}
	f.suppressed = suppressed
	out := cmd.OutOrStdout()
	var err error
	if s.Output == "" || s.Output == "text" || s.Output == "json" {
		if err = own(rest, out); err == nil && !f.asJSON && len(suppressed) > 0 {
			fmt.Fprint(cmd.ErrOrStderr(), accepted(suppressed))
		}
	} else {
		err = writeReport(cmd, s.Output, &report.Report{Findings: rest, Suppressed: suppressed})
	}
	if err == nil && f.fails(rest) {
		err = exitError{Code: exitFindings, Text: summary(rest)}
	}
	return err
}

// writeReport writes a report for another program. GitHub's commands begin with
// what a screen spells out, so that no policy can say one; here hookc says them.
func writeReport(cmd *cobra.Command, format string, r *report.Report) error {
	r.Command, r.Version = cmd.Name(), release.Current().Version
	out := cmd.OutOrStdout()
	if format == "github" {
		out = screen.Behind(out)
	}
	return written("report", report.Write(out, format, r))
}

func is(n int) string {
	if n == 1 {
		return "is there"
	}
	return "are there"
}

// accepted lists what was suppressed, a line each.
func accepted(all []report.Suppressed) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s suppressed:\n", count(len(all), "finding"))
	for _, s := range all {
		fmt.Fprintf(&b, "  %s: %s\n", s.Finding.Error(), s.Reason)
	}
	return b.String()
}

// policyTexts are the files of a policy, as they are now.
func policyTexts(program *dag.Program) []*diag.Source {
	if program == nil {
		return nil
	}
	var out []*diag.Source
	for _, s := range program.Sources {
		// A file that is not there any more has no comments.
		if text, err := os.ReadFile(s.Path); err == nil && lists.Has(source.Names(), s.Format) {
			out = append(out, diag.NewSource(s.Name, string(text)))
		}
	}
	return out
}
