package laws

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc"
	"github.com/hookc/hookc/compiler"
	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/dag/codec"
	"github.com/hookc/hookc/dag/render"
	"github.com/hookc/hookc/executor/runner"
	"github.com/hookc/hookc/internal/host"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/artifact"
	"github.com/hookc/hookc/tests/depth"
	"github.com/hookc/hookc/tests/programs"
)

// carried is a program written and read again, with its bodies made by kinds.
func carried(t testing.TB, p *policy.Policy, prog *dag.Program, kinds []dag.Kind) *dag.Program {
	t.Helper()
	bare, declared := *prog, *p
	bare.Plans, bare.Hooks, declared.Hooks = nil, nil, nil
	data, base, err := codec.WriteHead(&codec.Head{Program: &bare, Policy: &declared})
	require.NoError(t, err)
	head, read, err := codec.ReadHead(data)
	require.NoError(t, err)
	codes := map[policy.Event][][]byte{}
	for _, plan := range prog.Plans {
		chain := &codec.Chain{Plan: plan, Codes: make([][]byte, len(plan.Nodes))}
		for _, e := range prog.Hooks {
			if e.Hook.Event == plan.Event {
				chain.Entries = append(chain.Entries, e)
			}
		}
		data, err := codec.WriteChain(chain, base)
		require.NoError(t, err)
		again, err := codec.ReadChain(data, read)
		require.NoError(t, err)
		twice, err := codec.WriteChain(chain, base)
		require.NoError(t, err)
		require.Equal(t, data, twice, "the same program is the same bytes")
		head.Program.Plans = append(head.Program.Plans, again.Plan)
		head.Program.Hooks = append(head.Program.Hooks, again.Entries...)
		codes[plan.Event] = again.Codes
	}
	require.NoError(t, compiler.Restore(head.Policy, head.Program, codes, compiler.Config{Kinds: kinds}))
	return head.Program
}

// decoding are mock kinds that can be read: a body is prepared again.
func decoding(kinds []dag.Kind) []dag.Kind {
	for i := range kinds {
		prepare := kinds[i].Prepare
		kinds[i].Decode = func(h *policy.Hook, _ []byte) policy.Runner {
			body, _ := prepare(h)
			return body.Runner
		}
	}
	return kinds
}

// drawn is what explain draws of a program, without how long compiling took.
func drawn(t testing.TB, p *dag.Program) string {
	t.Helper()
	m := render.Explain(p, render.ExplainOptions{})
	m.Compiled = 0
	text, err := json.Marshal(m)
	require.NoError(t, err)
	return string(text)
}

// A random program that was written and read decides, calls and is drawn as the
// one that was compiled, in time and under the definition.
//
// Mutations killed here and in the tests beside: a field left out of the codec; a
// shared object read twice; an empty list read as none; Gate, Wait or Data not
// carried; a filter's missing: left out of its test; a recheck copy with a body
// of its own; the strategy of the event taken for the one that is set; the
// chain's deadline read from the settings alone; a fusion that is never made.
func TestArtifactIsProgram(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for seed := range depth.Of(uint64(1200)) {
			w := newWorld(23<<40 + seed)
			prog := w.compile(t)
			again := carried(t, w.policy, prog, decoding(w.kinds()))
			require.Equal(t, drawn(t, prog), drawn(t, again), "seed %d", seed)
			for n := range 3 {
				in := w.context(n)
				w.clock++
				want, _ := w.fire(t, prog, in)
				got, _ := w.fire(t, again, in)
				require.Equal(t, want, got, "seed %d event %d", seed, n)
				serial, _ := w.serial(again, in, nil)
				require.Equal(t, want, serial, "seed %d event %d", seed, n)
			}
		}
	})
}

