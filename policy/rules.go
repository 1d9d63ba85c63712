package policy

import "slices"

// Rules are what an agent's own way of combining the answers of its hooks adds
// to a strategy; package agent makes them. The zero Rules add nothing: those of
// hookc's own strategies. The functions are pure.
type Rules struct {
	// Row changes the event's row: what the agent obeys there.
	Row func(*EventSpec)
	// Supersede takes from two answers that follow each other what the agent
	// does not hear of them, before they are joined. What it leaves must join
	// associatively.
	Supersede func(earlier, later *Result)
	// Conclude makes the last Result of what all hooks said, given the context
	// the event began with. It must not make a refusal out of nothing.
	Conclude func(before *Context, r Result) Result
	// Deadline is what the end of the chain's time does to its hooks.
	Deadline DeadlineKind
	// PassRepeats lets a repeated call through without asking the hooks again,
	// whatever they said to the first.
	PassRepeats bool
	// Unasked reports whether the agent answers a question itself, with yes: a failure
	// that means one decides nothing then, so that the next hooks are heard.
	Unasked func(*Context) bool
	// MaxBlocks is how often running a gate of the event may send the agent
	// back, 0 is hookc's own bound.
	MaxBlocks int
}

// DeadlineKind is what becomes of hooks when the time of their chain is up.
type DeadlineKind uint8

// The kinds: a hook that runs is ended and has failed; or it may finish, and
// only no further attempt begins, where a hook that has not begun at all has
// failed, or is passed over with a warning.
const (
	DeadlineCuts DeadlineKind = iota
	DeadlineWaits
	DeadlinePasses
)

// Join is x followed by y under the strategy.
func (s *StrategySpec) Join(x, y Result) Result {
	if s.Rules.Supersede != nil {
		s.Rules.Supersede(&x, &y)
	}
	return Join(s.Fold, x, y)
}

// Conclude is the last Result of a chain, and the context after it.
func (s *StrategySpec) Conclude(before, after *Context, r *Result) (*Context, *Result) {
	if s.Rules.Conclude == nil {
		return after, r
	}
	last := s.Rules.Conclude(before, *r)
	return before.With(last.Patch), &last
}

// AgentAnswer is what one hook of an agent's own configuration answered, in the
// agent's words: only the agent's Rules know what several of them mean.
type AgentAnswer struct {
	By By
	// Value is the JSON object the answer was, or was read as; of a list it is
	// empty.
	Value map[string]any
	// Verdict and Control are what it says alone, for the trace.
	Verdict Verdict
	Control Control
	// Void makes the whole event as if it had no hooks: the agent gives up on an
	// answer that it does not expect.
	Void bool
}

// same reports whether a hook said this before.
func (a AgentAnswer) same(before AgentAnswer) bool {
	return a.By.Name == before.By.Name && SameValue(a.Value, before.Value)
}

// Void reports whether one of the agent's answers makes the event void.
func (r *Result) Void() bool {
	return slices.ContainsFunc(r.Agent, func(a AgentAnswer) bool { return a.Void })
}

// Alone is the verdict and the control of one hook's answer, in its agent's
// words or not.
func (r *Result) Alone() (Verdict, Control) {
	if len(r.Agent) == 1 {
		return r.Agent[0].Verdict, r.Agent[0].Control
	}
	return r.Verdict, r.Control
}
