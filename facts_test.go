package hookc_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
)

const factsPolicy = `
facts:
  user: string
  roles: {list: string}
  age: int
  oncall: bool
  environment: {enum: [dev, prod]}
pre_tool_execution:
  - {name: prod, deny: 'facts.environment == "prod" and not ("admin" in (facts.roles ?? []))', reason: "production"}
  - name: who
    source: |
      package p
      deny contains sprintf("%s may not", [input.facts.user]) if input.facts.user == "mallory"
      ask contains "young" if input.facts.age < 18
      ask contains "on call" if input.facts.oncall
`

// TestFactsOfTheHost: what a host says of who calls is read alike by every road
// and every engine, has the declared type, and is undefined where nobody says it.
func TestFactsOfTheHost(t *testing.T) {
	eng := engine(t, factsPolicy)
	for _, c := range []struct {
		facts any
		by    string
	}{
		{nil, ""}, {map[string]any{}, ""}, {map[string]string{"environment": "dev"}, ""}, {map[string]string{"environment": "prod"}, "prod"},
		{struct {
			Environment string   `json:"environment"`
			Roles       []string `json:"roles"`
		}{"prod", []string{"admin"}}, ""},
		{map[string]any{"user": "mallory"}, "who"}, {map[string]any{"age": 17.0}, "who"}, {map[string]any{"oncall": true, "age": 20}, "who"},
		{map[string]any{"user": nil, "undeclared": []int{1}}, ""},
	} {
		call := hookc.Call{Where: hookc.Where{Facts: c.facts}, Tool: "Bash", Input: map[string]any{"command": "ls"}}
		d, err := eng.PreTool(t.Context(), call)
		require.NoError(t, err)
		assert.Equal(t, c.by, d.By, "%v", c.facts)
		text, err := policy.EncodeJSON(call)
		require.NoError(t, err)
		same, err := eng.FireJSON(t.Context(), hookc.PreToolExecution, text)
		require.NoError(t, err)
		assert.Equal(t, c.by, same.By, "%s", text)
		in, _, err := policy.DecodeContext(text)
		require.NoError(t, err)
		same, err = eng.FireInto(t.Context(), hookc.PreToolExecution, in, new(hookc.Reused))
		require.NoError(t, err)
		assert.Equal(t, c.by, same.By, "%s", text)
	}
	for name, wrong := range map[string]any{"user": 7, "roles": "admin", "age": 1.5, "oncall": "yes", "environment": "test"} {
		d, err := eng.PreTool(t.Context(), hookc.Call{Where: hookc.Where{Facts: map[string]any{name: wrong}}, Tool: "Bash"})
		require.ErrorContains(t, err, "facts."+name+" must be")
		assert.Equal(t, policy.Block, d.Action)
	}
}

// TestFactsAreDeclared: what no policy declares is an error where it is read, and
// a name that is no field is answered with where it may be.
func TestFactsAreDeclared(t *testing.T) {
	for text, hint := range map[string]string{
		`pre_tool_execution: [{name: h, deny: 'facts.usr == "a"'}]`:                                 "did you mean \"user\"?",
		`pre_tool_execution: [{name: h, source: "package p\n\ndeny if input.facts.team == \"a\""}]`: "declare it: facts: {team: string}",
		`pre_tool_execution: [{name: h, prompt: "is {{facts.tenant}} fine?"}]`:                      "declare it: facts: {tenant: string}",
		`pre_tool_execution: [{name: h, command: "true", reads: [facts.x]}]`:                        "declare it: facts: {x: string}",
		`pre_tool_execution: [{name: h, source: "package p\n\ndeny if input.user == \"a\""}]`:       "what the agent sends under another name is in input.raw.user; what the host knows is a fact: declare facts: {user: string} and read input.facts.user",
		`pre_tool_execution: [{name: h, deny: 'user == "a"'}]`:                                      "what the agent sends under another name is in raw.user; what the host knows is a fact: declare facts: {user: string} and read facts.user",
		`pre_tool_execution: [{name: h, deny: 'tool_nam == "a"'}]`:                                  "did you mean \"tool_name\"?",
	} {
		_, found := hookc.Compile(hookc.Text("hooks.yaml", "facts: {user: string}\n"+text))
		require.NotEmpty(t, found, text)
		var hints []string
		for _, d := range found {
			hints = append(hints, d.Hint)
			line, _ := d.Span.Position()
			assert.Equal(t, 2, line)
		}
		assert.Contains(t, hints, hint, text)
	}
	for _, text := range []string{
		"facts: {User: string}", "facts: {user: text}", "facts: {user: {list: int}}", "facts: {user: {enum: []}}", "facts: {user: {type: int, list: string}}",
		"facts: {user: {typ: int}}", "facts: [user]",
	} {
		_, found := hookc.Load(hookc.Text("hooks.yaml", text+"\nnotify: [{command: cat}]\n"))
		assert.True(t, found.HasErrors(), text)
	}
}

// TestFactsOfCommands are asked once a session and folder, and only where a hook
// reads them; nobody else may say them, and the event has no say in them.
func TestFactsOfCommands(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log")
	eng := engine(t, fmt.Sprintf(`
facts:
  branch: {command: 'cat >>%[1]s; echo $TOOL_NAME $FILE_PATH $JCLI_HOOK_EVENT >>%[1]s; echo main'}
pre_tool_execution:
  - {name: main, filter: {tool_name: Bash}, deny: 'facts.branch == "main"', reason: "not on main"}
stop:
  - {name: none, deny: 'user_input == "x"'}
`, log))
	for _, session := range []string{"s", "s", "t", "s"} {
		d, err := eng.PreTool(t.Context(), hookc.Call{Where: hookc.Where{SessionID: session, Facts: map[string]any{"branch": "dev"}}, Tool: "Bash", Input: map[string]any{"file_path": "/x"}})
		require.NoError(t, err)
		assert.Equal(t, "main", d.By, "the host cannot say what a command is to say")
		facts, _ := d.Final.Get(policy.FieldFacts)
		assert.Equal(t, map[string]any{"branch": "main"}, facts)
	}
	d, err := eng.Stop(t.Context(), hookc.Turn{})
	require.NoError(t, err)
	assert.Empty(t, d.Warnings)
	assert.Equal(t, "{\"session_id\":\"s\"}\n{\"session_id\":\"t\"}\n", string(must(os.ReadFile(log))))
}

