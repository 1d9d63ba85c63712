package runner

import (
	"context"
	"strings"
	"time"

	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
	"github.com/hookc/hookc/policy/source"
)

// The kind words is evaluated in process. Its file is laid over this package by
// tests/onefile, and nothing else of hookc knows it.
var _ = Add("words", true, wordsKind,
	source.Key{Name: "forbidden", Type: source.TypeTexts, Infers: true, Note: "words that no command has"},
	source.Key{Name: "endless", Type: source.TypeBool, Default: "false", Note: "looks for them for ever"})

func wordsKind(o Options) dag.Kind {
	return budgeted(dag.Kind{
		Name: "words", Timeout: o.budget(), Cost: time.Microsecond, OnGuard: policy.OnErrorDeny, OnOther: policy.OnErrorSkip,
		Doc: "denies commands with a word",
		Prepare: func(h *policy.Hook) (dag.Body, diag.List) {
			var words []any
			endless := false
			for _, o := range h.Body.Options {
				switch v := o.Value.(type) {
				case []any:
					words = v
				case string:
					words = []any{v}
				case bool:
					endless = v
				}
			}
			run := func(ctx context.Context, in *policy.Context, _ int) (policy.Result, error) {
				for endless {
					if err := ctx.Err(); err != nil {
						return policy.Result{}, err
					}
				}
				command := in.Text(policy.FieldCommand)
				for _, w := range words {
					if strings.Contains(command, w.(string)) {
						return policy.Result{Verdict: policy.Deny, VerdictBy: policy.By{Name: h.Name, At: h.Span},
							Reasons: []policy.Reason{{Text: "no " + w.(string), At: h.Span}}}, nil
					}
				}
				return policy.Result{}, nil
			}
			return dag.Body{Runner: policy.RunnerFunc(run), Engine: "words", Effects: policy.Effects{
				Reads: policy.FieldPaths(policy.FieldCommand), May: policy.MayDeny, World: policy.WorldNone, Spec: true, MayFail: true}}, nil
		},
	})
}
