package guard

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/hookc/hookc/builtins/rule"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
)

var budgetGuardRule = rule.Rule{
	Name: "budget-guard",
	Doc:  "lets so many calls go ahead, and denies those after",
	Options: []rule.OptionSpec{
		{Name: "max_calls", Type: policy.NumberType, Doc: "how many calls go ahead; not written: 50"},
		{Name: "per", Type: policy.StringType, Doc: "session or day (of UTC): for which calls there is one budget; not written: session"},
	},
	New: newBudgetGuard,
}

var codeBudgetPer = diag.Define("HK108", diag.Error, "unknown span of a budget")

// The spans of a budget.
const (
	perSession = "session"
	perDay     = "day"
	maxBudget  = 1_000_000
)

// budgetGuard counts the calls that reach it.
type budgetGuard struct {
	by      policy.By
	limit   int
	per     string
	managed bool
	own     *ownCounts

	mu   sync.Mutex
	last []string
}

func newBudgetGuard(h *policy.Hook, opts rule.Options) (rule.Made, diag.List) {
	s := guardSetup{hook: h, opts: opts}
	g := &budgetGuard{by: policy.By{Name: h.Name, At: h.Span}, per: perSession, managed: h.Tier == policy.TierManaged, own: &ownCounts{kept: map[string]string{}}}
	g.limit = s.size("max_calls", 50, maxBudget)
	if opt, ok := opts["per"]; ok {
		if g.per = opts.Text("per"); g.per != perSession && g.per != perDay {
			s.found.Add(codeBudgetPer.Report(rule.OptionSpan(opt), "per must be session or day, not %q", g.per))
		}
	}
	if h.Event.Spec().Class != policy.Guard {
		s.found.Add(rule.CodeOptionEvent.Report(rule.UseSpan(h), "%s cannot be denied", h.Event))
	}
	return rule.Made{
		Runner: g,
		Effects: policy.Effects{Reads: policy.FieldPaths(policy.FieldSessionID, policy.FieldToolUseID), May: powersFor(policy.Deny),
			World: policy.WorldNone, Volatile: true},
	}, s.found
}

// Run counts a call, or denies it.
func (g *budgetGuard) Run(ctx context.Context, in *policy.Context, _ int) (policy.Result, error) {
	of, this := in.Text(policy.FieldSessionID), ""
	if id := in.Text(policy.FieldToolUseID); id != "" { // a number that begins again with each session, of some agents
		this = of + "\x00" + id
	}
	if g.counted(this) {
		return policy.Result{}, nil
	}
	if g.per == perDay {
		of = time.Now().UTC().Format(time.DateOnly)
	}
	key := "budget " + g.by.Name + " " + g.per + " " + of
	known, spent := false, false
	warnings, err := count(ctx, g.own, g.by, g.managed, key, func(old string) string {
		n, err := strconv.Atoi(lists.First(old, "0"))
		if known = err == nil && n >= 0; !known {
			return old
		}
		if spent = n >= g.limit; spent {
			return old
		}
		return strconv.Itoa(n + 1)
	})
	if err == nil && !known {
		err = ErrNotKept
	}
	says := guardSays{by: g.by}
	switch {
	case err != nil:
		says.add(policy.Deny, func() string { return err.Error() + "; instead: make the call again when it can be" })
	case spent:
		says.add(policy.Deny, func() string {
			return fmt.Sprintf("the budget of %d calls is spent; instead: do without more calls, or ask the user for a larger budget", g.limit)
		})
	default:
		g.counts(this)
	}
	out := says.result()
	out.Warnings = warnings
	return out, nil
}

// recent is how many calls are known again: one whose input was changed is looked at
// twice, and counts once.
const recent = 64

func (g *budgetGuard) counted(id string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, known := range g.last {
		if known == id {
			return true
		}
	}
	return false
}

func (g *budgetGuard) counts(id string) {
	if id == "" {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.last = append(g.last, id)
	g.last = g.last[max(0, len(g.last)-recent):]
}
