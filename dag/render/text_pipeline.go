package render

import (
	"strings"

	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy"
)

// outermost lists the pipelines with a hook that are not part of another.
func (m *Model) outermost() []*PipelineModel {
	nested := map[string]bool{}
	for i := range m.Pipelines {
		for j := range m.Pipelines[i].Steps {
			m.Pipelines[i].Steps[j].walk(func(s *StepModel) {
				if s.Pipeline != nil {
					nested[s.Pipeline.Name] = true
				}
			})
		}
	}
	var out []*PipelineModel
	for i := range m.Pipelines {
		if p := &m.Pipelines[i]; !nested[p.Name] && p.lives() {
			out = append(out, p)
		}
	}
	return out
}

func (t *textPage) pipelines(m *Model) {
	for _, p := range m.outermost() {
		t.line("")
		lead := "PIPELINE " + plain(p.Name)
		if p.Each {
			lead += " (each call)"
		}
		t.title(0, lead)
		t.steps(p, 3)
		for i := range p.Breaks {
			t.pipeBreak(p, &p.Breaks[i])
		}
	}
}

// steps writes a line for each step; what belongs to a step is indented.
func (t *textPage) steps(p *PipelineModel, indent int) {
	for i := range p.Steps {
		t.step(&p.Steps[i], "", indent)
	}
}

func (t *textPage) step(s *StepModel, when string, indent int) {
	switch {
	case s == nil:
		return
	case s.Pipeline != nil:
		if s.Needed != "" {
			when += "if " + s.Needed + " is needed:"
		}
		if when != "" {
			t.prose(indent, "", "", when)
			indent += 3
		}
		t.steps(s.Pipeline, indent)
		return
	case s.Event != "":
		hooks := "–"
		if len(s.Hooks) > 0 {
			hooks = some(plainAll(s.Hooks), ", ", maxNames)
		}
		t.prose(indent, when+plain(string(s.Event)), "", hooks)
	case s.Action != "":
		t.prose(indent, "", "", when+s.Action)
	}
	t.step(s.OK, "ok: ", indent+3)
	t.step(s.Err, "err: ", indent+3)
}

func (t *textPage) pipeBreak(p *PipelineModel, b *PipeBreakModel) {
	who := some(plainAll(b.Hooks), ", ", maxNames)
	to := "end of " + string(b.To)
	if b.Exported {
		to = "out to the host: " + string(b.To)
	}
	if skips := p.skipped(b.Skips); len(skips) > 0 {
		to += " (skips " + some(skips, ", ", maxNames) + ")"
	}
	t.para(3, "", "", strings.Fields(who+" ─"+strings.Join(b.On, "/")+"─► "+to), " ")
}

// walk visits a step and all within it.
func (s *StepModel) walk(visit func(*StepModel)) {
	if s == nil {
		return
	}
	visit(s)
	if s.Pipeline != nil {
		for i := range s.Pipeline.Steps {
			s.Pipeline.Steps[i].walk(visit)
		}
	}
	s.OK.walk(visit)
	s.Err.walk(visit)
}

// lives reports whether some event of the pipeline has a hook.
func (p *PipelineModel) lives() bool {
	found := false
	for i := range p.Steps {
		p.Steps[i].walk(func(s *StepModel) { found = found || len(s.Hooks) > 0 })
	}
	return found
}

// skipped reduces what a break skips to the actions among it, if any.
func (p *PipelineModel) skipped(names []string) []string {
	var actions []string
	for i := range p.Steps {
		p.Steps[i].walk(func(s *StepModel) {
			if s.Action != "" && lists.Has(names, s.Action) && !lists.Has(actions, s.Action) {
				actions = append(actions, s.Action)
			}
		})
	}
	if len(actions) > 0 {
		return plainAll(actions)
	}
	return plainAll(names)
}

func (p *PipelineModel) text() string {
	parts := make([]string, len(p.Steps))
	for i := range p.Steps {
		parts[i] = p.Steps[i].text()
	}
	return strings.Join(parts, " → ")
}

func (s *StepModel) text() string {
	switch {
	case s.Pipeline != nil:
		inner := s.Pipeline.text()
		if s.Needed != "" {
			return "(if " + plain(s.Needed) + " is needed: " + inner + ")"
		}
		return "(" + inner + ")"
	case s.Event != policy.Event(""):
		hooks := "–"
		if len(s.Hooks) > 0 {
			hooks = some(plainAll(s.Hooks), ", ", 3)
		}
		return plain(string(s.Event)) + "[" + hooks + "]"
	case s.OK != nil || s.Err != nil:
		out := plain(s.Action)
		if out != "" {
			out += " → "
		}
		return out + branch("ok", s.OK) + " | " + branch("err", s.Err)
	}
	return plain(s.Action)
}

func branch(name string, s *StepModel) string {
	if s == nil {
		return name + ": –"
	}
	return name + ": " + s.text()
}
