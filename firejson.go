package hookc

import (
	"bytes"
	"context"

	"github.com/hookc/hookc/builtins/toolcall"
	"github.com/hookc/hookc/policy"
)

// DecodeError is why FireJSON could not read an event.
type DecodeError struct{ Err error }

func (e *DecodeError) Error() string { return "hookc: the event cannot be read: " + e.Err.Error() }

// Unwrap is what is wrong with the text.
func (e *DecodeError) Unwrap() error { return e.Err }

// FireJSON is Fire for an event as its host has it: one JSON object
// (policy.DecodeContext says which). It decodes only what the hooks of the
// event, and what is done with their answers, look at; all of the text is
// checked to be JSON, but keys repeated in a part nobody looks at are not
// noticed. An event of "" is the one the object names.
//
// The Decision is that of Fire, except that Final has only the fields that were
// decoded. data may be used again once FireJSON returns. Text that is no event
// is a *DecodeError, and the Decision then refuses.
func (e *Engine) FireJSON(ctx context.Context, event policy.Event, data []byte) (*policy.Decision, error) {
	return e.FireJSONInto(ctx, event, data, new(Reused))
}

// FireJSONInto is FireJSON for a host that keeps none of the Decisions: what
// FireInto says of them holds.
func (e *Engine) FireJSONInto(ctx context.Context, event policy.Event, data []byte, m *Reused) (*policy.Decision, error) {
	// What is decoded depends on the plan, and the plan on the event and, where
	// sessions have hooks, on the session: both are guessed first.
	name, session := event, ""
	if event == "" {
		name = policy.Event(policy.Peek(data, policy.FieldEvent))
	}
	sessions := e.anyone.Load()
	if sessions {
		session = policy.Peek(data, policy.FieldSessionID)
	}
	known, ok := policy.ParseEvent(string(name))
	if !ok || e.config.log != nil || e.config.observer != nil || e.config.approvals { // who keeps an event keeps all of it
		return e.fireWhole(ctx, event, data, m)
	}
	l, err := e.enter(known, session)
	if err != nil {
		return refuse(known, policy.NewContext(known), err)
	}
	defer l.leave()
	made, sent, err := l.program.Projection(known).DecodeFor(known, data, m.Take())
	if err != nil {
		return refuse(known, policy.NewContext(known), &DecodeError{err})
	}
	named, _ := policy.ParseEvent(sent)
	if event == "" && named != known || sessions && made.Text(policy.FieldSessionID) != session {
		return e.fireWhole(ctx, event, data, m)
	}
	// What no hook looks at was not decoded, and may be what is wrong.
	if plan := l.program.Plan(known); known.NeedsTool() && plan != nil && (made.Text(policy.FieldToolName) == "" && policy.Peek(data, policy.FieldToolName) == "" ||
		bytes.Contains(data, []byte(`\u0000`)) || toolcall.Doubt(made, known, plan.Reads) != nil) {
		return e.fireWhole(ctx, event, data, m)
	}
	in, missing, err := e.informed(ctx, l, known, made)
	if err != nil {
		return refuse(known, in, err)
	}
	if missing != nil {
		return missing.decide(ctx, l, known, in), nil
	}
	return l.exec.FireInto(ctx, known, in, m.Make(made)), nil
}

// fireWhole is FireJSONInto with everything decoded.
func (e *Engine) fireWhole(ctx context.Context, event policy.Event, data []byte, m *Reused) (*policy.Decision, error) {
	in, sent, err := policy.DecodeContext(data)
	if event == "" {
		event = policy.Event(sent)
	}
	if err != nil {
		return refuse(event, policy.NewContext(event), &DecodeError{err})
	}
	return e.FireInto(ctx, event, in, m)
}
