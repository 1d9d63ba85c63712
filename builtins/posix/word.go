package posix

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// PlainLit is the text of a word without anything to expand or unquote.
func PlainLit(w *syntax.Word) (string, bool) {
	if len(w.Parts) != 1 {
		return "", false
	}
	lit, ok := w.Parts[0].(*syntax.Lit)
	if !ok || strings.ContainsAny(lit.Value, "\\*?[{~\uE0F0") {
		return "", false
	}
	return lit.Value, true
}

// TestedVariable is the variable a test looks at, and whether the test is true
// when it is not empty.
func TestedVariable(s *syntax.Stmt) (name string, filled bool) {
	var op string
	var w *syntax.Word
	switch c := s.Cmd.(type) {
	case *syntax.CallExpr:
		if len(c.Args) < 3 {
			return "", false
		}
		if t, _ := PlainLit(c.Args[0]); t != "test" && c.Args[0].Lit() != "[" {
			return "", false
		}
		op, w = c.Args[1].Lit(), c.Args[2]
	case *syntax.TestClause:
		u, ok := c.X.(*syntax.UnaryTest)
		if !ok {
			return "", false
		}
		op = u.Op.String()
		w, _ = u.X.(*syntax.Word)
	}
	if w == nil || op != "-n" && op != "-z" {
		return "", false
	}
	return WordVariable(w), (op == "-n") != s.Negated
}

// WordVariable is the name in "$name" or "${name:-}", "" for other words.
func WordVariable(w *syntax.Word) string {
	if len(w.Parts) != 1 {
		return ""
	}
	part := w.Parts[0]
	if q, ok := part.(*syntax.DblQuoted); ok && len(q.Parts) == 1 {
		part = q.Parts[0]
	}
	p, ok := part.(*syntax.ParamExp)
	if !ok || p.Param == nil || p.Excl || p.Length || p.Index != nil || p.Slice != nil || p.Repl != nil || !syntax.ValidName(p.Param.Value) {
		return ""
	}
	return p.Param.Value
}
