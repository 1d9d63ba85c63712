package dag

import (
	"context"

	"github.com/hookc/hookc/policy"
)

// Fusion is several in-process nodes of one kind that can be evaluated at
// once (semantics.md §4.3, P8): they are pure, in one slot, and what they read
// is the same version of the event for all of them.
type Fusion struct {
	Kind policy.Kind
	Slot int
	// Nodes are the members' IDs, ascending.
	Nodes []int
	// Parts are the members as their kind was offered them.
	Parts []FusePart
	// Run evaluates members.
	Run FusedRun
	// Lazy is set where the fusion is made after the program has gone into
	// force; Run is then its Run.
	Lazy *LazyFusion
}

// FusedRun evaluates the chosen members of a fusion, ascending by their places
// in it, on the event as they see it, and fills in said for each; said is as
// long as the choice and comes empty. An error says nothing of any member: then
// each is evaluated on its own, as it is when said so. It is safe for
// concurrent use and returns soon after ctx ends.
type FusedRun func(ctx context.Context, in *policy.Context, chosen Chosen, contributions []FusedAnswer) error

// Chosen are members of a fusion, ascending by their places in it.
type Chosen struct {
	Places []int
	mark   uint64
}

// Choose is a choice that is kept, and made many times.
func Choose(places []int) Chosen { return Chosen{places, markOf(places)} }

// Mark is another number for each choice, as far as 64 bits go.
func (c Chosen) Mark() uint64 {
	if c.mark != 0 {
		return c.mark
	}
	return markOf(c.Places)
}

// markOf takes four places at a time, which need not wait for each other.
func markOf(places []int) uint64 {
	const odd = 0x9E3779B97F4A7C15
	var a, b, c, d uint64 = 1, 2, 3, 4
	for ; len(places) >= 4; places = places[4:] {
		a, b = (a^uint64(places[0]))*odd, (b^uint64(places[1]))*odd
		c, d = (c^uint64(places[2]))*odd, (d^uint64(places[3]))*odd
	}
	for _, place := range places {
		a = (a ^ uint64(place)) * odd
	}
	return ((a*odd^b)*odd^c)*odd ^ d | 1
}

// FusedSaid is what one member of a fusion said.
type FusedAnswer struct {
	// Result is nil for nothing.
	Result *policy.Result
	// Alone is true for a member that must be evaluated on its own.
	Alone bool
}

// FusePart is a node offered to its kind for fusion. Runners are compared: they
// are pointers.
type FusePart struct {
	Runner policy.Runner
	Filter *policy.Matcher
}
