package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os/exec"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/hookc/hookc"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/internal/memory"
	"github.com/hookc/hookc/internal/release"
	"github.com/hookc/hookc/internal/sites"
	"github.com/hookc/hookc/internal/spell"
	"github.com/hookc/hookc/policy/agent"
	"github.com/hookc/hookc/policy/install"
	"github.com/hookc/hookc/policy/source/commandline"
)

// switches: nothing in the settings turns hooks off.
func (d *doctor) switches(all []opened) {
	off := false
	for _, o := range all {
		for i := range d.Place.Switches {
			sw := &d.Place.Switches[i]
			v, ok := valueUnder(o.settings, sw.Path)
			if !ok || sw.SparesManaged && (o.site.File.Scope() != agent.ManagedScope || d.onlyManaged()) {
				continue
			}
			if why := d.offBy(sw, v); why != "" {
				off = true
				d.say("switch", checkFail, "change it in "+o.site.Target.Name, "%s in %s %s", sw.Path, o.site.Target.Name, why)
			}
		}
	}
	if !off && len(all) > 0 && len(d.Place.Switches) > 0 {
		d.say("switch", checkOK, "", "hooks are not switched off")
	}
}

func (d *doctor) onlyManaged() bool {
	return len(d.entries) > 0 && !lists.Some(d.entries, func(e *ownEntry) bool { return e.site.File.Scope() != agent.ManagedScope })
}

// offBy says how a setting's value turns hookc off, "" when it does not.
func (d *doctor) offBy(sw *agent.Switch, v any) string {
	if !sw.Names {
		if on, ok := v.(bool); ok && on == sw.Off {
			return fmt.Sprintf("is %v: no hook runs", on)
		}
		return ""
	}
	list, _ := v.([]any)
	for _, item := range list {
		name, _ := item.(string)
		own := lists.Some(d.entries, func(e *ownEntry) bool { return e.Command == name })
		if own || name == agent.HookName && d.Place.Handler.Name != "" {
			return fmt.Sprintf("lists %q: hookc does not run", name)
		}
	}
	return ""
}

// valueUnder is the value at a path with dots.
func valueUnder(settings map[string]any, path string) (any, bool) {
	var v any = settings
	for _, part := range strings.Split(path, ".") {
		m, ok := v.(map[string]any)
		if !ok {
			return nil, false
		}
		if v, ok = m[part]; !ok {
			return nil, false
		}
	}
	return v, true
}

// at are the entries for an event.
func (d *doctor) at(native string) []ownEntry {
	return lists.Without(d.entries, func(e *ownEntry) bool { return e.Event != native })
}

// events: hookc stands at every event the policy has hooks on, once.
func (d *doctor) events() {
	for _, n := range d.needs {
		mine := d.at(n.Native)
		switch {
		case len(mine) == 0 && n.Guard:
			d.say("event", checkFail, "hookc install "+d.Dialect.ID, "%s: hookc is not there, %s", n.Native, nothingGuards(n))
		case len(mine) == 0:
			d.say("event", checkWarn, "hookc install "+d.Dialect.ID, "%s: hookc is not there, %s of the policy never run", n.Native, count(n.Hooks, "hook"))
		case len(mine) > 1:
			var at []string
			for _, e := range mine {
				at = append(at, e.at())
			}
			d.say("event", checkWarn, "hookc uninstall "+d.Dialect.ID+" --scope SCOPE", "%s: hookc stands there %d times and may run as often: %s",
				n.Native, len(mine), strings.Join(at, ", "))
		default:
			d.say("event", checkOK, "", "%s: %s", n.Native, mine[0].at())
		}
	}
}

func nothingGuards(n sites.Need) string {
	if n.Hooks == 0 {
		return "nothing would be guarded"
	}
	return fmt.Sprintf("%s of the policy guard nothing", count(n.Hooks, "hook"))
}

