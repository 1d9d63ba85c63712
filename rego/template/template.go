// Package template says how large a text a call of strings.render_template makes at
// most, before it is called.
package template

import (
	"strings"
	"text/template/parse"

	"github.com/hookc/hookc/rego/bounds"
)

// Rendered is what strings.render_template gives at most, in bytes. What a template goes
// through is a variable or as many times as it says; one that uses others, or
// goes through what it computes, may go on without end.
func Rendered(a bounds.Args) int64 {
	text, ok := a.Text(0)
	if !ok {
		return 0
	}
	if !strings.Contains(text, "{{") {
		return int64(len(text))
	}
	t := parse.New("template")
	t.Mode = parse.SkipFuncCheck
	trees := map[string]*parse.Tree{}
	if _, err := t.Parse(text, "", "", trees); err != nil {
		return 0 // it says so when it is called
	}
	if len(trees) > 1 {
		return bounds.Never
	}
	values := a.Deep(1)
	r := rendering{values: bounds.Sum(values.Size, bounds.Product(5, values.Special)), times: max(values.Nodes, 1)}
	r.literals(t.Root)
	return bounds.Sum(bounds.String, r.list(t.Root))
}

// rendering adds up what the nodes of a template give.
type rendering struct {
	values int64
	// times is how often a range goes round: as often as there are values, or as
	// the largest number of the template says.
	times int64
}

// literals looks for numbers.
func (r *rendering) literals(n parse.Node) {
	switch n := n.(type) {
	case *parse.ListNode:
		if n != nil {
			for _, inner := range n.Nodes {
				r.literals(inner)
			}
		}
	case *parse.ActionNode:
		r.numbers(n.Pipe)
	case *parse.IfNode:
		r.branch(&n.BranchNode)
	case *parse.WithNode:
		r.branch(&n.BranchNode)
	case *parse.RangeNode:
		r.branch(&n.BranchNode)
	}
}

func (r *rendering) branch(n *parse.BranchNode) {
	r.numbers(n.Pipe)
	r.literals(n.List)
	r.literals(n.ElseList)
}

func (r *rendering) numbers(p *parse.PipeNode) {
	if p == nil {
		return
	}
	for _, c := range p.Cmds {
		for _, arg := range c.Args {
			switch arg := arg.(type) {
			case *parse.NumberNode:
				r.number(arg)
			case *parse.PipeNode:
				r.numbers(arg)
			case *parse.IdentifierNode:
				if arg.Ident == "len" {
					r.times = max(r.times, r.values)
				}
			}
		}
	}
}

func (r *rendering) number(n *parse.NumberNode) {
	switch {
	case n.IsInt:
		r.times = max(r.times, n.Int64)
	case n.IsUint || n.IsFloat:
		r.times = bounds.Never
	}
}

func (r *rendering) list(list *parse.ListNode) int64 {
	if list == nil {
		return 0
	}
	need := int64(0)
	for _, n := range list.Nodes {
		need = bounds.Sum(need, r.node(n))
	}
	return need
}

func (r *rendering) node(n parse.Node) int64 {
	switch n := n.(type) {
	case *parse.TextNode:
		return int64(len(n.Text))
	case *parse.ActionNode:
		return r.pipe(n.Pipe)
	case *parse.IfNode:
		return bounds.Sum(r.pipe(n.Pipe), r.list(n.List), r.list(n.ElseList))
	case *parse.WithNode:
		return bounds.Sum(r.pipe(n.Pipe), r.list(n.List), r.list(n.ElseList))
	case *parse.RangeNode:
		return bounds.Sum(r.pipe(n.Pipe), r.times, bounds.Product(r.times, r.list(n.List)), r.list(n.ElseList))
	case *parse.TemplateNode:
		return bounds.Never
	}
	return 0
}

// pipe is what a pipeline gives: functions of fmt may pad it, as text or in what
// comes next.
func (r *rendering) pipe(p *parse.PipeNode) int64 {
	if p == nil {
		return 0
	}
	need := r.values
	for _, c := range p.Cmds {
		need = bounds.Sum(need, int64(len(c.String())))
		if strings.Contains(c.String(), "printf") {
			need = bounds.Sum(need, bounds.Product(bounds.Widest, int64(strings.Count(c.String(), "%"))))
		}
	}
	return need
}
