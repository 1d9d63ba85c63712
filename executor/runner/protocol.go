package runner

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
)

// protocol is the language a script speaks: the names and shape of what it
// reads on stdin, its environment, and what its exit status, stdout and
// stderr mean (semantics.md §2.6 and the agents' own references).
type protocol struct {
	id policy.Protocol
	// names are the agent's names of the events it has.
	names map[policy.Event]string
	// eventKey is where the name of the event goes.
	eventKey string
	// keys are the agent's names of the fields, none for the canonical shape.
	keys []key
	// shape finishes the object made by keys, or is nil.
	shape func(out map[string]any)
	// env are variables beside those every hook gets.
	env []envKey
	// hides begins the names of variables that native hooks do not get, "" hides
	// none.
	hides string
	// anyExit is true when an answer on stdout counts whatever the status.
	anyExit bool
	// read turns an answer into a result. Beside an error it returns what it
	// could read.
	read func(a answer) (policy.Result, error)
	// native reads an answer of a hook that the agent's own configuration
	// declares, where the agent combines answers by rules of its own; nil is
	// read.
	native func(a answer) (policy.Result, error)
	// nativeKeys are the fields such a hook is sent, where they differ from
	// keys, nativeEnv the variables it gets instead of those of every hook.
	nativeKeys []key
	nativeEnv  []envKey
	// shell is what such a hook's command is started with, "" is sh; expand
	// writes into its text what the agent itself does, nil is nothing.
	shell  string
	expand func(command string, in *policy.Context) string
	// maxStdout bounds what such a hook may answer, 0 is the usual bound; cut is
	// true when what is longer is cut there.
	maxStdout int
	cut       bool
}

// key is one field in an agent's words, at some events or at all.
type key struct {
	field policy.Field
	name  string
	at    []policy.Event
}

// envKey is an environment variable and the field it holds.
type envKey struct {
	name  string
	field policy.Field
}

var protocols = map[policy.Protocol]*protocol{
	"":                        jcliProtocol,
	policy.JCLIProtocol:       jcliProtocol,
	policy.ClaudeProtocol:     claudeProtocol,
	policy.GeminiProtocol:     geminiProtocol,
	policy.ClawdCodeProtocol:  clawdProtocol,
	policy.AgentHooksProtocol: agentHooksProtocol,
	policy.AIAgentsProtocol:   aiAgentsProtocol,
	policy.CodexProtocol:      codexProtocol,
	policy.KimiProtocol:       kimiProtocol,
	policy.CursorProtocol:     cursorProtocol,
	policy.CopilotProtocol:    copilotProtocol,
	policy.QwenProtocol:       qwenProtocol,
	policy.Claude240Protocol:  claude240Protocol,
	policy.ClawdDocProtocol:   clawdProtocol,
}

// name is the agent's name of an event, the canonical one where it has none.
func (p *protocol) name(e policy.Event) string {
	if n, ok := p.names[e]; ok {
		return n
	}
	return string(e)
}

// input is what a script reads on stdin. Only what is in the context is sent.
// At an event the agent does not have, fields it has no word for go by their
// canonical names. native, when not "", is the agent's name of the event.
func (p *protocol) input(event policy.Event, native string, in *policy.Context) ([]byte, error) {
	keys := p.keys
	if native != "" && p.nativeKeys != nil {
		keys = p.nativeKeys
	}
	if len(keys) == 0 {
		return in.MarshalJSON()
	}
	out := map[string]any{}
	if raw, ok := in.Get(policy.FieldRaw); ok {
		for k, v := range raw.(map[string]any) {
			out[k] = v
		}
	}
	named := map[policy.Field]bool{policy.FieldRaw: true, policy.FieldEvent: true}
	for _, k := range keys {
		if len(k.at) > 0 && !slices.Contains(k.at, event) {
			continue
		}
		named[k.field] = true
		if v, ok := in.Get(k.field); ok {
			out[k.name] = v
		}
	}
	if _, own := p.names[event]; !own {
		for _, f := range in.Fields() {
			if v, ok := in.Get(f); ok && !named[f] && (native == "" || f != policy.FieldProjectRoot) {
				out[f.String()] = v
			}
		}
	}
	out[p.eventKey] = cmp.Or(native, p.name(event))
	if p.shape != nil {
		p.shape(out)
	}
	return policy.EncodeJSON(out)
}

