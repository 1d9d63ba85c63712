// Beside is a program that has OPA for itself. It prints what each of OPA's
// functions is, and what rules of its own say about very long numbers.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"runtime"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/rego"
	"github.com/open-policy-agent/opa/v1/topdown"
)

// before is what the other half of the program does first.
var before = func() {}

func main() {
	functions()
	before()
	functions()
	long := strings.Repeat("9", 40_000)
	for _, rule := range []string{
		"n + 1 > 5", "n - 1 > 5", "n * 10 > 5", "n / 10 > 5", "n % 7 >= 0", "abs(n) > 5", "round(n) > 5", "ceil(n) > 5", "floor(n) > 5",
		"sum([n, 1]) > 5", "product([n, 2]) > 5", `format_int(n, 10) != "5"`, "bits.lsh(1, 200000) > n", "count(numbers.range(1, 200000)) == 200000",
		`count(replace(sprintf("%200000d", [1]), " ", "0123456789012345678901234567890123456789012345678901234567890123456789")) > 5`,
	} {
		set, err := rego.New(rego.Query("n := input.n; x := "+rule), rego.StrictBuiltinErrors(true),
			rego.ParsedInput(ast.NewObject([2]*ast.Term{ast.StringTerm("n"), ast.NumberTerm(json.Number(long))}))).Eval(context.Background())
		fmt.Println(rule, len(set), err)
	}
}

func functions() {
	for _, b := range ast.Builtins {
		if f := topdown.GetBuiltin(b.Name); f != nil {
			fmt.Println(b.Name, runtime.FuncForPC(reflect.ValueOf(f).Pointer()).Name())
		}
	}
	fmt.Println(len(ast.BuiltinMap), len(ast.CapabilitiesForThisVersion().Builtins))
}
