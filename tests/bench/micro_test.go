package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/vm"

	"github.com/hookc/hookc"
	"github.com/hookc/hookc/executor/runner"
	"github.com/hookc/hookc/internal/host"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
	"github.com/hookc/hookc/rego"
)

// eventText is an event of which the rules look at the tool and its command,
// with a conversation of so many messages.
func eventText(messages int) []byte {
	var b strings.Builder
	b.WriteString(`{"event":"pre_tool_execution","session_id":"4be1f1a0","cwd":"/repo","project_root":"/repo","permission_mode":"default",` +
		`"transcript_path":"/home/dev/.agent/projects/repo/4be1f1a0.jsonl","model":"large","tool_name":"Bash","tool_use_id":"toolu_01",` +
		`"tool_input":{"command":"go test ./... && git status --short","description":"run the tests"},"messages":[`)
	for i := range messages {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"role":"user","content":[{"type":"text","text":"message %d: %s"}]}`, i, strings.Repeat(`the quick brown fox jumps over the lazy dog, says \"he\";\n`, 15))
	}
	b.WriteString(`]}`)
	return []byte(b.String())
}

// BenchmarkRatioFireJSON is an event as text to a Decision by 100 rules over
// ten tools, against decoding it with the standard library and deciding that,
// and against the library's decoder and a plain loop of the expr library's
// machine over the rules.
func BenchmarkRatioFireJSON(b *testing.B) {
	eng := open(b, policyOf(exprRule, 100, 10))
	var programs []*vm.Program
	var tools []string
	for i := range 100 {
		program, err := expr.Compile(fmt.Sprintf(`tool_input.command contains "forbidden-%d"`, i), expr.Env(map[string]any{"tool_input": map[string]any{}}))
		if err != nil {
			b.Fatal(err)
		}
		programs, tools = append(programs, program), append(tools, map[bool]string{true: "Bash", false: "Other"}[i%10 == 0])
	}
	projected := func(data []byte) {
		d, err := eng.FireJSON(context.Background(), hookc.PreToolExecution, data)
		if err != nil || !d.Permits() {
			b.Fatal(err, d)
		}
	}
	decoded := func(data []byte) map[string]any {
		var m map[string]any
		if err := json.Unmarshal(data, &m); err != nil {
			b.Fatal(err)
		}
		return m
	}
	whole := func(data []byte) {
		in, _, err := policy.ContextFromMap(decoded(data))
		if err != nil {
			b.Fatal(err)
		}
		fire(b, eng, in)
	}
	var machine vm.VM
	loop := func(data []byte) {
		m := decoded(data)
		for i, p := range programs {
			if m["tool_name"] != tools[i] {
				continue
			}
			if out, err := machine.Run(p, m); err != nil || out != false {
				b.Fatal(out, err)
			}
		}
	}
	for _, c := range []struct {
		name     string
		messages int
		turns    int
	}{{"1KB", 1, 10}, {"190KB", 190, 1}} {
		data := eventText(c.messages)
		for _, other := range []struct {
			name string
			fire func([]byte)
		}{{"unmarshal-and-fire", whole}, {"unmarshal-and-loop", loop}} {
			b.Run(c.name+"/"+other.name, func(b *testing.B) {
				ratio(b, "fire-json/other", c.turns, func() { projected(data) }, func() { other.fire(data) })
			})
		}
	}
}

// dispatchPolicy is n hooks with the filters of performance.md §4: names, lists
// of names and expressions; three of them are on the tool asked about.
func dispatchPolicy(n int) string {
	var b strings.Builder
	b.WriteString("pre_tool_execution:\n")
	for i := range n {
		filter := ""
		switch {
		case i == 0:
			filter = "tool_name: Bash"
		case i == 1:
			filter = "tool_matcher: Write|Bash"
		case i == 2:
			filter = `tool_pattern: "^Ba"`
		case i%20 < 8:
			filter = fmt.Sprintf("tool_name: Tool%d", i)
		case i%20 < 14:
			filter = fmt.Sprintf("tool_matcher: Tool%d|Tool%d|Other%d", i, i+1, i)
		case i%20 < 17:
			filter = fmt.Sprintf(`tool_pattern: "^mcp__server%d__.*$"`, i)
		case i%20 < 19:
			filter = fmt.Sprintf(`tool_pattern: "_suffix%d$"`, i)
		default:
			filter = fmt.Sprintf(`tool_pattern: "^(Alpha|Beta)%d$"`, i)
		}
		fmt.Fprintf(&b, "  - {name: r%d, filter: {%s}, deny: 'tool_input.command contains \"forbidden-%d\"', reason: no}\n", i, filter, i)
	}
	return b.String()
}

