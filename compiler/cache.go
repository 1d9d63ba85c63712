package compiler

import (
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/internal/lazy"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
)

// Cache keeps what the last compilation made, so that the next one makes again
// only what has changed. It holds no more than that one compilation did, and
// what it gives is what would be made: the program is the same with and
// without. The zero Cache is ready; it is safe for concurrent use.
type Cache struct {
	mu   sync.Mutex
	kept *kept
}

// kept is a compilation that succeeded.
type kept struct {
	cfg    signature
	policy *policy.Policy
	unit   *unit
	// named finds a live hook by what names it.
	named func() map[hookName]*policy.Hook
}

// signature is what, besides the policy, a program depends on. Two that are
// equal may differ in Costs and Trace, with which nothing is kept.
type signature struct {
	event                  policy.Event
	without                string
	runtime, strict, hints bool
	once                   bool
	kinds                  *dag.Kind
	validate               bool
}

// hookName is what a hook is looked for by in an earlier policy.
type hookName struct {
	event policy.Event
	tier  policy.Tier
	name  string
}

func signatureOf(cfg *Config) signature {
	s := signature{event: cfg.Event, without: strings.Join(slices.Sorted(slices.Values(cfg.Without)), " "),
		once: cfg.Once, runtime: cfg.Runtime, strict: cfg.Strict, hints: cfg.Hints, validate: cfg.Validate != nil}
	if len(cfg.Kinds) > 0 {
		s.kinds = &cfg.Kinds[0]
	}
	return s
}

// last is what was kept for the same kinds of hook; nil when there is nothing.
func (c *Cache) last(cfg *Config) *kept {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.kept == nil || len(cfg.Kinds) == 0 || c.kept.cfg.kinds != &cfg.Kinds[0] {
		return nil
	}
	return c.kept
}

// keep takes note of a compilation that succeeded.
func (c *Cache) keep(u *unit) {
	k := &kept{cfg: signatureOf(&u.cfg), policy: u.policy, unit: u}
	k.named = lazy.Value(func() map[hookName]*policy.Hook {
		out := make(map[hookName]*policy.Hook, len(u.bodies))
		for h := range u.bodies {
			out[hookName{h.Event, h.Tier, h.Name}] = h
		}
		return out
	})
	u.earlier, u.remade = nil, nil
	c.mu.Lock()
	defer c.mu.Unlock()
	c.kept = k
}

// made is the body of a hook and what was found wrong with it.
type made struct {
	body  dag.Body
	found diag.List
	// native says that the body has become code, if it can; doubts are what was
	// found then.
	native bool
	doubts diag.List
	// spec is what the filter was compiled for; matcher is nil before it was.
	spec    *policy.EventSpec
	matcher *policy.Matcher
	wrong   diag.List
}

// known is what an earlier compilation made of a hook that has not changed,
// nor anything its body is made of; nil when there is none.
func (u *unit) known(h *policy.Hook) *made {
	if u.earlier == nil {
		return nil
	}
	before := u.earlier.unit
	m := before.bodies[h]
	if m == nil {
		old := u.earlier.named()[hookName{h.Event, h.Tier, h.Name}]
		if old == nil || !same(reflect.ValueOf(old), reflect.ValueOf(h)) {
			return nil
		}
		m = before.bodies[old]
	}
	if m.body.Fresh == nil || !m.body.Fresh() || m.native && !u.wantsNative() {
		return nil
	}
	return m
}
