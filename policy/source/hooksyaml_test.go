package source

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
)

// loadText loads a policy file in memory.
func loadText(text string) (*policy.Policy, diag.List) {
	return Load(Options{Inputs: []Input{{Path: "/p/hooks.yaml", Tier: policy.TierProject, Content: []byte(text)}}, Dir: "/p"})
}

// loadTree lays out files of a txtar text, or one hooks.yaml, and loads
// hooks.yaml from disk.
func loadTree(t *testing.T, text string) (string, *policy.Policy, diag.List) {
	t.Helper()
	dir := realPath(t.TempDir())
	archive := txtar.Parse([]byte(text))
	if len(archive.Files) == 0 {
		archive.Files = []txtar.File{{Name: "hooks.yaml", Data: []byte(text)}}
	}
	for _, f := range archive.Files {
		path := filepath.Join(dir, f.Name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, f.Data, 0o600))
	}
	p, found := Load(Options{Inputs: []Input{{Path: filepath.Join(dir, "hooks.yaml"), Tier: policy.TierProject}}, Dir: dir})
	return dir, p, found
}

// plain is what a hook says without places, for whole comparisons.
func plain(h *policy.Hook) map[string]any {
	out := map[string]any{"name": h.Name, "event": h.Event, "kind": h.Kind, "order": h.Order}
	set := func(key string, value any, written bool) {
		if written {
			out[key] = value
		}
	}
	set("command", h.Body.Command.Value, !h.Body.Command.IsZero())
	set("prompt", h.Body.Prompt.Value, !h.Body.Prompt.IsZero())
	set("model", h.Body.Model, h.Body.Model != "")
	set("timeout", h.Timeout, h.Timeout != 0)
	set("retry", h.Retry, h.Retry != -1)
	set("on_error", h.OnError, h.OnError != 0)
	for _, c := range h.Filter.Conditions {
		set(string(c.Key), c.Value.Value, true)
	}
	return out
}

func TestSeed0(t *testing.T) {
	for file, want := range map[string][]map[string]any{
		"seed0-config": {
			{"name": "project/pre_send_message#1", "event": policy.PreSendMessage, "kind": policy.KindBash, "order": 0,
				"command": "python3 ~/.jdata/agent/hooks/inject_time.py", "timeout": 5 * time.Second, "on_error": policy.OnErrorSkip},
			{"name": "project/session_start#1", "event": policy.SessionStart, "kind": policy.KindBash, "order": 0,
				"command": `echo '{"inject_messages": [{"role": "user", "content": "当前用户: jack"}]}'`},
			{"name": "project/pre_tool_execution#1", "event": policy.PreToolExecution, "kind": policy.KindLLM, "order": 0,
				"prompt":       "审查工具调用是否安全:工具={{tool_name}} 参数={{tool_arguments}}\n如果不安全,返回 {\"action\":\"skip\"},否则返回 {}\n",
				"tool_matcher": "Bash|Shell"},
		},
		"seed0-example1": {
			{"name": "project/post_llm_response#1", "event": policy.PostLLMResponse, "kind": policy.KindLLM, "order": 0,
				"prompt":  "检查以下 AI 回复是否包含敏感信息(密码、密钥、token):\n{{assistant_output}}\n如果包含敏感信息,返回 action=stop + retry_feedback 说明问题。\n如果没有问题,返回空 JSON {}。\n",
				"timeout": 30 * time.Second, "retry": 1, "on_error": policy.OnErrorSkip},
		},
		"seed0-example2": {
			{"name": "project/pre_send_message#1", "event": policy.PreSendMessage, "kind": policy.KindLLM, "order": 0,
				"prompt": "审查用户消息是否合规:{{user_input}}\n如有违规返回 action=stop 和 retry_feedback。\n", "model": "gpt-4o-mini",
				"timeout": 15 * time.Second, "retry": 1},
		},
		"seed0-example5": {
			{"name": "project/pre_tool_execution#1", "event": policy.PreToolExecution, "kind": policy.KindLLM, "order": 0,
				"prompt":       "审查工具调用是否安全:工具={{tool_name}}, 参数={{tool_arguments}}\n如果不安全,返回 action=skip。\n",
				"tool_matcher": "Bash|Shell", "timeout": 15 * time.Second, "retry": 1},
		},
	} {
		t.Run(file, func(t *testing.T) {
			p, found := Load(Options{Inputs: []Input{{Path: "../../tests/testdata/seeds/" + file + ".yaml", Tier: policy.TierProject}}})
			require.Empty(t, found.Render())
			var got []map[string]any
			for _, h := range p.Hooks {
				got = append(got, plain(h))
			}
			assert.Equal(t, want, got)
		})
	}
}