// shadows: where a later file's list takes the place of an earlier one's,
// hookc stands in the last.
func (d *doctor) shadows(all []opened) {
	if !d.Place.Replaces {
		return
	}
	for _, e := range d.entries {
		own := slices.IndexFunc(all, func(o opened) bool { return o.site.Path == e.site.Path })
		for _, o := range all[own+1:] {
			there := lists.Some(o.found, func(f *install.Found) bool { return f.Event == e.Event })
			again := lists.Some(o.found, func(f *install.Found) bool { return f.Event == e.Event && f.Own })
			if there && !again {
				d.say("shadow", checkFail, "install hookc in the scope of "+o.site.Target.Name,
					"%s at %s is not run: %s has hooks on it too, and only those count", e.Event, e.at(), o.site.Target.Name)
			}
		}
	}
}

// matchers: each entry lets through what the policy has hooks on.
func (d *doctor) matchers() {
	m := &d.Place.Matchers
	for _, n := range d.needs {
		for _, e := range d.at(n.Native) {
			missed, unknown := d.missed(n, e)
			hint := "hookc install " + d.Dialect.ID
			switch {
			case e.Odd:
				d.say("matcher", checkFail, hint, "%s: the matcher at %s is not of the form the agent reads", n.Native, e.at())
			case len(missed) > 0:
				status := checkWarn
				if n.Guard {
					status = checkFail
				}
				d.say("matcher", status, hint, "%s: the matcher %q at %s keeps calls from the policy: %s", n.Native, e.Matcher, e.at(), strings.Join(missed, ", "))
			case unknown:
				d.say("matcher", checkWarn, hint, "%s: what the matcher %q at %s lets through cannot be told", n.Native, e.Matcher, e.at())
			case m.All(e.Matcher):
				d.say("matcher", checkOK, "", "%s: every call", n.Native)
			default:
				d.say("matcher", checkOK, "", "%s: %s of the policy", n.Native, count(len(n.Tools), "tool"))
			}
		}
	}
}

// strangers: the policy's names of tools are the agent's, where hookc knows
// the agent's own. A filter on another agent's names never matches.
func (d *doctor) strangers() {
	if d.Dialect.Profile == nil || len(d.Dialect.Profile.Tools) == 0 {
		return
	}
	for _, n := range d.needs {
		if n.All || len(n.Tools) == 0 || slices.ContainsFunc(n.Tools, d.knows) {
			continue
		}
		d.say("tools", checkWarn, "filter on tool_kind, which is the same for every agent",
			"%s: %s has no tool called %s: the hooks may never run", n.Native, d.Dialect.ID, spell.Or(n.Tools))
	}
}

// knows reports whether the agent has, or may have, a tool.
func (d *doctor) knows(tool string) bool {
	p := d.Dialect.Profile
	return lists.Has(p.Tools, tool) || slices.ContainsFunc(p.Open, func(glob string) bool {
		ok, err := path.Match(glob, tool)
		return ok || err != nil
	})
}

// missed are the tools of a need that an entry's matcher keeps out.
func (d *doctor) missed(n sites.Need, e ownEntry) (missed []string, unknown bool) {
	m := &d.Place.Matchers
	switch {
	case m.All(e.Matcher):
		return nil, false
	case n.All:
		return []string{"the policy needs every tool"}, false
	}
	for _, tool := range n.Tools {
		hit, known := m.Match(e.Matcher, tool)
		unknown = unknown || !known
		if known && !hit {
			missed = append(missed, tool)
		}
	}
	return missed, unknown
}

// commands: the programs in the settings can be run and are this hookc.
func (d *doctor) commands() {
	var done []string
	for _, e := range d.entries {
		words := commandline.Words(e.Command)
		if lists.Has(done, words[0]) {
			continue
		}
		done = append(done, words[0])
		hint := "hookc install " + d.Dialect.ID + " writes the path of this hookc"
		program, err := exec.LookPath(words[0])
		if err != nil {
			d.say("command", checkFail, hint, "%s at %s cannot be run: %v", words[0], e.at(), err)
			continue
		}
		theirs, err := d.versionOf(program)
		own := release.Current()
		switch {
		case err != nil:
			d.say("command", checkFail, hint, "%s at %s does not say its version: %v", words[0], e.at(), err)
		case theirs.Version != own.Version || theirs.Commit != own.Commit:
			d.say("command", checkWarn, hint, "%s is hookc %s %s, this is %s %s", program, theirs.Version, theirs.Commit, own.Version, own.Commit)
		default:
			d.say("command", checkOK, "", "%s can be run: hookc %s", program, theirs.Version)
		}
	}
}

