package source

import (
	"path/filepath"
	"strings"

	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/agent"
	"github.com/hookc/hookc/policy/diag"
	"github.com/hookc/hookc/policy/source/parts"
	"github.com/hookc/hookc/policy/source/tree"
)

// The formats of hooks in the frontmatter of Claude Code's skills, commands and agents.
const (
	skillFormat = "claudeskill"
	agentFormat = "claudeagent"
	// pluginFormat is a plugin among the skills.
	pluginFormat = "claudeskillplugin"
)

var _ = register(Format{
	Name:  skillFormat,
	Doc:   "hooks in the frontmatter of a skill or a command of Claude Code",
	Match: func(in *File) bool { return !in.Folder && strings.EqualFold(filepath.Base(in.Path), "SKILL.md") },
	Read:  func(l *Loader, in *File) { readParts(l, in, skillFormat, (*settingsReader).ofSkill) },
})

var _ = register(Format{
	Name: agentFormat,
	Doc:  "hooks in the frontmatter of an agent of Claude Code",
	Match: func(in *File) bool {
		return !in.Folder && strings.HasSuffix(filepath.ToSlash(filepath.Dir(in.Path)), ".claude/agents")
	},
	Read: func(l *Loader, in *File) { readParts(l, in, agentFormat, (*settingsReader).ofAgent) },
})

// readParts reads the hooks of a skill or an agent.
func readParts(l *Loader, in *File, format string, read func(r *settingsReader, root *tree.Node)) {
	for _, s := range agents {
		if s.id != "claude" {
			continue
		}
		l.Source(in, format)
		r := s.reader(l, in)
		src := diag.NewSource(in.Name, in.Content)
		root, found := parts.Read(src)
		if root == nil {
			for _, d := range found {
				r.passed(d.Span, "the frontmatter cannot be read: none of its hooks runs: %s", d.Text)
			}
			return
		}
		if hooks := root.Get("hooks"); hooks != nil && !hooks.IsNull() {
			read(r, root)
		}
	}
}

// ofSkill reads the hooks of a skill, which the program runs from its invocation to the
// end of the session, outside subagents. hookc is not told what was invoked: what may
// refuse runs always, and all else never (semantics.md §2.12).
func (r *settingsReader) ofSkill(root *tree.Node) {
	dir, name := "", strings.TrimSuffix(filepath.Base(r.in.Path), filepath.Ext(r.in.Path))
	if strings.EqualFold(name, "SKILL") {
		dir = filepath.Dir(r.in.Path)
		name = filepath.Base(dir)
	}
	if r.in.Plugin != "" {
		name = filepath.Base(r.in.Plugin) + ":" + name
	}
	r.in.Part = "skill " + name
	always, never := 0, 0
	r.scope = func(h *policy.Hook, native string) bool {
		r.l.call(h, r.in.Part)
		if dir != "" {
			h.Body.Env = append(h.Body.Env, policy.EnvVar{Name: r.Reading.PluginEnv, Value: r.l.live(dir)})
		}
		if native != "SubagentStart" {
			text := diag.NewText("outside subagents, whether or not the skill "+name+" was invoked", h.Span, nil)
			h.Filter.Conditions = append(h.Filter.Conditions, outsideSubagents(text))
		}
		switch {
		case native == "SubagentStop":
			r.passed(h.Span, "a skill's hooks do not run in subagents: this one never runs")
			return false
		case h.Event.Spec().Guarded():
			always++
		default:
			never++
			h.Disabled, h.Idle = true, "hookc is not told when the skill "+name+" is invoked, and the hook refuses nothing"
		}
		return true
	}
	r.readEvents(root.Get("hooks"))
	if at := root.Entry("hooks").Key.Span; always+never > 0 {
		r.report(codeUnrun.Report(at, "hookc is not told when the skill %s is invoked: its hooks that may refuse run in every session (%d), the others in none (%d)", name, always, never).
			WithHint("write hooks for every session into settings.json, and leave those of the skill to Claude Code"))
	}
}

// outsideSubagents is the condition that no subagent is at work.
func outsideSubagents(written diag.Text) policy.Condition {
	return policy.Condition{Key: policy.FilterNative, Value: written, Atom: &policy.Atom{
		Op: policy.AtomMatch, Field: policy.FieldAgentID, Values: []string{written.Value}, Reads: []policy.Field{policy.FieldAgentID},
		Test: func(in *policy.Context) bool { return in.Text(policy.FieldAgentID) == "" },
	}}
}

