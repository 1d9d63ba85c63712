package witness

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/hookc/hookc/compiler/solve"
	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/internal/wire"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
	"github.com/hookc/hookc/policy/state"
)

// kept is what was found of a program, as the state folder of a project has it.
type kept struct {
	// Key is a hash of all that an answer follows from.
	Key   string     `json:"key"`
	Rules []keptRule `json:"rules"`
}

type keptRule struct {
	Rule
	Own     string        `json:"own,omitempty"`
	At      keptSpan      `json:"where"`
	Span    keptSpan      `json:"fault"`
	Missing []keptMissing `json:"lacks,omitempty"`
}

// keptSpan is a place: the name of its text, and where in it.
type keptSpan struct {
	In         string
	Start, End int
}

type keptMissing struct {
	Ref, Meant string
	At         keptSpan
}

// FindKept is Find, which is kept for the next time in the state folder of a
// project's root. What is there counts for the same program, the same texts and the
// same build of hookc alone, and not at all if anything of it is not as it was
// written. Of another program, as after an edit, each event that follows from nothing
// that has changed is not looked for again: the serial interpreter judges it.
func FindKept(ctx context.Context, prog *dag.Program, tools policy.Catalogue, root string) []Rule {
	build, err := wire.OwnBuild()
	folder, wrong := state.Open(root)
	if err != nil || wrong != nil {
		return Find(ctx, prog, tools)
	}
	texts := textsOf(prog)
	key, slot := keyOf(build, prog, tools, texts)
	f := &finder{ctx: ctx, prog: prog, tools: tools, build: build}
	if content, err := folder.Read(slot); err == nil {
		if rules, ok := restored(content, key, texts); ok {
			return rules
		}
		f.known = known(content)
	}
	rules := f.find()
	if content := stored(rules, key, texts); content != nil && ctx.Err() == nil {
		// What cannot be written is found again the next time.
		_ = folder.UpdateLazy(slot, func([]byte) ([]byte, error) { return content, nil })
	}
	return rules
}

// textsOf are the texts that rules are written in, by name.
func textsOf(prog *dag.Program) map[string]*diag.Source {
	out := map[string]*diag.Source{}
	for _, plan := range prog.Plans {
		for i := range plan.Nodes {
			h := plan.Nodes[i].Hook
			for _, at := range []diag.Span{h.Span, h.Filter.Span, h.Body.Source.Span} {
				if at.Source != nil {
					out[at.Source.Name] = at.Source
				}
			}
		}
	}
	return out
}

// keyOf is the key of a program, and the name of the file that it is kept in: one of
// sixteen, the same for the same files.
func keyOf(build string, prog *dag.Program, tools policy.Catalogue, texts map[string]*diag.Source) (key, slot string) {
	all, files := sha256.New(), sha256.New()
	fmt.Fprintf(all, "%q %q %q %q\n", build, prog.Hash, tools.Known, tools.Open)
	for _, name := range lists.Keys(texts) {
		fmt.Fprintf(files, "%q\n", name)
		fmt.Fprintf(all, "%q %q\n", name, texts[name].Content)
	}
	for _, plan := range prog.Plans {
		for i := range plan.Nodes {
			n := &plan.Nodes[i]
			fmt.Fprintf(all, "%s %q %d\n", plan.Event, n.Hook.Name, n.RecheckOf)
		}
	}
	return hex.EncodeToString(all.Sum(nil)), "witnesses-" + hex.EncodeToString(files.Sum(nil))[:1]
}

// stored is what is kept of rules; nil where one is in a text that is not known.
func stored(rules []Rule, key string, texts map[string]*diag.Source) []byte {
	known := true
	span := func(at diag.Span) keptSpan {
		if at.Source == nil {
			return keptSpan{}
		}
		known = known && texts[at.Source.Name] == at.Source
		return keptSpan{at.Source.Name, at.Start, at.End}
	}
	out := kept{Key: key}
	for _, r := range rules {
		k := keptRule{Rule: r, Own: r.own, At: span(r.At), Span: span(r.Span)}
		for _, m := range r.Missing {
			k.Missing = append(k.Missing, keptMissing{m.Ref, m.Meant, span(m.At)})
		}
		out.Rules = append(out.Rules, k)
	}
	content, err := json.Marshal(out)
	if err != nil || !known {
		return nil
	}
	return content
}

// restored are the rules that were kept under a key; false where they are not what
// stored writes.
func restored(content []byte, key string, texts map[string]*diag.Source) ([]Rule, bool) {
	var in kept
	d := json.NewDecoder(bytes.NewReader(content))
	d.UseNumber()
	if err := d.Decode(&in); err != nil || in.Key != key {
		return nil, false
	}
	known := true
	span := func(at keptSpan) diag.Span {
		text := texts[at.In]
		if at == (keptSpan{}) {
			return diag.Span{}
		}
		if text == nil || at.Start < 0 || at.Start > at.End || at.End > len(text.Content) {
			known = false
			return diag.Span{}
		}
		return diag.Span{Source: text, Start: at.Start, End: at.End}
	}
	out := make([]Rule, len(in.Rules))
	for i, k := range in.Rules {
		out[i] = k.Rule
		out[i].own = k.Own
		out[i].At, out[i].Span = span(k.At), span(k.Span)
		for _, m := range k.Missing {
			out[i].Missing = append(out[i].Missing, solve.Missing{Ref: m.Ref, Meant: m.Meant, At: span(m.At)})
		}
		known = known && lists.Among([]Status{Fires, Never, Unusual, Unknown}, k.Status)
	}
	return out, known
}
