package agents_test

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/agent"
)

var (
	caseCount = flag.Int("agents.cases", 5000, "how many random configurations to compare with Gemini CLI's own code, and half as many with Qwen Code's")
	caseSeed  = flag.Uint64("agents.seed", 1, "seed of the random configurations")
	caseOnly  = flag.Int("agents.only", -1, "compare this case alone, and print it")
)

// rival is an agent whose own hook code decides the same cases.
type rival struct {
	id string
	// settings is where a project keeps them.
	settings string
	driver   func(t *testing.T, root string) *exec.Cmd
	make     func(seed uint64, id int, cwd string) *nativeCase
	// share is how many times fewer cases than asked for are compared.
	share int
}

// TestDifferentialGemini runs random configurations and events through Gemini
// CLI's own planner, runner and aggregator and through `--profile gemini
// --faithful`, and compares what was decided, which hooks ran, in which order,
// and what each was sent.
func TestDifferentialGemini(t *testing.T) {
	rival{
		id: "gemini", settings: ".gemini/settings.json", make: newGeminiCase, share: 1,
		driver: func(t *testing.T, _ string) *exec.Cmd {
			return exec.Command(node(t), filepath.Join("testdata", "gemini.mjs"), installed(t, "@google", "gemini-cli"))
		},
	}.differential(t)
}

// TestDifferentialQwen is the same for Qwen Code.
func TestDifferentialQwen(t *testing.T) {
	rival{
		id: "qwen", settings: ".qwen/settings.json", make: newQwenCase, share: 2,
		driver: func(t *testing.T, root string) *exec.Cmd {
			return exec.Command(node(t), filepath.Join("testdata", "qwen.mjs"), installed(t, "@qwen-code", "qwen-code"), root)
		},
	}.differential(t)
}

func (r rival) differential(t *testing.T) {
	root := t.TempDir()
	driver := r.driver(t, root)
	driver.Env = bareEnv(root)
	for _, kv := range driver.Env {
		name, value, _ := strings.Cut(kv, "=")
		t.Setenv(name, value)
	}
	begun := time.Now()
	cases := make([]*nativeCase, 0, *caseCount/r.share)
	for id := range *caseCount / r.share {
		if *caseOnly >= 0 && id != *caseOnly {
			continue
		}
		cwd := filepath.Join(root, fmt.Sprint(id))
		require.NoError(t, os.Mkdir(cwd, 0o755))
		cases = append(cases, r.make(*caseSeed, id, cwd))
	}
	sum := tally{actions: map[string]int{}, fields: map[string]int{}}
	drive(t, driver, cases, func(c *nativeCase, a *nativeAnswer) { r.compare(t, c, a, &sum) })
	t.Logf("%d cases, %d differences, %d with hooks that ran, %d sequential, in %.1f s; natively: %v",
		len(cases), sum.different, sum.ran, sum.sequential, time.Since(begun).Seconds(), sum.actions)
	assert.Zero(t, sum.different, "%v", sum.fields)
}

// tally counts what was compared.
type tally struct {
	mu                                sync.Mutex
	cases, different, ran, sequential int
	// actions counts native decisions by event; fields what differs.
	actions, fields map[string]int
}

// shownDifferences bounds how many differences are printed in full.
const shownDifferences = 12

// verdict is what both sides are compared by. Texts that no one is shown, and
// changes of what does not happen, are left out.
type verdict struct {
	// Action is proceed, allow, ask, block or stop; Blocked whether a block stands
	// beside a stop.
	Action  string
	Blocked bool   `json:",omitempty"`
	Reason  string `json:",omitempty"`
	Context string `json:",omitempty"`
	System  string `json:",omitempty"`
	// Changed are the fields that change, with their final values.
	Changed map[string]any `json:",omitempty"`
	// Ran are the hooks in the order they began; sorted when all began at once.
	Ran []string
	// Sent is what each hook was sent, where it kept it.
	Sent map[string]any `json:",omitempty"`
}

func (r rival) compare(t *testing.T, c *nativeCase, a *nativeAnswer, sum *tally) {
	want := a.verdict(c)
	want.Ran, want.Sent = traces(t, c.Cwd, a.Sequential)
	got, err := r.decide(t, c)
	if err != nil {
		got.Action = "none: " + err.Error()
	}
	got.Ran, got.Sent = traces(t, c.Cwd, a.Sequential)
	if a.GaveUp && a.Sequential && len(got.Ran) > len(want.Ran) {
		// The agent's runner throws when it hands an answer to the next hook,
		// and nothing after it runs or counts. In hookc nothing counts either,
		// but the rest runs.
		got.Ran = got.Ran[:len(want.Ran)]
		maps.DeleteFunc(got.Sent, func(name string, _ any) bool { return want.Sent[name] == nil })
	}
	os.RemoveAll(c.Cwd)
	sum.mu.Lock()
	defer sum.mu.Unlock()
	sum.cases++
	sum.actions[c.Event+" "+want.Action]++
	if len(want.Ran) > 0 {
		sum.ran++
	}
	if a.Sequential {
		sum.sequential++
	}
	w, g := jsonText(want), jsonText(got)
	if *caseOnly >= 0 {
		t.Logf("case %s\nnative %s\nhookc  %s", jsonText(c), w, g)
	}
	if w == g {
		return
	}
	for _, field := range want.unlike(got) {
		sum.fields[c.Event+" "+field]++
	}
	if sum.different++; sum.different <= shownDifferences {
		t.Errorf("case %d (seed %d), %s %s\nsettings %s\nnative %s\nhookc  %s", c.ID, *caseSeed, c.Event, jsonText(c.Input), jsonText(c.settings()), w, g)
	}
}