// TestUnknownFacts: a hook that reads a fact that its command did not say fails, and
// its on_error decides; whatever its kind, and by every road. Others go on.
func TestUnknownFacts(t *testing.T) {
	kinds := map[string]string{
		"expr":    `deny: 'facts.broken == "no"'`,
		"context": `context: 'facts.broken ?? "x"'`,
		"rego":    `source: "package p\n\ndeny contains \"no\" if input.facts.broken == \"no\""`,
		"whole":   `source: "package p\n\ndeny contains \"no\" if { some k, v in input.facts; k == \"x\" }"`,
		"llm":     `prompt: "is {{facts.broken}} fine?"`,
		"script":  `command: "true", reads: [facts.broken]`,
	}
	const why = "facts.broken is not known: exit status 3: no such thing"
	for name, body := range kinds {
		for posture, action := range map[string]policy.Action{"deny": policy.Block, "ask": policy.AskUser, "skip": policy.Proceed, "": policy.Block} {
			if posture == "" && (name == "llm" || name == "script") {
				action = policy.Proceed
			}
			key := ""
			if posture != "" {
				key = ", on_error: " + posture
			}
			text := fmt.Sprintf(`
facts:
  broken: {command: 'echo no such thing >&2; exit 3'}
  good: {command: 'echo yes'}
pre_tool_execution:
  - {name: opaque, command: "echo {}"}
  - {name: other, ask: 'facts.good == "no"'}
  - {name: h, %s%s}
`, body, key)
			model := hookc.Model(func(context.Context, policy.ModelRequest) (string, error) { return "{}", nil })
			eng := must(hookc.Open(t.Context(), hookc.Text("hooks.yaml", text), model))
			call := hookc.Call{Where: hookc.Where{SessionID: "s"}, Tool: "Bash", Input: map[string]any{"command": "ls"}}
			data := must(policy.EncodeJSON(call))
			in, _, err := policy.DecodeContext(data)
			require.NoError(t, err)
			roads := map[string]func() (*policy.Decision, error){
				"struct": func() (*policy.Decision, error) { return eng.PreTool(t.Context(), call) },
				"json":   func() (*policy.Decision, error) { return eng.FireJSON(t.Context(), "pre_tool_execution", data) },
				"into": func() (*policy.Decision, error) {
					return eng.FireInto(t.Context(), "pre_tool_execution", in, new(hookc.Reused))
				},
				"serial": func() (*policy.Decision, error) { return eng.FireSerial(t.Context(), "pre_tool_execution", in) },
			}
			for road, fire := range roads {
				at := name + " " + posture + " " + road
				d, err := fire()
				require.NoError(t, err, at)
				assert.Equal(t, action, d.Action, at)
				require.Len(t, d.Failed, 1, at)
				assert.Equal(t, "h", d.Failed[0].Hook, at)
				assert.Equal(t, why, d.Failed[0].Error, at)
				assert.Equal(t, "HK182 "+why, d.Warnings[len(d.Warnings)-1].String(), at)
			}
			require.NoError(t, eng.Close())
		}
	}
	eng := engine(t, `
facts:
  count: {type: int, command: 'echo many'}
pre_tool_execution:
  - {name: h, deny: 'facts.count == 1'}
`)
	d, err := eng.PreTool(t.Context(), hookc.Call{Tool: "Bash"})
	require.NoError(t, err)
	assert.Equal(t, policy.Block, d.Action)
	assert.Equal(t, "HK182 facts.count is not known: facts.count must be a whole number", d.Warnings[len(d.Warnings)-1].String())
}

// TestFactsOfTiers: the declaration of the most trusted tier holds.
func TestFactsOfTiers(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	user := write("user.yaml", "facts: {who: {command: echo user}}\npre_tool_execution: [{name: u, deny: 'facts.who != \"user\"'}]\n")
	project := write("project.yaml", "facts: {who: {command: echo project}}\n")
	again := write("again.yaml", "facts: {who: string}\n")
	for _, files := range [][]string{{"user=" + user, project}, {project, "user=" + user}, {"user=" + user, again}} {
		eng, err := hookc.Open(t.Context(), hookc.Files(files...))
		require.NoError(t, err)
		d, err := eng.PreTool(t.Context(), hookc.Call{Where: hookc.Where{Facts: map[string]any{"who": "host"}}, Tool: "Bash"})
		require.NoError(t, err)
		assert.True(t, d.Permits(), "%v", files)
		require.NoError(t, eng.Close())
	}
	_, found := hookc.Load(hookc.Files("user="+user, project))
	assert.Equal(t, []string{"HK062"}, spots1(found))
	assert.False(t, found.HasErrors())
	_, found = hookc.Load(hookc.Files(project, write("two.yaml", "facts: {who: int}\n")))
	assert.True(t, found.HasErrors())
}

func spots1(list diag.List) []string {
	var out []string
	for _, d := range list {
		out = append(out, d.Code.ID)
	}
	return out
}
