package guard

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"strconv"
	"sync"

	"github.com/hookc/hookc/builtins/rule"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
)

var loopGuardRule = rule.Rule{
	Name: "loop-guard",
	Doc:  "ends the turn when the gates after it have sent the agent back to work too often",
	Options: []rule.OptionSpec{
		{Name: "max_blocks", Type: policy.NumberType, Doc: "how often running the agent may be sent back; not written: 3"},
	},
	New: newLoopGuard,
}

// Counts keeps numbers from one event to the next, for rules that count. A
// host that decides each event in a process of its own gives one that outlasts
// it (WithCounts). Implementations are safe for concurrent use.
type Counts interface {
	// Count changes the text kept under a key and returns the new one, "" where it
	// cannot be kept; change gets "" for a key that is not kept.
	Count(key string, change func(old string) string) string
}

// FleetCounts are Counts of which the machines of a fleet have one.
type FleetCounts interface {
	Counts
	// Together is Count for a rule of the managed tier: on all machines of the fleet, and
	// without one, in all projects of the user. change may be called several times, and
	// what it found last counts. Where the machines cannot be reached, warnings say that
	// this one counts alone, or err that it must not.
	Together(ctx context.Context, by, key string, change func(old string) string) (warnings []policy.Warning, err error)
}

// ErrNotKept is of Together: what was counted is not kept.
var ErrNotKept = errors.New("what was counted cannot be read or written (HK180)")

type countsKey struct{}

// WithCounts lets the rules that run under ctx keep their numbers in c.
//
//go:noinline
func WithCounts(ctx context.Context, c Counts) context.Context {
	return context.WithValue(ctx, countsKey{}, c)
}

// count changes what is kept under a key, for a rule of the managed tier on all machines.
// An error says that it must not be counted, or was not kept.
func count(ctx context.Context, own *ownCounts, by policy.By, managed bool, key string, change func(old string) string) (warnings []policy.Warning, err error) {
	counts, ok := ctx.Value(countsKey{}).(Counts)
	if !ok {
		counts = own
	}
	if fleet, ok := counts.(FleetCounts); ok && managed {
		return fleet.Together(ctx, by.Name, key, change)
	}
	if counts.Count(key, change) == "" {
		err = ErrNotKept
	}
	return nil, err
}

// loopGuard counts how often running an event of one session was reached.
type loopGuard struct {
	by      policy.By
	limit   int
	managed bool
	own     *ownCounts
}

// engineBlocks is after how many blocks running the engine itself overrides a
// gate by default (semantics.md §2.4).
const engineBlocks = 8

func newLoopGuard(h *policy.Hook, opts rule.Options) (rule.Made, diag.List) {
	s := guardSetup{hook: h, opts: opts}
	g := &loopGuard{by: policy.By{Name: h.Name, At: h.Span}, managed: h.Tier == policy.TierManaged, own: &ownCounts{kept: map[string]string{}}}
	g.limit = s.size("max_blocks", 3, engineBlocks)
	if h.Event.Spec().Class != policy.Quality {
		s.found.Add(rule.CodeOptionEvent.Report(rule.UseSpan(h), "%s is no gate that can send the agent back to work", h.Event))
	}
	return rule.Made{
		Runner: g,
		Effects: policy.Effects{Reads: policy.FieldPaths(policy.FieldSessionID, policy.FieldAgentID, policy.FieldStopHookActive, policy.FieldAssistantOutput),
			May: policy.MayHalt, World: policy.WorldNone, Volatile: true},
	}, s.found
}

// Run counts one more time the agent wants to end, and ends the turn when it
// was sent back max_blocks times before. It must come before the gates: they
// are not reached then. An agent that says whether a gate kept it going
// (stop_hook_active) begins again when none did; of one that does not say, the
// same answer again is the sign of a loop.
func (g *loopGuard) Run(ctx context.Context, in *policy.Context, _ int) (policy.Result, error) {
	key := "loop " + g.by.Name + " " + in.Text(policy.FieldSessionID) + " " + in.Text(policy.FieldAgentID) + " " + in.Text(policy.FieldEvent)
	active, said := in.Get(policy.FieldStopHookActive)
	mark := "said"
	if !said {
		mark = answerMark(in.Text(policy.FieldAssistantOutput))
	}
	tries := 0
	warnings, err := count(ctx, g.own, g.by, g.managed, key, func(old string) string {
		tries, _ = countOf(old, mark)
		if said && active != true {
			tries = 0
		}
		if tries++; tries > g.limit { // the turn ends, and it begins again
			return ""
		}
		return strconv.Itoa(tries) + " " + mark
	})
	if err != nil && !errors.Is(err, ErrNotKept) { // a loop that nobody can count is the engine's to end
		return policy.Result{Control: policy.Halt, ControlBy: g.by, StopReasons: []string{err.Error()}, Warnings: warnings}, nil
	}
	if tries <= g.limit {
		return policy.Result{Warnings: warnings}, nil
	}
	reason := fmt.Sprintf("the agent was sent back to work %d times running and the gate still says no; instead: the user should look at what the gate wants, or run it by hand", g.limit)
	return policy.Result{Control: policy.Halt, ControlBy: g.by, StopReasons: []string{reason}, Warnings: warnings}, nil
}

// countOf reads what is kept of a key: how often, and under which mark.
func countOf(kept, mark string) (int, bool) {
	var n int
	var was string
	if _, err := fmt.Sscan(kept, &n, &was); err != nil || was != mark {
		return 0, false
	}
	return n, true
}

// answerMark tells answers apart.
func answerMark(text string) string {
	if text == "" {
		return "none"
	}
	h := fnv.New64a()
	h.Write([]byte(text))
	return strconv.FormatUint(h.Sum64(), 36)
}

// ownCounts keeps numbers in this process. When too many are kept all are
// forgotten: sessions that are never heard of again must not pile up.
type ownCounts struct {
	mu   sync.Mutex
	kept map[string]string
}

const maxOwnCounts = 4096

func (c *ownCounts) Count(key string, change func(string) string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	next := change(c.kept[key])
	if next == "" {
		delete(c.kept, key)
		return ""
	}
	if len(c.kept) >= maxOwnCounts {
		clear(c.kept)
	}
	c.kept[key] = next
	return next
}
