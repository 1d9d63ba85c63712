package rego

import (
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
)

// Code that leaves more than one in mostLeft of its events to topdown is not asked
// any more: such events cost both. It is not judged before it was asked enough
// times.
const (
	enough   = 200
	mostLeft = 100
)

// Leaving is native code that leaves events to OPA.
type Leaving struct {
	// Hook is the hook's name, Code the hash of its native code.
	Hook string `json:"hook"`
	Code string `json:"code"`
	// Left is how many events the code left to OPA, Of how many it was asked about
	// since the first of them, which counts in both.
	Left int64 `json:"left"`
	Of   int64 `json:"of"`
	// Over says that the code is not asked any more.
	Over bool `json:"over"`
	// Why says what in the rule the last was left for, and what can be done.
	Why string `json:"why"`
}

// String says it in a line.
func (l Leaving) String() string {
	text := fmt.Sprintf("%s: its native code left %d of %d events to OPA", l.Hook, l.Left, l.Of)
	if l.Over {
		text += ", which evaluates it from then on"
	}
	return text + "; " + l.Why
}

// leaving counts it. Nobody counts before code leaves its first event: until then
// one pointer is looked at.
type leaving struct {
	hook, code string
	left, of   atomic.Int64
	over       atomic.Bool
	why        atomic.Pointer[string]
	report     func(Leaving)
}

// asked counts an event that the code is asked about; false when it is topdown's.
func (l *leaving) asked() bool {
	if l.judge() {
		return false
	}
	l.of.Add(1)
	return true
}

// gone counts an event that was left to topdown. It was asked about already unless
// it is the first that the code's owner knows of.
func (l *leaving) gone(asked bool, why string) {
	l.why.Store(&why)
	if !asked {
		l.of.Add(1)
	}
	l.left.Add(1)
	l.judge()
}

// judge reports whether the code is not asked any more. The first event that it
// left is when the counting began, and says nothing of how often it does.
func (l *leaving) judge() bool {
	if l.over.Load() {
		return true
	}
	of, left := l.of.Load()-1, l.left.Load()-1
	if of < enough || left*mostLeft <= of {
		return false
	}
	if l.over.CompareAndSwap(false, true) && l.report != nil {
		l.report(l.state())
	}
	return true
}

func (l *leaving) state() Leaving {
	out := Leaving{Hook: l.hook, Code: l.code, Left: l.left.Load(), Of: l.of.Load(), Over: l.over.Load()}
	if why := l.why.Load(); why != nil {
		out.Why = *why
	}
	return out
}

// leaver is what a module's native code knows of the events that it left.
type leaver struct {
	leaving atomic.Pointer[leaving]
	// fused is the last evaluation with others that it was put into, counted the
	// host's own counter.
	fused   atomic.Pointer[FusedNative]
	counted atomic.Pointer[func()]
}

// CountLeft has each event that native code leaves to OPA counted by the host
// too, in place of who did before.
func (n *Native) CountLeft(count func()) { n.counted.Store(&count) }

// Left is how often native code left an event to OPA; false for never.
func (n *Native) Left() (Leaving, bool) {
	l := n.leaving.Load()
	if l == nil {
		return Leaving{}, false
	}
	return l.state(), true
}

// LeftWhy says why the last event was left to OPA that was, "" when none was.
func (n *Native) LeftWhy() string {
	l, _ := n.Left()
	return l.Why
}

// LeftBefore says why OPA evaluates the module although its code is right: it left
// too many events before, "" when it did not.
func (n *Native) LeftBefore() string {
	if l := n.leaving.Load(); l != nil && l.over.Load() {
		return l.state().Why
	}
	return ""
}

// stays reports whether native code is to be asked about an event.
func (n *Native) stays() bool {
	l := n.leaving.Load()
	return l == nil || l.asked()
}

