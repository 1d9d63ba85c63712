package compiler

import (
	"errors"
	"strings"

	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/agent"
	"github.com/hookc/hookc/policy/callmatch"
	"github.com/hookc/hookc/policy/diag"
	"github.com/hookc/hookc/policy/pattern"
)

// filters compiles the conditions of each hook to atoms (semantics.md §4.3
// P4, §2.7). All must hold; an absent field never matches.
func filters(u *unit) {
	for _, plan := range u.plans {
		for i := range plan.Nodes {
			n := &plan.Nodes[i]
			m := u.bodies[n.Hook]
			if m.matcher == nil || m.spec != plan.Spec {
				at := *m // what another program has stays as it is
				at.spec = plan.Spec
				at.matcher, at.wrong = matcher(plan.Spec, n.Hook)
				u.bodies[n.Hook], m = &at, &at
			}
			u.reportAll(n.Hook, m.wrong)
			n.Matcher = m.matcher
		}
	}
}

// matcher compiles a hook's filter.
func matcher(spec *policy.EventSpec, h *policy.Hook) (*policy.Matcher, diag.List) {
	a := agent.Speaks(h.Body.Protocol)
	chosen := a != nil && h.Body.Agent.Event != "" && a.ChoosesFirst()
	m, wrong := &policy.Matcher{AsSent: chosen, OrNow: !h.Body.Agent.Emulate}, diag.List(nil)
	for c := range effective(&h.Filter) {
		atom, problem := atomOf(spec, &h.Filter, c)
		if problem != nil {
			wrong.Add(*problem)
			continue
		}
		m.Atoms = append(m.Atoms, atom)
	}
	return m, wrong
}

// effective yields the conditions of a filter that become atoms.
func effective(f *policy.Filter) func(func(*policy.Condition) bool) {
	_, named := f.Get(policy.FilterToolName)
	return func(yield func(*policy.Condition) bool) {
		for i := range f.Conditions {
			c := &f.Conditions[i]
			if c.Key == policy.FilterToolMatcher && named || c.Key == policy.FilterMissing {
				continue // tool_name wins (seed 0); missing is about the others
			}
			if !yield(c) {
				return
			}
		}
	}
}

// atomOf compiles one condition of a filter.
func atomOf(spec *policy.EventSpec, f *policy.Filter, c *policy.Condition) (policy.Atom, *diag.Diagnostic) {
	if c.Key == policy.FilterNative {
		atom := *c.Atom
		atom.Key, atom.Origin = c.Key, c.Value.Span
		return atom, nil
	}
	compile := conditions[c.Key]
	if compile == nil {
		panic("compiler: pass filters: no condition is called " + string(c.Key))
	}
	atom, problem := compile(c.Value)
	if problem != nil {
		return atom, problem
	}
	atom.Key, atom.Origin = c.Key, c.Value.Span
	if !spec.CanRead(atom.Field) {
		atom.Test = func(*policy.Context) bool { return false } // whatever a host sends beyond the event's row
	}
	if missing, _ := f.Get(policy.FilterMissing); missing.Value != "" && missing.Value != "fail" {
		atom = orMissing(atom, missing.Value)
	}
	return atom, nil
}

// orMissing is an atom that holds too where its field is absent or, as how
// says, empty. The analyses cannot look into it.
func orMissing(a policy.Atom, how string) policy.Atom {
	test, f := a.Test, a.Field
	a.Op, a.Literals, a.Values = policy.AtomMatch, policy.Literals{}, append([]string{strings.Join(a.Values, "|"), how}, a.Values...)
	a.Test = func(c *policy.Context) bool {
		v, ok := c.Get(f)
		return !ok || how == "match-empty" && v == "" || test(c)
	}
	return a
}

type condition func(value diag.Text) (policy.Atom, *diag.Diagnostic)

// conditions has one entry for each key of a filter.
var conditions = map[policy.FilterKey]condition{
	policy.FilterToolName:       exactly(policy.FieldToolName),
	policy.FilterToolMatcher:    oneOf(policy.FieldToolName),
	policy.FilterToolKind:       toolKind,
	policy.FilterSource:         oneOf(policy.FieldSource),
	policy.FilterReason:         oneOf(policy.FieldReason),
	policy.FilterTrigger:        oneOf(policy.FieldTrigger),
	policy.FilterNotification:   oneOf(policy.FieldNotificationType),
	policy.FilterAgent:          oneOf(policy.FieldAgentType),
	policy.FilterPermissionMode: oneOf(policy.FieldPermissionMode),
	policy.FilterNotMode:        noneOf(policy.FieldPermissionMode),
	policy.FilterModelPrefix:    modelPrefix,
	policy.FilterCommand:        search(policy.FieldCommand, textOf(policy.FieldCommand)),
	policy.FilterToolRegexp:     search(policy.FieldToolName, textOf(policy.FieldToolName)),
	policy.FilterPattern:        search(policy.FieldToolInput, callmatch.Leaf),
	policy.FilterLeafPattern:    search(policy.FieldToolInput, callmatch.LeafOrWhole),
	policy.FilterPath:           pathGlob,
	policy.FilterPaths:          func(v diag.Text) (policy.Atom, *diag.Diagnostic) { return *callmatch.Paths(v.Value), nil },
	policy.FilterCommands:       commands,
}

