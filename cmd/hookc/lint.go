package main

import (
	"fmt"
	"io"
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
		RunE: func(cmd *cobra.Command, args []string) error {
			look := func() (*dag.Program, diag.List, error) {
				return s.compile(cmd, args, host.Compiler[hookc.Option](func(c *compiler.Config) { c.Hints = true }), hookc.AsFound())
			}
			program, found, err := look()
			for round, made := 0, repair; err == nil && made && round < 10; round++ {
				if made, err = fix.Repair(found, len(args)+len(s.Files) > 0, cmd.ErrOrStderr()); err != nil {
					return cannot("%v", err)
				}
				program, found, err = look()
			}
			if err != nil {
				return err
			}
			return f.report(cmd, &s, program, found, func(rest diag.List, out io.Writer) error {
				r := report.NewLint(rest)
				if f.asJSON {
					r.Suppressed = f.suppressed
					return writeJSON(out, r)
				}
				return lintText(r, out)
			})
		},
	}
	s.flags(cmd)
	f.flags(cmd)
	cmd.Flags().BoolVar(&repair, "fix", false, "write what findings suggest where the repair is exact")
	return cmd
}

// lintText is the report for people.
func lintText(r *report.Lint, out io.Writer) error {
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
	_, err := io.WriteString(out, s.String())
	return written("findings", err)
}
