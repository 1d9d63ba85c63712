package ui

import (
	_ "embed"
	"fmt"
	"io"
	"strings"
	"text/template"
	"text/template/parse"

	"github.com/hookc/hookc/internal/lazy"
	"github.com/hookc/hookc/internal/packed"
	"github.com/hookc/hookc/internal/spell"
)

// together are page.html, style.css and script.js, packed; TestAssets makes it again
// with -update.
//
//go:embed assets.gz
var together string

// assets are the three, read when the first is asked for.
var assets = lazy.Value(func() []string { return strings.SplitN(packed.Text(together), "\x00", 3) })

// views are the templates of page.html. What they insert is escaped here, whatever it
// is: html/template would do the same and weighs 180 kB. A test has it render every view
// and finds no difference. So values stand in text and in quoted attributes alone.
var views = lazy.Value(func() viewer {
	t := template.Must(template.New("").Funcs(template.FuncMap{"escape": escape, "lines": escapeLines}).Parse(assets()[0]))
	for _, view := range t.Templates() {
		escapeAll(view.Root)
	}
	return t
})

type viewer interface {
	ExecuteTemplate(w io.Writer, name string, data any) error
}

// escape makes a text one line that is nothing but text, in HTML and in its attributes.
func escape(v any) string { return template.HTMLEscapeString(spell.Line(fmt.Sprint(v))) }

// escapeLines is escape for a text of several lines.
func escapeLines(v any) string {
	all := strings.Split(fmt.Sprint(v), "\n")
	for i, l := range all {
		all[i] = escape(l)
	}
	return strings.Join(all, "\n")
}

// escapeAll has every value that a template inserts pass an escape, as its last step.
func escapeAll(n parse.Node) {
	switch n := n.(type) {
	case *parse.ListNode:
		if n == nil {
			return
		}
		for _, sub := range n.Nodes {
			escapeAll(sub)
		}
	case *parse.IfNode:
		escapeAll(n.List)
		escapeAll(n.ElseList)
	case *parse.RangeNode:
		escapeAll(n.List)
		escapeAll(n.ElseList)
	case *parse.WithNode:
		escapeAll(n.List)
		escapeAll(n.ElseList)
	case *parse.ActionNode:
		if len(n.Pipe.Decl) > 0 || strings.HasSuffix(n.Pipe.String(), "| lines") {
			return
		}
		n.Pipe.Cmds = append(n.Pipe.Cmds, &parse.CommandNode{NodeType: parse.NodeCommand, Pos: n.Pos,
			Args: []parse.Node{parse.NewIdentifier("escape").SetPos(n.Pos)}})
	}
}
