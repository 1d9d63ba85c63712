package rego

import (
	"context"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/storage/inmem"
	"github.com/open-policy-agent/opa/v1/tester"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// asOPA are tests of every shape that OPA knows.
const asOPA = `package shapes_test

limits := {"a": 1, "b": 2, "c": 3}

test_true if true
test_false if false
test_undefined if input.nothing == 1
test_value := 3
test_text := "x"
test_default_held if limits.a == 1
default test_by_default := true
test_by_default := false if limits.a == 2
test_twice if true
test_twice if limits.a == 2
todo_test_later if false
nested.test_in if true
nested.test_out if false
nested.todo_test_skip if false
nested.deep.test_far.more if limits.b == 2
no_test if false
test_set contains x if some x in [1, 2]
test_else := true if { false } else := true
test_mocked if count(limits) == 1 with data.shapes_test.limits as {"z": 1}
test_divides if 1 / 0 == 1
test_object := {"a": true, "b": true}
test_object_false := {"a": true, "b": false}

test_cases[note] if {
	some note, n in limits
	n < 9
}

test_cases_fail[note] if {
	some note, n in limits
	n < 3
}

test_cases_of_field[tc.note] if {
	some tc in [{"note": "one", "x": 1}, {"note": "two", "x": 3}]
	y := tc.x + 1
	y < 3
}

test_cases_all[tc.note] if {
	some tc in [{"note": "one", "x": 1}, {"note": "two", "x": 3}]
	y := tc.x + 1
	y < 9
}

test_cases_made[sprintf("%s-%d", [k, n])] if {
	some k, n in limits
	n != 2
}

test_cases_deep[k][m] if {
	some k, n in limits
	some m in ["p", "q"]
	not n == 3
}

test_cases_deep_held[k][m] if {
	some k, n in limits
	some m in ["p", "q"]
	n < 9
}

test_cases_none[k] if {
	some k, n in input.none
	n
}

test_cases_values[k] := v if {
	some k, n in limits
	v := n < 3
}

test_cases_number[i] if {
	some i in numbers.range(1, 3)
	i < 3
}

test_by_hand[k] if {
	some k, n in limits
	internal.test_case([k])
	n < 3
}
`

// Tests go as OPA's own runner has them go.
func TestTestsAreOPAs(t *testing.T) {
	path := filepath.Join(t.TempDir(), "shapes_test.rego")
	require.NoError(t, os.WriteFile(path, []byte(asOPA), 0o600))
	modules := map[string]*ast.Module{path: ast.MustParseModule(asOPA)}
	results, err := tester.NewRunner().SetStore(inmem.New()).SetModules(modules).RaiseBuiltinErrors(true).RunTests(context.Background(), nil)
	require.NoError(t, err)
	var want, got []string
	row := func(name string, pass, skip, failed bool) string {
		out := strings.TrimPrefix(name, "data.shapes_test.")
		for word, is := range map[string]bool{" passes": pass, " is skipped": skip, " has an error": failed} {
			if is {
				out += word
			}
		}
		return out
	}
	for r := range results {
		want = append(want, row(r.Package+"."+r.Name, r.Pass(), r.Skip, r.Error != nil))
	}
	sort.Strings(want)
	ours, found := RunTests(context.Background(), Tests{Paths: []string{path}})
	require.Empty(t, found.Render())
	for _, r := range ours {
		got = append(got, row(r.Name, r.Pass, r.Skip, r.Error != ""))
	}
	sort.Strings(got)
	assert.Greater(t, len(want), 30)
	assert.Equal(t, want, got)
}
