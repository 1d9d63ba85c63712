package main

import (
	"context"
	"maps"
	"strings"

	"github.com/hookc/hookc"
	"github.com/hookc/hookc/compiler"
	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/executor"
	"github.com/hookc/hookc/internal/decide"
	"github.com/hookc/hookc/internal/host"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy"
)

// replayEngine decides the events of one lifecycle point, with the answers of
// some records in the place of hooks.
type replayEngine struct {
	eng *hookc.Engine
	// silent are the hooks that are not run and have no answer, by name.
	silent []string
}

// engine is the engine for a record. A policy that -f names is one for all
// projects.
func (r *replayer) engine(rec *recording) (*replayEngine, error) {
	answers, err := policy.EncodeJSON(answersValue(rec.answers))
	if err != nil {
		return nil, cannot("%v", err)
	}
	project := rec.in.Text(policy.FieldProjectRoot)
	from := r.sources
	if len(from.Files) == 0 && len(rec.policies) > 0 {
		from.Files = rec.policies
	}
	key := strings.Join(append([]string{string(rec.event), string(answers), strings.Join(rec.heard, "\x01")}, from.Files...), "\x00")
	if len(from.Files) == 0 {
		key += "\x00" + project
	}
	r.mu.RLock()
	e := r.engines[key]
	r.mu.RUnlock()
	if e != nil {
		return e, nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if e := r.engines[key]; e != nil {
		return e, nil
	}
	if e, err = r.openEngine(rec, &from, project); err != nil {
		return nil, err
	}
	r.engines[key] = e
	if len(rec.answers)+len(rec.policies) == 0 {
		usual := string(rec.event) + "\x00"
		for _, name := range rec.heard {
			usual += name + "\x01"
		}
		if len(r.sources.Files) == 0 {
			usual += "\x00" + project
		}
		r.usual[usual] = e
	}
	return e, nil
}

// openEngine compiles the chain of a record's event twice: to see which hooks it
// has, and with what takes the place of those that are not run.
func (r *replayer) openEngine(rec *recording, from *sources, project string) (*replayEngine, error) {
	options, done, err := from.Options(r.cmd, nil, project)
	if err != nil {
		return nil, err
	}
	r.done = append(r.done, done)
	options = append(options, hookc.SkipVerify(), host.Compiler[hookc.Option](func(c *compiler.Config) { c.Event = rec.event }),
		host.Execution[hookc.Option](func(o *executor.Options) {
			host.Replay(o)
			o.Gates, o.Async = executor.FirstBlock{}, func(context.Context, *dag.Node, *policy.Context) error { return nil }
		}))
	eng, err := decide.Open(r.ctx, options)
	if err != nil {
		return nil, err
	}
	program := eng.Program()
	if err := eng.Close(); err != nil {
		return nil, cannot("%v", err)
	}
	for _, s := range program.Sources {
		if s.Untrusted != "" {
			return nil, cannot("the hooks of %s would not run: %s\nor name what to replay: hookc replay -f %s", s.Name, s.Untrusted, s.Name)
		}
	}
	e := &replayEngine{}
	answers := map[string]map[string]any{}
	maps.Copy(answers, rec.answers)
	if plan := program.Plan(rec.event); plan != nil {
		for i := range plan.Nodes {
			h := plan.Nodes[i].Hook
			if _, answered := answers[h.Name]; !answered && !h.Async && !r.runs(h) && !lists.Has(rec.heard, h.Name) {
				e.silent = append(e.silent, h.Name)
				answers[h.Name] = map[string]any{}
			}
		}
	}
	if e.eng, err = decide.Open(r.ctx, append(lists.Copy(options), hookc.Answers(answers))); err != nil {
		return nil, err
	}
	r.done = append(r.done, func() { _ = e.eng.Close() }) // ErrClosed, at most
	return e, nil
}

// runs reports whether a hook that has no answer is run.
func (r *replayer) runs(h *policy.Hook) bool {
	if h.Kind == policy.KindLLM {
		return r.llm
	}
	return r.scripts || h.Kind.InProcess()
}

// concerned lists the hooks that were not run although the event reached them.
func (e *replayEngine) concerned(d *policy.Decision) []string {
	var out []string
	for _, t := range d.Hooks {
		reached := t.Status == policy.StatusRan || t.Status == policy.StatusFailed || t.Status == policy.StatusSquashed
		if reached && lists.Has(e.silent, t.Name) && !lists.Has(out, t.Name) {
			out = append(out, t.Name)
		}
	}
	lists.Sort(out)
	return out
}
