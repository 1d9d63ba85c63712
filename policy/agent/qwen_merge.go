package agent

import (
	"slices"

	"github.com/hookc/hookc/policy"
)

// QwenAnswer is what Qwen Code makes of its hooks' answers at an event: a
// reading of its own code (docs/dialects, qwen §4.2). One answer counts as it
// is; several are merged first, and what the merge loses is lost to a faithful
// reading alone.
func QwenAnswer(event policy.Event, said []policy.Said, faithful bool) policy.Result {
	q := &qwenMerge{event: event, faithful: faithful, said: said}
	if event == policy.StopFailure || !q.sound() { // after an error nothing counts
		return q.r
	}
	q.merge()
	switch event {
	case policy.PreToolExecution:
		q.before()
	case policy.PermissionRequest:
		q.permission()
	case policy.PostToolExecution:
		q.after()
	case policy.PreSendMessage, policy.StopEvent, policy.SubagentStop:
		q.gate()
	}
	q.texts()
	return q.r
}

func qwenSink(event policy.Event, faithful bool) func(*policy.Context, policy.Result) policy.Result {
	return nativeSink(func(_ *policy.Context, said []policy.Said) policy.Result { return QwenAnswer(event, said, faithful) })
}

// qwenMerge is one merge of answers.
type qwenMerge struct {
	event    policy.Event
	faithful bool
	said     []policy.Said
	// top and own are the merged answer and its hookSpecificOutput.
	top, own map[string]any
	// by is who said a part last, by its key.
	by map[string]policy.By
	r  policy.Result
}

func (q *qwenMerge) warn(by policy.By, format string, args ...any) {
	q.r.Warnings = append(q.r.Warnings, safeSide(by, format, args...))
}

// sound reports whether every hookSpecificOutput can be read; where one cannot
// Qwen Code gives up on the event.
func (q *qwenMerge) sound() bool {
	for i, s := range q.said {
		if !JSNoObject(s.Value["hookSpecificOutput"]) {
			continue
		}
		read := len(q.said) > 1 || q.looksInside()
		if read && q.faithful {
			q.r = policy.Result{Void: true, Warnings: []policy.Warning{safeSide(s.By, "hookSpecificOutput is no object: Qwen Code gives up on the whole event, and so does --faithful")}}
			return false
		}
		if read {
			q.warn(s.By, "hookSpecificOutput is no object; Qwen Code itself would give up on the whole event, here it costs only itself")
		}
		q.said = slices.Clone(q.said)
		q.said[i].Value = JSSpread(s.Value, nil)
		delete(q.said[i].Value, "hookSpecificOutput")
	}
	return true
}

// looksInside reports whether Qwen Code looks into the hookSpecificOutput of an
// answer that is alone.
func (q *qwenMerge) looksInside() bool {
	switch q.event {
	case policy.StopEvent, policy.SubagentStop, policy.SessionEnd, policy.PreAutoCompact, policy.PostAutoCompact:
		return false
	}
	return true
}

// merge is mergeOutputs: later parts replace earlier ones, but a block holds,
// `continue: false` holds, and reasons and contexts are joined later.
func (q *qwenMerge) merge() {
	q.top, q.own, q.by = map[string]any{}, map[string]any{}, map[string]policy.By{}
	for _, s := range q.said {
		for k, v := range s.Value {
			if k != "hookSpecificOutput" {
				q.top[k], q.by[k] = v, s.By
			}
		}
		own, _ := jsHas(s.Value["hookSpecificOutput"])
		for k, v := range own {
			q.own[k], q.by["hookSpecificOutput."+k] = v, s.By
		}
	}
	if len(q.said) < 2 || !q.joins() {
		return
	}
	delete(q.top, "decision")
	delete(q.top, "continue")
	delete(q.top, "stopReason")
	for _, s := range q.said {
		switch word := s.Value["decision"]; {
		case word == "deny" || word == "block":
			q.top["decision"], q.by["decision"] = "block", s.By
		case word == "allow" && q.top["decision"] != "block":
			q.top["decision"] = "allow"
		}
		if s.Value["continue"] == false {
			q.top["continue"], q.by["continue"] = false, s.By
			if v := s.Value["stopReason"]; jsTrue(v) {
				q.top["stopReason"] = v
			}
		}
	}
}

// joins reports whether several answers at the event are merged with a block
// holding.
func (q *qwenMerge) joins() bool {
	switch q.event {
	case policy.PreToolExecution, policy.PostToolExecution, policy.PostToolExecutionFailure, policy.StopEvent, policy.PreSendMessage, policy.SubagentStop:
		return true
	}
	return false
}

// reasons are the reasons of the merged answer: all of them where answers are
// joined, else the last.
func (q *qwenMerge) reasons() []policy.Reason {
	all := spokenTexts(q.said, "reason")
	if q.joins() || len(all) == 0 {
		return all
	}
	return all[len(all)-1:]
}

// effective is the reason Qwen Code shows: the stop's, else the reasons, else
// that there is none.
func (q *qwenMerge) effective(by policy.By) []policy.Reason {
	if v := q.top["stopReason"]; jsTrue(v) {
		return []policy.Reason{{Text: jsText(v), Hook: by.Name, At: by.At}}
	}
	if all := q.reasons(); len(all) > 0 {
		return all
	}
	return []policy.Reason{{Text: geminiNoReason, Hook: by.Name, At: by.At}}
}

func (q *qwenMerge) say(v policy.Verdict, by policy.By, reasons []policy.Reason) {
	q.r.Verdict, q.r.VerdictBy, q.r.Reasons = v, by, reasons
}

var qwenWords = map[any]policy.Verdict{"allow": policy.Allow, "deny": policy.Deny, "ask": policy.Ask}

