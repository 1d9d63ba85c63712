package faults

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/policy"
)

// What a failure must come to, written from docs/semantics.md alone: the table
// of events (§1.1), the action (§2.4), the settled details (§2.7) and the rules
// of execution (§5.4). Nothing here asks the engine what it thinks.

// faultEvent is the event's row in the table of §1.1.
type faultEvent struct {
	name, class string
	can         []string
	step, scope string
	in          func() *policy.Context
}

var faultEvents = []faultEvent{
	{"pre_tool_execution", "G", []string{"allow", "ask", "defer", "deny", "skip", "stop", "halt"}, "tool", "tool.batch", func() *policy.Context {
		return policy.NewContext("").Set(policy.FieldToolName, "Bash").Set(policy.FieldToolInput, map[string]any{"command": "ls"})
	}},
	{"pre_send_message", "G", []string{"deny", "stop", "halt"}, "turn", "turn", func() *policy.Context {
		return policy.NewContext("").Set(policy.FieldUserInput, "hello")
	}},
	{"post_tool_execution", "T", []string{"deny", "stop", "halt"}, "tool", "tool.batch", func() *policy.Context {
		return policy.NewContext("").
			Set(policy.FieldToolName, "Bash").
			Set(policy.FieldToolInput, map[string]any{"command": "ls"}).
			Set(policy.FieldToolResult, "a.txt")
	}},
	{"stop", "Q", []string{"deny", "stop", "halt"}, "", "turn", func() *policy.Context {
		return policy.NewContext("").Set(policy.FieldAssistantOutput, "done").Set(policy.FieldStopReason, "end")
	}},
	{"notify", "O", nil, "", "", func() *policy.Context {
		return policy.NewContext("").Set(policy.FieldMessage, "look")
	}},
	{"pre_micro_compact", "G", []string{"deny", "stop"}, "compact.micro", "compact", func() *policy.Context {
		return policy.NewContext("").Set(policy.FieldTrigger, "auto").Set(policy.FieldMessages, []any{map[string]any{"role": "user", "content": "hello"}})
	}},
}

// posture is what decides a failure (§5.4, §2.7): on_timeout a late one, if it
// is written, else on_error, if it is written, else the default of kind and
// class.
func (e *faultEvent) posture(f *fault, onError, onTimeout string) string {
	switch {
	case f.late && onTimeout != "":
		return onTimeout
	case onError != "":
		return onError
	case (f.kind == "rego" || f.kind == "expr" || f.kind == "builtin") && e.class == "G":
		return "deny"
	}
	return "skip"
}

// faultOutcome is what a posture does to a chain of strategy `chain`.
type faultOutcome struct {
	verdict, control, action, scope string
	// decides: the hook is named in by; reasons: its error is a reason.
	decides, reasons bool
	// ends: no later hook runs.
	ends bool
}

// outcome is §5.4 and then §2.4.
func (e *faultEvent) outcome(posture string) faultOutcome {
	out := faultOutcome{verdict: "none", control: "go"}
	switch posture {
	case "abort":
		out.ends = true
		switch {
		case slices.Contains(e.can, "skip"):
			out.control = "skip"
		case slices.Contains(e.can, "stop"):
			out.control = "stop"
		}
	case "ask", "deny":
		said := posture
		if !slices.Contains(e.can, "ask") {
			said = "deny"
		}
		if slices.Contains(e.can, said) { // else it is masked to the unit (§1.1)
			out.verdict, out.reasons, out.ends = said, true, said == "deny"
		}
	}
	out.decides = out.verdict != "none" || out.control != "go"
	switch {
	case out.control == "stop":
		out.action, out.scope = "abort", e.scope
	case out.control == "skip", out.verdict == "deny":
		switch e.class {
		case "G":
			out.action, out.scope = "block", e.step
		case "Q":
			out.action = "keep_working"
		case "T":
			out.action = "hide"
		}
	case out.verdict == "ask":
		out.action = "ask"
	default:
		out.action = "proceed"
	}
	return out
}

// attempts is how many calls are made (§5.4): one and the retries, of which an
// llm hook has one by default; none after the chain deadline.
func (f *fault) attempts(retry int) int {
	switch {
	case f.fails == "" && !f.flaky:
		return 1
	case f.struck == struckRunning:
		return 1
	case f.struck == struckWaiting:
		return 0
	case retry >= 0:
		return retry + 1
	case f.kind == "llm":
		return 2
	}
	return 1
}