func (d *doctor) versionOf(path string) (release.Version, error) {
	ctx, cancel := context.WithTimeout(d.cmd.Context(), 10*time.Second)
	defer cancel()
	var v release.Version
	text, err := exec.CommandContext(ctx, path, "version", "--json").Output()
	if err != nil {
		return v, err
	}
	return v, json.Unmarshal(text, &v)
}

// timeouts: the agent waits longer than hookc may take.
func (d *doctor) timeouts() {
	for _, n := range d.needs {
		for _, e := range d.at(n.Native) {
			limit, how := e.Timeout, "is"
			if limit == 0 {
				limit, how = d.Place.Standard, "is by default"
			}
			if limit <= n.Deadline {
				d.say("timeout", checkFail, "hookc install "+d.Dialect.ID+", or a shorter chain_timeout in the policy",
					"%s: the timeout at %s %s %s, hookc may take %s: what comes too late is let through", n.Native, e.at(), how, limit, n.Deadline)
				continue
			}
			d.say("timeout", checkOK, "", "%s: %s, hookc takes %s at most", n.Native, limit, n.Deadline)
		}
	}
}

// lastSeen: the agent has called hookc in this project.
func (d *doctor) lastSeen() {
	m := memory.Open(d.Root)
	if err := m.Trouble(); err != nil {
		d.say("last seen", checkWarn, "set XDG_STATE_HOME to a folder that can be written", "%v", err)
		return
	}
	base, _, _ := spell.Cut(d.Dialect.ID, "@")
	times := m.Sightings()[base]
	var newest int64
	event := ""
	for name, at := range times {
		if at > newest || at == newest && name < event {
			newest, event = at, name
		}
	}
	if newest == 0 {
		d.say("last seen", checkWarn, "let the agent use a tool, then run doctor again", "%s has not called hookc in %s yet", d.Dialect.ID, d.Root)
		return
	}
	d.seen = true
	ago := time.Since(time.Unix(newest, 0)).Round(time.Second)
	d.say("last seen", checkOK, "", "%s called hookc at %s, %s ago, in %s", d.Dialect.ID, event, max(ago, 0), d.Root)
}

// agentTrust: what the agent itself must be told first. That it has called
// hookc here shows that it was.
func (d *doctor) agentTrust(all []opened) {
	if d.Place.Trust == "" || d.seen || len(d.entries) == 0 || d.onlyManaged() {
		return
	}
	if d.Place.Trusted == "" {
		d.say("agent trust", checkWarn, "", "it cannot be seen from here whether the agent runs the hook: %s", d.Place.Trust)
		return
	}
	records := map[string]any{}
	for _, o := range all {
		if v, ok := valueUnder(o.settings, d.Place.Trusted); ok {
			m, _ := v.(map[string]any)
			maps.Copy(records, m)
		}
	}
	for _, e := range d.entries {
		named := func(key string) bool { return strings.Contains(key, e.site.Path) }
		if slices.ContainsFunc(lists.Keys(records), named) {
			continue
		}
		d.say("agent trust", checkFail, "", "%s: no trust in %s is recorded under %s: %s", e.Event, e.site.Target.Name, d.Place.Trusted, d.Place.Trust)
		return
	}
	d.say("agent trust", checkOK, "", "trust is recorded under %s", d.Place.Trusted)
}

// failures: no hook of the policy has failed and decided nothing by it.
func (d *doctor) failures() {
	if d.program == nil {
		return
	}
	ran := map[string]hookc.HookMetrics{}
	for _, c := range memory.Open(d.Root).Counters() {
		ran[string(c.Event)+" "+c.Hook] = c
	}
	for _, e := range d.program.Hooks {
		c := ran[string(e.Hook.Event)+" "+e.Hook.Name]
		if c.Failed == 0 || e.Hook.Disabled {
			continue
		}
		d.say("failures", checkWarn, "hookc run --debug shows why; on_error: deny makes a failure refuse", "%s: %s failed %d of %d times",
			e.Hook.Event, e.Hook.Name, c.Failed, c.Runs)
	}
}
