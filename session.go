package hookc

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync/atomic"

	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
	"github.com/hookc/hookc/policy/source"
)

// Hook is a hook registered at run time: the keys of a hook in hooks.yaml
// (docs/reference/schema.md), and the event it is on. Zero fields are not written; of a
// list that is nil, and a list without elements is written.
type Hook struct {
	Event       string `json:"event"`
	Name        string `json:"name,omitempty"`
	Description string `json:"description,omitempty"`
	Type        string `json:"type,omitempty"`
	Enabled     *bool  `json:"enabled,omitempty"`
	Locked      bool   `json:"locked,omitempty"`
	// Enforcement is enforce, warn or dryrun.
	Enforcement string `json:"enforcement,omitempty"`
	// Rollout is a share of the sessions, such as 25%.
	Rollout     string         `json:"rollout,omitempty"`
	Command     string         `json:"command,omitempty"`
	Protocol    string         `json:"protocol,omitempty"`
	NativeEvent string         `json:"native_event,omitempty"`
	Cwd         string         `json:"cwd,omitempty"`
	Env         map[string]any `json:"env,omitempty"`
	Prompt      string         `json:"prompt,omitempty"`
	Model       string         `json:"model,omitempty"`
	Source      string         `json:"source,omitempty"`
	File        string         `json:"file,omitempty"`
	Use         string         `json:"use,omitempty"`
	// Options are the keys that the builtin named by Use takes.
	Options       map[string]any   `json:"options,omitempty"`
	Deny          string           `json:"deny,omitempty"`
	Ask           string           `json:"ask,omitempty"`
	Defer         string           `json:"defer,omitempty"`
	Allow         string           `json:"allow,omitempty"`
	Skip          string           `json:"skip,omitempty"`
	Stop          string           `json:"stop,omitempty"`
	Halt          string           `json:"halt,omitempty"`
	Reason        string           `json:"reason,omitempty"`
	When          string           `json:"when,omitempty"`
	Rules         []map[string]any `json:"rules,omitempty"`
	Set           map[string]any   `json:"set,omitempty"`
	ModifiedInput string           `json:"modified_input,omitempty"`
	Context       string           `json:"context,omitempty"`
	Message       string           `json:"message,omitempty"`
	Feedback      string           `json:"feedback,omitempty"`
	Inject        string           `json:"inject,omitempty"`
	Filter        map[string]any   `json:"filter,omitempty"`
	Reads         []string         `json:"reads,omitzero"`
	Writes        []string         `json:"writes,omitzero"`
	May           []string         `json:"may,omitzero"`
	World         string           `json:"world,omitempty"`
	Speculative   *bool            `json:"speculative,omitempty"`
	Pure          bool             `json:"pure,omitempty"`
	Recheck       bool             `json:"recheck,omitempty"`
	Async         bool             `json:"async,omitempty"`
	Durable       bool             `json:"durable,omitempty"`
	Priority      *int             `json:"priority,omitempty"`
	Timeout       any              `json:"timeout,omitempty"`
	Retry         *int             `json:"retry,omitempty"`
	OnError       string           `json:"on_error,omitempty"`
	OnTimeout     string           `json:"on_timeout,omitempty"`
}

// Listed is a hook of a session and the index that Remove takes.
type Listed struct {
	Hook
	// Index is stable as long as the hook is registered.
	Index int `json:"session_idx"`
	// model is true when the model registered the hook, through Call: it may
	// then say anything but allow.
	model bool
	// asJSON is the hook as JSON, made once: what its values hold later on, or say
	// when they are asked again, does not change what was registered.
	asJSON map[string]any
}

// Session holds the hooks an agent adds at run time. They form the session
// tier: last in order, and never able to loosen a lower tier, by override, by
// order, or by rewriting what a guard has already read: a rule or a builtin is
// rechecked, and what the model registers rewrites nothing where a process or a
// model guards. All methods are safe for concurrent use.
type Session struct {
	engine *Engine
	id     string
	// hooks and next are guarded by engine.mu.
	hooks []Listed
	next  int
	plans atomic.Pointer[map[policy.Event]*live]
}

