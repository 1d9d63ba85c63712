//go:build unix

package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hookc/hookc"
	"github.com/hookc/hookc/policy"
)

// One guardrail, written for everything that could hold it: a command that
// deletes from the root on is denied.
const (
	guardJS = `const event = JSON.parse(require("fs").readFileSync(0, "utf8"));
if (event.tool_name === "Bash" && event.tool_input.command.includes("rm -rf /")) {
  console.error("never");
  process.exit(2);
}
`
	guardPy = `import json, sys

event = json.load(sys.stdin)
if event["tool_name"] == "Bash" and "rm -rf /" in event["tool_input"]["command"]:
    print("never", file=sys.stderr)
    sys.exit(2)
`
	guardSh = `event=$(cat)
case $event in *'"tool_name":"Bash"'*) ;; *) exit 0 ;; esac
case $event in *'rm -rf /'*) echo never >&2; exit 2 ;; esac
`
	guardRego = `package guard

deny contains "never" if {
	input.tool_name == "Bash"
	contains(input.tool_input.command, "rm -rf /")
}
`
	regoGuard = "pre_tool_execution:\n  - {name: guard, file: guard.rego}\n"
	exprGuard = "pre_tool_execution:\n  - {name: guard, filter: {tool_name: Bash}, deny: 'tool_input.command contains \"rm -rf /\"', reason: never}\n"
)

// guardEvent is a call of Bash as Claude Code sends it, of about 1.2 KB.
func guardEvent(ends string) []byte {
	text, err := json.Marshal(map[string]any{
		"session_id": "4be1f1a0-63c0-4b0e-9d0a-a4f1c1a6d2f5", "transcript_path": "/home/dev/.claude/projects/repo/4be1f1a0.jsonl", "cwd": "/repo",
		"permission_mode": "default", "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_use_id": "toolu_01A",
		"tool_input": map[string]any{
			"command":     strings.Repeat("go test ./pkg/one ./pkg/two -count 1 && git add --all && ", 14) + ends,
			"description": "test, stage and clean up",
		},
	})
	if err != nil {
		panic(err)
	}
	return text
}

// harmless also deletes, but nothing that matters.
var harmless, harmful = guardEvent("rm -rf build/out"), guardEvent("rm -rf / --no-preserve-root")

// peer is one way to ask. It answers whether it denies.
type peer struct {
	name  string
	turns int
	ask   func(event []byte) (denied bool, err error)
	took  []float64 // nanoseconds
}

// missing says which peer cannot be measured here, and why.
type missing struct{ name, why string }

// program asks a process in a folder, the event's too. It denies as agents
// understand it: by exit status 2.
func (r *gateRig) program(name, dir string, args ...string) peer {
	dir = filepath.Join(r.dir, dir)
	return peer{name: name, turns: 1, ask: func(event []byte) (bool, error) {
		cmd := r.command(args[0], args[1:]...)
		cmd.Dir = dir
		cmd.Stdin = bytes.NewReader(bytes.Replace(event, []byte(`"/repo"`), []byte(`"`+dir+`"`), 1))
		err := cmd.Run()
		if exit := new(exec.ExitError); errors.As(err, &exit) && exit.ExitCode() == 2 {
			return true, nil
		}
		return false, err
	}}
}

// interpreter finds the program that a name on the PATH leads to: a shim that
// looks for a version first would be measured with it.
func interpreter(name string) (string, *missing) {
	prints := map[string][]string{"python3": {"-c", "import sys; print(sys.executable)"}, "node": {"-p", "process.execPath"}}
	out, err := exec.Command(name, prints[name]...).Output()
	if err != nil {
		return "", &missing{name, err.Error()}
	}
	return strings.TrimSpace(string(out)), nil
}

// opaProgram is OPA's own command: that of HOOKC_BENCH_OPA, else the one on the
// PATH.
func opaProgram() (string, *missing) {
	if path := os.Getenv("HOOKC_BENCH_OPA"); path != "" {
		return path, nil
	}
	path, err := exec.LookPath("opa")
	if err != nil {
		return "", &missing{"opa-eval", "go install github.com/open-policy-agent/opa@v1.22.0, and name the program in HOOKC_BENCH_OPA"}
	}
	return path, nil
}

// opaEval asks the command, which prints what is denied.
func (r *gateRig) opaEval(path string) peer {
	return peer{name: "opa-eval", turns: 1, ask: func(event []byte) (bool, error) {
		cmd := r.command(path, "eval", "--stdin-input", "--data", filepath.Join(r.dir, "rego", "guard.rego"), "--format", "raw", "data.guard.deny")
		cmd.Stdin = bytes.NewReader(event)
		out, err := cmd.Output()
		switch text := strings.TrimSpace(string(out)); {
		case err != nil:
			return false, err
		case text == `["never"]`, text == `[]`:
			return text != `[]`, nil
		default:
			return false, fmt.Errorf("opa eval says %s", text)
		}
	}}
}

// engine asks an engine in this process.
func engine(b *testing.B, name, file string) peer {
	eng, err := hookc.Open(b.Context(), hookc.Files(file))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { eng.Close() })
	return peer{name: name, turns: 100, ask: func(event []byte) (bool, error) {
		d, err := eng.FireJSON(context.Background(), hookc.PreToolExecution, event)
		if err != nil {
			return false, err
		}
		return d.Action == policy.Block, nil
	}}
}

