package hookc

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/hookc/hookc/internal/decisionlog"
	"github.com/hookc/hookc/internal/decisionlog/keep"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/observe"
	"github.com/hookc/hookc/policy/record"
)

// LogOptions say how an engine logs, beside what `log:` of its policy says; of both the
// stricter holds.
type LogOptions struct {
	// Durable has a decision returned when its entry is on the disk.
	Durable bool
	// Deny refuses a guarded action whose decision cannot be logged. Without it the
	// Decision has a warning.
	Deny bool
	// Mask are JSON pointers into an entry (/input/tool_input/content) of what a keyed
	// hash takes the place of; * is any member.
	Mask []string
	// Agent is who asks, for the entries.
	Agent string
}

// Log has an engine keep a record of its decisions in a folder, which must be an
// absolute path: as `hookc log` has it, with secrets replaced before anything is
// written. The events that Run fires on its own are not logged, nor is what is
// no event; FireInto allocates as Fire does.
func Log(dir string, o LogOptions) Option {
	return func(c *config) {
		if !filepath.IsAbs(dir) {
			c.misuse = errors.Join(c.misuse, errors.New("hookc: Log takes an absolute path"))
		}
		s := record.Setting{Tier: "user", Rank: record.User, By: "hookc.Log", Enabled: "on", OnError: "warn", Durable: o.Durable}
		if o.Deny {
			s.OnError = "deny"
		}
		for _, p := range o.Mask {
			if err := record.CheckPointer(p); err != nil {
				c.misuse = errors.Join(c.misuse, errors.New("hookc: "+err.Error()))
			}
			s.Mask = append(s.Mask, record.When{What: p})
		}
		c.log, c.agentName = &keep.Log{Dir: dir, Own: []record.Setting{s}}, o.Agent
	}
}

// Observe has o told of every firing, and of every run of a script or a model.
func Observe(o observe.Observer) Option { return func(c *config) { c.observer = o } }

// logged logs what Fire decided, or why it could not.
func (e *Engine) logged(ctx context.Context, event policy.Event, in *policy.Context, d *policy.Decision, err error) *policy.Decision {
	known, is := policy.ParseEvent(string(event))
	if e.config.log == nil || !is || in.Err() != nil || errors.Is(err, ErrClosed) {
		return d
	}
	entry := decisionlog.Decided{Event: known, In: in.Frozen(known), Decision: d, Agent: e.config.agentName}
	if err != nil {
		entry.Err = err.Error()
	}
	return e.config.log.Decided(ctx, keep.Under{Policy: e.Program().Log}, entry)
}
