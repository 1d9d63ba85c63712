package source

import (
	"slices"
	"strings"

	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/callmatch"
	"github.com/hookc/hookc/policy/diag"
	"github.com/hookc/hookc/policy/source/tree"
)

// clawdFile is what one file sets besides its hooks. What it does not set is
// nil.
type clawdFile struct {
	in                *File
	enabled, timeout  *tree.Node
	onTimeout, onFail *tree.Node
	concurrent        *tree.Node
	// events are the lists it holds, by the agent's names of the events.
	events map[string]*tree.Node
	// broken are groups without hooks, at which the agent's own code gives up, each
	// as a hook with its matcher, by event.
	broken map[policy.Event][]*policy.Hook
}

// clawdRoot reads what a file sets and gives the map of its events, or nil for
// a file that the agent ignores.
func clawdRoot(r *settingsReader, hooks *tree.Node) *tree.Node {
	f := &clawdFile{in: r.in, events: map[string]*tree.Node{}, broken: map[policy.Event][]*policy.Hook{}}
	if bad := f.read(r, hooks); bad != nil {
		r.report(*bad)
		return nil
	}
	events := &tree.Node{Shape: tree.Map, Span: hooks.Span}
	for _, e := range hooks.Entries {
		if clawdScalars[e.Key.Text.Value] != nil {
			continue
		}
		events.Entries = append(events.Entries, e)
		if list := f.events[e.Key.Text.Value]; list != nil {
			f.groups(r, e.Key.Text.Value, list)
		}
	}
	if r.in.Untrusted == "" {
		r.l.clawd = append(r.l.clawd, f)
	}
	return events
}

// clawdScalars are the keys beside the events and what they take.
var clawdScalars = map[string]func(n *tree.Node) bool{
	"enabled":            func(n *tree.Node) bool { _, ok := n.Bool(); return ok },
	"defaultTimeout":     isNumber,
	"maxConcurrentHooks": isNumber,
	"timeoutBehavior":    isBehavior,
	"failureBehavior":    isBehavior,
}

func isNumber(n *tree.Node) bool { _, ok := n.Float(); return ok }

var clawdBehaviors = []string{"ignore", "deny", "ask"}

func isBehavior(n *tree.Node) bool {
	return n.IsText() && lists.Has(clawdBehaviors, n.Text.Value)
}

// read checks the hooks of a file as the agent's schema does; a finding means
// that the agent ignores the file whole.
func (f *clawdFile) read(r *settingsReader, hooks *tree.Node) *diag.Diagnostic {
	bad := func(at diag.Span, format string, args ...any) *diag.Diagnostic {
		d := r.l.dropped(at, format, args...).WithHint("ClawdCode ignores the whole file, with no more than a warning")
		return &d
	}
	if hooks.Shape != tree.Map {
		return bad(hooks.Span, "hooks is %s, not a map", hooks.What())
	}
	for _, e := range hooks.Entries {
		name, n := e.Key.Text.Value, e.Value
		if fits := clawdScalars[name]; fits != nil && !fits(n) {
			return bad(n.Span, "%s cannot be %s", name, n.What())
		}
		if _, known := r.dialect.Event(name); known {
			if n.Shape != tree.List {
				return bad(n.Span, "%s is %s, not a list", name, n.What())
			}
			f.events[name] = n
		}
	}
	f.enabled, f.timeout, f.concurrent = hooks.Get("enabled"), hooks.Get("defaultTimeout"), hooks.Get("maxConcurrentHooks")
	f.onTimeout, f.onFail = hooks.Get("timeoutBehavior"), hooks.Get("failureBehavior")
	return nil
}

// groups looks for groups that make the agent forget the event, and for
// events that never fire.
func (f *clawdFile) groups(r *settingsReader, native string, list *tree.Node) {
	event, _ := r.dialect.Event(native)
	if r.dialect.At(native).Never && len(list.Items) > 0 {
		r.report(codeNeverFires.Report(list.Span, "ClawdCode never fires %s: these hooks never run", native))
	}
	for _, g := range list.Items {
		if hooks := g.Get("hooks"); g.Shape == tree.Map && hooks != nil && hooks.Shape == tree.List {
			continue
		}
		conditions, ok := clawdMatcher(r, event, native, g)
		if ok {
			f.broken[event] = append(f.broken[event], &policy.Hook{Filter: policy.Filter{Conditions: conditions}})
		}
	}
}

