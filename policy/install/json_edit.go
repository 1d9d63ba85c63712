package install

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"

	"github.com/tailscale/hujson"
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
		if list := eventList(d, e.Event); list != nil && !isList(list) {
			return nil, nil, t.problem(d.text, list.StartOffset, "hooks.%s is not a list", e.Event)
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
	i := slices.IndexFunc(w.d.root.Value.(*hujson.Object).Members, func(m hujson.ObjectMember) bool { return name(&m) == "version" })
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
		if !slices.Contains(out, o.event) {
			out = append(out, o.event)
		}
	}
	return out
}

// event brings one event to what is wanted: an entry that is right stays where
// it is, one that hookc has to itself is rewritten there, all others go.
func (w *jsonEdit) event(event string, want []Entry) error {
	i := slices.IndexFunc(want, func(e Entry) bool { return e.Event == event })
	var value []field
	if i >= 0 {
		value = w.t.value(want[i])
	}
	mine := slices.DeleteFunc(w.t.owned(w.d), func(o own) bool { return o.event != event })
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

func (w *jsonEdit) note(event, what string) { w.changes = append(w.changes, Change{event, what}) }

func (w *jsonEdit) put(list []insertion) error { return w.become(w.d.with(list)) }

func (w *jsonEdit) become(text []byte) error {
	d, err := parse(text)
	if err != nil {
		return fmt.Errorf("install: the edit of %s went wrong, nothing is written: %w", w.t.Name, err)
	}
	w.d = d
	return nil
}

func eventList(d *document, event string) *hujson.Value {
	if hooks := member(d.root, "hooks"); hooks != nil {
		return member(hooks, event)
	}
	return nil
}

func isList(v *hujson.Value) bool { _, ok := v.Value.(*hujson.Array); return ok }

// add appends an entry, with the containers it needs.
func (w *jsonEdit) add(event string, value []field) error {
	hooks := member(w.d.root, "hooks")
	if hooks == nil {
		return w.put(w.d.append(w.d.root, "hooks", []field{{event, []any{value}}}))
	}
	list := member(hooks, event)
	if list == nil {
		w.keep("hooks", hooks)
		return w.put(w.d.append(hooks, event, []any{value}))
	}
	w.keep("hooks."+event, list)
	return w.put(w.d.append(list, "", value))
}

// keep remembers a container that was empty before hookc used it.
func (w *jsonEdit) keep(path string, v *hujson.Value) {
	if len(items(v)) == 0 && !slices.Contains(w.memo.Kept, path) {
		w.memo.Kept = append(w.memo.Kept, path)
	}
}

// replace writes an entry over the one that stands there.
func (w *jsonEdit) replace(o own, value []field) error {
	list := eventList(w.d, o.event)
	old := elements(list)[o.group]
	p := writer{unit: w.d.unit(), nl: lineEnd(w.d.text), indent: w.d.indentAt(old.StartOffset), compact: !w.d.first(old.StartOffset)}
	text := append(bytes.Clone(w.d.text[:old.StartOffset]), p.value(value)...)
	return w.become(append(text, w.d.text[old.EndOffset:]...))
}

// remove takes one handler out; with prune also what is empty then and was
// not before hookc came.
func (w *jsonEdit) remove(o own, prune bool) error {
	list := eventList(w.d, o.event)
	if !o.alone {
		return w.become(w.d.without(w.d.cut(member(&elements(list)[o.group], "hooks"), o.item)))
	}
	if err := w.become(w.d.without(w.d.cut(list, o.group))); err != nil || !prune {
		return err
	}
	if done, err := w.prune("hooks."+o.event, eventList(w.d, o.event), member(w.d.root, "hooks"), o.event); !done || err != nil {
		return err
	}
	_, err := w.prune("hooks", member(w.d.root, "hooks"), w.d.root, "hooks")
	return err
}

// prune takes a container that is empty out of its parent, unless it was
// there before or holds a comment. One that stays is closed up again.
func (w *jsonEdit) prune(path string, v, parent *hujson.Value, key string) (bool, error) {
	inside := bytes.TrimSpace(w.d.text[v.StartOffset+1 : v.EndOffset-1])
	switch {
	case len(items(v)) > 0, len(inside) > 0:
		return false, nil
	case slices.Contains(w.memo.Kept, path):
		return false, w.become(w.d.without([]span{{v.StartOffset + 1, v.EndOffset - 1}}))
	}
	o := parent.Value.(*hujson.Object)
	i := slices.IndexFunc(o.Members, func(m hujson.ObjectMember) bool { return name(&m) == key })
	return true, w.become(w.d.without(w.d.cut(parent, i)))
}
