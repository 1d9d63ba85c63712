package shell

import (
	"strconv"
	"strings"

	"github.com/hookc/hookc/builtins/posix"
	"mvdan.cc/sh/v3/syntax"
)

// arithm evaluates an arithmetic expression, assignments included; false when
// its value is not known. Substitutions in it run either way.
func (a *analysis) arithm(x syntax.ArithmExpr, fr *shFrame) (int64, bool) {
	if x == nil || !a.enter(fr) {
		return 0, false
	}
	defer a.leave()
	if !a.spend(fr) {
		return 0, false
	}
	switch x := x.(type) {
	case *syntax.Word:
		return a.arithmWord(x, fr)
	case *syntax.ParenArithm:
		return a.arithm(x.X, fr)
	case *syntax.UnaryArithm:
		return a.unaryArithm(x, fr)
	case *syntax.BinaryArithm:
		return a.binaryArithm(x, fr)
	case *syntax.FlagsArithm:
		return a.arithm(x.X, fr)
	}
	return 0, false
}

func (a *analysis) arithmWord(w *syntax.Word, fr *shFrame) (int64, bool) {
	s, known := a.single(w, fr).known()
	if !known {
		return 0, false
	}
	for i := range 8 {
		s = strings.TrimSpace(s)
		if s == "" {
			return 0, true
		}
		if n, ok := posix.Number(s); ok {
			return n, true
		}
		if !syntax.ValidName(s) {
			n, ok := a.arithmText(s, fr)
			return n, ok && (i > 0 || a.operand == 0) // $x * 2 is of the text of x
		}
		if s, known = a.parameter(s, nil, fr).value().known(); !known {
			return 0, false
		}
	}
	return 0, false
}

// arithmText is the value of a text, which is an expression too.
func (a *analysis) arithmText(text string, fr *shFrame) (int64, bool) {
	parser := shParsers.Get().(*syntax.Parser)
	x, err := parser.Arithmetic(strings.NewReader(text))
	shParsers.Put(parser)
	if err != nil {
		return 0, false
	}
	in := *fr
	in.src, in.base = text, max(fr.base, 0)
	defer func(operand int) { a.operand = operand }(a.operand)
	a.operand = 0
	return a.arithm(x, &in)
}

func (a *analysis) unaryArithm(x *syntax.UnaryArithm, fr *shFrame) (int64, bool) {
	a.operand++
	defer func() { a.operand-- }()
	n, ok := a.arithm(x.X, fr)
	switch x.Op {
	case syntax.Inc, syntax.Dec:
		next := n + 1
		if x.Op == syntax.Dec {
			next = n - 1
		}
		a.assignNumber(x.X, next, ok, fr)
		if !x.Post {
			n = next
		}
	case syntax.Minus:
		n = -n
	case syntax.Not:
		n = posix.Truth(n == 0)
	case syntax.BitNegation:
		n = ^n
	}
	return n, ok
}

func (a *analysis) assignNumber(x syntax.ArithmExpr, n int64, known bool, fr *shFrame) {
	name := indexText(x)
	if !syntax.ValidName(name) {
		return
	}
	if !known {
		fr.st.set(name, shValue{{text: "$" + name, kind: shPlain}})
		return
	}
	fr.st.set(name, shLiteral(strconv.FormatInt(n, 10)))
}

func (a *analysis) binaryArithm(x *syntax.BinaryArithm, fr *shFrame) (int64, bool) {
	a.operand++
	defer func() { a.operand-- }()
	if op, ok := assignOps[x.Op]; ok {
		v, known := a.arithm(x.Y, fr)
		if x.Op != syntax.Assgn {
			old, oldKnown := a.arithm(x.X, fr)
			var computed bool
			v, computed = posix.Operate(op, old, v)
			known = known && oldKnown && computed
		}
		a.assignNumber(x.X, v, known, fr)
		return v, known
	}
	l, okL := a.arithm(x.X, fr)
	if both, ok := x.Y.(*syntax.BinaryArithm); ok && x.Op == syntax.TernQuest {
		then, okThen := a.arithm(both.X, fr)
		other, okOther := a.arithm(both.Y, fr)
		if l != 0 {
			return then, okL && okThen
		}
		return other, okL && okOther
	}
	r, okR := a.arithm(x.Y, fr)
	if x.Op == syntax.Comma {
		return r, okR
	}
	v, ok := posix.Operate(x.Op, l, r)
	return v, ok && okL && okR
}

var assignOps = map[syntax.BinAritOperator]syntax.BinAritOperator{
	syntax.Assgn: syntax.Assgn, syntax.AddAssgn: syntax.Add, syntax.SubAssgn: syntax.Sub, syntax.MulAssgn: syntax.Mul,
	syntax.QuoAssgn: syntax.Quo, syntax.RemAssgn: syntax.Rem, syntax.AndAssgn: syntax.And, syntax.OrAssgn: syntax.Or,
	syntax.XorAssgn: syntax.Xor, syntax.ShlAssgn: syntax.Shl, syntax.ShrAssgn: syntax.Shr,
}
