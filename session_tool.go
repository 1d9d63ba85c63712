package hookc

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"

	"github.com/hookc/hookc/internal/fault"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/source"
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

// notForModels are keys of a hook that the model is not offered: an approval is
// not its to give, no tier is less trusted, no agent's configuration declared the
// hook, and one that is off is none.
var notForModels = []string{"allow", "locked", "native_event", "enabled"}

// toolProperties are the keys of hooks.yaml as the tool offers them.
func toolProperties() map[string]any {
	out := map[string]any{
		"action":  map[string]any{"type": "string", "enum": []any{"register", "list", "remove"}},
		"event":   map[string]any{"type": "string", "enum": eventEnum()},
		"index":   map[string]any{"type": "integer", "description": "session_idx of the hook to remove"},
		"options": map[string]any{"type": "object", "description": "builtin: the options of the guard"},
	}
	for _, k := range source.Schema() {
		if k.Place != source.InHook || lists.Has(notForModels, k.Name) {
			continue
		}
		note := k.Note
		if len(k.Kinds) == 1 {
			note = string(k.Kinds[0]) + ": " + note
		}
		p := map[string]any{"type": "string", "description": note}
		switch k.Type {
		case source.TypeBool:
			p["type"] = "boolean"
		case source.TypeInt, source.TypeCount:
			p["type"] = "integer"
		case source.TypeDuration:
			p["type"] = "number"
		case source.TypeMap, source.TypeEnv, source.TypeExprs:
			p["type"] = "object"
		case source.TypeTexts:
			p["type"], p["items"] = "array", map[string]any{"type": "string"}
		case source.TypeList:
			p["type"], p["items"] = "array", map[string]any{"type": "object"}
		case source.TypeWord:
			if k.Also == "" {
				p["enum"] = k.Words
			}
		}
		out[k.Name] = p
	}
	out["type"] = map[string]any{"type": "string", "enum": policy.KindNames()}
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
		return nil, fault.Errorf("the request is not understood: %w", err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("the request is not understood: it must be one JSON object")
	}
	switch r.Action {
	case "register":
		if r.Allow != "" || lists.Has(r.May, "allow") {
			return nil, errors.New("a hook registered here cannot allow: approval is not the agent's to give")
		}
		if r.Locked || r.NativeEvent != "" || r.Enabled != nil {
			return nil, errors.New("a hook registered here has no locked, native_event or enabled")
		}
		index, err := s.register(r.Hook, true)
		return map[string]any{"session_idx": index}, err
	case "list":
		return map[string]any{"hooks": s.List()}, nil
	case "remove":
		if r.Index == nil {
			return nil, fault.Errorf("remove needs index, the session_idx that list shows")
		}
		return map[string]any{"removed": *r.Index}, s.Remove(*r.Index)
	}
	return nil, fault.Errorf("unknown action %q: register, list or remove", r.Action)
}
