package posix

import (
	"regexp"
	"strings"

	"github.com/hookc/hookc/internal/lazy"
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

// TestedVariable is the variable that a test looks at, and whether the test is true when it
// is not empty, or is a value: [ "$x" = value ]. The name is "" for other tests.
func TestedVariable(s *syntax.Stmt) (name, value string, filled bool) {
	if s == nil {
		return "", "", false
	}
	var op string
	var w, other *syntax.Word
	switch c := s.Cmd.(type) {
	case *syntax.CallExpr:
		if len(c.Args) < 3 {
			return "", "", false
		}
		if t, _ := PlainLit(c.Args[0]); t != "test" && c.Args[0].Lit() != "[" {
			return "", "", false
		}
		op, w = c.Args[1].Lit(), c.Args[2]
		if more := len(c.Args) - 3; op != "" && (more > 1 || more == 1 && c.Args[3].Lit() != "]") {
			return "", "", false // -o and -a
		}
		if _, quoted := w.Parts[0].(*syntax.DblQuoted); op == "-n" && !quoted {
			return "", "", false // true without a word
		}
		if op == "" && (len(c.Args) == 4 || len(c.Args) == 5 && c.Args[4].Lit() == "]") {
			op, w, other = c.Args[2].Lit(), c.Args[1], c.Args[3]
		}
	case *syntax.TestClause:
		switch x := c.X.(type) {
		case *syntax.UnaryTest:
			op = x.Op.String()
			w, _ = x.X.(*syntax.Word)
		case *syntax.BinaryTest:
			op = x.Op.String()
			w, _ = x.X.(*syntax.Word)
			other, _ = x.Y.(*syntax.Word)
		}
	}
	switch {
	case w == nil:
		return "", "", false
	case other != nil && (op == "=" || op == "==" || op == "!="):
		if value, ok := PlainLit(other); ok && value != "" && Whole(w) != "" {
			return WordVariable(w), value, (op != "!=") != s.Negated
		}
	case other == nil && (op == "-n" || op == "-z"):
		return WordVariable(w), "", (op == "-n") != s.Negated
	}
	return "", "", false
}

// Matched is the variable that [[ $x == pattern ]] looks at, and the pattern, nil for other tests.
func Matched(s *syntax.Stmt) (name string, pattern *syntax.Word) {
	if s == nil || s.Negated {
		return "", nil
	}
	t, _ := s.Cmd.(*syntax.TestClause)
	if t == nil {
		return "", nil
	}
	b, _ := t.X.(*syntax.BinaryTest)
	if b == nil || b.Op != syntax.TsMatch && b.Op != syntax.TsMatchShort {
		return "", nil
	}
	if x, _ := b.X.(*syntax.Word); x != nil {
		pattern, _ = b.Y.(*syntax.Word)
		name = Whole(x)
	}
	return name, pattern
}

// Program is the first word of a simple command, "" where that is not plain text.
func Program(s *syntax.Stmt) string {
	if c, ok := s.Cmd.(*syntax.CallExpr); ok && len(c.Args) > 0 {
		return c.Args[0].Lit()
	}
	return ""
}

// noArguments is a condition that holds where there are no arguments, or not as many as are asked for.
var noArguments = lazy.Value(func() *regexp.Regexp {
	return regexp.MustCompile(`-eq\s+0|-l[te]\s|-ne\s+[1-9]|-z\s|==?\s*(0|""|'')|!=\s*[1-9]|<`)
})

// HasArguments reports whether a condition that looks at the positional parameters says that there are some.
func HasArguments(text string, holds bool) bool {
	return AsksArguments(text) && holds != (noArguments().MatchString(text) != strings.HasPrefix(text, "!"))
}

// AsksArguments reports whether the text of a condition looks at the positional parameters.
func AsksArguments(text string) bool {
	i := strings.IndexByte(text, '$')
	return i >= 0 && i+1 < len(text) && (strings.IndexByte("#1@*", strings.TrimPrefix(text[i+1:]+" ", "{")[0]) >= 0 || AsksArguments(text[i+1:]))
}

// WordVariable is the name in "$name" or "${name:-}", "" for other words.
func WordVariable(w *syntax.Word) string {
	if p := parameter(w); p != nil && syntax.ValidName(p.Param.Value) {
		return p.Param.Value
	}
	return ""
}

// Whole is the name or number in "$name" and "$1", "" for a word that is more, or a part of it.
func Whole(w *syntax.Word) string {
	if p := parameter(w); p != nil && p.Exp == nil && !p.Width && !p.IsSet && p.Names == 0 {
		return p.Param.Value
	}
	return ""
}

// parameter is the one parameter that a word consists of, or nil.
func parameter(w *syntax.Word) *syntax.ParamExp {
	if len(w.Parts) != 1 {
		return nil
	}
	part := w.Parts[0]
	if q, ok := part.(*syntax.DblQuoted); ok && len(q.Parts) == 1 {
		part = q.Parts[0]
	}
	p, ok := part.(*syntax.ParamExp)
	if !ok || p.Param == nil || p.Excl || p.Length || p.Index != nil || p.Slice != nil || p.Repl != nil {
		return nil
	}
	return p
}
