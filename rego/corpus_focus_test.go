package rego

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
)

// wish is what one expression of a rule asks of a path, as far as its text
// shows it.
type wish struct {
	path     []string
	operator string
	texts    []string
}

// focus are the wishes of one rule and of the rules that it rests on.
type focus []wish

// reader reads a module's rules for what they ask.
type reader struct {
	names map[string][]string
	rules map[string][]*ast.Rule
	found focus
	seen  map[*ast.Rule]bool
}

// focusOn reads what a rule asks of the input.
func focusOn(r *corpusRun, names map[string][]string, rule *ast.Rule) focus {
	read := &reader{names: names, rules: map[string][]*ast.Rule{}, seen: map[*ast.Rule]bool{}}
	for _, o := range r.module.Rules {
		read.rules[string(o.Head.Name)] = append(read.rules[string(o.Head.Name)], o)
	}
	for _, lib := range r.libs {
		path := lib.Package.Path
		name := strings.Trim(path[len(path)-1].Value.String(), `"`)
		for _, o := range lib.Rules {
			key := name + "." + string(o.Head.Name)
			read.rules[key] = append(read.rules[key], o)
		}
	}
	read.rule(rule, nil)
	return read.found
}

func (d *reader) rule(r *ast.Rule, given map[string][]string) {
	if d.seen[r] || len(d.seen) > 12 {
		return
	}
	d.seen[r] = true
	texts := map[string][]string{}
	for name, list := range given {
		texts[name] = list
	}
	for _, e := range r.Body {
		if !e.Negated {
			d.expr(e, texts)
		}
	}
}

// expr reads an expression; texts are the literals that variables hold.
func (d *reader) expr(e *ast.Expr, texts map[string][]string) {
	list := literals(e)
	var paths [][]string
	ast.WalkTerms(e, func(t *ast.Term) bool {
		if v, ok := t.Value.(ast.Var); ok {
			list = append(list, texts[string(v)]...)
		}
		if path := inputPath(t.Value, d.names); path != nil {
			paths = append(paths, path)
			return true
		}
		d.follow(t.Value, list)
		return false
	})
	d.bind(e, list, paths, texts)
	operator := ""
	if e.IsCall() {
		operator = e.Operator().String()
	}
	for _, path := range paths {
		d.found = append(d.found, wish{path, operator, list})
	}
}

// bind notes what variables an expression gives a value: those that stand for
// literals, and those that stand for a path.
func (d *reader) bind(e *ast.Expr, list []string, paths [][]string, texts map[string][]string) {
	var bound []*ast.Term
	if some, ok := e.Terms.(*ast.SomeDecl); ok && len(some.Symbols) == 1 {
		if call, ok := some.Symbols[0].Value.(ast.Call); ok {
			bound = call[1 : len(call)-1]
		}
	}
	if e.IsAssignment() || e.IsEquality() {
		bound = []*ast.Term{e.Operand(0)}
	}
	for _, t := range bound {
		v, ok := t.Value.(ast.Var)
		switch {
		case ok && len(paths) > 0:
			if d.names[string(v)] == nil {
				d.names[string(v)] = paths[0]
			}
		case ok:
			texts[string(v)] = list
		}
	}
}

// follow reads the rules that a name or reference means; a function's
// variables may be any of the literals of the call.
func (d *reader) follow(v ast.Value, list []string) {
	name := ""
	switch v := v.(type) {
	case ast.Var:
		name = string(v)
	case ast.Ref:
		name = strings.TrimPrefix(v.String(), "data.lib.")
		if d.rules[name] == nil {
			name = v[0].Value.String()
		}
	}
	for _, r := range d.rules[name] {
		given := map[string][]string{}
		for _, arg := range r.Head.Args {
			if param, ok := arg.Value.(ast.Var); ok {
				given[string(param)] = list
			}
		}
		d.rule(r, given)
	}
}

// namesOf are the names that stand for paths in a module.
func namesOf(m *ast.Module) map[string][]string {
	names := map[string][]string{}
	for _, i := range m.Imports {
		if path := inputPath(i.Path.Value, nil); path != nil {
			names[string(i.Name())] = path
		}
	}
	for _, r := range m.Rules {
		if r.Head.Value != nil && len(r.Head.Ref()) == 1 && len(r.Head.Args) == 0 {
			if path := innerPath(r.Head.Value.Value, names); path != nil {
				names[string(r.Head.Name)] = path
			}
		}
	}
	return names
}

// innerPath is the first path of the input that a value is made of.
func innerPath(v ast.Value, names map[string][]string) (path []string) {
	ast.WalkTerms(ast.NewTerm(v), func(t *ast.Term) bool {
		if path == nil {
			path = inputPath(t.Value, names)
		}
		return path != nil
	})
	return path
}

// fulfil sets what a rule's wishes ask for, most of them.
func (g *eventMaker) fulfil(o map[string]any, f focus) {
	parts := map[string]*[3][]string{}
	var paths [][]string
	for _, w := range f {
		if len(w.texts) == 0 {
			continue
		}
		v := jsonValue(w.texts[g.IntN(len(w.texts))])
		text, isText := v.(string)
		if n, ok := v.(json.Number); ok {
			v = g.around(n)
		}
		place := 1
		switch w.operator {
		case "startswith", "split", "strings.any_prefix_match":
			place = 0
		case "endswith", "strings.any_suffix_match":
			place = 2
		case "regex.match", "regex.find_n", "glob.match", "contains":
		default:
			setPath(o, w.path, v)
			continue
		}
		if !isText {
			continue
		}
		key := strings.Join(w.path, "\x00")
		if parts[key] == nil {
			parts[key] = &[3][]string{}
			paths = append(paths, w.path)
		}
		if sample, ok := g.sample(text); ok && strings.HasPrefix(w.operator, "regex.") {
			text = sample
		}
		if w.operator == "glob.match" {
			text = strings.NewReplacer("**/", "a/b/", "**", "a/b", "*", "x", "{", "", "}", "").Replace(text)
		}
		parts[key][place] = append(parts[key][place], text)
	}
	for _, path := range paths {
		p := parts[strings.Join(path, "\x00")]
		setPath(o, path, strings.Join(slices.Concat(p[0], p[1], p[2]), []string{"", " ", " ", "/", " x "}[g.IntN(5)]))
	}
}
