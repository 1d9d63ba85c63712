package print

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
)

// TestPrintLost: what a hooks.yaml has no words for is reported, each alone,
// and stands in the text as a comment.
func TestPrintLost(t *testing.T) {
	hook := func(change func(*policy.Hook)) *policy.Policy {
		h := &policy.Hook{Name: "h", Event: policy.Notify, Kind: policy.KindBash, Tier: policy.TierProject, Priority: policy.DefaultPriority, Retry: -1,
			Body: policy.Body{Command: diag.Literal("cat")}}
		change(h)
		return &policy.Policy{Hooks: []*policy.Hook{h}}
	}
	for name, p := range map[string]*policy.Policy{
		"native matcher": hook(func(h *policy.Hook) {
			h.Filter.Conditions = []policy.Condition{{Key: policy.FilterNative, Value: diag.Literal("x")}}
		}),
		"twice": hook(func(h *policy.Hook) {
			c := policy.Condition{Key: policy.FilterToolName, Value: diag.Literal("x")}
			h.Filter.Conditions = []policy.Condition{c, c}
		}),
		"untrusted":     hook(func(h *policy.Hook) { h.Untrusted = "say so" }),
		"faithful":      hook(func(h *policy.Hook) { h.Body.Agent.Emulate = true }),
		"protocol":      hook(func(h *policy.Hook) { h.Body.Protocol = "unheard" }),
		"no command":    hook(func(h *policy.Hook) { h.Body.Command = diag.Text{} }),
		"not UTF-8":     hook(func(h *policy.Hook) { h.Body.Command = diag.Literal("\xff") }),
		"env not UTF-8": hook(func(h *policy.Hook) { h.Body.Env = []policy.EnvVar{{Name: "A", Value: "\xff"}} }),
		"fold": hook(func(h *policy.Hook) {
			h.Group = &policy.Group{Priority: policy.DefaultPriority, Name: "g", Fold: policy.FoldFirst}
		}),
		"too long": hook(func(h *policy.Hook) { h.Timeout = 25 * time.Hour }),
		"strange option": hook(func(h *policy.Hook) {
			h.Kind, h.Body.Use = policy.KindBuiltin, diag.Literal("u")
			h.Body.Options = []policy.Option{{Key: diag.Literal("o"), Value: time.Second}}
		}),
	} {
		t.Run(name, func(t *testing.T) {
			text, found := Print(p, Options{Tier: policy.TierProject})
			require.Len(t, found, 1, found.Render())
			assert.Equal(t, codeUnprintable, found[0].Code)
			assert.Equal(t, "h", found[0].Hook)
			assert.Contains(t, string(text), "  # NOT THE SAME: ")
		})
	}
}
