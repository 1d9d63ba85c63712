package diff

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
	"github.com/hookc/hookc/policy/rollout"
)

// FieldChange is one key of a hook that is written differently; "" is a key
// that is not written.
type FieldChange struct {
	Key string `json:"key"`
	Old string `json:"old"`
	New string `json:"new"`
}

// written is a hook as keys and texts, in the order of the schema: everything
// that says what it does, and nothing of where it stands.
type written struct {
	keys  []string
	texts map[string]string
}

//go:noinline
func (w *written) add(key, text string) {
	if text == "" {
		return
	}
	w.keys = append(w.keys, key)
	w.texts[key] = text
}

//go:noinline
func (w *written) flag(key string, on bool) {
	if on {
		w.add(key, "true")
	}
}

// texts joins what is written; a list that is written empty is not one that is
// not written.
func joined(list []diag.Text) string {
	if list == nil {
		return ""
	}
	out := make([]string, len(list))
	for i, t := range list {
		out[i] = t.Value
	}
	return "[" + strings.Join(out, ", ") + "]"
}

// describe is what is written of a loaded hook.
func describe(e *dag.Entry) *written {
	h := e.Hook
	w := &written{texts: map[string]string{}}
	w.add("type", string(h.Kind))
	w.add("tier", h.Tier.String())
	if e.Status != dag.Live {
		w.add("status", string(e.Status))
	}
	if h.Group != nil {
		w.add("group", h.Group.Name+" "+h.Group.Fold.String())
	}
	if h.Priority != policy.DefaultPriority {
		w.add("priority", fmt.Sprint(h.Priority))
	}
	w.flag("locked", h.Locked)
	w.flag("async", h.Async)
	w.flag("recheck", h.Recheck)
	w.add("enforcement", string(h.Enforcement))
	w.add("rollout", rollout.Share(h.Spared))
	for _, c := range h.Filter.Conditions {
		text := c.Value.Value
		if c.Atom != nil {
			text = c.Atom.Field.String() + " " + strings.Join(c.Atom.Values, "|")
		}
		w.add("filter."+string(c.Key), text)
	}
	body(w, h)
	w.add("reads", joined(h.Declared.Reads))
	w.add("writes", joined(h.Declared.Writes))
	w.add("may", joined(h.Declared.May))
	w.add("world", h.Declared.World.String())
	if h.Declared.Speculative != nil {
		w.add("speculative", fmt.Sprint(*h.Declared.Speculative))
	}
	w.flag("pure", h.Declared.Pure)
	if h.Timeout != 0 {
		w.add("timeout", h.Timeout.String())
	}
	if h.Retry >= 0 {
		w.add("retry", fmt.Sprint(h.Retry))
	}
	if h.OnError != policy.PostureUnset {
		w.add("on_error", h.OnError.String())
	}
	if h.OnTimeout != policy.PostureUnset {
		w.add("on_timeout", h.OnTimeout.String())
	}
	if h.File != nil {
		inherited(w, h)
	}
	return w
}

// inherited adds what the policy file sets for the hook.
func inherited(w *written, h *policy.Hook) {
	if p := h.File.OnError[h.Kind]; h.OnError == policy.PostureUnset && p != policy.PostureUnset {
		w.add("defaults.on_error", p.String())
	}
	if h.Kind == policy.KindLLM && h.Body.Model == "" {
		w.add("defaults.model", h.File.Model)
	}
	if h.Kind == policy.KindRego {
		if h.File.Rego.Forbid != nil {
			w.add("rego.forbid", "["+strings.Join(h.File.Rego.Forbid, ", ")+"]")
		}
		w.add("rego.version", h.File.Rego.Version)
	}
}

// body adds what the hook does. Folders are left out: two copies of a policy lie
// in two.
func body(w *written, h *policy.Hook) {
	b := &h.Body
	w.add("command", b.Command.Value)
	if len(b.Args) > 0 {
		args := lists.Copy(b.Args)
		for i, a := range args {
			if rel, err := filepath.Rel(h.Dir, a); err == nil && filepath.IsAbs(a) && filepath.IsLocal(rel) {
				args[i] = rel
			}
		}
		w.add("args", fmt.Sprintf("%q", args))
	}
	if b.Protocol != "" && b.Protocol != policy.JCLIProtocol {
		w.add("protocol", string(b.Protocol))
	}
	for _, v := range b.Env {
		w.add("env."+v.Name, v.Value)
	}
	w.add("prompt", b.Prompt.Value)
	w.add("model", b.Model)
	w.add("source", b.Source.Value)
	w.add("when", b.When.Value)
	for i, r := range b.Rules {
		key := ""
		if len(b.Rules) > 1 {
			key = fmt.Sprintf("rules.%d.", i+1)
		}
		w.add(key+r.Says.String(), r.Condition.Value)
		w.add(key+"reason", r.Reason.Value)
	}
	for _, s := range b.Set {
		w.add("set."+s.Path.Value, s.Value.Value)
	}
	w.add("context", b.Context.Value)
	w.add("use", b.Use.Value)
	for _, o := range b.Options {
		text, err := policy.EncodeJSON(o.Value)
		if err != nil {
			panic("diff: an option of a builtin is no JSON: " + err.Error())
		}
		w.add(o.Key.Value, string(text))
	}
}

// against lists the keys in which v differs from w.
//
//go:noinline
func (w *written) against(v *written) []FieldChange {
	var out []FieldChange
	for _, key := range w.keys {
		if w.texts[key] != v.texts[key] {
			out = append(out, FieldChange{key, w.texts[key], v.texts[key]})
		}
	}
	for _, key := range v.keys {
		if _, had := w.texts[key]; !had {
			out = append(out, FieldChange{key, "", v.texts[key]})
		}
	}
	return out
}

// text is all that is written, to tell hooks apart by.
func (w *written) text() string {
	var b strings.Builder
	for _, key := range w.keys {
		fmt.Fprintf(&b, "%s\x00%s\x00", key, w.texts[key])
	}
	return b.String()
}
