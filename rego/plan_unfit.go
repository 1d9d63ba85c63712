package rego

import (
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/topdown"

	"github.com/hookc/hookc/internal/spell"
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

// builtinNamed finds a function of OPA's or hookc's, nil if there is none.
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

// textPath is the part of a reference below data, of constant names.
//
//go:noinline
func textPath(ref ast.Ref) []string {
	out := make([]string, 0, len(ref)-1)
	for _, t := range ref[1:] {
		if s, ok := t.Value.(ast.String); ok {
			out = append(out, string(s))
		}
	}
	return out
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
	text, _, _ := spell.Cut(err.Error(), "\n")
	if what, _, ok := spell.Cut(text, "("); ok && strings.Contains(what, "not implemented") {
		text = what
	}
	return "planner: " + text
}
