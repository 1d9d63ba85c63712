package replay

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/approval"
	"github.com/hookc/hookc/policy/diag"
)

// changes change one field of a Decision each; seen is whether that is a difference.
var changes = map[string]struct {
	seen   bool
	change func(d *policy.Decision)
}{
	"Event":          {true, func(d *policy.Decision) { d.Event = policy.StopEvent }},
	"Action":         {true, func(d *policy.Decision) { d.Action = policy.Block }},
	"Verdict":        {true, func(d *policy.Decision) { d.Verdict = policy.Ask }},
	"Control":        {true, func(d *policy.Decision) { d.Control = policy.Skip }},
	"Reasons":        {true, func(d *policy.Decision) { d.Reasons = []string{"another"} }},
	"Feedback":       {true, func(d *policy.Decision) { d.Feedback = []string{"another"} }},
	"Context":        {true, func(d *policy.Decision) { d.Context = []string{"another"} }},
	"SystemMessages": {true, func(d *policy.Decision) { d.SystemMessages = []string{"another"} }},
	"Inject":         {true, func(d *policy.Decision) { d.Inject = []any{map[string]any{"role": "user"}} }},
	"SuppressOutput": {true, func(d *policy.Decision) { d.SuppressOutput = !d.SuppressOutput }},
	"StopReason":     {true, func(d *policy.Decision) { d.StopReason = "another" }},
	"Scope":          {true, func(d *policy.Decision) { d.Scope = policy.LabelTurn }},
	"Patch":          {true, func(d *policy.Decision) { d.Patch = map[string]any{"tool_input": nil} }},
	"Grant":          {true, func(d *policy.Decision) { d.Grant = &approval.Grant{ID: "another"} }},
	"Warnings": {true, func(d *policy.Decision) {
		d.Warnings = []policy.Warning{{Code: new(diag.Code), Text: "w", Would: &policy.Would{Action: policy.Block, Hook: "new", Says: "deny"}}}
	}},
	"By":       {false, func(d *policy.Decision) { d.By = "another" }},
	"At":       {false, func(d *policy.Decision) { d.At = diag.Span{End: 1} }},
	"Degraded": {false, func(d *policy.Decision) { d.Degraded = "another" }},
	"Failed":   {false, func(d *policy.Decision) { d.Failed = []policy.Failure{{Hook: "another"}} }},
	"Hooks": {false, func(d *policy.Decision) {
		d.Hooks = []policy.HookTrace{{TracedHook: &policy.TracedHook{Name: "another"}}}
	}},
	"Policy": {false, func(d *policy.Decision) { d.Policy = "another" }},
	"Final":  {false, func(d *policy.Decision) { d.Final = policy.NewContext(d.Event) }},
}

// TestEveryChangeIsSeen changes each field of a decision alone, and each key of what was
// recorded: what is compared is told at a glance and in full, whatever was decided before.
func TestEveryChangeIsSeen(t *testing.T) {
	silent := policy.Decision{Event: policy.PreToolExecution, Action: policy.Proceed, Hooks: []policy.HookTrace{{TracedHook: &policy.TracedHook{Name: "a"}}}, Policy: "sha256:1"}
	spoken := silent
	spoken.Action, spoken.Verdict, spoken.By = policy.Abort, policy.Deny, "a"
	spoken.Reasons, spoken.Feedback, spoken.Context, spoken.SystemMessages = []string{"r"}, []string{"f"}, []string{"c"}, []string{"s"}
	spoken.Inject, spoken.Patch, spoken.StopReason = []any{map[string]any{"role": "assistant"}}, map[string]any{"tool_input": map[string]any{"command": "ls"}}, "stop"
	spoken.Scope, spoken.Grant = policy.LabelBatch, &approval.Grant{ID: "g"}
	spoken.Warnings = []policy.Warning{{Code: new(diag.Code), Text: "w", Would: &policy.Would{Action: policy.Block, Hook: "dry", Says: "deny"}}}
	fields := reflect.TypeFor[policy.Decision]()
	require.Len(t, changes, fields.NumField(), "a field of a Decision is not tried")
	for name, d := range map[string]policy.Decision{"silent": silent, "spoken": spoken} {
		text, err := d.MarshalJSON()
		require.NoError(t, err)
		check := func(what string, recorded []byte, d *policy.Decision, same bool) {
			primed := new(Comparer)
			for range 12 {
				primed.Same(recorded, &silent)
				primed.Same(recorded, &spoken)
				primed.Same(text, &silent)
			}
			var was map[string]any
			require.NoError(t, json.Unmarshal(recorded, &was))
			assert.Equal(t, same, primed.Same(recorded, d), "%s: %s, after others", name, what)
			assert.Equal(t, same, new(Comparer).Same(recorded, d), "%s: %s", name, what)
			o := Compare(&Change{Recorded: was}, policy.NewContext(d.Event), true, d, func(*policy.Decision) []string { return nil })
			assert.Equal(t, same, o.What == Same, "%s: %s, in full", name, what)
		}
		check("nothing", text, &d, true)
		for i := range fields.NumField() {
			field := fields.Field(i).Name
			how, known := changes[field]
			require.True(t, known, "nothing changes %s", field)
			other := d
			how.change(&other)
			require.NotEqual(t, d, other, field)
			check(field, text, &other, !how.seen)
		}
		var whole map[string]json.RawMessage
		require.NoError(t, json.Unmarshal(text, &whole))
		for _, key := range policy.DecisionKeys() {
			for _, value := range []string{"", `"another"`, `{"an":"other"}`} {
				other := maps.Clone(whole)
				if other[key] = json.RawMessage(value); value == "" {
					delete(other, key)
				}
				recorded, err := policy.EncodeJSON(other)
				require.NoError(t, err)
				_, had := whole[key]
				check("recorded "+key, recorded, &d, lists.Has(aside, key) || !had && value == "")
			}
		}
	}
	assert.True(t, slices.IsSorted(aside))
}
