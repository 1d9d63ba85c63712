package runner

import (
	"fmt"
	"regexp"
	"strings"
	"sync"

	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/agent"
)

// claude240Protocol is Claude Code's as of 2.1.240, of hooks in its own
// configuration.
var claude240Protocol = func() *protocol {
	p := *claudeProtocol
	p.id = policy.Claude240Protocol
	p.native = func(a answer) (policy.Result, error) { return readClaudeNative(a, true) }
	return &p
}()

// claudeTrait is what Claude Code hears from a hook at one of its events.
type claudeTrait uint16

const (
	// claudeDecides: `decision: block` at the top level blocks.
	claudeDecides claudeTrait = 1 << iota
	// claudeBlocks: exit status 2 blocks.
	claudeBlocks
	// claudeShows: exit status 2 shows standard error to the user.
	claudeShows
	// claudeEnds: `continue: false` ends the turn, or the teammate.
	claudeEnds
	// claudeTalks: additionalContext is heard; claudeSpeaks: and plain text is.
	claudeTalks
	claudeSpeaks
	// claudeMute: nothing that is printed is heard.
	claudeMute
	// claudeNotes: systemMessage is shown.
	claudeNotes
	// claudeOld are traits of 2.1.240 alone, claudeNew those since.
	claudeOld
	claudeNew
)

func (t claudeTrait) has(part claudeTrait) bool { return t&part != 0 }

// claudeTraits is the table of the reference, §4.1.
var claudeTraits = map[string]claudeTrait{
	"SessionStart":        claudeShows | claudeTalks | claudeSpeaks | claudeNotes,
	"Setup":               claudeShows | claudeTalks | claudeNotes | claudeOld,
	"InstructionsLoaded":  claudeMute,
	"UserPromptSubmit":    claudeDecides | claudeBlocks | claudeEnds | claudeTalks | claudeSpeaks | claudeNotes,
	"UserPromptExpansion": claudeDecides | claudeBlocks | claudeEnds | claudeTalks | claudeSpeaks | claudeNotes,
	"MessageDisplay":      claudeNotes,
	"PreToolUse":          claudeDecides | claudeBlocks | claudeEnds | claudeTalks | claudeNotes,
	"PermissionRequest":   claudeEnds | claudeNotes,
	"PermissionDenied":    claudeNotes,
	"PostToolUse":         claudeDecides | claudeBlocks | claudeEnds | claudeTalks | claudeNotes,
	"PostToolUseFailure":  claudeDecides | claudeBlocks | claudeEnds | claudeTalks | claudeNotes,
	"PostToolBatch":       claudeDecides | claudeBlocks | claudeEnds | claudeTalks | claudeNotes,
	"Notification":        claudeMute,
	"SubagentStart":       claudeShows | claudeTalks | claudeNotes,
	"SubagentStop":        claudeDecides | claudeBlocks | claudeEnds | claudeTalks | claudeNotes,
	"TaskCreated":         claudeDecides | claudeBlocks | claudeNotes,
	"TaskCompleted":       claudeBlocks | claudeEnds | claudeNotes,
	"Stop":                claudeDecides | claudeBlocks | claudeEnds | claudeTalks | claudeNotes,
	"StopFailure":         claudeMute,
	"TeammateIdle":        claudeBlocks | claudeEnds | claudeNotes,
	"ConfigChange":        claudeDecides | claudeBlocks,
	"CwdChanged":          claudeShows | claudeNotes,
	"DirectoryAdded":      claudeNotes,
	"FileChanged":         claudeShows | claudeNotes,
	"WorktreeRemove":      claudeMute,
	"PreCompact":          claudeDecides | claudeBlocks,
	"PostCompact":         claudeShows,
	"PreModelSwitch":      claudeDecides | claudeBlocks | claudeNotes,
	"PostModelSwitch":     claudeShows | claudeTalks | claudeSpeaks | claudeNotes,
	"Elicitation":         claudeDecides | claudeBlocks | claudeNotes | claudeNew,
	"ElicitationResult":   claudeDecides | claudeBlocks | claudeNotes | claudeNew,
	"SessionEnd":          claudeShows | claudeMute,
}

// claudeTraitsAt are the traits at one version: Setup is deaf since, and
// elicitations took no `decision` before.
func claudeTraitsAt(native string, old bool) claudeTrait {
	t := claudeTraits[native]
	switch {
	case t.has(claudeOld) && !old:
		return claudeMute
	case t.has(claudeNew) && old:
		return t &^ claudeDecides
	}
	return t
}

