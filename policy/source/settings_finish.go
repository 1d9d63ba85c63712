package source

import (
	"slices"
	"strings"

	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/agent"
	"github.com/hookc/hookc/policy/diag"
	"github.com/hookc/hookc/policy/source/tree"
)

// fileSwitch is a key of one file of an agent's configuration that holds for
// hooks of other files too, such as disableAllHooks.
type fileSwitch struct {
	agent, name string
	tier        policy.Tier
	on          bool
	at          diag.Span
}

// noteSwitches records the switches of a file; one that is no boolean is reported
// and passed over. Of a file that is not trusted nothing counts.
func (r *settingsReader) noteSwitches(root *tree.Node) {
	for _, s := range r.Switches {
		n := root
		for _, key := range strings.Split(s.Path, ".") {
			if n != nil {
				n = n.Get(key)
			}
		}
		if n == nil || n.IsNull() || r.in.Untrusted != "" || !lists.Among(s.Ranks, r.in.Tier) {
			continue
		}
		on, ok := n.Bool()
		if !ok {
			r.passed(n.Span, "%s is true or false; this is %s: it is passed over", s.Path, n.What())
			continue
		}
		r.l.switches = append(r.l.switches, fileSwitch{r.id, s.Path, r.in.Tier, on, n.Span})
	}
}

// settle does to the hooks of an agent's files what needs all of them: it takes out
// what the files switch off, and makes hooks that are one run once.
func (l *Loader) settle(s *settings, hooks []*policy.Hook) []*policy.Hook {
	if s.finish != nil {
		return s.finish(l, hooks)
	}
	l.shadow()
	required := map[*policy.Hook]bool{} // which count as managed
	for _, a := range l.added {
		required[a.hook] = a.in.Required
	}
	for _, by := range s.Switches {
		if at := l.switched(s.id, by); at != nil && at.on == by.Off {
			hooks = l.switchOff(hooks, at, func(h *policy.Hook) bool {
				return h.Tier != policy.TierManaged && !required[h] || by.TurnsManaged || at.tier == policy.TierManaged && !by.SparesManaged
			})
		}
	}
	switch s.Reading.Once {
	case agent.OnceEach:
		hooks = l.onceEach(hooks)
	case agent.OnceCommand:
		hooks = l.onceCommand(hooks)
	}
	if s.Reading.Races {
		l.races(hooks)
	}
	return hooks
}

// switched is what a switch is set to by the first of its ranks that sets it, nil
// where none does.
func (l *Loader) switched(agent string, by agent.Switch) *fileSwitch {
	for _, tier := range by.Ranks {
		for i, s := range l.switches {
			if s.agent == agent && s.name == by.Path && s.tier == tier {
				return &l.switches[i]
			}
		}
	}
	return nil
}

// switchOff takes out the hooks of an agent's configuration that a switch
// disables, and says so.
func (l *Loader) switchOff(hooks []*policy.Hook, s *fileSwitch, disabled func(*policy.Hook) bool) []*policy.Hook {
	left := lists.DeleteFunc(lists.Copy(hooks), func(h *policy.Hook) bool { return h.Body.Agent.Event != "" && disabled(h) })
	if n := len(hooks) - len(left); n > 0 {
		l.diags.Add(codeNative.Report(s.at, "%s switches off %d of the %d hooks", s.name, n, len(hooks)))
	}
	return left
}

// once makes hooks with one key run once: the first whose conditions hold. A later
// one runs where none of those before it does; gone is what becomes of one that
// never does, and text what its further condition is called.
func once[K comparable](hooks []*policy.Hook, key func(*policy.Hook) (K, bool), gone func(h *policy.Hook, before []*policy.Hook) bool, text func(before []*policy.Hook) string) []*policy.Hook {
	earlier := map[K][]*policy.Hook{}
	return lists.DeleteFunc(lists.Copy(hooks), func(h *policy.Hook) bool {
		k, ok := key(h)
		if !ok || h.Untrusted != "" {
			return false
		}
		before := earlier[k]
		earlier[k] = append(before, h)
		switch {
		case len(before) == 0:
			return false
		case gone(h, before):
			return true
		case !h.Disabled:
			h.Filter.Conditions = append(slices.Clip(h.Filter.Conditions), whereNone(diag.NewText(text(before), before[0].Span, nil), before...))
		}
		return false
	})
}

