package rego

import (
	"slices"
	"sort"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
	hostfacts "github.com/hookc/hookc/policy/facts"
)

var codeField = diag.Define("HK075", diag.Error, "Rego uses a field that does not exist")
var codeAbsent = diag.Define("HK076", diag.Warning, "Rego uses a field the event does not carry")
var codeResultKey = diag.Define("HK094", diag.Warning, "Rego's result has a key that means nothing")

// walker gathers what the rules reachable from the entry points use.
type walker struct {
	u       *unit
	c       *ast.Compiler
	rules   map[*ast.Rule]bool
	todo    []*ast.Rule
	whole   bool
	paths   []policy.Path
	effects policy.Effects
}

// infer works out the module's effects from the compiled program (semantics.md
// §3.2): an over-approximation, complete as it is.
func (m *Module) infer(u *unit) {
	w := walker{u: u, c: m.compiler, rules: map[*ast.Rule]bool{},
		effects: policy.Effects{World: policy.WorldNone, Spec: true, MayFail: true}}
	for _, e := range m.entries {
		for _, s := range e.sources {
			w.reach(s.rule)
		}
		w.effects.May |= e.powers
	}
	for len(w.todo) > 0 {
		r := w.todo[len(w.todo)-1]
		w.todo = w.todo[:len(w.todo)-1]
		w.visit(r)
	}
	sortPaths(w.paths)
	u.aside(func() { u.lintUncalled(m.compiler, w.rules) })
	m.input = newProjection(w.paths)
	w.effects.Reads = policy.NewPaths(w.paths...)
	if w.whole {
		m.input = projection{whole: true}
		w.effects.Reads = u.spec.Readable()
	}
	w.effects.Writes = u.writes()
	if m.entries[0].part == partResult {
		w.effects.May = u.spec.Powers
	}
	m.always = facts(m.entries)
	if m.always != 0 {
		w.effects.MayFail = false
	}
	m.effects = w.effects
}

func pathKey(p policy.Path) []string { return append([]string{p.Field.String()}, p.Keys...) }

func sortPaths(paths []policy.Path) {
	sort.Slice(paths, func(i, j int) bool { return slices.Compare(pathKey(paths[i]), pathKey(paths[j])) < 0 })
}

func (w *walker) reach(r *ast.Rule) {
	if !w.rules[r] {
		w.rules[r] = true
		w.todo = append(w.todo, r)
	}
}

// visit looks at every reference in a rule, its else branches included.
func (w *walker) visit(r *ast.Rule) {
	var vis *ast.GenericVisitor
	vis = ast.NewGenericVisitor(func(x any) bool {
		switch x := x.(type) {
		case *ast.Term:
			ref, ok := x.Value.(ast.Ref)
			if !ok {
				return false
			}
			w.ref(ref, x.Location, r)
			for i, operand := range ref {
				if i > 0 || !isVar(operand.Value) {
					vis.Walk(operand)
				}
			}
			return true
		case ast.Var: // A bare input is a reference of one part; a variable would mean the same.
			w.whole = w.whole || x.Equal(ast.InputRootDocument.Value)
		}
		return false
	})
	vis.Walk(r)
}

func isVar(v ast.Value) bool {
	_, ok := v.(ast.Var)
	return ok
}

// ref notes what one reference uses: input, other rules, or a function.
func (w *walker) ref(ref ast.Ref, at *ast.Location, in *ast.Rule) {
	if at == nil {
		at = in.Location
	}
	switch {
	case ref[0].Equal(ast.InputRootDocument):
		w.read(ref, at)
	case ref[0].Equal(ast.DefaultRootDocument):
		for _, r := range w.c.GetRulesDynamicWithOpts(ref, ast.RulesOptions{IncludeHiddenModules: true}) {
			w.reach(r)
		}
	default:
		w.call(ref.String())
	}
}

// call notes the effects of a function.
func (w *walker) call(name string) {
	if f := functions().byFn[name]; f != nil {
		w.effects.World = max(w.effects.World, f.World)
		w.effects.Volatile = w.effects.Volatile || f.Volatile
		return
	}
	if b := ast.BuiltinMap[name]; b != nil && b.Nondeterministic {
		w.effects.Volatile = true
	}
	switch name {
	case ast.HTTPSend.Name:
		// Only where the author allows it: it may change anything.
		w.effects.World, w.effects.Spec = policy.WorldWrite, false
	case ast.NetLookupIPAddr.Name:
		w.effects.World = max(w.effects.World, policy.WorldRead)
	}
}

// read notes the longest constant prefix of a reference to input.
func (w *walker) read(ref ast.Ref, at *ast.Location) {
	keys := leadingKeys(ref)
	if len(keys) == 0 {
		w.whole = true
		return
	}
	f, known := policy.ParseField(keys[0])
	if !known {
		w.u.unknownField("input."+keys[0], keys[0], at)
		return
	}
	if len(ref) > 2 && scalar(f.Spec().Type) {
		hint := ""
		if f == policy.FieldToolArguments {
			hint = "tool_input is the object"
		}
		w.u.reportHint(codeField, at, hint, "input.%s is a %s, and has no parts", f, f.Spec().Type)
		return
	}
	if !w.u.spec.CanRead(f) {
		w.u.absent(at, "input.%s is never present at %s", f, w.u.hook.Event)
		return
	}
	w.paths = append(w.paths, policy.Path{Field: f, Keys: expressible(keys[1:])})
}

// leadingKeys are the keys of a reference up to the first that is no constant
// text.
//
//go:noinline
func leadingKeys(ref ast.Ref) (keys []string) {
	for _, operand := range ref[1:] {
		s, ok := operand.Value.(ast.String)
		if !ok {
			break
		}
		keys = append(keys, string(s))
	}
	return keys
}

