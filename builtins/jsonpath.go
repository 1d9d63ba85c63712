package builtins

import (
	"cmp"
	"fmt"
	"slices"
	"sync"

	"github.com/ohler55/ojg/jp"

	"github.com/hookc/hookc/policy"
)

var _ = register(Func{
	Name: "jsonpath.all", World: policy.WorldNone,
	Params: []Param{{Name: "value", Type: policy.AnyType}, param("query")}, Result: policy.ListType,
	Call: func(args []any) (any, error) { return selected(args[0], text(args[1])) },
	Doc:  "everything in value that a JSONPath query selects, in the order of lists and the sorted keys of objects; empty when nothing is",
	Examples: []Example{
		{Call: `jsonpath.all({"edits": [{"file": "a"}, {"file": "b"}]}, "$.edits[*].file")`, Want: []any{"a", "b"}},
		{Call: `jsonpath.all({"a": {"b": 1}}, "$..c")`, Want: []any{}},
	},
})

var _ = register(Func{
	Name: "jsonpath.get", World: policy.WorldNone,
	Params: []Param{{Name: "value", Type: policy.AnyType}, param("query")}, Result: policy.AnyType,
	Call: func(args []any) (any, error) {
		found, err := selected(args[0], text(args[1]))
		if err != nil {
			return nil, err
		}
		if len(found) == 0 {
			return nil, ErrUndefined
		}
		return found[0], nil
	},
	Doc: "the first thing in value that a JSONPath query selects; undefined when nothing is",
	Examples: []Example{
		{Call: `jsonpath.get({"edits": [{"file": "a"}]}, "$.edits[0].file")`, Want: "a"},
	},
})

// maxQuery bounds a query, in bytes; maxSelected what one may select.
const (
	maxQuery    = 1024
	maxSelected = 100_000
)

func selected(value any, query string) ([]any, error) {
	path, err := parsedQuery(query)
	if err != nil {
		return nil, err
	}
	// The library follows the order of Go's maps; places can be sorted.
	places := path.Locate(value, maxSelected+1)
	if len(places) > maxSelected {
		return nil, fmt.Errorf("the query selects more than %d values", maxSelected)
	}
	slices.SortStableFunc(places, comparePlaces)
	out := []any{}
	for _, p := range places {
		out = append(out, p.First(value))
	}
	return out, nil
}

func comparePlaces(a, b jp.Expr) int {
	for i := range min(len(a), len(b)) {
		x, isIndex := a[i].(jp.Nth)
		y, both := b[i].(jp.Nth)
		if isIndex && both && x != y {
			return cmp.Compare(x, y)
		}
		k, isKey := a[i].(jp.Child)
		l, bothKeys := b[i].(jp.Child)
		if isKey && bothKeys && k != l {
			return cmp.Compare(k, l)
		}
	}
	return cmp.Compare(len(a), len(b))
}

// queries are the parsed ones; when the store is full it is emptied, as that
// of patterns.
var queries = struct {
	sync.RWMutex
	m map[string]jp.Expr
}{m: map[string]jp.Expr{}}

func parsedQuery(query string) (jp.Expr, error) {
	queries.RLock()
	path := queries.m[query]
	queries.RUnlock()
	if path != nil {
		return path, nil
	}
	if len(query) > maxQuery {
		return nil, fmt.Errorf("the query is longer than %d bytes", maxQuery)
	}
	path, err := jp.ParseString(query)
	if err != nil {
		return nil, fmt.Errorf("%q is not a JSONPath query: %w", query, err)
	}
	queries.Lock()
	defer queries.Unlock()
	if len(queries.m) >= maxPatterns {
		clear(queries.m)
	}
	queries.m[query] = path
	return path, nil
}
