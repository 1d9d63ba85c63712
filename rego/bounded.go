package rego

import (
	"strconv"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/topdown"

	"github.com/hookc/hookc/internal/lazy"
	"github.com/hookc/hookc/policy/digits"
	"github.com/hookc/hookc/rego/bounds"
	"github.com/hookc/hookc/rego/template"
)

func init() { bounds.Rendered = template.Rendered }

// OPA looks for a function in tables of the process before it looks among those
// that a query brings, so a query cannot give bounds to a function under its own
// name, and a host's own OPA must not have hookc's. The compiled rules therefore
// call each function that can cost much by another name, which no rule can
// write, and which only hookc's queries know.

// boundPrefix begins these names.
const boundPrefix = "bounded:"

// boundSet are functions with their bounds.
type boundSet struct {
	// funcs are OPA's and hookc's by their other names; keep notes what a rule or
	// a comprehension adds to what it makes.
	funcs map[string]*topdown.Builtin
	// refs are the other names, by the names.
	refs map[string]*ast.Term
}

const keepName = boundPrefix + "keep"

var boundFunctions = lazy.Value(func() boundSet {
	set := boundSet{funcs: map[string]*topdown.Builtin{}, refs: map[string]*ast.Term{}}
	add := func(decl *ast.Builtin, f topdown.BuiltinFunc) {
		b, known := bounds.Of(decl.Name)
		if !known {
			b.Class = bounds.Copies // hookc's own
		}
		if f == nil || b.Class == bounds.Fixed && b.Need == nil || b.Class == bounds.World {
			return
		}
		name := boundPrefix + decl.Name
		other := *decl
		other.Name = name
		other.CanSkipBctx = false
		set.funcs[name] = &topdown.Builtin{Decl: &other, Func: bounded(decl, b, f)}
		set.refs[decl.Name] = ast.NewTerm(ast.Ref{ast.VarTerm(name)})
	}
	for _, decl := range ast.Builtins {
		add(decl, topdown.GetBuiltin(decl.Name))
	}
	own := functions()
	for name, b := range own.eval {
		set.funcs[name] = b
		add(b.Decl, b.Func)
	}
	set.funcs[keepName] = &topdown.Builtin{
		Decl: &ast.Builtin{Name: keepName, Decl: keepType}, Func: keepKept,
	}
	return set
})

// bounded is a function with its bounds.
func bounded(decl *ast.Builtin, b bounds.Bound, f topdown.BuiltinFunc) topdown.BuiltinFunc {
	arity := decl.Decl.Arity()
	matches := decl.Name == ast.RegexMatch.Name || decl.Name == ast.RegexMatchDeprecated.Name
	return func(c topdown.BuiltinContext, args []*ast.Term, iter func(*ast.Term) error) error {
		steps, ok := c.Cancel.(*stepBudget)
		if !ok {
			return f(c, args, iter)
		}
		if b.Need != nil {
			need := b.Need(termArgs(args[:arity]))
			if need >= bounds.Never && b.Class == bounds.Numbers {
				steps.overrun(longNumber)
			}
			if !steps.has(need) {
				return steps.halt()
			}
		}
		if matches && longMatch(args) {
			return steps.match(args, iter)
		}
		return f(c, args, func(t *ast.Term) error {
			if t == nil && decl.Decl.Result() != nil {
				return noResult(decl.Name)
			}
			steps.glance()
			size := int64(0)
			switch {
			case b.Kept():
				size = measure(t.Value).Size
			case b.Class == bounds.Picks:
				size = shallow(t.Value)
			}
			if b.Class == bounds.Parses && measure(t.Value).Digits > digits.Max {
				steps.overrun(longNumber)
			}
			mark := steps.kept
			if !steps.take(size) || steps.spent {
				return steps.halt()
			}
			err := iter(t)
			// What nothing kept is garbage now.
			if steps.kept == mark {
				steps.held -= size
			}
			return err
		})
	}
}

// noResult is the failure of a function of OPA's that gives a result that is none,
// as json.patch does of some patches: OPA itself panics then.
func noResult(name string) error {
	return &topdown.Error{Code: topdown.BuiltinErr, Message: name + ": no result"}
}

// halt ends an evaluation that is over its budget.
func (b *stepBudget) halt() error {
	b.spent = true
	return topdown.Halt{Err: &topdown.Error{Code: topdown.CancelErr, Message: "the budget is used up"}}
}

// match is regex.match of a long text.
func (b *stepBudget) match(args []*ast.Term, iter func(*ast.Term) error) error {
	re, err := longPatterns.get(string(args[0].Value.(ast.String)))
	if err != nil {
		return err
	}
	matched, stopped := bounds.Match(re, string(args[1].Value.(ast.String)), func() bool {
		b.glance()
		return b.spent
	})
	if stopped {
		return b.halt()
	}
	return iter(ast.InternedTerm(matched))
}