// unlike names the fields in which two verdicts differ.
func (v verdict) unlike(other verdict) []string {
	var out []string
	a, b := reflect.ValueOf(v), reflect.ValueOf(other)
	for i := range a.NumField() {
		if jsonText(a.Field(i).Interface()) != jsonText(b.Field(i).Interface()) {
			out = append(out, a.Type().Field(i).Name)
		}
	}
	return out
}

// traces reads and takes away what the hooks left in the folder.
func traces(t *testing.T, dir string, ordered bool) ([]string, map[string]any) {
	ledger, err := os.ReadFile(filepath.Join(dir, "ledger"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	ran := append([]string{}, strings.Fields(string(ledger))...)
	if !ordered {
		slices.Sort(ran)
	}
	sent := map[string]any{}
	kept, _ := filepath.Glob(filepath.Join(dir, "in.*"))
	for _, path := range kept {
		content, err := os.ReadFile(path)
		if err != nil {
			t.Error(err)
		}
		value, err := policy.DecodeJSON(content)
		if err != nil {
			value = "not JSON: " + string(content)
		}
		sent[filepath.Base(path)] = value
		os.Remove(path)
	}
	os.Remove(filepath.Join(dir, "ledger"))
	return ran, sent
}

// verdict is the agent's own decision.
func (a *nativeAnswer) verdict(c *nativeCase) verdict {
	if a.None {
		return verdict{Action: "proceed"}
	}
	v := verdict{Action: a.Action, Blocked: a.Blocked, Reason: a.Reason, Context: spoken(a.Context), System: a.System}
	change := func(field string, value, before any) {
		if value != nil && !policy.SameValue(plain(value), plain(before)) {
			if v.Changed == nil {
				v.Changed = map[string]any{}
			}
			v.Changed[field] = value
		}
	}
	if a.Input != nil {
		change("tool_input", a.Input, c.Input["tool_input"])
	}
	if a.Request != nil {
		before, _ := c.Input["llm_request"].(map[string]any)
		change("model", a.Request["model"], before["model"])
		change("messages", a.Request["messages"], before["messages"])
		change("request_config", a.Request["config"], before["config"])
	}
	if a.Tools != nil {
		change("tool_config", map[string]any{"mode": a.Tools["mode"], "names": a.Tools["allowedFunctionNames"]}, nil)
	}
	if a.Text != nil {
		change("assistant_output", *a.Text, "out")
	}
	return v
}

// plain is a value as JSON gives it.
func plain(v any) any {
	out, err := policy.DecodeJSON([]byte(jsonText(v)))
	if err != nil {
		panic(err)
	}
	return out
}

// decide is hookc's own decision on a case.
func (r rival) decide(t *testing.T, c *nativeCase) (verdict, error) {
	file := filepath.Join(c.Cwd, filepath.FromSlash(r.settings))
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return verdict{}, err
	}
	if err := os.WriteFile(file, []byte(jsonText(c.settings())), 0o644); err != nil {
		return verdict{}, err
	}
	d, err := agent.Find(r.id)
	if err != nil {
		return verdict{}, err
	}
	call, err := d.Decode([]byte(jsonText(c.Input)), c.Event, os.Getenv)
	if err != nil {
		return verdict{}, err
	}
	engine, err := hookc.Open(t.Context(), hookc.Dir(c.Cwd), hookc.Files(file), hookc.Profile(r.id, true), hookc.SkipVerify())
	if err != nil {
		return verdict{}, err
	}
	defer engine.Close()
	decision, err := engine.Fire(t.Context(), call.Event(), call.Context)
	if err != nil {
		return verdict{}, err
	}
	return read(decision), nil
}

// read is a Decision by what is compared.
func read(d *policy.Decision) verdict {
	v := verdict{System: strings.Join(d.SystemMessages, "\n")}
	switch d.Action {
	case policy.Proceed:
		v.Action = "proceed"
		if d.Event == policy.PermissionRequest && d.Verdict == policy.Allow {
			v.Action = "allow"
		}
	case policy.AskUser:
		v.Action = "ask"
	case policy.EndTurn:
		v.Action, v.Blocked = "stop", d.Verdict == policy.Deny
		v.Reason = firstText(d.StopReason, strings.Join(d.Reasons, "\n"), strings.Join(d.Feedback, "\n"))
	case policy.Block, policy.Hide, policy.KeepWorking:
		v.Action, v.Blocked = "block", true
		v.Reason = firstText(strings.Join(d.Reasons, "\n"), strings.Join(d.Feedback, "\n"))
	default:
		v.Action = "hookc: " + string(d.Action)
	}
	if d.Action == policy.Proceed || d.Action == policy.AskUser {
		v.Context = spoken(strings.Join(d.Context, "\n"))
		if len(d.Patch) > 0 {
			v.Changed = d.Patch
		}
	}
	return v
}

// spoken is a text, none when it is blank: hookc passes on no empty contexts.
func spoken(text string) string {
	if strings.TrimSpace(text) == "" {
		return ""
	}
	return text
}

// firstText is what the agent says when there is no reason, or the first there is.
func firstText(texts ...string) string {
	for _, s := range texts {
		if s != "" {
			return s
		}
	}
	return "No reason provided"
}