// wireDecision is a Decision as it leaves hookc, without the times and places.
type wireDecision struct {
	Action   string        `json:"action"`
	Verdict  string        `json:"verdict"`
	Control  string        `json:"control"`
	By       string        `json:"by"`
	Scope    string        `json:"scope"`
	Reasons  []string      `json:"reasons"`
	Feedback []string      `json:"feedback"`
	System   []string      `json:"system_messages"`
	Context  []string      `json:"additional_context"`
	Failed   []wireFailure `json:"failed"`
	Hooks    []wireHook    `json:"hooks"`
	Warnings []wireWarning `json:"warnings"`
	Patch    any           `json:"patch"`
}

type wireFailure struct {
	Hook    string `json:"hook"`
	Kind    string `json:"kind"`
	OnError string `json:"on_error"`
	Error   string `json:"error"`
}

type wireHook struct {
	Name     string `json:"name"`
	Status   string `json:"status"`
	Attempts int    `json:"attempts"`
	Verdict  string `json:"verdict"`
	Control  string `json:"control"`
}

type wireWarning struct {
	Code string `json:"code"`
	Hook string `json:"hook"`
}

func wireOf(d *policy.Decision) (wireDecision, error) {
	text, err := d.MarshalJSON()
	if err != nil {
		return wireDecision{}, err
	}
	return readWire(text)
}

// readWire reads a Decision. Whether a hook that can no longer matter had been
// started is not observable (§5.1): what was squashed reads as not started.
// Whether HK112, that a stop without feedback ends the turn (§12, 5), is also
// said of a failure that means abort, the specification leaves open.
func readWire(text []byte) (wireDecision, error) {
	var d wireDecision
	if err := json.Unmarshal(text, &d); err != nil {
		return d, err
	}
	d.Warnings = slices.DeleteFunc(d.Warnings, func(w wireWarning) bool { return w.Code == "HK112" })
	if len(d.Warnings) == 0 {
		d.Warnings = nil
	}
	for i := range d.Hooks {
		h := &d.Hooks[i]
		if h.Status == "squashed" {
			*h = wireHook{Name: h.Name, Status: "not_started"}
		}
		if h.Verdict == "none" {
			h.Verdict = ""
		}
		if h.Control == "go" {
			h.Control = ""
		}
	}
	return d, nil
}

// TestFaultExpectations pins the expectations themselves on the lines of the
// specification that can be quoted, so that a slip in them shows.
func TestFaultExpectations(t *testing.T) {
	event := func(name string) *faultEvent {
		i := slices.IndexFunc(faultEvents, func(e faultEvent) bool { return e.name == name })
		require.GreaterOrEqual(t, i, 0)
		return &faultEvents[i]
	}
	rows := []struct {
		event, posture string
		want           faultOutcome
	}{
		{"pre_tool_execution", "abort", faultOutcome{verdict: "none", control: "skip", action: "block", scope: "tool", decides: true, ends: true}},
		{"pre_tool_execution", "ask", faultOutcome{verdict: "ask", control: "go", action: "ask", decides: true, reasons: true}},
		{"pre_send_message", "ask", faultOutcome{verdict: "deny", control: "go", action: "block", scope: "turn", decides: true, reasons: true, ends: true}},
		{"pre_send_message", "abort", faultOutcome{verdict: "none", control: "stop", action: "abort", scope: "turn", decides: true, ends: true}},
		{"post_tool_execution", "deny", faultOutcome{verdict: "deny", control: "go", action: "hide", decides: true, reasons: true, ends: true}},
		{"stop", "deny", faultOutcome{verdict: "deny", control: "go", action: "keep_working", decides: true, reasons: true, ends: true}},
		{"stop", "abort", faultOutcome{verdict: "none", control: "stop", action: "abort", scope: "turn", decides: true, ends: true}},
		{"notify", "deny", faultOutcome{verdict: "none", control: "go", action: "proceed"}},
		{"notify", "abort", faultOutcome{verdict: "none", control: "go", action: "proceed", ends: true}},
		{"pre_micro_compact", "abort", faultOutcome{verdict: "none", control: "stop", action: "abort", scope: "compact", decides: true, ends: true}},
		{"pre_micro_compact", "deny", faultOutcome{verdict: "deny", control: "go", action: "block", scope: "compact.micro", decides: true, reasons: true, ends: true}},
	}
	for _, r := range rows {
		require.Equal(t, r.want, event(r.event).outcome(r.posture), "%s %s", r.event, r.posture)
	}
	rule, script := &fault{kind: "expr"}, &fault{kind: "bash", late: true}
	require.Equal(t, "deny", event("pre_micro_compact").posture(rule, "", "skip"))
	require.Equal(t, "skip", event("stop").posture(rule, "", "deny"))
	require.Equal(t, "skip", event("pre_tool_execution").posture(script, "", ""))
	require.Equal(t, "deny", event("pre_tool_execution").posture(script, "deny", ""))
	require.Equal(t, "ask", event("pre_tool_execution").posture(script, "deny", "ask"))
}
