package runner

import (
	"slices"
	"strings"
	"time"

	"github.com/hookc/hookc/builtins"
	"github.com/hookc/hookc/builtins/guard"
	"github.com/hookc/hookc/builtins/rule"
	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
)

var codeUnknownRule = diag.Define("HK100", diag.Error, "unknown builtin")

// builtinKind is the kind of hooks that use a Go rule by name: one of package
// builtins, or one the embedder adds. Two rules of one name panic.
func builtinKind(o Options) dag.Kind {
	rules := lists.Concat(builtins.Rules(), o.Rules)
	rule.Check(rules)
	return dag.Kind{
		Name:    policy.KindBuiltin,
		Timeout: o.budget(),
		Cost:    200 * time.Nanosecond,
		OnGuard: policy.OnErrorDeny,
		OnOther: policy.OnErrorSkip,
		Prepare: func(h *policy.Hook) (dag.Body, diag.List) {
			body, found := prepareBuiltin(h, rules, o.Instances)
			guard.Protect(body.Runner, o.Self)
			return body, found
		},
		Doc: "a guard written in Go, by name",
	}
}

func prepareBuiltin(h *policy.Hook, rules []rule.Rule, kept *Instances) (dag.Body, diag.List) {
	use := h.Body.Use
	i := slices.IndexFunc(rules, func(r rule.Rule) bool { return r.Name == use.Value })
	if i < 0 {
		span := use.Span
		if span.IsZero() {
			span = h.Span
		}
		found := diag.List{codeUnknownRule.Report(span, "no builtin is called %q", use.Value).
			WithHint("%s", diag.DidYouMean(use.Value, ruleNames(rules), "there are "+strings.Join(ruleNames(rules), ", "))).WithHook(h.Name)}
		return brokenBuiltin(found), found
	}
	own := i >= len(builtins.Rules())
	prepare := rules[i].Make
	if own {
		prepare = func(h *policy.Hook) (rule.Made, diag.List) { return lists.First(kept, &Instances{}).make(&rules[i], h) }
	}
	made, found := prepare(h)
	if found.HasErrors() {
		return brokenBuiltin(found), found
	}
	if own {
		// Of code that is not ours. That it cannot fail, or always says the
		// same, is a promise that a panic breaks; what its failure means may
		// then end the chain, or let it go on.
		made.Effects.MayFail, made.Always = true, 0
	}
	return dag.Body{Runner: made.Runner, Effects: made.Effects, Always: made.Always, Brief: made.Brief, Cost: rules[i].Cost, Engine: "go"}, found
}

// brokenBuiltin is a body that only fails: what it would have said is unknown,
// so it may say anything.
func brokenBuiltin(found diag.List) dag.Body {
	return dag.Body{
		Runner:  dag.Broken(found),
		Effects: policy.Effects{May: policy.AllPowers, World: policy.WorldNone, MayFail: true},
	}
}

func ruleNames(rules []rule.Rule) []string {
	out := make([]string, len(rules))
	for i, r := range rules {
		out[i] = r.Name
	}
	return out
}
