package decide

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/internal/decisionlog"
	"github.com/hookc/hookc/internal/decisionlog/keep"
	"github.com/hookc/hookc/policy"
)

// Under is the event as it is decided by a program, and logged so.
func (e Subject) Under(program *dag.Program) Subject {
	if e.log != nil {
		e.answers = e.log.Decides(program, e.answers)
	}
	return e
}

// Logged decides an event by decide and logs what was decided, with what scripts and
// models answered; flag is --log. What hookc run is to decide is left to it.
func Logged(ctx context.Context, log *keep.Log, e Subject, agent string, flag bool, decide func(Subject) (*policy.Decision, error)) (*policy.Decision, error) {
	e.log = log.Begin(flag, e.answers)
	d, err := decide(e)
	var back HandBack
	if errors.As(err, &back) {
		return d, err
	}
	entry := decisionlog.Decided{Event: e.Event, In: e.In, Decision: d, Agent: agent}
	if err == nil && d.Grant != nil {
		if entry.Grant, err = json.Marshal(d.Grant); err != nil {
			return nil, err
		}
	}
	return e.log.Decided(ctx, entry, err), err
}

// HandBack is why an event must be decided by hookc run.
type HandBack string

func (b HandBack) Error() string { return string(b) }
