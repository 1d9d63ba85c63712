package source

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/internal/spell"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/agent"
	"github.com/hookc/hookc/policy/diag"
	"github.com/hookc/hookc/policy/trust"
)

// Input is one thing to read.
type Input struct {
	// Path is a file or a folder; a folder is read by every format that finds
	// something in it.
	Path string
	Tier policy.Tier
	// Format forces a format by name; "" lets the formats decide.
	Format string
	// Untrusted says why its hooks do not run, or is empty.
	Untrusted string
	// Content, when not nil, is what the file holds; the disk is not read.
	Content []byte
	// Root is the root of the project it belongs to, "" to look for one; Segment
	// which of the projects of an event that is.
	Root    string
	Segment int
	// Tree is the copy that Path lies in, or nil. Live is set when the project's
	// own files are alike, so that its scripts are run where they stand.
	Tree *trust.Tree
	Live bool
	// Within is the folder outside which nothing is read for it, "" if there is none.
	Within string
}

// Options say what to load.
type Options struct {
	Inputs []Input
	// Overrides replace keys of `defaults` in every file but managed ones,
	// for hooks that are not locked: HOOKC_DEFAULTS_ON_ERROR=deny is
	// {"ON_ERROR": "deny"}. Values are read as YAML.
	Overrides map[string]string
	// Dir is the absolute folder file names are shown relative to; "" shows
	// them as they are given.
	Dir string
	// Profile is the agent whose rules the policy follows; nil is hookc's own
	// (semantics.md). It must have a profile. Faithful follows it also where it
	// lets something through in silence.
	Profile  *agent.Agent
	Faithful bool
	// Environ are the variables (entries NAME=value) that settings are read with; nil
	// is this process's. Workspace is the folder the agent works in, "" for Dir.
	Environ   []string
	Workspace string
	// Projects are the roots of the projects whose files count as far as consent
	// covers them, nil where nothing that is read runs.
	Projects []string
	// Cache, if not nil, keeps what is read for the next load and gives what was
	// read for the last. A policy that comes from it shares its hooks with the
	// last one: whoever changes a hook changes a copy.
	Cache *Cache
	// limits replace the usual ones in tests.
	limits *limits
}

// Load reads every input into one policy. The policy holds what could be read
// even when the findings have errors; a policy with errors must not be
// compiled as if it were whole.
func Load(o Options) (*policy.Policy, diag.List) {
	if o.Cache != nil {
		if p, found, ok := o.Cache.recall(&o); ok {
			return p, found
		}
		o.Cache.begin()
	}
	l := &Loader{cache: o.Cache, dialect: o.Profile, faithful: o.Faithful, dir: o.Dir, places: map[place]int{}, timeouts: map[*policy.FileConfig]time.Duration{}, read: map[reading]bool{}, limits: usual, spent: spent{began: time.Now()}}
	if o.limits != nil {
		l.limits = *o.limits
	}
	l.environ, l.workspace, l.projects = o.Environ, lists.First(o.Workspace, o.Dir), o.Projects
	if o.Cache != nil {
		l.sight = &sight{blind: o.Profile != nil}
	}
	for _, in := range o.Inputs {
		if in.Tree != nil {
			l.trees = append(l.trees, in.Tree)
		}
	}
	l.inputs = o.Inputs
	for _, in := range o.Inputs {
		l.input(in)
	}
	l.finish(o.Overrides)
	l.diags.Sort()
	if o.Cache != nil {
		o.Cache.keep(o, l)
	}
	return &l.policy, l.diags
}