// TestEveryKey reads every key of the schema once and checks where it lands.
func TestEveryKey(t *testing.T) {
	dir, p, found := loadTree(t, `-- hooks.yaml --
version: 1
profile: jcli
defaults:
  chain_timeout: 1m
  max_concurrent: 4
  max_models: 2
  on_error: {bash: ask, shell: deny, llm: abort}
  model: m0
  timeout: 7
rego: {paths: [lib], data: [data.json], forbid: [http.send], version: v0}
tools: {known: [Bash, Read], open: ["mcp__*"]}
PreToolUse:
  strategy: first
  chain_timeout: 1.5
  order: priority
  hooks:
    - name: one
      description: the first
      type: shell
      command: ./a.sh
      protocol: claude-code
      env: {A: b, N: 5, T: true}
      priority: 7
      enabled: false
      locked: true
      async: true
      recheck: true
      timeout: "500ms"
      retry: 3
      on_error: stop
      on_timeout: deny
      reads: [tool_input.command]
      writes: []
      may: deny
      world: read
      speculative: false
      filter: {tool_name: Bash, tool_matcher: A|B, tool_kind: shell, model_prefix: gpt, path: "**/x", command: rm, pattern: p,
        source: s, agent: a, permission_mode: plan}
    - name: both
      fold: last
      priority: 9
      parallel:
        - {prompt: "is {{tool_name}} safe?", model: m1, pure: true}
        - {file: a.rego}
    - {name: rules, when: w, deny: d, reason: r, rules: [{ask: a, reason: r2}, {stop: true}], set: {tool_input.command: v}, context: c}
    - {use: shell-guard, name: b, roots: [a, 1], command: [x]}
-- a.sh --
-- a.rego --
package a
-- lib/l.rego --
package l
-- data.json --
{}
`)
	require.Empty(t, found.Render())
	assert.Equal(t, time.Minute, p.ChainTimeout)
	assert.Equal(t, []int{4, 2}, []int{p.MaxConcurrent, p.MaxModels})
	assert.Equal(t, []string{"hooks.yaml: profile jcli: canonical rules, which are jcli's"}, p.Notes)
	assert.Equal(t, []string{"Bash", "Read"}, p.Tools.Known)
	assert.Equal(t, []string{"mcp__*"}, p.Tools.Open)
	require.Len(t, p.Settings, 1)
	s := p.Settings[0]
	assert.Equal(t, policy.Setting{Event: policy.PreToolExecution, Tier: policy.TierProject, Strategy: policy.First, StrategySpan: s.StrategySpan,
		ChainTimeout: 1500 * time.Millisecond, ChainTimeoutSpan: s.ChainTimeoutSpan, Order: "priority", OrderSpan: s.OrderSpan}, s)
	assert.Equal(t, []policy.SourceFile{{Name: "hooks.yaml", Path: filepath.Join(dir, "hooks.yaml"), Tier: policy.TierProject, Format: "hooksyaml",
		Uses: []string{filepath.Join(dir, "a.rego"), filepath.Join(dir, "a.sh"), filepath.Join(dir, "data.json"), filepath.Join(dir, "lib")}}}, p.Sources)
	require.Len(t, p.Hooks, 5)

	c := p.Hooks[0].File
	assert.Equal(t, dir, c.Dir)
	assert.Equal(t, map[policy.Kind]policy.Posture{policy.KindBash: policy.OnErrorDeny, policy.KindLLM: policy.OnErrorAbort}, c.OnError)
	assert.Equal(t, "m0", c.Model)
	assert.Equal(t, [][]string{{filepath.Join(dir, "lib")}, {filepath.Join(dir, "data.json")}, {"http.send"}, {"v0"}},
		[][]string{Values(c.Rego.Paths), Values(c.Rego.Data), c.Rego.Forbid, {c.Rego.Version}})

	one := p.Hooks[0]
	no := false
	assert.Equal(t, []string{"tool_input.command"}, Values(one.Declared.Reads))
	assert.Equal(t, []string{}, Values(one.Declared.Writes))
	assert.Equal(t, []string{"deny"}, Values(one.Declared.May))
	var filter []string
	for _, x := range one.Filter.Conditions {
		filter = append(filter, string(x.Key)+"="+x.Value.Value)
	}
	assert.Equal(t, []string{"tool_name=Bash", "tool_matcher=A|B", "tool_kind=shell", "model_prefix=gpt", "path=**/x", "command=rm", "pattern=p", "source=s", "agent=a", "permission_mode=plan"}, filter)
	assert.Equal(t, &policy.Hook{Name: "one", Description: "the first", Event: policy.PreToolExecution, Kind: policy.KindBash, Tier: policy.TierProject,
		Priority: 7, Locked: true, Disabled: true, Async: true, Recheck: true, Filter: one.Filter,
		Body:     policy.Body{Command: one.Body.Command, Line: filepath.Join(dir, "a.sh"), Base: dir, Root: dir, Protocol: "claude", Env: []policy.EnvVar{{Name: "A", Value: "b"}, {Name: "N", Value: "5"}, {Name: "T", Value: "true"}}},
		Declared: policy.Declared{Reads: one.Declared.Reads, Writes: one.Declared.Writes, May: one.Declared.May, World: policy.WorldRead, Speculative: &no, Span: one.Declared.Span},
		Timeout:  500 * time.Millisecond, TimeoutSpan: one.TimeoutSpan, Retry: 3, OnError: policy.OnErrorAbort, OnTimeout: policy.OnErrorDeny,
		Span: one.Span, Dir: dir, File: c}, one)
	assert.Equal(t, "./a.sh", one.Body.Command.Value)

	llm, rego := p.Hooks[1], p.Hooks[2]
	assert.Equal(t, &policy.Group{Name: "both", Priority: 9, Fold: policy.FoldLast, Order: 1, Span: llm.Group.Span}, llm.Group)
	assert.Same(t, llm.Group, rego.Group)
	assert.Equal(t, []any{"project/pre_tool_execution#2", "m1", true, 7 * time.Second, 1}, []any{llm.Name, llm.Body.Model, llm.Declared.Pure, llm.Timeout, llm.Order})
	assert.Equal(t, []any{"project/pre_tool_execution#3", "package a\n", filepath.Join(dir, "a.rego"), time.Duration(0), 2},
		[]any{rego.Name, rego.Body.Source.Value, rego.Body.File, rego.Timeout, rego.Order})
	assert.Equal(t, "a.rego:1:9", rego.Body.Source.At(8, 9).String())

	expr := p.Hooks[3].Body
	var rules []string
	for _, r := range expr.Rules {
		rules = append(rules, r.Says.String()+" "+r.Condition.Value+" "+r.Reason.Value)
	}
	assert.Equal(t, []string{"deny d r", "ask a r2", "stop true r"}, rules)
	assert.Equal(t, []string{"w", "c", "tool_input.command", "v"}, []string{expr.When.Value, expr.Context.Value, expr.Set[0].Path.Value, expr.Set[0].Value.Value})

	b := p.Hooks[4]
	assert.Equal(t, "shell-guard", b.Body.Use.Value)
	require.Len(t, b.Body.Options, 2)
	assert.Equal(t, []any{"roots", []any{"a", 1}, "command", []any{"x"}},
		[]any{b.Body.Options[0].Key.Value, b.Body.Options[0].Value, b.Body.Options[1].Key.Value, b.Body.Options[1].Value})
}