// The same with real Rego, compiled when first asked and fused when first wanted.
func TestArtifactIsRego(t *testing.T) {
	runs := 0
	synctest.Test(t, func(t *testing.T) {
		for seed := range depth.Of(uint64(120)) {
			w := newRegoWorld(24<<40 + seed)
			prog := w.compile(t, "dead")
			kinds := decoding(w.kinds())
			for i, k := range runner.Kinds(runner.Options{}) {
				at := slices.IndexFunc(kinds, func(k dag.Kind) bool { return k.Name == policy.KindRego })
				if k.Name != policy.KindRego {
					continue
				}
				mock := kinds[at].Decode
				kinds[at] = runner.Kinds(runner.Options{})[i]
				real := kinds[at].Decode
				kinds[at].Decode = func(h *policy.Hook, code []byte) policy.Runner {
					if h.Async {
						return mock(h, code)
					}
					return real(h, code)
				}
				kinds[at].Fuse = func(parts []dag.FusePart) ([]int, func() dag.FusedRun) {
					runs++
					return k.Fuse(parts)
				}
			}
			again := carried(t, w.policy, prog, kinds)
			require.Equal(t, drawn(t, prog), drawn(t, again), "seed %d", seed)
			for n := range 3 {
				in := w.context(n)
				want, _ := w.fire(t, prog, in)
				got, _ := w.fire(t, again, in)
				require.Equal(t, want, got, "seed %d event %d", seed, n)
			}
		}
	})
	if !programs.Native { // OPA evaluates one hook at a time
		assert.Zero(t, runs)
		return
	}
	assert.Greater(t, runs, depth.Least(80))
}

// realPolicies are policies of every sort, with what is around them.
func realPolicies(t *testing.T) []string {
	t.Helper()
	seeds, err := filepath.Glob("../testdata/seeds/*.yaml")
	require.NoError(t, err)
	require.NotEmpty(t, seeds)
	filters := filepath.Join(t.TempDir(), "hooks.yaml")
	require.NoError(t, os.WriteFile(filters, []byte(everyFilter), 0o644))
	return append(seeds, "../../hooks.example.yaml", "../testdata/example/more.yaml", filters)
}

// everyFilter has a rule for each condition, which asks wherever it matches.
const everyFilter = `
pre_tool_execution:
  strategy: chain-all
  hooks:
  - {name: missing, filter: {permission_mode: plan, missing: match}, ask: "true", reason: a}
  - {name: mode, filter: {permission_mode: plan}, deny: "true", reason: b}
  - {name: command, filter: {command: "^git push"}, ask: "true", reason: c}
  - {name: pattern, filter: {pattern: "passwd$"}, ask: "true", reason: d}
  - {name: path, filter: {path: "/etc/**"}, ask: "true", reason: e}
  - {name: kind, filter: {tool_kind: shell}, ask: "true", reason: f}
  - {name: matcher, filter: {tool_matcher: "Edit|mcp__x__y"}, ask: "true", reason: g}
`

// What is observable of an artifact is what is observable of its sources: hash,
// findings, picture, and Decisions of every event.
func TestArtifactIsSources(t *testing.T) {
	fired := 0
	depth.NotShort(t)
	for _, file := range realPolicies(t) {
		want, found := hookc.Compile(hookc.Files(file))
		require.NotNil(t, want, "%s: %s", file, found.Render())
		x, more, err := hookc.NewArtifact(hookc.Files(file))
		require.NoError(t, err)
		require.Equal(t, found.Render(), more.Render(), file)
		path := filepath.Join(t.TempDir(), "policy.hookc")
		require.NoError(t, x.WriteFile(path, nil))
		got, again, err := hookc.Restore(hookc.Artifact(path))
		require.NoError(t, err)
		require.Equal(t, want.Hash, got.Hash)
		require.Equal(t, found.Render(), again.Render())
		require.Equal(t, drawn(t, want), drawn(t, got), file)

		hints := host.Compiler[hookc.Option](func(c *compiler.Config) { c.Hints = true })
		_, hinted := hookc.Compile(hookc.Files(file), hints)
		_, hintedAgain, err := hookc.Restore(hookc.Artifact(path), hints)
		require.NoError(t, err)
		require.Equal(t, hinted.Render(), hintedAgain.Render())

		without := host.Compiler[hookc.Option](func(c *compiler.Config) { c.Without = []string{"hoist", "dead"} })
		slow, _ := hookc.Compile(hookc.Files(file), without)
		slowAgain, _, err := hookc.Restore(hookc.Artifact(path), without)
		require.NoError(t, err)
		require.Equal(t, drawn(t, slow), drawn(t, slowAgain), "what needs the passes runs them on what is carried")

		fired += sameDecisions(t, file, path)
	}
	require.Greater(t, fired, 60)
}

