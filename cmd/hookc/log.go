package main

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"github.com/hookc/hookc/cmd/hookc/logs"
	"github.com/hookc/hookc/executor/runner"
	"github.com/hookc/hookc/internal/decisionlog"
	"github.com/hookc/hookc/internal/decisionlog/keep"
	"github.com/hookc/hookc/policy"
)

func newLog() *cobra.Command {
	return (&logs.Host{Cannot: cannot, Complete: complete, Progress: progress, Colour: colour, Exact: exact, JSON: writeJSON, Count: count,
		Exit: func(code int, text string) error { return exitError{code, text} },
		Path: func(ctx context.Context, path string) string { return callerOf(ctx).path(path) }}).New()
}

// logged decides an event by decide and logs what was decided, with what scripts and
// models answered. What hookc run is to decide is left to it.
func logged(ctx context.Context, log *keep.Log, e subject, agent string, decide func(subject) (*policy.Decision, error)) (*policy.Decision, error) {
	if log.On() {
		e.said = runner.Keeping(e.said)
	}
	began := time.Now()
	d, err := decide(e)
	var back handBack
	if errors.As(err, &back) {
		return d, err
	}
	entry := decisionlog.Decided{Event: e.event, In: e.in, Decision: d, Agent: agent, Took: time.Since(began)}
	if e.said != nil {
		entry.Answers = e.said.Bytes()
	}
	if err != nil {
		entry.Err = err.Error()
	}
	return log.Decided(ctx, entry), err
}

// handBack is why an event must be decided by hookc run.
type handBack struct{ why string }

func (b handBack) Error() string { return b.why }
