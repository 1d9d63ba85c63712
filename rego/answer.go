package rego

import (
	"context"
	"errors"
	"sort"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/hookc/hookc/internal/fault"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
	"github.com/hookc/hookc/rego/native"
)

// answer collects what the entry points of one evaluation say.
type answer struct {
	m      *Module
	ctx    context.Context
	input  *ast.Term
	steps  *stepBudget
	result policy.Result
}

// contribution is one thing an entry point says: a text, the value that says it where
// topdown gave that, and where the rule is that did.
type contribution struct {
	text  string
	value ast.Value
	at    diag.Span
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
	if e.part == partUnallowed && decided(&a.result) {
		return nil
	}
	list, ok := e.contributes(value)
	if !ok {
		return a.fail(e, value, "%s must be %s, and is %s", e.name, e.part.wants(), describe(value))
	}
	if len(list) > 0 && e.part.verdict() {
		for i, at := range a.m.lines(a.ctx, a.steps, e, a.input, value, list) {
			list[i].at = at
		}
	}
	contribute(&a.result, a.m.name, e.part, list)
	return nil
}

// contribute adds what an entry point says to a hook's result: a verdict or a
// control with its reasons, each with the line of the rule that gave it, or
// texts.
func contribute(to *policy.Result, hook string, p part, list []contribution) {
	if len(list) == 0 {
		return
	}
	by := policy.By{Name: hook, At: list[0].at}
	switch p {
	case partContext:
		to.Context = appendTexts(to.Context, list)
		return
	case partMessage:
		to.System = appendTexts(to.System, list)
		return
	case partFeedback:
		to.Feedback = appendTexts(to.Feedback, list)
		return
	case partSkip:
		to.Control, to.ControlBy = max(to.Control, policy.Skip), by
	case partStop:
		to.Control, to.ControlBy = max(to.Control, policy.Stop), by
	default:
		verdict := map[part]policy.Verdict{partDeny: policy.Deny, partUnallowed: policy.Deny, partAsk: policy.Ask, partAllow: policy.Allow}[p]
		if verdict > to.Verdict {
			to.Verdict, to.VerdictBy = verdict, by
		}
	}
	for _, s := range list {
		if s.text != "" {
			to.Reasons = append(to.Reasons, policy.Reason{Text: s.text, At: s.at})
		}
	}
}

// decided reports whether a package has said what becomes of the call.
func decided(r *policy.Result) bool { return r.Verdict != policy.None || r.Control != policy.Go }

func appendTexts(to []string, list []contribution) []string {
	for _, s := range list {
		if s.text != "" {
			to = append(to, s.text)
		}
	}
	return to
}

// contributes reads a value: false says nothing, true something without a text. The
// members of a set are in the order of their texts, those of a list in their
// own.
func (e *entry) contributes(value ast.Value) ([]contribution, bool) {
	var members []*ast.Term
	switch v := value.(type) {
	case ast.Boolean:
		if !e.part.verdict() {
			return nil, false
		}
		if !v {
			return nil, true
		}
		return []contribution{{value: v}}, true
	case ast.Set:
		members = v.Slice()
	case *ast.Array:
		v.Foreach(func(t *ast.Term) { members = append(members, t) })
	default:
		s, ok := contributing(value)
		return []contribution{s}, ok
	}
	list := make([]contribution, 0, len(members))
	for _, t := range members {
		s, ok := contributing(t.Value)
		if !ok {
			return nil, false
		}
		list = append(list, s)
	}
	_, set := value.(ast.Set)
	return inOrder(list, set), true
}

// inOrder is what the members of a set or list say: those of a set, which come
// in Rego's order, by their texts.
func inOrder(list []contribution, set bool) []contribution {
	if set {
		sort.SliceStable(list, func(i, j int) bool { return list[i].text < list[j].text })
	}
	return lists.CompactFunc(list, func(x, y contribution) bool { return x.text == y.text })
}

// contributing reads a string or an object with a reason or msg.
func contributing(v ast.Value) (contribution, bool) {
	switch x := v.(type) {
	case ast.String:
		return contribution{text: string(x), value: v}, true
	case ast.Object:
		for _, key := range native.TextKeys {
			if t := x.Get(ast.StringTerm(key)); t != nil {
				s, ok := t.Value.(ast.String)
				return contribution{text: string(s), value: v}, ok
			}
		}
	}
	return contribution{}, false
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
		if _, ok := contributing(x); !ok {
			return "an object without a reason"
		}
	}
	for _, t := range members {
		if _, ok := contributing(t.Value); !ok {
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
	return a.m.lines(a.ctx, a.steps, e, a.input, value, []contribution{{value: value}})[0]
}

// patch takes `patch`.
func (a *answer) patch(e *entry, value ast.Value) error {
	r, err := patchOf(a.m.name, value)
	if err != nil {
		return a.fail(e, value, "%w", err)
	}
	a.result.Patch, a.result.ToolConfig = r.Patch, r.ToolConfig
	return nil
}

// patchOf reads a patch: objects merge into tool_input and request_config, other
// fields are replaced (semantics.md §2.6).
func patchOf(hook string, value ast.Value) (policy.Result, error) {
	if _, object := value.(ast.Object); !object {
		return policy.Result{}, fault.Errorf("patch must be an object, and is %s", describe(value))
	}
	fields := toJSON(value).(map[string]any)
	for _, name := range lists.Keys(fields) {
		if _, _, sets := policy.HookResultField(name); !sets {
			return policy.Result{}, fault.Errorf("patch sets %q, which is no field a hook can change", name)
		}
	}
	r, err := policy.ParseHookResult(fields, policy.By{Name: hook})
	if err != nil {
		return policy.Result{}, fault.Errorf("patch: %w", err)
	}
	return r, nil
}

// whole takes `result`, a HookResult that means everything.
func (a *answer) whole(e *entry, value ast.Value) error {
	if _, ok := value.(ast.Object); !ok {
		return a.fail(e, value, "result must be an object, and is %s", describe(value))
	}
	by := policy.By{Name: a.m.name, At: a.line(e, value)}
	r, err := wholeOf(toJSON(value).(map[string]any), by)
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

// wholeOf reads `result`. A key that means nothing is an error: what its author
// wanted is not done, and the rest may be an approval.
func wholeOf(fields map[string]any, by policy.By) (policy.Result, error) {
	if unknown := policy.UnknownResultKeys(fields); len(unknown) > 0 {
		return policy.Result{}, fault.Errorf("%q is no key of a result", unknown[0])
	}
	return policy.ParseHookResult(fields, by)
}
