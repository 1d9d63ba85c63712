package agent

import (
	"slices"

	"github.com/hookc/hookc/policy"
)

// geminiNoReason is what Gemini CLI says for a hook that gives no reason.
const geminiNoReason = "No reason provided"

// geminiSink is what Gemini CLI makes of its hooks' answers at an event: a
// reading of its own code (docs/dialects, gemini §1.4). What hooks of another
// kind said is joined to it, the more restrictive first.
func geminiSink(event policy.Event, faithful bool) func(*policy.Context, policy.Result) policy.Result {
	return nativeSink(func(before *policy.Context, said []policy.Said) policy.Result {
		g := &geminiMerge{event: event, faithful: faithful, before: before, said: said}
		switch event {
		case policy.PreToolExecution, policy.PostToolExecution, policy.PostToolExecutionFailure, policy.PreSendMessage, policy.StopEvent, policy.SessionStart:
			g.or()
		case policy.PreLLMRequest, policy.PostLLMResponse:
			g.replace()
		case policy.ToolSelection:
			g.tools()
		default:
			g.simple()
		}
		return g.r
	})
}

// nativeSink joins what merge makes of the agent's own hooks with what others
// said. Changes that only hooks saw end here.
func nativeSink(merge func(*policy.Context, []policy.Said) policy.Result) func(*policy.Context, policy.Result) policy.Result {
	return func(before *policy.Context, r policy.Result) policy.Result {
		said := r.Native
		r.Native, r.Patch = nil, r.Patch.Lasting()
		if len(said) == 0 {
			return r
		}
		if offer := r.ToolConfig; offer != nil { // it counts among the others
			names := make([]any, len(offer.Names))
			for i, n := range offer.Names {
				names[i] = n
			}
			config := map[string]any{"mode": offer.Mode, "allowedFunctionNames": names}
			said = append(slices.Clip(said), policy.Said{Value: map[string]any{"hookSpecificOutput": map[string]any{"toolConfig": config}}})
			r.ToolConfig = nil
		}
		own := merge(before, said)
		if own.Void {
			return policy.Result{Failed: r.Failed, Warnings: append(slices.Clone(r.Warnings), own.Warnings...)}
		}
		return policy.Join(policy.FoldMax, own, r)
	}
}

// geminiMerge is one merge of answers.
type geminiMerge struct {
	event    policy.Event
	faithful bool
	before   *policy.Context
	said     []policy.Said
	r        policy.Result
}

func (g *geminiMerge) warn(by policy.By, format string, args ...any) {
	g.r.Warnings = append(g.r.Warnings, safeSide(by, format, args...))
}

// or is mergeWithOrDecision and what its callers do with the outcome.
func (g *geminiMerge) or() {
	if !g.sound() {
		return
	}
	var ask policy.By
	for _, s := range g.said {
		switch s.Value["decision"] {
		case "deny", "block":
			g.r.Verdict, g.r.VerdictBy = policy.Deny, s.By
		case "ask":
			ask = s.By
		}
		if s.Value["continue"] == false && g.r.Control == policy.Go {
			g.r.Control, g.r.ControlBy = policy.Halt, s.By
		}
		g.r.Suppress = g.r.Suppress || jsTrue(s.Value["suppressOutput"])
	}
	if g.r.Verdict == policy.None && ask.Name != "" && g.event == policy.PreToolExecution {
		g.r.Verdict, g.r.VerdictBy = policy.Ask, ask
	}
	g.r.Reasons = spokenTexts(g.said, "reason")
	g.r.System = reasonTexts(spokenTexts(g.said, "systemMessage"))
	var stops []policy.Said
	for _, s := range g.said {
		if s.Value["continue"] == false {
			stops = append(stops, s)
		}
	}
	g.settle(reasonTexts(spokenTexts(stops, "stopReason")))
	g.effects()
}

