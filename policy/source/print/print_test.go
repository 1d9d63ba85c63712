package print

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
	"github.com/hookc/hookc/policy/source"
)

// placeless is a value without the places of what it holds: texts are their
// values, spans and functions are nothing.
func placeless(v reflect.Value) any {
	switch v.Type() {
	case reflect.TypeFor[diag.Span]():
		return nil
	case reflect.TypeFor[diag.Text]():
		return v.FieldByName("Value").String()
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			return nil
		}
		return placeless(v.Elem())
	case reflect.Func:
		return nil
	case reflect.Struct:
		out := map[string]any{}
		for i := range v.NumField() {
			out[v.Type().Field(i).Name] = placeless(v.Field(i))
		}
		return out
	case reflect.Slice:
		if v.IsNil() {
			return nil
		}
		out := make([]any, v.Len())
		for i := range out {
			out[i] = placeless(v.Index(i))
		}
		return out
	}
	return v.Interface()
}

// same are the parts of a policy that a printed file must bring back.
func same(p *policy.Policy) any {
	return placeless(reflect.ValueOf([]any{p.Hooks, p.Settings, p.Tools, p.ChainTimeout, p.MaxConcurrent, p.MaxModels, p.Approvals}))
}

// reload prints the project tier of p and reads the text where it would lie.
func reload(t *testing.T, p *policy.Policy, dir string) (string, *policy.Policy) {
	t.Helper()
	text, found := Print(p, Options{Tier: policy.TierProject, Dir: dir})
	require.Empty(t, found.Render())
	again, found := source.Load(source.Options{Inputs: []source.Input{{Path: filepath.Join(dir, "hooks.yaml"), Tier: policy.TierProject, Content: text}}, Dir: dir})
	require.Empty(t, found.Render(), "%s", text)
	return string(text), again
}

// everything has each key of the schema once.
const everything = `-- hooks.yaml --
version: 1
defaults:
  chain_timeout: 1m
  max_concurrent: 4
  max_models: 2
  on_error: {bash: ask, shell: deny, llm: abort}
  model: m0
  timeout: 7
rego: {paths: [lib], data: [data.json], forbid: [http.send], version: v0}
tools: {known: [Bash, Read], open: ["mcp__*"]}
ext.Deploy: [{command: cat}]
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
      cwd: lib
      env: {A: b, N: 5, T: true, E: ""}
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
      filter: {tool_name: Bash, tool_matcher: A|B, tool_pattern: ^B, tool_kind: shell, model_prefix: gpt, path: "**/x", command: rm, pattern: p,
        input_pattern: q, source: s, agent: a, permission_mode: plan}
    - fold: last
      name: both
      priority: 9
      parallel:
        - {prompt: "is {{tool_name}} safe?\n", model: m1, pure: true, retry: 0}
        - {file: a.rego}
    - parallel: [{deny: true}]
    - {name: rules, when: w, deny: d, reason: r, rules: [{ask: a, reason: r2}, {stop: true}], set: {tool_input.command: v}, context: c}
    - {use: shell-guard, name: b, roots: [a, 1, 2.5, 1e30, 12345678901234567890123, null, true, "1", {b: [], a: {}}], command: [x]}
stop: {strategy: chain}
-- a.sh --
-- a.rego --
package a
-- lib/l.rego --
package l
-- data.json --
{}
`

func TestPrintEveryKey(t *testing.T) {
	dir, p, found := loadTree(t, everything)
	require.Empty(t, found.Render())
	text, again := reload(t, p, dir)
	assert.Equal(t, same(sorted(p)), same(again))
	second, _ := reload(t, again, dir)
	assert.Equal(t, text, second, "printing is idempotent")
	assert.Equal(t, `version: 1

defaults:
  chain_timeout: 1m
  max_concurrent: 4
  max_models: 2
  on_error:
    bash: deny
    llm: abort
  model: m0

rego:
  version: v0
  paths: [lib]
  data: [data.json]
  forbid: [http.send]

tools:
  known: [Bash, Read]
  open: [mcp__*]

pre_tool_execution:
  strategy: first
  chain_timeout: 1.5s
  order: priority
  hooks:
    - name: one
      description: the first
      priority: 7
      enabled: false
      locked: true
      async: true
      recheck: true
      filter:
        tool_name: Bash
        tool_matcher: A|B
        tool_pattern: ^B
        tool_kind: shell
        model_prefix: gpt
        path: "**/x"
        command: rm
        pattern: p
        input_pattern: q
        source: s
        agent: a
        permission_mode: plan
      command: ./a.sh
      protocol: claude
      cwd: lib
      env:
        A: b
        "N": "5"
        T: "true"
        E: ""
      reads: [tool_input.command]
      writes: []
      may: [deny]
      world: read
      speculative: false
      timeout: 500ms
      retry: 3
      on_error: abort
      on_timeout: deny

    - name: both
      priority: 9
      fold: last
      parallel:
        - prompt: |
            is {{tool_name}} safe?
          model: m1
          pure: true
          timeout: 7s
          retry: 0
        - file: a.rego

    - parallel:
        - deny: "true"

    - name: rules
      when: w
      rules:
        - deny: d
          reason: r
        - ask: a
          reason: r2
        - stop: "true"
          reason: r
      set:
        tool_input.command: v
      context: c

    - name: b
      use: shell-guard
      roots:
        - a
        - 1
        - 2.5
        - 1e30
        - 12345678901234567890123
        - null
        - true
        - "1"
        - a: {}
          b: []
      command: [x]

stop:
  strategy: chain

ext.Deploy:
  - command: cat
    timeout: 7s
`, text)
}

