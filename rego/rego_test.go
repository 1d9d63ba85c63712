package rego

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
)

// The codes of the kinds above stand in for theirs: this package only reports
// through them.
var (
	testNoReason = diag.Define("HK114", diag.Hint, "rule without a reason").Explained("h", "b", "g")
	testMissing  = diag.Define("HK113", diag.Hint, "guard that lets a missing value through").Explained("h", "b", "g")
)

// inline is a hook whose Rego stands in a literal block of a hooks.yaml: the
// source begins at line 4, column 7.
func inline(name string, event policy.Event, source string) *policy.Hook {
	const head, indent = "event:\n  - type: rego\n    source: |\n", "      "
	var file strings.Builder
	var marks []diag.Mark
	file.WriteString(head)
	body := 0
	for _, line := range strings.SplitAfter(source, "\n") {
		if line == "" {
			continue
		}
		file.WriteString(indent)
		marks = append(marks, diag.Mark{Body: body, Source: file.Len()})
		file.WriteString(line)
		body += len(line)
	}
	src := diag.NewSource("hooks.yaml", file.String())
	return &policy.Hook{
		Name: name, Event: event, Kind: policy.KindRego, Tier: policy.TierUser,
		Span: diag.Span{Source: src},
		Body: policy.Body{Source: diag.NewText(source, diag.Span{Source: src, Start: len(head), End: file.Len()}, marks)},
	}
}

func guard(source string) *policy.Hook {
	return inline("guard", policy.PreToolExecution, "package hooks.shell\n"+source)
}

// compiled is a module that compiles without a finding.
func compiled(t testing.TB, h *policy.Hook) *Module {
	t.Helper()
	m, found := new(Compiler).Compile(h)
	require.Empty(t, found.Render())
	require.NotNil(t, m)
	return m
}

func call(tool string, input map[string]any) *policy.Context {
	return policy.NewContext("").Set(policy.FieldToolName, tool).Set(policy.FieldToolInput, input).Set(policy.FieldCwd, "/repo").Set(policy.FieldSessionID, "s").Frozen(policy.PreToolExecution)
}

func bash(command string) *policy.Context {
	return call("Bash", map[string]any{"command": command})
}

// lines are findings as `CODE line:col text`.
func lines(found diag.List) []string {
	var out []string
	for _, d := range found {
		line, col := d.Span.Position()
		out = append(out, strings.Join([]string{d.Code.ID, at(line, col), d.Text}, " "))
	}
	return out
}

func at(line, col int) string { return fmt.Sprintf("%d:%d", line, col) }

// summary is a result in short: verdict, control, and reasons with lines.
type summary struct {
	Verdict, Control         string
	VerdictAt, ControlAt     string
	Reasons                  []string
	Context, System, Backing []string
}

func short(r policy.Result) summary {
	pos := func(s diag.Span) string { return strings.TrimPrefix(s.String(), "hooks.yaml:") }
	out := summary{Verdict: r.Verdict.String(), Control: r.Control.String(),
		VerdictAt: pos(r.VerdictBy.At), ControlAt: pos(r.ControlBy.At), Context: r.Context, System: r.System, Backing: r.Feedback}
	for _, reason := range r.Reasons {
		out.Reasons = append(out.Reasons, pos(reason.At)+" "+reason.Text)
	}
	return out
}

