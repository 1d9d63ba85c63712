package laws

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc"
	"github.com/hookc/hookc/policy"
)

// timeline is what one mutator put in force, in order: versions of the policy,
// or the hooks of one session. An entry is added before it may come into
// force; settled is the last that is known to be.
type timeline struct {
	mu      sync.Mutex
	states  []string
	settled int
}

// change puts the next state in force.
func (l *timeline) change(next string, do func() error) error {
	l.mu.Lock()
	l.states = append(l.states, next)
	l.mu.Unlock()
	err := do()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.settled = len(l.states) - 1
	return err
}

// begun is to be asked before an event, and since afterwards: the states that
// may have been in force meanwhile.
func (l *timeline) begun() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.settled
}

func (l *timeline) since(begun int) []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Compact(slices.Clone(l.states[begun:]))
}

// soakOracle says what the serial interpreter decides under each program that
// may be in force. Its engines are never reloaded.
type soakOracle struct {
	t       *testing.T
	path    string
	mu      sync.Mutex
	engines map[string]*hookc.Engine
	known   map[soakKey]string
	turns   int
}

// soakKey names a Decision.
type soakKey struct {
	// version is 0 or 1; own are the hooks of the session, in order.
	version, own, session, input string
	// blocks is how many times running the gate has blocked before.
	blocks int
}

// soakEngine opens policies. They are not validated: that is compile's own
// test, and would take most of the time.
func soakEngine(policies ...hookc.Option) (*hookc.Engine, error) {
	return hookc.Open(context.Background(), append(policies, hookc.Rules(moody), hookc.Model(soakModel), hookc.SkipVerify())...)
}

// engine returns the engine of a version with the session's hooks.
func (o *soakOracle) engine(key soakKey) *hookc.Engine {
	name := key.version + " " + key.session + " " + key.own
	if eng := o.engines[name]; eng != nil {
		return eng
	}
	eng, err := soakEngine(hookc.Text(o.path, soakVersions[key.version[0]-'0']))
	require.NoError(o.t, err)
	for _, hook := range key.own {
		_, err := eng.Session(key.session).Register(soakHooks[hook-'0'])
		require.NoError(o.t, err)
	}
	o.engines[name] = eng
	return eng
}

// expects is the text of the Decision.
func (o *soakOracle) expects(key soakKey, in *soakInput) string {
	o.mu.Lock()
	defer o.mu.Unlock()
	if text, ok := o.known[key]; ok {
		return text
	}
	session, eng := key.session, o.engine(key)
	if in.gate {
		o.turns++
		session = fmt.Sprint("turn ", o.turns)
	}
	for range key.blocks {
		o.fire(eng, session, hookc.StopEvent, soakFields{policy.FieldStopReason: "todo"})
	}
	o.known[key] = soakText(o.fire(eng, session, in.event, in.context))
	return o.known[key]
}

func (o *soakOracle) fire(eng *hookc.Engine, session string, event policy.Event, c soakFields) *policy.Decision {
	d, err := eng.FireSerial(context.Background(), event, c.in(session))
	require.NoError(o.t, err)
	return d
}

func (o *soakOracle) close() {
	for _, eng := range o.engines {
		require.NoError(o.t, eng.Close())
	}
}

// soakText is a whole Decision without times, and without the warning of an
// async hook that found the pool full.
func soakText(d *policy.Decision) string {
	out := *d
	out.Hooks = nil
	out.Warnings = slices.DeleteFunc(slices.Clone(d.Warnings), isDrop)
	text, err := out.MarshalJSON()
	if err != nil {
		panic(err)
	}
	return fmt.Sprint(string(text), d.Failed, d.Policy, traceText(d.Hooks))
}

func isDrop(w policy.Warning) bool { return w.Code.ID == "HK172" }
