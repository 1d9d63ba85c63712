package agent

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/agent/repeats"
	"github.com/hookc/hookc/policy/diag"
)

// scripts is how an agent's own scripts are spoken to: the shape of what they
// read on stdin, their environment, and what their exit status, stdout and
// stderr mean (semantics.md §2.6 and the agents' own references).
type scripts struct {
	// shape finishes the object made of the agent's keys, or is nil.
	shape func(out map[string]any)
	// env are variables beside those every hook gets.
	env []envKey
	// hides begins the names of variables that native hooks do not get, "" hides
	// none.
	hides string
	// anyExit is true when an answer on stdout counts whatever the status.
	anyExit bool
	// canonical is true when an answer is a HookResult: then nothing counts of
	// one that is wrong in part.
	canonical bool
	// read reads an answer into a result. Beside an error it returns what it
	// could read.
	read func(a output) (policy.Result, error)
	// native reads an answer of a hook that the agent's own configuration
	// declares, where the agent combines answers by rules of its own; nil is
	// read.
	native func(a output) (policy.Result, error)
	// nativeKeys are the fields such a hook is sent, where they differ from the
	// agent's keys, nativeEnv the variables it gets instead of those of every
	// hook.
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
	// maxStderr is how much of the end of standard error is read, 0 is the usual.
	maxStderr int
	// waits is true where a process that the hook left behind is heard while the hook
	// has time, chooses where the first hook runs after the others are chosen.
	waits, chooses bool
	// prompt makes the prompt of a hook that the agent's configuration puts to a
	// model, and reply reads the model's answer to it; nil is hookc's own way.
	prompt func(h *policy.Hook, event []byte) string
	reply  func(h *policy.Hook, text string) (policy.Result, error)
}

// Speaks is the agent whose protocol a hook speaks, nil for one that nobody
// speaks. The zero Protocol is jcli's, the canonical one.
//
//go:noinline
func Speaks(p policy.Protocol) *Agent { return exact(lists.First(string(p), "jcli")) }

// ParseProtocol finds a protocol by a name of its agent.
//
//go:noinline
func ParseProtocol(name string) (policy.Protocol, bool) {
	if a := exact(name); a != nil {
		return policy.Protocol(a.ID), true
	}
	return "", false
}

// Protocols lists the ids `protocol:` takes: the canonical one, then the others
// sorted, without their variants.
func Protocols() []string {
	out := []string{"jcli"}
	for _, a := range All() {
		if !strings.Contains(a.ID, "@") && a.ID != out[0] {
			out = append(out, a.ID)
		}
	}
	return out
}

// EventName is the agent's name of an event, the canonical one where it has
// none. Of several names it is the first in the agent's table.
func (a *Agent) EventName(e policy.Event) string {
	for i := range a.allPoints() {
		if a.allPoints()[i].event == e {
			return a.allPoints()[i].name
		}
	}
	return string(e)
}

// Input is what a script reads on stdin. Only what is in the context is sent.
// At an event that hookc has no fields for, and one the agent does not have,
// fields it has no word for go by their canonical names. native, when not "",
// is the agent's name of the event.
func (a *Agent) Input(event policy.Event, native string, in *policy.Context) ([]byte, error) {
	keys := a.keys
	if native != "" && a.scripts.nativeKeys != nil {
		keys = a.scripts.nativeKeys
	}
	if len(keys) == 0 {
		return in.MarshalJSON()
	}
	out := map[string]any{}
	if raw, ok := in.Get(policy.FieldRaw); ok {
		maps.Copy(out, raw.(map[string]any))
	}
	named := map[policy.Field]bool{policy.FieldRaw: true, policy.FieldEvent: true}
	for _, k := range keys {
		if k.use == read || len(k.at) > 0 && !lists.Among(k.at, event) {
			continue
		}
		named[k.field] = true
		if v, ok := in.Get(k.field); ok {
			out[k.name] = v
		}
		if k.field == policy.FieldMCP && k.name != k.field.String() {
			a.sendServer(out, k.name, in.Text(policy.FieldToolName))
		}
	}
	name := a.EventName(event)
	if !a.knows(event) {
		for _, f := range in.Fields() {
			if v, ok := in.Get(f); ok && !named[f] && (native == "" || f != policy.FieldProjectRoot) {
				out[f.String()] = v
			}
		}
	}
	out[a.eventKey] = lists.First(native, name)
	if a.scripts.shape != nil {
		a.scripts.shape(out)
	}
	return policy.EncodeJSON(out)
}