// asText is a JSON value as text: a string as it is, anything else as JSON.
func asText(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	text, err := policy.EncodeJSON(v)
	if err != nil {
		panic("runner: a value of a context is not JSON: " + err.Error())
	}
	return string(text)
}

// answer is what a script said, and to what.
type answer struct {
	event policy.Event
	in    *policy.Context
	by    policy.By
	// native, faithful, strict and inTurn are those of the hook's body.
	native                   string
	faithful, strict, inTurn bool
	// onFailure is that of the hook's body; doc is true of a ClawdCode hook
	// that is read as its document has it.
	onFailure policy.Posture
	doc       bool
	outcome
}

// judge is what an answer means. What denies is never lost to a mistake
// beside it: an answer that is wrong in part, or of a script that died after
// giving it, still holds when it denies, asks or halts, and is a failure
// otherwise.
func (p *protocol) judge(a answer) (policy.Result, error) {
	if a.native != "" && p.native != nil {
		return p.native(a)
	}
	if a.signal != "" && !p.anyExit {
		return policy.Result{}, a.failure()
	}
	dead := a
	if a.signal != "" {
		a.exit = 0
	}
	r, err := p.read(a)
	if dead.signal != "" && err == nil {
		err = dead.failure()
	}
	if err == nil {
		return r, nil
	}
	if p != jcliProtocol && (r.Verdict > policy.Allow || r.Control == policy.Halt) {
		r.Patch = policy.Patch{}
		r.Warnings = append(r.Warnings, misread(a.by, "%v; what it forbids holds", err))
		return r, nil
	}
	return policy.Result{}, err
}

// failure is the answer as an Err: a status that is not 0, or a signal.
func (a answer) failure() *policy.HookError {
	if a.signal != "" {
		return policy.Failf(policy.ErrSignal, "%s", withLine("ended by signal: "+a.signal, a.stderr.firstLine()))
	}
	text := fmt.Sprintf("exit status %d", a.exit)
	switch {
	case a.exit == 126:
		text += ": not executable"
	case a.exit == 127:
		text += ": command not found"
	case a.exit > 128 && a.exit <= 128+64:
		// A shell reports so that a command of its was ended by a signal.
		text += fmt.Sprintf(" (signal %d)", a.exit-128)
	}
	return policy.Failf(policy.ErrExit, "%s", withLine(text, a.stderr.firstLine()))
}

func withLine(text, line string) string {
	if line == "" {
		return text
	}
	return text + ": " + line
}

// complaint is standard error as a reason, or other when it is empty.
func (a answer) complaint(other string) string {
	if s := strings.TrimSpace(a.stderr.tail); s != "" {
		return s
	}
	return other
}

var codeAnswer = diag.Define(diag.Code{
	ID: "HK095", Severity: diag.Warning,
	Title: "answer is not quite its protocol",
	Help: `A script answered with a word its protocol does not know, or in a place where its agent
would pass it over. What plainly forbids is taken as forbidding; what cannot be
understood has no effect, as in the agent itself, and is reported here.`,
	Bad: `-- hooks.yaml --
pre_tool_execution:
  - name: unsure
    protocol: agenthooks
    on_error: deny
    command: |
      echo '{"decision": "maybe"}'
-- event.json --
{"event": "pre_tool_execution", "tool_name": "Bash", "tool_input": {}}
`,
	Good: `-- hooks.yaml --
pre_tool_execution:
  - name: sure
    protocol: agenthooks
    on_error: deny
    command: |
      echo '{"decision": "deny", "reason": "no"}'
-- event.json --
{"event": "pre_tool_execution", "tool_name": "Bash", "tool_input": {}}
`,
})

func misread(by policy.By, format string, args ...any) policy.Warning {
	return policy.Warning{Code: codeAnswer, Hook: by.Name, Text: by.Name + ": " + fmt.Sprintf(format, args...)}
}

// looseJSON reads JSON as the agents do: of repeated keys the last counts.
func looseJSON(text string) (any, error) {
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, err
	}
	if strings.TrimSpace(text[dec.InputOffset():]) != "" {
		return nil, errors.New("text after the JSON value")
	}
	// Once more the strict way: it bounds the nesting and keeps numbers exact.
	again, err := policy.EncodeJSON(v)
	if err != nil {
		return nil, err
	}
	return policy.DecodeJSON(again)
}
