package agent

import (
	"strings"

	"github.com/hookc/hookc/policy"
)

// Encode is a Decision as the agent's answer. What the agent cannot be told
// becomes something it can, and is recorded in d.Degraded.
func (c *Call) Encode(d *policy.Decision) Wire {
	if d.Action == policy.Cancelled {
		return c.Fail("it was interrupted")
	}
	a := c.fit(d)
	w := c.agent.deliver(a)
	parts := make([]string, len(a.losses))
	for i, l := range a.losses {
		parts[i] = l.String()
	}
	d.Degraded = strings.Join(parts, "; ")
	switch {
	case w.Exit != 0 && len(w.Stdout) == 0 && w.Stderr != "" && len(a.other) > 0:
		// The refusal is all that this answer says: that another policy decided than
		// lies there stands below it.
		w.Stderr += "\n" + logLines(a.other)
	case w.Exit != 0 || w.Stderr != "":
	case (c.agent.stderrIsAnswer || c.agent.warns) && len(a.open) > 0 && len(w.Stdout) == 0 && !c.point.silent:
		w.Exit, w.Stderr = c.agent.noticeExit, logLines(a.open)
	case !c.agent.stderrIsAnswer && len(a.notes) > 0:
		w.Stderr = logLines(a.notes)
	}
	return w
}

// logLines are notes for the agent's log.
func logLines(notes []string) string { return "hookc: " + strings.Join(notes, "\nhookc: ") }

// maxFailure bounds what an agent is told about a failure, in bytes.
const maxFailure = 4000

// Fail is the answer of a hookc that could not decide, for the reason given.
// Where an action is guarded it does not happen; an ending is not held up,
// since a broken gate must not keep an agent working, and whatever else goes
// on too; both with a message where the agent shows one. When not even the
// event is known the answer refuses.
func (c *Call) Fail(reason string) Wire {
	text := "hookc could not decide: " + strings.TrimPrefix(strings.TrimSpace(reason), "hookc: ")
	if len(text) > maxFailure {
		text = strings.ToValidUTF8(text[:maxFailure], "") + " …"
	}
	if c.point == nil {
		return c.agent.refuseUnknown(text)
	}
	a := &answer{call: c, point: c.point, reason: text}
	if c.point.event.Spec().Class == policy.Guard {
		a.act, _ = c.point.settle(deny, c.may())
	}
	switch {
	case a.act.refuses():
		return c.agent.deliver(a)
	case a.act == tell:
		a.act, a.context = proceed, []string{text}
		return c.agent.deliver(a)
	case c.point.silent:
		return Wire{}
	case c.point.may.Has(MaySystem):
		a.reason, a.system = "", []string{text}
		return c.agent.deliver(a)
	}
	w := c.agent.deliver(&answer{call: c, point: c.point})
	w.Exit, w.Stderr = c.agent.noticeExit, text
	return w
}

// reply is the JSON object of an answer. Empty texts, false and empty objects
// are left out.
type reply map[string]any

//go:noinline
func (r reply) text(key, s string) {
	if s != "" {
		r[key] = s
	}
}

func (r reply) flag(key string, on bool) {
	if on {
		r[key] = true
	}
}

// under puts the object under a key.
//
//go:noinline
func (r reply) under(key string, inner reply) {
	if len(inner) > 0 {
		r[key] = map[string]any(inner)
	}
}

// wire is the object on stdout, nothing when it is empty.
func (r reply) wire(exit int, stderr string) Wire {
	w := Wire{Exit: exit, Stderr: stderr}
	if len(r) > 0 {
		w.Stdout = append([]byte(JSONText(map[string]any(r))), '\n')
	}
	return w
}

// exit2 refuses in the way most agents share: status 2, the reason on stderr.
func exit2(reason string) Wire { return Wire{Exit: 2, Stderr: reason} }

// JSONText is a value as text: a string as it is, anything else as JSON.
func JSONText(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	text, err := policy.EncodeJSON(v)
	if err != nil {
		panic("agent: an answer is not JSON: " + err.Error())
	}
	return string(text)
}

// Log is text for the agent's log on stderr, beside an answer with exit code
// 0; "" where the agent takes it for an answer.
func (c *Call) Log(text string) string {
	if c.agent.stderrIsAnswer {
		return ""
	}
	return text
}
