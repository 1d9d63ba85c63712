package render

import (
	"fmt"
	"strings"

	"github.com/hookc/hookc/dag"
)

var mermaidArrows = map[dag.EdgeKind]string{dag.DataEdge: "-->", dag.GateEdge: "-.->", dag.OrderEdge: "==>",
	edgeBegins: "-->", edgeLeaves: "-.->", edgeNext: "-->", edgeBreaks: "-.->"}

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

var renderMermaid = graphed(language{
	head: "flowchart LR\n", foot: mermaidStyles, end: "end",
	open: func(id, title string, outer bool) string {
		text := "subgraph " + id + "[" + mermaidLabel(title) + "]"
		if outer {
			text += "\n    direction LR"
		}
		return text
	},
	node: func(id, kind, _ string, lines ...string) string {
		left, right := "[", "]:::"+kind
		switch kind {
		case nodeEvent:
			left, right = "([", "]):::"+kind
		case nodeLabel:
			left, right = "{{", "}}:::"+kind
		case nodeStep:
			right = "]"
		}
		return id + left + mermaidLabel(lines...) + right
	},
	edge: func(from, to string, kind dag.EdgeKind, text, _ string) string {
		arrow := mermaidArrows[kind]
		if text != "" {
			arrow += "|" + mermaidLabel(text) + "|"
		}
		return from + " " + arrow + " " + to
	},
})
