package lsp

import (
	"fmt"
	"strings"

	"github.com/hookc/hookc/builtins"
	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/internal/spell"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
	"github.com/hookc/hookc/policy/source"
	"github.com/hookc/hookc/rego/outline"
)

// hover says what the word at a place means.
func (s *Server) hover(p *place) (any, error) {
	word, start := p.doc.word(p.offset)
	if word == "" {
		return nil, nil
	}
	text := s.meaning(p, word)
	if text == "" {
		return nil, nil
	}
	return obj("contents", obj("kind", "markdown", "value", text), "range", p.doc.span(start, start+len(word))), nil
}

func (s *Server) meaning(p *place, word string) string {
	c := contextAt(p.doc.text, p.offset)
	rego := strings.HasSuffix(p.doc.path, ".rego")
	_, v := s.viewOf(p.doc.path)
	switch {
	case rego || c.code:
		if text := explained(word); text != "" {
			return text
		}
		if at, _, u, v := s.markAt(p); at != nil && strings.HasPrefix(at.name, "data.") {
			return aboutRule(u, v, at.name)
		}
		return ""
	case c.key == "" || strings.TrimPrefix(word, c.key) == "":
		if k := source.FindKey(c.in, word); k != nil {
			return aboutKey(k)
		}
		if c.in == source.InHook {
			if k := source.FindKey(source.InGroup, word); k != nil {
				return aboutKey(k)
			}
		}
		if e, ok := policy.ParseEvent(word); ok && c.in == source.InFile {
			return aboutEvent(e)
		}
	case c.key == "name" && v.policy != nil:
		for _, h := range v.policy.Hooks {
			if h.Span.Source != nil && h.Span.Source.Content == p.doc.s && h.Span.Start <= p.offset && p.offset <= h.Span.End {
				return aboutHook(v, h)
			}
		}
	case c.key == "use":
		for _, r := range builtins.Rules() {
			if r.Name == word {
				return "**" + r.Name + "**: " + r.Doc
			}
		}
	}
	if d := diag.Lookup(word); d != nil {
		return "**" + d.ID + "**: " + d.Title + "\n\n" + d.Help
	}
	return explained(word)
}

// explained is a field or a function.
func explained(word string) string {
	name := strings.TrimPrefix(word, "input.")
	name, _, _ = spell.Cut(name, ".")
	if f, ok := policy.ParseField(name); ok && (strings.HasPrefix(word, "input.") || builtins.Lookup(word) == nil) {
		return aboutField(f)
	}
	if f := builtins.Lookup(word); f != nil {
		return "**" + callOf(f) + "** → " + f.Result.String() + "\n\n" + f.Doc + "\n\nExample: `" + f.Examples[0].Call + "`"
	}
	if call, doc := outline.Function(word); call != "" {
		return "**" + call + "** (OPA)\n\n" + doc
	}
	return ""
}

func callOf(f *builtins.Func) string {
	var params []string
	for _, a := range f.Params {
		params = append(params, a.Name+": "+a.Type.String())
	}
	return f.Name + "(" + strings.Join(params, ", ") + ")"
}

func aboutKey(k *source.Key) string {
	out := fmt.Sprintf("**%s** (%s): %s", k.Name, k.Type, k.Note)
	if len(k.Words) > 0 {
		out += "\n\nWords: " + strings.Join(k.Words, ", ")
	}
	if k.Default != "" {
		out += "\n\nDefault: " + k.Default
	}
	if len(k.Kinds) > 0 {
		out += fmt.Sprintf("\n\nOf hooks of type %v", k.Kinds)
	}
	return out + "\n\nWho can set it: " + settableBy(k)
}

// settableBy says whose files may set a key.
func settableBy(k *source.Key) string {
	switch {
	case k.Name == "chain_timeout" || k.Name == "max_concurrent" || k.Name == "max_models" || k.Place == source.InEvent && k.Name != "hooks":
		return "every tier; of several the most trusted (" + strings.Join(policy.TierNames()[1:], ", ") + ") decides"
	case k.Place == source.InDefaults:
		return "every tier, for the hooks of its own file; HOOKC_DEFAULTS_" + strings.ToUpper(k.Name) + " replaces it, but for managed files and locked hooks"
	case k.Name == "locked":
		return "every tier; of a project that is not trusted nothing runs"
	case k.Place == source.InHook || k.Place == source.InFilter || k.Place == source.InRule || k.Place == source.InGroup:
		return "the hook's own tier; a less trusted one replaces the hook by its name unless it is locked"
	}
	return "every tier, for its own file"
}

