package rego

import (
	"encoding/json"
	"errors"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/topdown"
	"github.com/open-policy-agent/opa/v1/types"

	"github.com/hookc/hookc/builtins"
	"github.com/hookc/hookc/internal/fault"
	"github.com/hookc/hookc/internal/lazy"
	"github.com/hookc/hookc/policy"
)

// functionSet is hookc's function table as OPA wants it. It is given to each
// compiler and query; OPA's global tables are not touched.
type functionSet struct {
	decls []*ast.Builtin
	eval  map[string]*topdown.Builtin
	byFn  map[string]*builtins.Func
}

var functions = lazy.Value(func() functionSet {
	set := functionSet{eval: map[string]*topdown.Builtin{}, byFn: map[string]*builtins.Func{}}
	for _, f := range builtins.Funcs() {
		if _, taken := ast.BuiltinMap[f.Name]; taken {
			panic("rego: OPA has a function called " + f.Name)
		}
		decl := declare(f)
		set.decls = append(set.decls, decl)
		set.eval[f.Name] = &topdown.Builtin{Decl: decl, Func: implement(f)}
		set.byFn[f.Name] = f
	}
	return set
})

// Capabilities is what hooks may call unless their policy says otherwise, as JSON that
// OPA's own tools read.
func Capabilities() string {
	forbid := map[string]struct{}{}
	for _, name := range DefaultForbid() {
		forbid[name] = struct{}{}
	}
	text, err := json.MarshalIndent(newOPACompiler(ast.RegoV1, forbid).Capabilities(), "", "  ")
	if err != nil {
		panic("rego: " + err.Error())
	}
	return string(text) + "\n"
}

// declare is a function's type. A list parameter takes a set as well.
func declare(f *builtins.Func) *ast.Builtin {
	args := make([]types.Type, len(f.Params))
	for i, p := range f.Params {
		args[i] = types.Named(p.Name, typeOf(p.Type))
		if p.Type == policy.ListType {
			args[i] = types.Named(p.Name, types.NewAny(types.NewArray(nil, types.A), types.SetOfAny))
		}
	}
	return &ast.Builtin{
		Name: f.Name, Description: f.Doc, Nondeterministic: f.Volatile,
		Decl: types.NewFunction(args, types.Named("result", typeOf(f.Result))),
	}
}

func typeOf(t policy.FieldType) types.Type {
	switch t {
	case policy.StringType:
		return types.S
	case policy.NumberType:
		return types.N
	case policy.BoolType:
		return types.B
	case policy.ObjectType:
		return types.NewObject(nil, types.NewDynamicProperty(types.A, types.A))
	case policy.ListType:
		return types.NewArray(nil, types.A)
	}
	return types.A
}

// implement makes a function callable: ErrUndefined is Rego's undefined, any
// other error and an argument of the wrong type are builtin errors, which fail
// the hook.
func implement(f *builtins.Func) topdown.BuiltinFunc {
	return func(bctx topdown.BuiltinContext, operands []*ast.Term, iter func(*ast.Term) error) error {
		args := make([]any, len(f.Params))
		for i, p := range f.Params {
			args[i] = toJSON(operands[i].Value)
			if !p.Type.Holds(args[i]) {
				return builtinError(bctx, f, fault.Errorf("%s must be %s, not %s",
					p.Name, p.Type.Article(), ast.ValueName(operands[i].Value)))
			}
		}
		steps, _ := bctx.Cancel.(*stepBudget)
		out, err := callOf(f, steps != nil && steps.madeUp)(args)
		switch {
		case errors.Is(err, builtins.ErrUndefined):
			return nil
		case err != nil:
			return builtinError(bctx, f, err)
		}
		return iter(toTerm(out))
	}
}

func builtinError(bctx topdown.BuiltinContext, f *builtins.Func, err error) error {
	return (&topdown.Error{
		Code: topdown.BuiltinErr, Location: bctx.Location, Message: f.Name + ": " + err.Error(),
	}).Wrap(err)
}
