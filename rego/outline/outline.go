// Package outline says what stands where in Rego, for editors: rules, and what they
// refer to. It compiles nothing.
package outline

import (
	"errors"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/hookc/hookc/policy/diag"
)

// Module is the outline of one text.
type Module struct {
	// Package is its package, as data.a.b; Place where it is named.
	Package string
	Place   diag.Span
	Rules   []Name
	Refs    []Name
}

// Name is a rule, or a reference: data.a.b, input.tool_name, or the name of a function.
type Name struct {
	Path  string
	Place diag.Span
}

// Of is the outline of a text, nil for one that does not parse.
func Of(text diag.Text, v0 bool) *Module {
	options := ast.ParserOptions{RegoVersion: ast.RegoV1}
	if v0 {
		options.RegoVersion = ast.RegoV0
	}
	parsed, err := ast.ParseModuleWithOpts("", text.Value, options)
	if err != nil || parsed == nil {
		return nil
	}
	at := func(from, to *ast.Location) diag.Span {
		if from == nil || to == nil {
			return diag.Span{}
		}
		return text.At(from.Offset, to.Offset+len(to.Text))
	}
	m := &Module{Package: parsed.Package.Path.String(), Place: at(parsed.Package.Location, parsed.Package.Path[len(parsed.Package.Path)-1].Location)}
	known := map[string]string{}
	for _, i := range parsed.Imports {
		known[string(i.Name())] = i.Path.String()
		m.Refs = append(m.Refs, Name{i.Path.String(), at(i.Path.Location, i.Path.Location)})
	}
	for _, r := range parsed.Rules {
		name := r.Head.Ref()[0].Value.String()
		name = strings.Trim(name, `"`)
		known[name] = m.Package + "." + name
		if loc := r.Head.Location; loc != nil {
			from := loc.Offset
			if rest := text.Value[min(from, len(text.Value)):]; strings.HasPrefix(rest, "default ") {
				from += strings.Index(rest, name)
			}
			m.Rules = append(m.Rules, Name{m.Package + "." + name, text.At(from, from+len(name))})
		}
	}
	for _, r := range parsed.Rules {
		ast.WalkTerms(r, func(t *ast.Term) bool {
			switch v := t.Value.(type) {
			case ast.Ref:
				path, last := v[0].Value.String(), v[0].Location
				if full := known[path]; full != "" {
					path = full
				}
				for _, part := range v[1:] {
					word, ok := part.Value.(ast.String)
					if !ok {
						break
					}
					path, last = path+"."+string(word), part.Location
				}
				m.Refs = append(m.Refs, Name{path, at(v[0].Location, last)})
				for _, part := range v[1:] { // what stands in brackets
					ast.WalkTerms(part, func(x *ast.Term) bool { m.add(x, known, at); return false })
				}
				return true
			default:
				m.add(t, known, at)
			}
			return false
		})
	}
	return m
}

// add adds a bare name of a rule or an import.
func (m *Module) add(t *ast.Term, known map[string]string, at func(from, to *ast.Location) diag.Span) {
	if v, ok := t.Value.(ast.Var); ok && known[string(v)] != "" {
		m.Refs = append(m.Refs, Name{known[string(v)], at(t.Location, t.Location)})
	}
}

// Functions are the names of OPA's functions.
func Functions() []string {
	var out []string
	for _, b := range ast.Builtins {
		out = append(out, b.Name)
	}
	return out
}

// Function is what OPA says of one of its functions: how it is called, and what it does.
func Function(name string) (signature, doc string) {
	b := ast.BuiltinMap[name]
	if b == nil || b.Decl == nil {
		return "", ""
	}
	var args []string
	for _, a := range b.Decl.NamedFuncArgs().Args {
		args = append(args, a.String())
	}
	return name + "(" + strings.Join(args, ", ") + ")", b.Description
}

// Errors say why a text does not parse; Path of each is what is wrong.
func Errors(text diag.Text) []Name {
	_, err := ast.ParseModuleWithOpts("", text.Value, ast.ParserOptions{RegoVersion: ast.RegoV1})
	var list ast.Errors
	if !errors.As(err, &list) {
		return nil
	}
	var out []Name
	for _, e := range list {
		if e.Location != nil {
			out = append(out, Name{e.Message, text.At(e.Location.Offset, e.Location.Offset+max(len(e.Location.Text), 1))})
		}
	}
	return out
}
