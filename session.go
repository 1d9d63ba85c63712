package hookc

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"sync/atomic"

	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
	"github.com/hookc/hookc/policy/format"
)

// Hook is a hook registered at run time: the keys of a hook in hooks.yaml
// (docs/schema.md), and the event it is on. Zero fields are not written.
type Hook struct {
	Event   string         `json:"event"`
	Name    string         `json:"name,omitempty"`
	Type    string         `json:"type,omitempty"`
	Command string         `json:"command,omitempty"`
	Prompt  string         `json:"prompt,omitempty"`
	Model   string         `json:"model,omitempty"`
	Source  string         `json:"source,omitempty"`
	Deny    string         `json:"deny,omitempty"`
	Ask     string         `json:"ask,omitempty"`
	Allow   string         `json:"allow,omitempty"`
	Stop    string         `json:"stop,omitempty"`
	Skip    string         `json:"skip,omitempty"`
	Reason  string         `json:"reason,omitempty"`
	When    string         `json:"when,omitempty"`
	Context string         `json:"context,omitempty"`
	Filter  map[string]any `json:"filter,omitempty"`
	Timeout any            `json:"timeout,omitempty"`
	Retry   *int           `json:"retry,omitempty"`
	OnError string         `json:"on_error,omitempty"`
}

// Listed is a hook of a session and the index that Remove takes.
type Listed struct {
	Hook
	// Index is stable as long as the hook is registered.
	Index int `json:"session_idx"`
	// model is true when the model registered the hook, through Call: it may
	// then say anything but allow.
	model bool
}

// Session holds the hooks an agent adds at run time. They form the session
// tier: last in order, and never able to loosen a lower tier, by override, by
// order, or by rewriting what a guard has already read (the guard is
// rechecked). All methods are safe for concurrent use.
type Session struct {
	engine *Engine
	id     string
	// hooks and next are guarded by engine.mu.
	hooks []Listed
	next  int
	plans atomic.Pointer[map[policy.Event]*live]
}

// Session returns the session with the given id, which is the session_id of
// the contexts its hooks apply to.
func (e *Engine) Session(id string) *Session {
	s, _ := e.sessions.LoadOrStore(id, &Session{engine: e, id: id})
	return s.(*Session)
}

func (s *Session) plan(event policy.Event) *live {
	plans := s.plans.Load()
	if plans == nil {
		return nil
	}
	return (*plans)[event]
}

// Register adds a hook and returns its index. Only the plan of its event is
// compiled again. A hook that does not compile is refused with a
// diag.ListError and changes nothing.
func (s *Session) Register(h Hook) (int, error) {
	return s.register(h, false)
}

