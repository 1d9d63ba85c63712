package rego

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/topdown"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/rego/native"
	"github.com/hookc/hookc/tests/depth"
)

// caller calls native's own builtin as a program does.
type caller struct {
	code *native.Code
	m    native.Machine
	args []native.Value
}

func newCaller(t testing.TB, name string, arity int, host native.Functions) *caller {
	t.Helper()
	block := native.Block{Place: -1}
	p := &native.Program{Builtins: []string{name}}
	call := native.Stmt{Op: native.OpCallBuiltin, Target: native.Local(2 + arity), Place: -1}
	for i := range arity {
		p.Paths = append(p.Paths, []string{fmt.Sprint(i)})
		block.Stmts = append(block.Stmts, native.Stmt{Op: native.OpInput, Index: int32(i), Target: native.Local(2 + i), Place: -1})
		call.Args = append(call.Args, native.Operand{N: int32(2 + i)})
	}
	block.Stmts = append(block.Stmts, call, native.Stmt{Op: native.OpReturn, A: native.Operand{N: int32(2 + arity)}, Place: -1})
	p.Funcs = []native.Func{{
		Name: "f", Path: []string{"g0", "f"}, Params: 2, Locals: int32(3 + arity), Return: native.Local(2 + arity),
		Blocks: []native.Block{block},
	}}
	code, err := native.Link(p, host)
	require.NoError(t, err, name)
	return &caller{code: code}
}

func (c *caller) Slot(i int) (native.Value, bool) { return c.args[i], true }

func (c *caller) call(args []native.Value) (native.Value, bool, error) {
	c.args = args
	return c.code.Eval(&c.m, 0, c)
}

// opaCall is what OPA's registry gives: all of a relation's results are one
// array. Where it panics it fails.
func opaCall(name string, args []*ast.Term) (out *ast.Term, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%v", r)
		}
	}()
	var all []*ast.Term
	err = topdown.GetBuiltin(name)((&evaluation{}).builtinContext(), args, func(t *ast.Term) error {
		all = append(all, ast.NewTerm(t.Value))
		return nil
	})
	switch {
	case err != nil:
		return nil, err
	case ast.BuiltinMap[name].Relation:
		return ast.ArrayTerm(all...), nil
	case len(all) == 0:
		return nil, nil
	}
	return all[0], nil
}

// outcome of one comparison.
type outcome int

const (
	failed   outcome = iota // by OPA, and not answered
	answered                // as OPA did
	bailed                  // though OPA has an answer
)

// compareBuiltin calls both, and says what is wrong with native's answer.
func compareBuiltin(c *caller, name string, terms []*ast.Term, args []native.Value) (outcome, string) {
	want, wantErr := opaCall(name, terms)
	got, defined, err := c.call(args)
	switch {
	case err != nil && wantErr != nil:
		return failed, ""
	case err != nil:
		return bailed, ""
	case wantErr != nil:
		return failed, fmt.Sprintf("OPA fails: %v; native gives %s", wantErr, native.Text(got))
	case !defined && want == nil:
		return answered, ""
	case !defined:
		return answered, fmt.Sprintf("OPA gives %v; native nothing", want)
	case want == nil:
		return answered, fmt.Sprintf("OPA gives nothing; native %s", native.Text(got))
	case want.Value.String() != native.Text(got):
		return answered, fmt.Sprintf("OPA gives %v; native %s", want, native.Text(got))
	case ast.Compare(fromNative(got), want.Value) != 0:
		return answered, fmt.Sprintf("OPA gives %v; native another %s", want, native.Text(got))
	case fromNative(got).Hash() != want.Value.Hash():
		return answered, fmt.Sprintf("what OPA gives is not found in a set of it, what native gives is: %v", want)
	}
	return answered, ""
}

// bridgedCases are functions of OPA's that native code calls, with the kinds of
// their arguments as builtinCases has them.
var bridgedCases = map[string]string{
	"object.union_n": "W", "object.subset": "&&", "strings.reverse": "s", "indexof_n": "ss", "strings.count": "ss", "strings.replace_n": "-s",
	"strings.split_n": "ssi", "cast_object": "o", "cast_array": "X", "cast_set": "X", "product": "I", "union": "6", "intersection": "6",
	"array.flatten": "l", "json.marshal": "x", "base64.encode": "s", "hex.decode": "h", "urlquery.decode": "q", "units.parse": "u",
	"units.parse_bytes": "u", "graph.reachable": "+@", "semver.compare": "vv", "net.cidr_contains": "cc", "sprintf": "fk",
	"plus": "nn", "minus": "nn", "mul": "nn", "div": "nn", "rem": "nn", "round": "n", "sum": "N", "bits.or": "nn", "bits.lsh": "n1",
}

