package builtins

import (
	"context"
	"fmt"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/hookc/hookc/builtins/rule"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
)

var toolListRule = rule.Rule{
	Name: "tool-list",
	Doc:  "decides by the tool's name: the most restrictive list that names it wins, otherwise decides for a tool no list names",
	Options: []rule.OptionSpec{
		{Name: "deny", Texts: true, Doc: "globs of tools to deny"},
		{Name: "ask", Texts: true, Doc: "globs of tools to ask about"},
		{Name: "allow", Texts: true, Doc: "globs of tools to allow"},
		{Name: "otherwise", Type: policy.StringType, Doc: "allow, ask or deny what no list names; not written: no opinion"},
	},
	New: newToolList,
}

// toolList holds the lists, the most restrictive first.
type toolList struct {
	entries   []toolEntry
	otherwise policy.Verdict
	by        policy.By
}

type toolEntry struct {
	verdict policy.Verdict
	globs   []string
}

func newToolList(h *policy.Hook, opts rule.Options) (rule.Made, diag.List) {
	var found diag.List
	list := &toolList{by: policy.By{Name: h.Name, At: h.Span}}
	var may policy.Powers
	add := func(v policy.Verdict) {
		power, _ := policy.ParsePower(v.String())
		may |= power
	}
	for _, v := range []policy.Verdict{policy.Deny, policy.Ask, policy.Allow} {
		globs := opts.Texts(v.String())
		for _, g := range globs {
			if !doublestar.ValidatePattern(g) {
				found.Add(rule.CodeOptionValue.Report(rule.OptionSpan(opts[v.String()]), "%q is not a glob", g))
			}
		}
		if len(globs) > 0 {
			list.entries = append(list.entries, toolEntry{v, globs})
			add(v)
		}
	}
	if opt, ok := opts["otherwise"]; ok {
		v, known := policy.ParseVerdict(opts.Text("otherwise"))
		if !known || v == policy.None || v == policy.Defer {
			found.Add(rule.CodeOptionValue.Report(rule.OptionSpan(opt), "otherwise must be allow, ask or deny, not %q", opts.Text("otherwise")))
		}
		list.otherwise = v
		add(v)
	}
	if may == 0 && !found.HasErrors() {
		found.Add(rule.CodeOptionMissing.Report(rule.UseSpan(h), "tool-list needs at least one of deny, ask, allow and otherwise"))
	}
	if !h.Event.Spec().CanRead(policy.FieldToolName) {
		found.Add(rule.CodeOptionEvent.Report(rule.UseSpan(h), "%s carries no tool_name", h.Event))
	}
	return rule.Made{
		Runner: list,
		Effects: policy.Effects{Reads: policy.FieldPaths(policy.FieldToolName), May: may,
			World: policy.WorldNone, Spec: true},
	}, found
}

// Run decides by the tool's name. A call without one is judged by otherwise.
func (l *toolList) Run(_ context.Context, in *policy.Context, _ int) (policy.Result, error) {
	tool := in.Text(policy.FieldToolName)
	for _, e := range l.entries {
		for _, g := range e.globs {
			if doublestar.MatchUnvalidated(g, tool) {
				return l.says(e.verdict, fmt.Sprintf("the tool %q is on the %s list (%s)", tool, e.verdict, g)), nil
			}
		}
	}
	if l.otherwise == policy.None {
		return policy.Result{}, nil
	}
	return l.says(l.otherwise, fmt.Sprintf("the tool %q is on no list", tool)), nil
}

func (l *toolList) says(v policy.Verdict, reason string) policy.Result {
	return policy.Result{Verdict: v, VerdictBy: l.by, Reasons: []policy.Reason{{Text: reason, At: l.by.At}}}
}
