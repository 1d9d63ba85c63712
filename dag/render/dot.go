package render

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/hookc/hookc/dag"
)

var dotEdges = map[dag.EdgeKind]string{
	dag.DataEdge:  `color="#1a56b0"`,
	dag.GateEdge:  `color="#c62828", style=dashed`,
	dag.OrderEdge: `color="#6d4c41", style=bold`,
}

var dotModes = map[string]string{
	ModeInline:  `fillcolor="#e6f4ea", color="#2e7d32"`,
	ModeProcess: `fillcolor="#e8f0fe", color="#1a56b0"`,
	ModeLLM:     `fillcolor="#f3e8fd", color="#7b1fa2"`,
	ModeAsync:   `fillcolor="#f5f5f5", color="#757575", style="filled,rounded,dashed"`,
}

// dotQuote is a quoted DOT string of the lines. Backslashes are doubled, so no
// text can become one of DOT's escapes.
func dotQuote(lines ...string) string {
	for i, s := range lines {
		lines[i] = strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(plain(s))
	}
	return `"` + strings.Join(lines, `\n`) + `"`
}

func renderDOT(w io.Writer, m *Model, _ Style) error {
	var b bytes.Buffer
	b.WriteString(`digraph hookc {
  rankdir=LR; compound=true; fontname="Helvetica";
  node [shape=box, style="filled,rounded", fillcolor="#ffffff", fontname="Helvetica", fontsize=11];
  edge [fontname="Helvetica", fontsize=9];
`)
	if len(m.Events) == 0 {
		b.WriteString("  none [label=" + dotQuote("no hooks: every event proceeds") + "];\n")
	}
	for i := range m.Events {
		dotEvent(&b, &m.Events[i], fmt.Sprintf("e%d", i))
	}
	for i, p := range m.outermost() {
		dotPipeline(&b, p, fmt.Sprintf("p%d", i))
	}
	b.WriteString("}\n")
	_, err := w.Write(b.Bytes())
	return err
}

func dotEvent(b *bytes.Buffer, e *EventModel, id string) {
	fmt.Fprintf(b, "  subgraph cluster_%s {\n    label=%s;\n    %sin [label=%s, shape=oval, fillcolor=\"#263238\", fontcolor=\"#ffffff\"];\n",
		id, dotQuote(eventTitle(e)), id, dotQuote(string(e.Event)))
	at := map[string]string{}
	for i := range e.Items {
		dotItem(b, &e.Items[i], fmt.Sprintf("%sg%d", id, i), id, at)
	}
	waits := map[string]bool{}
	for i := range e.Edges {
		edge := &e.Edges[i]
		waits[edge.To] = true
		fmt.Fprintf(b, "    %s -> %s [label=%s, tooltip=%s, %s];\n", at[edge.From], at[edge.To],
			dotQuote(edgeText(edge)), dotQuote(edge.Why), dotEdges[edge.Kind])
	}
	for i := range e.Items {
		for _, h := range e.Items[i].Hooks {
			if !waits[h.ID] {
				fmt.Fprintf(b, "    %sin -> %s [color=\"#90a4ae\"];\n", id, at[h.ID])
			}
		}
	}
	for i := range e.Breaks {
		dotBreak(b, e, &e.Breaks[i], fmt.Sprintf("%sb%d", id, i), at)
	}
	for i := range e.Dead {
		d := &e.Dead[i]
		fmt.Fprintf(b, "    %sd%d [label=%s, style=\"rounded,dashed\", color=\"#bdbdbd\", fontcolor=\"#757575\"];\n",
			id, i, dotQuote(d.Name, deadText(d)))
	}
	b.WriteString("  }\n")
}

func dotItem(b *bytes.Buffer, item *ItemModel, group, event string, at map[string]string) {
	indent := "    "
	if item.Group != "" {
		fmt.Fprintf(b, "    subgraph cluster_%s {\n      label=%s; style=dashed;\n", group,
			dotQuote(item.Group+" (parallel, "+item.Fold.String()+")"))
		indent = "      "
	}
	for i := range item.Hooks {
		h := &item.Hooks[i]
		at[h.ID] = fmt.Sprintf("%sn%d", event, h.Node)
		fmt.Fprintf(b, "%s%s [label=%s, tooltip=%s, %s];\n", indent, at[h.ID], dotQuote(boxLines(h)...),
			dotQuote(h.Origin), dotModes[h.Mode])
	}
	if item.Group != "" {
		b.WriteString("    }\n")
	}
}

func dotBreak(b *bytes.Buffer, e *EventModel, br *BreakModel, id string, at map[string]string) {
	from, text := breakers(e, br), breakTarget(br)
	if len(from) == 0 {
		text = anyGate(br)
	}
	fmt.Fprintf(b, "    %s [label=%s, shape=hexagon, fillcolor=\"#fdecea\", color=\"#c62828\"];\n", id, dotQuote(text))
	for _, h := range from {
		fmt.Fprintf(b, "    %s -> %s [label=%s, style=dotted, color=\"#c62828\", constraint=false];\n",
			at[h], id, dotQuote(strings.Join(br.On, "/")))
	}
}

func dotPipeline(b *bytes.Buffer, p *PipelineModel, id string) {
	nodes, edges := pipeGraph(p, id+"s")
	fmt.Fprintf(b, "  subgraph cluster_%s {\n    label=%s;\n", id, dotQuote("pipeline "+p.Name))
	for _, n := range nodes {
		color := ""
		if n.action {
			color = `, fillcolor="#fff8e1", color="#b26a00"`
		}
		fmt.Fprintf(b, "    %s [label=%s%s];\n", n.id, dotQuote(n.text), color)
	}
	for _, e := range edges {
		style := ""
		if e.breaks {
			style = `, style=dotted, color="#c62828", constraint=false`
		}
		fmt.Fprintf(b, "    %s -> %s [label=%s%s];\n", e.from, e.to, dotQuote(e.text), style)
	}
	b.WriteString("  }\n")
}
