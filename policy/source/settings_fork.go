package source

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
	"github.com/hookc/hookc/policy/source/extensions"
	"github.com/hookc/hookc/policy/source/tree"
)

// forkConfig is what settings of Gemini CLI and its forks say that one hook
// alone does not show.
type forkConfig struct {
	// off is where the last file that speaks of it turned all hooks off.
	off diag.Span
	// switched is true once a file has turned them on or off.
	switched bool
	// extensions is what the settings say of extensions: of several files the last.
	extensions extensions.Program
	// noSettings is true where what users set of an extension does not count.
	noSettings bool
	// registered are the commands of hooks that only one can be called.
	registered map[string]string
	// disabled are the ids of hooks that do not run.
	disabled []diag.Text
	facts    map[*policy.Hook]*forkFacts
}

// forkFacts are of one hook.
type forkFacts struct {
	// id is what a list of disabled hooks calls it, key what makes two hooks one.
	id, key string
	// sequential is that of its group.
	sequential bool
	// broken is a matcher at which the agent's own code gives up.
	broken diag.Span
}

func (c *forkConfig) note(h *policy.Hook, f *forkFacts) {
	if c.facts == nil {
		c.facts = map[*policy.Hook]*forkFacts{}
	}
	c.facts[h] = f
}

// forkFinish lays the hooks of every event out as the agent's planner would
// when the event fires (docs/reference/dialects, gemini §1.4): disabled hooks and
// repeated ones left out, and the others at once or in turn.
func forkFinish(l *Loader, hooks []*policy.Hook) []*policy.Hook {
	c := &l.fork
	var out []*policy.Hook
	byEvent := map[policy.Event][]*policy.Hook{}
	var events []policy.Event
	for _, h := range hooks {
		if c.facts[h] == nil {
			out = append(out, h)
			continue
		}
		if byEvent[h.Event] == nil {
			events = append(events, h.Event)
		}
		byEvent[h.Event] = append(byEvent[h.Event], h)
	}
	l.forkSwitches(hooks)
	for _, e := range events {
		out = append(out, c.lay(l, byEvent[e])...)
	}
	return out
}

// forkSwitches reports lists and switches, and turns hooks off.
func (l *Loader) forkSwitches(hooks []*policy.Hook) {
	c := &l.fork
	known := map[string]bool{}
	for _, h := range hooks {
		f := c.facts[h]
		if f == nil {
			continue
		}
		known[f.id] = true
		if !c.off.IsZero() || slices.ContainsFunc(c.disabled, func(t diag.Text) bool { return t.Value == f.id }) {
			h.Disabled = true
		}
	}
	if !c.off.IsZero() && len(known) > 0 {
		l.diags.Add(codeNative.Report(c.off, "all hooks are turned off here: none of them runs"))
	}
	for _, t := range c.disabled {
		if !known[t.Value] {
			l.diags.Add(codeNative.Report(t.Span, "no hook is called %q: this turns nothing off", t.Value).
				WithHint("a hook that has a name is called by it, any other by its command"))
		}
	}
}

// lay lays out the hooks of one event.
func (c *forkConfig) lay(l *Loader, hooks []*policy.Hook) []*policy.Hook {
	var live, dead []*policy.Hook
	for _, h := range hooks {
		if h.Disabled {
			dead = append(dead, h)
			continue
		}
		live = append(live, h)
	}
	if l.faithful {
		for _, h := range live {
			if f := c.facts[h]; !f.broken.IsZero() && h.Untrusted == "" {
				return c.giveUp(hooks)
			}
		}
	}
	live = c.once(live)
	return append(dead, c.order(l, live)...)
}

// giveUp turns off every hook of an event: the agent's planner throws.
func (c *forkConfig) giveUp(hooks []*policy.Hook) []*policy.Hook {
	for _, h := range hooks {
		h.Disabled = true
	}
	return hooks
}

