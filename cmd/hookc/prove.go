package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/hookc/hookc"
	"github.com/hookc/hookc/internal/decide"
	"github.com/hookc/hookc/internal/prove"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
)

func newProve() *cobra.Command {
	var s sources
	var event string
	var asJSON, allowUnknown bool
	cmd := &cobra.Command{
		Use:   "prove 'never: EXPR' [POLICY…]",
		Short: "Decide a property of a policy: proved, refuted with an event, or unknown",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cannot("prove needs a property: hookc prove 'never: EXPR'")
			}
			at, ok := policy.ParseEvent(event)
			if !ok {
				return cannot("unknown event %q: %s", event, diag.DidYouMean(event, policy.EventNames(), "`hookc help events` lists them"))
			}
			property, err := prove.Parse(args[0], at)
			if err != nil {
				return cannot("%v", err)
			}
			program, found, err := s.compile(cmd, args[1:], hookc.AsFound(), hookc.SkipVerify())
			if err != nil {
				return err
			}
			if program == nil {
				return exitError{Code: exitCannot, Text: found.Render() + "hookc: the policy has errors: nothing was proved"}
			}
			r, err := prove.Decide(cmd.Context(), program, property)
			switch {
			case cmd.Context().Err() != nil:
				return exitError{Code: exitInterrupted, Text: "hookc: interrupted"}
			case err != nil:
				return cannot("the property: %v", err)
			case asJSON:
				err = writeJSON(cmd.OutOrStdout(), r)
			default:
				_, err = fmt.Fprint(cmd.OutOrStdout(), r.Text())
			}
			if err == nil && (r.Status == prove.Refuted || r.Status == prove.Unknown && !allowUnknown) {
				err = exitError{Code: exitFindings, Text: ""}
			}
			return err
		},
	}
	s.flags(cmd)
	cmd.Flags().StringVar(&event, "event", string(policy.PreToolExecution), "the property is of this `EVENT`")
	cmd.Flags().BoolVar(&allowUnknown, "allow-unknown", false, "exit 0 also where nobody knows")
	cmd.Flags().BoolVar(&asJSON, "json", false, "as JSON")
	decide.Complete(cmd, "event", policy.EventNames())
	return cmd
}