// sound reports whether every hookSpecificOutput can be read. On one that
// cannot Gemini's code gives up, and what other hooks denied is lost with it.
func (g *geminiMerge) sound() bool {
	for i, s := range g.said {
		if !JSNoObject(s.Value["hookSpecificOutput"]) {
			continue
		}
		if g.faithful {
			g.r = policy.Result{Void: true, Warnings: []policy.Warning{safeSide(s.By, "hookSpecificOutput is no object: Gemini CLI gives up on the whole event, and so does --faithful")}}
			return false
		}
		g.warn(s.By, "hookSpecificOutput is no object; Gemini CLI itself would give up on the whole event, here it costs only itself")
		g.said = slices.Clone(g.said)
		g.said[i].Value = JSSpread(s.Value, nil)
		delete(g.said[i].Value, "hookSpecificOutput")
	}
	return true
}

// settle gives a refusal the reason Gemini shows: why the run ends, else the
// reasons, else that there is none.
func (g *geminiMerge) settle(stops []string) {
	r := &g.r
	if r.Control == policy.Halt {
		if r.StopReasons = stops; len(stops) == 0 {
			r.StopReasons = reasonTexts(r.Reasons)
		}
		if len(r.StopReasons) == 0 {
			r.StopReasons = []string{geminiNoReason}
		}
	}
	if r.Verdict == policy.Deny && r.Control == policy.Go && len(stops) > 0 {
		r.Reasons = []policy.Reason{{Text: stops[0], Hook: r.VerdictBy.Name, At: r.VerdictBy.At}}
	}
	if r.Verdict == policy.Deny && len(r.Reasons) == 0 {
		r.Reasons = []policy.Reason{{Text: geminiNoReason, Hook: r.VerdictBy.Name, At: r.VerdictBy.At}}
	}
	if g.event == policy.SessionStart && (r.Verdict != policy.None || r.Control != policy.Go) {
		by := r.VerdictBy
		if r.Control != policy.Go {
			by = r.ControlBy
		}
		g.warn(by, "SessionStart only informs: Gemini CLI goes on whatever a hook decides")
		r.Verdict, r.VerdictBy, r.Control, r.ControlBy, r.StopReasons, r.Reasons = policy.None, policy.By{}, policy.Go, policy.By{}, nil, nil
	}
}

// effects is what an outcome changes besides the decision. A refusal leaves
// no room for it.
func (g *geminiMerge) effects() {
	if v, by := lastOwn(g.said, "tailToolCallRequest"); v != nil && g.afterTool() && !g.refused() {
		g.r.Warnings = append(g.r.Warnings, uncarried(by, "tailToolCallRequest asks for another call: only Gemini CLI can make it"))
	}
	for _, s := range g.said {
		own, _ := jsHas(s.Value["hookSpecificOutput"])
		if own["clearContext"] == true && g.event == policy.StopEvent {
			g.r.Warnings = append(g.r.Warnings, uncarried(s.By, "clearContext empties the conversation: only Gemini CLI can do that"))
		}
	}
	if g.refused() {
		return
	}
	switch g.event {
	case policy.PreToolExecution:
		if input, _ := lastOwn(g.said, "tool_input"); input != nil {
			if m, ok := input.(map[string]any); ok {
				g.r.Patch = policy.Replace(policy.Path{Field: policy.FieldToolInput}, m)
			}
		}
	case policy.SessionStart, policy.PreSendMessage, policy.PostToolExecution, policy.PostToolExecutionFailure:
		g.r.Context = spokenContexts(g.said)
	}
}

func (g *geminiMerge) afterTool() bool {
	return g.event == policy.PostToolExecution || g.event == policy.PostToolExecutionFailure
}

func (g *geminiMerge) refused() bool {
	return g.r.Verdict == policy.Deny || g.r.Control != policy.Go
}