// readClaudeNative classifies an answer as Claude Code does (reference §4.3).
// An answer that does not pass its schema is an error as a whole. Of a script
// that was killed after it answered only what forbids counts, unless faithful.
func readClaudeNative(a answer, old bool) (policy.Result, error) {
	if strings.HasPrefix(a.native, "Worktree") {
		return claudeWorktree(a, old)
	}
	traits := claudeTraitsAt(a.native, old)
	var object *draft
	var text string
	var bad error
	if !traits.has(claudeMute) {
		object, text, bad = claudeParse(a, old)
	}
	switch {
	case a.exit == 2:
		return claudeRefuse(a, traits, object, text, old)
	case a.exit != 0 && a.strict:
		return policy.Result{}, a.failure()
	case bad != nil:
		return policy.Result{}, bad
	case object != nil && (a.signal == "" || a.faithful || object.r.Verdict == policy.Deny || object.r.Control == policy.Halt):
		return object.done()
	case a.exit != 0:
		return policy.Result{}, a.failure()
	}
	d := a.draft()
	if traits.has(claudeSpeaks) {
		d.context(text)
	}
	return d.done()
}

// claudeParse is what was printed: an object that passed the schema, text, or
// an error.
func claudeParse(a answer, old bool) (object *draft, text string, bad error) {
	text = strings.TrimSpace(a.stdout)
	if !strings.HasPrefix(text, "{") {
		return nil, text, nil
	}
	v, err := looseJSON(text)
	m, _ := v.(map[string]any)
	switch {
	case err != nil && (old || !strings.HasSuffix(text, "}") || jsonLines(text)):
		return nil, text, nil
	case err != nil:
		return nil, text, policy.Failf(policy.ErrParse, "answer is not JSON: %w", err)
	}
	d := claudeAnswer(a, m, old)
	if _, err := d.done(); err != nil {
		return nil, text, err
	}
	return d, text, nil
}

// claudeAnswer reads an object by the schema.
func claudeAnswer(a answer, m map[string]any, old bool) *draft {
	d, traits := a.draft(), claudeTraitsAt(a.native, old)
	top := d.object(m)
	own := top.sub("hookSpecificOutput")
	if name := own.text("hookEventName"); own.m != nil && name != a.native {
		d.fail("hookSpecificOutput.hookEventName must be %q", a.native)
	}
	on, written := top.flag("continue")
	stopReason, system, context := top.text("stopReason"), top.text("systemMessage"), own.text("additionalContext")
	suppress, _ := top.flag("suppressOutput")
	word, reason := top.text("decision"), top.text("reason")
	if word != "" && word != "approve" && word != "block" {
		d.fail("decision must be approve or block, not %q", word)
	}
	d.r.Suppress = suppress
	if written && !on {
		if traits.has(claudeEnds) {
			d.halt(stopReason)
		} else {
			d.warn("continue: false has no effect at %s", a.native)
		}
	}
	if traits.has(claudeNotes) {
		d.system(system)
	}
	if traits.has(claudeTalks) {
		d.context(context)
	}
	switch {
	case word == "block" && traits.has(claudeDecides):
		d.verdict(policy.Deny, reason)
	case word == "approve" && a.event == policy.PreToolExecution:
		d.verdict(policy.Allow, reason)
	case word == "block" && a.native != "ConfigChange":
		d.warn("decision: block has no effect at %s", a.native)
	}
	claudeSpecific(d, own)
	claudeUnheard(d, top, own)
	return d
}

// claudeSpecific reads what one event alone has in hookSpecificOutput.
func claudeSpecific(d *draft, own fields) {
	switch d.native {
	case "PreToolUse":
		claudeToolUse(d, own, fields{nil, d})
	case "PermissionRequest":
		claudePermission(d, own)
	case "PostToolUse":
		claudeResult(d, own)
	case "UserPromptSubmit", "UserPromptExpansion":
		if d.r.Verdict == policy.Deny {
			d.r.Context = nil
		}
	case "Stop", "SubagentStop":
		claudeGoOn(d)
	case "PreModelSwitch":
		word := own.text("permissionDecision")
		v, known := claudeVerdicts[word]
		switch {
		case word == "":
		case !known || v == policy.Defer:
			d.fail("permissionDecision must be allow, deny or ask, not %q", word)
		default:
			d.r.Reasons = nil
			d.r.Verdict, d.r.VerdictBy = v, d.by
			d.reason(own.text("permissionDecisionReason"))
		}
	case "Elicitation", "ElicitationResult":
		switch word := own.text("action"); word {
		case "":
		case "accept":
			d.warn("action accept does not reach Claude Code through hookc: the user is asked")
		case "decline", "cancel":
			d.verdict(policy.Deny, "")
		default:
			d.fail("action must be accept, decline or cancel, not %q", word)
		}
	}
}