var contractTests = []struct {
	name   string
	source string // line 5 of hooks.yaml on: line 4 is the package
	want   summary
}{
	{"deny set", `deny contains "b" if input.tool_name == "Bash"
deny contains "a" if true`,
		summary{Verdict: "deny", Control: "go", VerdictAt: "6:7", Reasons: []string{"6:7 a", "5:7 b"}}},
	{"deny set of a variable", `deny contains msg if { some n in [2, 1]; msg := sprintf("n%d", [n]) }
deny contains msg if msg := "m"`,
		summary{Verdict: "deny", Control: "go", VerdictAt: "6:7", Reasons: []string{"6:7 m", "5:7 n1", "5:7 n2"}}},
	{"deny objects", `deny contains {"reason": "r", "code": 1} if true
deny contains {"msg": "m"} if true`,
		summary{Verdict: "deny", Control: "go", VerdictAt: "6:7", Reasons: []string{"6:7 m", "5:7 r"}}},
	{"deny true", "deny if input.tool_name == \"Bash\"",
		summary{Verdict: "deny", Control: "go", VerdictAt: "5:7"}},
	{"deny one of two booleans", "deny if input.tool_name == \"Read\"\ndeny if input.tool_name == \"Bash\"",
		summary{Verdict: "deny", Control: "go", VerdictAt: "6:7"}},
	{"deny false by default", "default deny := false\ndeny if input.tool_name == \"Read\"", summary{Verdict: "none", Control: "go"}},
	{"deny string", `deny := "no" if input.tool_name == "Bash"`,
		summary{Verdict: "deny", Control: "go", VerdictAt: "5:7", Reasons: []string{"5:7 no"}}},
	{"deny by else", `deny := "r" if { input.tool_name == "Read" }
else := "b" if { input.tool_name == "Bash" }`,
		summary{Verdict: "deny", Control: "go", VerdictAt: "6:7", Reasons: []string{"6:7 b"}}},
	{"default value", `default deny := "closed"
deny := false if input.tool_name == "Read"`,
		summary{Verdict: "deny", Control: "go", VerdictAt: "5:7", Reasons: []string{"5:7 closed"}}},
	{"array keeps its order", `deny := ["z", "a"]`,
		summary{Verdict: "deny", Control: "go", VerdictAt: "5:7", Reasons: []string{"5:7 z", "5:7 a"}}},
	{"empty text is no text", `deny contains "" if true`, summary{Verdict: "deny", Control: "go", VerdictAt: "5:7"}},
	{"undefined says nothing", `deny contains "no" if input.tool_input.missing == 1`, summary{Verdict: "none", Control: "go"}},
	{"undefined entry point", `deny := "no" if input.tool_input.missing == 1`, summary{Verdict: "none", Control: "go"}},
	{"ask", `ask contains "sure?" if true`,
		summary{Verdict: "ask", Control: "go", VerdictAt: "5:7", Reasons: []string{"5:7 sure?"}}},
	{"allow", `allow := "fine" if true`,
		summary{Verdict: "allow", Control: "go", VerdictAt: "5:7", Reasons: []string{"5:7 fine"}}},
	{"most restrictive, reasons in order", `stop contains "s" if true
allow contains "l" if true
skip contains "k" if true
ask contains "q" if true
deny contains "d" if true`,
		summary{Verdict: "deny", Control: "stop", VerdictAt: "9:7", ControlAt: "5:7",
			Reasons: []string{"9:7 d", "8:7 q", "6:7 l", "7:7 k", "5:7 s"}}},
	{"skip", "skip if true", summary{Verdict: "none", Control: "skip", ControlAt: "5:7"}},
	{"conftest denials by name", `deny_b contains "1" if true
deny_a contains {"msg": "2"} if true
violation contains "3" if true
deny contains "4" if true`,
		summary{Verdict: "deny", Control: "go", VerdictAt: "8:7", Reasons: []string{"8:7 4", "7:7 3", "6:7 2", "5:7 1"}}},
	{"texts", `context contains "c2" if true
context contains "c1" if true
message := "m"
warn contains {"msg": "w"} if true
warn_x contains "wx" if true
feedback := ["f2", "f1"]`,
		summary{Verdict: "none", Control: "go", Context: []string{"c1", "c2"}, System: []string{"m", "w", "wx"}, Backing: []string{"f2", "f1"}}},
}

func TestContract(t *testing.T) {
	for _, test := range contractTests {
		t.Run(test.name, func(t *testing.T) {
			m := compiled(t, guard(test.source))
			r, err := m.Run(context.Background(), bash("ls"), 0)
			require.NoError(t, err)
			assert.Equal(t, test.want, short(r))
		})
	}
}

func TestByNamesTheHook(t *testing.T) {
	r, err := compiled(t, guard(`deny contains "no" if true`)).Run(context.Background(), bash("ls"), 0)
	require.NoError(t, err)
	assert.Equal(t, "guard", r.VerdictBy.Name)
}

// With many rules, the line is that of the rule that fired, whether it is
// found by its constant, by the index or by asking each.
func TestLineOfManyRules(t *testing.T) {
	var src strings.Builder
	for _, tool := range []string{"A", "B", "Bash", "C"} {
		src.WriteString("deny contains sprintf(\"%s: %s\", [input.tool_name, input.tool_input.command]) if input.tool_name == \"" + tool + "\"\n")
	}
	src.WriteString("deny contains msg if { startswith(input.tool_input.command, \"r\"); msg := \"starts with r\" }\n")
	src.WriteString("deny contains msg if { endswith(input.tool_input.command, \"m\"); msg := concat(\" \", [\"ends\", \"with m\"]) }\n")
	r, err := compiled(t, guard(src.String())).Run(context.Background(), bash("rm"), 0)
	require.NoError(t, err)
	assert.Equal(t, []string{"7:7 Bash: rm", "10:7 ends with m", "9:7 starts with r"}, short(r).Reasons)
}

