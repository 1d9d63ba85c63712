package logs

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/internal/decisionlog"
	"github.com/hookc/hookc/internal/impact"
	"github.com/hookc/hookc/internal/spell"
	"github.com/hookc/hookc/policy/diag"
)

const impactHelp = `impact reads the record (hookc log enable) and shows what hooks would have done to the
calls in it: how many they would have blocked, asked about or rewritten, and in how many
sessions. It shows samples, and the hook with the most calls first. Values are masked as
in the log.

With -f it asks every hook of that policy about every recorded event. Rules are
evaluated. Scripts and models answer what they answered then, and nothing is started.
What cannot be replayed is counted. Without -f it sums up hooks that were not in force
when the log was written (enforcement: warn or dryrun, rollout).

STATE is "new" for a hook that is not in the record. ALREADY counts calls that were
held back or rewritten anyway.

Exit codes: 0 the report is made, whatever it says · 3 it could not be, or a line of the
log cannot be read (the others are counted) · 130 interrupted.`

// Impact is `hookc impact`. flags adds the flags that name a policy, and returns how to
// compile it; without -f it is nil.
func (h *Host) Impact(flags func(*cobra.Command) func() (*dag.Program, error)) *cobra.Command {
	f := filter{Host: h}
	var format string
	var samples int
	var program func() (*dag.Program, error)
	cmd := &cobra.Command{
		Use:   "impact [-f NEW]",
		Short: "What hooks would have done to the recorded calls",
		Long:  impactHelp,
		Example: `  hookc impact -f new.yaml --since 7d
  hookc impact
  hookc impact -f new.yaml --format html > impact.html`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case !spell.Has(impact.Formats, format):
				return h.Cannot("unknown format %q: %s", format, diag.DidYouMean(format, impact.Formats, "one of "+strings.Join(impact.Formats, ", ")))
			case samples < 0:
				return h.Cannot("--samples is not negative")
			}
			p, err := program()
			if err != nil {
				return err
			}
			j := impact.New(p, samples)
			unread := f.each(cmd, func(e *decisionlog.Entry) error { return j.Add(cmd.Context(), e) })
			if cmd.Context().Err() != nil {
				return h.Exit(130, "")
			}
			r := j.Report()
			if unread != nil && r.Calls == 0 {
				return unread
			}
			if format == "json" {
				err = h.JSON(cmd.OutOrStdout(), r)
			} else if err = r.Print(cmd.OutOrStdout(), format); err != nil {
				err = h.Cannot("%v", err)
			}
			if err != nil {
				return err
			}
			return unread
		},
	}
	program = flags(cmd)
	f.flags(cmd)
	cmd.Flags().StringVar(&format, "format", "text", "`text`, markdown, html or json")
	cmd.Flags().IntVar(&samples, "samples", 3, "how many calls to show of each hook")
	h.Complete(cmd, "format", impact.Formats)
	return cmd
}
