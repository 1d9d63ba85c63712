package install

import (
	"bytes"
	"reflect"
	"slices"

	"github.com/hookc/hookc/internal/fault"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy/source/tree"
)

// jsonEdit is an edit under way, one change after another.
type jsonEdit struct {
	t       *Target
	d       *document
	memo    *Memo
	changes []Change
}

func (t *Target) editJSON(content []byte, want []Entry, memo *Memo) ([]byte, []Change, error) {
	if blank(content) {
		if len(want) == 0 {
			return content, nil, nil
		}
		memo.Version = t.Handler.Version
		return t.fresh(content, want)
	}
	bom, d, err := t.open(content)
	if err != nil {
		return nil, nil, err
	}
	for _, e := range want {
		if list := eventList(d, e.Event); list != nil && list.Shape != tree.List {
			return nil, nil, t.problem(d.text, list.Span.Start, "hooks.%s is not a list", e.Event)
		}
	}
	w := &jsonEdit{t: t, d: d, memo: memo}
	for _, event := range w.events(want) {
		if err := w.event(event, want); err != nil {
			return nil, nil, err
		}
	}
	if err := w.version(len(want) > 0); err != nil {
		return nil, nil, err
	}
	return append(bytes.Clone(bom), w.d.text...), w.changes, nil
}

// version adds the version a file must have, and takes away one that hookc
// added when hookc goes.
func (w *jsonEdit) version(wanted bool) error {
	i := indexOf(w.d.root, "version")
	switch {
	case wanted && w.t.Handler.Version && i < 0:
		w.memo.Version = true
		return w.put(w.d.append(w.d.root, "version", 1))
	case !wanted && w.memo.Version && i >= 0:
		return w.become(w.d.without(w.d.cut(w.d.root, i)))
	}
	return nil
}

// fresh is a file that holds nothing but hookc.
func (t *Target) fresh(content []byte, want []Entry) ([]byte, []Change, error) {
	var root, events []field
	var changes []Change
	for _, e := range want {
		events = append(events, field{e.Event, []any{t.value(e)}})
		changes = append(changes, Change{e.Event, "added"})
	}
	if t.Handler.Version {
		root = append(root, field{"version", 1})
	}
	root = append(root, field{"hooks", events})
	w := writer{unit: "  ", nl: lineEnd(content)}
	bom := content[:len(content)-len(bytes.TrimPrefix(content, mark))]
	return append(bytes.Clone(bom), (w.value(root) + w.nl)...), changes, nil
}

// events are the events with an entry of hookc now or later, those wanted
// first.
func (w *jsonEdit) events(want []Entry) []string {
	var out []string
	for _, e := range want {
		out = append(out, e.Event)
	}
	for _, o := range w.t.owned(w.d) {
		if !lists.Has(out, o.event) {
			out = append(out, o.event)
		}
	}
	return out
}

// event brings one event to what is wanted: an entry that is right stays where
// it is, one that hookc has to itself is rewritten there, all others go.
func (w *jsonEdit) event(event string, want []Entry) error {
	i := lists.At(want, func(e *Entry) bool { return e.Event == event })
	var value []field
	if i >= 0 {
		value = w.t.value(want[i])
	}
	mine := lists.Without(w.t.owned(w.d), func(o *own) bool { return o.event != event })
	keep := -1
	if i >= 0 {
		right := func(o own) bool { return o.alone && reflect.DeepEqual(o.value, asRead(value)) }
		if keep = slices.IndexFunc(mine, right); keep < 0 {
			keep = slices.IndexFunc(mine, func(o own) bool { return o.alone })
		}
	}
	for k := len(mine) - 1; k >= 0; k-- {
		if k == keep {
			continue
		}
		if err := w.remove(mine[k], i < 0); err != nil {
			return err
		}
		if keep > k && mine[keep].group > mine[k].group && mine[k].alone {
			mine[keep].group--
		}
	}
	switch {
	case i < 0:
		w.note(event, "removed")
		return nil
	case keep < 0:
		w.note(event, map[bool]string{true: "added", false: "updated"}[len(mine) == 0])
		return w.add(event, value)
	case reflect.DeepEqual(mine[keep].value, asRead(value)) && len(mine) == 1:
		w.note(event, "kept")
		return nil
	}
	w.note(event, "updated")
	return w.replace(mine[keep], value)
}

