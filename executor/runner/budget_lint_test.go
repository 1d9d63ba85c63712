package runner

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
)

// A timeout that a rule's step budget makes meaningless is reported; what has
// no other limit is not.
func TestTimeoutBeyondTheStepBudget(t *testing.T) {
	at := diag.Span{Source: diag.NewSource("hooks.yaml", "timeout: 5s"), Start: 9, End: 11}
	for _, kind := range Kinds(Options{}) {
		for timeout, beyond := range map[time.Duration]bool{0: false, DefaultBudget / 2: false, DefaultBudget: false, DefaultBudget + 1: true, time.Hour: true} {
			for _, span := range []diag.Span{at, {}} {
				h := &policy.Hook{Name: "h", Event: policy.PreToolExecution, Kind: kind.Name, Timeout: timeout, TimeoutSpan: span}
				h.Body = policy.Body{Command: diag.Literal("true"), Prompt: diag.Literal("ok?"), Use: diag.Literal("say"),
					Source: diag.Literal("package p\ndeny contains \"no\" if input.tool_name == \"x\""),
					Rules:  []policy.Rule{{Says: policy.MayDeny, Condition: diag.Literal("false"), Reason: diag.Literal("no")}}}
				_, found := kind.Prepare(h)
				answered := false
				for _, d := range found {
					if d.Code.ID == "HK142" {
						answered = true
						assert.Equal(t, at, d.Span)
						assert.Equal(t, "h", d.Hook)
					}
				}
				rule := kind.Name == policy.KindExpr || kind.Name == policy.KindRego
				assert.Equal(t, rule && beyond && span == at, answered, "%s %v", kind.Name, timeout)
			}
		}
	}
}
