package rego

import (
	"context"
	"errors"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/ir"
	opa "github.com/open-policy-agent/opa/v1/rego"

	"github.com/hookc/hookc/internal/fault"
)

// planTarget is the name under which OPA knows the taker of its plans.
const planTarget = "hookc-native"

// planTaker is an OPA target that evaluates nothing: preparing a query for it
// hands over the query's plan, to whom the context names.
type planTaker struct{}

// planOf is the key under which a context holds where the plan goes.
type planOf struct{}

// errNoTarget is what evaluating for the target gives. Nobody does.
var errNoTarget = errors.New("rego: the target " + planTarget + " plans only")

var _ = register()

// register makes the target known at package load: OPA reads the registry
// without a lock.
func register() bool {
	opa.RegisterPlugin(planTarget, planTaker{})
	return true
}

func (planTaker) IsTarget(name string) bool { return name == planTarget }

func (t planTaker) PrepareForEval(ctx context.Context, p *ir.Policy, _ ...opa.PrepareOption) (opa.TargetPluginEval, error) {
	*ctx.Value(planOf{}).(**ir.Policy) = p
	return t, nil
}

func (planTaker) Eval(context.Context, *opa.EvalContext, ast.Value) (ast.Value, error) {
	return nil, errNoTarget
}

// planQuery is OPA's plan of a query over compiled modules. It fails when the
// planner does, panics included. It is safe for concurrent use on different
// compilers; nothing else may use c meanwhile.
func planQuery(c *ast.Compiler, query ast.Body) (p *ir.Policy, err error) {
	defer func() {
		if r := recover(); r != nil {
			p, err = nil, fault.Errorf("panic: %v", r)
		}
	}()
	options := []func(*opa.Rego){
		opa.Compiler(c), opa.ParsedQuery(query), opa.Target(planTarget), opa.EvalMode(ast.EvalModeTopdown),
	}
	for _, d := range functions().decls {
		options = append(options, opa.FunctionDecl(&opa.Function{Name: d.Name, Decl: d.Decl}))
	}
	if _, err := opa.New(options...).PrepareForEval(context.WithValue(context.Background(), planOf{}, &p)); err != nil {
		return nil, err
	}
	return p, nil
}
