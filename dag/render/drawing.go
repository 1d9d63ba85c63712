package render

import (
	"fmt"
	"strings"

	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/internal/lists"
)

// What mermaid, dot, svg and html draw alike: which lines a box has and what
// an arrow says. Texts here are not escaped; each renderer escapes for its
// own language.

// boxLines is what a hook's box says: who, how it runs, when and what it says
// or changes.
func boxLines(h *HookModel) []string {
	name := h.ID + "  " + plain(h.Name)
	if h.Locked {
		name += " [locked]"
	}
	if h.RecheckOf != "" {
		name += " (recheck)"
	}
	how := runs(h) + " · " + h.EstUS.Text(2)
	if string(h.Kind) != runs(h) {
		how = string(h.Kind) + " · " + how
	}
	if h.RecheckOf != "" {
		return []string{name, how}
	}
	lines := []string{name, how, plain(h.Tier.String()) + " · " + plain(h.Filter)}
	var effects []string
	if m := may(h); m == "*" {
		effects = append(effects, "may decide anything")
	} else if m != "–" {
		effects = append(effects, "may "+m)
	}
	if len(h.Writes) > 0 {
		effects = append(effects, "→ "+plain(strings.Join(h.Writes, ", ")))
	}
	if len(effects) > 0 {
		lines = append(lines, strings.Join(effects, " · "))
	}
	return lines
}

// edgeText is what an arrow says: its kind and what flows along it.
func edgeText(e *EdgeModel) string {
	return strings.Trim(arrow(e), "─►")
}

// eventTitle is the heading of an event's drawing.
func eventTitle(e *EventModel) string {
	s := plain(string(e.Event))
	if len(e.Items) > 0 {
		s += " · " + string(e.Strategy) + " · " + e.Halts
	}
	if e.Posture == "open" {
		s += " · OPEN"
	}
	return s
}

// breakTarget is where a break leads, in words.
//
//go:noinline
func breakTarget(b *BreakModel) string {
	if b.To == "" {
		return string(b.Action)
	}
	return string(b.Action) + ": leaves " + string(b.To)
}

// breakers lists the IDs of the hooks an arrow leads from to a break; none
// when every hook that can end the chain can make it, which a word says
// better than as many arrows.
func breakers(e *EventModel, br *BreakModel) []string {
	if br.Any && len(br.Hooks) > 1 {
		return nil
	}
	var out []string
	for i := range e.Items {
		for _, h := range e.Items[i].Hooks {
			if h.RecheckOf == "" && lists.Has(br.Hooks, h.Name) {
				out = append(out, h.ID)
			}
		}
	}
	return out
}

// anyGate is a break that every hook which can end the chain can make.
func anyGate(br *BreakModel) string {
	return "any gate ─" + strings.Join(br.On, "/") + "→ " + breakTarget(br)
}

// deadText is why a hook is not in the chain.
func deadText(d *DeadModel) string {
	s := d.place() + ": " + plain(d.Reason)
	if d.Code != "" {
		s += " (" + d.Code + ")"
	}
	return s
}

// place is where a hook is that is not in the chain: dead can never run.
func (d *DeadModel) place() string {
	if d.Status == dag.Dead {
		return string(d.Status)
	}
	return "not in force, " + string(d.Status)
}

// pipeNode is one box of a pipeline drawing; next lists the boxes after it.
type pipeNode struct {
	id, text string
	action   bool
}

// pipeEdge is one arrow of a pipeline drawing.
type pipeEdge struct {
	from, to, text string
	breaks         bool
}

// pipeGraph lays a pipeline out as boxes and arrows. IDs begin with prefix.
func pipeGraph(p *PipelineModel, prefix string) ([]pipeNode, []pipeEdge) {
	g := &pipeDrawing{prefix: prefix, at: map[string]string{}}
	start := "begin " + p.Name
	if p.Each {
		start = "each call of " + p.Name
	}
	ends := g.steps(p, []string{g.node(start, false)})
	end := g.node("end of "+string(p.Label), false)
	g.join(ends, end, "")
	for i := range p.Breaks {
		b := &p.Breaks[i]
		to := end
		if next := g.after(p, b); next != "" {
			to = next
		}
		g.leave(g.at[string(b.Event)], to, strings.Join(b.On, "/")+" leaves "+string(b.To))
	}
	return g.nodes, g.edges
}

// leave draws the arrow of a break; breaks between the same boxes have one.
func (g *pipeDrawing) leave(from, to, text string) {
	for i := range g.edges {
		if e := &g.edges[i]; e.breaks && e.from == from && e.to == to {
			e.text += ", " + text
			return
		}
	}
	g.edges = append(g.edges, pipeEdge{from: from, to: to, text: text, breaks: true})
}

type pipeDrawing struct {
	prefix string
	nodes  []pipeNode
	edges  []pipeEdge
	// at finds the box of an event or action.
	at map[string]string
}

// join draws an arrow from each of the boxes, once.
func (g *pipeDrawing) join(from []string, to, text string) {
	for i, f := range from {
		if !lists.Has(from[:i], f) {
			g.edges = append(g.edges, pipeEdge{from: f, to: to, text: text})
		}
	}
}

func (g *pipeDrawing) node(text string, action bool) string {
	id := fmt.Sprintf("%s%d", g.prefix, len(g.nodes))
	g.nodes = append(g.nodes, pipeNode{id: id, text: text, action: action})
	return id
}

// steps draws the steps of p after the boxes in from and returns the last.
func (g *pipeDrawing) steps(p *PipelineModel, from []string) []string {
	for i := range p.Steps {
		from = g.step(&p.Steps[i], from, "")
	}
	return from
}

func (g *pipeDrawing) step(s *StepModel, from []string, text string) []string {
	if s == nil {
		return from
	}
	if s.Pipeline != nil {
		before := from
		from = g.steps(s.Pipeline, from)
		if s.Needed != "" {
			from = append(append([]string{}, from...), before...)
		}
		return from
	}
	name := string(s.Event) + s.Action
	if name != "" {
		id := g.node(s.text(), s.Action != "")
		g.at[name] = id
		g.join(from, id, text)
		from = []string{id}
	}
	if s.OK == nil && s.Err == nil {
		return from
	}
	return append(g.step(s.OK, from, "ok"), g.step(s.Err, from, "err")...)
}

// after is the box where the lifecycle goes on after a break: the first thing
// behind what the break skips, "" for the end of the drawing.
func (g *pipeDrawing) after(p *PipelineModel, b *PipeBreakModel) string {
	if b.Exported {
		return ""
	}
	var order []string
	for i := range p.Steps {
		p.Steps[i].walk(func(s *StepModel) {
			if name := string(s.Event) + s.Action; name != "" {
				order = append(order, name)
			}
		})
	}
	last := string(b.Event)
	if len(b.Skips) > 0 {
		last = b.Skips[len(b.Skips)-1]
	}
	for i, name := range order {
		if name == last && i+1 < len(order) {
			return g.at[order[i+1]]
		}
	}
	return ""
}
