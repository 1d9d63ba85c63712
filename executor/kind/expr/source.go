package expr

import (
	"errors"
	"reflect"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/builtin"
	"github.com/expr-lang/expr/checker"
	"github.com/expr-lang/expr/checker/nature"
	"github.com/expr-lang/expr/conf"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/parser"
	"github.com/expr-lang/expr/types"

	"github.com/hookc/hookc/builtins"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
)

// formula is one expression of a hook made ready. It is immutable and safe for
// concurrent use.
type formula struct {
	// what names the expression in messages: deny, set tool_input.command.
	what string
	text diag.Text
	term
	vars, scopes int
	uses         uses
	tree         ast.Node
}

// run evaluates the formula: a value or undefined.
func (x *formula) run(f *frame) any {
	f.formula, f.at = x, 0
	return x.eval(f)
}

// span is where the character at a place of the expression is written.
func (x *formula) span(at int) diag.Span { return textSpan(x.text, at, at+1) }

// textSpan is where characters [from,to) of a text are written. The expr
// library counts characters, a diag.Text bytes.
func textSpan(t diag.Text, from, to int) diag.Span {
	start := byteOffset(t.Value, from)
	return t.At(start, start+byteOffset(t.Value[start:], to-from))
}

func byteOffset(s string, chars int) int {
	at := 0
	for ; chars > 0 && at < len(s); chars-- {
		_, n := utf8.DecodeRuneInString(s[at:])
		at += n
	}
	return at
}

// maxExpression bounds the length of one expression, in bytes: the library's
// parser descends once for every bracket.
const maxExpression = 64 << 10

// fieldTypes are the Go types under which the library checks fields.
var fieldTypes = map[policy.FieldType]types.Type{
	policy.AnyType: types.Any, policy.StringType: types.String, policy.NumberType: types.Int, policy.BoolType: types.Bool,
	policy.ObjectType: types.TypeOf(map[string]any{}), policy.ListType: types.TypeOf([]any{}),
}

// paramTypes are the Go types under which the library checks the parameters
// and results of functions. Any list will do where a list is wanted.
var paramTypes = map[policy.FieldType]reflect.Type{
	policy.AnyType: reflect.TypeFor[any](), policy.StringType: reflect.TypeFor[string](), policy.NumberType: reflect.TypeFor[float64](),
	policy.BoolType: reflect.TypeFor[bool](), policy.ObjectType: reflect.TypeFor[map[string]any](), policy.ListType: reflect.TypeFor[any](),
}

// configs are the library's configurations. One holds a cache and is used by
// one goroutine at a time.
var configs = sync.Pool{New: func() any {
	env := types.Map{}
	for _, f := range policy.Fields() {
		env[f.String()] = fieldTypes[f.Spec().Type]
	}
	c := conf.CreateNew()
	c.WithEnv(env)
	for _, fn := range builtins.Funcs() {
		in := make([]reflect.Type, len(fn.Params))
		for i, p := range fn.Params {
			in[i] = paramTypes[p.Type]
		}
		c.Functions[fn.Name] = &builtin.Function{
			Name:  fn.Name,
			Types: []reflect.Type{reflect.FuncOf(in, []reflect.Type{paramTypes[fn.Result]}, false)},
		}
	}
	return c
}}

// wanted is the type an expression must have.
type wanted uint8

const (
	wantAny wanted = iota
	wantTest
	wantText
)

// compileFormula makes an expression ready, or says what is wrong with it.
func compileFormula(h *policy.Hook, what string, text diag.Text, want wanted) (x *formula, found diag.List) {
	if len(text.Value) > maxExpression {
		return nil, diag.List{codeExprSyntax.Report(text.Span, "%s: longer than %d bytes", what, maxExpression)}
	}
	config := configs.Get().(*conf.Config)
	defer func() {
		// A panic of the library's parser or checker says the text is beyond
		// it; the configuration may be half changed and is not used again.
		if p := recover(); p != nil {
			x, found = nil, diag.List{codeExprSyntax.Report(text.Span, "%s: %v", what, p)}
			return
		}
		configs.Put(config)
	}()
	tree, err := parser.ParseWithConfig(text.Value, config)
	if err != nil {
		return nil, diag.List{syntaxError(what, text, err)}
	}
	r := resolver{event: h.Event.Spec(), text: text, calls: map[*ast.CallNode]*builtins.Func{}}
	r.visit(tree.Node)
	if r.found.HasErrors() {
		return nil, r.found
	}
	if _, err := checker.Check(tree, config); err != nil {
		return nil, append(r.found, syntaxError(what, text, err))
	}
	r.checkMethods(tree.Node)
	if d, ok := wrongType(what, text, tree.Node, want, &config.NtCache); ok {
		r.found.Add(d)
	}
	if r.found.HasErrors() {
		return nil, r.found
	}
	c := compiler{calls: r.calls}
	x = &formula{what: what, text: text, term: c.term(tree.Node), uses: r.uses, tree: tree.Node}
	x.vars, x.scopes = c.vars, c.scopes
	return x, r.found
}

func syntaxError(what string, text diag.Text, err error) diag.Diagnostic {
	var e *file.Error
	if !errors.As(err, &e) {
		return codeExprSyntax.Report(text.Span, "%s: %s", what, err)
	}
	d := codeExprSyntax.Report(textSpan(text, e.From, max(e.To, e.From+1)), "%s: %s", what, strings.TrimSpace(e.Message))
	if strings.Contains(e.Message, `Operator(".")`) {
		d = d.WithHint("a dotted function does not follow |: give it its first argument")
	}
	return d
}

// wrongType finds an expression that can never have the type that is wanted.
func wrongType(what string, text diag.Text, n ast.Node, want wanted, cache *nature.Cache) (diag.Diagnostic, bool) {
	t := n.Nature()
	if want == wantAny || t.IsUnknown(cache) {
		return diag.Diagnostic{}, false
	}
	span := text.At(0, len(text.Value))
	switch {
	case want == wantTest && !t.IsBool():
		return codeExprType.Report(span, "%s: a condition is true or false, this is %s", what, natureName(t)), true
	case want == wantText && !t.IsString() && !t.Nil:
		return codeExprType.Report(span, "%s: must be a text, this is %s", what, natureName(t)), true
	}
	return diag.Diagnostic{}, false
}

func natureName(t *nature.Nature) string {
	switch {
	case t.Nil:
		return "nil"
	case t.IsString():
		return "a text"
	case t.IsBool():
		return "true or false"
	case t.IsNumber():
		return "a number"
	case t.IsArray():
		return "a list"
	case t.IsMap():
		return "an object"
	case t.IsFunc():
		return "a function"
	}
	return t.String()
}