func TestPatch(t *testing.T) {
	m := compiled(t, guard(`patch := {"tool_input": {"command": concat(" ", ["echo", input.tool_input.command])}}`))
	r, err := m.Run(context.Background(), call("Bash", map[string]any{"command": "ls", "cwd": "/x"}), 0)
	require.NoError(t, err)
	want := policy.Merge(policy.FieldToolInput, map[string]any{"command": "echo ls"})
	assert.Equal(t, policy.Result{Patch: want}, r)
	assert.Equal(t, []string{"tool_input.command"}, m.Effects().Writes.Names())

	m = compiled(t, inline("p", policy.PreLLMRequest, `package p
patch.system_prompt := "short"
patch.request_config.n := 1.5
patch.request_config.big := 12345678901234567890 if input.model == "m"`))
	r, err = m.Run(context.Background(), policy.NewContext("").Set(policy.FieldModel, "m").Frozen(policy.PreLLMRequest), 0)
	require.NoError(t, err)
	c := policy.NewContext("").Set(policy.FieldRequestConfig, map[string]any{"k": true}).Frozen(policy.PreLLMRequest).With(r.Patch)
	text, err := policy.EncodeJSON(c.Map())
	require.NoError(t, err)
	assert.Equal(t, `{"event":"pre_llm_request","request_config":{"big":12345678901234567890,"k":true,"n":1.5},"system_prompt":"short"}`, string(text))
	assert.Equal(t, []string{"system_prompt", "request_config.big", "request_config.n"}, m.Effects().Writes.Names())
}

func TestWholeResult(t *testing.T) {
	m := compiled(t, guard(`result := {"decision": "ask", "reason": "sure?", "tool_input": {"command": "ls"}} if input.tool_name == "Bash"`))
	r, err := m.Run(context.Background(), bash("rm"), 0)
	require.NoError(t, err)
	assert.Equal(t, summary{Verdict: "ask", Control: "go", VerdictAt: "5:7", Reasons: []string{"5:7 sure?"}}, short(r))
	assert.Equal(t, policy.Merge(policy.FieldToolInput, map[string]any{"command": "ls"}), r.Patch)
	assert.Equal(t, policy.PreToolExecution.Spec().Powers, m.Effects().May)
	assert.Equal(t, []string{"tool_input.command"}, m.Effects().Writes.Names())
}

func TestFailures(t *testing.T) {
	tests := []struct {
		name, source, text string
		kind               policy.ErrKind
		at                 string
	}{
		{"builtin error", "deny contains \"no\" if {\n  to_number(input.tool_input.command) > 1\n}", `to_number: strconv.ParseFloat: parsing "x": invalid syntax`, policy.ErrEval, "hooks.yaml:6:9"},
		{"builtin error beside a fired rule", "deny contains \"no\" if true\nask contains \"x\" if to_number(input.tool_input.command) > 1", "", policy.ErrEval, "hooks.yaml:6:27"},
		{"conflict", "allow := true if input.tool_name == \"Bash\"\nallow := false if input.tool_input.command", "rule data.hooks.shell.allow produced conflicting values: true at hooks.yaml:5:7; false at hooks.yaml:6:7", policy.ErrEval, "hooks.yaml:6:7"},
		{"hookc function's argument", "deny contains \"no\" if path.base(input.tool_input.n) == \"x\"", "path.base: p must be a string, not number", policy.ErrEval, "hooks.yaml:5:29"},
		{"number", "deny := input.tool_input.n", "deny must be a boolean, a string or a set of strings or {reason} objects, and is a number", policy.ErrParse, "hooks.yaml:5:7"},
		{"number in a set", "deny contains input.tool_input.n", "deny must be a boolean, a string or a set of strings or {reason} objects, and is a set that holds a number", policy.ErrParse, "hooks.yaml:5:7"},
		{"object without a reason", "deny := input.tool_input", "deny must be a boolean, a string or a set of strings or {reason} objects, and is an object without a reason", policy.ErrParse, "hooks.yaml:5:7"},
		{"boolean context", "context := input.tool_name == \"Bash\"", "context must be a string or a set of strings, and is a boolean", policy.ErrParse, "hooks.yaml:5:7"},
		{"patch of a string", "patch := input.tool_name", "patch must be an object, and is a string", policy.ErrParse, "hooks.yaml:5:7"},
		{"patch of a computed field", "patch := {input.tool_name: 1}", `patch sets "Bash", which is no field a hook can change`, policy.ErrParse, "hooks.yaml:5:7"},
		{"patch of the wrong type", "patch := {\"tool_input\": input.tool_name}", "patch: tool_input must be a JSON object", policy.ErrParse, "hooks.yaml:5:7"},
		{"unknown decision", "result := {\"decision\": input.tool_name}", `result: decision must be allow, ask, defer or deny, not "Bash"`, policy.ErrParse, "hooks.yaml:5:7"},
		{"result of a list", "result := v if v := [input.tool_name]", "result must be an object, and is an array", policy.ErrParse, "hooks.yaml:5:7"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			m := compiled(t, guard(test.source))
			r, err := m.Run(context.Background(), call("Bash", map[string]any{"command": "x", "n": 1}), 0)
			var failure *policy.HookError
			require.ErrorAs(t, err, &failure)
			assert.Equal(t, policy.Result{}, r)
			assert.Equal(t, test.kind, failure.Kind)
			if test.text != "" {
				assert.Equal(t, test.text, failure.Text)
			}
			assert.Equal(t, test.at, failure.At.String())
		})
	}
}

