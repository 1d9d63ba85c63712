package policy

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// generator draws small values, so that edits often meet.
type generator struct{ *rand.Rand }

func (g generator) value() any {
	switch g.IntN(5) {
	case 0:
		return map[string]any{"a": g.IntN(3), "b": map[string]any{"a": g.IntN(2)}}
	case 1:
		return []any{g.IntN(3)}
	case 2:
		return nil
	}
	return g.IntN(3)
}

func (g generator) path() Path {
	p := Path{Field: []Field{FieldToolInput, FieldUserInput, FieldRequestConfig}[g.IntN(3)]}
	for range g.IntN(3) {
		p.Keys = append(p.Keys, []string{"a", "b"}[g.IntN(2)])
	}
	return p
}

func (g generator) patch() Patch {
	var p Patch
	for range g.IntN(4) {
		e := Edit{Path: g.path(), Value: g.value()}
		if g.IntN(4) == 0 {
			e = Edit{Path: e.Path, Delete: true}
		}
		p = p.Then(Patch{[]Edit{e}})
	}
	return p
}

func (g generator) context() *Context {
	c := NewContext(PreToolExecution)
	for _, f := range []Field{FieldToolInput, FieldRequestConfig} {
		if g.IntN(3) > 0 {
			c.Set(f, map[string]any{"a": g.value(), "b": g.value()})
		}
	}
	return c
}

func (g generator) result() Result {
	r := Result{Verdict: Verdict(g.IntN(5)), Control: Control(g.IntN(4)), Patch: g.patch(), Suppress: g.IntN(2) == 0, EndChain: g.IntN(4) == 0}
	if r.Verdict != None {
		r.VerdictBy.Name = string(rune('a' + g.IntN(5)))
		r.Reasons = []Reason{{Text: r.VerdictBy.Name}}
	}
	if r.Control != Go {
		r.ControlBy.Name = string(rune('f' + g.IntN(5)))
	}
	for range g.IntN(3) {
		r.Context = append(r.Context, string(rune('a'+g.IntN(3))))
	}
	if g.IntN(3) == 0 {
		r.ToolConfig = &ToolConfig{Mode: toolModes[g.IntN(4)], Names: []string{string(rune('a' + g.IntN(3)))}}
	}
	return r
}

// normal forgets what two ways of composing the same patch may differ in: the
// order of edits that do not meet.
func same(t *testing.T, g generator, a, b Result) {
	t.Helper()
	for range 5 {
		c := g.context()
		require.Equal(t, c.With(a.Patch).Map(), c.With(b.Patch).Map())
	}
	a.Patch, b.Patch = Patch{}, Patch{}
	require.Equal(t, a, b)
}

// Law 19. Killed by: Then dropping an edit of p that q does not cover.
func TestPatchesActOnContexts(t *testing.T) {
	g := generator{rand.New(rand.NewPCG(1, 2))}
	for range 20_000 {
		p, q, c := g.patch(), g.patch(), g.context()
		require.Equal(t, c.With(p).With(q).Map(), c.With(p.Then(q)).Map(), "%v then %v", p, q)
	}
}

// Law 18. Killed by: FoldFirst testing y instead of x; joining in y's order.
func TestJoinIsAMonoid(t *testing.T) {
	g := generator{rand.New(rand.NewPCG(3, 4))}
	for range 5_000 {
		x, y, z := g.result(), g.result(), g.result()
		for _, fold := range []Fold{FoldMax, FoldFirst, FoldLast, FoldNone} {
			same(t, g, Join(fold, Join(fold, x, y), z), Join(fold, x, Join(fold, y, z)))
			same(t, g, Join(fold, x, Result{}), x)
			unit := Join(fold, Result{}, x)
			if fold == FoldNone {
				unit.Verdict, unit.VerdictBy = x.Verdict, x.VerdictBy
			}
			same(t, g, unit, x)
			both := Join(fold, x, x)
			require.Equal(t, Join(fold, x, Result{}).Verdict, both.Verdict)
			require.Equal(t, Join(fold, x, Result{}).VerdictBy, both.VerdictBy)
		}
		require.Equal(t, Join(FoldMax, x, y).Verdict, Join(FoldMax, y, x).Verdict)
		require.Equal(t, Join(FoldMax, x, y).Control, Join(FoldMax, y, x).Control)
	}
}

// Law 16 for one result. Killed by: Within keeping an edit it reports.
func TestMaskedPatchStaysInsideItsWrites(t *testing.T) {
	g := generator{rand.New(rand.NewPCG(5, 6))}
	spec := PreToolExecution.Spec()
	for range 20_000 {
		writes := NewPaths(g.path()).Within(spec.Writable())
		c, r := g.context(), g.result()
		out := Mask(spec, &Hook{Name: "h"}, &Effects{Writes: writes, May: AllPowers}, r)
		before, after := c.Map(), c.With(out.Patch)
		for _, p := range out.Patch.Paths().All() {
			require.True(t, writes.Covers(p), "%s is outside %s", p, writes)
		}
		for _, f := range []Field{FieldRequestConfig, FieldUserInput} {
			v, _ := after.Get(f)
			require.Equal(t, before[f.String()], v)
		}
	}
}

func TestReplacementIsReducedToTheDeclaredKeys(t *testing.T) {
	c := NewContext(PreToolExecution).Set(FieldToolInput, map[string]any{"command": "npm i", "cwd": "/x", "timeout": 5})
	replace := Replace(Path{Field: FieldToolInput}, map[string]any{"command": "pnpm i", "sudo": true})
	narrow, dropped := replace.Within(NewPaths(Path{FieldToolInput, []string{"command"}}, Path{FieldToolInput, []string{"timeout"}}))
	assert.Empty(t, dropped)
	got, _ := c.With(narrow).Get(FieldToolInput)
	assert.Equal(t, map[string]any{"command": "pnpm i", "cwd": "/x"}, got)
}

func TestDottedSetCreatesTheObjectsOnItsWay(t *testing.T) {
	p, err := ParsePath("tool_input.options.depth")
	require.NoError(t, err)
	got, _ := NewContext(PreToolExecution).With(Replace(p, 3)).Get(FieldToolInput)
	assert.Equal(t, map[string]any{"options": map[string]any{"depth": 3}}, got)
}

func TestPathsOverlapByPrefix(t *testing.T) {
	input := NewPaths(Path{Field: FieldToolInput})
	command := NewPaths(Path{FieldToolInput, []string{"command"}})
	content := NewPaths(Path{FieldToolInput, []string{"content"}})
	assert.True(t, input.Overlaps(command))
	assert.True(t, command.Overlaps(input))
	assert.False(t, command.Overlaps(content))
	assert.Equal(t, []string{"tool_input"}, command.Union(input).Names())
	assert.Equal(t, []string{"tool_input.command"}, input.Within(command).Names())
	assert.Equal(t, []string{"tool_name", "tool_input", "command"}, FieldPaths(FieldCommand).Names())
}
