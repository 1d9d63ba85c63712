package rego

import (
	"cmp"
	"sort"

	"github.com/hookc/hookc/internal/lists"
)

// Leaves tells of code that left too many events to OPA and is not asked any more:
// before are those of earlier processes, and report is told of each new one, beside
// an event. It is called before anything is watched.
func (e *Eyes) Leaves(before []Leaving, report func(Leaving)) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.leaves = report
	e.leaving = map[string]*leaving{}
	for _, one := range before {
		l := &leaving{hook: one.Hook, code: one.Code}
		l.left.Store(one.Left)
		l.of.Store(one.Of)
		l.why.Store(&one.Why)
		l.over.Store(true)
		e.leaving[one.Code] = l
	}
}

// Leaving is the code that left events to OPA, by hook and code.
func (e *Eyes) Leaving() []Leaving {
	e.mu.Lock()
	defer e.mu.Unlock()
	var out []Leaving
	for _, l := range e.leaving {
		out = append(out, l.state())
	}
	sort.Slice(out, func(i, j int) bool {
		return lists.First(cmp.Compare(out[i].Hook, out[j].Hook), cmp.Compare(out[i].Code, out[j].Code)) < 0
	})
	return out
}

// counter counts what code leaves, in all plans.
func (e *Eyes) counter(hook, code string) *leaving {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.leaving == nil {
		e.leaving = map[string]*leaving{}
	}
	l := e.leaving[code]
	if l == nil {
		l = &leaving{hook: hook, code: code}
		if report := e.leaves; report != nil {
			l.report = func(now Leaving) { e.checks.Go(func() { report(now) }) }
		}
		e.leaving[code] = l
	}
	return l
}

// known counts what code leaves that left something before, nil for other code.
func (e *Eyes) known(n *Native) *leaving {
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.leaving) == 0 {
		return nil
	}
	return e.leaving[n.digest()]
}
