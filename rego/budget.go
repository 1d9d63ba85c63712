package rego

import (
	"context"
	"time"

	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/digits"
	"github.com/hookc/hookc/rego/bounds"
	"github.com/hookc/hookc/rego/thread"

	"github.com/open-policy-agent/opa/v1/topdown/cache"
)

const (
	// checkEvery is how many steps pass between two looks at the clock. A
	// step takes about a tenth of a microsecond.
	checkEvery = 16
	// stall is the part of the budget that a stretch between two looks uses up
	// in any case: what is more of it counts only when the thread was at work, for
	// on a busy machine most of a long stretch is time in which it was not, and a
	// guard must not deny for that.
	stall = 10
	// patience is how many budgets may pass on the clock, whatever was done.
	patience = 10
)

// stepBudget stops an evaluation that takes too long or too much memory, or
// whose context ended. topdown asks it at every step, so no timer and no
// goroutine is needed, and what asking costs is part of what every step costs. It
// belongs to the goroutine that evaluates.
type stepBudget struct {
	ctx   context.Context
	start time.Time
	limit time.Duration
	steps uint32
	last  time.Duration // when the clock was last looked at, since start
	used  time.Duration
	spent bool
	// at is when the thread's own clock was read, charged what was charged since.
	at      thread.Time
	charged time.Duration
	// thread is that clock in a test, nil for thread.Read.
	thread func() thread.Time

	// held is the memory that the evaluation holds, as bounds counts it; kept
	// counts what was kept of it beyond the call that made it. room is how much it
	// may hold, 0 before that was asked.
	held, kept, room int64
	// given tells the size of what the evaluation was given; asked once, when it
	// matters.
	given func() int64
	why   overrun
	// madeUp says that the event is, so the world is not looked at.
	madeUp bool
	// patterns keeps what OPA compiled of regular expressions, beyond the hundred
	// that it keeps itself; nil for those alone.
	patterns cache.InterQueryValueCache
}

// overrun is what an evaluation took too much of; time is the first.
type overrun uint8

const (
	longTime overrun = iota
	muchMemory
	longNumber
)

func newStepBudget(ctx context.Context, limit time.Duration) *stepBudget {
	return &stepBudget{ctx: ctx, start: time.Now(), limit: limit, at: thread.Read()}
}

// failure is the failure of an evaluation that was stopped.
func (b *stepBudget) failure() error {
	if err := b.ctx.Err(); err != nil {
		return policy.Failf(policy.ErrDeadline, "evaluation was stopped: %w", err)
	}
	switch b.why {
	case muchMemory:
		return policy.Failf(policy.ErrBudget, "evaluation would hold more than its %d MiB of memory", b.room>>20)
	case longNumber:
		return policy.Failf(policy.ErrBudget, "evaluation came upon a number of more than %d digits", digits.Max)
	}
	return policy.Failf(policy.ErrBudget, "evaluation took longer than its budget of %s", b.limit)
}

// Cancel spends the budget.
func (b *stepBudget) Cancel() { b.spent = true }

// Cancelled counts a step and reports whether the evaluation must stop.
func (b *stepBudget) Cancelled() bool {
	if b.steps++; b.steps%checkEvery == 0 {
		b.glance()
	}
	return b.spent
}

// glance looks at the clock.
func (b *stepBudget) glance() { b.look(time.Since(b.start)) }

// look charges the time since the last look.
func (b *stepBudget) look(now time.Duration) {
	took := now - b.last
	b.last = now
	if took > b.limit/stall {
		took = max(b.limit/stall, min(took, b.worked()))
	}
	b.used += took
	b.charged += took
	if b.used > b.limit || now > patience*b.limit || b.ctx.Err() != nil {
		b.spent = true
	}
}

// worked is for how long the thread was at work that was not charged yet; 0 when
// it is another one than before.
func (b *stepBudget) worked() time.Duration {
	before, charged := b.at, b.charged
	read := thread.Read
	if b.thread != nil {
		read = b.thread
	}
	b.at, b.charged = read(), 0
	if before.Thread == 0 || before.Thread != b.at.Thread {
		return 0
	}
	return b.at.Worked - before.Worked - charged
}

// has reports whether the evaluation may take memory; if not, it is over.
func (b *stepBudget) has(size int64) bool {
	switch {
	case size >= bounds.Never:
		b.overrun(muchMemory)
	case size > 0 && b.held+size > bounds.Memory && b.held+size > b.roof():
		b.overrun(muchMemory)
	}
	return !b.spent
}

// take takes memory, if there is room.
func (b *stepBudget) take(size int64) bool {
	b.held += size
	return b.has(1)
}

// keep takes memory for as long as the evaluation lasts.
func (b *stepBudget) keep(size int64) bool {
	b.kept++
	return b.take(size)
}

// roof is how much memory the evaluation may hold.
func (b *stepBudget) roof() int64 {
	if b.room == 0 {
		b.room = bounds.Memory
		if b.given != nil {
			b.room += bounds.Given * b.given()
		}
	}
	return b.room
}

// overrun ends the evaluation.
func (b *stepBudget) overrun(why overrun) {
	if !b.spent {
		b.spent, b.why = true, why
		b.roof()
	}
}
