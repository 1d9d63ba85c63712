package rego

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/topdown"
)

// maxDigits bounds the numbers that arithmetic takes, by the digits they have
// when they are written out. OPA writes them out, in time that nothing can stop:
// 1e100000000 in an event would keep a guard busy for longer than its agent
// waits for it, and an agent that no longer waits mostly goes on. Where OPA reads
// JSON itself it takes none of more digits either.
const maxDigits = 30_000

// arithmetic are OPA's functions that write out what they are given, or come to.
var arithmetic = []*ast.Builtin{
	ast.Plus, ast.Minus, ast.Multiply, ast.Divide, ast.Rem, ast.Abs, ast.Round, ast.Ceil, ast.Floor, ast.Sum,
	ast.Product, ast.FormatInt,
}

var _ = boundArithmetic()

// boundArithmetic puts functions in the place of OPA's that fail on numbers of
// more digits. It runs at package load: OPA reads the registry without a lock.
func boundArithmetic() bool {
	for _, b := range arithmetic {
		own := topdown.GetBuiltin(b.Name)
		topdown.RegisterBuiltinFunc(b.Name, func(c topdown.BuiltinContext, args []*ast.Term, iter func(*ast.Term) error) error {
			for _, a := range args {
				if long(a.Value) {
					return errLong
				}
			}
			return own(c, args, iter)
		})
	}
	return true
}

var errLong = fmt.Errorf("a number of more than %d digits", maxDigits)

// long reports whether a value is a number of too many digits, or a collection
// that holds one.
func long(v ast.Value) bool {
	switch v := v.(type) {
	case ast.Number:
		return len(v) > 5 && longNumber(string(v))
	case *ast.Array:
		return v.Until(func(t *ast.Term) bool { return long(t.Value) })
	case ast.Set:
		return v.Until(func(t *ast.Term) bool { return long(t.Value) })
	}
	return false
}

func longNumber(text string) bool {
	at := strings.IndexAny(text, "eE")
	if at < 0 {
		return len(text) > maxDigits
	}
	exponent, err := strconv.Atoi(text[at+1:])
	return err != nil || exponent > maxDigits || exponent < -maxDigits || at > maxDigits
}