// sorted is a policy whose hooks stand in lifecycle order.
func sorted(p *policy.Policy) *policy.Policy {
	out := *p
	pr := printer{policy: p, options: Options{Tier: policy.TierProject}}
	out.Hooks = nil
	for _, e := range pr.allEvents() {
		for _, h := range p.Hooks {
			if h.Event == e {
				out.Hooks = append(out.Hooks, h)
			}
		}
	}
	return &out
}

func (pr *printer) allEvents() []policy.Event {
	pr.hooks = pr.policy.Hooks
	return pr.events()
}

// TestPrintIncluded: what files that differ default to stands beside the hooks.
func TestPrintIncluded(t *testing.T) {
	dir, p, found := loadTree(t, `-- hooks.yaml --
include: [more.yaml]
defaults: {on_error: {bash: deny, llm: ask}, model: m0}
pre_tool_execution:
  - command: a
  - {command: b, on_error: skip}
  - prompt: p
-- more.yaml --
defaults: {on_error: {bash: abort, llm: ask}, model: m1, timeout: 3}
pre_tool_execution:
  - command: c
  - prompt: q
`)
	require.Empty(t, found.Render())
	text, again := reload(t, p, dir)
	assert.Equal(t, `version: 1

defaults:
  on_error:
    llm: ask

pre_tool_execution:
  - command: c
    timeout: 3s
    on_error: abort

  - prompt: q
    model: m1
    timeout: 3s

  - command: a
    on_error: deny

  - command: b
    on_error: skip

  - prompt: p
    model: m0
`, text)
	require.Len(t, again.Hooks, len(p.Hooks))
}

// TestPrintHookMD: a HOOK.md becomes an entry that runs the same script with
// the same words in the same folder.
func TestPrintHookMD(t *testing.T) {
	dir := realDir(t)
	folder := filepath.Join(dir, ".agents", "hooks", "guard")
	require.NoError(t, os.MkdirAll(filepath.Join(folder, "scripts"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(folder, "HOOK.md"), []byte(`---
name: guard
description: no deletes
trigger: pre-tool-call
matcher: {tool: ^Bash$, pattern: 'rm\s'}
timeout: 1500
priority: 7
---
`), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(folder, "scripts", "run.sh"), nil, 0o600))
	p, found := source.Load(source.Options{Inputs: []source.Input{{Path: folder, Tier: policy.TierProject}}, Dir: dir})
	require.Empty(t, found.Render())
	text, again := reload(t, p, dir)
	script := filepath.Join(folder, "scripts", "run.sh")
	assert.Equal(t, `version: 1

pre_tool_execution:
  - name: guard
    description: no deletes
    priority: 7
    filter:
      tool_pattern: ^Bash$
      input_pattern: rm\s
    command: exec sh `+shellWords([]string{script})+`
    protocol: agenthooks
    cwd: .agents/hooks/guard
    env:
      AGENT_HOOK_DIR: `+folder+`
      PYTHONDONTWRITEBYTECODE: "1"
      HOOKC_POLICY_DIR: `+folder+`
    timeout: 1.5s
`, text)
	want, got := p.Hooks[0], again.Hooks[0]
	assert.Equal(t, want.Filter.Conditions[0].Key, got.Filter.Conditions[0].Key)
	assert.Equal(t, []any{want.Body.WorkDir, want.Body.Protocol, want.Timeout}, []any{got.Body.WorkDir, got.Body.Protocol, got.Timeout})
}

// TestPrintTier: one tier's hooks are one file.
func TestPrintTier(t *testing.T) {
	p, found := source.Load(source.Options{Inputs: []source.Input{
		{Path: "/u/hooks.yaml", Tier: policy.TierUser, Content: []byte("notify:\n  - command: user\n")},
		{Path: "/p/hooks.yaml", Tier: policy.TierProject, Content: []byte("notify:\n  strategy: first\n  hooks:\n    - command: project\n")},
	}})
	require.Empty(t, found.Render())
	text, found := Print(p, Options{Tier: policy.TierUser, Header: []string{"the user's\nown\r"}, Event: func(e policy.Event) []string { return []string{string(e)} },
		Hook: func(h *policy.Hook) []string { return []string{h.Span.String()} }})
	require.Empty(t, found.Render())
	assert.Equal(t, "# the user's\n# own\\x0d\nversion: 1\n\n# notify\nnotify:\n  # /u/hooks.yaml:2:5\n  - command: user\n", string(text))
}
