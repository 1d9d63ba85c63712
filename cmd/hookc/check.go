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
		Long: `check compiles every source, trusted or not. It prints findings, or one line when all
is well. For every rule it looks for an event that makes the rule fire. A rule that never
fires is an error (HK156). It keeps what it finds in the state folder, so a second check
of the same files is fast. Errors are exit 1; with --strict, warnings are too. If there
is no policy, it is exit 3. With --dialect AGENT it also finds what the hooks read that this agent
does not send, and what they say that it does not obey.`,
		Example: `  hookc check                      # what is discovered here
  hookc check --strict policies/   # in CI
  hookc check --format junit > check.xml
  hookc check --dialect claude     # for one agent`,
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
