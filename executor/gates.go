package executor

import (
	"fmt"
	"sync"

	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
)

var codeGate = diag.Define("HK171", diag.Warning, "gate overridden after too many blocks").Guarding()

// Gates counts how often running an event sent the agent of a session back to
// work. Implementations are safe for concurrent use; the one-shot CLI keeps
// the counts in its state folder.
type Gates interface {
	// Blocked counts one more block and returns the count.
	Blocked(session string, e policy.Event) int
	// Passed forgets the blocks of one event.
	Passed(session string, e policy.Event)
	// NewTurn forgets the blocks of every event of the session but those of
	// pre_send_message, which begins the turn.
	NewTurn(session string)
}

// FirstBlock makes every block of a gate the first: an event that is tried, or
// repeated, is not an agent that is sent back again and again.
type FirstBlock struct{}

func (FirstBlock) Blocked(string, policy.Event) int { return 1 }
func (FirstBlock) Passed(string, policy.Event)      {}
func (FirstBlock) NewTurn(string)                   {}

// judge overrides a Decision that has sent the agent back too often
// (semantics.md §2.4).
func (x *Executor) judge(d *policy.Decision, spec *policy.EventSpec, in *policy.Context) {
	if d.Action == policy.Cancelled {
		return
	}
	session := in.Text(policy.FieldSessionID)
	if d.Event == policy.PreSendMessage {
		x.gates.NewTurn(session)
	}
	if d.Action != policy.KeepWorking && d.Action != policy.RetryTurn {
		if spec.Retry || spec.Class == policy.Quality {
			x.gates.Passed(session, d.Event)
		}
		return
	}
	limit := x.options.MaxGateBlocks
	if plan := x.prog.Plan(d.Event); plan != nil && plan.Strategy.Rules.MaxBlocks > 0 {
		limit = min(limit, plan.Strategy.Rules.MaxBlocks)
	}
	if x.gates.Blocked(session, d.Event) <= limit {
		return
	}
	x.gates.Passed(session, d.Event)
	d.Warnings = append(d.Warnings, policy.Warning{Code: codeGate, Hook: d.By,
		Text: fmt.Sprintf("%s: overridden after %d blocks running; it said %s", d.By, limit, d.Action)})
	d.Action, d.Verdict, d.Control, d.Scope = policy.Proceed, policy.None, policy.Go, policy.NoLabel
	d.Feedback = nil
}

// gateCounts keeps the counts of this process. Sessions that are never heard
// of again are forgotten when too many are kept.
type gateCounts struct {
	mu     sync.Mutex
	counts map[string]map[policy.Event]int
}

// NewGates counts in this process, for several executors of one host.
func NewGates() Gates { return newGateCounts() }

// maxGateSessions bounds the sessions whose counts are kept.
const maxGateSessions = 4096

func newGateCounts() *gateCounts { return &gateCounts{counts: map[string]map[policy.Event]int{}} }

func (g *gateCounts) Blocked(session string, e policy.Event) int {
	g.mu.Lock()
	defer g.mu.Unlock()
	c := g.counts[session]
	if c == nil {
		if len(g.counts) >= maxGateSessions {
			clear(g.counts)
		}
		c = map[policy.Event]int{}
		g.counts[session] = c
	}
	c[e]++
	return c[e]
}

func (g *gateCounts) Passed(session string, e policy.Event) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.counts[session], e)
	if len(g.counts[session]) == 0 {
		delete(g.counts, session)
	}
}

func (g *gateCounts) NewTurn(session string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for e := range g.counts[session] {
		if e != policy.PreSendMessage {
			delete(g.counts[session], e)
		}
	}
}
