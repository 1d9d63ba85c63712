package native

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// paths is an Input of one document by any paths. asked counts questions for
// each.
type paths struct {
	doc
	asked []int
}

func newPaths(list [][]string, v Value) *paths {
	return &paths{doc{p: &Program{Paths: list}, v: v}, make([]int, len(list))}
}

func (p *paths) Slot(i int) (Value, bool) {
	p.asked[i]++
	return p.doc.Slot(i)
}

// shuffled is a random program whose slots stand in another order.
func shuffled(r *rand.Rand) *maker {
	m := randomProgram(r)
	order := r.Perm(len(m.Paths))
	moved := make([][]string, len(m.Paths))
	for from, to := range order {
		moved[to] = m.Paths[from]
	}
	m.Paths = moved
	for i := range m.Funcs {
		renumbered(m.Funcs[i].Blocks, order)
	}
	return m
}

func renumbered(blocks []Block, order []int) {
	for i := range blocks {
		for j := range blocks[i].Stmts {
			s := &blocks[i].Stmts[j]
			if s.Op == OpInput {
				s.Index = int32(order[s.Index])
			}
			renumbered(s.Blocks, order)
		}
	}
}

// TestFusedChangesNothing: each member of many says what it says alone,
// whatever the others do.
func TestFusedChangesNothing(t *testing.T) {
	count := map[string]int{}
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 11))
		var members []Member
		for range 6 {
			members = append(members, Member{shuffled(r).linkAll(t), []int{3, 0, 2}})
		}
		f := NewFused(members)
		require.Len(t, f.Paths(), 5)
		c := &chance{maker: &maker{}, Rand: r}
		var m FusedMachine
		var alone Machine
		for range 40 {
			c.calm = r.IntN(3) > 0
			event := c.event()
			var chosen []int
			if r.IntN(2) == 0 {
				chosen = []int{1, 2, 5}
			}
			in := newPaths(f.Paths(), event)
			rules := map[string]string{}
			m.Yield = nil
			if r.IntN(2) == 0 {
				m.Yield = func(member, entry, block int, v Value) {
					rules[fmt.Sprint(member, entry)] += fmt.Sprint(block, " ", Text(v), "\n")
				}
			}
			answers := map[string]Answer{}
			failed := map[int]bool{}
			for _, a := range f.Eval(&m, in, chosen) {
				answers[fmt.Sprint(a.Member, a.Entry)] = a
				failed[a.Member] = failed[a.Member] || a.Bailed
			}
			for _, n := range in.asked {
				require.LessOrEqual(t, n, 1, "a slot is asked for once")
			}
			for i, member := range members {
				if chosen != nil && i != 1 && i != 2 && i != 5 {
					require.NotContains(t, failed, i)
					continue
				}
				bails := false
				for j, fn := range member.Entries {
					name, where := fmt.Sprint(i, j), fmt.Sprintf("seed %d, member %d, entry %d, event %#v", seed, i, j, event)
					want := outcome(&alone, member.Code, fn, event)
					bails = bails || want == "bail"
					a, ok := answers[name]
					if failed[i] && !a.Bailed {
						continue
					}
					if !ok {
						a.Value, a.Defined = f.Quiet(i, j)
						count["quiet"]++
					}
					require.Equal(t, want, said(a.Value, a.Defined, a.Bailed), where)
					count[want]++
					if m.Yield != nil && ok && !a.Bailed {
						require.Equal(t, delivered(&alone, member.Code, fn, event), rules[name], where)
					}
				}
				require.Equal(t, bails, failed[i])
			}
		}
	}
	require.Greater(t, count["bail"], 200)
	require.Greater(t, count["quiet"], 300)
	require.Greater(t, len(count), 50, "answers differ")
}

// hooks are n hooks of one guardrail each, all of one tool.
func hooks(tb testing.TB, n int) []Member {
	var list []Member
	for i := range n {
		m := &maker{}
		tool, command := m.path("tool_name"), m.path("tool_input", "command")
		contains := m.builtin("contains")
		m.fn("deny", 2, []Stmt{{Op: OpMakeSet, Target: out, Place: -1}}, []Stmt{
			in(4, tool), eq(l(4), m.c("Bash")), in(5, command),
			{Op: OpCallBuiltin, Target: 6, Index: contains, Args: []Operand{l(5), m.c("bad" + strconv.Itoa(i))}, Place: -1},
			ne(l(6), m.c(false)), put(m.c("no " + strconv.Itoa(i))),
		})
		list = append(list, Member{m.link(tb), []int{0}})
	}
	return list
}

// TestFusedHooks: of a thousand hooks those answer whose rules are true, and
// nothing is allocated when there is none.
func TestFusedHooks(t *testing.T) {
	f := NewFused(hooks(t, 1000))
	require.Equal(t, [][]string{{"tool_name"}, {"tool_input", "command"}}, f.Paths())
	var m FusedMachine
	var blocks []string
	m.Yield = func(member, entry, block int, v Value) {
		blocks = append(blocks, fmt.Sprint(member, entry, block, " ", v))
	}
	hits := f.Eval(&m, &slots{"Bash", "really bad77"}, nil)
	require.Len(t, hits, 2)
	for i, want := range []Answer{{Member: 7, Value: `{"no 7"}`, Defined: true}, {Member: 77, Value: `{"no 77"}`, Defined: true}} {
		hits[i].Value = Text(hits[i].Value)
		require.Equal(t, want, hits[i])
	}
	require.Equal(t, []string{"7 0 1 no 7", "77 0 1 no 77"}, blocks)
	v, defined := f.Quiet(3, 0)
	require.True(t, defined)
	require.Equal(t, "set()", Text(v))
	eval := func() { f.Eval(&m, &slots{"Bash", "really bad77"}, nil) }
	m.Yield = func(_, _, _ int, _ Value) {}
	delivered := testing.AllocsPerRun(20, eval)
	m.Yield = nil
	require.Equal(t, testing.AllocsPerRun(20, eval), delivered, "telling takes no memory")
	answers := f.Eval(&m, &slots{"Bash", 7}, nil)
	require.Len(t, answers, 1000, "a command that is no text fails in each")
	require.Equal(t, Answer{Member: 999, Bailed: true}, answers[999])
	require.Len(t, f.Eval(&m, &slots{"Bash", 7}, []int{3, 5}), 2)
	for _, in := range []*slots{{"Bash", harmless}, {"Read", "bad1"}, {nil, "bad1"}, {"Bash", nil}} {
		require.Zero(t, testing.AllocsPerRun(20, func() {
			if len(f.Eval(&m, in, nil)) > 0 {
				t.Fail()
			}
		}))
	}
}