// clawdMatcher: of tools, paths and commands all that are written must match;
// one about a value that the event does not carry matches.
func clawdMatcher(r *settingsReader, event policy.Event, native string, group *tree.Node) ([]policy.Condition, bool) {
	var out []policy.Condition
	if event == policy.PreToolExecution {
		out = append(out, clawdPlan)
	}
	m := group.Get("matcher")
	if group.Shape != tree.Map || m == nil || m.Shape != tree.Map {
		return out, true
	}
	tool := event.Spec().CanRead(policy.FieldToolName)
	for _, e := range m.Entries {
		name, n := e.Key.Text.Value, e.Value
		read := clawdConditions[name]
		switch {
		case read == nil:
			r.report(codeUnread.Report(e.Key.Span, "ClawdCode knows no %q in a matcher", name).WithHint("keys: tools, paths, commands"))
		case !n.IsText():
			r.report(codeNative.Report(n.Span, "%s is text; this is %s: its hooks never run", name, n.What()))
			return nil, false
		case n.Text.Value == "":
		case !tool:
			r.report(codeNative.Report(n.Span, "a matcher has no effect on %s: these hooks always run", native))
		default:
			out = append(out, read(r, n.Text))
		}
	}
	return out, true
}

var clawdConditions = map[string]func(r *settingsReader, t diag.Text) policy.Condition{
	"tools": clawdTools,
	"paths": func(_ *settingsReader, t diag.Text) policy.Condition {
		return policy.Condition{Key: policy.FilterPaths, Value: t, Atom: callmatch.Paths(t.Value)}
	},
	"commands": func(r *settingsReader, t diag.Text) policy.Condition {
		atom, err := callmatch.Commands(t.Value)
		if err != nil {
			r.literal(t, err)
			return policy.Condition{Key: policy.FilterNative, Value: t, Atom: atom}
		}
		return policy.Condition{Key: policy.FilterCommands, Value: t, Atom: atom}
	},
}

// clawdPlan is true outside plan mode, in which no hook of a call runs.
var clawdPlan = policy.Condition{Key: policy.FilterNative, Value: diag.Text{Value: "not in plan mode"}, Atom: &policy.Atom{
	Op: policy.AtomMatch, Field: policy.FieldEvent, Values: []string{"not in plan mode"}, Reads: []policy.Field{policy.FieldPermissionMode},
	Test: func(c *policy.Context) bool { return c.Text(policy.FieldPermissionMode) != "plan" },
}}

func clawdTools(r *settingsReader, t diag.Text) policy.Condition {
	match, names, err := callmatch.Text(t.Value)
	if err != nil {
		r.literal(t, err)
	}
	open := strings.Contains(t.Value, "mcp__") || match("mcp__server__tool")
	if !open && t.Value != "*" && !slices.ContainsFunc(r.dialect.Profile.Tools, match) {
		r.report(codeMatcher.Report(t.Span, "%q matches no tool of ClawdCode: its hooks never run", t.Value).WithHint("%s", r.instead(t.Value)))
	}
	if names != nil {
		return nativeNames(t, policy.FieldToolName, names...)
	}
	return nativeTest(t, policy.FieldToolName, match)
}

// literal says that a pattern is a value itself.
func (r *settingsReader) literal(t diag.Text, err error) {
	r.report(codeLiteral.Report(t.Span, "%q is no regular expression (%v): it matches what is called so, and nothing else", t.Value, err).
		WithHint("leave it out to match everything, or write .*"))
}

// clawdHook notes which file a hook is of.
func clawdHook(r *settingsReader, _ string, _, _ *tree.Node, h *policy.Hook) bool {
	if r.in.Untrusted == "" {
		if r.l.clawdHooks == nil {
			r.l.clawdHooks = map[*policy.Hook]int{}
		}
		r.l.clawdHooks[h] = len(r.l.clawd) - 1
	}
	return true
}
