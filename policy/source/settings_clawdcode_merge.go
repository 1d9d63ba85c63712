package source

import (
	"time"

	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
	"github.com/hookc/hookc/policy/source/tree"
)

// clawdFinish merges the files of ClawdCode: a list of an event takes the place
// of the one in the file before, and so does every switch. A file of the
// project reaches the user's own hooks only where the agent is followed
// faithfully.
func clawdFinish(l *Loader, hooks []*policy.Hook) []*policy.Hook {
	replaced := map[*tree.Node]bool{}
	for _, h := range hooks {
		at, known := l.clawdHooks[h]
		if !known {
			continue // not trusted: it is listed and never runs
		}
		if by := l.clawdReplaces(at, h); by != nil {
			if list := by.events[h.Body.Agent.Event]; !replaced[list] {
				replaced[list] = true
				l.Report(by.in, l.clawdReplaced(at, h, by, list))
			}
			h.Disabled = l.clawdReaches(at, by)
		}
		if on := l.clawdValue(at, func(f *clawdFile) *tree.Node { return f.enabled }); on != nil {
			if enabled, _ := on.Bool(); !enabled {
				h.Disabled = true
			}
		}
		l.clawdSettle(at, h)
	}
	l.policy.MaxConcurrent = 5
	if n := l.clawdValue(len(l.clawd), func(f *clawdFile) *tree.Node { return f.concurrent }); n != nil {
		if v, _ := n.Float(); v >= 1 {
			l.policy.MaxConcurrent = int(v)
		}
	}
	l.clawdOff()
	return hooks
}

// clawdReaches reports whether what file `by` sets holds for the hooks of the
// file at a place.
//
//go:noinline
func (l *Loader) clawdReaches(at int, by *clawdFile) bool {
	return l.faithful || at >= len(l.clawd) || l.clawd[at].in.Tier != policy.TierUser || by.in.Tier == policy.TierUser
}

// clawdReplaces is the last file whose list of the hook's event stands in the
// place of the hook's own: one that reaches the hook, if there is any.
func (l *Loader) clawdReplaces(at int, h *policy.Hook) (by *clawdFile) {
	for _, f := range l.clawd[at+1:] {
		if f.events[h.Body.Agent.Event] != nil && (by == nil || l.clawdReaches(at, f) || !l.clawdReaches(at, by)) {
			by = f
		}
	}
	return by
}

func (l *Loader) clawdReplaced(at int, h *policy.Hook, by *clawdFile, list *tree.Node) diag.Diagnostic {
	if l.clawdReaches(at, by) {
		return codeReplaced.Report(list.Span, "this list of %s takes the place of the one in %s: its hooks do not run", h.Body.Agent.Event, l.clawd[at].in.Name)
	}
	return codeReplaced.Report(list.Span, "in ClawdCode this list of %s takes the place of the one in %s; hookc runs both", h.Body.Agent.Event, l.clawd[at].in.Name).
		WithHint("--faithful lets a project replace the hooks of its user")
}

// clawdValue is what the last file that reaches the hooks of the file at a
// place, and sets a key, sets it to.
//
//go:noinline
func (l *Loader) clawdValue(at int, key func(*clawdFile) *tree.Node) (out *tree.Node) {
	for _, f := range l.clawd {
		if n := key(f); n != nil && l.clawdReaches(at, f) {
			out = n
		}
	}
	return out
}

// clawdSettle gives a hook the time and the behaviour that the files set.
func (l *Loader) clawdSettle(at int, h *policy.Hook) {
	if n := l.clawdValue(at, func(f *clawdFile) *tree.Node { return f.timeout }); n != nil && h.TimeoutSpan.IsZero() {
		v, _ := n.Float()
		h.Timeout = max(time.Nanosecond, time.Duration(min(v, MaxDuration.Seconds())*float64(time.Second)))
	}
	if n := l.clawdValue(at, func(f *clawdFile) *tree.Node { return f.onFail }); n != nil {
		h.Body.Agent.OnFailure = clawdPostures[n.Text.Value]
	}
	n := l.clawdValue(at, func(f *clawdFile) *tree.Node { return f.onTimeout })
	if n != nil && h.Event == policy.PreToolExecution {
		h.OnTimeout = clawdPostures[n.Text.Value]
	}
	if !l.faithful {
		return
	}
	for i, f := range l.clawd {
		if list := f.events[h.Body.Agent.Event]; list == nil || f.broken[h.Event] == nil || l.clawdReplaces(i, h) != nil {
			continue
		}
		h.Filter.Conditions = append(h.Filter.Conditions,
			whereNone(diag.Text{Value: "not where a group without hooks matches", Span: f.events[h.Body.Agent.Event].Span}, f.broken[h.Event]...))
	}
}

var clawdPostures = map[string]policy.Posture{"ignore": policy.OnErrorSkip, "deny": policy.OnErrorDeny, "ask": policy.OnErrorAsk}

// clawdOff says where all hooks are turned off.
func (l *Loader) clawdOff() {
	for _, f := range l.clawd {
		if f.enabled == nil {
			continue
		}
		if on, _ := f.enabled.Bool(); !on {
			l.Report(f.in, codeReplaced.Report(f.enabled.Span, "hooks are turned off here"))
		}
	}
}