// Loader is the policy under construction. Formats add to it; it gives hooks
// their places and default names.
type Loader struct {
	policy  policy.Policy
	diags   diag.List
	sources []*policy.SourceFile
	places  map[place]int
	dir     string
	cache   *Cache
	sight   *sight
	limits  limits
	spent   spent
	// dialect is the agent whose rules the policy follows, or nil.
	dialect  *agent.Agent
	faithful bool
	// inputs are what is read, plugins what settings say of Claude Code's plugins.
	inputs  []Input
	plugins map[string]enabledPlugin
	// switches are what files of an agent's configuration set for all of them.
	switches []fileSwitch
	// handlers say which hooks of an agent's configuration are the same.
	handlers map[*policy.Hook]string
	// environ are the variables that settings are read with, workspace the folder the
	// agent works in.
	environ   []string
	workspace string
	projects  []string
	// fork is what the settings of Gemini CLI, or of its forks, say besides.
	fork forkConfig
	// clawd are the files of ClawdCode, in the order read.
	clawd []*clawdFile
	// clawdHooks are the places of their hooks' files.
	clawdHooks map[*policy.Hook]int
	// jcli and agentHooks are what files of theirs say besides.
	jcli       jcliState
	agentHooks agentHooksState
	// added are the hooks with the files they are written in.
	added []addedHook
	// called is what agents' own configurations call hooks.
	called map[*policy.Hook]string
	// trees are the copies that are read.
	trees []*trust.Tree
	// open are the files being read, outermost first; read those read.
	open []reading
	read map[reading]bool
	// bare is the first file that has settings alone; declared is true when a
	// file has more.
	bare     diag.Span
	declared bool
	// timeouts are the written `defaults.timeout`.
	timeouts     map[*policy.FileConfig]time.Duration
	chainTimeout chosen[time.Duration]
	severities   []severitySetting
	rollouts     []tierRollout
	logs         []logSetting
	concurrent   chosen[int]
	models       chosen[int]
	// setIn are the files of the policy's Settings.
	setIn []*File
}

type addedHook struct {
	in   *File
	hook *policy.Hook
}

type place struct {
	tier  policy.Tier
	event policy.Event
}

// reading is a file in a tier, by its path without symbolic links.
type reading struct {
	tier policy.Tier
	path string
}

// Report adds findings about in. Errors of a file whose hooks do not run are
// lowered to warnings: an untrusted repository cannot stop the user's policy
// from compiling.
func (l *Loader) Report(in *File, found ...diag.Diagnostic) {
	for _, d := range found {
		if in.Untrusted != "" && d.Severity == diag.Error {
			d.Severity = diag.Warning
		}
		l.diags.Add(d)
		l.passedOver(in, d)
	}
}

// Source records that in was read with the named format. The caller adds to
// Uses and Opaque of the result while reading.
func (l *Loader) Source(in *File, format string) *policy.SourceFile {
	s := &policy.SourceFile{Name: in.Name, Path: l.live(in.Path), Tier: in.Tier, Format: format, Untrusted: in.Untrusted}
	in.source = s
	l.sources = append(l.sources, s)
	return s
}

// Next is the place that the next hook of a tier on an event gets.
func (l *Loader) Next(tier policy.Tier, event policy.Event) int { return l.places[place{tier, event}] }

// Add adds a hook written in in. It sets Tier, Untrusted and Order, and the
// default name of a hook without one; everything else is the caller's.
func (l *Loader) Add(in *File, h *policy.Hook) {
	if l.crowded(in, h) {
		return
	}
	h.Tier, h.Untrusted, h.Disabled = in.Tier, in.Untrusted, h.Disabled || in.Off
	h.Segment = in.Segment
	l.nameOf(in, &h.Name, h.Span)
	if g := h.Group; g != nil {
		l.nameOf(in, &g.Name, g.Span)
	}
	l.added = append(l.added, addedHook{in, h})
	h.Order = l.Next(h.Tier, h.Event)
	l.places[place{h.Tier, h.Event}]++
	if h.Name == "" {
		h.Name = DefaultName(h.Tier, h.Event, h.Order)
	}
	l.policy.Hooks = append(l.policy.Hooks, h)
}

var codeBreaks = diag.Define("HK028", diag.Warning, "name that is not one line")

// nameOf makes a name one that takes one line.
func (l *Loader) nameOf(in *File, name *string, at diag.Span) {
	if one := spell.Name(*name); one != *name {
		l.Report(in, codeBreaks.Report(at, "the name %s holds a control character or a line break", one).WithHint("call it something of one line"))
		*name = one
	}
}

// call notes what an agent's own configuration calls a hook.
func (l *Loader) call(h *policy.Hook, name string) {
	if l.called == nil {
		l.called = map[*policy.Hook]string{}
	}
	l.called[h] = name
}

// callAll gives hooks the names that agents' own configurations have for them. There
// a name replaces no hook, and several may have it: one that another hook of the
// event has gets a number.
func (l *Loader) callAll() {
	if len(l.called) == 0 {
		return
	}
	type taken struct {
		event policy.Event
		name  string
	}
	used := map[taken]bool{}
	for _, h := range l.policy.Hooks {
		if l.called[h] == "" {
			used[taken{h.Event, h.Name}] = true
		}
	}
	for _, h := range l.policy.Hooks {
		name := spell.Name(l.called[h])
		if name == "" {
			continue
		}
		h.Name = name
		for n := 2; used[taken{h.Event, h.Name}]; n++ {
			h.Name = fmt.Sprintf("%s#%d", name, n)
		}
		used[taken{h.Event, h.Name}] = true
	}
}

