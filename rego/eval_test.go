package rego

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/builtins"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
	"github.com/hookc/hookc/rego/thread"
)

func TestBudget(t *testing.T) {
	for source, text := range map[string]string{
		"deny contains \"x\" if { some i in numbers.range(1, 40000); some j in numbers.range(1, 40000); i + j == 0 }": "evaluation took longer than its budget of 20ms",
		"deny contains \"x\" if count(numbers.range(1, 1000000000)) == 0":                                             "evaluation would hold more than its 8 MiB of memory",
	} {
		h := guard(source)
		h.Timeout = 20 * time.Millisecond
		start := time.Now()
		_, err := compiled(t, h).Run(context.Background(), bash("ls"), 0)
		took := time.Since(start)
		var failure *policy.HookError
		require.ErrorAs(t, err, &failure, source)
		assert.Equal(t, policy.ErrBudget, failure.Kind)
		assert.Equal(t, text, failure.Text)
		assert.Less(t, took, time.Minute)
	}
}

// A long stretch uses a tenth of the budget, or what the thread was at work in
// it if that is more. Ten budgets are the end in any case.
func TestBudgetForgivesAStall(t *testing.T) {
	const ms = time.Millisecond
	var worked time.Duration
	id := 1
	budget := func() *stepBudget {
		b := newStepBudget(t.Context(), 100*ms)
		b.thread = func() thread.Time { return thread.Time{Thread: id, Worked: worked} }
		b.at = b.thread()
		return b
	}
	b := budget()
	b.look(90 * ms)
	assert.Equal(t, 10*ms, b.used, "the thread was not at work")
	worked = 45 * ms
	b.look(500 * ms)
	assert.Equal(t, 45*ms, b.used, "it was for 45 ms, of which 10 are charged")
	id, worked = 2, time.Second
	b.look(600 * ms)
	assert.Equal(t, 55*ms, b.used, "what another thread did before is not this evaluation's")
	now := 600 * ms
	for range 5 {
		now += 9 * ms
		b.look(now)
	}
	assert.Equal(t, 100*ms, b.used)
	assert.False(t, b.Cancelled(), "all of the budget")
	b.look(now + 1)
	assert.True(t, b.Cancelled(), "and no more")

	b = budget()
	b.look(1000 * ms)
	assert.False(t, b.Cancelled())
	b = budget()
	b.look(1000*ms + 1)
	assert.True(t, b.Cancelled(), "ten budgets on the clock")
}

func TestBudgetDefaults(t *testing.T) {
	h := guard(`deny contains "x" if true`)
	assert.Equal(t, DefaultBudget, compiled(t, h).budget)
	m, _ := (&Compiler{Budget: time.Second}).Compile(h)
	assert.Equal(t, time.Second, m.budget)
	h.Timeout = time.Minute
	m, _ = (&Compiler{Budget: time.Second}).Compile(h)
	assert.Equal(t, time.Minute, m.budget)
}

func TestContextEnds(t *testing.T) {
	h := guard("deny contains \"x\" if { some i in numbers.range(1, 40000); some j in numbers.range(1, 40000); i + j == 0 }")
	h.Timeout = time.Minute
	m := compiled(t, h)
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(10*time.Millisecond, cancel)
	_, err := m.Run(ctx, bash("ls"), 0)
	assert.Equal(t, policy.ErrDeadline, policy.KindOf(err))
	assert.ErrorIs(t, err, context.Canceled)
}

// One module serves many goroutines, and one input many modules.
func TestConcurrency(t *testing.T) {
	dir := shared(t, map[string]string{"d.json": `{"names": {"a": ["x", "y"], "b": ["z"]}, "set": ["p", "q"]}`,
		"lib.rego": "package lib\nsep := \"/\"\n"})
	modules := make([]*Module, 4)
	var c Compiler
	var compiling sync.WaitGroup
	for i := range modules {
		h := withFiles(inline(fmt.Sprint("h", i), policy.PreToolExecution, `package p
deny contains msg if { some k, v in data.names; some n in v; contains(input.tool_input.command, n); msg := sprintf("%s %s", [k, n]) }
deny contains msg if { some q in {x | some x in data.set}; msg := path.base(concat(data.lib.sep, [input.cwd, q])) }
ask contains "walk" if { walk(input.tool_input, [_, v]); v == 7 }
`), dir, []string{"lib.rego"}, []string{"d.json"})
		h.Timeout = time.Minute // the machine may be busy
		compiling.Go(func() { modules[i], _ = c.Compile(h) })
	}
	compiling.Wait()
	event := call("Bash", map[string]any{"command": "x z", "deep": map[string]any{"a": []any{1, 7, map[string]any{"b": 1.5}}}})
	input := newProjection(modules[0].Effects().Reads.All()).value(event)
	want, err := modules[0].Run(context.Background(), event, 0)
	require.NoError(t, err)
	require.Equal(t, []string{"6:7 a x", "6:7 b z", "7:7 p", "7:7 q", "8:7 walk"}, func() (out []string) {
		for _, r := range short(want).Reasons {
			out = append(out, bump(r))
		}
		return out
	}())
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for i := range 50 {
				m := modules[(g+i)%len(modules)]
				got, err := m.Eval(context.Background(), input)
				assert.NoError(t, err)
				assert.Equal(t, len(want.Reasons), len(got.Reasons))
				got, err = m.Run(context.Background(), event, 0)
				assert.NoError(t, err)
				assert.Equal(t, short(want).Reasons, short(got).Reasons)
			}
		})
	}
	wg.Wait()
}

