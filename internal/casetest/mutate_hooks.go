package casetest

import (
	"slices"

	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
	"github.com/hookc/hookc/rego"
)

// mutant is a policy with one mistake in it.
type mutant struct {
	Hook string `json:"hook"`
	At   string `json:"at"`
	What string `json:"change"`
	// hook is the number of the hook, event its event.
	hook  int
	event policy.Event
	// change is made to a copy of the hook; nil removes it.
	change func(h *policy.Hook)
}

// of is the policy with the mistake.
func (m *mutant) of(p *policy.Policy) *policy.Policy {
	out := *p
	out.Hooks = lists.Copy(p.Hooks)
	if m.change == nil {
		out.Hooks = slices.Delete(out.Hooks, m.hook, m.hook+1)
		return &out
	}
	h := *p.Hooks[m.hook]
	m.change(&h)
	out.Hooks[m.hook] = &h
	return &out
}

// mutants are the mistakes that the hooks of a policy could hold.
func mutants(p *policy.Policy) []*mutant {
	var out []*mutant
	for i, h := range p.Hooks {
		if h.Off || h.Disabled || h.Untrusted != "" || h.Tier == policy.TierBuiltin {
			continue
		}
		l := mutations{hook: i, of: h}
		l.hookItself()
		switch h.Kind {
		case policy.KindRego:
			l.rego()
		case policy.KindExpr:
			l.expr()
		case policy.KindBuiltin:
			for j := range h.Body.Options {
				l.add(h.Body.Options[j].Key.Span, "without the option "+h.Body.Options[j].Key.Value, func(h *policy.Hook) {
					h.Body.Options = slices.Delete(lists.Copy(h.Body.Options), j, j+1)
				})
			}
		}
		out = append(out, l.list...)
	}
	return out
}

// mutations gathers those of one hook.
type mutations struct {
	hook int
	of   *policy.Hook
	list []*mutant
}

func (l *mutations) add(at diag.Span, what string, change func(h *policy.Hook)) {
	l.list = append(l.list, &mutant{Hook: l.of.Name, At: at.String(), What: what, hook: l.hook, event: l.of.Event, change: change})
}

// texts adds changes of a text; in gives where a hook holds it.
func (l *mutations) texts(text diag.Text, list []edit, in func(h *policy.Hook) *diag.Text) {
	for _, e := range list {
		now := diag.NewText(text.Value[:e.start]+e.text+text.Value[e.end:], text.Span, nil)
		l.add(text.At(e.start, e.end), e.what, func(h *policy.Hook) { *in(h) = now })
	}
}

// hookItself removes the hook, widens its filter and lets its failures pass.
func (l *mutations) hookItself() {
	h := l.of
	l.add(h.Span, "without the hook "+h.Name, nil)
	if h.OnError != policy.OnErrorSkip && h.OnError != policy.PostureUnset {
		l.add(h.Span, "on_error becomes skip", func(h *policy.Hook) { h.OnError = policy.OnErrorSkip })
	}
	for i, c := range h.Filter.Conditions {
		l.add(c.Value.Span, "without the filter "+string(c.Key)+": "+oneLine(c.Value.Value), func(h *policy.Hook) {
			h.Filter.Conditions = slices.Delete(lists.Copy(h.Filter.Conditions), i, i+1)
		})
		if c.Atom != nil {
			continue
		}
		if now := widened(`"` + c.Value.Value + `"`); len(now) > 2 && now != `"`+c.Value.Value+`"` {
			value := diag.NewText(now[1:len(now)-1], c.Value.Span, nil)
			l.add(c.Value.Span, "the filter "+c.Value.Value+" becomes "+value.Value, func(h *policy.Hook) {
				h.Filter.Conditions = lists.Copy(h.Filter.Conditions)
				h.Filter.Conditions[i].Value = value
			})
		}
	}
}

// instead are what a rule says instead.
var instead = map[string]string{"deny": "allow", "ask": "allow", "allow": "deny"}

func (l *mutations) rego() {
	text := l.of.Body.Source
	source := func(h *policy.Hook) *diag.Text { return &h.Body.Source }
	for _, r := range rego.Pieces(l.of) {
		if now := instead[r.Name]; now != "" && !r.Default {
			l.texts(text, []edit{{r.Head.Start, r.Head.End, now, r.Name + " becomes " + now}}, source)
		}
		if r.Default {
			for _, t := range tokens(text.Value, r.Head.End, r.End, true) {
				if now := map[string]string{"true": "false", "false": "true"}[t.text]; now != "" {
					l.texts(text, []edit{{t.start, t.end, now, "the default becomes " + now}}, source)
				}
			}
			continue
		}
		l.texts(text, []edit{{r.Start, r.End, "", "without the rule " + r.Name}}, source)
		var list [][2]int
		for _, c := range r.Conditions {
			list = append(list, [2]int{c.Start, c.End})
			l.texts(text, edits(text.Value, c.Start, c.End, true), source)
		}
		l.texts(text, conditions(text.Value, list), source)
	}
}

func (l *mutations) expr() {
	body := &l.of.Body
	condition := func(text diag.Text, in func(h *policy.Hook) *diag.Text) {
		l.texts(text, append(conditions(text.Value, conjuncts(text.Value)), edits(text.Value, 0, len(text.Value), false)...), in)
	}
	if !body.When.IsZero() {
		condition(body.When, func(h *policy.Hook) *diag.Text { return &h.Body.When })
	}
	own := func(h *policy.Hook) []policy.Rule {
		h.Body.Rules = lists.Copy(h.Body.Rules)
		return h.Body.Rules
	}
	for i, r := range body.Rules {
		condition(r.Condition, func(h *policy.Hook) *diag.Text { return &own(h)[i].Condition })
		if now, ok := policy.ParsePower(instead[r.Says.String()]); ok {
			l.add(r.Condition.Span, r.Says.String()+" becomes "+now.String(), func(h *policy.Hook) { own(h)[i].Says = now })
		}
		if len(body.Rules) > 1 {
			l.add(r.Condition.Span, "without this rule", func(h *policy.Hook) { h.Body.Rules = slices.Delete(own(h), i, i+1) })
		}
	}
	for i, s := range body.Set {
		if len(body.Set) > 1 || len(body.Rules) > 0 {
			l.add(s.Path.Span, "without set: "+s.Path.Value, func(h *policy.Hook) { h.Body.Set = slices.Delete(lists.Copy(h.Body.Set), i, i+1) })
		}
	}
	if !body.Context.IsZero() && len(body.Rules)+len(body.Set) > 0 {
		l.add(body.Context.Span, "without the context", func(h *policy.Hook) { h.Body.Context = diag.Text{} })
	}
}
