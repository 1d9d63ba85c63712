package builtins

import (
	"context"

	"github.com/hookc/hookc/builtins/rule"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
)

var sayRule = rule.Rule{
	Name: "say",
	Doc:  "gives one constant answer, a HookResult, whenever it runs",
	Options: []rule.OptionSpec{{Name: "result", Type: policy.AnyType, Required: true,
		Doc: "the answer: the JSON text of a HookResult, or the object itself"}},
	New: newSay,
}

func newSay(h *policy.Hook, opts rule.Options) (rule.Made, diag.List) {
	opt := opts["result"]
	by := policy.By{Name: h.Name, At: h.Span}
	result, err := sayResult(opt.Value, by)
	if err != nil {
		return rule.Made{}, diag.List{rule.CodeOptionValue.Report(rule.OptionSpan(opt), "result: %s", err)}
	}
	says := powersOf(&result)
	writes := result.Patch.Paths()
	if result.ToolConfig != nil {
		writes = writes.Union(policy.FieldPaths(policy.FieldToolConfig))
	}
	run := func(context.Context, *policy.Context, int) (policy.Result, error) { return result, nil }
	return rule.Made{
		Runner:  policy.RunnerFunc(run),
		Effects: policy.Effects{Writes: writes, May: says, World: policy.WorldNone, Spec: true},
		Always:  says,
	}, nil
}

func sayResult(v any, by policy.By) (policy.Result, error) {
	switch v := v.(type) {
	case string:
		return policy.ParseHookResultText([]byte(v), by)
	case map[string]any:
		return policy.ParseHookResult(v, by)
	}
	return policy.Result{}, policy.Failf(policy.ErrParse, "must be a HookResult: JSON text or an object")
}

// powersOf is the set of what a result says.
func powersOf(r *policy.Result) policy.Powers {
	verdict, _ := policy.ParsePower(r.Verdict.String())
	control, _ := policy.ParsePower(r.Control.String())
	return verdict | control
}
