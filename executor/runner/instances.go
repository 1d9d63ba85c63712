package runner

import (
	"context"
	"encoding/json"
	"sync"

	"github.com/hookc/hookc/builtins/rule"
	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
)

// Instances keep the rules of a host's that were made for hooks: a compilation
// finds again what an earlier one made for the same hook with the same options,
// and with it the rule's state. The zero Instances is ready; it is safe for
// concurrent use.
type Instances struct {
	mu   sync.Mutex
	made map[instanceKey]*instance
}

// instanceKey is what an instance is found by. Options are in JSON.
type instanceKey struct {
	event                    policy.Event
	tier                     policy.Tier
	file, hook, use, options string
}

type instance struct {
	rule.Made
	// span is where the hook was written when the rule was made, which the rule
	// may name in what it says.
	span diag.Span
}

// make is rule.Make, unless there is an instance.
func (k *Instances) make(r *rule.Rule, h *policy.Hook) (rule.Made, diag.List) {
	options := map[string]any{}
	for _, o := range h.Body.Options {
		options[o.Key.Value] = o.Value
	}
	text, err := json.Marshal(options)
	if err != nil {
		panic("runner: options that were read are no JSON: " + err.Error())
	}
	key := instanceKey{h.Event, h.Tier, "", h.Name, r.Name, string(text)}
	if h.Span.Source != nil {
		key.file = h.Span.Source.Name
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	i := k.made[key]
	if i == nil {
		made, found := r.Make(h)
		if i = (&instance{made, h.Span}); len(found) > 0 { // which are told each time
			made.Runner = ownRule{i, h.Span}
			return made, found
		}
		if k.made == nil {
			k.made = map[instanceKey]*instance{}
		}
		k.made[key] = i
	}
	made := i.Made
	made.Runner = ownRule{i, h.Span}
	return made, nil
}

// Retain forgets the instances that no hook of the programs runs.
func (k *Instances) Retain(programs []*dag.Program) {
	used := map[*instance]bool{}
	for _, p := range programs {
		for _, plan := range p.Plans {
			for i := range plan.Nodes {
				if r, ok := plan.Nodes[i].Runner.(ownRule); ok {
					used[r.instance] = true
				}
			}
		}
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	for key, i := range k.made {
		if !used[i] {
			delete(k.made, key)
		}
	}
}

// ownRule is a rule of the host's. What it answers may hold any Go value, and
// the place where its hook was written when it was made.
type ownRule struct {
	*instance
	at diag.Span
}

func (o ownRule) Run(ctx context.Context, in *policy.Context, attempt int) (policy.Result, error) {
	r, err := o.Tell(ctx, in, attempt)
	if r == nil {
		return policy.Result{}, err
	}
	return *r, err
}

// Tell is a policy.Teller: most rules say nothing, and then nothing is copied.
func (o ownRule) Tell(ctx context.Context, in *policy.Context, attempt int) (*policy.Result, error) {
	run := o.Runner.Run
	if f, ok := o.Runner.(policy.RunnerFunc); ok {
		run = f // whose method would copy the Result once more
	}
	r, err := run(ctx, in, attempt)
	if err != nil || len(r.Failed) == 0 && len(r.Warnings) == 0 && r.Quiet() {
		return nil, err
	}
	return o.contribution(r)
}

// contribution is what the rule said, as JSON values and at the places of now.
func (o ownRule) contribution(r policy.Result) (*policy.Result, error) {
	if o.at != o.span {
		o.move(&r)
	}
	r, err := r.JSON()
	return &r, err
}

// move makes the places in r those of the hook as it is written now.
func (o ownRule) move(r *policy.Result) {
	now := func(at *diag.Span) {
		if *at == o.span {
			*at = o.at
		}
	}
	now(&r.VerdictBy.At)
	now(&r.ControlBy.At)
	r.Reasons = lists.Copy(r.Reasons)
	for i := range r.Reasons {
		now(&r.Reasons[i].At)
	}
}
