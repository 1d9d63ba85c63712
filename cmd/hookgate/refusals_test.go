package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/agent"
)

var update = flag.Bool("update", false, "rewrite refusals.txt")

// TestRefusals: the gate's answers are those of policy/agent, at every event
// of every agent.
func TestRefusals(t *testing.T) {
	want := refusalsTable()
	if *update {
		require.NoError(t, os.WriteFile("refusals.txt", []byte(want), 0o644))
		refusals = want
	}
	require.Equal(t, want, refusals, "go test ./cmd/hookgate -run TestRefusals -update, and read the diff")
}

// eventNames are the names by which a command line or an agent may call an
// event of the dialect.
func eventNames(d *agent.Agent) []string {
	var out []string
	seen := map[string]bool{}
	add := func(name string) {
		if !seen[name] {
			seen[name] = true
			out = append(out, name)
		}
	}
	for _, e := range policy.Events() {
		for _, c := range d.Can(e) {
			add(c.Native)
		}
	}
	for _, name := range policy.EventNames() {
		add(name)
	}
	return out
}

func named(d *agent.Agent, name string) *agent.Call {
	call, _ := d.Decode([]byte("{}"), name, func(string) string { return "" })
	return call
}

func guards(c *agent.Call) bool { return c.Event() != "" && c.Event().Spec().Class == policy.Guard }

// taking is what a posture says at an event.
func taking(d *agent.Agent, name, posture string) agent.Wire {
	call := named(d, name)
	if call.Event() == "" || posture == "deny" || posture == "ask" && !guards(call) {
		return call.Fail(reasonMark)
	}
	if posture == "ask" {
		w := asking(call, "")
		for _, mode := range permissionModes {
			// An agent that answers the question itself is refused: the gate
			// does not look at the mode.
			if other := asking(call, mode); !reflect.DeepEqual(w, other) {
				return call.Fail(reasonMark)
			}
		}
		return w
	}
	call.Context = policy.NewContext("").Frozen(call.Event())
	return call.Encode(&policy.Decision{Event: call.Event(), Action: policy.Proceed,
		SystemMessages: []string{"hookc could not decide, and --on-unavailable proceed lets it through: " + reasonMark}})
}

// permissionModes are modes in which some agent asks nobody.
var permissionModes = []string{"yolo", "bypassPermissions", "dontAsk", "auto", "acceptEdits", "plan"}

func asking(call *agent.Call, mode string) agent.Wire {
	call.Context = policy.NewContext("").Set(policy.FieldPermissionMode, mode).Frozen(call.Event())
	return call.Encode(&policy.Decision{Event: call.Event(), Action: policy.AskUser, Verdict: policy.Ask, By: "hookgate",
		Reasons: []string{"hookc could not decide: " + reasonMark}})
}

func refusalsTable() string {
	var parts []string
	for _, d := range agent.All() {
		lines := []string{strings.Join(append([]string{d.ID}, d.Aliases...), " ")}
		for _, posture := range []string{"deny", "ask", "proceed"} {
			lines = append(lines, rows(d, posture)...)
		}
		parts = append(parts, strings.Join(lines, "\n"))
	}
	return strings.Join(parts, "\n\n")
}

func rows(d *agent.Agent, posture string) []string {
	var order []string
	names := map[string][]string{}
	put := func(name string, guard bool, w agent.Wire) {
		class := "other"
		if guard {
			class = "guard"
		}
		key := strings.Join([]string{posture, class, strconv.Itoa(w.Exit), strconv.Quote(string(w.Stdout)), strconv.Quote(w.Stderr)}, "\t")
		if names[key] == nil {
			order = append(order, key)
		}
		names[key] = append(names[key], name)
	}
	for _, name := range eventNames(d) {
		if call := named(d, name); call.Event() != "" {
			put(name, guards(call), taking(d, name, posture))
		}
	}
	put("-", true, d.Unread().Fail(reasonMark))
	var out []string
	for _, key := range order {
		out = append(out, key+"\t"+strings.Join(names[key], " "))
	}
	return out
}