// replace is mergeWithFieldReplacement: each key is the last hook's. Before
// the model a deny that a later answer takes back, and an end of the run, hold
// all the same unless the agent is followed faithfully; after it a deny hides
// nothing that was not shown already.
func (g *geminiMerge) replace() {
	word, by := lastKey(g.said, "decision")
	if word == "deny" || word == "block" {
		g.r.Verdict, g.r.VerdictBy = policy.Deny, by
	}
	if on, by := lastKey(g.said, "continue"); on == false {
		g.r.Control, g.r.ControlBy = policy.Halt, by
	}
	if v, by := lastKey(g.said, "reason"); jsTrue(v) {
		g.r.Reasons = []policy.Reason{{Text: jsText(v), Hook: by.Name, At: by.At}}
	}
	g.r.System = g.lastText("systemMessage")
	suppress, _ := lastKey(g.said, "suppressOutput")
	g.r.Suppress = jsTrue(suppress)
	stops := g.lastText("stopReason")
	stops = g.keep(stops)
	g.settle(stops)
	g.modelEffects()
}

// lastText is the text that counts as true, of the last answer with the key.
func (g *geminiMerge) lastText(key string) []string {
	if v, _ := lastKey(g.said, key); jsTrue(v) {
		return []string{jsText(v)}
	}
	return nil
}

// keep is the safe side of replace: what one hook forbids no other takes back.
// Where that is not so the Decision says it.
func (g *geminiMerge) keep(stops []string) []string {
	safe := g.event == policy.PreLLMRequest && !g.faithful
	for _, s := range g.said {
		word := s.Value["decision"]
		denies := g.r.Verdict != policy.Deny && (word == "deny" || word == "block")
		ends := g.r.Control == policy.Go && s.Value["continue"] == false
		switch {
		case !denies && !ends:
			continue
		case !safe:
			g.warn(s.By, "refuses, and a later answer takes that back, as in Gemini CLI")
			continue
		}
		g.warn(s.By, "refuses; Gemini CLI itself would let a later answer take that back")
		if denies {
			g.r.Verdict, g.r.VerdictBy, g.r.Reasons = policy.Deny, s.By, spokenTexts([]policy.Said{s}, "reason")
		}
		if ends {
			g.r.Control, g.r.ControlBy = policy.Halt, s.By
			stops = reasonTexts(spokenTexts([]policy.Said{s}, "stopReason"))
		}
	}
	return stops
}

// tools is mergeToolSelectionOutputs. Whatever is said, {} included, sets the
// offer.
func (g *geminiMerge) tools() {
	mode, names := "AUTO", []string{}
	for _, s := range g.said {
		own, _ := jsHas(s.Value["hookSpecificOutput"])
		config, _ := own["toolConfig"].(map[string]any)
		switch m := config["mode"]; {
		case m == "NONE":
			mode = "NONE"
		case m == "ANY" && mode != "NONE":
			mode = "ANY"
		}
		listed := config["allowedFunctionNames"]
		switch list := listed.(type) {
		case []any:
			for _, n := range list {
				names = append(names, jsText(n))
			}
		case string:
			for _, n := range list {
				names = append(names, string(n))
			}
		default:
			if jsTrue(listed) && !g.badNames(s.By) {
				return
			}
		}
	}
	slices.Sort(names)
	offer := []any{}
	for _, n := range slices.Compact(names) {
		offer = append(offer, n)
	}
	if mode == "NONE" {
		offer = []any{}
	}
	g.r.Patch = policy.Replace(policy.Path{Field: policy.FieldToolConfig}, map[string]any{"mode": mode, "names": offer})
}

// badNames is what becomes of a list of tools that is none: false gives up.
func (g *geminiMerge) badNames(by policy.By) bool {
	if g.faithful {
		g.r = policy.Result{Void: true, Warnings: []policy.Warning{safeSide(by, "allowedFunctionNames is no list: Gemini CLI gives up on the whole event, and so does --faithful")}}
		return false
	}
	g.warn(by, "allowedFunctionNames is no list; Gemini CLI itself would give up on the whole event, here it costs only itself")
	return true
}

// simple is mergeSimple: nothing but messages has an effect.
func (g *geminiMerge) simple() {
	g.r.System = g.lastText("systemMessage")
	suppress, _ := lastKey(g.said, "suppressOutput")
	g.r.Suppress = jsTrue(suppress)
	for _, s := range g.said {
		if s.Verdict == policy.Deny || s.Control != policy.Go {
			g.warn(s.By, "nothing can be refused at this event: Gemini CLI goes on whatever a hook decides")
		}
	}
}
