package render

import (
	"strings"

	"github.com/hookc/hookc/dag"
)

var dotEdges = map[dag.EdgeKind]string{
	dag.DataEdge:  `, color="#1a56b0"`,
	dag.GateEdge:  `, color="#c62828", style=dashed`,
	dag.OrderEdge: `, color="#6d4c41", style=bold`,
	edgeLeaves:    `, style=dotted, color="#c62828", constraint=false`,
	edgeBreaks:    `, style=dotted, color="#c62828", constraint=false`,
}

var dotNodes = map[string]string{
	ModeInline:  `, fillcolor="#e6f4ea", color="#2e7d32"`,
	ModeProcess: `, fillcolor="#e8f0fe", color="#1a56b0"`,
	ModeLLM:     `, fillcolor="#f3e8fd", color="#7b1fa2"`,
	ModeAsync:   `, fillcolor="#f5f5f5", color="#757575", style="filled,rounded,dashed"`,
	nodeEvent:   `, shape=oval, fillcolor="#263238", fontcolor="#ffffff"`,
	nodeDead:    `, style="rounded,dashed", color="#bdbdbd", fontcolor="#757575"`,
	nodeLabel:   `, shape=hexagon, fillcolor="#fdecea", color="#c62828"`,
	nodeAction:  `, fillcolor="#fff8e1", color="#b26a00"`,
}

// dotQuote is a quoted DOT string of the lines. Backslashes are doubled, so no
// text can become one of DOT's escapes.
func dotQuote(lines ...string) string {
	for i, s := range lines {
		lines[i] = strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(plain(s))
	}
	return `"` + strings.Join(lines, `\n`) + `"`
}

var renderDOT = graphed(language{
	head: `digraph hookc {
  rankdir=LR; compound=true; fontname="Helvetica";
  node [shape=box, style="filled,rounded", fillcolor="#ffffff", fontname="Helvetica", fontsize=11];
  edge [fontname="Helvetica", fontsize=9];
`,
	foot: "}\n", end: "}",
	open: func(id, title string, outer bool) string {
		if outer {
			return "subgraph cluster_" + id + " {\n    label=" + dotQuote(title) + ";"
		}
		return "subgraph cluster_" + id + " {\n      label=" + dotQuote(title) + "; style=dashed;"
	},
	node: func(id, kind, hint string, lines ...string) string {
		tip := ""
		if hint != "" {
			tip = ", tooltip=" + dotQuote(hint)
		}
		return id + " [label=" + dotQuote(lines...) + tip + dotNodes[kind] + "];"
	},
	edge: func(from, to string, kind dag.EdgeKind, text, why string) string {
		switch {
		case kind == edgeBegins:
			return from + " -> " + to + ` [color="#90a4ae"];`
		case why != "":
			why = ", tooltip=" + dotQuote(why)
		}
		return from + " -> " + to + " [label=" + dotQuote(text) + why + dotEdges[kind] + "];"
	},
})
