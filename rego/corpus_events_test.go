package rego

import (
	"encoding/json"
	"maps"
	"math/rand/v2"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
)

// eventMaker makes events that reach what a module tests: from the paths of
// the input that it reads, and the literals that it compares them with.
type eventMaker struct {
	*rand.Rand
	// near are the literals that stand in one rule with a path; all are all of
	// the module, its libraries and the data.
	paths [][]string
	near  map[string][]string
	all   []string
	seeds []any
	focus []focus
	turn  int
}

// usualEvent is what most hosts send.
var usualEvent = map[string]any{
	"event": "pre_tool_execution", "session_id": "s", "cwd": "/repo", "project_root": "/repo", "tool_name": "Bash",
	"permission_mode": "default", "tool_input": map[string]any{"command": "git status", "file_path": "src/a.go"},
}

func newEventMaker(r *corpusRun, rng *rand.Rand) *eventMaker {
	g := &eventMaker{Rand: rng, near: map[string][]string{}, seeds: append([]any{usualEvent}, r.events...)}
	for _, m := range append([]*ast.Module{r.module}, slices.Collect(maps.Values(r.libs))...) {
		for _, rule := range m.Rules {
			g.learn(m, rule)
		}
	}
	for _, rule := range r.module.Rules {
		if f := focusOn(r, namesOf(r.module), rule); len(f) > 0 {
			g.focus = append(g.focus, f)
		}
	}
	if r.libs != nil {
		g.all = append(g.all, literals(ast.NewTerm(r.data))...)
	}
	slices.Sort(g.all)
	g.all = slices.Compact(g.all)
	slices.SortFunc(g.paths, slices.Compare)
	g.paths = slices.CompactFunc(g.paths, slices.Equal)
	for path, texts := range g.near {
		slices.Sort(texts)
		g.near[path] = slices.Compact(texts)
	}
	return g
}

// learn takes a rule's paths and literals. A name that stands for a path, by
// import or by a rule of one reference, is that path.
func (g *eventMaker) learn(m *ast.Module, rule *ast.Rule) {
	texts := literals(rule)
	g.all = append(g.all, texts...)
	names := namesOf(m)
	ast.WalkTerms(rule, func(t *ast.Term) bool {
		if path := inputPath(t.Value, names); path != nil {
			g.paths = append(g.paths, path)
			key := strings.Join(path, ".")
			g.near[key] = append(g.near[key], texts...)
		}
		return false
	})
}

// inputPath is the constant path of the input that a reference or name begins
// with, nil when it is none.
func inputPath(v ast.Value, names map[string][]string) []string {
	ref, ok := v.(ast.Ref)
	if !ok {
		name, _ := v.(ast.Var)
		return names[string(name)]
	}
	head, ok := ref[0].Value.(ast.Var)
	if !ok {
		return nil
	}
	path := names[string(head)]
	if path == nil && head != ast.InputRootDocument.Value {
		return nil
	}
	path = slices.Clone(path)
	for _, t := range ref[1:] {
		s, ok := t.Value.(ast.String)
		if !ok {
			break
		}
		path = append(path, string(s))
	}
	if len(path) == 0 {
		return nil
	}
	return path
}

// literals are the constants of a rule or value, as the text of JSON.
func literals(of any) []string {
	var out []string
	ast.WalkTerms(of, func(t *ast.Term) bool {
		switch v := t.Value.(type) {
		case ast.String, ast.Number, ast.Boolean:
			out = append(out, v.String())
		case ast.Ref:
			for _, e := range v[1:] { // Names of fields are no literals.
				if _, name := e.Value.(ast.String); !name {
					out = append(out, literals(e)...)
				}
			}
			return true
		}
		return false
	})
	return out
}

// oddValues are of all types, huge and otherwise unusual.
var oddValues = []string{`null`, `true`, `false`, `0`, `-1`, `1.0`, `1.5`, `1e400`, `-1e-400`, `9007199254740993`, `1E2`, `-0`,
	`100000000000000000000000000`, `0.1`, `""`, `" "`, `"é🚀\u202e"`, `"\u0000"`, `[]`, `{}`, `[null]`, `["a", 1, {"b": []}]`,
	`{"": {"a": [1.0, 1]}}`, `[[], [[]]]`, `"1"`, `"true"`, `"-----"`, `"a\nb\n\nc"`, `"/"`, `"..//../"`, `"http://[::1"`, `"%zz"`}

// event is another event.
func (g *eventMaker) event() any {
	e := cloneEvent(g.seeds[g.IntN(len(g.seeds))])
	if g.IntN(4) == 0 && len(g.seeds) > 1 {
		return g.disturb(e)
	}
	o, ok := e.(map[string]any)
	if !ok {
		return g.disturb(e)
	}
	if len(g.focus) > 0 && g.IntN(2) == 0 {
		g.turn++
		g.fulfil(o, g.focus[g.turn%len(g.focus)])
		if g.IntN(3) == 0 {
			return g.disturb(e)
		}
		return e
	}
	for _, path := range g.paths {
		switch n := g.IntN(20); {
		case n < 11:
			setPath(o, path, g.value(path))
		case n < 13:
			setPath(o, path, jsonValue(oddValues[g.IntN(len(oddValues))]))
		case n == 13:
			unsetPath(o, path)
		}
	}
	if g.IntN(6) == 0 {
		return g.disturb(e)
	}
	return e
}

