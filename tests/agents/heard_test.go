package agents_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/agent"
)

var heardCount = flag.Int("agents.heard", 1000, "how many random Decisions each agent's own code is made to hear")

// TestHeardGemini and TestHeardQwen have the agents' own code read what hookc
// answers for random Decisions: a refusal is never heard as less, and where
// nothing was recorded as lost, everything is heard as it was decided.
func TestHeardGemini(t *testing.T) {
	heard(t, "gemini", exec.Command(node(t), filepath.Join("testdata", "gemini.mjs"), installed(t, "@google", "gemini-cli")), dice.input,
		"BeforeTool", "AfterTool", "BeforeAgent", "AfterAgent", "BeforeModel", "AfterModel", "BeforeToolSelection", "SessionStart")
}

func TestHeardQwen(t *testing.T) {
	heard(t, "qwen", exec.Command(node(t), filepath.Join("testdata", "qwen.mjs"), installed(t, "@qwen-code", "qwen-code"), t.TempDir()), dice.qwenInput,
		"PreToolUse", "PostToolUse", "PostToolUseFailure", "UserPromptSubmit", "Stop", "SubagentStop", "PermissionRequest", "SessionStart")
}

// heardCase is a Decision and the call it answers.
type heardCase struct {
	*nativeCase
	call     *agent.Call
	decision *policy.Decision
}

func heard(t *testing.T, whose string, driver *exec.Cmd, input func(dice, *nativeCase) map[string]any, events ...string) {
	d, err := agent.Find(whose)
	require.NoError(t, err)
	root := t.TempDir()
	driver.Env = bareEnv(root)
	begun := time.Now()
	cases := make([]*heardCase, *heardCount)
	native := make([]*nativeCase, *heardCount)
	for id := range cases {
		dice := dice{rand.New(rand.NewPCG(*caseSeed+1, uint64(id)))}
		c := &nativeCase{ID: id, Cwd: filepath.Join(root, fmt.Sprint(id)), Session: "s1", Enabled: true, Disabled: []string{}, Event: choose(dice, events...)}
		c.Input = input(dice, c)
		call, err := d.Decode([]byte(jsonText(c.Input)), c.Event, func(string) string { return "" })
		require.NoError(t, err, "%s", jsonText(c.Input))
		cases[id] = &heardCase{c, call, dice.decision(call.Context, call.Event())}
		cases[id].answer(t, dice)
		native[id] = c
	}
	refused := 0
	drive(t, driver, native, func(c *nativeCase, a *nativeAnswer) {
		h := cases[c.ID]
		if wrong := h.misheard(a, d); len(wrong) > 0 {
			t.Errorf("case %d: %s\nevent %s %s\ndecided %s\ndegraded %q\nheard %s\nhooks %s", c.ID, strings.Join(wrong, "; "), c.Event, jsonText(c.Input),
				jsonText(h.decision), h.decision.Degraded, jsonText(a), jsonText(c.Hooks))
		}
	})
	for _, h := range cases {
		if h.decision.Action != policy.Proceed {
			refused++
		}
	}
	assert.NotZero(t, refused)
	t.Logf("%d Decisions, %d of them no plain go-ahead, in %.1f s", len(cases), refused, time.Since(begun).Seconds())
}

// answer makes hookc's answer the output of the agent's hook, sometimes with
// another hook beside it that has no objection.
func (h *heardCase) answer(t *testing.T, d dice) {
	w := h.call.Encode(h.decision)
	require.NoError(t, os.MkdirAll(h.Cwd, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(h.Cwd, "stdout"), w.Stdout, 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(h.Cwd, "stderr"), []byte(w.Stderr), 0o600))
	hooks := []any{map[string]any{"type": "command", "command": fmt.Sprintf("cat stdout; cat stderr >&2; exit %d", w.Exit)}}
	if d.chance(3) && !strings.HasSuffix(h.Event, "Model") && !slices.Contains([]string{"BeforeToolSelection", "PermissionRequest", "SessionStart"}, h.Event) {
		other := map[string]any{"type": "command", "command": choose(d, "true", "echo '{}'", `echo '{"decision":"allow"}'`, "echo '{\"continue\":true}'")}
		hooks = slices.Insert(hooks, d.IntN(2), any(other))
	}
	h.Hooks = map[string]any{h.Event: []any{map[string]any{"hooks": hooks}}}
}