// BenchmarkRatioDispatch is 10,000 hooks against 3: the question which of them
// concern a tool, for one that is known and for names never seen before, and a
// whole event, whose Decision lists what became of each hook.
func BenchmarkRatioDispatch(b *testing.B) {
	many, few := open(b, dispatchPolicy(10_000), hookc.SkipVerify()), open(b, dispatchPolicy(3))
	names := make([]string, 1<<16)
	for i := range names {
		names[i] = fmt.Sprintf("mcp__elsewhere__tool_%d", i)
	}
	ask := func(eng *hookc.Engine) func() {
		return func() {
			if !eng.Available(hookc.PreToolExecution, "Bash") {
				b.Fatal("three hooks are on Bash")
			}
		}
	}
	guess := func(eng *hookc.Engine) func() {
		next := 0
		return func() {
			next++
			if eng.Available(hookc.PreToolExecution, names[next%len(names)]) {
				b.Fatal("no hook is on it")
			}
		}
	}
	b.Run("known", func(b *testing.B) { ratio(b, "10000/3", 1000, ask(many), ask(few)) })
	b.Run("unknown", func(b *testing.B) { ratio(b, "10000/3", 100, guess(many), guess(few)) })
	in := call().Frozen(hookc.PreToolExecution)
	b.Run("event", func(b *testing.B) {
		ratio(b, "10000/3", 10, func() { fire(b, many, in) }, func() { fire(b, few, in) })
	})
	into := func(eng *hookc.Engine) func() {
		memory := new(hookc.Reused)
		return func() {
			if d, err := eng.FireInto(context.Background(), hookc.PreToolExecution, in, memory); err != nil || !d.Permits() {
				b.Fatal(err, d)
			}
		}
	}
	b.Run("event-reused", func(b *testing.B) { ratio(b, "10000/3", 100, into(many), into(few)) })
}

// machineEvent is what the expr library's machine is fastest with: a value, not
// a pointer, boxed once.
type machineEvent struct {
	ToolName  string       `expr:"tool_name"`
	ToolInput machineInput `expr:"tool_input"`
}

type machineInput struct {
	Command string `expr:"command"`
}

var exprRules = []struct{ name, text string }{
	{"contains", `tool_input.command contains "rm -rf"`},
	{"and", `tool_name == "Bash" && tool_input.command contains "rm -rf"`},
	{"regex", `tool_name == "Bash" && tool_input.command matches "^git push.*--force"`},
}

// ruleRunner is one rule made ready, without a plan round it.
func ruleRunner(b *testing.B, text string) policy.Runner {
	for _, k := range runner.Kinds(runner.Options{}) {
		if k.Name != policy.KindExpr {
			continue
		}
		made, found := k.Prepare(&policy.Hook{Name: "rule", Event: hookc.PreToolExecution, Kind: policy.KindExpr,
			Body: policy.Body{Rules: []policy.Rule{{Says: policy.MayDeny, Condition: diag.Literal(text), Reason: diag.Literal("no")}}}})
		if len(found) > 0 {
			b.Fatal(found.Render())
		}
		return made.Runner
	}
	panic("bench: there is no kind expr")
}

// BenchmarkRatioExpr is one rule as the body the executor asks against its condition on the
// expr library's own machine, reused, with a boxed value.
func BenchmarkRatioExpr(b *testing.B) {
	in := call().Frozen(hookc.PreToolExecution)
	var boxed any = machineEvent{"Bash", machineInput{"go test ./... && git status --short"}}
	for _, rule := range exprRules {
		b.Run(rule.name, func(b *testing.B) {
			body := ruleRunner(b, rule.text).(policy.Teller)
			program, err := expr.Compile(rule.text, expr.Env(machineEvent{}))
			if err != nil {
				b.Fatal(err)
			}
			var machine vm.VM
			ratio(b, "rule/machine", 1000, func() {
				if r, err := body.Tell(context.Background(), in, 0); err != nil || r != nil {
					b.Fatal(r, err)
				}
			}, func() {
				if v, err := machine.Run(program, boxed); err != nil || v != false {
					b.Fatal(v, err)
				}
			})
		})
	}
}

