package runner

import (
	"slices"
	"strings"

	"github.com/hookc/hookc/policy"
)

// nativeClawd reads an answer of a hook of ClawdCode's own configuration
// (docs/dialects, clawdcode §2.3, §2.4). A hook that a signal ended has exit
// status 0 there. Statuses beyond 2 are passed over; what such a script, or
// one that fails with status 1, plainly forbids holds here, and is said.
func nativeClawd(a answer) (policy.Result, error) {
	d := a.draft()
	if a.signal != "" {
		d.exit = 0
		d.warn("ended by signal (%s), which ClawdCode takes for success", a.signal)
	}
	text := strings.TrimSpace(a.stdout)
	switch a.event {
	case policy.PostToolExecution:
		return nativeClawdResult(d, text)
	case policy.PreSendMessage:
		return nativeClawdPrompt(d, text)
	case policy.PreToolExecution, policy.PermissionRequest, policy.StopEvent, policy.PreAutoCompact:
	default:
		return d.r, nil // ClawdCode looks at nothing a hook says here
	}
	switch {
	case d.exit == 2:
		nativeClawdBlock(d)
	case d.exit != 0:
		return nativeClawdFailed(d, text)
	default:
		object, err := nativeClawdObject(d, text)
		if err != nil {
			return policy.Result{}, err
		}
		nativeClawdDecide(d, object)
	}
	return d.r, nil
}

// nativeClawdBlock is exit status 2. Only a call is refused by it; elsewhere
// ClawdCode passes over it, which lets through what the script would not.
func nativeClawdBlock(d *draft) {
	if d.event != policy.PreToolExecution {
		if d.faithful {
			return
		}
		d.warn("ClawdCode itself passes over exit status 2 here; taken as a refusal")
	}
	reason := d.stderr.tail
	if reason == "" {
		reason = "Blocking error"
	}
	d.verdict(policy.Deny, reason)
}

// nativeClawdFailed is any other status than 0 and 2.
func nativeClawdFailed(d *draft, text string) (policy.Result, error) {
	settled := d.exit == 1 && d.event == policy.PreToolExecution && !d.lenient()
	if object, err := nativeClawdObject(d, text); err == nil && !d.faithful && !settled && d.event != policy.StopEvent {
		nativeClawdDecide(d, object)
		if d.r.Verdict == policy.Deny {
			d.r.Patch = policy.Patch{}
			d.warn("ClawdCode reads no answer beside exit status %d; what it forbids holds", d.exit)
			return d.r, nil
		}
	}
	d.r = policy.Result{}
	if !settled {
		return policy.Result{}, d.failure()
	}
	reason := d.stderr.tail
	if reason == "" {
		reason = "Non-blocking error"
	}
	if d.onFailure == policy.OnErrorDeny {
		d.verdict(policy.Deny, "")
	} else {
		nativeClawdAsk(d, reason)
	}
	return d.r, nil
}

// lenient reports whether exit status 1 counts as success.
func (a *answer) lenient() bool {
	return a.onFailure == policy.PostureUnset || a.onFailure == policy.OnErrorSkip
}

// nativeClawdAsk asks, unless the agent would answer the question itself with
// yes and look at no further hook: then the others are heard.
func nativeClawdAsk(d *draft, reason string) {
	if !d.faithful && d.in.Text(policy.FieldPermissionMode) == "yolo" {
		d.warn("asks in yolo mode, where ClawdCode lets the call through and runs no further hook; they run")
		return
	}
	d.verdict(policy.Ask, reason)
}

// nativeClawdObject is the object an answer consists of: what is under
// hookSpecificOutput where that is anything, else the whole; nil when there is
// none. A text or number in its place is an error of the agent's own code,
// which then forgets the event.
func nativeClawdObject(d *draft, text string) (map[string]any, error) {
	v, err := looseJSON(text)
	if err != nil {
		return nil, nil
	}
	if m, ok := v.(map[string]any); ok && truthy(m["hookSpecificOutput"]) {
		v = m["hookSpecificOutput"]
	}
	switch v := v.(type) {
	case map[string]any:
		return v, nil
	case []any:
		return nil, nil
	}
	if !truthy(v) {
		return nil, nil
	}
	if d.faithful {
		d.r.Void = true
		return nil, nil
	}
	return nil, policy.Failf(policy.ErrParse, "answer is %s, which makes ClawdCode forget every hook of the event", asText(v))
}