// TestBridgedBuiltins: what OPA's functions give through native code is what they
// give to OPA, and is found where OPA finds it.
func TestBridgedBuiltins(t *testing.T) {
	for name, kinds := range bridgedCases {
		c := newCaller(t, name, len(kinds), bridge)
		g := arguments{generator{rand.New(rand.NewPCG(uint64(len(name)), uint64(name[0])))}}
		answers := 0
		for range depth.Judged(1500) {
			terms, args := g.tuple(kinds)
			o, wrong := compareBuiltin(c, name, terms, args)
			require.Empty(t, wrong, "%s%v", name, terms)
			if o == answered {
				answers++
			}
		}
		require.Positive(t, answers, name)
	}
}

// TestNativeBuiltins: every builtin that native has answers what OPA answers
// or bails, and it answers at least its share of what OPA has an answer for.
func TestNativeBuiltins(t *testing.T) {
	listed := map[string]bool{}
	rounds := number(t, "HOOKC_BUILTIN_ROUNDS", depth.Judged(1500))
	for _, b := range builtinCases {
		listed[b.name] = true
		t.Run(b.name, func(t *testing.T) {
			decl := ast.BuiltinMap[b.name]
			require.NotNil(t, decl)
			require.Len(t, b.kinds, len(decl.Decl.FuncArgs().Args))
			c := newCaller(t, b.name, len(b.kinds), nil)
			g := arguments{generator{rand.New(rand.NewPCG(uint64(len(b.name)), uint64(b.name[0])))}}
			var counts [3]int
			for range rounds {
				terms, args := g.tuple(b.kinds)
				o, wrong := compareBuiltin(c, b.name, terms, args)
				require.Empty(t, wrong, "%s%v", b.name, terms)
				counts[o]++
			}
			defined := counts[answered] + counts[bailed]
			require.Greater(t, defined, rounds/20, "OPA has hardly an answer")
			share := 100 * counts[answered] / defined
			require.GreaterOrEqual(t, share, b.share, "percent of what OPA answers; %d of %d", counts[answered], defined)
		})
	}
	names := native.Names()
	for _, name := range names {
		require.True(t, listed[name], "%s is not compared with OPA's", name)
	}
	require.Len(t, names, len(listed))
}

// FuzzNativeBuiltins takes the seed of a call.
func FuzzNativeBuiltins(f *testing.F) {
	for i := range builtinCases {
		f.Add(uint64(i), uint64(i))
	}
	f.Fuzz(func(t *testing.T, which, seed uint64) {
		b := builtinCases[which%uint64(len(builtinCases))]
		g := arguments{generator{rand.New(rand.NewPCG(seed, which))}}
		terms, args := g.tuple(b.kinds)
		_, wrong := compareBuiltin(newCaller(t, b.name, len(b.kinds), nil), b.name, terms, args)
		require.Empty(t, wrong, "%s%v", b.name, terms)
	})
}

// TestNativeBuiltinTexts: calls that the generator seldom makes, with what OPA
// makes of them.
func TestNativeBuiltinTexts(t *testing.T) {
	for _, name := range native.Names() {
		arity := len(ast.BuiltinMap[name].Decl.FuncArgs().Args)
		c := newCaller(t, name, arity, nil)
		for _, text := range builtinTexts[name] {
			list := ast.MustParseTerm("[" + text + "]").Value.(*ast.Array)
			terms, args := make([]*ast.Term, arity), make([]native.Value, arity)
			require.Equal(t, arity, list.Len(), "%s(%s)", name, text)
			for i := range terms {
				terms[i] = list.Elem(i)
				args[i] = toNative(terms[i].Value)
			}
			o, wrong := compareBuiltin(c, name, terms, args)
			require.Empty(t, wrong, "%s(%s)", name, text)
			require.NotEqual(t, bailed, o, "%s(%s)", name, text)
		}
	}
}
