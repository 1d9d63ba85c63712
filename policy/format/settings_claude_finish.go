package format

import (
	"slices"
	"strings"

	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
)

// handler notes which hook an agent would take for the same as h: what it
// does, and the conditions that stand at it under the given keys.
func (l *Loader) handler(h *policy.Hook, n *Node, keys ...string) {
	parts := []string{string(h.Event), h.Body.Agent.Event, string(h.Kind), h.Body.Command.Value, h.Body.Prompt.Value, strings.Join(h.Body.Args, "\x00")}
	for _, key := range append([]string{"url", "server", "tool"}, keys...) {
		if v := n.Get(key); v != nil {
			parts = append(parts, key, v.Text.Value)
		}
	}
	if l.handlers == nil {
		l.handlers = map[*policy.Hook]string{}
	}
	l.handlers[h] = strings.Join(parts, "\x00")
}

// onceEach makes hooks that are the same run once: the first whose group
// matches. A later one runs where none of those before it does.
func (l *Loader) onceEach(hooks []*policy.Hook) []*policy.Hook {
	earlier := map[string][]*policy.Hook{}
	var out []*policy.Hook
	for _, h := range hooks {
		key := l.handlers[h]
		if key == "" || h.Untrusted != "" {
			out = append(out, h)
			continue
		}
		before := earlier[key]
		earlier[key] = append(before, h)
		if slices.ContainsFunc(before, func(b *policy.Hook) bool { return len(b.Filter.Conditions) == 0 }) {
			continue
		}
		if len(before) > 0 {
			h.Filter.Conditions = append(slices.Clip(h.Filter.Conditions), unlessOne(before))
		}
		out = append(out, h)
	}
	return out
}

// unlessOne is the condition that none of several hooks matches.
func unlessOne(hooks []*policy.Hook) policy.Condition {
	var tests [][]*policy.Atom
	var reads []policy.Field
	for _, h := range hooks {
		var all []*policy.Atom
		for _, c := range h.Filter.Conditions {
			all = append(all, c.Atom)
			reads = append(reads, c.Atom.Reads...)
		}
		tests = append(tests, all)
	}
	slices.Sort(reads)
	var names []string
	for _, h := range hooks {
		names = append(names, h.Name)
	}
	written := diag.NewText("unless "+strings.Join(names, " or ")+" runs", hooks[0].Span, nil)
	return policy.Condition{Key: policy.FilterNative, Value: written, Atom: &policy.Atom{
		Op: policy.AtomMatch, Field: reads[0], Values: []string{written.Value}, Reads: slices.Compact(reads),
		Test: func(in *policy.Context) bool {
			return !slices.ContainsFunc(tests, func(all []*policy.Atom) bool {
				return !slices.ContainsFunc(all, func(a *policy.Atom) bool { return !a.Test(in) })
			})
		},
	}}
}

// claudeFinish takes out what the settings switch off and what is written
// twice.
func claudeFinish(l *Loader, hooks []*policy.Hook) []*policy.Hook {
	managed := func(h *policy.Hook) bool { return h.Tier == policy.TierManaged }
	only, _ := l.switched("claude", "allowManagedHooksOnly", policy.TierManaged)
	off, _ := l.switched("claude", "disableAllHooks", policy.TierManaged, policy.TierLocal, policy.TierProject, policy.TierUser)
	for _, s := range []fileSwitch{only, off} {
		if !s.on {
			continue
		}
		hooks = l.switchOff(hooks, s, func(h *policy.Hook) bool { return !managed(h) || s == off && s.tier == policy.TierManaged })
	}
	hooks = l.onceEach(hooks)
	l.races(hooks)
	return hooks
}

// switchOff takes out the hooks of an agent's configuration that a switch
// disables, and says so.
func (l *Loader) switchOff(hooks []*policy.Hook, s fileSwitch, disabled func(*policy.Hook) bool) []*policy.Hook {
	left := slices.DeleteFunc(slices.Clone(hooks), func(h *policy.Hook) bool { return h.Body.Agent.Event != "" && disabled(h) })
	if n := len(hooks) - len(left); n > 0 {
		l.diags.Add(codeNative.Report(s.at, "%s switches off %d of the %d hooks", s.name, n, len(hooks)))
	}
	return left
}