// bump moves a line one down: these sources hold their package themselves.
func bump(reason string) string {
	var line, col int
	var rest string
	if n, _ := fmt.Sscanf(reason, "%d:%d", &line, &col); n == 2 {
		_, rest, _ = strings.Cut(reason, " ")
	}
	return fmt.Sprintf("%d:%d %s", line+1, col, rest)
}

func TestNumbersAreExact(t *testing.T) {
	for _, v := range []any{0, -1, 7, 1 << 40, 1.5, -0.25, 1e300, json.Number("12345678901234567890"), json.Number("1e400"), json.Number("0.10")} {
		term := toTerm(v)
		assert.True(t, policy.SameValue(v, toJSON(term.Value)), "%v became %v", v, toJSON(term.Value))
	}
	assert.Equal(t, 5, toJSON(toTerm(int64(5)).Value))
	assert.Equal(t, map[string]any{"a": []any{nil, true, "s", 1, 1.5}},
		toJSON(toTerm(map[string]any{"a": []any{nil, true, "s", 1, 1.5}}).Value))
}

// Every example of every function of hookc holds in Rego.
func TestFunctionExamples(t *testing.T) {
	for _, f := range builtins.Funcs() {
		for _, example := range f.Examples {
			m := compiled(t, guard("result := {\"tool_input\": {\"v\": "+example.Call+"}}"))
			r, err := m.Run(context.Background(), bash("ls"), 0)
			require.NoError(t, err, example.Call)
			require.Len(t, r.Patch.Edits(), 1, example.Call)
			assert.True(t, policy.SameValue(example.Want, r.Patch.Edits()[0].Value), "%s is %v, not %v", example.Call, r.Patch.Edits()[0].Value, example.Want)
		}
	}
}

// An undefined call makes the rule undefined; the effects of a function are
// those of the rule that calls it.
func TestFunctionEffects(t *testing.T) {
	m := compiled(t, guard(`deny contains "x" if path.abs("~/..", "/repo") != "never"`))
	r, err := m.Run(context.Background(), bash("ls"), 0)
	require.NoError(t, err)
	assert.Equal(t, policy.Result{}, r)
	for _, f := range builtins.Funcs() {
		m := compiled(t, guard("helper(x) := x\ndeny contains \"x\" if helper("+f.Examples[0].Call+") == \"never\""))
		assert.Equal(t, f.World, m.Effects().World, f.Name)
		assert.Equal(t, f.Volatile, m.Effects().Volatile, f.Name)
	}
}

func TestRunTests(t *testing.T) {
	dir := shared(t, map[string]string{
		"lib/l.rego": "package lib\nlimit := 3\n",
		"shell_test.rego": `package hooks.shell_test
import data.hooks.shell

test_denies if {
	shell.deny["no rm"] with input as {"tool_input": {"command": "rm x"}}
}

test_wrong if {
	shell.deny["no rm"] with input as {"tool_input": {"command": "ls"}}
}

test_functions if { print("seen"); path.base("/a/b") == "b" }
test_library if data.lib.limit == 3
test_fails if to_number("x") == 1
todo_test_later if false
`})
	unit := Tests{
		Paths:   []string{dir + "/shell_test.rego"},
		Sources: []diag.Text{guard(`deny contains "no rm" if startswith(input.tool_input.command, "rm ")`).Body.Source},
		Config:  withFiles(guard(""), dir, []string{"lib"}, nil).File.Rego,
	}
	results, found := RunTests(context.Background(), unit)
	require.Empty(t, found.Render())
	type row struct {
		name       string
		pass, skip bool
		line       int
		failed     bool
	}
	var got []row
	for _, r := range results {
		line, _ := r.At.Position()
		got = append(got, row{strings.TrimPrefix(r.Name, "data.hooks.shell_test."), r.Pass, r.Skip, line, r.Error != ""})
	}
	assert.Equal(t, []row{
		{"test_denies", true, false, 4, false},
		{"test_fails", false, false, 14, true},
		{"test_functions", true, false, 12, false},
		{"test_library", true, false, 13, false},
		{"test_wrong", false, false, 8, false},
		{"todo_test_later", false, true, 15, false},
	}, got)
	assert.Equal(t, "seen\n", results[2].Output)
}

