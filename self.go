package hookc

import (
	"math"
	"path/filepath"
	"slices"

	"github.com/hookc/hookc/builtins/guard"
	"github.com/hookc/hookc/internal/approval"
	"github.com/hookc/hookc/internal/lazy"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/internal/protected"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/source"
	"github.com/hookc/hookc/policy/state"
	"github.com/hookc/hookc/policy/trust"
)

// A policy that an agent can edit is no policy. So every policy with a managed
// or locked hook or approvals, and every one that uses path-guard or shell-guard, gets one
// more guard (docs/guards.md, "hookc guards itself"). It is locked and shows in
// explain like any other hook.

// SelfHook is the name of that guard.
const SelfHook = "hookc-self"

// Own reports whether a hook is the guard of hookc itself, which nobody wrote.
//
//go:noinline
func Own(h *policy.Hook) bool { return h.Name == SelfHook && h.Body.Use.Value == guard.SelfGuard }

// selfForm is one form of that guard.
type selfForm struct {
	verdict string
	// first is true where a hook after the one that decides does not count.
	first bool
}

var selfForms = map[selfForm]func() *policy.Hook{}

func init() {
	for _, verdict := range []string{"ask", "deny"} {
		for _, first := range []bool{false, true} {
			f := selfForm{verdict, first}
			selfForms[f] = lazy.Value(f.hook)
		}
	}
}

// hook is the guard, as if it were written in a file of hookc's own. It comes
// after the policy's hooks: it then sees what they made of the call, and what
// they say is told first. Asking git takes a process, so it has more time than
// rules have.
func (f selfForm) hook() *policy.Hook {
	tier, recheck := policy.TierLocal, "false"
	if f.first {
		tier, recheck = policy.TierBuiltin, "true"
	}
	p, found := source.Load(source.Options{Inputs: []source.Input{{Path: "hookc", Tier: tier, Format: "hooksyaml", Content: []byte(
		"pre_tool_execution:\n  - {name: " + SelfHook + ", type: builtin, use: " + guard.SelfGuard + ", verdict: " + f.verdict + ", locked: true, timeout: 5, recheck: " + recheck + "}\n")}}})
	if found.HasErrors() || len(p.Hooks) != 1 {
		panic("hookc: its own guard does not load: " + found.Render())
	}
	h := p.Hooks[0]
	if h.Priority = math.MaxInt32; !f.first {
		h.Priority = math.MinInt32
	}
	return h
}

// guarded is a policy with the guard of hookc itself, where it wants one.
func (c *config) guarded(p *policy.Policy) *policy.Policy {
	hook := selfGuardOf(p)
	if hook == nil || c.compile.Event != "" && c.compile.Event != hook.Event || c.profile != nil && c.faithful {
		return p
	}
	c.protect(p.Sources, len(p.Approvals) > 0)
	if slices.ContainsFunc(p.Hooks, Own) {
		return p
	}
	out := *p
	out.Hooks = append(slices.Clip(p.Hooks), hook)
	return &out
}

// selfGuardOf is the guard that a policy wants: one that denies where a hook in
// force is managed or locked, one that asks where a guard of files or commands
// is, or nil.
func selfGuardOf(p *policy.Policy) *policy.Hook {
	form := selfForm{first: decidesEarly(p)}
	for _, h := range p.Hooks {
		switch {
		case h.Off || h.Disabled || h.Untrusted != "" || h.Tier == policy.TierSession || h.Name == SelfHook:
		case h.Locked || h.Tier == policy.TierManaged:
			form.verdict = "deny"
		case form.verdict == "" && h.Kind == policy.KindBuiltin && (h.Body.Use.Value == "path-guard" || h.Body.Use.Value == "shell-guard"):
			form.verdict = "ask"
		}
	}
	if len(p.Approvals) > 0 { // an agent must not grant what it asks for
		form.verdict = "deny"
	}
	if form.verdict == "" {
		return nil
	}
	return selfForms[form]()
}

// decidesEarly reports whether a verdict ends the chain before the last hook.
func decidesEarly(p *policy.Policy) bool {
	early := func(s policy.Strategy) bool { return s == "first" || s == "decisive" }
	if p.Profile != nil {
		if spec := p.Profile.Strategies[policy.PreToolExecution]; spec != nil && early(spec.Strategy) {
			return true
		}
	}
	return slices.ContainsFunc(p.Settings, func(s policy.Setting) bool { return s.Event == policy.PreToolExecution && early(s.Strategy) })
}

// protect lists what hookc and a policy consist of on this machine.
func (c *config) protect(sources []policy.SourceFile, approvals bool) {
	dir := c.discover
	if dir == "" {
		dir = c.dir
	}
	dir = absolutePath(dir)
	root := policy.ProjectRoot(dir)
	var files []string
	for i := range sources {
		if s := &sources[i]; s.Untrusted == "" {
			files = append(append(append(files, s.Path), s.Uses...), foldersBelow(root, s.Folders)...)
		}
	}
	if c.artifact.path != "" {
		files = append(files, absolutePath(c.artifact.path))
	}
	all := append([]string{dir}, c.around...)
	o := source.DiscoverOptions{Dir: dir, User: c.user, Profile: c.profile, Roots: trust.Projects(all...)}
	files = append(files, protected.Places(o, started(all, o.Roots)...)...)
	var secrets []string
	if home, err := state.Home(); err == nil && approvals {
		secrets = approval.Open(home).Secrets()
	}
	c.self.Set(protected.WithTargets(files), protected.WithTargets(protected.Programs()), protected.WithTargets(secrets)...)
}

// started are the folders in which an agent of an event may have been started: those that the
// event is about, those above up to the outermost of the projects roots, and roots.
func started(dirs, roots []string) []string {
	out := lists.Copy(roots)
	for _, dir := range dirs {
		for _, root := range append([]string{policy.ProjectRoot(dir)}, roots...) {
			for at := dir; below(root, at); at = filepath.Dir(at) {
				if out = append(out, at); at == root {
					break
				}
			}
		}
	}
	return lists.Distinct(out)
}

// below reports whether a path is dir or lies below it.
func below(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}

// foldersBelow are the folders of a policy's globs that are not the project as a
// whole: a further file in them may be one of the policy's.
func foldersBelow(root string, folders []string) []string {
	return lists.DeleteFunc(lists.Copy(folders), func(f string) bool { return below(f, root) })
}
