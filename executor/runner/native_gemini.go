package runner

import (
	"maps"
	"os"
	"regexp"
	"strings"
	"sync"

	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/agent"
)

// jsSpace is what trim takes away in JavaScript.
const jsSpace = " \t\r\n\v\f\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000\uFEFF"

func jsTrim(s string) string { return strings.Trim(s, jsSpace) }

// nativeGemini reads an answer as Gemini CLI's runner does and keeps it whole
// for its aggregator (docs/dialects, gemini §1.3). Beyond that, unless it is
// followed faithfully, what plainly forbids is made to forbid.
func nativeGemini(a answer) (policy.Result, error) {
	d := a.draft()
	status := a.exit
	if a.signal != "" {
		status = 0
		d.warn("ended by signal %s, which Gemini CLI takes for success", a.signal)
	}
	text := jsTrim(a.stdout)
	if text == "" {
		text = jsTrim(a.stderr.tail)
	}
	said, isText := readNative(text, func(text string) map[string]any {
		switch {
		case status == 0:
			return map[string]any{"decision": "allow", "systemMessage": text}
		case status == 1:
			return map[string]any{"decision": "allow", "systemMessage": "Warning: " + text}
		}
		return map[string]any{"decision": "deny", "reason": text}
	})
	if !a.faithful {
		said = d.geminiSafe(said, text, isText)
	}
	if said == nil {
		return d.r, nil
	}
	d.keep(said)
	if a.inTurn && a.exit == 0 && a.signal == "" {
		d.r.Patch = geminiPipe(a, said)
	}
	if a.inTurn && a.faithful && a.exit == 0 && agent.JSNoObject(said["hookSpecificOutput"]) && geminiPipes(a.event) {
		d.r.Void = true // its runner gives up there
	}
	return d.r, nil
}

// readNative is the object that a text is, or that plain makes of it; nil for
// nothing that counts. A list has no keys.
func readNative(text string, plain func(string) map[string]any) (said map[string]any, isText bool) {
	if text == "" {
		return nil, false
	}
	v, err := geminiJSON(text)
	if err != nil {
		return plain(text), true
	}
	switch x := v.(type) {
	case map[string]any:
		return x, false
	case []any:
		return map[string]any{}, false
	}
	return nil, false
}

// keep puts an answer in the agent's words into the result.
func (d *draft) keep(said map[string]any) {
	out := policy.Said{By: d.by, Value: said}
	switch word := said["decision"]; {
	case word == "deny" || word == "block":
		out.Verdict = policy.Deny
	case word == "ask" && d.event == policy.PreToolExecution:
		out.Verdict = policy.Ask
	case word == "allow" && d.event == policy.PreToolExecution:
		out.Verdict = policy.Allow
	}
	if said["continue"] == false {
		out.Control = policy.Halt
	}
	d.r.Native = []policy.Said{out}
}

// geminiGuards are the events at which Gemini CLI obeys a decision.
func geminiGuards(e policy.Event) bool {
	switch e {
	case policy.PreToolExecution, policy.PostToolExecution, policy.PostToolExecutionFailure, policy.PreSendMessage,
		policy.StopEvent, policy.PreLLMRequest, policy.PostLLMResponse:
		return true
	}
	return false
}

// geminiSafe is the safe side of an answer: exit status 2 denies, as the
// documents say, and so do a word and a line that plainly forbid.
func (d *draft) geminiSafe(said map[string]any, text string, isText bool) map[string]any {
	if !geminiGuards(d.event) {
		return said
	}
	if line := forbiddingLine(text); isText && line != nil && said["decision"] != "deny" {
		d.warn("a line of its output denies; Gemini CLI itself takes the whole for a message")
		return line
	}
	word, _ := said["decision"].(string)
	denies := word == "deny" || word == "block"
	switch {
	case denies:
		return said
	case forbids(word):
		d.warn("decision %q is not a word of the protocol; taken as deny", word)
	case d.exit == 2:
		d.warn("exit status 2 with an answer that does not deny; taken as deny")
	default:
		return said
	}
	said = maps.Clone(said)
	if said == nil {
		said = map[string]any{}
	}
	said["decision"] = "deny"
	return said
}