// before is a tool call: the permission that the last hook gives, else the
// decision, else the end of the run. Each of them but allow only keeps the tool
// from running; the run goes on.
func (q *qwenMerge) before() {
	word, by := q.own["permissionDecision"], q.by["hookSpecificOutput.permissionDecision"]
	own, known := qwenVerdict(word)
	if !known {
		by = q.by["decision"]
		switch word = q.top["decision"]; word {
		case "block":
			own = policy.Deny
		case "approve":
			own = policy.Allow
		default:
			own, _ = qwenVerdict(word)
		}
	}
	switch {
	case own == policy.Deny:
		q.say(own, by, q.permissionReasons(by, q.effective(by)))
	case own == policy.Ask: // there is nobody to ask before a tool
		q.say(policy.Deny, by, q.permissionReasons(by, []policy.Reason{{Text: "User confirmation required", Hook: by.Name, At: by.At}}))
	case q.top["continue"] == false:
		by = q.by["continue"]
		q.say(policy.Deny, by, q.effective(by))
	}
	q.keep()
}

func qwenVerdict(word any) (policy.Verdict, bool) {
	s, ok := word.(string)
	if !ok {
		return policy.None, false
	}
	v, known := qwenWords[s]
	return v, known
}

// permissionReasons is the reason of a permission, else the reasons beside it;
// else what else there is to say.
func (q *qwenMerge) permissionReasons(by policy.By, other []policy.Reason) []policy.Reason {
	if text, ok := q.own["permissionDecisionReason"].(string); ok {
		if text == "" {
			return other
		}
		return []policy.Reason{{Text: text, Hook: by.Name, At: by.At}}
	}
	if all := q.reasons(); len(all) > 0 {
		return all
	}
	return other
}

// keep is the safe side at a tool call: what one hook forbids, or asks about,
// no other takes back.
func (q *qwenMerge) keep() {
	for _, s := range q.said {
		alone := &qwenMerge{event: q.event, faithful: true, said: []policy.Said{s}}
		if len(q.said) > 1 {
			alone.merge()
			alone.before()
		}
		switch {
		case alone.r.Verdict <= policy.Allow || alone.r.Verdict <= q.r.Verdict:
		case q.faithful:
			q.warn(s.By, "refuses, and another answer takes that back, as in Qwen Code")
		default:
			q.warn(s.By, "refuses; Qwen Code itself would let another answer take that back")
			q.say(alone.r.Verdict, s.By, alone.r.Reasons)
		}
	}
}

// permission is the prompt: any word but allow denies, none at all included
// where several answers were merged.
func (q *qwenMerge) permission() {
	var deny, allow, interrupt bool
	var reasons []policy.Reason
	var by policy.By
	var input any
	for _, s := range q.said {
		own, _ := jsHas(s.Value["hookSpecificOutput"])
		decision, ok := own["decision"].(map[string]any)
		if !ok {
			continue
		}
		switch behavior := decision["behavior"]; {
		case behavior == "allow":
			allow = true
		case behavior == "deny" || len(q.said) == 1:
			deny = true
		}
		if by.Name == "" || decision["behavior"] == "deny" {
			by = s.By
		}
		if m := decision["message"]; jsTrue(m) {
			reasons = append(reasons, policy.Reason{Text: jsText(m), Hook: s.By.Name, At: s.By.At})
		}
		interrupt = interrupt || decision["interrupt"] == true
		if v := decision["updatedInput"]; jsTrue(v) {
			input = v
		}
	}
	if len(q.said) > 1 && !deny && !allow {
		deny, by = true, q.said[len(q.said)-1].By
	}
	switch {
	case deny:
		q.say(policy.Deny, by, reasons)
		if interrupt {
			q.r.Control, q.r.ControlBy, q.r.StopReasons = policy.Halt, by, reasonTexts(reasons)
		}
	case allow:
		q.say(policy.Allow, by, reasons)
		if m, ok := input.(map[string]any); ok {
			q.r.Patch = policy.Replace(policy.Path{Field: policy.FieldToolInput}, m)
		}
	}
}

// after is a result: an end of the run replaces it; a block has no effect in
// Qwen Code and hides it here.
func (q *qwenMerge) after() {
	blocks := q.top["decision"] == "deny" || q.top["decision"] == "block"
	switch by := q.by["decision"]; {
	case q.top["continue"] == false:
		by = q.by["continue"]
		q.say(policy.Deny, by, q.effective(by))
	case blocks && q.faithful:
		q.warn(by, "blocks a result, which has no effect in Qwen Code")
	case blocks:
		q.warn(by, "blocks a result; Qwen Code itself would show it")
		q.say(policy.Deny, by, q.effective(by))
	}
}

// gate is a prompt or an ending.
func (q *qwenMerge) gate() {
	switch by := q.by["decision"]; {
	case q.top["decision"] == "deny" || q.top["decision"] == "block":
		q.say(policy.Deny, by, q.effective(by))
	case q.top["continue"] == false:
		by = q.by["continue"]
		q.say(policy.Deny, by, q.effective(by))
	}
}

// texts are the contexts and messages.
func (q *qwenMerge) texts() {
	if v := q.top["systemMessage"]; jsTrue(v) && (len(q.said) == 1 || q.event != policy.PermissionRequest) {
		q.r.System = []string{jsText(v)}
	}
	q.r.Suppress = jsTrue(q.top["suppressOutput"])
	switch q.event {
	case policy.PreToolExecution, policy.PostToolExecution, policy.PostToolExecutionFailure, policy.PreSendMessage, policy.SessionStart, policy.SubagentStart:
	default:
		return
	}
	if q.r.Verdict >= policy.Ask && q.event != policy.PostToolExecution {
		return
	}
	q.r.Context = spokenContexts(q.said)
}
