package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/hookc/hookc"
	"github.com/hookc/hookc/internal/decide"
	"github.com/hookc/hookc/internal/witness"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/agent"
	"github.com/hookc/hookc/policy/diag"
)

func newCheck() *cobra.Command {
	var s sources
	var f findings
	var dialect string
	cmd := &cobra.Command{
		Use:   "check [PATH…]",
		Short: "Compile without output; exit 1 when something is wrong",
		RunE: func(cmd *cobra.Command, args []string) error {
			witness.CollectSeldom()
			more := []hookc.Option{hookc.AsFound()}
			if dialect != "" {
				if _, err := agent.Find(dialect); err != nil {
					return cannot("--dialect: %v", err)
				}
				more = append(more, hookc.Agent(dialect))
			}
			program, found, err := s.compile(cmd, args, more...)
			if err != nil {
				return err
			}
			var rules witness.Counts
			if program != nil {
				dir, err := decide.WorkDir()
				if err != nil {
					return err
				}
				all := witness.FindKept(cmd.Context(), program, program.Tools, policy.ProjectRoot(dir))
				found.Add(witness.Lints(program)...)
				found.Add(witness.Findings(all, found)...)
				found.Sort()
				rules = witness.Count(all)
			}
			return f.report(cmd, &s, program, found, func(rest diag.List, out io.Writer) error {
				if f.asJSON {
					return writeJSON(out, checkReport{newFindings(rest, f.suppressed...), rules})
				}
				fmt.Fprint(cmd.ErrOrStderr(), rest.Render())
				if program != nil && !f.fails(rest) {
					fmt.Fprintln(out, compiled(program))
					if rules.Unknown > 0 {
						fmt.Fprintln(out, "rules:", rules)
					}
				}
				return nil
			})
		},
	}
	s.flags(cmd)
	cmd.Flags().StringVar(&dialect, "dialect", "", "find also what `AGENT` does not send and does not obey")
	decide.Complete(cmd, "dialect", agent.Names())
	f.flags(cmd)
	return cmd
}

// checkReport is what check says as JSON.
type checkReport struct {
	findingsJSON
	// Rules counts the rules by what is known of them.
	Rules witness.Counts `json:"rules"`
}
