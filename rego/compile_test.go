package rego

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/policy"
)

// Every mistake is reported where it stands in hooks.yaml: the package is
// line 4, what follows begins at line 5, column 7.
func TestFindings(t *testing.T) {
	const reads = `deny contains "no" if input.tool_name == "Bash"` + "\n"
	tests := []struct {
		name, source string
		want         []string
		hint         string
	}{
		{"syntax", "deny contains \"no\" if {\n  input.tool_name ==\n}\n", []string{"HK070 7:7 unexpected } token"}, ""},
		{"empty rule name", reads + "deny contains", []string{"HK070 6:19 unexpected eof token: expected rule key term (e.g., deny contains <VALUE> { ... })"}, ""},
		{"undefined function", "deny contains \"no\" if startwith(input.tool_name, \"B\")", []string{"HK071 5:29 undefined function startwith"}, `did you mean "startswith"?`},
		{"undefined hookc function", "deny contains \"no\" if path.abz(input.cwd, \"/\") == \"/\"", []string{"HK071 5:29 undefined function path.abz"}, `did you mean "path.abs"?`},
		{"unsafe variable", "deny contains \"no\" if inptu.tool_name == \"B\"", []string{"HK071 5:29 var inptu is unsafe"}, `did you mean "input"?`},
		{"type", "deny contains \"no\" if count(1) == 1", []string{"HK071 5:29 count: invalid argument(s)"}, ""},
		{"recursion names the author's package", "deny contains \"no\" if help\nhelp if help", []string{"HK071 6:7 rule data.hooks.shell.help is recursive: data.hooks.shell.help -> data.hooks.shell.help"}, ""},
		{"no entry point", "denny contains \"no\" if true", []string{"HK072 4:7 package hooks.shell defines no entry point"}, `denny: did you mean "deny"?`},
		{"no entry point at all", "helper := 1", []string{"HK072 4:7 package hooks.shell defines no entry point"}, "define one of deny, violation, ask, allow, skip, stop, patch, context, message, warn, feedback, result"},
		{"set and complete", reads + "deny := \"x\" if true", []string{"HK073 6:7 deny is both a set and a complete rule"}, "use `contains` in all of them or in none"},
		{"complete and set", "deny := \"x\" if true\n" + reads, []string{"HK073 6:7 deny is both a set and a complete rule"}, "use `contains` in all of them or in none"},
		{"partial object", "deny[msg] if msg := \"x\"", []string{"HK073 5:7 deny is an object here, and must be a set, a string or a boolean"}, "write `deny contains reason if { ... }`"},
		{"function", "deny(x) if x", []string{"HK073 5:7 deny is a function"}, "give the function another name"},
		{"number", "deny := 1 if true", []string{"HK073 5:7 deny must be a boolean, a string or a set of strings or {reason} objects"}, ""},
		{"number in else", "deny := \"x\" if { false } else := 2", []string{"HK073 5:7 deny must be a boolean, a string or a set of strings or {reason} objects"}, ""},
		{"patch set", "patch contains \"x\" if true", []string{"HK073 5:7 patch must be an object, and is a set"}, ""},
		{"patch text", "patch := \"x\"", []string{"HK073 5:7 patch must be an object"}, ""},
		{"context true", "context if true", []string{"HK073 5:7 context must be a string or a set of strings"}, ""},
		{"result and deny", reads + "result := {\"decision\": \"allow\"} if true", []string{"HK073 6:7 result stands alone, and the package also defines deny"}, "put the others' values into result, or drop result"},
		{"forbidden", "deny contains \"no\" if {\n  r := http.send({\"method\": \"get\", \"url\": \"x\"})\n  r.status_code == 200\n}", []string{"HK074 6:14 http.send may not be called by a rule"}, ""},
		{"unknown field", "deny contains \"no\" if input.tool_nam == \"B\"", []string{"HK075 5:29 input.tool_nam is unknown"}, `did you mean "tool_name"?`},
		{"host's name", "deny contains \"no\" if input.hook_event_name == \"B\"", []string{"HK075 5:29 input.hook_event_name is unknown"}, `its canonical name is "event"`},
		{"part of a text", "deny contains \"no\" if input.tool_arguments.command == \"B\"", []string{"HK075 5:29 input.tool_arguments is a string, and has no parts"}, "tool_input is the object"},
		{"unknown patch", reads + `patch := {"tool_inputs": {}}`, []string{"HK075 6:17 patch.tool_inputs is unknown"}, `did you mean "tool_input"?`},
		{"field of another event", "deny contains \"no\" if input.tool_result == \"B\"", []string{"HK076 5:29 input.tool_result is never present at pre_tool_execution"}, ""},
		{"patch of another event", reads + `patch := {"user_input": "x"}`, []string{"HK076 6:17 pre_tool_execution cannot change user_input"}, ""},
		{"no reason", "deny if input.tool_name == \"B\"\ndeny if input.tool_name == \"C\"", []string{"HK114 5:7 deny gives no reason"}, "write `deny contains \"why\" if { ... }`"},
		{"negated call", "deny contains \"no\" if not startswith(input.tool_input.path, \"/\")", []string{"HK115 5:29 never holds when input.tool_input.path is missing"}, "test it in a helper rule and write `not helper`"},
		{"negated nested call", "deny contains \"no\" if not lower(input.tool_input.path) == \"/\"", []string{"HK115 5:29 never holds when input.tool_input.path is missing"}, "test it in a helper rule and write `not helper`"},
		{"negated membership", "deny contains \"no\" if not input.model in {\"a\"}", []string{"HK115 5:29 never holds when input.model is missing"}, "test it in a helper rule and write `not helper`"},
		{"only a difference", "deny contains \"no\" if input.tool_input.path != \"/\"", []string{"HK113 5:29 does not hold when input.tool_input.path is missing"}, "write `not input.tool_input.path == \"/\"`"},
		{"columns are characters", "deny contains \"审查é\" if inptu.tool_name == \"B\"", []string{"HK071 5:30 var inptu is unsafe"}, `did you mean "input"?`},
		{"several at once", "deny contains \"no\" if input.a == 1\ndeny contains \"no\" if input.b == 1\n", []string{"HK075 5:29 input.a is unknown", "HK075 6:29 input.b is unknown"}, "what the agent sends under another name is in input.raw.a; what the host knows is a fact: declare facts: {a: string} and read input.facts.a"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			c := &Compiler{Lints: Lints{NoReason: testNoReason, MissingPasses: testMissing}}
			m, found := c.Compile(guard(test.source))
			require.Equal(t, test.want, lines(found))
			assert.Equal(t, test.hint, found[0].Hint)
			assert.Equal(t, found.HasErrors(), m == nil)
			for _, d := range found {
				assert.Equal(t, "guard", d.Hook)
			}
		})
	}
}