const (
	emptyFile = "1:1 HK017 the file declares nothing; write an event with its hooks; {} says that there are none, enabled: false switches the policy off"
	noEvent   = "1:1 HK017 the policy has settings and no event; write an event with its hooks; enabled: false switches the policy off"
	noHooks   = "1:1 HK022 the file declares no hooks; write an event with its hooks, or take the file away"
)

func TestHooksYAMLFindings(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"empty", "", emptyFile},
		{"comments", "# a: b\n", emptyFile},
		{"null", "null\n", emptyFile},
		{"version only", "version: 1\n", emptyFile},
		{"settings without values", "version: 1\ndefaults:\nrego: {}\n", emptyFile},
		{"empty on purpose", "{}\n", noHooks},
		{"settings only", "defaults: {timeout: 3}\n", noEvent},
		{"switched off", "enabled: false\n", ""},
		{"event without a value", "stop: []\nnotify:\n", "2:1 HK017 notify has no value; write its hooks, or [] where it has none"},
		{"hooks without a value", "stop:\n  hooks:\n", "2:9 HK017 hooks has no value; write its hooks, or [] where it has none"},
		{"a list", "- command: x\n", "1:1 HK007 a policy is a map from events to hooks; this is a list; begin with an event, such as pre_tool_execution:"},
		{"unknown event", "pre_tool_exection: []\n", `1:1 HK005 unknown event "pre_tool_exection"; did you mean "pre_tool_execution"?`},
		{"native event", "PreTooluse: []\n", `1:1 HK005 unknown event "PreTooluse"; did you mean "PreToolUse"?`},
		{"far from any event", "frobnicate: []\n", `1:1 HK005 unknown event "frobnicate"; an event of the host's own is written ext.frobnicate`},
		{"event of the host's own", "ext.Worktree: [{command: x}]\n", ""},
		{"settings.json", "hooks: {}\n", `1:1 HK005 unknown event "hooks"; here the events themselves are the top-level keys`},
		{"misspelt setting", "defualts: {}\n", `1:1 HK005 unknown event "defualts"; did you mean "defaults"?`},
		{"version", "version: 2\nstop: []\n", `1:10 HK008 version: "2" is not one of its words; one of 1`},
		{"profile", "profile: clawd\nstop: []\n", "1:10 HK019 profile clawd changes nothing in a hooks.yaml: canonical rules hold; remove it, or read the agent's own files with --profile clawd"},
		{"unknown profile", "profile: gemni\nstop: []\n", `1:10 HK008 profile: "gemni" is not one of its words; did you mean "gemini"?`},
		{"unknown default", "defaults: {chain_timout: 5}\n", `1:12 HK006 unknown key "chain_timout" in defaults; did you mean "chain_timeout"?`},
		{"unknown kind of default", "defaults: {on_error: {bsh: skip}}\n", `1:23 HK008 "bsh" is not a kind of hook; did you mean "bash"?`},
		{"empty defaults", "defaults:\nrego:\ntools:\nstop: []\n", ""},
		{"limit", "defaults: {max_concurrent: 0}\n", "1:28 HK009 max_concurrent: 0 is out of range; it is at least 1"},
		{"rego version", "rego: {version: v2}\n", `1:17 HK008 version: "v2" is not one of its words; one of v0, v1`},
		{"empty forbid", "rego: {forbid: }\n", "1:16 HK007 forbid takes a list; this is empty"},
		{"event of one hook", "stop:\n  command: x\n", `2:3 HK007 stop takes a list of hooks; this is one hook; begin the hook with "- "`},
		{"event of text", "stop: ./x.sh\n", `1:7 HK007 stop takes a list of hooks; this is text; write - command: "./x.sh"`},
		{"event map", "stop: {hooks: 5}\n", `1:15 HK007 hooks takes a list; this is a number; begin each item with "- "`},
		{"event key", "stop: {hooks: [], stratgy: first}\n", `1:19 HK006 unknown key "stratgy" in an event; did you mean "strategy"?`},
		{"strategy", "stop: {hooks: [], strategy: paralel}\n", `1:29 HK008 strategy: "paralel" is not one of its words; did you mean "parallel"?`},
		{"order", "stop: {hooks: [], order: prio}\n", `1:26 HK008 order: "prio" is not one of its words; one of tier, priority`},
		{"text as hook", "stop: [./x.sh]\n", `1:8 HK007 a hook is a map; this is text; write - command: "./x.sh"`},
		{"no body", "stop:\n  - name: x\n", "2:11 HK010 the hook does nothing; write a command, a prompt, a source or file, an expression such as deny, or use"},
		{"misspelt body", "stop: [{comand: x}]\n", `1:9 HK006 unknown key "comand" in a hook; did you mean "command"?`},
		{"type without its body", "stop: [{type: llm}]\n", "1:9 HK010 a hook of type llm needs prompt"},
		{"rego without its body", "stop: [{type: rego}]\n", "1:9 HK010 a hook of type rego needs source or file"},
		{"unknown type", "stop: [{type: bahs, command: x}]\n", `1:15 HK008 type: "bahs" is not one of its words; did you mean "bash"?`},
		{"two bodies", "stop: [{command: x, prompt: y}]\n", `1:21 HK011 "prompt" is a key of llm hooks; this one is bash; one hook has one body: write two hooks, or join them with parallel`},
		{"type of another body", "stop: [{type: rego, source: p, command: y}]\n", `1:32 HK011 "command" is a key of bash hooks; this one is rego; one hook has one body: write two hooks, or join them with parallel`},
		{"source and file", "stop: [{source: x, file: y}]\n", "1:26 HK011 a Rego hook has either source or file"},
		{"reason alone", "stop: [{context: x, reason: y}]\n", "1:29 HK011 a reason goes with a rule; this hook has none; context is what adds a text without a verdict"},
		{"rule of two keywords", "stop: [{rules: [{deny: a, ask: b}]}]\n", "1:27 HK011 a rule has one keyword; this one has deny and ask; write two rules"},
		{"rule of none", "stop: [{rules: [{reason: a}]}]\n", "1:18 HK010 the rule has no condition; write deny, ask, allow, skip or stop"},
		{"rule key", "stop: [{rules: [{deny: a, resaon: b}]}]\n", `1:27 HK006 unknown key "resaon" in a rule; did you mean "reason"?`},
		{"no rules", "stop: [{rules: []}]\n", "1:16 HK010 rules is empty; write - deny: ..."},
		{"rule of text", "stop: [{rules: [a]}]\n", "1:17 HK007 rules takes a map for each rule; this is text; write - deny: ..."},
		{"expression of a list", "stop: [{deny: [a]}]\n", "1:15 HK007 deny takes text; this is a list"},
		{"text of a number", "stop: [{command: 5}]\n", "1:18 HK007 command takes text; this is a number; put it in quotes"},
		{"empty text", "stop: [{command: ' '}]\n", "1:18 HK007 command is an empty text; write its value, or remove the key"},
		{"nothing", "stop: [{command: }]\n", "1:18 HK007 command takes text; this is empty"},
		{"boolean", "stop: [{command: x, async: 1}]\n", "1:28 HK007 async takes true or false; this is a number"},
		{"yes", "stop: [{command: x, async: yes}]\n", "1:28 HK007 async takes true or false; this is text"},
		{"retry", "stop: [{command: x, retry: -1}]\n", "1:28 HK009 retry: -1 is out of range; it is at least 0"},
		{"retry of a fraction", "stop: [{command: x, retry: 1.5}]\n", "1:28 HK007 retry takes a whole number; this is a number"},
		{"huge number", "stop: [{command: x, retry: 99999999999999999999}]\n", "1:28 HK007 retry takes a whole number; this is a number"},
		{"timeout of zero", "stop: [{command: x, timeout: 0}]\n", `1:30 HK009 timeout: 0 is not between nothing and a day; write seconds such as 5 or 0.5, or a text such as "500ms" or "2m"`},
		{"negative timeout", "stop: [{command: x, timeout: -5s}]\n", `1:30 HK009 timeout: -5s is not between nothing and a day; write seconds such as 5 or 0.5, or a text such as "500ms" or "2m"`},
		{"endless timeout", "stop: [{command: x, timeout: .inf}]\n", `1:30 HK007 timeout takes a duration; this is a number; write seconds such as 5 or 0.5, or a text such as "500ms" or "2m"`},
		{"huge timeout", "stop: [{command: x, timeout: 1e300}]\n", `1:30 HK009 timeout: 1e300 is not between nothing and a day; write seconds such as 5 or 0.5, or a text such as "500ms" or "2m"`},
		{"timeout of no duration", "stop: [{command: x, timeout: 5 minutes}]\n", `1:30 HK007 timeout takes a duration; this is text; write seconds such as 5 or 0.5, or a text such as "500ms" or "2m"`},
		{"posture", "stop: [{command: x, on_error: ignore}]\n", `1:31 HK008 on_error: "ignore" is not one of its words; one of skip, abort, deny, ask`},
		{"protocol", "stop: [{command: x, protocol: claud}]\n", `1:31 HK008 protocol: "claud" is not one of its words; did you mean "claude"?`},
		{"world", "stop: [{command: x, world: [read]}]\n", "1:28 HK007 world takes a word; this is a list; one of none, read, write"},
		{"pure and world", "stop: [{command: x, pure: true, world: read}]\n", "1:40 HK011 a pure hook does not use the world; remove pure or world"},
		{"pure and not speculative", "stop: [{command: x, pure: true, speculative: false}]\n", "1:46 HK011 a pure hook is speculative; write world: none instead of pure"},
		{"filter key", "stop: [{command: x, filter: {tool: Bash}}]\n", `1:30 HK006 unknown key "tool" in a filter; keys: tool_name, tool_matcher, tool_pattern, tool_kind, model_prefix, path, command, pattern, input_pattern, source, reason, trigger, notification_type, agent, permission_mode, not_permission_mode, paths, commands, missing`},
		{"empty filter", "stop: [{command: x, filter: }]\n", "1:29 HK007 filter takes a map; this is empty"},
		{"filter of a list", "stop: [{command: x, filter: {tool_name: [A, B]}}]\n", `1:41 HK007 tool_name takes one text; this is a list; several tools are written tool_matcher: "A|B"`},
		{"env", "stop: [{command: x, env: {A: [b]}}]\n", "1:30 HK007 env takes a text for each variable; this is a list"},
		{"empty group", "stop: [{parallel: []}]\n", "1:19 HK010 the parallel group has no members"},
		{"key of a group", "stop: [{parallel: [{command: x}], timeout: 5}]\n", `1:35 HK006 unknown key "timeout" in a parallel group; keys: name, parallel, fold, priority`},
		{"fold", "stop: [{parallel: [{command: x}], fold: min}]\n", `1:41 HK008 fold: "min" is not one of its words; one of max, last`},
		{"group in a group", "stop: [{parallel: [{name: in, parallel: []}]}]\n", "1:27 HK011 a parallel group cannot hold another; put its members into this group"},
		{"priority of a member", "stop: [{parallel: [{command: x, priority: 5}]}]\n", "1:43 HK020 a member of a parallel group has no priority of its own; write priority beside parallel"},
		{"set", "stop: [{set: [a]}]\n", "1:14 HK007 set takes a map; this is a list"},
		{"missing include", "include: [missing.yaml]\n", "1:11 HK001 missing.yaml: there is no such file; includes are relative to ."},
		{"include of no glob", "include: ['a[']\n", "1:11 HK008 include: \"a[\" is not a glob; * ? [abc] {a,b} and ** have a meaning in globs"},
		{"missing Rego", "stop: [{file: x.rego}]\n", "1:15 HK001 x.rego: there is no such file; it is looked for in ."},
		{"missing data", "rego: {data: [x.json]}\n", "1:15 HK001 x.json: there is no such file; it is looked for in ."},
		{"duplicate key", "stop:\n  - {command: x, command: y}\n", `2:18 HK003 key "command" is written twice; first at 2:6; keep one of the two`},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, found := loadText(c.text)
			assert.Equal(t, c.want, strings.Join(lines(found), "\n"))
		})
	}
}
