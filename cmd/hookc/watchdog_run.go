package main

import (
	"context"
	"errors"
	"fmt"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/hookc/hookc/internal/decide"
	"github.com/hookc/hookc/policy"
)

// guarded puts a watchdog beside run without --dialect: it answers in hookc's
// own words.
func guarded(cmd *cobra.Command) (*watchdog, error) {
	given, err := cmd.Flags().GetDuration(decide.DeadlineName)
	if err != nil {
		return nil, cannot("%v", err)
	}
	fixed := cmd.Flags().Changed(decide.DeadlineName)
	if !fixed {
		given = readyBy
	}
	w := newWatchdog(given, fixed)
	w.graceful = true
	cmd.SetContext(context.WithValue(cmd.Context(), watchdogKey{}, w))
	w.decides(cmd, "")
	go w.watch()
	return w, nil
}

// decides is called when the event is known: a watchdog of run itself then
// knows what to refuse. That of an agent's words knows it already.
func (w *watchdog) decides(cmd *cobra.Command, event policy.Event) {
	if w == nil || !w.graceful {
		return
	}
	w.answers(func(why string, interrupted bool) int {
		signal.Ignore(syscall.SIGPIPE)
		var err error = cannot("could not decide: %s", why)
		d := &policy.Decision{Event: event, Reasons: []string{"hookc could not decide: " + why}}
		switch {
		case interrupted:
			d.Action = policy.Cancelled
			err = verdictExit(d, writeDecision(cmd.OutOrStdout(), d, false))
		case event != "" && event.Spec().Class == policy.Guard:
			d.Action, d.Verdict = policy.Block, policy.Deny
			err = verdictExit(d, writeDecision(cmd.OutOrStdout(), d, false))
		}
		var exit exitError
		errors.As(err, &exit)
		fmt.Fprintln(cmd.ErrOrStderr(), exit.Text)
		return exit.Code
	})
}