// Two hooks with one package name, and a shared file of that name too, stay
// apart; each reaches itself by its own name.
func TestPackagesDoNotMerge(t *testing.T) {
	dir := shared(t, map[string]string{"lib.rego": "package hooks.shell\nshared := \"shared\"\nname := \"library\"\ndeny contains \"library\" if true\n"})
	source := func(name string) string {
		return "package hooks.shell\nimport data.hooks.shell\nimport data.hooks.shell.name as own\nname := \"" + name + "\"\n" +
			"deny contains msg if msg := concat(\" \", [data.hooks.shell.name, shell.name, own, name, data.hooks.shell.shared])\n"
	}
	for _, name := range []string{"one", "two"} {
		h := withFiles(inline(name, policy.PreToolExecution, source(name)), dir, []string{"lib.rego"}, nil)
		m := compiled(t, h)
		r, err := m.Run(context.Background(), bash("ls"), 0)
		require.NoError(t, err)
		assert.Equal(t, []string{"8:7 " + strings.Repeat(name+" ", 4) + "shared"}, short(r).Reasons)
	}
}

func TestMetadataSurvivesTheNamespace(t *testing.T) {
	m := compiled(t, guard("# METADATA\n# title: from metadata\ndeny contains rego.metadata.rule().title if true\n"))
	r, err := m.Run(context.Background(), bash("ls"), 0)
	require.NoError(t, err)
	assert.Equal(t, []string{"7:7 from metadata"}, short(r).Reasons)
}

func TestV0(t *testing.T) {
	h := guard("deny[msg] {\n  input.tool_name == \"Bash\"\n  msg := \"v0\"\n}\nallow { true }\n")
	_, found := new(Compiler).Compile(h)
	assert.Equal(t, []string{"HK070 5:7 `if` keyword is required before rule body"}, lines(found))
	assert.Equal(t, "this is Rego v0: write `deny contains msg if { ... }`, or set rego: {version: v0}", found[0].Hint)

	h.File = &policy.FileConfig{Rego: policy.RegoConfig{Version: "v0"}}
	r, err := compiled(t, h).Run(context.Background(), bash("ls"), 0)
	require.NoError(t, err)
	assert.Equal(t, []string{"5:7 v0"}, short(r).Reasons)
}

// The example of semantics.md §10.
func TestExampleOfTheSpecification(t *testing.T) {
	dir := shared(t, map[string]string{"limits.json": `{"limits": {"protected_branches": ["main", "release"]}}`})
	m := compiled(t, withFiles(guard("deny contains \"recursive delete of a root path\" if regex.match(`rm\\s+-\\w*r\\w*f?\\s+/(\\s|$)`, input.tool_input.command)\n"+
		"ask contains sprintf(\"pushes to %s\", [b]) if {\n  some b in data.limits.protected_branches\n"+
		"  regex.match(sprintf(`git\\s+push\\b.*\\b%s\\b`, [b]), input.tool_input.command)\n}\n"), dir, nil, []string{"limits.json"}))
	for command, want := range map[string]summary{
		"rm -rf /":             {Verdict: "deny", Control: "go", VerdictAt: "5:7", Reasons: []string{"5:7 recursive delete of a root path"}},
		"git push origin main": {Verdict: "ask", Control: "go", VerdictAt: "6:7", Reasons: []string{"6:7 pushes to main"}},
		"ls":                   {Verdict: "none", Control: "go"},
	} {
		r, err := m.Run(context.Background(), bash(command), 0)
		require.NoError(t, err)
		assert.Equal(t, want, short(r))
	}
	assert.Equal(t, []string{"tool_input.command"}, m.Effects().Reads.Names())
	assert.Equal(t, policy.MayDeny|policy.MayAsk, m.Effects().May)
}
