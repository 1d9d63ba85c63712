package dag

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/hookc/hookc/policy"
)

// Late is a fusion that its program went into force without. Until it is made
// members are evaluated by an older fusion, those that it has as they are now,
// and the others by themselves; that gives the same answers. It is safe for
// concurrent use.
type Late struct {
	parts []FusePart
	make  func() FusedRun
	older atomic.Pointer[func() *Made] // nil once it is of no more use
	made  atomic.Pointer[Made]
	view  atomic.Pointer[olderView]
}

// Made is a fusion that its kind has made, and of what. Run is nil when making
// it failed, which is a bug; Fault is the panic.
type Made struct {
	Parts []FusePart
	Run   FusedRun
	Fault string
}

// olderView says where the members of a Late are in an older fusion, -1 for
// those that it does not have as they are now.
type olderView struct {
	of     *Made
	places []int
}

// NewLate is a fusion of parts that make makes. older is what there is in the
// meantime, and may give nil.
func NewLate(parts []FusePart, make func() FusedRun, older func() *Made) *Late {
	l := &Late{parts: parts, make: make}
	l.older.Store(&older)
	return l
}

// Make makes the fusion, on the caller's goroutine; it takes a while. The
// program has it from then on.
func (l *Late) Make() {
	if l.made.Load() != nil {
		return
	}
	made := &Made{Parts: l.parts}
	defer func() {
		if bug := recover(); bug != nil { // the older fusion stays in its place
			made.Run, made.Fault = nil, fmt.Sprintf("internal error: %v", bug)
		}
		l.made.Store(made)
		if made.Run != nil { // what the older one holds is given back
			l.older.Store(nil)
			l.view.Store(nil)
		}
	}()
	made.Run = l.make()
}

// Made is the fusion once it is made, nil before.
func (l *Late) Made() *Made { return l.made.Load() }

// Newest is the fusion once it is made, and before that the older one that
// stands for it, nil for none.
func (l *Late) Newest() *Made {
	if m := l.made.Load(); m != nil {
		return m
	}
	return l.stands()
}

// stands is what stands for the fusion, nil for none.
func (l *Late) stands() *Made {
	if older := l.older.Load(); older != nil {
		return (*older)()
	}
	return nil
}

// Run is a FusedRun.
func (l *Late) Run(ctx context.Context, in *policy.Context, chosen Chosen, said []FusedSaid) error {
	if m := l.made.Load(); m != nil && m.Run != nil {
		return m.Run(ctx, in, chosen, said)
	}
	places := l.places()
	known, at := make([]int, 0, len(said)), make([]int, 0, len(said))
	for k, place := range chosen.Places {
		if places == nil || places.places[place] < 0 {
			said[k].Alone = true
			continue
		}
		known, at = append(known, places.places[place]), append(at, k)
	}
	if len(known) < 2 {
		for _, k := range at {
			said[k].Alone = true
		}
		return nil
	}
	out := make([]FusedSaid, len(known))
	if err := places.of.Run(ctx, in, Chosen{Places: known}, out); err != nil {
		return err
	}
	for i, k := range at {
		said[k] = out[i]
	}
	return nil
}

// places finds the members in the older fusion.
func (l *Late) places() *olderView {
	of := l.stands()
	if of == nil || of.Run == nil {
		return nil
	}
	if v := l.view.Load(); v != nil && v.of == of {
		return v
	}
	v := &olderView{of, l.within(of)}
	l.view.Store(v)
	return v
}

// within are the places of the members in another fusion. They ascend: one
// that stands elsewhere in the order is as if it were not there.
func (l *Late) within(of *Made) []int {
	known := map[FusePart]int{}
	for i, p := range of.Parts {
		known[p] = i
	}
	out, last := make([]int, len(l.parts)), -1
	for i, p := range l.parts {
		out[i] = -1
		if at, ok := known[p]; ok && at > last {
			out[i], last = at, at
		}
	}
	return out
}

// SameParts reports whether a fusion is of exactly these parts.
func (m *Made) SameParts(parts []FusePart) bool {
	if len(m.Parts) != len(parts) {
		return false
	}
	for i, p := range m.Parts {
		if p != parts[i] {
			return false
		}
	}
	return true
}

// Overlap is how many of the parts a fusion has.
func (m *Made) Overlap(parts []FusePart) int {
	known := map[FusePart]bool{}
	for _, p := range m.Parts {
		known[p] = true
	}
	n := 0
	for _, p := range parts {
		if known[p] {
			n++
		}
	}
	return n
}

// Late lists the fusions that a program waits for.
func (p *Program) Late() []*Late {
	var out []*Late
	for _, plan := range p.Plans {
		for i := range plan.Fused {
			if l := plan.Fused[i].Late; l != nil && l.Made() == nil {
				out = append(out, l)
			}
		}
	}
	return out
}

// pending reports whether a fusion is yet to be made.
func (f *Fusion) pending() bool { return f.Late != nil && f.Late.Made() == nil }

// fault is why a fusion could not be made, "" when it could or is yet to be.
func (f *Fusion) fault() string {
	if f.Late == nil {
		return ""
	}
	if m := f.Late.Made(); m != nil {
		return m.Fault
	}
	return ""
}
