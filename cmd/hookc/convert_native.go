package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/internal/lazy"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/agent"
	"github.com/hookc/hookc/policy/diag"
)

// strategy is the name of what a plan does in a hooks.yaml: a canonical one
// that is the same, or the agent's.
func (v *conversion) strategy(p *policy.Profile, plan *dag.Plan) policy.Strategy {
	spec := plan.Strategy
	for _, name := range policy.StrategyNames() {
		if s, _ := policy.ParseStrategy(name); sameStrategy(spec, s.Spec()) {
			return s
		}
	}
	own, err := agent.FindProfile(p.Name)
	if err != nil {
		panic("hookc: " + err.Error())
	}
	rules, err := own.Under(false)
	if err != nil {
		panic("hookc: " + err.Error())
	}
	if s := rules.Strategies[plan.Event]; s != nil && s.Strategy == spec.Strategy && s.Snapshot == spec.Snapshot && s.Halt == spec.Halt && s.Fold == spec.Fold {
		return policy.Strategy(p.Name)
	}
	nearest := policy.Chain
	if spec.Snapshot {
		nearest = policy.Parallel
	}
	v.lost(plan.Event, plan.Nodes[0].Hook.Span, "%s: how %s combines the answers has no name in a hooks.yaml (%s); %s is the nearest", plan.Event, p.Name, spec.Doc, nearest)
	return nearest
}

// sameStrategy reports whether two strategies are one by what they do.
func sameStrategy(a, b *policy.StrategySpec) bool {
	own := &a.Rules
	return own.Row == nil && own.Conclude == nil && own.Supersede == nil && a.Snapshot == b.Snapshot && a.Halt == b.Halt && a.Fold == b.Fold &&
		(a.Strategy == b.Strategy || b.Fold != policy.FoldNone)
}

// listKeys are the keys of a filter that list the values of a field.
var listKeys = map[policy.Field]policy.FilterKey{
	policy.FieldToolName: policy.FilterToolMatcher, policy.FieldSource: policy.FilterSource, policy.FieldReason: policy.FilterReason,
	policy.FieldTrigger: policy.FilterTrigger, policy.FieldNotificationType: policy.FilterNotification,
	policy.FieldAgentType: policy.FilterAgent, policy.FieldPermissionMode: policy.FilterPermissionMode,
}

// canonical is a filter in an agent's own words as a hooks.yaml has it, and
// what to say about that. A condition that cannot be told is left as it is,
// for the printer to report.
func canonical(f policy.Filter) (policy.Filter, []string) {
	out := policy.Filter{Span: f.Span}
	var notes []string
	var missing []string
	for _, c := range f.Conditions {
		said, absent, note := c, "", ""
		if c.Key == policy.FilterNative {
			said, absent, note = canonicalCondition(c)
		}
		// missing is said of all conditions or of none.
		counts := !lists.Among(ownAbsence, said.Key)
		if len(missing) > 0 && missing[0] != absent && counts {
			said, note, counts = c, "", false
		}
		if counts {
			missing = append(missing, absent)
		}
		if absent != "" && note != "" {
			note += ", or none at all"
		}
		if note != "" {
			notes = append(notes, note)
		}
		out.Conditions = append(out.Conditions, said)
	}
	if len(missing) > 0 && missing[0] != "" {
		out.Conditions = append(out.Conditions, policy.Condition{Key: policy.FilterMissing, Value: diag.Literal(missing[0])})
	}
	return out, notes
}

// ownAbsence are the conditions that say themselves what they make of a value that is
// not there.
var ownAbsence = []policy.FilterKey{policy.FilterNative, policy.FilterNotMode, policy.FilterPaths, policy.FilterCommands}

