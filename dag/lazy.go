package dag

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/hookc/hookc/policy"
)

// LazyFusion is a fusion that its program goes into force without. It is made
// when it is first wanted; until it is ready each member is evaluated alone,
// which gives the same answers. It is safe for concurrent use.
type LazyFusion struct {
	build func() FusedRun
	// background runs the building for the owner of the program, who waits for
	// it; nil is the goroutine that first wants the fusion.
	background func(func())
	begun      atomic.Bool
	once       sync.Once
	ready      atomic.Pointer[readyFusion]
}

// readyFusion is what building came to: run is nil when there is none, and
// Fault is then the panic, which is a bug, or empty.
type readyFusion struct {
	run   FusedRun
	fault string
}

// NewLazyFusion is a fusion that build makes; build gives nil when the members
// cannot be evaluated together.
func NewLazyFusion(build func() FusedRun, background func(func())) *LazyFusion {
	return &LazyFusion{build: build, background: background}
}

// Make builds the fusion if that has not been done, and waits until it is ready.
func (l *LazyFusion) Make() {
	l.begun.Store(true)
	l.once.Do(func() {
		made := &readyFusion{}
		defer func() {
			if bug := recover(); bug != nil {
				made.fault = fmt.Sprintf("internal error: %v", bug)
			}
			l.ready.Store(made)
			l.build = nil
		}()
		made.run = l.build()
	})
}

// Run is a FusedRun.
func (l *LazyFusion) Run(ctx context.Context, in *policy.Context, chosen Chosen, contributions []FusedAnswer) error {
	if l.ready.Load() == nil && !l.begun.Swap(true) {
		if l.background == nil {
			l.Make()
		} else {
			l.background(l.Make)
		}
	}
	if made := l.ready.Load(); made != nil && made.run != nil {
		return made.run(ctx, in, chosen, contributions)
	}
	for k := range contributions {
		contributions[k].Alone = true
	}
	return nil
}

// Unready lists the fusions of a program that are not made yet.
func (p *Program) Unready() []*LazyFusion {
	var out []*LazyFusion
	for _, plan := range p.Plans {
		for i := range plan.Fused {
			if l := plan.Fused[i].Lazy; l != nil && l.ready.Load() == nil {
				out = append(out, l)
			}
		}
	}
	return out
}

// Pending reports whether the fusion is being made.
func (l *LazyFusion) Pending() bool { return l.begun.Load() && l.ready.Load() == nil }

// Pending reports whether the fusion is being made.
func (f *Fusion) Pending() bool { return f.Lazy != nil && f.Lazy.Pending() }

// Fault is why a fusion could not be made, "" when it could or is yet to be.
func (f *Fusion) Fault() string {
	if f.Lazy == nil {
		return ""
	}
	if made := f.Lazy.ready.Load(); made != nil {
		return made.fault
	}
	return ""
}
