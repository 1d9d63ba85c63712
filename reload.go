package hookc

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/hookc/hookc/builtins/guard"
	"github.com/hookc/hookc/compiler"
	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/source"
)

// cache is what an engine keeps of its policy so that a reload makes again only
// what has changed: what was read, what it was compiled to, and the kinds of
// hook, which remember what they share. Engine.mu guards it.
type cache struct {
	read     *source.Cache
	compiled *compiler.Cache
	kinds    []dag.Kind
}

// Readings keeps what engines have read of their policies, so that several of
// one policy, one for each event, hold it once. It holds no more than the last
// of them read. The zero Readings is ready; it is safe for concurrent use.
type Readings struct {
	once sync.Once
	read *source.Cache
}

// cache makes the cache when it is first wanted.
func (r *Readings) cache() *source.Cache {
	r.once.Do(func() { r.read = &source.Cache{Lean: true} })
	return r.read
}

// Reading lets an engine share what it reads with others whose policies are in
// the same files; on its own it keeps that for its own next Reload.
func Reading(r *Readings) Option {
	return func(c *config) { c.readings = r }
}

// newCache is what an engine begins with, nil when it keeps nothing.
func (c *config) newCache() *cache {
	if !c.caching() {
		return nil
	}
	out := &cache{read: &source.Cache{}, compiled: &compiler.Cache{}}
	if c.readings != nil {
		out.read = c.readings.cache()
	}
	return out
}

// drafts keeps what Compile makes in kept, and has files read as an editor has them.
func (c *config) drafts(kept *any, moving bool, draft func(path string) (string, bool)) {
	type state struct {
		cache *cache
		self  *guard.Self
	}
	if *kept == nil {
		*kept = &state{&cache{read: &source.Cache{Draft: draft}, compiled: &compiler.Cache{}}, c.self}
	}
	k := (*kept).(*state)
	c.cache, c.self, c.kinds.Draft, c.kinds.Moving = k.cache, k.self, draft, moving
}

// caching reports whether an engine so configured keeps anything: not with the
// pass recall left out, nor when there is nothing to compile.
func (c *config) caching() bool {
	return c.artifact.path == "" && !lists.Has(c.compile.Without, "recall")
}

// reused is the configuration of one compilation with what is kept in it.
func (c *config) reused(cc *compiler.Config) {
	if c.cache == nil {
		cc.Kinds = c.hookKinds()
		return
	}
	if c.cache.kinds == nil {
		c.cache.kinds = c.hookKinds()
	}
	cc.Kinds, cc.Cache, cc.Borrow = c.cache.kinds, c.cache.compiled, c.borrow
}

// Reload reads the sources again and swaps the new plan in atomically. Events
// in flight finish on the plan they began with. On an error the old plan
// stays in force. It makes again only what has changed; the plan is the one that
// Open would make (see Settle).
func (e *Engine) Reload(ctx context.Context) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed.Load() {
		return ErrClosed
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	next, err := e.build()
	if err != nil {
		return err
	}
	sessions := map[*Session]map[policy.Event]*live{}
	e.sessions.Range(func(_, v any) bool {
		s := v.(*Session)
		var plans map[policy.Event]*live
		if plans, err = s.rebuild(next.policy, nil); err == nil {
			sessions[s] = plans
		}
		return err == nil
	})
	if err != nil {
		next.exec.Close()
		return fmt.Errorf("hookc: hooks registered at run time do not fit the new policy: %w", err)
	}
	e.retire(e.live.Swap(next))
	for s, plans := range sessions {
		s.swap(plans)
	}
	e.retain()
	return nil
}

// retain forgets what Go rules made for hooks that are in no plan any more. Of
// an artifact nobody knows before they run which are in it. The caller holds mu.
func (e *Engine) retain() {
	if e.config.artifact.path != "" {
		return
	}
	programs := []*dag.Program{e.Program()}
	e.sessions.Range(func(_, v any) bool {
		if plans := v.(*Session).plans.Load(); plans != nil {
			for _, l := range *plans {
				programs = append(programs, l.program)
			}
		}
		return true
	})
	e.config.kinds.Instances.Retain(programs)
}

// build compiles what load finds and makes an executor for it.
func (e *Engine) build() (*live, error) {
	if e.config.artifact.path != "" {
		return e.config.restored(e.metrics)
	}
	if e.live.Load() == nil && e.config.keeps() {
		return e.config.steady(e.metrics)
	}
	p, found := e.config.load()
	return e.config.compiled(p, found, e.metrics)
}

// Settle waits until the plan in force is all that it will be. After a Reload
// the rules that it changed are evaluated one by one, as it allows, until they
// are made one evaluation with the others, in the background of the first event
// that wants them; that changes no Decision. It returns ctx's error when that
// ends first.
func (e *Engine) Settle(ctx context.Context) error {
	for _, f := range e.Program().Unready() {
		if err := ctx.Err(); err != nil {
			return err
		}
		f.Make()
	}
	return ctx.Err()
}

// Settling reports whether something of the plan in force is still made in the
// background.
func (e *Engine) Settling() bool {
	return slices.ContainsFunc(e.Program().Unready(), (*dag.LazyFusion).Pending)
}

// copied is a policy with hooks of its own, for one who changes them: those of
// a policy that was read are kept for the next reload.
func copied(p *policy.Policy) *policy.Policy {
	out := *p
	out.Hooks = make([]*policy.Hook, len(p.Hooks))
	for i, h := range p.Hooks {
		own := *h
		out.Hooks[i] = &own
	}
	out.Notes = lists.Copy(p.Notes)
	return &out
}