// decision is what a random result of a chain comes to.
func (d dice) decision(in *policy.Context, e policy.Event) *policy.Decision {
	spec := e.Spec()
	by := policy.By{Name: "h"}
	r := policy.Result{}
	if v := policy.Verdict(d.IntN(5)); spec.Powers.Verdict(v) && !d.chance(4) {
		r.Verdict, r.VerdictBy = v, by
	}
	if c := policy.Control(d.IntN(4)); spec.Powers.Control(c) && d.chance(4) {
		r.Control, r.ControlBy = c, by
	}
	some := func(text string) []string { return [][]string{nil, {text}, {text, text + " too"}}[d.IntN(3)] }
	for _, text := range some("because of <x> & 'y'") {
		r.Reasons = append(r.Reasons, policy.Reason{Text: text})
	}
	r.System = some("to the user")
	if spec.Context {
		r.Context = some("know this")
	}
	if spec.Feedback {
		r.Feedback = some("again")
	}
	if r.Control == policy.Halt {
		r.StopReasons = some("enough")
	}
	for _, f := range spec.Writes {
		if d.chance(3) {
			r.Patch = r.Patch.Then(policy.Replace(policy.Path{Field: f}, d.value(f)))
		}
	}
	return policy.Decide(spec, in, in.With(r.Patch), &r)
}

func (d dice) value(f policy.Field) any {
	switch {
	case f == policy.FieldToolConfig:
		return map[string]any{"mode": choose(d, "ANY", "AUTO"), "names": []any{"a"}}
	case f == policy.FieldRequestConfig:
		return choose(d, map[string]any{"temperature": 0}, map[string]any{"topP": 1, "topK": 3, "temperature": 0.5})
	case f.Spec().Type == policy.ObjectType:
		return choose(d, map[string]any{"command": "pwd"}, map[string]any{"file_path": "z", "content": "b", "n": 1})
	case f.Spec().Type == policy.ListType:
		return choose(d, []any{}, []any{map[string]any{"role": "user", "content": "new"}, map[string]any{"role": "model", "content": "yes"}})
	}
	return choose(d, "new text", `{"llmContent":"x"}`, "42")
}

// misheard lists in what the agent heard another thing than was decided.
func (h *heardCase) misheard(a *nativeAnswer, d *agent.Agent) []string {
	var wrong []string
	miss := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	got := a.verdict(h.nativeCase)
	if got.Action == "proceed" && h.call.Event().Spec().Class == policy.Guard && !slices.Contains(h.actions(), "proceed") {
		miss("an action that was refused happens")
	}
	if h.decision.Degraded != "" {
		return wrong
	}
	if !slices.Contains(h.actions(), got.Action) {
		miss("heard %q, not one of %v", got.Action, h.actions())
	}
	if got.Action == "block" || got.Action == "stop" {
		if !strings.Contains(got.Reason, h.reason()) {
			miss("the reason %q is not in %q", h.reason(), got.Reason)
		}
		return wrong
	}
	may := h.may(d)
	// What is to be told without a refusal is context too.
	if want := strings.Join(slices.Concat(h.decision.Context, h.decision.Feedback), "\n"); got.Action == "proceed" && may.Has(agent.MayContext) && got.Context != want {
		miss("context %q is heard as %q", want, got.Context)
	}
	if want := h.changed(); jsonText(got.Changed) != jsonText(want) {
		miss("changes %s are heard as %s", jsonText(want), jsonText(got.Changed))
	}
	return wrong
}

// may is what the agent lets a hook say at the event.
func (h *heardCase) may(d *agent.Agent) agent.Power {
	for _, c := range d.Can(h.call.Event()) {
		if c.Native == h.Event {
			return c.May
		}
	}
	return 0
}

// actions are the native actions that do what was decided.
func (h *heardCase) actions() []string {
	switch h.decision.Action {
	case policy.Proceed:
		return []string{"proceed", "allow"}
	case policy.AskUser, policy.DeferCall:
		return []string{"ask", "block"}
	case policy.EndTurn, policy.Abort:
		if h.call.Event().Spec().Class == policy.Quality {
			return []string{"stop", "proceed"} // nothing keeps it going
		}
		if h.decision.Action == policy.EndTurn {
			return []string{"stop"}
		}
	}
	return []string{"block", "stop"}
}

// reason is what must be among the reasons heard.
func (h *heardCase) reason() string {
	d := h.decision
	if d.Action == policy.EndTurn && d.StopReason != "" {
		return d.StopReason
	}
	if (d.Action == policy.KeepWorking || d.Action == policy.RetryTurn) && len(d.Feedback) > 0 {
		return strings.Join(d.Feedback, "\n")
	}
	return strings.Join(d.Reasons, "\n")
}

// changed are the changes of the Decision, as a verdict has them.
func (h *heardCase) changed() map[string]any {
	if len(h.decision.Patch) == 0 {
		return nil
	}
	return h.decision.Patch
}
