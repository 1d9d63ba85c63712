package hookc

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/hookc/hookc/policy"
)

// Tool describes register, list and remove as one tool for the model, in the
// JSON Schema form that model APIs take.
func (s *Session) Tool() map[string]any {
	return map[string]any{
		"name":        "register_hook",
		"description": "Register, list or remove a hook of this session. A hook runs at a lifecycle point and can add checks; it cannot loosen the policy already in force.",
		"input_schema": map[string]any{
			"type":       "object",
			"required":   []any{"action"},
			"properties": toolProperties(),
		},
	}
}

// toolKeys are the keys of a Hook that the model may say, with their types and
// what they mean.
var toolKeys = []struct{ name, typ, doc string }{
	{"index", "integer", "session_idx of the hook to remove"},
	{"name", "string", "name of the hook"},
	{"command", "string", "bash: the command; stdin is the event as JSON, stdout a HookResult"},
	{"protocol", "string", "bash: what exit code, stdout and stderr mean"},
	{"prompt", "string", "llm: the prompt, with {{variables}}"},
	{"model", "string", "llm: the model to ask"},
	{"source", "string", "rego: the policy text"},
	{"file", "string", "rego: a file with the policy text"},
	{"use", "string", "builtin: the guard to use"},
	{"options", "object", "builtin: the options of the guard"},
	{"deny", "string", "expr: deny when this holds"},
	{"ask", "string", "expr: ask when this holds"},
	{"stop", "string", "expr: stop when this holds"},
	{"skip", "string", "expr: skip when this holds"},
	{"reason", "string", "why, for what expr says"},
	{"when", "string", "expr: only when this holds"},
	{"rules", "array", "expr: several rules in one hook"},
	{"set", "object", "expr: fields to change, each an expression"},
	{"context", "string", "expr: context to add"},
	{"filter", "object", "conditions, for example tool_name"},
	{"reads", "array", "the fields the hook is given"},
	{"writes", "array", "the fields the hook may change"},
	{"may", "array", "the verdicts and controls the hook may say"},
	{"world", "string", "use of the world outside the process: none, read or write"},
	{"pure", "boolean", "the hook changes nothing and may be started early"},
	{"recheck", "boolean", "evaluate again after a hook that may rewrite what it read"},
	{"async", "boolean", "start it and do not wait"},
	{"priority", "integer", "place in the tier, greater first"},
	{"timeout", "number", "seconds"},
	{"retry", "integer", "further attempts after a failure"},
	{"on_error", "string", "what a failure means: skip, abort, deny or ask"},
	{"on_timeout", "string", "what a failure by time means"},
}

func toolProperties() map[string]any {
	out := map[string]any{
		"action": map[string]any{"type": "string", "enum": []any{"register", "list", "remove"}},
		"event":  map[string]any{"type": "string", "enum": eventEnum()},
		"type":   map[string]any{"type": "string", "enum": []any{"bash", "llm", "rego", "expr", "builtin"}},
	}
	for _, k := range toolKeys {
		p := map[string]any{"type": k.typ, "description": k.doc}
		if k.typ == "array" {
			item := "string"
			if k.name == "rules" {
				item = "object"
			}
			p["items"] = map[string]any{"type": item}
		}
		out[k.name] = p
	}
	return out
}

func eventEnum() []any {
	var out []any
	for _, e := range policy.Events() {
		out = append(out, string(e))
	}
	return out
}

// toolRequest is what the model sends to Call.
type toolRequest struct {
	Action string `json:"action"`
	Index  *int   `json:"index"`
	Hook
}

// Call answers one use of the tool that Tool describes. The reply is JSON:
// {"session_idx": n}, {"hooks": […]}, {"removed": n} or {"error": "…"}; it is
// never an error of the host. A hook that the model registers may say anything
// but allow: it must not approve its own calls.
func (s *Session) Call(ctx context.Context, request []byte) []byte {
	reply, err := s.call(ctx, request)
	if err != nil {
		reply = map[string]any{"error": err.Error()}
	}
	text, err := policy.EncodeJSON(reply)
	if err != nil {
		panic("hookc: a reply cannot be written as JSON: " + err.Error())
	}
	return text
}

func (s *Session) call(ctx context.Context, request []byte) (any, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	var r toolRequest
	dec := json.NewDecoder(bytes.NewReader(request))
	dec.DisallowUnknownFields() // a key that is not understood could be the one that denies
	if err := dec.Decode(&r); err != nil {
		return nil, fmt.Errorf("the request is not understood: %w", err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("the request is not understood: it must be one JSON object")
	}
	switch r.Action {
	case "register":
		if r.Allow != "" || slices.Contains(r.May, "allow") {
			return nil, errors.New("a hook registered here cannot allow: approval is not the agent's to give")
		}
		index, err := s.register(r.Hook, true)
		return map[string]any{"session_idx": index}, err
	case "list":
		return map[string]any{"hooks": s.List()}, nil
	case "remove":
		if r.Index == nil {
			return nil, fmt.Errorf("remove needs index, the session_idx that list shows")
		}
		return map[string]any{"removed": *r.Index}, s.Remove(*r.Index)
	}
	return nil, fmt.Errorf("unknown action %q: register, list or remove", r.Action)
}
