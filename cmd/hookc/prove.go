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

const proveHelp = `prove decides a property of a policy. never: EXPR says that no decision fulfils the
expression; always: EXPR says that every decision does. EXPR is written like the
condition of an expr hook, over the fields of the event (hookc help fields) and action.
action is what is decided: proceed, ask, defer, block, keep_working, retry, hide, abort
or end_turn.

The answer is one of three. proved: the compiled rules show it. refuted: there is an
event, which hookc run takes, on which the policy really decides so. unknown: prove says
what stopped the proof. Only rules are evaluated. No process is started and no model
called, so what they decide is unknown. Each block of a gate counts as the first.

A property can be kept beside the policy, under properties: in a *_test.yaml file:
hookc test decides it.

Exit codes: 0 proved · 1 refuted, or unknown without --allow-unknown · 3 could not be
decided, also when the policy or the property has errors · 130 interrupted.`

func newProve() *cobra.Command {
	var s sources
	var event string
	var asJSON, allowUnknown bool
	cmd := &cobra.Command{
		Use:   "prove 'never: EXPR' [POLICY…]",
		Short: "Decide a property of a policy: proved, refuted with an event, or unknown",
		Long:  proveHelp,
		Example: `  hookc prove 'never: tool_kind == "shell" && command contains "rm -rf /" && action == "proceed"'
  hookc prove 'always: tool_name != "WebFetch" or action == "block"' hooks.yaml
  hookc prove 'never: action == "proceed"' hooks.yaml --event stop --json`,
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
