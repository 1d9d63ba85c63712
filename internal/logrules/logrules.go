// Package logrules evaluates what `log:` of policies says in Rego and in expr: what of an
// entry of the decision log is masked, and which decisions are not logged.
package logrules

import (
	"context"
	"errors"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/topdown"

	"github.com/hookc/hookc/executor/kind/expr"
	"github.com/hookc/hookc/internal/decisionlog"
	"github.com/hookc/hookc/internal/fault"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
	"github.com/hookc/hookc/policy/record"
	"github.com/hookc/hookc/rego"
)

var codeRule = diag.Define("HK185", diag.Error, "rule of the log that cannot be used")

// budget bounds the evaluation of the rules of one entry.
const budget = time.Second

// Rules are the rules in force, compiled. They are safe for concurrent use.
type Rules struct {
	modules []module
	when    []conditional
}

// module is one file of Rego.
type module struct {
	compiler   *ast.Compiler
	mask, drop ast.Body
	narrow     bool
}

// conditional is a pointer that is masked where an expression holds, or drops where it
// has none.
type conditional struct {
	pointer string
	holds   policy.Runner
	at      diag.Span
}

// Compile makes the rules ready; nil if there is none. With errors among the findings there
// are none either.
func Compile(s *record.Settled) (*Rules, diag.List) {
	r := &Rules{}
	var found diag.List
	for _, m := range s.Rego {
		made, wrong := compileModule(m)
		found.Add(wrong...)
		r.modules = append(r.modules, made)
	}
	for _, list := range [][]record.Masking{s.Mask, s.Drop} {
		for _, m := range list {
			if m.If.IsZero() {
				continue
			}
			h := &policy.Hook{Name: "log", Kind: policy.KindExpr, Event: policy.PreToolExecution, Span: m.If.Span,
				Body: policy.Body{Rules: []policy.Rule{{Says: policy.MayDeny, Condition: m.If}}}}
			body, wrong := expr.Kind(budget, nil).Prepare(h)
			for _, d := range wrong {
				if d.Severity == diag.Error {
					d.Hook = ""
					found.Add(codeRule.Report(d.Span, "%s", d.Text).WithHint("%s", d.Hint))
				}
			}
			r.when = append(r.when, conditional{cond(m), body.Runner, m.If.Span})
		}
	}
	if found.HasErrors() || len(r.modules)+len(r.when) == 0 {
		return nil, found
	}
	return r, found
}

// Check finds what is wrong with the rules of a policy.
func Check(of []record.Setting) (found diag.List) {
	if len(of) > 0 {
		_, found = Compile(record.Settle(of))
	}
	return found
}

// cond is the pointer of a mask; drop has events in the place of one.
func cond(m record.Masking) string {
	if record.CheckPointer(m.What) == nil {
		return m.What
	}
	return ""
}

// compileModule compiles one file of Rego.
func compileModule(m record.Masking) (out module, found diag.List) {
	out.narrow = m.Narrow
	version := ast.RegoV1
	if m.Version == "v0" {
		version = ast.RegoV0
	}
	wrong := func(err error) (module, diag.List) {
		var list ast.Errors
		if !errors.As(err, &list) {
			return out, diag.List{codeRule.Report(m.Rego.Span, "%v", err)}
		}
		for _, e := range list {
			at := m.Rego.Span
			if e.Location != nil {
				at.Start = e.Location.Offset
				at.End = min(at.End, at.Start+max(1, len(e.Location.Text)))
			}
			found.Add(codeRule.Report(at, "%s", e.Message))
		}
		return out, found
	}
	parsed, err := ast.ParseModuleWithOpts("log.rego", m.Rego.Value, ast.ParserOptions{RegoVersion: version})
	if err != nil {
		return wrong(err)
	}
	capabilities := ast.CapabilitiesForThisVersion(ast.CapabilitiesRegoVersion(version))
	capabilities.Builtins = lists.DeleteFunc(capabilities.Builtins, func(b *ast.Builtin) bool { return lists.Has(rego.DefaultForbid(), b.Name) })
	capabilities.AllowNet = []string{}
	c := ast.NewCompiler().WithDefaultRegoVersion(version).WithCapabilities(capabilities)
	if c.Compile(map[string]*ast.Module{"log.rego": parsed}); c.Failed() {
		return wrong(c.Errors)
	}
	has := map[string]bool{}
	for _, r := range parsed.Rules {
		has[string(r.Head.Ref()[0].Value.(ast.Var))] = true
	}
	if !has["mask"] && !has["drop"] {
		return wrong(fault.Errorf("%s has neither mask nor drop", parsed.Package.Path))
	}
	ask := func(name string) ast.Body {
		if !has[name] {
			return nil
		}
		ref := parsed.Package.Path.Append(ast.StringTerm(name))
		body, err := c.QueryCompiler().Compile(ast.NewBody(ast.Equality.Expr(ast.VarTerm("value"), ast.NewTerm(ref))))
		if err != nil {
			found.Add(codeRule.Report(m.Rego.Span, "%s: %v", name, err))
		}
		return body
	}
	out.compiler, out.mask = c, ask("mask")
	if m.Drops {
		out.drop = ask("drop")
	}
	return out, found
}

