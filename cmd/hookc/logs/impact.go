package logs

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/internal/decisionlog"
	"github.com/hookc/hookc/internal/exit"
	"github.com/hookc/hookc/internal/impact"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy/diag"
)

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
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case !lists.Has(impact.Formats, format):
				return exit.Cannot("unknown format %q: %s", format, diag.DidYouMean(format, impact.Formats, "one of "+strings.Join(impact.Formats, ", ")))
			case samples < 0:
				return exit.Cannot("--samples is not negative")
			}
			p, err := program()
			if err != nil {
				return err
			}
			j := impact.New(p, samples)
			unread := f.each(cmd, func(e *decisionlog.Entry) error { return j.Add(cmd.Context(), e) })
			if cmd.Context().Err() != nil {
				return exit.Error{Code: 130, Text: ""}
			}
			r := j.Report()
			if unread != nil && r.Calls == 0 {
				return unread
			}
			if format == "json" {
				err = exit.JSON(cmd.OutOrStdout(), r)
			} else if err = r.Print(cmd.OutOrStdout(), format); err != nil {
				err = exit.Cannot("%v", err)
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
