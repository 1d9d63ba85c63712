package rego

import (
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/topdown"
)

// contextual are the functions whose result is not a matter of their arguments
// and the time of the evaluation alone, beside those OPA itself declares so:
// they write a trace, or describe the rule that calls them.
var contextual = map[string]bool{
	ast.Trace.Name: true, ast.Print.Name: true, ast.InternalPrint.Name: true,
	ast.RegoMetadataChain.Name: true, ast.RegoMetadataRule.Name: true,
	ast.OPARuntime.Name: true, ast.InternalTestCase.Name: true,
}

// timely are the functions that OPA declares nondeterministic and that yet
// depend only on their arguments, the time of the evaluation and the hosts that
// may be asked, which are none.
var timely = map[string]bool{
	ast.NowNanos.Name: true, ast.JWTDecodeVerify.Name: true, ast.JWTEncodeSign.Name: true,
	ast.JWTEncodeSignRaw.Name: true, ast.JSONSchemaVerify.Name: true, ast.JSONMatchSchema.Name: true,
}

// unfitBuiltin is why a function cannot be called natively, "" when it can.
func unfitBuiltin(name string) string {
	decl, f := builtinNamed(name)
	switch {
	case f == nil:
		return "uses " + name + ", which is not implemented"
	case contextual[name], decl.Nondeterministic && !timely[name], decl.Decl.Result() == nil:
		return "uses " + name
	}
	return ""
}

// builtinNamed finds a function of OPA's or hookc's, nil for none.
func builtinNamed(name string) (*ast.Builtin, topdown.BuiltinFunc) {
	if own := functions().eval[name]; own != nil {
		return own.Decl, own.Func
	}
	decl := ast.BuiltinMap[name]
	if decl == nil {
		return nil, nil
	}
	return decl, topdown.GetBuiltin(name)
}

// shapes are the rules that OPA's planner does not plan as topdown evaluates
// them, by their constant beginnings: rules that share one are one function of
// the plan.
type shapes []shape

type shape struct {
	path []string
	why  string
}

// shapesOf finds where OPA's planner makes one function of rules that it
// cannot tell apart as topdown does (it forgets else branches and defaults
// among them, gives all of them the arguments of the first, and sees conflicts
// of references of different lengths in another order), and where it leaves
// out what topdown evaluates, which may fail.
func shapesOf(c *ast.Compiler) shapes {
	var all []*ast.Rule
	for _, m := range c.Modules {
		all = append(all, m.Rules...)
	}
	var out shapes
	for _, r := range all {
		prefix := r.Ref().StringPrefix()
		s := shape{path: textPath(prefix)}
		if !r.Ref().IsGround() {
			for _, o := range all {
				if o != r && o.Ref().HasPrefix(prefix) {
					s.compare(r, o)
				}
			}
		}
		if s.why == "" {
			s.why = defect(c, r)
		}
		if s.why != "" {
			out = append(out, s)
		}
	}
	return out
}

func (s *shape) compare(r, o *ast.Rule) {
	switch {
	case r.Default || o.Default || r.Else != nil || o.Else != nil:
		s.why = "planner: a default or else among rules with variables in their names"
	case len(r.Head.Args) != len(o.Head.Args):
		s.why = "planner: functions among rules with variables in their names"
	case len(r.Ref()) != len(o.Ref()) || r.Head.RuleKind() != o.Head.RuleKind():
		s.why = "planner: rules with variables in their names, of different lengths"
	}
}

// textPath is the part of a reference below data, of constant names.
func textPath(ref ast.Ref) []string {
	out := make([]string, 0, len(ref)-1)
	for _, t := range ref[1:] {
		if s, ok := t.Value.(ast.String); ok {
			out = append(out, string(s))
		}
	}
	return out
}

// unfit is why the function at a path, its generation first, is none for
// native.
func (s shapes) unfit(path []string) string {
	for i := range s {
		if overlap(s[i].path, path[1:]) {
			return s[i].why
		}
	}
	return ""
}

// hides reports whether parts of the documents are left out of the whole of
// them, which OPA's planner does not know.
func hides(n *ast.TreeNode) bool {
	if n == nil {
		return false
	}
	for _, child := range n.Children {
		if child.Hide || hides(child) {
			return true
		}
	}
	return false
}

// inWords makes the planner's error a reason, without the terms it is about.
func inWords(err error) string {
	text, _, _ := strings.Cut(err.Error(), "\n")
	if what, _, ok := strings.Cut(text, "("); ok && strings.Contains(what, "not implemented") {
		text = what
	}
	return "planner: " + text
}
