// Package compiler turns a policy into a dag.Program. The table in passes.go
// is the compiler, read top to bottom; one file holds one pass. It sees
// bodies only through the dag.Kind values it is given and never runs one.
package compiler

import (
	"fmt"
	"io"
	"time"

	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/internal/lazy"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
)

// Config says how to compile.
type Config struct {
	// Kinds are the kinds of hook; a hook of another kind is a bug and panics.
	Kinds []dag.Kind
	// Validate compares a plan with the serial definition; nil skips that.
	// A difference is a bug of hookc and panics.
	Validate func(*dag.Program, *dag.Plan) error
	// Event narrows the program to one event; "" compiles all. Hooks of other
	// events are then neither prepared nor listed.
	Event policy.Event
	// Without names passes to leave out. CheckWithout says whether they may
	// be; Compile panics when they may not.
	Without []string
	// Trace, if not nil, is told what the policy looks like after each pass.
	Trace io.Writer
	// Costs returns the measured p50 of a hook, if there is one.
	Costs func(policy.Event, string) (time.Duration, bool)
	// Runtime keeps going where the author of one file would break another's:
	// an override of a locked hook is dropped with a warning instead of being
	// an error (semantics.md §2.7).
	Runtime bool
	// Strict makes a warning stop compilation as an error does.
	Strict bool
	// Once is for a process that decides one event: what pays only when there are
	// more is left out.
	Once bool
	// Cache keeps what is made for the next compilation with the same Kinds and
	// takes what an earlier one made; nil keeps nothing. Borrow takes without
	// keeping.
	Cache  *Cache
	Borrow bool
	// Hints adds the latency hints (HK21x) and likely findings to the
	// diagnostics; explain shows them, check does not.
	Hints bool
	// Background runs what Restore leaves to be done later, for the owner of the
	// program, who waits for it; nil does it when it is first needed.
	Background func(func())
}

// Compile runs the passes over a policy, which it does not change. All errors
// of a pass are reported at once; a pass with errors is the last that runs,
// and the program is then nil. The list is sorted and complete either way;
// the program holds it too. The program depends on nothing but the policy and
// the configuration. It is safe to call concurrently.
func Compile(p *policy.Policy, cfg Config) (*dag.Program, diag.List) {
	start := time.Now()
	if err := CheckWithout(cfg.Without); err != nil {
		panic("compiler: " + err.Error())
	}
	u := newUnit(p, cfg)
	for i := range passes {
		pass := &passes[i]
		if u.without(pass.Name) {
			continue
		}
		if u.reused && !pass.bodies {
			u.done[pass.Name] = true
			continue
		}
		before := len(u.diags)
		pass.run(u)
		if u.failed() {
			u.diags.Sort()
			return nil, u.diags
		}
		if !pass.bodies {
			u.fixed.Add(u.diags[before:]...)
		}
		u.done[pass.Name] = true
		if !u.reused {
			u.check(pass)
		}
		u.trace(pass)
	}
	u.checkReused()
	u.diags.Sort()
	u.program.Diagnostics = u.diags
	u.program.Compiled = time.Since(start)
	if cfg.Cache != nil && !cfg.Borrow {
		cfg.Cache.keep(u)
	}
	return u.program, u.diags
}

// unit is the working state that passes edit.
type unit struct {
	cfg    Config
	policy *policy.Policy
	// plans are in lifecycle order, one for each event that has a hook. Until
	// edges has run a plan is items and nodes only.
	plans []*dag.Plan
	// entries say what became of each hook; place finds a hook's entry.
	entries []dag.Entry
	place   map[*policy.Hook]int
	kinds   map[policy.Kind]*dag.Kind
	bodies  map[*policy.Hook]*made

	// earlier is a compilation to take from, or nil; remade are bodies made before
	// it was known that not all can be taken.
	earlier *kept
	remade  map[*policy.Hook]*made
	// reused is true when the plans are those of earlier with other bodies, and
	// untouched are those that have none.
	reused    bool
	untouched map[*dag.Plan]bool
	// looks gives knownTools, made when first asked for.
	looks func() map[string]string
	// fixed are the findings of passes that do not look into bodies.
	fixed diag.List

	// hash is that of the whole policy, whichever event is compiled; identity is
	// what it is made of.
	hash      string
	identity  []identity
	pipelines []*dag.Pipeline
	program   *dag.Program
	warnings  []policy.Warning
	diags     diag.List

	done map[string]bool
	last string
}

func newUnit(p *policy.Policy, cfg Config) *unit {
	u := &unit{cfg: cfg, policy: p, place: map[*policy.Hook]int{}, kinds: map[policy.Kind]*dag.Kind{},
		bodies: map[*policy.Hook]*made{}, done: map[string]bool{}, remade: map[*policy.Hook]*made{}, untouched: map[*dag.Plan]bool{}}
	u.looks = lazy.Value(u.knownTools)
	for i := range cfg.Kinds {
		u.kinds[cfg.Kinds[i].Name] = &cfg.Kinds[i]
	}
	return u
}

// without reports whether a pass is left out.
//
//go:noinline
func (u *unit) without(pass string) bool { return lists.Has(u.cfg.Without, pass) }

// failed reports whether the diagnostics so far stop compilation.
func (u *unit) failed() bool {
	return lists.Some(u.diags, func(d *diag.Diagnostic) bool {
		return d.Severity == diag.Error || u.cfg.Strict && d.Severity == diag.Warning
	})
}

// report adds a finding about a hook.
//
//go:noinline
func (u *unit) report(h *policy.Hook, d diag.Diagnostic) {
	if d.Hook == "" {
		d.Hook = h.Name
	}
	u.diags.Add(d)
}

// kind is the kind of a hook.
func (u *unit) kind(h *policy.Hook) *dag.Kind {
	k := u.kinds[h.Kind]
	if k == nil {
		panic(fmt.Sprintf("compiler: hook %s is of kind %q, which the configuration does not have", h.Name, h.Kind))
	}
	return k
}

// drop says that a hook is not live.
//
//go:noinline
func (u *unit) drop(h *policy.Hook, status dag.EntryStatus, by, reason string, code *diag.Code) {
	e := &u.entries[u.place[h]]
	e.Status, e.By, e.Reason, e.Code = status, by, reason, code
}

// origin names a hook with its tier.
//
//go:noinline
func origin(h *policy.Hook) string { return h.Tier.String() + "/" + h.Name }
