package diff

import (
	"context"
	"encoding/json"
	"strconv"

	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/executor/runner"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy"
)

// answered is what a hook answered then. Its runner reads it, and starts nothing.
type answered struct {
	json.RawMessage
	all *runner.Answers
}

// supposes reports whether an event supposes what no record says.
func (in *made) supposes() bool {
	for _, a := range in.answers {
		if _, was := a.(answered); !was {
			return true
		}
	}
	return false
}

// try decides recorded events with both policies, each as it comes.
func (r *PastReport) try(ctx context.Context, trials []*trial, old, new *dag.Program, o *Options) error {
	of := map[string]*trial{}
	for _, t := range trials {
		of[string(t.event)] = t
	}
	scripts := scriptChanges(old, new)
	alike := map[*trial]map[string]bool{}
	n := 0
	return o.Recorded(func(past Past) error {
		if n++; n%1000 == 0 {
			o.Say("trying recorded events: " + strconv.Itoa(n))
		}
		t := of[past.In.Text(policy.FieldEvent)]
		if t == nil || o.Tool != "" && past.In.Text(policy.FieldToolName) != o.Tool {
			r.LeftOut++
			return nil
		}
		if t.proved {
			r.Proved++
			return nil
		}
		in, ok := eventOf(t.event, fieldsOf(past.In))
		if !ok {
			r.Unfit++
			return nil
		}
		if past.Masked {
			r.Masked++
		}
		if len(past.Answers) > 0 {
			if alike[t] == nil {
				alike[t] = alikeOf(old, new, t.event, scripts)
			}
			var all bool
			if in.answers, all = answersThen(past.Answers, alike[t]); !all {
				r.Unanswered++
			}
		}
		t.tried.Recorded++
		return t.one(ctx, in, true)
	})
}

// alikeOf are the hooks that are no rules and are the same in both policies, or in one
// alone: what they answered once they are supposed to answer again.
func alikeOf(old, new *dag.Program, event policy.Event, scripts map[string]bool) map[string]bool {
	out := map[string]bool{}
	for _, q := range match(entriesOf(old, event, ""), entriesOf(new, event, "")) {
		switch {
		case q.old == nil:
			out[q.new.Hook.Name] = true
		case q.new == nil:
			out[q.old.Hook.Name] = true
		default:
			out[q.old.Hook.Name] = !(&suspect{pair: q}).opaque() && len(scriptsOf(q.old.Hook, scripts)) == 0
		}
	}
	return out
}

// answersThen are the answers of hooks that are alike; all is false where there are others.
func answersThen(then map[string]any, alike map[string]bool) (out map[string]any, all bool) {
	text, err := policy.EncodeJSON(then)
	kept := runner.AnswersBefore(text)
	if err != nil || kept == nil {
		return nil, false
	}
	out, all = map[string]any{}, true
	for _, name := range lists.Keys(then) {
		one, err := policy.EncodeJSON(then[name])
		if same, known := alike[name]; err != nil || known && !same {
			all = false
		} else if known {
			out[name] = answered{one, kept}
		}
	}
	return out, all
}
