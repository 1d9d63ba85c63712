package source

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/hookc/hookc/policy"
)

func TestSchemaIsWhole(t *testing.T) {
	seen := map[string]bool{}
	for _, k := range Schema() {
		id := string(k.Place) + "." + k.Name
		assert.False(t, seen[id], id)
		seen[id] = true
		assert.NotEmpty(t, k.Note, id)
		assert.Equal(t, k.Type == TypeWord || k.Type == TypePostures || k.Type == TypeSeverities || k.Type == TypeRollouts, len(k.Words) > 0, id)
		assert.False(t, k.Infers && len(k.Kinds) != 1 && k.Name != "allow", id) // allow: opinion is a rego hook's, and tells nothing
		assert.Contains(t, Places(), k.Place)
		_, event := policy.ParseEvent(k.Name)
		assert.False(t, k.Place == InFile && event, "%s is an event too", id)
	}
	filter := keyNames(InFilter, "")
	assert.ElementsMatch(t, []string{"tool_name", "tool_matcher", "tool_pattern", "model_prefix", "tool_kind", "path", "command", "pattern", "input_pattern",
		"source", "reason", "trigger", "notification_type", "agent", "permission_mode", "not_permission_mode", "paths", "commands", "missing"}, filter)
	for _, kind := range policy.KindNames() {
		assert.True(t, slices.ContainsFunc(Schema(), func(k Key) bool { return k.Infers && k.Kinds[0] == policy.Kind(kind) }), kind)
	}
}

// TestEveryKeyOfTheSchemaIsRead gives every key a value that no key takes and
// demands a finding: a key that is in the schema and not read would be
// ignored in silence.
func TestEveryKeyOfTheSchemaIsRead(t *testing.T) {
	body := map[policy.Kind]string{policy.KindBash: "command: x", policy.KindLLM: "prompt: x", policy.KindRego: "source: x",
		policy.KindExpr: "deny: x", policy.KindBuiltin: "use: x"}
	for _, k := range Schema() {
		wrong := k.Name + ": [{wrong: {type: }}]"
		hook := "command: x"
		if len(k.Kinds) > 0 {
			hook = body[k.Kinds[0]]
		}
		if hook == k.Name+": x" && len(k.Kinds) > 0 {
			hook = "name: x, type: " + string(k.Kinds[0])
		}
		text := map[Place]string{
			InApproval: "approval: {" + wrong + "}", InRequire: "approval: {require: [{" + wrong + "}]}", InWebhook: "approval: {webhook: {" + wrong + "}}",
			InFile: wrong, InDefaults: "defaults: {" + wrong + "}", InRego: "rego: {" + wrong + "}", InTools: "tools: {" + wrong + "}", InLog: "log: {" + wrong + "}", InDocument: "rego: {data: [{" + wrong + "}]}", InFact: "facts: {x: {" + wrong + "}}",
			InEvent: "stop: {" + wrong + "}", InGroup: "stop: [{parallel: [{command: x}], " + wrong + "}]", InHook: "stop: [{" + hook + ", " + wrong + "}]",
			InFilter: "stop: [{command: x, filter: {" + wrong + "}}]", InRule: "stop: [{rules: [{" + wrong + "}]}]",
		}[k.Place]
		if k.Place == InGroup && k.Name == "parallel" {
			text = "stop: [{" + wrong + "}]"
		}
		_, found := loadText(text + "\n")
		assert.NotEmpty(t, found, text)
	}
}