// nativeClawdDecide reads what an object decides at a call, a permission, an
// ending or a compaction.
func nativeClawdDecide(d *draft, m map[string]any) {
	word := func(key string) string {
		s, _ := m[key].(string)
		return s
	}
	switch d.event {
	case policy.PreToolExecution:
		nativeClawdCall(d, m, word)
	case policy.PermissionRequest:
		switch w := word("decision"); {
		case w == "approve":
			d.verdict(policy.Allow, word("reason"))
		case w == "deny", !d.faithful && forbids(w):
			d.verdict(policy.Deny, word("reason"))
		}
	case policy.StopEvent:
		nativeClawdHold(d, m["continue"], word("reason"))
	case policy.PreAutoCompact:
		nativeClawdHold(d, m["prevent"], word("reason"))
	}
}

// nativeClawdHold holds up an ending or a compaction; the agent has a text of
// its own for the first.
func nativeClawdHold(d *draft, says any, reason string) {
	if !truthy(says) {
		return
	}
	if d.faithful && d.event == policy.StopEvent {
		reason = ""
	}
	d.verdict(policy.Deny, reason)
}

func nativeClawdCall(d *draft, m map[string]any, word func(string) string) {
	_, decided := m["permissionDecision"]
	says, reason := word("permissionDecision"), word("permissionDecisionReason")
	input, _ := m["updatedInput"].(map[string]any)
	switch {
	case !decided && len(input) > 0 && d.doc:
	case !decided:
		if len(input) > 0 {
			d.warn("ClawdCode passes over updatedInput without permissionDecision")
		}
		return
	case says == "deny":
		d.verdict(policy.Deny, reason)
		return
	case says == "ask":
		nativeClawdAsk(d, reason)
		return
	case !d.faithful && forbids(says):
		d.warn("permissionDecision %q counts as allow in ClawdCode; taken as deny", says)
		d.verdict(policy.Deny, reason)
		return
	case says != "allow":
		d.warn("permissionDecision %q is no word of ClawdCode and counts as allow", says)
	}
	d.patch(policy.Merge(policy.FieldToolInput, input))
}

// nativeClawdResult is an answer after a call: all that is printed is context,
// whatever the status, and an object adds to it.
func nativeClawdResult(d *draft, text string) (policy.Result, error) {
	d.context(text)
	if d.exit == 1 || d.exit == 2 {
		return d.r, nil
	}
	m, err := nativeClawdObject(d, text)
	if err != nil {
		return policy.Result{}, err
	}
	more, has := m["additionalContext"]
	if !has {
		return d.r, nil
	}
	if truthy(more) {
		d.context(asText(more))
	}
	if v, ok := m["updatedOutput"]; ok {
		d.replace(policy.FieldToolResult, v)
	}
	return d.r, nil
}

// nativeClawdPrompt is an answer to a prompt: what a successful hook prints is
// context as it stands. ClawdCode cannot block a prompt; a script that means
// to is heard all the same.
func nativeClawdPrompt(d *draft, text string) (policy.Result, error) {
	switch {
	case d.exit == 2:
		nativeClawdBlock(d)
		return d.r, nil
	case d.exit != 0 && !(d.exit == 1 && d.lenient()):
		return policy.Result{}, d.failure()
	}
	if v, err := looseJSON(text); err == nil && !d.faithful {
		m, _ := v.(map[string]any)
		if word, _ := m["decision"].(string); slices.Contains([]string{"block", "deny"}, word) {
			reason, _ := m["reason"].(string)
			d.warn("ClawdCode would hand this answer to the model as text; taken as a refusal")
			d.verdict(policy.Deny, reason)
			return d.r, nil
		}
	}
	d.context(text)
	return d.r, nil
}
