package rego

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
)

// answer collects what the entry points of one evaluation say.
type answer struct {
	m      *Module
	ctx    context.Context
	input  *ast.Term
	steps  *stepBudget
	result policy.Result
}

// said is one thing an entry point says: a text, and the value that says it.
type said struct {
	text  string
	value ast.Value
}

// add takes the value of an entry point; the entry points come in the order
// of the contract, and verdicts are combined by their restrictiveness.
func (a *answer) add(e *entry, value ast.Value) error {
	switch e.part {
	case partPatch:
		return a.patch(e, value)
	case partResult:
		return a.whole(e, value)
	}
	list, ok := e.say(value)
	if !ok {
		return a.fail(e, value, "%s must be %s, and is %s", e.name, e.part.wants(), describe(value))
	}
	if len(list) == 0 {
		return nil
	}
	switch e.part {
	case partContext:
		a.result.Context = appendTexts(a.result.Context, list)
	case partMessage:
		a.result.System = appendTexts(a.result.System, list)
	case partFeedback:
		a.result.Feedback = appendTexts(a.result.Feedback, list)
	default:
		a.decide(e, value, list)
	}
	return nil
}

func appendTexts(to []string, list []said) []string {
	for _, s := range list {
		if s.text != "" {
			to = append(to, s.text)
		}
	}
	return to
}

// decide adds a verdict or a control and its reasons, each with the line of
// the rule that gave it.
func (a *answer) decide(e *entry, value ast.Value, list []said) {
	spans := a.m.lines(a.ctx, a.steps, e, a.input, value, list)
	by := policy.By{Name: a.m.name, At: spans[0]}
	switch {
	case e.powers&(policy.MaySkip|policy.MayStop) != 0:
		control := policy.Skip
		if e.part == partStop {
			control = policy.Stop
		}
		a.result.Control, a.result.ControlBy = max(a.result.Control, control), by
	default:
		verdict := map[part]policy.Verdict{partDeny: policy.Deny, partAsk: policy.Ask, partAllow: policy.Allow}[e.part]
		if verdict > a.result.Verdict {
			a.result.Verdict, a.result.VerdictBy = verdict, by
		}
	}
	for i, s := range list {
		if s.text != "" {
			a.result.Reasons = append(a.result.Reasons, policy.Reason{Text: s.text, At: spans[i]})
		}
	}
}

// say reads a value: false says nothing, true something without a text. The
// members of a set are in the order of their texts, those of a list in their
// own.
func (e *entry) say(value ast.Value) ([]said, bool) {
	var members []*ast.Term
	switch v := value.(type) {
	case ast.Boolean:
		if !e.part.verdict() {
			return nil, false
		}
		if !v {
			return nil, true
		}
		return []said{{value: v}}, true
	case ast.Set:
		members = v.Slice()
	case *ast.Array:
		v.Foreach(func(t *ast.Term) { members = append(members, t) })
	default:
		s, ok := saying(value)
		return []said{s}, ok
	}
	list := make([]said, 0, len(members))
	for _, t := range members {
		s, ok := saying(t.Value)
		if !ok {
			return nil, false
		}
		list = append(list, s)
	}
	if _, set := value.(ast.Set); set {
		slices.SortStableFunc(list, func(x, y said) int { return strings.Compare(x.text, y.text) })
	}
	return slices.CompactFunc(list, func(x, y said) bool { return x.text == y.text }), true
}

// textKeys are the keys of an object that hold its text: hookc's and
// conftest's.
var textKeys = []*ast.Term{ast.StringTerm("reason"), ast.StringTerm("msg")}

// saying reads a string or an object with a reason or msg.
func saying(v ast.Value) (said, bool) {
	switch x := v.(type) {
	case ast.String:
		return said{string(x), v}, true
	case ast.Object:
		for _, key := range textKeys {
			if t := x.Get(key); t != nil {
				s, ok := t.Value.(ast.String)
				return said{string(s), v}, ok
			}
		}
	}
	return said{}, false
}

// describe names the type of a value, of a collection with a wrong member the
// member's.
func describe(v ast.Value) string {
	var members []*ast.Term
	switch x := v.(type) {
	case ast.Set:
		members = x.Slice()
	case *ast.Array:
		x.Foreach(func(t *ast.Term) { members = append(members, t) })
	case ast.Object:
		if _, ok := saying(x); !ok {
			return "an object without a reason"
		}
	}
	for _, t := range members {
		if _, ok := saying(t.Value); !ok {
			return article(v) + " that holds " + article(t.Value)
		}
	}
	return article(v)
}

func article(v ast.Value) string {
	name := ast.ValueName(v)
	if strings.ContainsRune("aeiou", rune(name[0])) {
		return "an " + name
	}
	return "a " + name
}

// fail is the failure of an entry point whose value cannot be used.
func (a *answer) fail(e *entry, value ast.Value, format string, args ...any) error {
	failure := policy.Failf(policy.ErrParse, format, args...)
	failure.At = a.line(e, value)
	return failure
}

// line is where the rule that gave a complete value is written.
func (a *answer) line(e *entry, value ast.Value) diag.Span {
	return a.m.lines(a.ctx, a.steps, e, a.input, value, []said{{value: value}})[0]
}

// patchable are the keys of a patch: the fields some event lets a hook change,
// and the other name of tool_input.
var patchable = func() map[string]bool {
	keys := map[string]bool{policy.FieldToolArguments.String(): true}
	for _, e := range policy.Events() {
		for _, f := range e.Spec().Writes {
			keys[f.String()] = true
		}
	}
	return keys
}()

// patch takes `patch`: objects merge into tool_input and request_config, other
// fields are replaced (semantics.md §2.6).
func (a *answer) patch(e *entry, value ast.Value) error {
	fields, ok := toJSON(value).(map[string]any)
	if _, object := value.(ast.Object); !ok || !object {
		return a.fail(e, value, "patch must be an object, and is %s", describe(value))
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if !patchable[name] {
			return a.fail(e, value, "patch sets %q, which is no field a hook can change", name)
		}
	}
	r, err := policy.ParseHookResult(fields, policy.By{Name: a.m.name})
	if err != nil {
		return a.fail(e, value, "patch: %w", err)
	}
	a.result.Patch, a.result.ToolConfig = r.Patch, r.ToolConfig
	return nil
}

// whole takes `result`, a HookResult that stands for everything.
func (a *answer) whole(e *entry, value ast.Value) error {
	if _, ok := value.(ast.Object); !ok {
		return a.fail(e, value, "result must be an object, and is %s", describe(value))
	}
	by := policy.By{Name: a.m.name, At: a.line(e, value)}
	r, err := policy.ParseHookResult(toJSON(value).(map[string]any), by)
	if err != nil {
		failure := policy.Failf(policy.ErrParse, "result: %w", err)
		var inner *policy.HookError
		if errors.As(err, &inner) {
			failure.Kind = inner.Kind
		}
		failure.At = by.At
		return failure
	}
	a.result = r
	return nil
}
