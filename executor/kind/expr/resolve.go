package expr

import (
	"reflect"
	"strings"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/builtin"

	"github.com/hookc/hookc/builtins"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/internal/spell"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
	"github.com/hookc/hookc/policy/facts"
)

// uses is what an expression looks at.
type uses struct {
	paths []policy.Path
	// whole is true when every field may be read.
	whole    bool
	volatile bool
	world    policy.World
}

func (u *uses) add(o uses) {
	u.paths = append(u.paths, o.paths...)
	u.whole = u.whole || o.whole
	u.volatile = u.volatile || o.volatile
	u.world = max(u.world, o.world)
}

// reads is what was looked at, as the effects of a hook on the event.
func (u *uses) reads(spec *policy.EventSpec) policy.Paths {
	p := policy.NewPaths(u.paths...)
	if u.whole {
		p = p.Union(spec.Readable())
	}
	return p
}

// resolver finds out what each name of an expression means, turns calls of
// dotted functions into calls the library can check, and notes what is read
// (semantics.md §3.2).
type resolver struct {
	event *policy.EventSpec
	text  diag.Text
	lets  []string
	calls map[*ast.CallNode]*builtins.Func
	uses  uses
	found diag.List
}

func (r *resolver) report(n ast.Node, code *diag.Code, format string, args ...any) *diag.Diagnostic {
	at := n.Location()
	r.found.Add(code.Report(textSpan(r.text, at.From, max(at.To, at.From+1)), format, args...))
	return &r.found[len(r.found)-1]
}

func (r *resolver) visit(n ast.Node) {
	switch n := n.(type) {
	case *ast.IdentifierNode:
		r.identifier(n)
	case *ast.MemberNode:
		r.member(n)
	case *ast.CallNode:
		r.call(n)
	case *ast.VariableDeclaratorNode:
		r.let(n)
	case *ast.BinaryNode:
		r.visit(n.Left)
		r.visit(n.Right)
		r.nilTest(n)
	case *ast.BuiltinNode:
		r.uses.volatile = r.uses.volatile || n.Name == "now"
		r.visitAll(n.Arguments)
	default:
		r.visitAll(children(n))
	}
}

func (r *resolver) visitAll(nodes []ast.Node) {
	for _, n := range nodes {
		r.visit(n)
	}
}

// children are the parts of a node in the order they are written.
func children(n ast.Node) []ast.Node {
	switch n := n.(type) {
	case *ast.UnaryNode:
		return []ast.Node{n.Node}
	case *ast.BinaryNode:
		return []ast.Node{n.Left, n.Right}
	case *ast.ChainNode:
		return []ast.Node{n.Node}
	case *ast.MemberNode:
		return []ast.Node{n.Node, n.Property}
	case *ast.SliceNode:
		return lists.DeleteFunc([]ast.Node{n.Node, n.From, n.To}, func(n ast.Node) bool { return n == nil })
	case *ast.CallNode:
		return append([]ast.Node{n.Callee}, n.Arguments...)
	case *ast.BuiltinNode:
		return n.Arguments
	case *ast.PredicateNode:
		return []ast.Node{n.Node}
	case *ast.ConditionalNode:
		return []ast.Node{n.Cond, n.Exp1, n.Exp2}
	case *ast.VariableDeclaratorNode:
		return []ast.Node{n.Value, n.Expr}
	case *ast.SequenceNode:
		return n.Nodes
	case *ast.ArrayNode:
		return n.Nodes
	case *ast.MapNode:
		return n.Pairs
	case *ast.PairNode:
		return []ast.Node{n.Key, n.Value}
	}
	return nil
}

func (r *resolver) identifier(n *ast.IdentifierNode) {
	switch {
	case lists.Has(r.lets, n.Value):
	case n.Value == "$env":
		r.uses.whole = true
	default:
		f, ok := policy.ParseField(n.Value)
		if !ok {
			r.unknown(n, n.Value)
			return
		}
		r.read(n, policy.Path{Field: f})
	}
}

// read notes that a path is read, whose field n names.
func (r *resolver) read(n ast.Node, p policy.Path) {
	if !r.event.CanRead(p.Field) {
		r.report(n, codeExprAbsent, "%s never carries %s", r.event.Event, p.Field)
	}
	r.uses.paths = append(r.uses.paths, p)
}

func (r *resolver) unknown(n ast.Node, name string) {
	if lists.Has(builtin.Names, name) {
		r.report(n, codeExprName, "%s is a function: call it", name)
		return
	}
	if lists.Has(builtins.Roots(), name) {
		r.report(n, codeExprName, "%s begins the names of functions such as %s and is no field", name, r.functionsOf(name)[0])
		return
	}
	d := r.report(n, codeExprName, "no field is called %q", name)
	d.Hint = facts.Hint(name, "", r.lets...)
}

func (r *resolver) functionsOf(root string) []string {
	var out []string
	for _, f := range builtins.Funcs() {
		if strings.HasPrefix(f.Name, root+".") {
			out = append(out, f.Name)
		}
	}
	return out
}

