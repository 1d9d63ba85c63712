package render

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/hookc/hookc/dag"
)

var mermaidArrows = map[dag.EdgeKind]string{dag.DataEdge: "-->", dag.GateEdge: "-.->", dag.OrderEdge: "==>"}

const mermaidStyles = `  classDef inline fill:#e6f4ea,stroke:#2e7d32,color:#1b3a20
  classDef process fill:#e8f0fe,stroke:#1a56b0,color:#12325f
  classDef llm fill:#f3e8fd,stroke:#7b1fa2,color:#3d1152
  classDef async fill:#f5f5f5,stroke:#757575,color:#333,stroke-dasharray:4 3
  classDef dead fill:#fafafa,stroke:#bdbdbd,color:#757575,stroke-dasharray:2 2
  classDef label fill:#fdecea,stroke:#c62828,color:#5f1412
  classDef event fill:#263238,stroke:#263238,color:#fff
  classDef action fill:#fff8e1,stroke:#b26a00,color:#4a2c00
`

// mermaidEscape makes any text safe inside a quoted Mermaid label: all that
// could end the label, begin an entity, a tag, a Markdown string or a
// directive becomes a numeric entity.
func mermaidEscape(s string) string {
	var b strings.Builder
	for _, r := range plain(s) {
		if strings.ContainsRune("\"#<>&`|%\\", r) {
			fmt.Fprintf(&b, "#%d;", r)
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

func mermaidLabel(lines ...string) string {
	for i := range lines {
		lines[i] = mermaidEscape(lines[i])
	}
	return `"` + strings.Join(lines, "<br/>") + `"`
}

func renderMermaid(w io.Writer, m *Model, _ Style) error {
	var b bytes.Buffer
	b.WriteString("flowchart LR\n")
	if len(m.Events) == 0 {
		b.WriteString("  none[" + mermaidLabel("no hooks: every event proceeds") + "]\n")
	}
	for i := range m.Events {
		mermaidEvent(&b, &m.Events[i], fmt.Sprintf("e%d", i))
	}
	for i, p := range m.outermost() {
		mermaidPipeline(&b, p, fmt.Sprintf("p%d", i))
	}
	b.WriteString(mermaidStyles)
	_, err := w.Write(b.Bytes())
	return err
}

func mermaidEvent(b *bytes.Buffer, e *EventModel, id string) {
	fmt.Fprintf(b, "  subgraph %s[%s]\n    direction LR\n    %sin([%s]):::event\n",
		id, mermaidLabel(eventTitle(e)), id, mermaidLabel(string(e.Event)))
	at := map[string]string{}
	for i := range e.Items {
		mermaidItem(b, &e.Items[i], fmt.Sprintf("%sg%d", id, i), id, at)
	}
	waits := map[string]bool{}
	for i := range e.Edges {
		edge := &e.Edges[i]
		waits[edge.To] = true
		fmt.Fprintf(b, "    %s %s|%s| %s\n", at[edge.From], mermaidArrows[edge.Kind], mermaidLabel(edgeText(edge)), at[edge.To])
	}
	for i := range e.Items {
		for _, h := range e.Items[i].Hooks {
			if !waits[h.ID] {
				fmt.Fprintf(b, "    %sin --> %s\n", id, at[h.ID])
			}
		}
	}
	for i := range e.Breaks {
		mermaidBreak(b, e, &e.Breaks[i], fmt.Sprintf("%sb%d", id, i), at)
	}
	for i := range e.Dead {
		d := &e.Dead[i]
		fmt.Fprintf(b, "    %sd%d[%s]:::dead\n", id, i, mermaidLabel(d.Name, deadText(d)))
	}
	b.WriteString("  end\n")
}

func mermaidItem(b *bytes.Buffer, item *ItemModel, group, event string, at map[string]string) {
	indent := "    "
	if item.Group != "" {
		fmt.Fprintf(b, "    subgraph %s[%s]\n", group, mermaidLabel(item.Group+" (parallel, "+item.Fold.String()+")"))
		indent = "      "
	}
	for i := range item.Hooks {
		h := &item.Hooks[i]
		at[h.ID] = fmt.Sprintf("%sn%d", event, h.Node)
		fmt.Fprintf(b, "%s%s[%s]:::%s\n", indent, at[h.ID], mermaidLabel(boxLines(h)...), h.Mode)
	}
	if item.Group != "" {
		b.WriteString("    end\n")
	}
}

func mermaidBreak(b *bytes.Buffer, e *EventModel, br *BreakModel, id string, at map[string]string) {
	from := breakers(e, br)
	if len(from) == 0 {
		fmt.Fprintf(b, "    %s{{%s}}:::label\n", id, mermaidLabel(anyGate(br)))
		return
	}
	fmt.Fprintf(b, "    %s{{%s}}:::label\n", id, mermaidLabel(breakTarget(br)))
	for _, h := range from {
		fmt.Fprintf(b, "    %s -.->|%s| %s\n", at[h], mermaidLabel(strings.Join(br.On, "/")), id)
	}
}

func mermaidPipeline(b *bytes.Buffer, p *PipelineModel, id string) {
	nodes, edges := pipeGraph(p, id+"s")
	fmt.Fprintf(b, "  subgraph %s[%s]\n    direction LR\n", id, mermaidLabel("pipeline "+p.Name))
	for _, n := range nodes {
		class := ""
		if n.action {
			class = ":::action"
		}
		fmt.Fprintf(b, "    %s[%s]%s\n", n.id, mermaidLabel(n.text), class)
	}
	for _, e := range edges {
		arrow := "-->"
		if e.breaks {
			arrow = "-.->"
		}
		if e.text != "" {
			arrow += "|" + mermaidLabel(e.text) + "|"
		}
		fmt.Fprintf(b, "    %s %s %s\n", e.from, arrow, e.to)
	}
	b.WriteString("  end\n")
}