// sendServer writes what is said of an MCP call in the agent's own names. Where
// that is no more than the tool's name says, the agent did not send it.
func (a *Agent) sendServer(out map[string]any, name, called string) {
	object, _ := out[name].(map[string]any)
	delete(out, name)
	own := maps.Clone(object)
	maps.DeleteFunc(own, func(k string, _ any) bool { return k == "server" || k == "tool" })
	if server, tool := serverOf(called, ""); len(own) == 0 && (object["server"] == nil || object["server"] == server) && object["tool"] == tool {
		return
	}
	for key, v := range map[string]any{a.mcp.server: object["server"], a.mcp.tool: object["tool"]} {
		if key != "" && v != nil {
			own[key] = v
		}
	}
	if len(own) > 0 {
		out[name] = own
	}
}

// knows reports whether the agent has an event, and hookc has fields for it.
func (a *Agent) knows(e policy.Event) bool {
	return !strings.HasPrefix(string(e), "ext.") && lists.Some(a.allPoints(), func(p *point) bool { return p.event == e })
}

// Env are the variables a script gets beside those that every hook gets; alone
// is true when it gets these alone, as a native hook of some agents does. A
// variable without a value is absent.
func (a *Agent) Env(in *policy.Context, native bool) (vars []policy.EnvVar, alone bool) {
	list := a.scripts.env
	if alone = native && a.scripts.nativeEnv != nil; alone {
		list = a.scripts.nativeEnv
	}
	for _, k := range list {
		vars = append(vars, policy.EnvVar{Name: k.name, Value: in.Text(k.field)})
	}
	return vars, alone
}

// Hides reports whether native hooks do not get a variable of hookc's own
// environment.
func (a *Agent) Hides(name string) bool {
	return a.scripts.hides != "" && strings.HasPrefix(name, a.scripts.hides)
}

// Shell is the program that the commands of native hooks are started with.
func (a *Agent) Shell() string { return lists.First(a.scripts.shell, "sh") }

// Expand is the command of a native hook as the agent gives it to the shell.
func (a *Agent) Expand(command string, in *policy.Context) string {
	if a.scripts.expand == nil {
		return command
	}
	return a.scripts.expand(command, in)
}

// MaxStdout bounds what a native hook may write, in bytes, 0 is hookc's own
// bound; cut is true when what is longer is cut there and is no failure.
func (a *Agent) MaxStdout() (limit int, cut bool) { return a.scripts.maxStdout, a.scripts.cut }

// Streams says how much of the end of a native hook's standard error is read, in bytes,
// 0 is as much as usual, and whether a process that it left behind is waited for.
func (a *Agent) Streams() (stderr int, waits bool) { return a.scripts.maxStderr, a.scripts.waits }

// ChoosesFirst reports whether the hooks of an event are chosen before the first runs.
func (a *Agent) ChoosesFirst() bool { return a.scripts.chooses }

// Refuses reports whether a native hook at a guarded call refuses by an exit
// status alone.
func (a *Agent) Refuses(status int) bool {
	h := &policy.Hook{Event: policy.PreToolExecution, Body: policy.Body{Agent: policy.AgentBody{Event: a.EventName(policy.PreToolExecution)}}}
	r, err := a.Read(h, policy.NewContext(h.Event), Outcome{Exit: status, Stderr: "no", Head: "no"})
	verdict, _ := r.Alone()
	return err == nil && verdict == policy.Deny
}

// Asks reports whether a hook asks a model in the agent's own form, with
// [Agent.Prompt] and [Agent.Reply].
func (a *Agent) Asks(h *policy.Hook) bool {
	return a.scripts.prompt != nil && h.Kind == policy.KindLLM && h.Body.Agent.Event != ""
}

// Prompt is what the model is asked.
func (a *Agent) Prompt(h *policy.Hook, in *policy.Context) (string, error) {
	event, err := a.Input(h.Event, h.Body.Agent.Event, in)
	if err != nil {
		return "", policy.Failf(policy.ErrParse, "the event cannot be written as JSON: %w", err)
	}
	return a.scripts.prompt(h, event), nil
}

// Reply reads what a model answered to [Agent.Prompt].
func (a *Agent) Reply(h *policy.Hook, text string) (policy.Result, error) {
	return Strictest(policy.By{Name: h.Name, At: h.Span}, text, func(text string) (policy.Result, error) { return a.scripts.reply(h, text) })
}

// Outcome is how the process of a script ended.
type Outcome struct {
	// Exit is the exit status, -1 when a signal, named by Signal, ended it.
	Exit   int
	Signal string
	Stdout string
	// Late is true when a process that the script left behind held Stdout for too long.
	Late bool
	// Stderr is the end of standard error and Head its beginning, as far as they
	// are kept.
	Stderr, Head string
}