// once makes each of several hooks with one key run only where none before it
// does.
func (c *forkConfig) once(hooks []*policy.Hook) []*policy.Hook {
	return once(hooks,
		func(h *policy.Hook) (string, bool) { return c.facts[h].key, true },
		func(h *policy.Hook, before []*policy.Hook) bool {
			h.Disabled = h.Disabled || unconditional(before)
			return false
		},
		func(before []*policy.Hook) string {
			return fmt.Sprintf("not where the same hook runs already (%s)", whereWritten(before))
		})
}

// whereWritten says where hooks are written.
func whereWritten(hooks []*policy.Hook) string {
	return strings.Join(lists.Each(hooks, func(h *policy.Hook) string { return h.Span.String() }), ", ")
}

// order is at once for all hooks that match, or in turn when the group of one
// of them is sequential. Where the matchers decide which, a hook is there
// twice, each time with the condition that goes with it.
func (c *forkConfig) order(l *Loader, hooks []*policy.Hook) []*policy.Hook {
	var leads, free, out []*policy.Hook
	always := false
	for _, h := range hooks {
		switch f := c.facts[h]; {
		case h.Disabled || h.Untrusted != "":
			out = append(out, h)
		case f.sequential:
			leads = append(leads, h)
			always = always || len(h.Filter.Conditions) == 0
		default:
			free = append(free, h)
		}
	}
	live := lists.DeleteFunc(lists.Copy(hooks), func(h *policy.Hook) bool { return lists.Among(out, h) })
	for _, h := range live {
		h.Body.Agent.Sequential = len(leads) > 0
	}
	switch {
	case len(leads) > 0 && len(free) > 0:
		c.contagion(l, leads, free)
	case len(leads) == 0:
		c.race(l, free)
	}
	switch {
	case len(leads) == 0 && len(live) > 1:
		group(live)
	case len(leads) > 0 && !always:
		return append(out, append(c.atOnce(leads, free), c.sequential(leads, live)...)...)
	}
	return append(out, live...)
}

// group makes hooks start at once.
func group(hooks []*policy.Hook) {
	g := &policy.Group{Name: "at once", Priority: policy.DefaultPriority, Span: hooks[0].Span}
	for _, h := range hooks {
		h.Group = g
	}
}

// atOnce are copies of the hooks outside sequential groups, for events where
// no such group matches.
func (c *forkConfig) atOnce(leads, free []*policy.Hook) []*policy.Hook {
	alone := whereNone(diag.Text{Value: "where no sequential group matches (" + whereWritten(leads) + ")", Span: leads[0].Span}, leads...)
	var out []*policy.Hook
	for _, h := range free {
		if _, never := besides(h, leads); never {
			continue
		}
		copied := *h
		copied.Name += " at once"
		copied.Body.Agent.Sequential = false
		copied.Filter.Conditions = append(slices.Clip(h.Filter.Conditions), alone)
		out = append(out, &copied)
	}
	if len(out) > 1 {
		group(out)
	}
	return out
}

// inTurn are the hooks, one after another, for events where a sequential group
// matches.
func (c *forkConfig) sequential(leads, live []*policy.Hook) []*policy.Hook {
	with := whereAny(diag.Text{Value: "where a sequential group matches (" + whereWritten(leads) + ")", Span: leads[0].Span}, leads...)
	var out []*policy.Hook
	for _, h := range live {
		if !c.facts[h].sequential {
			if always, _ := besides(h, leads); always {
				continue
			}
			h.Filter.Conditions = append(slices.Clip(h.Filter.Conditions), with)
		}
		out = append(out, h)
	}
	return out
}

// besides reports whether a hook certainly always, or never, runs where none
// of the leads does. It can tell where the hook's matcher lists names, or is
// written like one of theirs.
func besides(h *policy.Hook, leads []*policy.Hook) (always, never bool) {
	if len(h.Filter.Conditions) != 1 {
		return false, false
	}
	own := h.Filter.Conditions[0]
	for _, l := range leads {
		if c := l.Filter.Conditions; len(c) == 1 && c[0].Value.Value == own.Value.Value && c[0].Atom.Field == own.Atom.Field {
			return false, true
		}
	}
	if own.Atom.Op != policy.AtomIn {
		return false, false
	}
	match := runs(leads)
	always, never = true, true
	for _, name := range own.Atom.Values {
		if match(policy.NewContext(h.Event).Set(own.Atom.Field, name)) {
			always = false
			continue
		}
		never = false
	}
	return always, never
}