// expressible cuts keys before the first that a path's text form cannot hold.
func expressible(keys []string) []string {
	for i, k := range keys {
		if k == "" || strings.Contains(k, ".") {
			return keys[:i]
		}
	}
	return keys
}

func scalar(t policy.FieldType) bool {
	return t == policy.StringType || t == policy.NumberType || t == policy.BoolType
}

func (u *unit) unknownField(what, name string, at *ast.Location) {
	hint := hostfacts.Hint(name, "input.")
	if f, ok := hostName(name); ok {
		hint = `its canonical name is "` + f.String() + `"`
	}
	u.reportHint(codeField, at, hint, "%s is unknown", what)
}

// hostName is the field that hosts also send under the given name.
func hostName(name string) (policy.Field, bool) {
	c, _, err := policy.ContextFromMap(map[string]any{name: ""})
	if err != nil || c.Has(policy.FieldRaw) || len(c.Fields()) != 1 {
		return 0, false
	}
	return c.Fields()[0], true
}

// absent warns of a field that this event lacks. A file is often shared by
// hooks on several events, so there, and in shared libraries, it is normal.
func (u *unit) absent(at *ast.Location, format string, args ...any) {
	if at.File == ownFile && u.hook.Body.File == "" {
		u.report(codeAbsent, at, format, args...)
	}
}

// writes are the fields `patch` or `result` may set, from the keys as written;
// where they are computed, all the event takes.
func (u *unit) writes() policy.Paths {
	var paths []policy.Path
	for _, e := range u.entries {
		if !e.part.object() {
			continue
		}
		for _, r := range e.rules {
			for b := r; b != nil; b = b.Else {
				found, constant := u.written(e, b)
				if !constant {
					return u.spec.Writable()
				}
				paths = append(paths, found...)
			}
		}
	}
	return policy.NewPaths(paths...)
}

// written are the fields one rule sets; false when they are not constant.
func (u *unit) written(e *entry, r *ast.Rule) ([]policy.Path, bool) {
	value := r.Head.Value
	for _, key := range slices.Backward(r.Head.Ref()[1:]) { // patch.tool_input.command := v
		value = &ast.Term{Value: ast.NewObject([2]*ast.Term{key, value}), Location: key.Location}
	}
	fields, ok := constantKeys(value)
	if !ok {
		return nil, false
	}
	var paths []policy.Path
	for _, name := range lists.Keys(fields) {
		f, merges, sets := policy.HookResultField(name)
		switch {
		case !sets && e.part == partPatch && (!isField(name) || f.Derived()):
			u.unknownField("patch."+name, name, keyLocation(value, name, r))
			continue
		case !sets && e.part == partResult:
			if len(policy.UnknownResultKeys(map[string]any{name: nil})) > 0 {
				hint := diag.DidYouMean(name, policy.HookResultKeys(), "")
				u.reportHint(codeResultKey, keyLocation(value, name, r), hint, "result.%s is unknown", name)
			}
			continue // The rest of a HookResult changes no field.
		case !u.spec.CanWrite(f):
			u.absent(keyLocation(value, name, r), "%s cannot change %s", u.hook.Event, f)
			continue
		}
		if merges {
			paths = append(paths, leaves(f, fields[name])...)
			continue
		}
		paths = append(paths, policy.Path{Field: f})
	}
	return paths, true
}

func isField(name string) bool {
	_, known := policy.ParseField(name)
	return known
}

// leaves are the paths that a value sets in f, into which objects merge: their
// keys, or the field where those are computed.
func leaves(f policy.Field, value *ast.Term) []policy.Path {
	whole := []policy.Path{{Field: f}}
	keys, ok := constantKeys(value)
	if !ok {
		return whole
	}
	var paths []policy.Path
	for _, k := range lists.Keys(keys) {
		if len(expressible([]string{k})) == 0 {
			return whole
		}
		paths = append(paths, policy.Path{Field: f, Keys: []string{k}})
	}
	return paths
}

// constantKeys are the members of an object whose keys are all written out.
func constantKeys(t *ast.Term) (map[string]*ast.Term, bool) {
	object, ok := t.Value.(ast.Object)
	if !ok {
		return nil, false
	}
	out := map[string]*ast.Term{}
	err := object.Iter(func(k, v *ast.Term) error {
		s, isString := k.Value.(ast.String)
		ok = ok && isString
		out[string(s)] = v
		return nil
	})
	return out, ok && err == nil
}

func keyLocation(object *ast.Term, name string, r *ast.Rule) *ast.Location {
	at := r.Location
	object.Value.(ast.Object).Foreach(func(k, _ *ast.Term) {
		if s, ok := k.Value.(ast.String); ok && string(s) == name && k.Location != nil {
			at = k.Location
		}
	})
	return at
}

// facts are the verdicts a module gives whatever happens, when all its entry
// points are facts; such a module cannot fail.
func facts(entries []*entry) policy.Powers {
	var out policy.Powers
	for _, e := range entries {
		if !e.part.verdict() {
			return 0
		}
		for _, s := range e.sources {
			complete := s.rule.Head.RuleKind() == ast.SingleValue
			if len(s.branches) > 1 || complete && len(e.sources) > 1 || s.branches[0].constant == nil || !isFact(s.rule) {
				return 0
			}
			value := s.branches[0].constant
			if !complete {
				value = ast.NewSet(ast.NewTerm(value))
			}
			list, ok := e.contributes(value)
			if !ok {
				return 0
			}
			if len(list) > 0 {
				out |= e.powers
			}
		}
	}
	return out
}

func isFact(r *ast.Rule) bool {
	return r.Default || len(r.Body) == 1 && r.Body[0].Equal(ast.NewExpr(ast.InternedTerm(true)))
}