// sameDecisions fires events at both and counts them. Hooks that start programs
// or ask models are answered.
func sameDecisions(t *testing.T, file, path string) int {
	quiet := hookc.Model(soakModel)
	program, found := hookc.Compile(hookc.Files(file))
	require.False(t, found.HasErrors())
	answers := map[string]map[string]any{}
	for _, plan := range program.Plans {
		for i := range plan.Nodes {
			if h := plan.Nodes[i].Hook; h.Kind == policy.KindBash {
				answers[h.Name] = map[string]any{"additional_context": h.Name + " ran"}
			}
		}
	}
	silent := hookc.Answers(answers) // a program's time limit is the machine's affair
	from, err := hookc.Open(t.Context(), hookc.Files(file), quiet, silent)
	require.NoError(t, err)
	defer from.Close()
	to, err := hookc.Open(t.Context(), hookc.Artifact(path), quiet, silent)
	require.NoError(t, err)
	defer to.Close()
	fired := 0
	for _, plan := range from.Program().Plans {
		narrow, err := hookc.Open(t.Context(), hookc.Artifact(path), quiet, silent, host.Compiler[hookc.Option](func(c *compiler.Config) { c.Event, c.Once = plan.Event, true }))
		require.NoError(t, err)
		require.Len(t, narrow.Program().Plans, 1)
		for _, tool := range []string{"Bash", "Edit", "mcp__x__y", ""} {
			for _, command := range []string{"ls", "rm -rf / --no-preserve-root", "git push --force"} {
				in := policy.NewContext("").
					Set(policy.FieldToolName, tool).
					Set(policy.FieldToolInput, map[string]any{"command": command, "file_path": "/etc/passwd"}).
					Set(policy.FieldCwd, t.TempDir()).
					Set(policy.FieldUserInput, command)
				texts := make([]string, 3)
				for i, eng := range []*hookc.Engine{from, to, narrow} {
					d, err := eng.Fire(t.Context(), plan.Event, in)
					if err != nil { // a guarded call that names no tool
						require.Empty(t, tool, "%s %s: %v", file, plan.Event, err)
						texts[i] = err.Error()
						continue
					}
					for j := range d.Hooks {
						d.Hooks[j].Micros = 0
					}
					text, err := d.MarshalJSON()
					require.NoError(t, err)
					texts[i] = string(text)
				}
				require.Equal(t, texts[0], texts[1], "%s %s %q", file, plan.Event, command)
				require.Equal(t, texts[0], texts[2], "%s %s %q narrowed", file, plan.Event, command)
				fired++
			}
		}
		require.NoError(t, narrow.Close())
	}
	return fired
}

