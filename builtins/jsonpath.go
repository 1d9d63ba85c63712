package builtins

import (
	"cmp"
	"slices"
	"sort"
	"sync"

	"github.com/hookc/hookc/internal/fault"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy"
)

var _ = register(Func{
	Name: "jsonpath.all", World: policy.WorldNone,
	Params: []Param{{Name: "value", Type: policy.AnyType}, {Name: "query", Type: str}}, Result: policy.ListType,
	Call: func(args []any) (any, error) { return selected(args[0], text(args[1])) },
	Doc:  "everything in value that a JSONPath query selects, in the order of lists and the sorted keys of objects; empty when nothing is",
	Examples: []Example{
		{Call: `jsonpath.all({"edits": [{"file": "a"}, {"file": "b"}]}, "$.edits[*].file")`, Want: []any{"a", "b"}},
		{Call: `jsonpath.all({"a": {"b": 1}}, "$..c")`, Want: []any{}},
	},
})

var _ = register(Func{
	Name: "jsonpath.get", World: policy.WorldNone,
	Params: []Param{{Name: "value", Type: policy.AnyType}, {Name: "query", Type: str}}, Result: policy.AnyType,
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

// maxQuery bounds a query, in bytes; maxSelected what one may select, and
// maxVisited what it may look at for that.
const (
	maxQuery    = 1024
	maxSelected = 100_000
	maxVisited  = 2_000_000
)

func selected(value any, query string) ([]any, error) {
	path, err := parsedQuery(query)
	if err != nil {
		return nil, err
	}
	type found struct {
		at    []step
		value any
	}
	var all []found
	s := search{root: value}
	s.walk(value, path, func(v any) bool {
		all = append(all, found{lists.Copy(s.at), v})
		return len(all) <= maxSelected
	})
	switch {
	case len(all) > maxSelected:
		return nil, fault.Errorf("the query selects more than %d values", maxSelected)
	case s.visited > maxVisited:
		return nil, fault.Errorf("the query looks at more than %d values", maxVisited)
	case s.failed != nil:
		return nil, s.failed
	}
	sort.SliceStable(all, func(i, j int) bool { return slices.CompareFunc(all[i].at, all[j].at, compareSteps) < 0 })
	out := make([]any, len(all))
	for i, f := range all {
		out[i] = f.value
	}
	return out, nil
}

func compareSteps(a, b step) int {
	return lists.First(cmp.Compare(a.index, b.index), cmp.Compare(a.key, b.key))
}

// queries are the parsed ones; when the store is full it is emptied, as that
// of patterns.
var queries = struct {
	sync.RWMutex
	m map[string][]segment
}{m: map[string][]segment{}}

func parsedQuery(query string) ([]segment, error) {
	queries.RLock()
	path, known := queries.m[query]
	queries.RUnlock()
	if known {
		return path, nil
	}
	if len(query) > maxQuery {
		return nil, fault.Errorf("the query is longer than %d bytes", maxQuery)
	}
	path, err := parseQuery(query)
	if err != nil {
		return nil, fault.Errorf("%q is not a JSONPath query: %w", query, err)
	}
	queries.Lock()
	defer queries.Unlock()
	if len(queries.m) >= maxPatterns {
		clear(queries.m)
	}
	queries.m[query] = path
	return path, nil
}