// value is one for a path: a literal that stands with it, or a text made of
// literals.
func (g *eventMaker) value(path []string) any {
	pool := g.near[strings.Join(path, ".")]
	if len(pool) == 0 || g.IntN(5) == 0 {
		pool = g.all
	}
	if len(pool) == 0 {
		return "x"
	}
	v := jsonValue(pool[g.IntN(len(pool))])
	switch x := v.(type) {
	case json.Number:
		return g.around(x)
	case string:
		return g.text(x, pool)
	}
	return v
}

// around is a number on either side of another.
func (g *eventMaker) around(n json.Number) any {
	i, err := n.Int64()
	if err != nil || g.IntN(4) == 0 {
		return n
	}
	switch g.IntN(4) {
	case 0:
		return jsonValue(ast.IntNumberTerm(int(i + 1)).String())
	case 1:
		return jsonValue(ast.IntNumberTerm(int(i - 1)).String())
	case 2:
		return json.Number(n.String() + ".5")
	}
	return n
}

// text is a text that a test of a literal is true of, or nearly.
func (g *eventMaker) text(s string, pool []string) any {
	if strings.ContainsAny(s, `\[(^$+`) {
		if sample, ok := g.sample(s); ok {
			s = sample
		}
	}
	if strings.Contains(s, "*") && g.IntN(2) == 0 {
		s = strings.NewReplacer("**/", "a/b/", "**", "a/b", "*", "x").Replace(s)
	}
	other, _ := jsonValue(pool[g.IntN(len(pool))]).(string)
	switch g.IntN(12) {
	case 0:
		return s + " " + other
	case 1:
		return other + " " + s
	case 2:
		return s + other
	case 3:
		return "a/" + s
	case 4:
		return s + "/x"
	case 5:
		return strings.ToUpper(s)
	case 6:
		return s[:len(s)/2]
	case 7:
		return []any{s, other}
	case 8:
		return s + " | " + other + " && x"
	}
	return s
}

// sample is a text that a regular expression matches.
func (g *eventMaker) sample(pattern string) (string, bool) {
	tree, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return "", false
	}
	var b strings.Builder
	g.match(&b, tree.Simplify())
	re, err := regexp.Compile(pattern)
	return b.String(), err == nil && re.MatchString(b.String())
}

func (g *eventMaker) match(b *strings.Builder, re *syntax.Regexp) {
	switch re.Op {
	case syntax.OpLiteral:
		b.WriteString(string(re.Rune))
	case syntax.OpCharClass:
		if n := len(re.Rune) / 2; n > 0 {
			b.WriteRune(re.Rune[2*g.IntN(n)])
		}
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		b.WriteString("x")
	case syntax.OpAlternate:
		g.match(b, re.Sub[g.IntN(len(re.Sub))])
	case syntax.OpStar, syntax.OpQuest:
		if g.IntN(2) == 0 {
			g.match(b, re.Sub[0])
		}
	case syntax.OpPlus, syntax.OpConcat, syntax.OpCapture:
		for _, sub := range re.Sub {
			g.match(b, sub)
		}
	}
}

// disturb changes one place of an event.
func (g *eventMaker) disturb(e any) any {
	if g.IntN(4) > 0 {
		switch x := e.(type) {
		case map[string]any:
			if names := slices.Sorted(maps.Keys(x)); len(names) > 0 {
				name := names[g.IntN(len(names))]
				if g.IntN(6) == 0 {
					delete(x, name)
				} else {
					x[name] = g.disturb(x[name])
				}
				return x
			}
		case []any:
			if len(x) > 0 {
				i := g.IntN(len(x))
				x[i] = g.disturb(x[i])
				return x
			}
		}
	}
	if g.IntN(2) == 0 && len(g.all) > 0 {
		return g.value(nil)
	}
	return jsonValue(oddValues[g.IntN(len(oddValues))])
}

func jsonValue(text string) any {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return text
	}
	return v
}

func cloneEvent(v any) any {
	switch x := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(x))
		for k, e := range x {
			out[k] = cloneEvent(e)
		}
		return out
	case []any:
		out := make([]any, len(x))
		for i, e := range x {
			out[i] = cloneEvent(e)
		}
		return out
	}
	return v
}

// set sets what is at a path, and objects on the way to it.
func setPath(o map[string]any, path []string, v any) {
	for _, name := range path[:len(path)-1] {
		below, ok := o[name].(map[string]any)
		if !ok {
			below = map[string]any{}
			o[name] = below
		}
		o = below
	}
	o[path[len(path)-1]] = v
}

func unsetPath(o map[string]any, path []string) {
	for _, name := range path[:len(path)-1] {
		below, ok := o[name].(map[string]any)
		if !ok {
			return
		}
		o = below
	}
	delete(o, path[len(path)-1])
}