// TestPostureFindsEvery: what the gate finds is what the table was made of,
// by every name of a dialect.
func TestPostureFindsEvery(t *testing.T) {
	for _, d := range agent.All() {
		for _, name := range append([]string{d.ID, d.ID + "@0.0.1"}, d.Aliases...) {
			lines, ok := section(name)
			require.True(t, ok, name)
			if strings.HasSuffix(name, "@0.0.1") {
				continue // the newest one's
			}
			for _, event := range eventNames(d) {
				if named(d, event).Event() == "" {
					continue
				}
				for _, posture := range []string{"deny", "ask", "proceed"} {
					r, ok := find(lines, posture, event)
					require.True(t, ok, "%s %s %s", name, posture, event)
					w := taking(d, event, posture)
					assert.Equal(t, refusal{guards(named(d, event)), w.Exit, string(w.Stdout), w.Stderr}, r, "%s %s %s", name, posture, event)
				}
			}
		}
	}
	_, ok := section("nobody")
	assert.False(t, ok)
	_, ok = section("")
	assert.False(t, ok)
}

// TestReasonsArePlain: a reason is put into JSON as it is.
func TestReasonsArePlain(t *testing.T) {
	for _, why := range []string{noTime, noInput, tooLarge, noHookc, noAnswer, noStart, badFlags, noPanic} {
		text, err := json.Marshal(why)
		require.NoError(t, err)
		assert.Equal(t, `"`+why+`"`, string(text))
	}
}

// TestSentEvent: only the agent's own name of the event counts, not what a
// tool's input holds.
func TestSentEvent(t *testing.T) {
	for input, want := range map[string]string{
		`{"hook_event_name":"PreToolUse","tool_input":{"event":"stop"}}`:         "PreToolUse",
		`{"tool_input":{"hook_event_name":"Stop"},"hook_event_name":"PreToolUse`: "",
		`{"tool_input":{"hook_event_name":"Stop"},"hook_event_name":"Pre"`:       "Pre",
		`{"a":"hook_event_name","b":"x"}`:                                        "",
		`{"a":["hook_event_name","Stop"],"event":"pre_llm_request"}`:             "pre_llm_request",
		`{"a":"x\"","event_type":"Stop"}`:                                        "Stop",
		`{"event":"St\u006fp"}`:                                                  "",
		`{"event":3,"hookEventName":"Stop"}`:                                     "Stop",
		`["event","Stop"]`:                                                       "",
		``:                                                                       "",
	} {
		assert.Equal(t, want, sentEvent([]byte(input)), input)
	}
}

// TestEventFor: where the two names disagree the one that guards counts.
func TestEventFor(t *testing.T) {
	lines, ok := section("claude")
	require.True(t, ok)
	for _, row := range []struct{ argument, sent, want string }{
		{"PreToolUse", "Stop", "PreToolUse"}, {"Stop", "PreToolUse", "PreToolUse"}, {"Stop", "Notification", "Notification"},
		{"PreToolUse", "", "PreToolUse"}, {"", "Stop", "Stop"}, {"", "", "-"}, {"Nothing", "Nobody", "-"}, {"Stop", "Nobody", "Stop"},
	} {
		c := &call{options: options{event: row.argument}}
		c.took(fmt.Appendf(nil, `{"hook_event_name":%q}`, row.sent))
		assert.Equal(t, row.want, c.eventFor(lines), "%+v", row)
	}
}

func TestParse(t *testing.T) {
	o, wrong := parse([]string{"PreToolUse", "--dialect=claude", "--deadline", "800ms", "-f", "a.yaml", "--file=b.yaml", "--start", "--on-unavailable", "ask"})
	assert.Empty(t, wrong)
	assert.Equal(t, []string{"run", "PreToolUse", "--dialect", "claude", "-f", "a.yaml", "--file", "b.yaml"}, o.words())
	assert.Equal(t, "ask", o.unavailable)
	assert.True(t, o.start)
	for _, args := range [][]string{
		{"--what"}, {"--dialect"}, {"--deadline", "5"}, {"--deadline", "-1s"}, {"--on-unavailable", "allow"}, {"a", "b"}, {"-x"}, {"-f"},
	} {
		_, wrong := parse(args)
		assert.NotEmpty(t, wrong, "%q", args)
	}
}