func (r *resolver) member(n *ast.MemberNode) {
	if r.functionName(n) {
		return
	}
	p, ok := fieldPath(n, r.lets)
	if !ok {
		if id, isID := n.Node.(*ast.IdentifierNode); isID && id.Value == "$env" {
			r.environment(n)
			return
		}
		r.visit(n.Node)
		r.visit(n.Property)
		return
	}
	root, _ := pathRoot(n, r.lets)
	r.read(root, readable(p))
}

// environment resolves $env[…] that is no path.
func (r *resolver) environment(n *ast.MemberNode) {
	if name, ok := n.Property.(*ast.StringNode); ok {
		r.unknown(name, name.Value)
		return
	}
	r.uses.whole = true
	r.visit(n.Property)
}

// functionName reports a dotted function that is named and not called, or is
// none. `path` and `url` are fields as well: texts, which have no members.
func (r *resolver) functionName(n *ast.MemberNode) bool {
	name, ok := dotted(n, r.lets)
	if !ok {
		return false
	}
	root, _, _ := spell.Cut(name, ".")
	if !lists.Has(builtins.Roots(), root) {
		return false
	}
	if builtins.Lookup(name) != nil {
		r.report(n, codeExprFunction, "%s is a function: call it", name)
		return true
	}
	r.unknownFunction(n, name)
	return true
}

func (r *resolver) unknownFunction(n ast.Node, name string) {
	names := lists.Copy(builtin.Names)
	for _, f := range builtins.Funcs() {
		names = append(names, f.Name)
	}
	d := r.report(n, codeExprFunction, "no function is called %s", name)
	d.Hint = diag.DidYouMean(name, names, "")
	root, _, isDotted := spell.Cut(name, ".")
	if d.Hint == "" && isDotted {
		d.Hint = "there are " + strings.Join(r.functionsOf(root), ", ")
	}
}

func (r *resolver) call(n *ast.CallNode) {
	defer r.visitAll(n.Arguments)
	switch callee := n.Callee.(type) {
	case *ast.IdentifierNode:
		r.unknownFunction(n, callee.Value)
		return
	case *ast.MemberNode:
		name, ok := dotted(callee, r.lets)
		root, _, _ := spell.Cut(name, ".")
		if !ok || !lists.Has(builtins.Roots(), root) {
			r.visit(callee.Node)
			return
		}
		fn := builtins.Lookup(name)
		if fn == nil {
			r.unknownFunction(callee, name)
			return
		}
		r.use(n, fn)
		return
	}
	r.report(n, codeExprFunction, "only a function can be called")
}

// use makes a dotted call one of an identifier, which the library can check.
func (r *resolver) use(n *ast.CallNode, fn *builtins.Func) {
	id := &ast.IdentifierNode{Value: fn.Name}
	id.SetLocation(n.Callee.Location())
	n.Callee = id
	r.calls[n] = fn
	r.uses.world = max(r.uses.world, fn.World)
	r.uses.volatile = r.uses.volatile || fn.Volatile
}

func (r *resolver) let(n *ast.VariableDeclaratorNode) {
	r.visit(n.Value)
	if lists.Has(builtins.Roots(), n.Name) || n.Name == "$env" {
		r.report(n, codeExprName, "%s is reserved: it begins the names of functions", n.Name)
	}
	r.lets = append(r.lets, n.Name)
	r.visit(n.Expr)
	r.lets = r.lets[:len(r.lets)-1]
}

// nilTest reports a comparison with nil of something that may be missing.
func (r *resolver) nilTest(n *ast.BinaryNode) {
	if n.Operator != "==" && n.Operator != "!=" {
		return
	}
	for _, side := range [][2]ast.Node{{n.Left, n.Right}, {n.Right, n.Left}} {
		if _, isNil := side[1].(*ast.NilNode); isNil && mayBeMissing(side[0]) {
			r.report(n, codeExprNil, "%s nil does not hold for what is missing", n.Operator).
				Hint = `test for a key with "key" in object, or give a default with ??`
			return
		}
	}
}

// mayBeMissing reports whether a node looks something up. Fields themselves
// count: a host need not send them.
func mayBeMissing(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.ChainNode:
		return mayBeMissing(n.Node)
	case *ast.MemberNode:
		return true
	case *ast.IdentifierNode:
		_, ok := policy.ParseField(n.Value)
		return ok
	case *ast.BuiltinNode:
		return lists.Has([]string{"get", "first", "last", "find", "findLast", "findIndex", "findLastIndex"}, n.Name)
	}
	return false
}

// checkMethods reports calls of what the checker found to be no method of a
// time: values from an event have none.
func (r *resolver) checkMethods(n ast.Node) {
	if call, ok := n.(*ast.CallNode); ok && r.calls[call] == nil {
		callee := call.Callee.(*ast.MemberNode)
		if !isTime(callee.Node.Nature().Type) {
			r.report(callee, codeExprFunction, "only a function can be called")
		}
	}
	for _, child := range children(n) {
		r.checkMethods(child)
	}
}

// isTime reports whether values of a type are times, durations, or parts of
// them such as weekdays and zones.
func isTime(t reflect.Type) bool {
	if t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t != nil && t.PkgPath() == "time"
}