// Edits is decisionlog.Rules. Its errors hold nothing of the event.
func (r *Rules) Edits(d *decisionlog.Decided, entry func() (map[string]any, error)) (drop bool, edits []decisionlog.Edit, err error) {
	for _, c := range r.when {
		result, err := c.holds.Run(context.Background(), d.In, 0)
		switch {
		case err != nil:
			return false, nil, fault.Errorf("the expression at %s failed", c.at)
		case result.Verdict != policy.Deny:
		case c.pointer == "":
			return true, nil, nil
		default:
			edits = append(edits, decisionlog.Edit{Op: "mask", Path: c.pointer})
		}
	}
	if len(r.modules) == 0 {
		return false, edits, nil
	}
	all, err := entry()
	if err != nil {
		return false, nil, errors.New("the entry cannot be given to the rules")
	}
	input, err := ast.InterfaceToValue(all)
	if err != nil {
		return false, nil, errors.New("the entry cannot be given to the rules")
	}
	for i := range r.modules {
		m := &r.modules[i]
		value, err := m.ask(m.drop, input)
		if err != nil {
			return false, nil, err
		}
		if value != nil && value.Compare(ast.Boolean(true)) == 0 {
			return true, nil, nil
		}
		value, err = m.ask(m.mask, input)
		if err != nil {
			return false, nil, err
		}
		more, err := m.edits(value)
		if err != nil {
			return false, nil, err
		}
		edits = append(edits, more...)
	}
	return false, edits, nil
}

// ask evaluates one rule; nil is undefined.
func (m *module) ask(body ast.Body, input ast.Value) (value ast.Value, err error) {
	if body == nil {
		return nil, nil
	}
	cancel := topdown.NewCancel()
	stop := time.AfterFunc(budget, cancel.Cancel)
	defer stop.Stop()
	q := topdown.NewQuery(body).WithCompiler(m.compiler).WithInput(ast.NewTerm(input)).WithCancel(cancel).WithStrictBuiltinErrors(true)
	err = q.Iter(context.Background(), func(r topdown.QueryResult) error {
		value = r[ast.Var("value")].Value
		return nil
	})
	var failed *topdown.Error
	switch {
	case errors.As(err, &failed) && failed.Location != nil:
		return nil, fault.Errorf("the rule at line %d failed: %s", failed.Location.Row, failed.Code)
	case err != nil:
		return nil, errors.New("a rule failed")
	}
	return value, nil
}

// edits reads what mask says: pointers, and objects as OPA has them.
func (m *module) edits(value ast.Value) (out []decisionlog.Edit, err error) {
	if value == nil {
		return nil, nil
	}
	v, err := ast.JSON(value)
	list, ok := v.([]any)
	if err != nil || !ok {
		return nil, errors.New("mask is no set and no list")
	}
	for _, item := range list {
		e := decisionlog.Edit{Op: "mask"}
		switch item := item.(type) {
		case string:
			e.Path = item
		case map[string]any:
			e.Op, _ = item["op"].(string)
			e.Path, _ = item["path"].(string)
			e.Value = item["value"]
			if e.Op != "remove" && e.Op != "upsert" && e.Op != "mask" {
				return nil, errors.New("mask has an op that is not mask, remove or upsert")
			}
		default:
			return nil, errors.New("mask has what is neither a JSON pointer nor an object")
		}
		if record.CheckPointer(e.Path) != nil {
			return nil, errors.New("mask has a path that is not below /input, /result or /answers")
		}
		if m.narrow {
			if !record.Narrow(e.Path) { // it says which call it was, or what was decided
				continue
			}
			e.Op, e.Value = "mask", nil
		}
		out = append(out, e)
	}
	return out, nil
}
