package casetest

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"strconv"
	"strings"

	"github.com/hookc/hookc"
	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/internal/witness"
	"github.com/hookc/hookc/policy"
)

// Witnesses are the rules of the policy, each with an event on which it fires, or why
// there is none.
func Witnesses(ctx context.Context, c Config) ([]witness.Rule, error) {
	t := &tester{Config: c, benches: map[string]*bench{}}
	defer t.close()
	b, err := t.open(ctx, "", c.Options, nil)
	if err != nil {
		return nil, err
	}
	rules := witness.Find(ctx, b.engine.Program(), b.engine.Program().Tools)
	return rules, ctx.Err()
}

// Suggest writes cases for a person to review and keep: for each rule of the policy an
// event on which it fires, and one that is nearly the same on which its hook says
// something else. n is how many there are.
func Suggest(ctx context.Context, c Config, w io.Writer) (n int, err error) {
	t := &tester{Config: c, benches: map[string]*bench{}}
	defer t.close()
	b, err := t.open(ctx, "", c.Options, nil)
	if err != nil {
		return 0, err
	}
	s := suggester{ctx: ctx, engine: b.engine, w: w}
	program := b.engine.Program()
	for _, r := range witness.Find(ctx, program, program.Tools) {
		if r.Witness == nil || ctx.Err() != nil {
			continue
		}
		d, ok := s.decide(r.Witness)
		if !ok {
			continue
		}
		s.write(r.Hook+" fires: "+oneLine(r.Rule)+", at "+r.Place, r.Hook, r.Witness, d)
		if near, d, ok := s.near(r.Hook, r.Witness, d); ok {
			s.write(r.Hook+" does not, nearly: "+oneLine(r.Rule)+", at "+r.Place, r.Hook, near, d)
		}
	}
	return s.n, ctx.Err()
}

type suggester struct {
	ctx    context.Context
	engine *hookc.Engine
	w      io.Writer
	n      int
}

// decide is what rules alone decide of an event; false is one that cannot be decided.
func (s *suggester) decide(event map[string]any) (*policy.Decision, bool) {
	in, name, err := policy.ContextFromMap(event)
	if err != nil {
		return nil, false
	}
	known, ok := policy.ParseEvent(name)
	if !ok {
		return nil, false
	}
	eng, err := s.engine.Variant(nil)
	if err != nil {
		return nil, false
	}
	defer eng.Close()
	silent := func(*policy.Hook) (policy.Result, error, bool) { return policy.Result{}, nil, true }
	d, err := eng.FireSerial(dag.WithTrial(s.ctx, &dag.Trial{Say: silent}), known, in)
	return d, err == nil
}

// shows is what a hook did, as far as a case says it.
//
//go:noinline
func shows(d *policy.Decision, hook string) map[string]any {
	all := did(d, hook)
	return map[string]any{"status": all["status"], "verdict": all["verdict"]}
}

// near is the first small change of an event on which a hook does something else.
func (s *suggester) near(hook string, event map[string]any, was *policy.Decision) (map[string]any, *policy.Decision, bool) {
	var out map[string]any
	var decided *policy.Decision
	found := changes(event, func(changed map[string]any) bool {
		d, ok := s.decide(changed)
		if !ok || len(Unlike("", shows(was, hook), shows(d, hook))) == 0 && len(Whole("", delivered(was), delivered(d))) == 0 {
			return false
		}
		out, decided = changed, d
		return true
	})
	return out, decided, found
}

// changes calls try with each small change of an event until it is satisfied: what a
// tool is given first, its name last.
func changes(event map[string]any, try func(map[string]any) bool) bool {
	late := []string{"tool_name", "cwd", "project_root"}
	for _, last := range []bool{false, true} {
		for _, key := range lists.Keys(event) {
			if key == "event" || lists.Has(late, key) != last {
				continue
			}
			for _, v := range nearly(event[key]) {
				changed := maps.Clone(event)
				if changed[key] = v; v == nil {
					delete(changed, key)
				}
				if try(changed) {
					return true
				}
			}
		}
	}
	return false
}

// nearly are values near one: a letter less or more, another number, one member
// changed, none.
func nearly(v any) []any {
	var out []any
	switch v := v.(type) {
	case string:
		if runes := []rune(v); len(runes) > 1 {
			out = append(out, string(runes[:len(runes)-1]), string(runes[1:]))
		}
		out = append(out, v+"x", "x"+v, "x")
	case bool:
		out = append(out, !v)
	case int:
		out = append(out, v-1, v+1)
	case json.Number:
		if n, err := strconv.Atoi(v.String()); err == nil {
			out = append(out, n-1, n+1)
		}
	case map[string]any:
		for _, key := range lists.Keys(v) {
			for _, inner := range nearly(v[key]) {
				changed := maps.Clone(v)
				if changed[key] = inner; inner == nil {
					delete(changed, key)
				}
				out = append(out, changed)
			}
		}
	}
	return append(out, nil)
}

// write writes a case. JSON is YAML.
func (s *suggester) write(name, hook string, event map[string]any, d *policy.Decision) {
	if s.n == 0 {
		fmt.Fprintln(s.w, "# Suggested by hookc test --suggest: read each, keep what is meant, mend the policy where it is not.\ncases:")
	}
	s.n++
	expect := map[string]any{"action": string(d.Action), "hooks": map[string]any{hook: shows(d, hook)}}
	if d.By != "" {
		expect["by"] = d.By
	}
	answers := map[string]any{}
	if plan := s.engine.Program().Plan(d.Event); plan != nil {
		for i := range plan.Nodes {
			if h := plan.Nodes[i].Hook; !h.Kind.InProcess() {
				answers[h.Name] = map[string]any{}
			}
		}
	}
	line := func(key string, v any) string {
		text, err := policy.EncodeJSON(v)
		if err != nil {
			panic("casetest: an event has no JSON: " + err.Error())
		}
		return key + ": " + strings.TrimSpace(string(text)) + "\n"
	}
	fmt.Fprint(s.w, "  - "+line("name", name)+"    "+line("event", event))
	if len(answers) > 0 {
		fmt.Fprint(s.w, "    "+line("answers", answers))
	}
	fmt.Fprint(s.w, "    "+line("expect", expect))
}