func TestQuietLints(t *testing.T) {
	for _, source := range []string{
		"deny contains \"no\" if not input.tool_input.path == \"/\"",
		"inside if startswith(input.tool_input.path, \"/\")\ndeny contains \"no\" if not inside",
		"deny contains \"no\" if { input.tool_input.path; not startswith(input.tool_input.path, \"/\") }",
		"deny contains \"no\" if not startswith(input.tool_name, \"/\")",
		"deny contains \"no\" if not startswith(object.get(input.tool_input, \"path\", \"\"), \"/\")",
		"deny contains \"no\" if { input.tool_name == \"Bash\"; input.tool_input.path != \"/\" }",
		"allow if not startswith(input.tool_input.path, \"/\")",
		"allow if input.tool_input.path != \"/\"",
		"default deny := false\ndeny := \"no\" if input.tool_name == \"x\"",
	} {
		c := &Compiler{Lints: Lints{NoReason: testNoReason, MissingPasses: testMissing}}
		_, found := c.Compile(guard(source))
		assert.Empty(t, found.Render(), source)
	}
}

func TestSettings(t *testing.T) {
	h := guard(`deny contains "no" if http.send({"method": "get", "url": "x"}).status_code == 1`)
	h.File = &policy.FileConfig{Rego: policy.RegoConfig{Version: "v3", Forbid: []string{"opa.runtim"}}}
	_, found := new(Compiler).Compile(h)
	assert.Equal(t, []string{
		`HK078 1:1 rego.forbid names "opa.runtim", which is no function`,
		`HK078 1:1 rego.version "v3" is unknown`,
	}, lines(found))
	assert.Equal(t, `did you mean "opa.runtime"?`, found[0].Hint)

	h.File = &policy.FileConfig{Rego: policy.RegoConfig{Forbid: []string{}}}
	m := compiled(t, h)
	assert.Equal(t, policy.Effects{May: policy.MayDeny, World: policy.WorldWrite, MayFail: true, Volatile: true}, m.Effects())
}

// The finding about a field of another event is for inline rules: a file is
// often shared by hooks of several events.
func TestFileMayServeSeveralEvents(t *testing.T) {
	h := guard("deny contains \"no\" if input.tool_result == \"B\"")
	h.Body.File = "/policies/shell.rego"
	m := compiled(t, h)
	assert.Empty(t, m.Effects().Reads.Names())
}

func TestEmptySource(t *testing.T) {
	for _, text := range []string{"", "  \n", "deny contains \"x\" if true"} {
		h := inline("guard", policy.PreToolExecution, text)
		m, found := new(Compiler).Compile(h)
		assert.Nil(t, m)
		require.Len(t, found, 1, text)
		assert.Equal(t, "HK070", found[0].Code.ID)
		assert.Equal(t, "hooks.yaml", found[0].Span.File())
	}
}

// A forbidden function is not there, not even to be replaced.
func TestForbiddenCannotBeReplaced(t *testing.T) {
	u := guard("deny contains \"x\" if f(1)\nf(x) if x == 1 with http.send as 1")
	_, found := new(Compiler).Compile(u)
	assert.Equal(t, []string{"HK074 6:27 http.send may not be called by a rule"}, lines(found))
}