func aboutEvent(e policy.Event) string {
	spec := e.Spec()
	return fmt.Sprintf("**%s** (%s)\n\nObeys: %s\n\nMay change: %s\n\nOther names: %s", e, spec.Class, strings.Join(spec.Powers.Names(), ", "),
		fields(spec.Writes), strings.Join(spec.Aliases, ", "))
}

func fields(list []policy.Field) string {
	if len(list) == 0 {
		return "nothing"
	}
	return strings.Join(lists.Each(list, policy.Field.String), ", ")
}

func aboutField(f policy.Field) string {
	spec := f.Spec()
	out := fmt.Sprintf("**%s** (%s): %s", spec.Name, spec.Type, spec.Doc)
	if f.Derived() {
		out += "\n\nComputed from: " + fields(spec.From)
	}
	var reads, writes []string
	for _, e := range policy.Events() {
		if e.Spec().CanRead(f) {
			reads = append(reads, string(e))
		}
		if e.Spec().CanWrite(f) {
			writes = append(writes, string(e))
		}
	}
	if len(reads) == len(policy.Events()) {
		reads = []string{"every event"}
	}
	out += "\n\nCarried by: " + strings.Join(reads, ", ")
	if len(writes) > 0 {
		out += "\n\nWho can set it: hooks of every tier, at " + strings.Join(writes, ", ")
	} else {
		out += "\n\nWho can set it: the agent alone"
	}
	return out
}

// nodeOf is the node of a hook in the last plan.
func nodeOf(v view, h *policy.Hook) *dag.Node {
	if v.program == nil {
		return nil
	}
	plan := v.program.Plan(h.Event)
	if plan == nil {
		return nil
	}
	i := lists.At(plan.Nodes, func(n *dag.Node) bool { return n.Hook.Name == h.Name && n.Hook.Tier == h.Tier && n.RecheckOf < 0 })
	if i < 0 {
		return nil
	}
	return &plan.Nodes[i]
}

// aboutHook is what is known of a hook.
func aboutHook(v view, h *policy.Hook) string {
	var b strings.Builder
	fmt.Fprintf(&b, "**%s**: %s hook of the %s tier", h.Name, h.Kind, h.Tier)
	if h.Description != "" {
		b.WriteString("\n\n" + h.Description)
	}
	fmt.Fprintf(&b, "\n\nRuns on: %s", runsOn(v, h))
	if n := nodeOf(v, h); n != nil {
		fmt.Fprintf(&b, "\n\nReads: %s\n\nWrites: %s\n\nMay say: %s", n.Reads, n.Effects.Writes, strings.Join(n.Effects.May.Names(), ", "))
	} else if v.program != nil {
		for _, e := range v.program.Hooks {
			if e.Hook.Name == h.Name && e.Hook.Tier == h.Tier && e.Status != dag.Live {
				fmt.Fprintf(&b, "\n\nDoes not run: %s %s", e.Status, e.Reason)
			}
		}
	}
	if h.Locked {
		b.WriteString("\n\nWho can replace it: nobody, it is locked")
	} else if less := policy.TierNames()[h.Tier+1:]; len(less) > 0 {
		b.WriteString("\n\nWho can replace it: a hook of its name in " + strings.Join(less, ", "))
	}
	if f := fires(v, h); f != "" {
		b.WriteString("\n\n" + f)
	}
	if w := witnessOf(v, h.Name, h.Event); w != "" {
		b.WriteString("\n\nAn event that makes it fire: `" + w + "`")
	}
	return b.String()
}

// aboutRule is what is known of a rule: the hooks whose Rego has it.
func aboutRule(u *unit, v view, name string) string {
	out := "**" + name + "**"
	for _, h := range v.policy.Hooks {
		if h.Kind != policy.KindRego {
			continue
		}
		if m := outline.Of(h.Body.Source, h.File != nil && h.File.Rego.Version == "v0"); m != nil && strings.HasPrefix(name, m.Package+".") {
			out += "\n\n" + aboutHook(v, h)
			for _, r := range v.rules {
				if r.Hook == h.Name && m.Package+"."+r.Rule == name {
					out += "\n\n" + r.Rule + " " + string(r.Status)
				}
			}
		}
	}
	return out
}
