// Package judge has Rego say who may answer what (approval.source): a program that takes
// answers imports it.
package judge

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/hookc/hookc"
	"github.com/hookc/hookc/internal/approval"
	"github.com/hookc/hookc/policy"
)

func init() { approval.Judge = judge }

// judge evaluates Rego over who answers what: as a hook of a policy of its own, for
// which the limits and the postures of all hooks hold.
func judge(ctx context.Context, source string, a *approval.Approval, v approval.Vote, groups []string) ([]string, error) {
	text, err := json.Marshal(map[string]any{string(policy.PreToolExecution): []any{map[string]any{"name": "approval.source", "type": "rego", "source": source}}})
	if err != nil {
		return nil, err
	}
	eng, err := hookc.Open(ctx, hookc.Text("approval.source.yaml", string(text)), hookc.SkipVerify())
	if err != nil {
		return nil, err
	}
	in, _, err := policy.ContextFromMap(map[string]any{"tool_name": a.Call.Tool, "tool_input": a.Call.Input, "cwd": a.Call.Cwd, "session_id": a.Session,
		"approval": map[string]any{"id": a.ID, "by": v.By, "groups": texts(groups), "verdict": string(v.Verdict), "scope": v.Scope.String(), "reason": v.Reason,
			"rules": texts(a.Rules), "agent": a.Agent}})
	if err != nil {
		return nil, err
	}
	d, err := eng.Fire(ctx, policy.PreToolExecution, in)
	if closed := eng.Close(); err == nil {
		err = closed
	}
	if err != nil || d.Permits() {
		return nil, err
	}
	if len(d.Reasons) == 0 {
		return []string{fmt.Sprintf("it says %s", d.Verdict)}, nil
	}
	return d.Reasons, nil
}

func texts(list []string) []any {
	out := make([]any, len(list))
	for i, s := range list {
		out[i] = s
	}
	return out
}