// left counts that native code left an event to topdown, which failed with err or
// did not.
func (n *Native) left(r *nativeRun, m *Module, err error) {
	l := n.leaving.Load()
	known := l != nil
	if !known {
		l = n.counter()
	}
	l.gone(known, n.cause(r, m, err))
	if count := n.counted.Load(); count != nil {
		(*count)()
	}
}

// counter begins to count, where the code's other plans count.
func (n *Native) counter() *leaving {
	fresh := &leaving{hook: n.name}
	if n.eyes != nil {
		fresh = n.eyes.counter(n.name, n.digest())
	}
	n.count(fresh)
	return n.leaving.Load()
}

// count has events counted from now on.
func (n *Native) count(l *leaving) {
	n.leaving.CompareAndSwap(nil, l)
	if f := n.fused.Load(); f != nil {
		f.watchLeaver(n)
	}
}

// cause says what in the rule an event was left for, and what can be done.
func (n *Native) cause(r *nativeRun, m *Module, err error) string {
	name, place := r.machine.Cause()
	if r.bare {
		name = ""
	}
	var failure *policy.HookError
	switch {
	case errors.As(err, &failure) && name != "":
		return fmt.Sprintf("%s fails%s: ask first whether its arguments are what it takes", name, placeIn(failure.At, n.placeOf(m, place)))
	case errors.As(err, &failure):
		return fmt.Sprintf("it fails%s: %s", placeIn(failure.At), failure.Text)
	case name != "":
		return fmt.Sprintf("%s%s is OPA's alone for some values: ask first whether its arguments are what it takes, or give it a hook of its own", name, placeIn(n.placeOf(m, place)))
	}
	return "what it comes upon is OPA's alone to say"
}

// placeOf is where a statement of the program is written.
func (n *Native) placeOf(m *Module, place int32) diag.Span {
	p := n.code.Program()
	if m == nil || place < 0 || int(place) >= len(p.Places) {
		return diag.Span{}
	}
	w := p.Places[place]
	return m.where.span(&ast.Location{File: p.Files[w.File], Row: int(w.Row), Col: int(w.Col)})
}

// placeIn is the first place that is known, in words.
func placeIn(places ...diag.Span) string {
	for _, p := range places {
		if p.Source != nil {
			return " at " + p.String()
		}
	}
	return ""
}

// leavers are the members of a fusion that left events.
type leavers struct{ places atomic.Pointer[[]int] }

// watchLeaver has the events of a member counted.
func (f *FusedNative) watchLeaver(n *Native) {
	i := slices.Index(f.members, n)
	for i >= 0 {
		old := f.places.Load()
		var list []int
		if old != nil {
			list = *old
		}
		at, there := slices.BinarySearch(list, i)
		if there {
			return
		}
		list = lists.Insert(lists.Copy(list), at, i)
		if f.places.CompareAndSwap(old, &list) {
			return
		}
	}
}

// remaining are the chosen whose code is still asked; those that are not are to be
// evaluated on their own. It is nil for all members, and in room otherwise.
func (f *FusedNative) remaining(chosen []int, room *[]int) []int {
	var all []int
	if len(chosen) < len(f.members) {
		all = chosen
	}
	list := f.places.Load()
	if list == nil {
		return all
	}
	cut := false
	for _, i := range *list {
		if !f.members[i].leaving.Load().judge() {
			continue
		}
		if !cut {
			all, cut = append((*room)[:0], chosen...), true
		}
		if at, there := slices.BinarySearch(all, i); there {
			all = slices.Delete(all, at, at+1)
		}
		*room = all
	}
	return all
}

// count counts an event for the chosen members that left some. One that is not
// asked any more, or leaves this event, is to be evaluated on its own, which counts
// it.
func (f *FusedNative) count(chosen []int, contribution []dag.FusedAnswer) {
	list := f.places.Load()
	if list == nil {
		return
	}
	for _, i := range *list {
		if k, there := slices.BinarySearch(chosen, i); there && !contribution[k].Alone && !f.members[i].leaving.Load().asked() {
			contribution[k] = dag.FusedAnswer{Alone: true}
		}
	}
}