func exactly(f policy.Field) condition {
	return func(v diag.Text) (policy.Atom, *diag.Diagnostic) { return in(f, v.Value), nil }
}

// oneOf reads a list `A|B`; blanks around a name do not count.
//
//go:noinline
func oneOf(f policy.Field) condition {
	return func(v diag.Text) (policy.Atom, *diag.Diagnostic) { return in(f, list(v.Value)...), nil }
}

func list(text string) []string {
	var out []string
	for _, part := range strings.Split(text, "|") {
		if part = strings.TrimSpace(part); part != "" {
			out = append(out, part)
		}
	}
	return out
}

// noneOf is true where the field is absent, too.
func noneOf(f policy.Field) condition {
	return func(v diag.Text) (policy.Atom, *diag.Diagnostic) {
		a := in(f, list(v.Value)...)
		listed := a.Test
		a.Op, a.Test = policy.AtomMatch, func(c *policy.Context) bool { return !listed(c) }
		return a, nil
	}
}

//go:noinline
func in(f policy.Field, values ...string) policy.Atom {
	return policy.Atom{Op: policy.AtomIn, Field: f, Values: values, Reads: []policy.Field{f}, Test: func(c *policy.Context) bool {
		v, ok := c.Get(f)
		s, isText := v.(string)
		if !ok || !isText {
			return false
		}
		for _, want := range values {
			if s == want {
				return true
			}
		}
		return false
	}}
}

func commands(v diag.Text) (policy.Atom, *diag.Diagnostic) {
	atom, err := callmatch.Commands(v.Value)
	if err != nil {
		return policy.Atom{}, patternProblem(codeRegexp, v, err)
	}
	return *atom, nil
}

func modelPrefix(v diag.Text) (policy.Atom, *diag.Diagnostic) {
	const f = policy.FieldModel
	return policy.Atom{Op: policy.AtomPrefix, Field: f, Values: []string{v.Value}, Reads: []policy.Field{f}, Test: func(c *policy.Context) bool {
		return c.Has(f) && strings.HasPrefix(c.Text(f), v.Value)
	}}, nil
}

// toolKinds are the values of tool_kind (semantics.md §1.3).
var toolKinds = []string{"shell", "read", "write", "edit", "search", "fetch", "agent", "mcp", "other"}

var codeToolKind = diag.Define("HK122", diag.Error, "unknown kind of tool")

func toolKind(v diag.Text) (policy.Atom, *diag.Diagnostic) {
	kinds := list(v.Value)
	for _, k := range kinds {
		if !contains(toolKinds, k) {
			at := strings.Index(v.Value, k)
			d := codeToolKind.Report(v.At(at, at+len(k)), "no kind of tool is called %q", k).
				WithHint("%s", diag.DidYouMean(k, toolKinds, "kinds are "+strings.Join(toolKinds, ", ")+"; a tool's own name goes to tool_name"))
			return policy.Atom{}, &d
		}
	}
	return in(policy.FieldToolKind, kinds...), nil
}

func contains(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}

var codeRegexp = diag.Define("HK125", diag.Error, "regular expression cannot be used")

// search makes an unanchored regular expression that test asks about a
// context. Canonical files are RE2, and what a reader leaves to it; a reader of a
// dialect with a flavour of its own brings its atoms.
//
//go:noinline
func search(f policy.Field, test func(*policy.Context, *pattern.Pattern) bool) condition {
	return func(v diag.Text) (policy.Atom, *diag.Diagnostic) {
		p, err := pattern.RE2.Compile(v.Value)
		if err != nil {
			return policy.Atom{}, patternProblem(codeRegexp, v, err)
		}
		atom := policy.Atom{Op: policy.AtomMatch, Field: f, Values: []string{v.Value}, Reads: []policy.Field{f},
			Test: func(c *policy.Context) bool { return test(c, p) }}
		if f == policy.FieldToolName {
			atom.Literals = p.Literals()
		}
		return atom, nil
	}
}

func patternProblem(code *diag.Code, v diag.Text, err error) *diag.Diagnostic {
	span := v.Span
	var bad *pattern.Error
	hint := ""
	if errors.As(err, &bad) {
		span, hint = v.At(bad.Start, bad.End), bad.Hint
	}
	d := code.Report(span, "%q: %s", v.Value, err)
	d.Hint = hint
	return &d
}

func textOf(f policy.Field) func(*policy.Context, *pattern.Pattern) bool {
	return func(c *policy.Context, p *pattern.Pattern) bool {
		v, ok := c.Get(f)
		s, isText := v.(string)
		return ok && isText && p.Match(s)
	}
}