//go:noinline
func (w *jsonEdit) note(event, what string) { w.changes = append(w.changes, Change{event, what}) }

func (w *jsonEdit) put(list []insertion) error { return w.become(w.d.with(list)) }

func (w *jsonEdit) become(text []byte) error {
	d, err := parse(w.t.Name, text)
	if err != nil {
		return fault.Errorf("install: the edit went wrong, nothing is written: %w", err)
	}
	w.d = d
	return nil
}

func eventList(d *document, event string) *tree.Node {
	if hooks := d.root.Get("hooks"); hooks != nil {
		return hooks.Get(event)
	}
	return nil
}

// add appends an entry, with the containers it needs.
func (w *jsonEdit) add(event string, value []field) error {
	hooks := w.d.root.Get("hooks")
	if hooks == nil {
		return w.put(w.d.append(w.d.root, "hooks", []field{{event, []any{value}}}))
	}
	list := hooks.Get(event)
	if list == nil {
		w.keep("hooks", hooks)
		return w.put(w.d.append(hooks, event, []any{value}))
	}
	w.keep("hooks."+event, list)
	return w.put(w.d.append(list, "", value))
}

// keep remembers a container that was empty before hookc used it.
func (w *jsonEdit) keep(path string, v *tree.Node) {
	if len(items(v)) == 0 && !lists.Has(w.memo.Kept, path) {
		w.memo.Kept = append(w.memo.Kept, path)
	}
}

// replace writes an entry over the one that stands there.
func (w *jsonEdit) replace(o own, value []field) error {
	list := eventList(w.d, o.event)
	old := list.Items[o.group]
	p := writer{unit: w.d.unit(), nl: lineEnd(w.d.text), indent: w.d.indentAt(old.Span.Start), compact: !w.d.first(old.Span.Start)}
	text := append(bytes.Clone(w.d.text[:old.Span.Start]), p.value(value)...)
	return w.become(append(text, w.d.text[old.Span.End:]...))
}

// remove takes one handler out; with prune also what is empty then and was
// not before hookc came.
func (w *jsonEdit) remove(o own, prune bool) error {
	list := eventList(w.d, o.event)
	if !o.alone {
		return w.become(w.d.without(w.d.cut(list.Items[o.group].Get("hooks"), o.item)))
	}
	if err := w.become(w.d.without(w.d.cut(list, o.group))); err != nil || !prune {
		return err
	}
	if done, err := w.prune("hooks."+o.event, eventList(w.d, o.event), w.d.root.Get("hooks"), o.event); !done || err != nil {
		return err
	}
	_, err := w.prune("hooks", w.d.root.Get("hooks"), w.d.root, "hooks")
	return err
}

// prune takes a container that is empty out of its parent, unless it was
// there before or holds a comment. One that stays is closed up again.
func (w *jsonEdit) prune(path string, v, parent *tree.Node, key string) (bool, error) {
	inside := bytes.TrimSpace(w.d.text[v.Span.Start+1 : v.Span.End-1])
	switch {
	case len(items(v)) > 0, len(inside) > 0:
		return false, nil
	case lists.Has(w.memo.Kept, path):
		return false, w.become(w.d.without([]span{{v.Span.Start + 1, v.Span.End - 1}}))
	}
	return true, w.become(w.d.without(w.d.cut(parent, indexOf(parent, key))))
}

func indexOf(v *tree.Node, key string) int {
	return lists.At(v.Entries, func(e *tree.Entry) bool { return e.Key.Text.Value == key })
}