// Session returns the session with the given id, which is the session_id of
// the contexts its hooks apply to: what is no UTF-8 in it is read as in them.
// The session without an id is that of no event, and takes no hooks.
func (e *Engine) Session(id string) *Session {
	if text, err := policy.JSONValue(id, "session_id"); err == nil {
		id, _ = text.(string)
	}
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
	body, err := policy.JSONValue(h, "hook")
	if err != nil {
		return 0, fmt.Errorf("hookc: %w", err)
	}
	if s.id == "" {
		return 0, errors.New("hookc: the session has no id: no event would find the hook")
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
	if known, _ := e.sessions.Load(s.id); known != s {
		return 0, errors.New("hookc: the session is closed")
	}
	if err := s.taken(event, h.Name); err != nil {
		return 0, err
	}
	old := s.hooks
	s.hooks = append(lists.Copy(old), Listed{Hook: h, Index: s.next, model: model, asJSON: body.(map[string]any)})
	if err := s.update(event); err != nil {
		s.hooks = old
		return 0, err
	}
	s.next++
	return s.next - 1, nil
}

// taken refuses the name of a hook of the policy: a session hook cannot replace
// it, and would never run.
func (s *Session) taken(event policy.Event, name string) error {
	for _, h := range s.engine.live.Load().policy.Hooks {
		if name == "" || h.Event != event || h.Name != name || h.Disabled {
			continue
		}
		why := "is a hook of the policy"
		if h.Locked {
			why = "is locked"
		}
		return diag.ListError{List: diag.List{diag.Lookup("HK130").Report(h.Span, "%s %s: a hook registered at run time cannot replace it", name, why).
			WithHint("give the hook another name").WithHook(name)}}
	}
	return nil
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
	s.hooks = slices.Delete(lists.Copy(old), at, at+1)
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
	e.retain()
}

// List returns the registered hooks by index.
func (s *Session) List() []Listed {
	s.engine.mu.Lock()
	defer s.engine.mu.Unlock()
	return lists.Copy(s.hooks)
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
	s.engine.retain()
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
		events = lists.Order(lists.Keys(own), policy.Event.Compare)
	}
	plans := map[policy.Event]*live{}
	for _, event := range events {
		if !own[event] {
			continue
		}
		extra, found := s.load(event, base)
		merged := *base
		merged.Hooks = lists.Concat(base.Hooks, extra.Hooks)
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
func (s *Session) load(event policy.Event, base *policy.Policy) (*policy.Policy, diag.List) {
	guarded := slices.ContainsFunc(base.Hooks, func(h *policy.Hook) bool {
		return h.Event == event && !h.Kind.InProcess() && !h.Async && !h.Disabled && (h.Declared.May == nil || len(h.Declared.May) > 0)
	})
	var hooks []any
	for _, h := range s.hooks {
		if on, _ := policy.ParseEvent(h.Event); on == event {
			hooks = append(hooks, h.body(event, guarded))
		}
	}
	text, err := json.MarshalIndent(map[policy.Event][]any{event: hooks}, "", "  ")
	if err != nil {
		panic("hookc: a session hook cannot be written as JSON: " + err.Error())
	}
	return source.Load(source.Options{Inputs: []source.Input{{
		Path: "session-" + s.id + ".yaml", Format: "hooksyaml", Tier: policy.TierSession, Content: text,
	}}})
}

// body is the hook without its event, as hooks.yaml has it. A hook without a
// name gets one that stays its own when others are removed. guarded is true
// where a process or a model guards the event, which is not asked again: what
// the model registers then rewrites nothing.
func (l Listed) body(event policy.Event, guarded bool) map[string]any {
	m := maps.Clone(l.asJSON)
	delete(m, "event")
	delete(m, "options")
	options, _ := l.asJSON["options"].(map[string]any)
	for key, value := range options {
		if _, written := m[key]; !written {
			m[key] = value
		}
	}
	if powers := event.Spec().Powers; l.model && powers.Has(policy.MayAllow) && l.May == nil && !l.Async {
		m["may"] = (powers &^ policy.MayAllow).Names()
	}
	if l.model && guarded && !l.Async {
		m["writes"] = []any{}
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