// canonicalCondition is one condition: the first way of writing it that agrees
// with the agent's own test on all that is near what it compares with. missing
// is what it makes of a field that is not there; without a note there is none.
func canonicalCondition(c policy.Condition) (out policy.Condition, missing, note string) {
	a := c.Atom
	as := func(key policy.FilterKey, text string) policy.Condition {
		return policy.Condition{Key: key, Value: diag.NewText(text, c.Value.Span, nil)}
	}
	if modes := refusedModes(a); len(modes) > 0 {
		return as(policy.FilterNotMode, strings.Join(modes, "|")), "", fmt.Sprintf("matcher %q", c.Value.Value)
	}
	names := a.Values
	if a.Op != policy.AtomIn {
		names = []string{strings.TrimSpace(c.Value.Value)}
	}
	if missing, ok := agrees(a, func(s string) bool { return lists.Has(names, s) }); ok && listKeys[a.Field] != "" {
		switch {
		case !slices.ContainsFunc(names, unlistable):
			return as(listKeys[a.Field], strings.Join(names, "|")), missing, fmt.Sprintf("matcher %q: exactly that", c.Value.Value)
		case a.Field == policy.FieldToolName && len(names) == 1 && names[0] != "":
			return as(policy.FilterToolName, names[0]), missing, fmt.Sprintf("matcher %q: exactly that", c.Value.Value)
		}
	}
	if a.Field != policy.FieldToolName || a.Op != policy.AtomMatch {
		return c, "", ""
	}
	text := strings.TrimSpace(c.Value.Value)
	for _, try := range []struct{ pattern, note string }{
		{text, "matcher %q: found anywhere in the tool's name"},
		{"^(?:" + text + ")$", "matcher %q: the tool's whole name"},
	} {
		re, err := regexp.Compile(try.pattern)
		if err != nil || !portable().MatchString(try.pattern) {
			continue
		}
		if missing, ok := agrees(a, re.MatchString); ok {
			return as(policy.FilterToolRegexp, try.pattern), missing, fmt.Sprintf(try.note, c.Value.Value)
		}
	}
	return c, "", ""
}

// modes are the permission modes that agents have.
var modes = []string{"default", "plan", "acceptEdits", "auto_edit", "auto", "autoEdit", "dontAsk", "bypassPermissions", "yolo", "manual"}

// refusedModes are the permission modes in which an atom does not hold, when it
// looks at nothing else and holds in every other and in none.
func refusedModes(a *policy.Atom) []string {
	if !lists.Equal(a.Reads, []policy.Field{policy.FieldPermissionMode}) || a.Op == policy.AtomIn {
		return nil
	}
	holds := func(mode string) bool {
		return a.Test(policy.NewContext(policy.PreToolExecution).Set(policy.FieldPermissionMode, mode))
	}
	if !a.Test(policy.NewContext(policy.PreToolExecution)) || !holds("") || !holds("another") {
		return nil
	}
	return lists.DeleteFunc(lists.Copy(modes), holds)
}

// unlistable reports whether a name cannot stand in a list `A|B`.
func unlistable(name string) bool {
	return name == "" || name != strings.TrimSpace(name) || strings.Contains(name, "|")
}

// portable is what the agents' regular expressions and RE2 read alike: no
// look-around, backreferences, classes or escapes that mean more in one.
var portable = lazy.Value(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:[^\\()\[]|\[[^\\\[\]]+\]|\(\?:|\((?:[^?]|$)|\)|\\[dwDWbB.\-+*?^$|()\[\]{}/\\])*$`)
})

// agrees reports whether an atom tests one text field as test does, and what
// it makes of one that is missing.
func agrees(a *policy.Atom, test func(string) bool) (missing string, ok bool) {
	if len(a.Reads) != 1 || a.Reads[0] != a.Field {
		return "", false
	}
	with := func(s string) bool {
		return a.Test(policy.NewContext(policy.PreToolExecution).Set(a.Field, s))
	}
	switch absent, empty := a.Test(policy.NewContext(policy.PreToolExecution)), with(""); {
	case absent && empty == test(""):
		missing = "match"
	case absent && empty:
		missing = "match-empty"
	case absent || empty != test(""):
		return "", false
	}
	for _, v := range a.Values {
		for _, name := range namesNear(v) {
			if name != "" && with(name) != test(name) {
				return "", false
			}
		}
	}
	return missing, true
}

var wordIn = lazy.Value(func() *regexp.Regexp { return regexp.MustCompile(`[A-Za-z0-9_.-]+`) })

// namesNear are names that a pattern could match, or nearly.
func namesNear(pattern string) []string {
	out := []string{"Bash", "Read", "Write", "Edit", "WebFetch", "Task", "read_file", "write_file", "run_shell_command", "mcp__github__create_issue", "mcp_a_b"}
	for _, w := range append(wordIn().FindAllString(pattern, -1), strings.Split(strings.Trim(pattern, "^$()"), "|")...) {
		out = append(out, w, "x"+w, w+"x", "x"+w+"x", strings.ToLower(w), strings.ToUpper(w), w+"_"+w, strings.ReplaceAll(w, ".", "_"), strings.ReplaceAll(w, ".*", "_any_"))
	}
	return out
}