// BenchmarkRatioTenNodes is an event with ten in-process nodes that say nothing
// against a plain loop that asks their bodies and joins what they say.
func BenchmarkRatioTenNodes(b *testing.B) {
	in := call().Frozen(hookc.PreToolExecution)
	for _, c := range []struct {
		name string
		rule ruleText
		body func() policy.Runner
	}{
		{"nothing", silentRule, func() policy.Runner { return silent }},
		{"brief", briefRule, func() policy.Runner { return silent }},
		{"expr", func(n int, _ string) string {
			return fmt.Sprintf("  - {name: r%d, deny: 'tool_input.command contains \"rm -rf\"', reason: no}\n", n)
		}, func() policy.Runner { return ruleRunner(b, exprRules[0].text) }},
	} {
		b.Run(c.name, func(b *testing.B) {
			eng := open(b, policyOf(c.rule, 10, 1))
			bodies := make([]policy.Runner, 10)
			for i := range bodies {
				bodies[i] = c.body()
			}
			var memory hookc.Reused
			ctx := context.Background()
			ratio(b, "fire/loop", 100, func() {
				if d, err := eng.FireInto(ctx, hookc.PreToolExecution, in, &memory); err != nil || !d.Permits() {
					b.Fatal(err, d)
				}
			}, func() {
				var all policy.Result
				for _, body := range bodies {
					r, err := body.Run(ctx, in, 0)
					if err != nil {
						b.Fatal(err)
					}
					if !r.Quiet() {
						all = policy.Join(policy.FoldMax, all, r)
					}
				}
				if all.Verdict != policy.None {
					b.Fatal(all)
				}
			})
		})
	}
}

// BenchmarkFireInto is one rule in expr that says nothing, into a Decision that
// is used again.
func BenchmarkFireInto(b *testing.B) {
	for _, n := range []int{1, 10, 100} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			eng, in := open(b, policyOf(exprRule, n, 1)), call().Frozen(hookc.PreToolExecution)
			var memory hookc.Reused
			b.ReportAllocs()
			for b.Loop() {
				if d, err := eng.FireInto(context.Background(), hookc.PreToolExecution, in, &memory); err != nil || !d.Permits() {
					b.Fatal(err, d)
				}
			}
		})
	}
}

// TestAllowAllocatesNothing: an event that only rules in expr concern, and that
// goes through, allocates nothing.
func TestAllowAllocatesNothing(t *testing.T) { allowAllocatesNothing(t, policyOf(exprRule, 20, 2)) }

func allowAllocatesNothing(t *testing.T, text string) {
	eyes := rego.NewEyes(false, nil, func(d rego.Difference) { t.Errorf("%+v", d) })
	eng, err := hookc.Open(t.Context(), hookc.Text("hooks.yaml", text), host.Eyes[hookc.Option](eyes))
	if err != nil {
		t.Fatal(err)
	}
	defer eng.Close()
	in := call().Frozen(hookc.PreToolExecution)
	var memory hookc.Reused
	for range 300 { // a path's first event is asked of OPA too, beside the events
		if _, err := eng.FireInto(context.Background(), hookc.PreToolExecution, in, &memory); err != nil {
			t.Fatal(err)
		}
		eyes.Close()
	}
	got := testing.AllocsPerRun(1000, func() {
		if d, err := eng.FireInto(context.Background(), hookc.PreToolExecution, in, &memory); err != nil || !d.Permits() {
			t.Fatal(err, d)
		}
	})
	if got > unpooled {
		t.Errorf("%v allocations", got)
	}
	d, err := eng.FireInto(context.Background(), hookc.PreToolExecution, in, &memory)
	if err != nil || len(d.Hooks) != 20 || d.Hooks[0].Status != policy.StatusRan || d.Hooks[1].Status != policy.StatusFiltered {
		t.Errorf("%v %+v", err, d.Hooks)
	}
}
