package install

import (
	"bytes"

	"github.com/hookc/hookc/policy/agent"
	"github.com/hookc/hookc/policy/source/tree"
)

// open reads a JSON file: the byte order mark, if any, and what follows.
func (t *Target) open(content []byte) (bom []byte, d *document, err error) {
	body := bytes.TrimPrefix(content, mark)
	bom = content[:len(content)-len(body)]
	d, err = parse(t.Name, body)
	if err != nil {
		return nil, nil, err
	}
	if d.root.Shape != tree.Map {
		return nil, nil, t.problem(body, d.root.Span.Start, "the settings are not an object")
	}
	return bom, d, t.check(d)
}

// check refuses what an agent may read in more than one way.
func (t *Target) check(d *document) error {
	if at := twice(d.root); at >= 0 {
		return t.problem(d.text, at, "a key is written twice")
	}
	hooks := d.root.Get("hooks")
	if hooks == nil {
		return nil
	}
	if hooks.Shape != tree.Map {
		return t.problem(d.text, hooks.Span.Start, "hooks is not an object")
	}
	if at := twice(hooks); at >= 0 {
		return t.problem(d.text, at, "an event is written twice")
	}
	for _, m := range hooks.Entries { // one that is no list is a switch, or nothing the agent reads
		for _, e := range m.Value.Items {
			if at := twice(e); at >= 0 {
				return t.problem(d.text, at, "a key is written twice")
			}
		}
	}
	return nil
}

// own is one handler of hookc in a document.
type own struct {
	event string
	// group and item are its indexes; item is -1 in a flat list.
	group, item int
	// alone is true when it is the only handler of its group.
	alone bool
	value any
}

// each calls f for every handler: its event, indexes, group and itself.
func (t *Target) each(d *document, f func(event string, group, item int, of, handler *tree.Node)) {
	hooks := d.root.Get("hooks")
	if hooks == nil {
		return
	}
	for _, m := range hooks.Entries {
		event := m.Key.Text.Value
		for g, group := range m.Value.Items {
			if t.Layout == agent.Flat {
				f(event, g, -1, group, group)
			} else if list := group.Get("hooks"); list != nil {
				for h, handler := range list.Items {
					f(event, g, h, group, handler)
				}
			}
		}
	}
}

// command is a handler's command, under whichever of the agent's keys it is.
func (t *Target) command(handler *tree.Node) string {
	for _, key := range append([]string{t.Handler.Command}, t.Handler.Also...) {
		if v := handler.Get(key); v != nil && text(v) != "" {
			return text(v)
		}
	}
	return ""
}

func (t *Target) readJSON(content []byte) ([]Found, map[string]any, error) {
	bom, d, err := t.open(content)
	if err != nil {
		return nil, nil, err
	}
	var out []Found
	t.each(d, func(event string, _, _ int, of, handler *tree.Node) {
		f := Found{Event: event, Command: t.command(handler)}
		f.Own = t.Own(f.Command)
		f.Matcher, f.Odd = t.matcherIn(of.Get("matcher"))
		if v := handler.Get(t.Handler.Timeout); v != nil {
			if n, ok := plain(v).(float64); ok {
				f.Timeout = t.duration(n)
			}
		}
		f.Line, _ = position(content, handler.Span.Start+len(bom))
		out = append(out, f)
	})
	settings, _ := plain(d.root).(map[string]any)
	return out, settings, nil
}

// matcherIn is a matcher's text; odd when it has another form.
func (t *Target) matcherIn(v *tree.Node) (string, bool) {
	if v == nil {
		return "", false
	}
	value := plain(v)
	if t.Key != "" {
		m, ok := value.(map[string]any)
		s, isText := m[t.Key].(string)
		return s, !ok || len(m) > 1 || len(m) == 1 && !isText
	}
	s, ok := value.(string)
	return s, !ok && value != nil
}

// value is an entry as it is written: a handler, or a group that holds one.
func (t *Target) value(e Entry) []field {
	h := t.Handler
	var out []field
	add := func(key string, v any) {
		if key != "" {
			out = append(out, field{key, v})
		}
	}
	matcher := any(e.Matcher)
	if t.Key != "" {
		matcher = []field{{t.Key, e.Matcher}}
	}
	if t.Layout == agent.Flat && e.Matcher != "" {
		add("matcher", matcher)
	}
	if h.Type != "" {
		add("type", h.Type)
	}
	if h.Name != "" {
		add(h.Name, agent.HookName)
	}
	add(h.Command, e.Command)
	add(h.Timeout, t.count(e.Timeout))
	if h.Closed != "" && e.Guard {
		add(h.Closed, h.ClosedValue)
	}
	if t.Layout == agent.Flat {
		return out
	}
	group := []field{{"hooks", []any{out}}}
	if e.Matcher != "" {
		group = append([]field{{"matcher", matcher}}, group...)
	}
	return group
}

// asRead is a written value as reading it back gives it.
func asRead(v any) any {
	switch x := v.(type) {
	case []field:
		out := map[string]any{}
		for _, f := range x {
			out[f.key] = asRead(f.value)
		}
		return out
	case []any:
		out := make([]any, len(x))
		for i := range x {
			out[i] = asRead(x[i])
		}
		return out
	case int64:
		return float64(x)
	}
	return v
}

func (t *Target) owned(d *document) []own {
	var out []own
	t.each(d, func(event string, group, item int, of, handler *tree.Node) {
		if !t.Own(t.command(handler)) {
			return
		}
		alone := item < 0 || len(of.Get("hooks").Items) == 1
		out = append(out, own{event, group, item, alone, plain(of)})
	})
	return out
}