func (s *Session) register(h Hook, model bool) (int, error) {
	event, ok := policy.ParseEvent(h.Event)
	if !ok {
		return 0, fmt.Errorf("hookc: unknown event %q: %s", h.Event,
			diag.DidYouMean(h.Event, policy.EventNames(), "hookc help events lists them"))
	}
	if _, err := json.Marshal(h); err != nil {
		return 0, fmt.Errorf("hookc: the hook holds what JSON cannot: %w", err)
	}
	e := s.engine
	if only := e.config.compile.Event; only != "" && only != event {
		return 0, fmt.Errorf("hookc: the engine decides %s alone, and keeps no hooks of %s", only, event)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed.Load() {
		return 0, ErrClosed
	}
	old := s.hooks
	s.hooks = append(slices.Clone(old), Listed{Hook: h, Index: s.next, model: model})
	if err := s.update(event); err != nil {
		s.hooks = old
		return 0, err
	}
	s.next++
	return s.next - 1, nil
}

// Remove takes the hook with the given index away.
func (s *Session) Remove(index int) error {
	e := s.engine
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed.Load() {
		return ErrClosed
	}
	at := slices.IndexFunc(s.hooks, func(l Listed) bool { return l.Index == index })
	if at < 0 {
		return fmt.Errorf("hookc: no session hook has index %d", index)
	}
	event, _ := policy.ParseEvent(s.hooks[at].Event)
	old := s.hooks
	s.hooks = slices.Delete(slices.Clone(old), at, at+1)
	if err := s.update(event); err != nil {
		s.hooks = old
		return err
	}
	return nil
}

// Close forgets the session and its hooks. Later events with its id are
// decided by the engine's policy alone.
func (s *Session) Close() {
	e := s.engine
	e.mu.Lock()
	defer e.mu.Unlock()
	e.sessions.CompareAndDelete(s.id, s)
	s.hooks = nil
	s.swap(nil)
}

// List returns the registered hooks by index.
func (s *Session) List() []Listed {
	s.engine.mu.Lock()
	defer s.engine.mu.Unlock()
	return slices.Clone(s.hooks)
}

// update compiles one event's plan again; engine.mu is held.
func (s *Session) update(event policy.Event) error {
	base := s.engine.live.Load().policy
	plans, err := s.rebuild(base, []policy.Event{event})
	if err != nil {
		return err
	}
	if old := s.plans.Load(); old != nil {
		for e, l := range *old {
			if e != event {
				plans[e] = l
			}
		}
	}
	s.swap(plans)
	return nil
}

// rebuild compiles the plans of the given events (nil: of every event the
// session has a hook on) with the session's hooks added to base.
func (s *Session) rebuild(base *policy.Policy, events []policy.Event) (map[policy.Event]*live, error) {
	own := map[policy.Event]bool{}
	for _, h := range s.hooks {
		event, _ := policy.ParseEvent(h.Event)
		own[event] = true
	}
	if events == nil {
		events = slices.SortedFunc(maps.Keys(own), policy.Event.Compare)
	}
	plans := map[policy.Event]*live{}
	for _, event := range events {
		if !own[event] {
			continue
		}
		extra, found := s.load(event)
		merged := *base
		merged.Hooks = slices.Concat(base.Hooks, extra.Hooks)
		config := s.engine.config
		config.compile.Event, config.borrow = event, true
		l, err := config.compiled(&merged, found, s.engine.metrics)
		if err != nil {
			return nil, err
		}
		plans[event] = l
	}
	return plans, nil
}

// load reads the session's hooks on an event as one policy of the session
// tier. What the session has on other events is left out: it must not show in
// the program's hash or in places, as it does not change the program.
func (s *Session) load(event policy.Event) (*policy.Policy, diag.List) {
	var hooks []any
	for _, h := range s.hooks {
		if on, _ := policy.ParseEvent(h.Event); on == event {
			hooks = append(hooks, h.body(event))
		}
	}
	text, err := json.MarshalIndent(map[policy.Event][]any{event: hooks}, "", "  ")
	if err != nil {
		panic("hookc: a session hook cannot be written as JSON: " + err.Error())
	}
	return format.Load(format.Options{Inputs: []format.Input{{
		Path: "session-" + s.id + ".yaml", Format: "hooksyaml", Tier: policy.TierSession, Content: text,
	}}})
}

// body is the hook without its event, as hooks.yaml has it. A hook without a
// name gets one that stays its own when others are removed.
func (l Listed) body(event policy.Event) map[string]any {
	text, err := json.Marshal(l.Hook)
	if err != nil {
		panic("hookc: a session hook cannot be written as JSON: " + err.Error())
	}
	var m map[string]any
	if err := json.Unmarshal(text, &m); err != nil {
		panic("hookc: a session hook cannot be read back: " + err.Error())
	}
	delete(m, "event")
	if powers := event.Spec().Powers; l.model && powers.Has(policy.MayAllow) {
		m["may"] = (powers &^ policy.MayAllow).Names()
	}
	if l.Name == "" {
		m["name"] = fmt.Sprintf("%s/%s#%d", policy.TierSession, event, l.Index)
	}
	return m
}

// swap puts plans in force and closes those they replace; engine.mu is held.
func (s *Session) swap(plans map[policy.Event]*live) {
	old := s.plans.Swap(&plans)
	if len(plans) > 0 {
		s.engine.anyone.Store(true)
	}
	if old == nil {
		return
	}
	for event, l := range *old {
		if plans[event] != l {
			s.engine.retire(l)
		}
	}
}

// Tool describes register, list and remove as one tool for the model, in the
// JSON Schema form that model APIs take.
func (s *Session) Tool() map[string]any {
	text := func(doc string) map[string]any { return map[string]any{"type": "string", "description": doc} }
	return map[string]any{
		"name":        "register_hook",
		"description": "Register, list or remove a hook of this session. A hook runs at a lifecycle point and can add checks; it cannot loosen the policy already in force.",
		"input_schema": map[string]any{
			"type":     "object",
			"required": []any{"action"},
			"properties": map[string]any{
				"action":  map[string]any{"type": "string", "enum": []any{"register", "list", "remove"}},
				"index":   map[string]any{"type": "integer", "description": "session_idx of the hook to remove"},
				"event":   map[string]any{"type": "string", "enum": eventEnum()},
				"name":    text("name of the hook"),
				"type":    map[string]any{"type": "string", "enum": []any{"bash", "llm", "rego", "expr"}},
				"command": text("bash: the command; stdin is the event as JSON, stdout a HookResult"),
				"prompt":  text("llm: the prompt, with {{variables}}"),
				"source":  text("rego: the policy text"),
				"deny":    text("expr: deny when this holds"),
				"ask":     text("expr: ask when this holds"),
				"reason":  text("why, for deny and ask"),
				"filter":  map[string]any{"type": "object", "description": "conditions, for example tool_name"},
				"timeout": map[string]any{"type": "number", "description": "seconds"},
				"retry":   map[string]any{"type": "integer"},
			},
		},
	}
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
		if r.Allow != "" {
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
