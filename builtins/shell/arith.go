package shell

import (
	"strconv"
	"strings"

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
	for range 8 {
		s = strings.TrimSpace(s)
		if s == "" {
			return 0, true
		}
		if n, ok := shellNumber(s); ok {
			return n, true
		}
		if !syntax.ValidName(s) {
			return 0, false
		}
		if s, known = a.parameter(s, nil, fr).value().known(); !known {
			return 0, false
		}
	}
	return 0, false
}

// shellNumber reads 10, 0x1f, 017 and 2#101.
func shellNumber(s string) (int64, bool) {
	if base, digits, ok := strings.Cut(s, "#"); ok {
		b, err := strconv.Atoi(base)
		if err != nil || b < 2 || b > 36 {
			return 0, false
		}
		n, err := strconv.ParseInt(digits, b, 64)
		return n, err == nil
	}
	if strings.Contains(s, "_") {
		return 0, false
	}
	n, err := strconv.ParseInt(s, 0, 64)
	return n, err == nil
}

func (a *analysis) unaryArithm(x *syntax.UnaryArithm, fr *shFrame) (int64, bool) {
	n, ok := a.arithm(x.X, fr)
	switch x.Op {
	case syntax.Inc, syntax.Dec:
		next := n + 1
		if x.Op == syntax.Dec {
			next = n - 1
		}
		a.assignNumber(x.X, next, ok, fr)
		if x.Post {
			return n, ok
		}
		return next, ok
	case syntax.Minus:
		return -n, ok
	case syntax.Not:
		return truth(n == 0), ok
	case syntax.BitNegation:
		return ^n, ok
	}
	return n, ok
}

func truth(b bool) int64 {
	if b {
		return 1
	}
	return 0
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
	if x.Op == syntax.TernQuest {
		return a.ternary(x, fr)
	}
	if op, ok := assignOps[x.Op]; ok {
		v, known := a.arithm(x.Y, fr)
		if x.Op != syntax.Assgn {
			old, oldKnown := a.arithm(x.X, fr)
			var computed bool
			v, computed = operate(op, old, v)
			known = known && oldKnown && computed
		}
		a.assignNumber(x.X, v, known, fr)
		return v, known
	}
	l, okL := a.arithm(x.X, fr)
	r, okR := a.arithm(x.Y, fr)
	if x.Op == syntax.Comma {
		return r, okR
	}
	v, ok := operate(x.Op, l, r)
	return v, ok && okL && okR
}

func (a *analysis) ternary(x *syntax.BinaryArithm, fr *shFrame) (int64, bool) {
	c, ok := a.arithm(x.X, fr)
	both, isTernary := x.Y.(*syntax.BinaryArithm)
	if !isTernary {
		return 0, false
	}
	l, okL := a.arithm(both.X, fr)
	r, okR := a.arithm(both.Y, fr)
	switch {
	case !ok:
		return 0, false
	case c != 0:
		return l, okL
	}
	return r, okR
}

var assignOps = map[syntax.BinAritOperator]syntax.BinAritOperator{
	syntax.Assgn: syntax.Assgn, syntax.AddAssgn: syntax.Add, syntax.SubAssgn: syntax.Sub, syntax.MulAssgn: syntax.Mul,
	syntax.QuoAssgn: syntax.Quo, syntax.RemAssgn: syntax.Rem, syntax.AndAssgn: syntax.And, syntax.OrAssgn: syntax.Or,
	syntax.XorAssgn: syntax.Xor, syntax.ShlAssgn: syntax.Shl, syntax.ShrAssgn: syntax.Shr,
}

// operate is one operation; false when it has no result.
func operate(op syntax.BinAritOperator, l, r int64) (int64, bool) {
	switch op {
	case syntax.Add:
		return l + r, true
	case syntax.Sub:
		return l - r, true
	case syntax.Mul:
		return l * r, true
	case syntax.Quo, syntax.Rem:
		return divide(op, l, r)
	case syntax.Pow:
		return power(l, r)
	case syntax.And:
		return l & r, true
	case syntax.Or:
		return l | r, true
	case syntax.Xor:
		return l ^ r, true
	case syntax.Shl, syntax.Shr:
		return shift(op, l, r)
	case syntax.AndArit:
		return truth(l != 0 && r != 0), true
	case syntax.OrArit:
		return truth(l != 0 || r != 0), true
	}
	return compareNumbers(op, l, r)
}

func compareNumbers(op syntax.BinAritOperator, l, r int64) (int64, bool) {
	switch op {
	case syntax.Eql:
		return truth(l == r), true
	case syntax.Neq:
		return truth(l != r), true
	case syntax.Lss:
		return truth(l < r), true
	case syntax.Gtr:
		return truth(l > r), true
	case syntax.Leq:
		return truth(l <= r), true
	case syntax.Geq:
		return truth(l >= r), true
	}
	return 0, false
}

func divide(op syntax.BinAritOperator, l, r int64) (int64, bool) {
	if r == 0 || r == -1 {
		return 0, false
	}
	if op == syntax.Quo {
		return l / r, true
	}
	return l % r, true
}

func shift(op syntax.BinAritOperator, l, r int64) (int64, bool) {
	if r < 0 || r > 62 {
		return 0, false
	}
	if op == syntax.Shl {
		return l << r, true
	}
	return l >> r, true
}

func power(l, r int64) (int64, bool) {
	if r < 0 || r > 62 {
		return 0, false
	}
	n := int64(1)
	for range r {
		n *= l
	}
	return n, true
}
