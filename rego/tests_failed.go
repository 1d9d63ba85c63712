package rego

import (
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/topdown"

	"github.com/hookc/hookc/internal/spell"
	"github.com/hookc/hookc/policy/diag"
)

const (
	// mostFailing is how many failed tests are evaluated again to see where they failed.
	mostFailing = 50
	// mostTraced bounds the lines of a trace.
	mostTraced = 2000
	// mostShown bounds a value that is shown, in bytes.
	mostShown = 200
)

// witness sees a test being evaluated.
type witness struct {
	u  *unit
	at diag.Span
	// span is the last expression of the test that did not hold, values those of
	// what it names.
	span   diag.Span
	values []string
	// defs are what variables mean that OPA made up.
	defs    map[ast.Var]string
	tracing bool
	lines   []string
	depth   map[uint64]int
}

// Enabled is true: a witness is given where something is to be seen.
func (*witness) Enabled() bool { return true }

// Config wants the values of variables.
func (*witness) Config() topdown.TraceConfig { return topdown.TraceConfig{PlugLocalVars: true} }

// TraceEvent looks at one step.
func (w *witness) TraceEvent(e topdown.Event) {
	w.line(&e)
	x, ok := e.Node.(*ast.Expr)
	switch {
	case !ok:
	case e.Op == topdown.EvalOp:
		w.define(x, &e)
	case e.Op == topdown.FailOp:
		span := w.u.where.span(x.Location)
		if _, all := x.Terms.(*ast.Every); all && !w.span.IsZero() {
			return // what did not hold in it tells more
		}
		if span.Source == w.at.Source && w.within(x.Location) {
			w.span, w.values = span, w.seen(x, &e)
		}
	}
}

// within reports whether a place is in the test itself: what it calls may be
// written in the same file.
func (w *witness) within(loc *ast.Location) bool {
	first, _ := w.at.Position()
	row, _ := w.u.where.span(loc).Position()
	for _, rule := range w.u.modules[loc.File].Rules {
		if from, _ := w.u.where.span(rule.Location).Position(); from == first {
			return row >= first && row <= first+strings.Count(strings.TrimRight(string(rule.Location.Text), "\n"), "\n")
		}
	}
	return false
}

// define notes what a variable means that is not the author's: what it was
// first given, by `v = term` or by a call whose last operand is its result.
func (w *witness) define(x *ast.Expr, e *topdown.Event) {
	if !x.IsCall() {
		return
	}
	first := func(t *ast.Term) (ast.Var, bool) {
		v, ok := t.Value.(ast.Var)
		return v, ok && w.generated(v, e) && w.defs[v] == ""
	}
	operands := x.Operands()
	n := len(operands)
	if x.IsEquality() && n == 2 {
		for i, o := range operands {
			if v, ok := first(o); ok {
				w.defs[v] = w.text(operands[1-i], e)
			}
		}
		return
	}
	if n == 0 {
		return
	}
	if v, ok := first(operands[n-1]); ok {
		args := make([]string, n-1)
		for i := range args {
			args[i] = w.text(operands[i], e)
		}
		w.defs[v] = strings.TrimPrefix(x.Operator().String(), boundPrefix) + "(" + strings.Join(args, ", ") + ")"
	}
}

func (w *witness) generated(v ast.Var, e *topdown.Event) bool {
	m, known := e.LocalMetadata[v]
	return v.IsGenerated() && (!known || m.Name == "" || m.Name.IsGenerated())
}

// text is a term as its author wrote it, or nearly.
func (w *witness) text(t *ast.Term, e *topdown.Event) string {
	out := t.String()
	ast.WalkVars(t, func(v ast.Var) bool {
		if name := w.name(v, e); name != "" {
			out = strings.ReplaceAll(out, string(v), name)
		}
		return false
	})
	return out
}

// name is what a variable is called, or means.
func (w *witness) name(v ast.Var, e *topdown.Event) string {
	if !w.generated(v, e) {
		if m, ok := e.LocalMetadata[v]; ok && m.Name != "" {
			return string(m.Name)
		}
		return string(v)
	}
	return w.defs[v]
}

// seen are the values of the variables of an expression, in the order named.
func (w *witness) seen(x *ast.Expr, e *topdown.Event) []string {
	var out []string
	done := map[ast.Var]bool{}
	ast.WalkVars(x, func(v ast.Var) bool {
		if value := e.Locals.Get(v); value != nil && !done[v] {
			if name := w.name(v, e); name != "" && name != value.String() {
				out = append(out, name+" = "+shortened(value.String()))
			}
		}
		done[v] = true
		return false
	})
	return out
}

// shortened is a text of at most mostShown bytes.
func shortened(s string) string {
	if len(s) <= mostShown {
		return s
	}
	return strings.ToValidUTF8(s[:mostShown], "") + "…"
}

// line adds a step to the trace: an expression or a rule, as it is written.
func (w *witness) line(e *topdown.Event) {
	if _, known := w.depth[e.QueryID]; !known {
		w.depth[e.QueryID] = 0
		if up, ok := w.depth[e.ParentID]; ok {
			w.depth[e.QueryID] = up + 1
		}
	}
	span := w.u.where.span(e.Location)
	if !w.tracing || len(w.lines) > mostTraced || span.IsZero() || e.Op == topdown.UnifyOp || e.Op == topdown.IndexOp {
		return
	}
	if len(w.lines) == mostTraced {
		w.lines = append(w.lines, "… and more")
		return
	}
	text, _, _ := spell.Cut(string(e.Location.Text), "\n")
	line := strings.Repeat("  ", min(w.depth[e.QueryID], 20)) + string(e.Op) + " " + shortened(text) + "  " + span.String()
	if n := len(w.lines); n == 0 || w.lines[n-1] != line {
		w.lines = append(w.lines, line)
	}
}