// Shared Rego and data are those that were compiled, not those on disk, and what
// a session registers is compiled with them.
func TestArtifactCarriesShared(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	write("hooks.yaml", `
rego: {paths: [lib], data: [limits.json]}
pre_tool_execution:
  - name: a
    type: rego
    source: |
      package hooks.a
      import data.lib.words
      deny contains "no" if words.bad
  - name: b
    type: rego
    source: |
      package hooks.b
      deny contains "limit" if input.tool_input.command in data.limits.forbidden
`)
	require.NoError(t, os.Mkdir(filepath.Join(dir, "lib"), 0o755))
	write("lib/words.rego", "package lib.words\n\nbad if contains(input.tool_input.command, \"curl\")\n")
	write("limits.json", `{"limits": {"forbidden": ["dd"]}}`)
	file, path := filepath.Join(dir, "hooks.yaml"), filepath.Join(dir, "policy.hookc")
	x, found, err := hookc.NewArtifact(hookc.Files(file))
	require.NoError(t, err)
	require.NotNil(t, x, "%s", found.Render())
	require.NoError(t, x.WriteFile(path, nil))
	verdict := func(eng *hookc.Engine, command string) policy.Verdict {
		d, err := eng.Fire(t.Context(), hookc.PreToolExecution, policy.NewContext("").Set(policy.FieldSessionID, "s").Set(policy.FieldToolName, "Bash").Set(policy.FieldToolInput, map[string]any{"command": command}))
		require.NoError(t, err)
		return d.Verdict
	}
	for i, change := range []func(){
		func() { write("lib/words.rego", "package lib.words\n\nbad if false\n") },
		func() { write("limits.json", `{"limits": {"forbidden": []}}`) },
		func() { write("lib/new.rego", "package lib.new\n") },
	} {
		change()
		_, err := hookc.Open(t.Context(), hookc.Artifact(path))
		var refused *artifact.Error
		require.ErrorAs(t, err, &refused)
		require.Equal(t, artifact.Changed, refused.Kind, "change %d", i)
	}
	eng, err := hookc.Open(t.Context(), hookc.Artifact(path), hookc.AllowStale())
	require.NoError(t, err)
	defer eng.Close()
	for range 3 { // before and after fusing
		assert.Equal(t, policy.Deny, verdict(eng, "curl x"))
		assert.Equal(t, policy.Deny, verdict(eng, "dd"))
		assert.Equal(t, policy.None, verdict(eng, "ls"))
	}
	_, err = eng.Session("s").Register(hookc.Hook{Event: "pre_tool_execution", Deny: `command == "make"`})
	require.NoError(t, err)
	assert.Equal(t, policy.Deny, verdict(eng, "curl x"))
	assert.Equal(t, policy.Deny, verdict(eng, "make"))
}

// TestCodecCarriesEverything fills every field of what is written, whatever it
// is, with a value of its own: one that is added later and not carried shows.
func TestCodecCarriesEverything(t *testing.T) {
	n := 0
	var fill func(v reflect.Value, depth int)
	fill = func(v reflect.Value, depth int) {
		n++
		switch v.Kind() {
		case reflect.Bool:
			v.SetBool(true)
		case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
			v.SetInt(int64(n % 100))
		case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
			v.SetUint(uint64(n % 100))
		case reflect.String:
			v.SetString("s" + string(rune('a'+n%26)))
		case reflect.Slice:
			v.Set(reflect.MakeSlice(v.Type(), 2, 2))
			fill(v.Index(0), depth+1)
			fill(v.Index(1), depth+1)
		case reflect.Map:
			v.Set(reflect.MakeMap(v.Type()))
			key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
			fill(key, depth+1)
			fill(value, depth+1)
			v.SetMapIndex(key, value)
		case reflect.Pointer:
			if depth < 12 && v.Type().Elem().Name() != "Code" {
				v.Set(reflect.New(v.Type().Elem()))
				fill(v.Elem(), depth+1)
			}
		case reflect.Interface:
			if v.NumMethod() == 0 {
				v.Set(reflect.ValueOf([]any{1, int64(2), 1.5, "x", nil, true, map[string]any{"k": json.Number("1e3")}}))
			}
		case reflect.Struct:
			for i := range v.NumField() {
				if f := v.Type().Field(i); f.IsExported() && !codec.Remade(v.Type(), f.Name) {
					fill(v.Field(i), depth+1)
				}
			}
		}
	}
	var head codec.Head
	var chain codec.Chain
	fill(reflect.ValueOf(&head).Elem(), 0)
	fill(reflect.ValueOf(&chain).Elem(), 0)
	data, base, err := codec.WriteHead(&head)
	require.NoError(t, err)
	got, read, err := codec.ReadHead(data)
	require.NoError(t, err)
	require.Equal(t, &head, got)
	data, err = codec.WriteChain(&chain, base)
	require.NoError(t, err)
	again, err := codec.ReadChain(data, read)
	require.NoError(t, err)
	require.Equal(t, &chain, again)
	require.Greater(t, n, 800)
}