// DefaultName is the name of the hook at a place that has none of its own.
func DefaultName(tier policy.Tier, event policy.Event, order int) string {
	return fmt.Sprintf("%s/%s#%d", tier, event, order+1)
}

// Set adds what in sets for one event; it fills in the tier. What an
// untrusted file sets is left out: it would change how trusted hooks combine.
func (l *Loader) Set(in *File, s policy.Setting) {
	if in.Untrusted != "" {
		return
	}
	s.Tier = in.Tier
	l.policy.Settings, l.setIn = append(l.policy.Settings, s), append(l.setIn, in)
}

// chosen is a policy-wide default: the most trusted tier that writes it sets
// it, and within a tier the first file.
type chosen[T comparable] struct {
	value T
	tier  policy.Tier
	in    *File
	span  diag.Span
	set   bool
}

// offer considers a value written at span in in and reports the loser when
// two differ: a repository cannot shorten the time a user's guards have.
func (c *chosen[T]) offer(l *Loader, in *File, key string, value T, span diag.Span) {
	winner, loser := *c, chosen[T]{value, in.Tier, in, span, true}
	if !c.set || loser.tier < winner.tier {
		winner, loser = loser, winner
	}
	*c = winner
	if loser.set && winner.value != loser.value {
		l.Report(in, codeDefaultUnused.Report(loser.span, "%s is not used: %s sets it for every event", key, winner.span).
			WithHint("set chain_timeout on the event, or remove it here"))
	}
}

var codeDefaultUnused = diag.Define("HK018", diag.Warning, "default that another file decides")

// finish settles what needs every file.
func (l *Loader) finish(overrides map[string]string) {
	p := &l.policy
	for _, a := range l.added {
		l.found(a.in, a.hook)
	}
	l.settleShared()
	p.ChainTimeout, p.MaxConcurrent, p.MaxModels = l.chainTimeout.value, l.concurrent.value, l.models.value
	p.Severities = l.settleSeverities()
	l.settleLog()
	l.override(overrides)
	if !l.bare.IsZero() && !l.declared && len(p.Hooks) == 0 && !l.diags.HasErrors() {
		l.diags.Add(codeEmpty.Report(l.bare, "the policy has settings and no event").
			WithHint("write an event with its hooks; enabled: false switches the policy off"))
	}
	l.callAll()
	l.profile()
	l.settleRollouts()
	for _, h := range p.Hooks {
		if h.Timeout == 0 && !h.Kind.InProcess() {
			h.Timeout = l.timeouts[h.File]
		}
	}
	for _, s := range l.sources {
		for _, list := range [][]string{s.Uses, s.Folders, s.Globs} {
			for i := range list {
				list[i] = l.live(list[i])
			}
		}
		s.Uses = lists.Distinct(s.Uses)
		p.Sources = append(p.Sources, *s)
	}
}

// profile lays an agent's own rules over what was read.
func (l *Loader) profile() {
	p := &l.policy
	if l.dialect == nil {
		return
	}
	for _, s := range agents {
		if strings.HasPrefix(l.dialect.ID, s.id) {
			p.Hooks = l.settle(s, p.Hooks)
		}
	}
	switch {
	case strings.HasPrefix(l.dialect.ID, "jcli"):
		l.jcliFinish()
	case l.dialect.ID == "agenthooks":
		p.Hooks = l.agentHooksFinish(p.Hooks)
	}
	rules, err := l.dialect.Under(l.faithful)
	if err != nil {
		panic("source: " + err.Error())
	}
	p.Profile = rules
}

// shown is the name of a file for people.
func (l *Loader) shown(path string) string {
	path = l.live(path)
	if rel, err := filepath.Rel(l.dir, path); l.dir != "" && err == nil && filepath.IsLocal(rel) {
		path = rel
	}
	return spell.Line(path)
}

// realPath is path without symbolic links, or path itself when that cannot be
// told.
func realPath(path string) string {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return path
	}
	return real
}

// Absolute is a path as seen from a folder.
func Absolute(dir, path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	if abs, err := filepath.Abs(filepath.Join(dir, path)); err == nil {
		return abs
	}
	return filepath.Join(dir, path)
}
