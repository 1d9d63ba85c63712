package source

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/builtins"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
	"github.com/hookc/hookc/policy/source/tree"
)

// TestExampleShowsEveryKey: hooks.example.yaml has every key of the schema in its
// place, every guard, and every entry point of Rego.
func TestExampleShowsEveryKey(t *testing.T) {
	text, err := os.ReadFile("../../hooks.example.yaml")
	require.NoError(t, err)
	src := diag.NewSource("hooks.example.yaml", string(text))
	root, found := tree.ParseYAML(src, 0, len(src.Content))
	require.Empty(t, found.Render())
	seen := map[Place]map[string]bool{}
	for _, p := range Places() {
		seen[p] = map[string]bool{}
	}
	note := func(p Place, n *tree.Node) {
		for _, e := range n.Entries {
			seen[p][e.Key.Text.Value] = true
		}
	}
	note(InFile, root)
	for key, place := range map[string]Place{"defaults": InDefaults, "rego": InRego, "tools": InTools, "log": InLog} {
		note(place, root.Get(key))
	}
	for _, fact := range root.Get("facts").Entries {
		note(InFact, fact.Value)
	}
	approval := root.Get("approval")
	note(InApproval, approval)
	note(InRequire, approval.Get("require").Items[0])
	note(InDocument, root.Get("rego").Get("data").Items[0])
	var hook func(*tree.Node)
	hook = func(n *tree.Node) {
		if members := n.Get("parallel"); members != nil {
			note(InGroup, n)
			for _, m := range members.Items {
				hook(m)
			}
			return
		}
		note(InHook, n)
		if f := n.Get("filter"); f != nil {
			note(InFilter, f)
		}
		if rules := n.Get("rules"); rules != nil {
			for _, r := range rules.Items {
				note(InRule, r)
			}
		}
	}
	for _, e := range root.Entries {
		if _, ok := policy.ParseEvent(e.Key.Text.Value); !ok {
			continue
		}
		list := e.Value
		if list.Shape == tree.Map {
			note(InEvent, list)
			list = list.Get("hooks")
		}
		for _, n := range list.Items {
			hook(n)
		}
	}
	for _, k := range Schema() {
		shown := seen[k.Place][k.Name]
		if k.Name == "profile" { // it changes nothing, and a file that has it gets a note
			shown = strings.Contains(string(text), "\n# profile: ")
		}
		if k.Name == "durable" { // without hookcd each decision has a warning
			shown = strings.Contains(string(text), "With durable: true")
		}
		if k.Name == "webhook" || k.Place == InWebhook { // the policy of a project may not have it
			shown = strings.Contains(string(text), "\n  # webhook: {url: ") && strings.Contains(string(text), ", format: slack}")
		}
		if k.Place == InLog && k.Name == "checkpoints" { // where the file is a project's it has no effect
			shown = checkpointsShown(t, string(text))
		}
		if _, says := policy.ParsePower(k.Name); says { // a keyword is one of the hook or of its rules
			shown = seen[InHook][k.Name] || seen[InRule][k.Name]
		}
		assert.True(t, shown, "%s of %s", k.Name, k.Place)
	}
	for _, r := range builtins.Rules() {
		if strings.HasSuffix(r.Name, "-guard") && r.Name != "self-guard" {
			assert.Contains(t, string(text), "use: "+r.Name)
		}
	}
	for _, entry := range []string{"patch := ", "context contains ", "message := ", "feedback contains ", "result := ", "deny contains ", "ask contains "} {
		assert.Contains(t, string(text), "  "+entry)
	}
}

// checkpointsShown reports whether the example has checkpoints as a comment that says
// it where it is the user's file.
func checkpointsShown(t *testing.T, text string) bool {
	user := strings.Replace(text, "\n  # checkpoints: /", "\n  checkpoints: /", 1)
	p, _ := Load(Options{Inputs: []Input{{Path: "../../hooks.example.yaml", Tier: policy.TierUser, Content: []byte(user)}}})
	require.NotNil(t, p)
	for _, s := range p.Log {
		if s.Checkpoints == "/var/log/hookc/checkpoints" {
			return user != text
		}
	}
	return false
}