// firstLine is the first line of standard error that says anything.
func (o Outcome) firstLine() string {
	for _, line := range strings.Split(o.Head, "\n") {
		if line = strings.TrimSpace(line); line != "" {
			return line
		}
	}
	return ""
}

// output is what a script said, and to what.
type output struct {
	agent *Agent
	event policy.Event
	in    *policy.Context
	by    policy.By
	// native, faithful, strict and sequential are those of the hook's body.
	native                       string
	faithful, strict, sequential bool
	closed                       bool // its failure does not let through
	// onFailure is that of the hook's body.
	onFailure policy.Posture
	Outcome
}

// Read is what a script's answer means. What denies is never lost to a mistake
// beside it: an answer that is wrong in part, or of a script that died after
// giving it, still holds when it denies, asks or halts, and is a failure
// otherwise.
func (a *Agent) Read(h *policy.Hook, in *policy.Context, o Outcome) (policy.Result, error) {
	b := &h.Body
	out := output{event: h.Event, in: in, by: policy.By{Name: h.Name, At: h.Span}, Outcome: o,
		native: b.Agent.Event, faithful: b.Agent.Emulate, strict: b.Agent.Strict, sequential: b.Agent.Sequential, onFailure: b.Agent.OnFailure,
		closed: h.OnError != policy.PostureUnset && h.OnError != policy.OnErrorSkip}
	if out.native != "" {
		return a.judge(out) // as the program does: Gemini CLI was recorded
	}
	return Strictest(out.by, o.Stdout, func(text string) (policy.Result, error) {
		out.Stdout = text
		return a.judge(out)
	})
}

// Strictest is what an answer means of which some keys are repeated. The agents'
// parsers take the last value; where the answer with others forbids more, that holds:
// it cannot be known which one was meant.
func Strictest(by policy.By, text string, read func(string) (policy.Result, error)) (policy.Result, error) {
	out, err := read(text)
	verdict, control := out.Alone()
	others, whole := repeats.Readings(text)
	for _, other := range others {
		r, wrong := read(other)
		v, c := r.Alone()
		if wrong == nil && (c > control || c == control && v > max(verdict, policy.Allow)) {
			out, err, verdict, control = r, nil, v, c
			out.Warnings = append(slices.Clip(out.Warnings), misread(by, "a key is repeated; the value that forbids most holds"))
		}
	}
	if !whole && err == nil && verdict <= policy.Allow && control == policy.Go {
		return policy.Result{}, policy.Failf(policy.ErrParse, "a key of the answer is repeated too often")
	}
	return out, err
}

func (a *Agent) judge(o output) (policy.Result, error) {
	o.agent = a
	if o.native != "" && a.scripts.native != nil {
		return a.scripts.native(o)
	}
	if o.Signal != "" && !a.scripts.anyExit {
		return policy.Result{}, o.failure()
	}
	dead := o
	if o.Signal != "" {
		o.Exit = 0
	}
	r, err := a.scripts.read(o)
	if dead.Signal != "" && err == nil {
		err = dead.failure()
	}
	if err == nil {
		return r, nil
	}
	if !a.scripts.canonical && (r.Verdict > policy.Allow || r.Control == policy.Halt) {
		r.Patch = policy.Patch{}
		r.Warnings = append(r.Warnings, misread(o.by, "%v; what it forbids holds", err))
		return r, nil
	}
	return policy.Result{}, err
}

// failure is the answer as an Err: a status that is not 0, or a signal.
func (a output) failure() *policy.HookError {
	if a.Signal != "" {
		return policy.Failf(policy.ErrSignal, "%s", withLine("ended by signal: "+a.Signal, a.firstLine()))
	}
	text := fmt.Sprintf("exit status %d", a.Exit)
	switch {
	case a.Exit == 124 && a.agent.timeoutExit:
		return policy.Failf(policy.ErrTimeout, "%s", withLine(text, a.firstLine()))
	case a.Exit == 126:
		text += ": not executable"
	case a.Exit == 127:
		text += ": command not found"
	case a.Exit > 128 && a.Exit <= 128+64:
		// A shell reports so that a command of its was ended by a signal.
		text += fmt.Sprintf(" (signal %d)", a.Exit-128)
	}
	return policy.Failf(policy.ErrExit, "%s", withLine(text, a.firstLine()))
}

func withLine(text, line string) string {
	if line == "" {
		return text
	}
	return text + ": " + line
}

// complaint is standard error as a reason, or other when it is empty.
func (a output) complaint(other string) string {
	if s := strings.TrimSpace(a.Stderr); s != "" {
		return s
	}
	return other
}

var codeAnswer = diag.Define("HK095", diag.Warning, "answer is not quite its protocol")

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
