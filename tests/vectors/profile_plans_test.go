package vectors

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/compiler"
	"github.com/hookc/hookc/executor"
	"github.com/hookc/hookc/executor/runner"
	"github.com/hookc/hookc/policy/agent"
	"github.com/hookc/hookc/policy/source"
	"github.com/hookc/hookc/tests/depth"
	"github.com/hookc/hookc/tests/programs"
)

// TestProfilePlans compiles random configurations of four agents: every plan
// must do what its serial definition says, whatever the hooks answer.
func TestProfilePlans(t *testing.T) {
	depth.NotShort(t)
	for whose, write := range map[string]func(*rand.Rand) map[string]string{
		"clawdcode": randomClawd, "clawdcode@doc": randomClawd, "jcli": randomJCLI, "agenthooks": randomAgentHooks, "aiagents": randomAIAgents,
	} {
		t.Run(whose, func(t *testing.T) {
			d, err := agent.FindProfile(whose)
			require.NoError(t, err)
			compiled := 0
			for seed := range max(2, depth.Of(uint64(6))) {
				files := write(rand.New(rand.NewPCG(seed, 7)))
				compiled += compileNative(t, d, seed%2 == 1, files)
			}
			require.Greater(t, compiled, depth.Least(15), "too few plans to prove anything")
		})
	}
}

// compileNative compiles what an agent would find, with validation, and counts
// the plans.
func compileNative(t *testing.T, d *agent.Agent, faithful bool, files map[string]string) int {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("HOME", filepath.Join(dir, "home"))
	t.Setenv("XDG_CONFIG_HOME", "")
	for name, text := range files {
		path := filepath.Join(dir, strings.Replace(name, "~", "home", 1))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, programs.Write(path, []byte(text)))
	}
	inputs, found := source.Discover(source.DiscoverOptions{Dir: dir, Profile: d, Trust: source.AsFound})
	p, more := source.Load(source.Options{Inputs: inputs, Dir: dir, Profile: d, Faithful: faithful})
	found.Add(more...)
	require.False(t, found.HasErrors(), "%v\n%v", found, files)
	prog, found := compiler.Compile(p, compiler.Config{Kinds: runner.Kinds(runner.Options{}), Validate: executor.Validate})
	require.NotNil(t, prog, "%v", found)
	return len(prog.Plans)
}

func pickOf[T any](rng *rand.Rand, of ...T) T { return of[rng.IntN(len(of))] }

func randomClawd(rng *rand.Rand) map[string]string {
	file := func() string {
		hooks := map[string]any{}
		for _, event := range []string{"PreToolUse", "PostToolUse", "PermissionRequest", "Stop", "Compaction", "UserPromptSubmit", "SessionStart"} {
			var groups []any
			for range rng.IntN(4) {
				group := map[string]any{"hooks": []any{}}
				if rng.IntN(2) == 0 {
					group["matcher"] = map[string]string{pickOf(rng, "tools", "paths", "commands"): pickOf(rng, "Bash", "Edit|Write", ".*", "*.ts")}
				}
				for i := range rng.IntN(3) {
					group["hooks"] = append(group["hooks"].([]any), map[string]any{"type": "command", "command": fmt.Sprint("true ", i), "timeout": pickOf(rng, 0.5, 3)})
				}
				groups = append(groups, group)
			}
			hooks[event] = append([]any{}, groups...)
		}
		hooks["failureBehavior"], hooks["timeoutBehavior"] = pickOf(rng, "ignore", "deny", "ask"), pickOf(rng, "ignore", "deny", "ask")
		hooks["maxConcurrentHooks"] = rng.IntN(4)
		text, err := json.Marshal(map[string]any{"hooks": hooks})
		if err != nil {
			panic(err)
		}
		return string(text)
	}
	return map[string]string{"~/.clawdcode/settings.json": file(), ".clawdcode/config.json": file()}
}

func randomJCLI(rng *rand.Rand) map[string]string {
	file := func() string {
		var b strings.Builder
		for _, event := range []string{"pre_send_message", "pre_llm_request", "pre_tool_execution", "post_tool_execution_failure", "stop", "pre_auto_compact"} {
			fmt.Fprintf(&b, "%s:\n  - {command: first}\n", event)
			for range rng.IntN(4) {
				fmt.Fprintf(&b, "  - {command: x, retry: %d, on_error: %s, timeout: %d}\n", rng.IntN(3), pickOf(rng, "skip", "abort", "stop"), 1+rng.IntN(20))
			}
		}
		return b.String()
	}
	return map[string]string{"~/.jdata/agent/hooks.yaml": file(), ".jcli/hooks.yaml": file(),
		".jcli/hooks/g/HOOK.yaml": "events: [stop, pre_tool_execution]\ncommand: g\nfilter: {tool_matcher: Bash|Edit}\n"}
}

func randomAgentHooks(rng *rand.Rand) map[string]string {
	out := map[string]string{".agents/hooks.toml": fmt.Sprintf("[[hooks.override]]\nname = \"h1\"\npriority = %d\n", rng.IntN(1000))}
	for i := range 12 {
		name := fmt.Sprint("h", i)
		dir := pickOf(rng, "~/.config/agents/hooks/", ".agents/hooks/") + name
		out[dir+"/HOOK.md"] = fmt.Sprintf("---\nname: %s\ndescription: d\ntrigger: %s\npriority: %d\nasync: %v\n---\n", name,
			[]string{"pre-tool-call", "pre-tool-call", "post-tool-call", "pre-agent-turn-stop", "post-subagent"}[i%5], rng.IntN(1000), rng.IntN(4) == 0)
		out[dir+"/scripts/run.sh"] = "#!/bin/sh\ntrue\n"
	}
	return out
}

func randomAIAgents(rng *rand.Rand) map[string]string {
	file := func() string {
		hooks := map[string][]any{}
		for _, event := range []string{"PreToolUse", "PostToolUse", "UserPromptSubmit"} {
			for i := range 1 + rng.IntN(4) {
				hooks[event] = append(hooks[event], map[string]any{"matcher": pickOf(rng, "*", "FileWriter", "File.*"),
					"hooks": []any{map[string]any{"type": "command", "command": fmt.Sprint("true ", i)}}})
			}
		}
		text, err := json.Marshal(map[string]any{"hooks": hooks})
		if err != nil {
			panic(err)
		}
		return string(text)
	}
	return map[string]string{"~/.ai_agents/settings.json": file(), ".ai_agents/settings.json": file(), ".ai_agents/settings.local.json": file()}
}
