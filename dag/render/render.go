// Package render draws programs and decisions: one model of a dag.Program for
// explain, one of a decision for traces, and one file a renderer.
package render

import "io"

// Renderer draws a Model in one form. Renderers see nothing but the Model.
type Renderer struct {
	Name string
	// Doc says in a line what comes out; Ext is the usual file extension.
	Doc string
	Ext string
	// Render writes m to w. The error is w's.
	Render func(w io.Writer, m *Model, style Style) error
}

var renderers = []Renderer{
	{"text", "tables and edges for a terminal", "txt", renderText},
	{"json", "the model all other forms are drawn from", "json", renderJSON},
	{"mermaid", "a Mermaid flowchart, for Markdown", "mmd", renderMermaid},
	{"dot", "a Graphviz graph", "dot", renderDOT},
	{"svg", "a picture", "svg", renderSVG},
	{"html", "one self-contained page: pictures, tables and the model", "html", renderHTML},
}

// Renderers lists the forms explain can take, text first.
func Renderers() []Renderer { return append([]Renderer(nil), renderers...) }

// RendererNames lists the names of the renderers, text first.
//
//go:noinline
func RendererNames() []string {
	out := make([]string, len(renderers))
	for i, r := range renderers {
		out[i] = r.Name
	}
	return out
}

// FindRenderer returns the renderer of the given name.
func FindRenderer(name string) (Renderer, bool) {
	for _, r := range renderers {
		if r.Name == name {
			return r, true
		}
	}
	return Renderer{}, false
}

// Style is how text is laid out. The zero Style is plain and as wide as it
// needs to be.
type Style struct {
	// Width is the columns of the terminal; 0 is unlimited.
	Width   int
	Palette Palette
}

// Palette holds the escape sequence for each role a text can have; the zero
// Palette has no colour. Whether colour is wanted (NO_COLOR, a pipe) is the
// caller's decision.
type Palette struct {
	Title, Name, Faint, Good, Warn, Bad string
	// Reset ends each of the others.
	Reset string
}

// ANSI is the palette for a terminal: the 16 colours every terminal has.
func ANSI() Palette {
	return Palette{Title: "\x1b[1m", Name: "\x1b[36m", Faint: "\x1b[2m", Good: "\x1b[32m", Warn: "\x1b[33m", Bad: "\x1b[31m",
		Reset: "\x1b[0m"}
}

//go:noinline
func (p *Palette) paint(role, text string) string {
	if role == "" || text == "" {
		return text
	}
	return role + text + p.Reset
}