// ofAgent reads the hooks of an agent, which the program runs while the agent does. What
// is to run when it stops does so as a subagent's too.
func (r *settingsReader) ofAgent(root *tree.Node) {
	name, about := keyWord(root, "name"), keyWord(root, "description")
	if name == "" || about == "" {
		r.passed(root.Entry("hooks").Key.Span, "the agent has no name or no description: Claude Code does not load it, and none of its hooks runs")
		return
	}
	r.in.Part = "agent " + name
	text := diag.NewText("while the agent "+name+" runs", root.Entry("hooks").Key.Span, nil)
	r.scope = func(h *policy.Hook, native string) bool {
		r.l.call(h, r.in.Part)
		if native == "SubagentStart" {
			r.passed(h.Span, "the hooks of an agent count from its start on: this one does not run at its own")
			return false
		}
		c := nativeNames(text, policy.FieldAgentType, name)
		h.Filter.Conditions = append(h.Filter.Conditions, c)
		return true
	}
	hooks := root.Get("hooks")
	if stop := hooks.Entry("Stop"); stop != nil {
		key := *stop.Key
		key.Text = diag.NewText("SubagentStop", stop.Key.Span, nil)
		both := *hooks
		both.Entries = append(append([]tree.Entry{}, hooks.Entries...), tree.Entry{Key: &key, Value: stop.Value})
		hooks = &both
	}
	r.readEvents(hooks)
	d := codeUnrun.Report(root.Entry("hooks").Key.Span, "the hooks of the agent %s run where the agent at work is called that: where Claude Code is started as it (--agent), it runs them in other subagents too", name).
		WithHint("write hooks for every agent into settings.json")
	d.Severity = diag.Hint
	r.report(d)
}

// shadow settles which of several skills or agents of one name counts: the user's skill
// before the project's, and the project's agent before the user's, whose hooks run
// besides unless all is to be as in the program.
func (l *Loader) shadow() {
	first := map[string]*File{}
	for _, a := range l.added {
		name := a.in.Part
		one, known := first[name]
		if name == "" || a.in.Untrusted != "" || known && (a.in.Tier < one.Tier) != strings.HasPrefix(name, "skill ") {
			continue
		}
		first[name] = a.in
	}
	said := map[*File]bool{}
	for _, a := range l.added {
		one := first[a.in.Part]
		if one == nil || one.Tier == a.in.Tier || a.in.Untrusted != "" {
			continue
		}
		keeps := one.Tier > a.in.Tier && !l.faithful
		if !said[a.in] {
			said[a.in] = true
			l.Report(a.in, codeReplaced.Report(fileSpan(a.in.Name), "%s takes the place of the %s%s", one.Name, a.in.Part,
				map[bool]string{true: ": its hooks run besides", false: ": its hooks do not run"}[keeps]))
		}
		if !keeps {
			a.hook.Disabled, a.hook.Idle = true, one.Name+" takes its place"
		}
	}
}

// keyWord is a text of the frontmatter, also where only its hooks could be read.
func keyWord(root *tree.Node, key string) string {
	if n := root.Get(key); n != nil {
		return strings.TrimSpace(n.Text.Value)
	}
	return parts.Word(root.Span.Source, key)
}

// partsOf are the skills, commands and agents with hooks below the folders that the agent
// looks at for the user, or upwards from where it works to the root of the project.
func (d *discovery) partsOf(p *agent.Agent, project bool) (found parts.Found) {
	bases, tier := []string{}, policy.TierUser
	if settings, err := p.Settings(); err != nil || !settings.Reading.Frontmatter {
		return found
	}
	config := agent.File{Base: agent.Home, Env: "CLAUDE_CONFIG_DIR"}
	user, known := d.base(config)
	if !elsewhere(config) {
		user = filepath.Join(user, ".claude")
	}
	if project {
		tier = policy.TierProject
		for dir := d.dir; d.innermost && dir != d.root && isBelow(d.root, dir); dir = filepath.Dir(dir) {
			bases = append(bases, filepath.Join(dir, ".claude"))
		}
		bases = append(bases, filepath.Join(d.root, ".claude"))
	} else if known {
		bases = append(bases, user)
	}
	for _, base := range bases {
		if project && base == user {
			continue
		}
		one := parts.Find(base)
		found.Looked = append(found.Looked, one.Looked...)
		for _, path := range one.Skills {
			d.inputs = append(d.inputs, Input{Path: path, Tier: tier, Format: skillFormat})
		}
		for _, path := range one.Plugins {
			d.inputs = append(d.inputs, Input{Path: path, Tier: max(tier, policy.TierExtension), Format: pluginFormat})
		}
		for _, path := range one.Agents {
			d.inputs = append(d.inputs, Input{Path: path, Tier: tier, Format: agentFormat})
		}
	}
	return found
}

// PartPlaces are the files and folders that decide which skills, commands and agents with
// hooks are found: Claude Code's, besides DiscoverPlaces.
func PartPlaces(o DiscoverOptions) []string {
	if o.Profile == nil {
		return nil
	}
	d := discovery{dir: Absolute("", o.Dir), options: o}
	out := d.partsOf(o.Profile, false).Looked
	for i, root := range d.roots() {
		d.root, d.innermost = root, i == len(d.roots())-1
		out = append(out, d.partsOf(o.Profile, true).Looked...)
	}
	return out
}