// geminiRoot reads the switches. What an untrusted file switches does not
// count, nor what an extension does.
func geminiRoot(r *settingsReader, root *tree.Node) {
	if r.in.Untrusted != "" || r.in.Tier == policy.TierExtension {
		return
	}
	r.extensionSettings(root)
	config := root.Get("hooksConfig")
	if config == nil {
		return
	}
	if n := config.Get("enabled"); n != nil {
		r.l.fork.turn(n, true)
	}
	if list := config.Get("disabled"); list != nil {
		for _, n := range list.Items {
			if n.IsText() {
				r.l.fork.disabled = append(r.l.fork.disabled, n.Text)
			}
		}
	}
}

// qwenRoot reads the switch. The project's word is before the user's: files are
// read in the order of their hooks, and the project's come first.
func qwenRoot(r *settingsReader, root *tree.Node) {
	c := &r.l.fork
	if n := root.Get("disableAllHooks"); n != nil && r.in.Untrusted == "" && r.in.Tier != policy.TierExtension && (r.in.Tier == policy.TierProject || !c.switched) {
		c.turn(n, false)
	}
}

// turn takes over a switch that turns hooks on with the value on.
func (c *forkConfig) turn(n *tree.Node, on bool) {
	value, ok := n.Bool()
	if !ok {
		return
	}
	if c.off, c.switched = (diag.Span{}), true; value != on {
		c.off = n.Span
	}
}

// geminiHook finishes a hook: what it is called, and its group.
func geminiHook(r *settingsReader, _ string, group, n *tree.Node, h *policy.Hook) bool {
	f := r.forkHook(group, h)
	if n.Get("type").Text.Value == "plugin" { // its command is neither a name nor part of what makes it one
		f.key = r.l.called[h] + ":"
		if r.l.called[h] == "" {
			f.id = "unknown-hook"
		}
	}
	r.l.fork.note(h, f)
	return true
}

// qwenHook registers a hook unless another of the same event and file is called
// the same under the same matcher: Qwen Code registers only one.
func qwenHook(r *settingsReader, _ string, group, _ *tree.Node, h *policy.Hook) bool {
	f := r.forkHook(group, h)
	text := func(key string) string {
		if n := group.Get(key); n != nil {
			return n.Tag + n.Text.Value
		}
		return ""
	}
	key := strings.Join([]string{string(h.Event), h.Body.Agent.Event, r.in.Path, f.id, text("matcher"), text("sequential")}, "\x00")
	if r.l.fork.registered == nil {
		r.l.fork.registered = map[string]string{}
	}
	before, taken := r.l.fork.registered[key]
	switch {
	case !taken:
		r.l.fork.registered[key] = h.Body.Command.Value
		r.l.fork.note(h, f)
	case before != h.Body.Command.Value:
		r.report(codeNative.Report(h.Span, "another hook of this event is called %q: this one never runs", f.id).WithHint("give it a name of its own"))
	}
	return !taken
}

// forkHook is what a hook is called, its group, and a matcher that is no text and
// counts as one: the agent's planner throws on it, at events that give it something
// to match. What its user set of an extension is in the environment of its hooks.
func (r *settingsReader) forkHook(group *tree.Node, h *policy.Hook) *forkFacts {
	if x := r.in.Extension; x != nil {
		for _, v := range x.Set {
			h.Body.Env = append(h.Body.Env, policy.EnvVar{Name: v.Name, Value: v.Value})
		}
	}
	f := &forkFacts{id: lists.First(r.l.called[h], h.Body.Command.Value), key: r.l.called[h] + ":" + h.Body.Command.Value, sequential: isTrue(group.Get("sequential"))}
	if m := group.Get("matcher"); m != nil && !m.IsText() && counts(m) {
		if _, looked := r.looked(h.Event); looked {
			f.broken = m.Span
		}
	}
	return f
}