// unconditional reports whether one of several hooks runs always.
//
//go:noinline
func unconditional(hooks []*policy.Hook) bool {
	return slices.ContainsFunc(hooks, func(h *policy.Hook) bool { return len(h.Filter.Conditions) == 0 })
}

func (l *Loader) onceEach(hooks []*policy.Hook) []*policy.Hook {
	return once(hooks,
		func(h *policy.Hook) (string, bool) { key := l.handlers[h]; return key, key != "" },
		func(_ *policy.Hook, before []*policy.Hook) bool { return unconditional(before) },
		func(before []*policy.Hook) string {
			return "unless " + strings.Join(lists.Each(before, func(h *policy.Hook) string { return h.Name }), " or ") + " runs"
		})
}

// onceCommand goes by the command and the timeout, and says which hooks do not run.
func (l *Loader) onceCommand(hooks []*policy.Hook) []*policy.Hook {
	type same struct {
		event   policy.Event
		command string
		timeout any
	}
	return once(hooks,
		func(h *policy.Hook) (same, bool) { return same{h.Event, h.Body.Command.Value, h.Timeout}, true },
		func(h *policy.Hook, before []*policy.Hook) bool {
			if !unconditional(before) && !slices.ContainsFunc(before, func(b *policy.Hook) bool { return sameMatcher(b, h) }) {
				return false
			}
			l.diags.Add(codeReplaced.Report(h.Span, "the same command runs already: %s; it runs once", before[0].Span))
			return true
		},
		func([]*policy.Hook) string { return "not where the same command runs already" })
}

// sameMatcher reports whether two hooks have one matcher as written.
//
//go:noinline
func sameMatcher(a, b *policy.Hook) bool {
	return slices.EqualFunc(a.Filter.Conditions, b.Filter.Conditions, func(x, y policy.Condition) bool { return x.Value.Value == y.Value.Value })
}

// runs reports whether the conditions of any of several hooks hold.
//
//go:noinline
func runs(hooks []*policy.Hook) func(*policy.Context) bool {
	filters := make([][]policy.Condition, len(hooks))
	for i, h := range hooks {
		filters[i] = h.Filter.Conditions // as they are now
	}
	return func(in *policy.Context) bool {
		return slices.ContainsFunc(filters, func(all []policy.Condition) bool {
			return !lists.Some(all, func(c *policy.Condition) bool { return !c.Atom.Test(in) })
		})
	}
}

// whereNone is the condition that none of several hooks runs, and whereAny that one
// does. What a field's absence means is for their own conditions to say.
func whereNone(written diag.Text, hooks ...*policy.Hook) policy.Condition {
	some := runs(hooks)
	return conditionOn(written, hooks, func(in *policy.Context) bool { return !some(in) })
}

func whereAny(written diag.Text, hooks ...*policy.Hook) policy.Condition {
	return conditionOn(written, hooks, runs(hooks))
}

// conditionOn is a condition that the conditions of other hooks make.
func conditionOn(written diag.Text, hooks []*policy.Hook, test func(*policy.Context) bool) policy.Condition {
	var reads []policy.Field
	for _, h := range hooks {
		for _, c := range h.Filter.Conditions {
			reads = append(reads, c.Atom.Reads...)
		}
	}
	lists.Sort(reads)
	reads = lists.Compact(reads)
	field := policy.FieldEvent
	if len(reads) > 0 {
		field = reads[0]
	}
	return policy.Condition{Key: policy.FilterNative, Value: written,
		Atom: &policy.Atom{Op: policy.AtomMatch, Field: field, Values: []string{written.Value}, Reads: reads, Test: test}}
}