// claudeResult reads a new result: of an MCP tool any, of a built-in one that
// of its own shape; another is passed over.
func claudeResult(d *draft, own fields) {
	old, known := d.in.Get(policy.FieldToolResult)
	mcp := strings.HasPrefix(d.in.Text(policy.FieldToolName), "mcp__")
	for _, k := range []string{"updatedMCPToolOutput", "updatedToolOutput"} {
		switch {
		case !own.has(k):
		case mcp || k == "updatedToolOutput" && (!known || agent.SameShape(old, own.m[k])):
			d.replace(policy.FieldToolResult, own.m[k])
		case k == "updatedMCPToolOutput":
			d.warn("%s is taken of MCP tools alone", k)
		default:
			d.warn("%s has not the shape of the tool's own result; Claude Code passes over it", k)
		}
	}
}

// claudeUnheard reports what an answer says to Claude Code itself, and a
// Decision has no place for.
func claudeUnheard(d *draft, top, own fields) {
	if top.has("terminalSequence") {
		d.warn("terminalSequence does not reach Claude Code through hookc")
	}
	for _, k := range []string{"initialUserMessage", "sessionTitle", "watchPaths", "reloadSkills", "displayContent", "classifierContext",
		"suppressOriginalPrompt", "retry"} {
		if own.has(k) {
			d.warn("%s does not reach Claude Code through hookc", k)
		}
	}
	if own.sub("decision").has("updatedPermissions") {
		d.warn("updatedPermissions does not reach Claude Code through hookc")
	}
}

// claudeRefuse reads an answer with exit status 2. The reason is that of a
// blocking answer, else standard error; what would loosen it is dropped.
func claudeRefuse(a answer, traits claudeTrait, object *draft, text string, old bool) (policy.Result, error) {
	gate := a.event == policy.StopEvent || a.event == policy.SubagentStop || a.native == "TaskCompleted"
	if gate && !old && text == "" && strings.Contains(strings.ToLower(a.stderr.tail), "no such file or directory") {
		return policy.Result{}, a.failure() // a shell reports so that the script is missing
	}
	d := object
	if d == nil || strings.HasPrefix(a.native, "Elicitation") {
		d = a.draft()
	}
	switch {
	case a.native == "ConfigChange" && a.in.Text(policy.FieldSource) == "policy_settings":
		d = a.draft()
		d.warn("a change of managed settings is applied whatever a hook says")
	case traits.has(claudeBlocks):
		claudeBlocked(d)
	case traits.has(claudeShows):
		d.system(a.complaint(""))
	default:
		d = a.draft()
		d.warn("exit status 2 says nothing at %s", a.native)
	}
	return d.done()
}

// claudeBlocked turns a draft into a block.
func claudeBlocked(d *draft) {
	if d.r.Verdict != policy.Deny || len(d.r.Reasons) == 0 {
		d.r.Verdict, d.r.VerdictBy, d.r.Reasons = policy.Deny, d.by, nil
		d.reason(d.complaint(fmt.Sprintf("blocked by %s (exit status 2 without a message)", d.by.Name)))
	}
	d.r.Feedback = nil
	if d.event != policy.PostToolExecution { // a new result loosens nothing
		d.r.Patch = policy.Patch{}
	}
	if d.r.Control != policy.Halt {
		d.r.Control, d.r.ControlBy = policy.Go, policy.By{}
	}
	if d.native == "UserPromptSubmit" || d.native == "UserPromptExpansion" {
		d.r.Context = nil
	}
}

var ansi = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)`)
})

// claudeWorktree reads the hooks that make and remove work trees: any status
// but 0 fails, and the last line that says something is the path.
func claudeWorktree(a answer, old bool) (policy.Result, error) {
	d := a.draft()
	create := a.native == "WorktreeCreate"
	switch {
	case a.exit == 0 && !create:
		return policy.Result{}, nil
	case a.exit != 0 && !create && old:
		return policy.Result{}, a.failure()
	case a.exit != 0 || a.signal != "":
		d.r.Verdict, d.r.VerdictBy = policy.Deny, a.by
		d.reason(a.complaint(a.failure().Error()))
		return d.done()
	}
	path := ""
	for line := range strings.Lines(ansi().ReplaceAllString(a.stdout, "")) {
		if line = strings.TrimSpace(line); line != "" {
			path = line
		}
	}
	if path == "" {
		d.r.Verdict, d.r.VerdictBy = policy.Deny, a.by
		d.reason(a.by.Name + " printed no path")
		return d.done()
	}
	d.context(path)
	return d.done()
}
