package render

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/hookc/hookc/dag"
)

// language is how a graph is written. Kinds of nodes are the modes of hooks and
// those below; kinds of edges are those of the plan and those below.
type language struct {
	head, foot string
	// open begins a box of nodes and end ends it. outer is false for a box in another.
	open func(id, title string, outer bool) string
	end  string
	node func(id, kind, hint string, lines ...string) string
	edge func(from, to string, kind dag.EdgeKind, text, why string) string
}

// The kinds of nodes beside the modes of hooks, and of edges beside those of a plan.
const (
	nodeEvent, nodeDead, nodeLabel, nodeAction, nodeStep = "event", "dead", "label", "action", "step"

	edgeBegins, edgeLeaves, edgeNext, edgeBreaks dag.EdgeKind = "begins", "leaves", "next", "breaks"
)

// graphed is a renderer that writes the graph of each event and each pipeline.
func graphed(l language) func(io.Writer, *Model, Style) error {
	return func(w io.Writer, m *Model, _ Style) error {
		g := &graphing{language: l}
		g.WriteString(l.head)
		if len(m.Events) == 0 {
			g.line("  ", l.node("none", nodeStep, "", "no hooks: every event proceeds"))
		}
		for i := range m.Events {
			g.event(&m.Events[i], fmt.Sprintf("e%d", i))
		}
		for i, p := range m.outermost() {
			g.pipeline(p, fmt.Sprintf("p%d", i))
		}
		g.WriteString(l.foot)
		_, err := w.Write(g.Bytes())
		return err
	}
}

// graphing is a graph while it is written; at has the nodes of hooks.
type graphing struct {
	bytes.Buffer
	language
	at map[string]string
}

//go:noinline
func (g *graphing) line(indent, text string) { g.WriteString(indent + text + "\n") }

func (g *graphing) event(e *EventModel, id string) {
	g.line("  ", g.open(id, eventTitle(e), true))
	g.line("    ", g.node(id+"in", nodeEvent, "", string(e.Event)))
	g.at = map[string]string{}
	for i := range e.Items {
		g.item(&e.Items[i], fmt.Sprintf("%sg%d", id, i), id)
	}
	waits := map[string]bool{}
	for i := range e.Edges {
		edge := &e.Edges[i]
		waits[edge.To] = true
		g.line("    ", g.edge(g.at[edge.From], g.at[edge.To], edge.Kind, edgeText(edge), edge.Why))
	}
	for i := range e.Items {
		for _, h := range e.Items[i].Hooks {
			if !waits[h.ID] {
				g.line("    ", g.edge(id+"in", g.at[h.ID], edgeBegins, "", ""))
			}
		}
	}
	for i := range e.Breaks {
		g.leaves(e, &e.Breaks[i], fmt.Sprintf("%sb%d", id, i))
	}
	for i := range e.Dead {
		d := &e.Dead[i]
		g.line("    ", g.node(fmt.Sprintf("%sd%d", id, i), nodeDead, "", d.Name, deadText(d)))
	}
	g.line("  ", g.end)
}

func (g *graphing) item(item *ItemModel, group, event string) {
	indent := "    "
	if item.Group != "" {
		g.line(indent, g.open(group, item.Group+" (parallel, "+item.Fold.String()+")", false))
		indent = "      "
	}
	for i := range item.Hooks {
		h := &item.Hooks[i]
		g.at[h.ID] = fmt.Sprintf("%sn%d", event, h.Node)
		g.line(indent, g.node(g.at[h.ID], h.Mode, h.Origin, boxLines(h)...))
	}
	if item.Group != "" {
		g.line("    ", g.end)
	}
}

func (g *graphing) leaves(e *EventModel, br *BreakModel, id string) {
	from, text := breakers(e, br), breakTarget(br)
	if len(from) == 0 {
		text = anyGate(br)
	}
	g.line("    ", g.node(id, nodeLabel, "", text))
	for _, h := range from {
		g.line("    ", g.edge(g.at[h], id, edgeLeaves, strings.Join(br.On, "/"), ""))
	}
}

func (g *graphing) pipeline(p *PipelineModel, id string) {
	nodes, edges := pipeGraph(p, id+"s")
	g.line("  ", g.open(id, "pipeline "+p.Name, true))
	for _, n := range nodes {
		kind := nodeStep
		if n.action {
			kind = nodeAction
		}
		g.line("    ", g.node(n.id, kind, "", n.text))
	}
	for _, e := range edges {
		kind := edgeNext
		if e.breaks {
			kind = edgeBreaks
		}
		g.line("    ", g.edge(e.from, e.to, kind, e.text, ""))
	}
	g.line("  ", g.end)
}