func longMatch(args []*ast.Term) bool {
	s, ok := args[1].Value.(ast.String)
	_, pattern := args[0].Value.(ast.String)
	return ok && pattern && bounds.LongSubject(string(s))
}

// keepKept notes that something was added to what is being made.
func keepKept(c topdown.BuiltinContext, args []*ast.Term, iter func(*ast.Term) error) error {
	if steps, ok := c.Cancel.(*stepBudget); ok {
		size, err := strconv.ParseInt(string(args[0].Value.(ast.Number)), 10, 64)
		if err != nil {
			return err
		}
		if !steps.keep(size) {
			return steps.halt()
		}
	}
	return iter(nil)
}

// shallow is the size of a collection without what is in it.
func shallow(v ast.Value) int64 {
	switch x := v.(type) {
	case *ast.Array:
		return bounds.Collection + bounds.Element*int64(x.Len())
	case ast.Set:
		return bounds.Collection + bounds.Element*int64(x.Len())
	case ast.Object:
		return bounds.Collection + bounds.Element*int64(x.Len())
	}
	return 0
}

// measure measures a value.
func measure(v ast.Value) bounds.Measure {
	var m bounds.Measure
	measureInto(&m, v, 0)
	return m
}

func measureInto(m *bounds.Measure, v ast.Value, depth int64) {
	switch x := v.(type) {
	case ast.String:
		m.Text(string(x))
	case ast.Number:
		m.Num(string(x))
	case *ast.Array:
		m.Enter(x.Len(), depth)
		x.Foreach(func(t *ast.Term) { measureInto(m, t.Value, depth+1) })
	case ast.Set:
		m.Enter(x.Len(), depth)
		x.Foreach(func(t *ast.Term) { measureInto(m, t.Value, depth+1) })
	case ast.Object:
		m.Enter(2*x.Len(), depth)
		x.Foreach(func(k, e *ast.Term) {
			measureInto(m, k.Value, depth+1)
			measureInto(m, e.Value, depth+1)
		})
	default:
		m.Plain()
	}
}

// termArgs are the arguments of a call of topdown's.
type termArgs []*ast.Term

// Text is a bounds.Args'.
func (a termArgs) Text(i int) (string, bool) {
	if i >= len(a) {
		return "", false
	}
	s, ok := a[i].Value.(ast.String)
	return string(s), ok
}

// Number is a bounds.Args'.
func (a termArgs) Number(i int) (string, bool) {
	if i >= len(a) {
		return "", false
	}
	n, ok := a[i].Value.(ast.Number)
	return string(n), ok
}

// Count is a bounds.Args'.
func (a termArgs) Count(i int) int {
	if i >= len(a) {
		return 0
	}
	switch x := a[i].Value.(type) {
	case *ast.Array:
		return x.Len()
	case ast.Set:
		return x.Len()
	case ast.Object:
		return x.Len()
	}
	return 0
}

// Deep is a bounds.Args'.
func (a termArgs) Deep(i int) bounds.Measure {
	if i >= len(a) {
		return bounds.Measure{}
	}
	return measure(a[i].Value)
}

// Pairs is a bounds.Args'.
func (a termArgs) Pairs(i int, yield func(key, value string, ok bool)) {
	if i < len(a) {
		eachTerm(a[i].Value, func(k, v *ast.Term) {
			s, ok := v.Value.(ast.String)
			yield(termText(k), string(s), ok)
		})
	}
}

// Lists is a bounds.Args'.
func (a termArgs) Lists(i int, yield func(key string, list []string)) {
	if i >= len(a) {
		return
	}
	eachTerm(a[i].Value, func(k, v *ast.Term) {
		var list []string
		eachTerm(v.Value, func(_, e *ast.Term) {
			if s, ok := e.Value.(ast.String); ok {
				list = append(list, string(s))
			}
		})
		yield(termText(k), list)
	})
}

// termText is a key that is a text.
func termText(t *ast.Term) string {
	if t == nil {
		return ""
	}
	s, _ := t.Value.(ast.String)
	return string(s)
}

// eachTerm goes through a collection: only objects have keys.
func eachTerm(v ast.Value, yield func(k, v *ast.Term)) {
	switch x := v.(type) {
	case *ast.Array:
		x.Foreach(func(t *ast.Term) { yield(nil, t) })
	case ast.Set:
		x.Foreach(func(t *ast.Term) { yield(nil, t) })
	case ast.Object:
		x.Foreach(func(k, e *ast.Term) { yield(k, e) })
	}
}
