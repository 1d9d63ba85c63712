package expr

import (
	"reflect"
	"strings"
	"unicode/utf8"

	"github.com/expr-lang/expr/builtin"
	"github.com/expr-lang/expr/vm/runtime"
)

// ownFuncs replace functions of the expr library: lookups find undefined
// rather than nil, what lists an object follows the order of its keys rather
// than chance, and what can grow without bound is bounded before it does.
var ownFuncs = map[string]func(f *frame, args []any) any{
	"get":    get,
	"first":  func(f *frame, args []any) any { return fetch(f, f.at, args[0], 0) },
	"last":   func(f *frame, args []any) any { return fetch(f, f.at, args[0], -1) },
	"keys":   func(f *frame, args []any) any { return objectList(f, args[0], func(k, _ any) any { return k }) },
	"values": func(f *frame, args []any) any { return objectList(f, args[0], func(_, v any) any { return v }) },
	"toPairs": func(f *frame, args []any) any {
		return objectList(f, args[0], func(k, v any) any { return []any{k, v} })
	},
	"repeat":  repeat,
	"replace": replace,
	"join":    join,
	"int":     toInt,
	"uniq":    uniq,
	"sort":    sorted,
}

// deepFuncs look at everything inside their arguments, however often a part
// is shared.
var deepFuncs = map[string]bool{
	"toJSON": true, "string": true, "flatten": true, "max": true, "min": true, "mean": true, "median": true,
}

// funcSizes say how much memory, in bytes, the library's functions are about
// to take.
var funcSizes = map[string]func(args []any) int{
	"lower": textSize, "upper": textSize, "toBase64": textSize, "fromBase64": textSize,
	"fromJSON":   func(args []any) int { return len(textOf(args[0])) * wordSize },
	"split":      splitSize,
	"splitAfter": splitSize,
	"concat":     listSize, "reverse": listSize, "sort": listSize,
}

func textOf(v any) string {
	s, _ := v.(string)
	return s
}

func textSize(args []any) int { return 2 * len(textOf(args[0])) }

func splitSize(args []any) int {
	s, sep := textOf(args[0]), textOf(args[1])
	if sep == "" {
		return utf8.RuneCountInString(s) * wordSize
	}
	return (strings.Count(s, sep) + 1) * wordSize
}

func listSize(args []any) int {
	n := 0
	for _, a := range args {
		n += listLength(a)
	}
	return n * wordSize
}

func listLength(v any) int {
	r := reflect.ValueOf(v)
	switch r.Kind() {
	case reflect.Slice, reflect.Array:
		return r.Len()
	}
	return 0
}

// weigh walks a value a function is about to walk, so that one whose parts are
// shared often enough to be huge runs into a budget here, where it can be
// stopped.
func (f *frame) weigh(v any, depth int) {
	f.tick()
	switch v := v.(type) {
	case string:
		f.grow(len(v) + wordSize)
		return
	case []any:
		for _, e := range v {
			f.weigh(e, depth+1)
		}
	case map[string]any:
		for k, e := range v {
			f.grow(len(k))
			f.weigh(e, depth+1)
		}
	default:
		f.grow(listLength(v) * wordSize)
	}
	f.grow(wordSize + 2*depth)
}

// get is a lookup without type errors: what cannot be looked up is not there.
func get(f *frame, args []any) any {
	switch key := number(args[1]).(type) {
	case string:
		if m, ok := args[0].(map[string]any); ok {
			return fetch(f, f.at, m, key)
		}
	case int:
		switch reflect.ValueOf(args[0]).Kind() {
		case reflect.Slice, reflect.Array, reflect.String:
			return fetch(f, f.at, args[0], key)
		}
	}
	return undefined
}

func objectList(f *frame, object any, element func(k, v any) any) any {
	r := reflect.ValueOf(object)
	if r.Kind() != reflect.Map {
		f.fail(f.at, "takes an object, not %s", typeName(object))
	}
	f.grow(r.Len() * 4 * wordSize)
	out := make([]any, 0, r.Len())
	for _, key := range sortedKeys(r) {
		out = append(out, element(key.Interface(), r.MapIndex(key).Interface()))
	}
	return out
}

func repeat(f *frame, args []any) any {
	s, n := args[0].(string), runtime.ToInt(f.inRange(args[1]))
	if n < 0 {
		f.fail(f.at, "repeat takes a count, not %d", n)
	}
	if len(s) > 0 && n > memoryBudget/len(s) {
		f.grow(-1)
	}
	f.grow(len(s) * n)
	if s == "" {
		return s
	}
	return strings.Repeat(s, n)
}

func replace(f *frame, args []any) any {
	s, old, with := args[0].(string), args[1].(string), args[2].(string)
	n := -1
	if len(args) == 4 {
		n = runtime.ToInt(f.inRange(args[3]))
	}
	count := strings.Count(s, old)
	if n >= 0 {
		count = min(count, n)
	}
	if count > 0 && len(with) > memoryBudget/count {
		f.grow(-1)
	}
	f.grow(len(s) + count*len(with))
	return strings.Replace(s, old, with, n)
}

func join(f *frame, args []any) any {
	glue := ""
	if len(args) == 2 {
		glue = args[1].(string)
	}
	list := f.list(args[0], "join")
	words := make([]string, len(list))
	for i, e := range list {
		s, ok := e.(string)
		if !ok {
			f.fail(f.at, "join takes a list of texts, not of %s", typeName(e))
		}
		words[i] = s
		f.grow(len(s) + len(glue))
	}
	return strings.Join(words, glue)
}

// sorted is the library's sort, which takes what is no list for an empty one.
func sorted(f *frame, args []any) any {
	args[0] = f.list(args[0], "sort")
	return callLibrary(builtin.Builtins[builtin.Index["sort"]], args)
}

func uniq(f *frame, args []any) any {
	list := f.list(args[0], "uniq")
	out := []any{}
	for _, e := range list {
		if !f.among(e, out) {
			out = append(out, e)
		}
	}
	f.grow(len(out) * wordSize)
	return out
}

func (f *frame) among(v any, list []any) bool {
	for _, e := range list {
		f.tick()
		if equal(f, e, v) {
			return true
		}
	}
	return false
}

// list is a list's elements, whatever Go type expr keeps them in.
func (f *frame) list(v any, who string) []any {
	if list, ok := v.([]any); ok {
		return list
	}
	r := reflect.ValueOf(v)
	switch r.Kind() {
	case reflect.Slice, reflect.Array:
	default:
		f.fail(f.at, "%s takes a list, not %s", who, typeName(v))
	}
	f.grow(r.Len() * wordSize)
	out := make([]any, r.Len())
	for i := range out {
		out[i] = r.Index(i).Interface()
	}
	return out
}