// compare measures peers turn by turn on an event that goes through, which
// nearly every one does, and demands the right answers of each. It reports each
// in units of the first and of the second, the first in microseconds, and which
// peers are missing.
func compare(b *testing.B, peers []peer, lacking ...*missing) {
	b.Helper()
	ask := func(p *peer, event []byte, want bool) {
		if denied, err := p.ask(event); err != nil || denied != want {
			b.Fatalf("%s: denied is %v, %v", p.name, denied, err)
		}
	}
	for i := range peers {
		ask(&peers[i], harmful, peers[i].name != "true")
		ask(&peers[i], harmless, false)
	}
	for b.Loop() {
		for i := range peers {
			p := &peers[i]
			start := time.Now()
			for range p.turns {
				ask(p, harmless, false)
			}
			p.took = append(p.took, float64(time.Since(start))/float64(p.turns))
		}
	}
	median := func(i int) float64 {
		slices.Sort(peers[i].took)
		return peers[i].took[len(peers[i].took)/2]
	}
	for i, p := range peers {
		ask(&p, harmful, p.name != "true")
		for base := range min(i, 2) {
			b.ReportMetric(median(i)/median(base), p.name+"/"+peers[base].name)
		}
	}
	b.ReportMetric(median(0)/1000, peers[0].name+"-µs")
	for _, m := range lacking {
		b.Logf("%s is not installed: %s", m.name, m.why)
		b.ReportMetric(1, m.name+"-not-installed")
	}
}

// guards writes the guardrail in every language.
func (r *gateRig) guards(b *testing.B) {
	for name, text := range map[string]string{
		"hooks/guard.js": guardJS, "hooks/guard.py": guardPy, "hooks/guard.sh": guardSh,
		"rego/guard.rego": guardRego, "rego/hooks.yaml": regoGuard, "expr/hooks.yaml": exprGuard,
	} {
		r.write(b, name, text)
	}
}

// gate and run ask hookc about the policy of a folder, as an agent does.
func (r *gateRig) gate(name, dir string) peer {
	return r.program(name, dir, filepath.Join(r.dir, "hookgate"), "PreToolUse", "--dialect", "claude")
}

func (r *gateRig) once(name, dir string) peer {
	return r.program(name, dir, filepath.Join(r.dir, "hookc"), "run", "PreToolUse", "--dialect", "claude")
}

// BenchmarkRatioPeers is one guardrail on a call of 1.2 KB, by a hook in node,
// in Python and in sh, by opa eval, and by hookc: through hookgate and serve,
// by hookc run, and in process; each a whole process where it is one, event on
// stdin and answer read. A peer that is not installed is named.
func BenchmarkRatioPeers(b *testing.B) {
	r := newGateRig(b)
	r.guards(b)
	r.serve(b)
	peers := []peer{r.program("true", "hooks", "/bin/true"), r.gate("gate", "expr"), r.gate("gate-rego", "rego"),
		r.once("run", "expr"), r.once("run-rego", "rego"),
		engine(b, "in-process", filepath.Join(r.dir, "expr", "hooks.yaml")), engine(b, "in-process-rego", filepath.Join(r.dir, "rego", "hooks.yaml")),
		r.program("sh", "hooks", "/bin/sh", "guard.sh")}
	var lacking []*missing
	for _, p := range []struct{ name, script string }{{"python3", "guard.py"}, {"node", "guard.js"}} {
		if path, why := interpreter(p.name); why != nil {
			lacking = append(lacking, why)
		} else {
			peers = append(peers, r.program(p.name, "hooks", path, p.script))
		}
	}
	if path, why := opaProgram(); why != nil {
		lacking = append(lacking, why)
	} else {
		peers = append(peers, r.opaEval(path))
	}
	compare(b, peers, lacking...)
}

// BenchmarkRatioFiveHooks is five guardrails as agents run them, five Python
// hooks one after another, against one hookgate with the same five rules.
func BenchmarkRatioFiveHooks(b *testing.B) {
	r := newGateRig(b)
	r.guards(b)
	rules := strings.Builder{}
	rules.WriteString("pre_tool_execution:\n")
	for i, part := range []string{"rm -rf /", "mkfs.", "dd of=/dev/", "git push --force", "chmod -R 777 /"} {
		r.write(b, fmt.Sprintf("hooks/guard%d.py", i), strings.ReplaceAll(guardPy, "rm -rf /", part))
		rule := strings.ReplaceAll(strings.ReplaceAll(exprGuard, "rm -rf /", part), "name: guard", fmt.Sprintf("name: guard%d", i))
		rules.WriteString(strings.TrimPrefix(rule, "pre_tool_execution:\n"))
	}
	r.write(b, "five/hooks.yaml", rules.String())
	r.serve(b)
	peers := []peer{r.gate("gate", "five"), r.once("run", "five")}
	path, why := interpreter("python3")
	if why != nil {
		compare(b, peers, why)
		return
	}
	var hooks []peer
	for i := range 5 {
		hooks = append(hooks, r.program("python3", "hooks", path, fmt.Sprintf("guard%d.py", i)))
	}
	peers = append(peers, peer{name: "five-python3", turns: 1, ask: func(event []byte) (bool, error) {
		for _, h := range hooks {
			if denied, err := h.ask(event); denied || err != nil {
				return denied, err
			}
		}
		return false, nil
	}})
	compare(b, peers)
}