// forbiddingLine finds, in output that is no JSON, a line that is an object
// which forbids.
func forbiddingLine(text string) map[string]any {
	for line := range strings.Lines(text) {
		line = jsTrim(line)
		if !strings.HasPrefix(line, "{") {
			continue
		}
		v, err := looseJSON(line)
		m, _ := v.(map[string]any)
		word, _ := m["decision"].(string)
		if err == nil && (forbids(word) || m["continue"] == false) {
			if word != "" {
				m["decision"] = "deny"
			}
			return m
		}
	}
	return nil
}

func geminiPipes(e policy.Event) bool {
	return e == policy.PreSendMessage || e == policy.PreToolExecution || e == policy.PreLLMRequest
}

// geminiPipe is what the next hook of a sequential event sees of an answer:
// not the patch the agent gets, but its own mixture.
func geminiPipe(a answer, said map[string]any) policy.Patch {
	own, _ := said["hookSpecificOutput"].(map[string]any)
	whole := func(f policy.Field, v any) policy.Patch { return policy.Replace(policy.Path{Field: f}, v).Passing() }
	switch a.event {
	case policy.PreSendMessage:
		if text, ok := own["additionalContext"].(string); ok && a.in.Has(policy.FieldUserInput) {
			return whole(policy.FieldUserInput, a.in.Text(policy.FieldUserInput)+"\n\n"+text)
		}
	case policy.PreToolExecution:
		if input := own["tool_input"]; truthy(input) && a.in.Has(policy.FieldToolInput) {
			old, _ := a.in.Get(policy.FieldToolInput)
			return whole(policy.FieldToolInput, agent.JSSpread(old, input))
		}
	case policy.PreLLMRequest:
		request, _ := own["llm_request"].(map[string]any)
		var p policy.Patch
		for _, k := range []struct {
			name  string
			field policy.Field
		}{{"model", policy.FieldModel}, {"messages", policy.FieldMessages}, {"config", policy.FieldRequestConfig}} {
			if v, ok := request[k.name]; ok {
				p = p.Then(whole(k.field, v))
			}
		}
		return p
	}
	return policy.Patch{}
}

// expandGemini writes the five names into a command's text as Gemini CLI does
// before the shell reads it: wherever they begin, quoted.
func expandGemini(command string, in *policy.Context) string {
	dir := jsShellQuote(in.Text(policy.FieldCwd))
	return strings.NewReplacer("$GEMINI_PROJECT_DIR", dir, "$GEMINI_CWD", dir,
		"$GEMINI_PLANS_DIR", jsShellQuote(os.Getenv("GEMINI_PLANS_DIR")),
		"$GEMINI_SESSION_ID", jsShellQuote(in.Text(policy.FieldSessionID)), "$CLAUDE_PROJECT_DIR", dir).Replace(command)
}

var (
	jsQuoteSpecial = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("([A-Za-z]:)?([#!\"$&'()*,:;<=>?@\\[\\\\\\]^`{|}])") })
	jsQuoteDouble  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("([\"\\\\$`!])") })
)

// jsShellQuote is a word as the agents written in JavaScript quote it for
// bash.
func jsShellQuote(s string) string {
	single := strings.Contains(s, "'")
	switch spaced := strings.ContainsAny(s, "\" \t\r\n\v\f"); {
	case s == "":
		return ""
	case !single && (spaced || strings.Contains(s, `\`)):
		return "'" + s + "'"
	case single || spaced:
		return `"` + jsQuoteDouble().ReplaceAllString(s, `\$1`) + `"`
	}
	return jsQuoteSpecial().ReplaceAllString(s, `$1\$2`)
}
