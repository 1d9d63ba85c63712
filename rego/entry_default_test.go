package rego

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/tests/depth"
)

// What a package with `default allow := false` may hold besides, each true of the
// commands that hold a word: the decision on each must be what the words say, in
// both engines, alone and together with another hook.
var besideAllow = []struct{ word, rule string }{
	{"allow", `allow if contains(input.command, "allow")`},
	{"deny", `deny contains "denied" if contains(input.command, "deny")`},
	{"ask", `ask := "asked" if contains(input.command, "ask")`},
	{"skip", `skip if contains(input.command, "skip")`},
	{"stop", `stop contains {"reason": "stopped"} if contains(input.command, "stop")`},
	{"note", `message contains "noted" if contains(input.command, "note")`},
	{"patch", `patch := {"tool_input": {"x": 1}} if contains(input.command, "patch")`},
}

// wantedByDefault is the decision by the definition (semantics.md §2.8).
func wantedByDefault(rules int, command, unallowed string) (verdict, control, reasons string) {
	says := func(word string) bool {
		for i, b := range besideAllow {
			if b.word == word {
				return rules>>i&1 != 0 && strings.Contains(command, word)
			}
		}
		return false
	}
	verdict, control = "none", "go"
	var list []string
	for _, v := range []struct{ word, verdict, reason string }{{"deny", "deny", "denied"}, {"ask", "ask", "asked"}, {"allow", "allow", ""}} {
		if !says(v.word) {
			continue
		}
		if verdict == "none" {
			verdict = v.verdict
		}
		if v.reason != "" {
			list = append(list, v.reason)
		}
	}
	if says("skip") {
		control = "skip"
	}
	if says("stop") {
		control, list = "stop", append(list, "stopped")
	}
	if verdict == "none" && control == "go" {
		return "deny", "go", unallowed
	}
	return verdict, control, strings.Join(list, ", ")
}

func TestDefaultAllowDenies(t *testing.T) {
	reasons := []struct{ rule, text string }{
		{"", "not allowed by p.q.allow"},
		{"\nreason := \"ask your lead\"", "ask your lead"},
		{"\nreason contains \"b\" if true\nreason contains \"a\" if true", "a, b"},
		{"\nreason contains \"x\" if contains(input.command, \"why\")", "not allowed by p.q.allow"},
	}
	for i := range depth.Of(2 << len(besideAllow)) {
		rules := i * 45 % (1 << len(besideAllow))
		reason := reasons[i/3%len(reasons)]
		source := "package p.q\ndefault allow := false" + reason.rule
		for i, b := range besideAllow {
			if rules>>i&1 != 0 {
				source += "\n" + b.rule
			}
		}
		event := [...]policy.Event{policy.PreToolExecution, policy.PermissionRequest}[rules%2]
		h := inline("h", event, source)
		m, n, both := everyWay(t, h)
		for words := range 1 << len(besideAllow) {
			command := "x"
			for i, b := range besideAllow {
				if words>>i&1 != 0 {
					command += " " + b.word
				}
			}
			verdict, control, why := wantedByDefault(rules, command, reason.text)
			in := policy.NewContext(event).Set(policy.FieldToolName, "Bash").Set(policy.FieldToolInput, map[string]any{"command": command}).Frozen(event)
			for name, run := range map[string]func() (policy.Result, error){
				"topdown":  func() (policy.Result, error) { return m.Run(t.Context(), in, 0) },
				"native":   func() (policy.Result, error) { return n.Run(t.Context(), in, 0) },
				"together": func() (policy.Result, error) { return both(in) },
			} {
				r, err := run()
				require.NoError(t, err)
				var texts []string
				for _, contribution := range r.Reasons {
					texts = append(texts, contribution.Text)
				}
				assert.Equal(t, verdict+" "+control+" "+why, fmt.Sprintf("%s %s %s", r.Verdict, r.Control, strings.Join(texts, ", ")), "%s: %s\n%s", name, command, source)
			}
		}
	}
}

// everyWay is a hook's module, its native code, and that evaluated with another hook.
func everyWay(t *testing.T, h *policy.Hook) (*Module, *Native, func(*policy.Context) (policy.Result, error)) {
	t.Helper()
	m := compiled(t, h)
	n, engine := m.Native()
	require.NotNil(t, n, engine)
	require.Empty(t, n.Verify(h).Render())
	require.True(t, n.Compared())
	other := inline("other", h.Event, "package other\ndeny contains \"no\" if input.session_id == \"never\"")
	second, _ := compiled(t, other).Native()
	require.True(t, second.Fusible())
	return m, n, func(in *policy.Context) (policy.Result, error) {
		if !n.Fusible() {
			return n.Run(t.Context(), in, 0)
		}
		contribution := make([]dag.FusedAnswer, 2)
		err := FuseNative([]*Native{n, second}).Run(t.Context(), in, dag.Choose([]int{0, 1}), contribution)
		if err != nil || contribution[0].Result == nil {
			return policy.Result{}, err
		}
		return *contribution[0].Result, nil
	}
}

// Where nothing is guarded, where the hook says that its allow is an opinion, and
// without that default, what is not allowed is nobody's business.
func TestAllowThatIsAnOpinion(t *testing.T) {
	const closed = "package p\ndefault allow := false\nallow if input.session_id == \"x\""
	opinion := inline("h", policy.PreToolExecution, closed)
	opinion.Body.AllowIsOpinion = true
	for name, h := range map[string]*policy.Hook{
		"opinion":       opinion,
		"another event": inline("h", policy.StopEvent, closed),
		"no default":    inline("h", policy.PreToolExecution, "package p\nallow if input.session_id == \"x\""),
		"default true":  inline("h", policy.PreToolExecution, "package p\ndefault allow := true\nallow := false if input.session_id == \"y\"\ndeny if input.session_id == \"x\""),
		"nested reason": inline("h", policy.StopEvent, closed+"\nreason := {\"a\": 1}"),
	} {
		m, n, _ := everyWay(t, h)
		in := policy.NewContext(h.Event).Set(policy.FieldSessionID, "z").Frozen(h.Event)
		for _, r := range []policy.Runner{m, n} {
			got, err := r.Run(t.Context(), in, 0)
			require.NoError(t, err)
			assert.Less(t, got.Verdict, policy.Ask, name)
		}
	}
}

// A reason of the wrong shape fails only where it would be said.
func TestReasonOfTheWrongShape(t *testing.T) {
	h := inline("h", policy.PreToolExecution, "package p\ndefault allow := false\nallow if input.session_id == \"x\"\nreason := {\"a\": 1}")
	m, n, _ := everyWay(t, h)
	for session, fails := range map[string]bool{"x": false, "z": true} {
		in := policy.NewContext(h.Event).Set(policy.FieldSessionID, session).Frozen(h.Event)
		for _, r := range []policy.Runner{m, n} {
			_, err := r.Run(t.Context(), in, 0)
			assert.Equal(t, fails, err != nil, session)
		}
	}
}
