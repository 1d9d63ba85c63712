package logs

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/hookc/hookc"
	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/internal/decisionlog"
	"github.com/hookc/hookc/internal/witness"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
)

// question is an expr over entries. It is compiled as a rule of the entry's event, to
// which what was decided, by whom and who asked are constants: few are different.
type question struct {
	text string
	of   map[string]*dag.Plan
}

// holds reports whether the expr is true of an entry; there being none is true.
func (q *question) holds(e *decisionlog.Entry) (bool, error) {
	event, known := policy.ParseEvent(e.Path)
	if q.text == "" || !known {
		return q.text == "", nil
	}
	by, _ := e.Result["by"].(string)
	key := fmt.Sprintf("%s %q %q %q", event, actionOf(e), by, e.Labels["agent"])
	plan, done := q.of[key]
	if !done {
		var err error
		if plan, err = q.compile(event, actionOf(e), by, e.Labels["agent"]); err != nil {
			return false, err
		}
		q.of[key] = plan
	}
	in, _, err := policy.ContextFromMap(e.Input)
	if err != nil && len(e.Masked)+len(e.Erased) > 0 { // what the expr asks for is not there
		return false, nil
	}
	if err != nil || plan == nil {
		return false, err
	}
	for _, r := range witness.RulesOf(&plan.Nodes[0]) {
		if r.Fires(in.Frozen(event)) {
			return true, nil
		}
	}
	return false, nil
}

// compile is the plan of the expr, nil for an event at which no rule may say anything.
func (q *question) compile(event policy.Event, action, by, agent string) (*dag.Plan, error) {
	for _, word := range policy.PowerNames() {
		power, _ := policy.ParsePower(word)
		if !event.Spec().Powers.Has(power) {
			continue
		}
		rule := fmt.Sprintf("let action = %q; let by = %q; let asked_by = %q; (%s)", action, by, agent, q.text)
		text, err := json.Marshal(map[string]any{string(event): []any{map[string]any{"name": "where", "type": "expr", word: rule, "reason": "asked"}}})
		if err != nil {
			return nil, err
		}
		program, found := hookc.Compile(hookc.Text("where.yaml", string(text)), hookc.AsFound(), hookc.SkipVerify())
		for _, d := range found {
			if d.Severity == diag.Error {
				return nil, errors.New(d.Text)
			}
		}
		if plan := program.Plan(event); plan != nil && len(plan.Nodes) > 0 {
			return plan, nil
		}
		return nil, nil
	}
	return nil, nil
}