// What a test may take is bounded as what a hook may: it fails, and the next test
// runs.
func TestRunTestsEnd(t *testing.T) {
	dir := shared(t, map[string]string{"bombs_test.rego": `package bombs
double(s) := concat("", [s, s, s, s, s, s, s, s, s, s, s, s, s, s, s, s])
grown(s) := replace(s, "a", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa")
long := double(double(double(double("rm -rf /aaaa"))))
test_addresses if count(net.cidr_expand("::/0")) == 3
test_doubling if count(double(double(double(double(double(double(double(double("rm -rf /")))))))))
test_kept if count({sprintf("%d%s", [n, long]) | some n in numbers.range(1, 100000)}) == 3
test_range if count(numbers.range(1, 2000000000)) == 3
test_replace if count(grown(grown(grown(grown(grown(grown("a"))))))) == 3
test_shift if bits.lsh(1, 20000000000) == 1
test_template if count(strings.render_template("{{range .l}}{{range $.l}}{{range $.l}}x{{end}}{{end}}{{end}}", {"l": numbers.range(1, 2000)})) == 3
test_well if {
	lower("A") == "a"
	[[p, v] | walk({"a": 1}, [p, v])] == [[[], {"a": 1}], [["a"], 1]]
	upper("a") == "MOCKED" with upper as mocked
	count({x | some x in split("a b", " ")}) == 2
}
mocked(_) := "MOCKED"
`})
	// What ends them here is what they hold: a busy machine would spend the time of a test.
	results, found := RunTests(context.Background(), Tests{Paths: []string{dir + "/bombs_test.rego"}, limit: time.Hour})
	require.Empty(t, found.Render())
	require.Len(t, results, 8)
	for _, r := range results {
		if strings.HasSuffix(r.Name, "test_well") {
			assert.True(t, r.Pass, r.Error)
			continue
		}
		assert.False(t, r.Pass, r.Name)
		assert.Regexp(t, "evaluation (would hold more|came upon a number of more)", r.Error, r.Name)
		assert.NotContains(t, r.Error, "bounded:")
	}
}

func TestRunTestsFindings(t *testing.T) {
	dir := shared(t, map[string]string{
		"bad_test.rego":    "package t\ntest_x if x ==\n",
		"unsafe_test.rego": "package t\ntest_x if nothing\n",
		"net_test.rego":    "package t\ntest_x if http.send({}).x\n",
	})
	for file, want := range map[string]string{
		"bad_test.rego": "HK070 2:14", "unsafe_test.rego": "HK071 2:11", "gone_test.rego": "HK077 0:0", "net_test.rego": "HK074 2:11",
	} {
		results, found := RunTests(context.Background(), Tests{Paths: []string{dir + "/" + file}})
		assert.Empty(t, results)
		require.Len(t, found, 1, file)
		assert.True(t, strings.HasPrefix(lines(found)[0], want), "%s: %s", file, lines(found)[0])
	}
}

// rules is n rules spread over ten tools.
func rules(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "deny contains \"no %d\" if { input.tool_name == \"T%d\"; contains(input.tool_input.command, \"word%d\") }\n", i, i%10, i)
	}
	return b.String()
}

func BenchmarkEval(b *testing.B) {
	for _, n := range []int{1, 30, 1000} {
		m := compiled(b, guard(rules(n)))
		for name, c := range map[string]*policy.Context{
			"quiet": call("T0", map[string]any{"command": "ls -la"}),
			"deny":  call("T0", map[string]any{"command": "say word0"}),
		} {
			b.Run(fmt.Sprintf("rules=%d/%s", n, name), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if _, err := m.Run(context.Background(), c, 0); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

func BenchmarkEntryPoints(b *testing.B) {
	for name, source := range map[string]string{
		"1": `deny contains "no" if input.tool_name == "X"`,
		"2": "deny contains \"no\" if input.tool_name == \"X\"\nask contains \"no\" if input.tool_name == \"X\"",
		"4": "deny contains \"no\" if input.tool_name == \"X\"\nask contains \"no\" if input.tool_name == \"X\"\nallow if input.tool_name == \"X\"\nmessage contains \"no\" if input.tool_name == \"X\"",
	} {
		m := compiled(b, guard(source))
		c := bash("ls")
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := m.Run(context.Background(), c, 0); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkCompile(b *testing.B) {
	for _, n := range []int{1, 30, 1000} {
		h := guard(rules(n))
		b.Run(fmt.Sprintf("rules=%d", n), func(b *testing.B) {
			for b.Loop() {
				compiled(b, h)
			}
		})
	}
}
