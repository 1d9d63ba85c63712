package native

import (
	"strconv"
	"testing"
)

// guardrails is a program of n rules: the tool is Bash and its command
// contains the rule's literal; each gives a message.
func guardrails(n int) *maker {
	m := &maker{}
	tool, command := m.path("tool_name"), m.path("tool_input", "command")
	contains := m.builtin("contains")
	rules := [][]Stmt{{{Op: OpMakeSet, Target: out, Place: -1}}}
	for i := range n {
		literal, message := "rm -rf", "no"
		if i > 0 {
			literal, message = "bad"+strconv.Itoa(i), "no "+strconv.Itoa(i)
		}
		rules = append(rules, []Stmt{
			{Op: OpReset, Target: 3, Place: -1},
			{Op: OpInput, Target: 4, Index: tool, Place: -1},
			{Op: OpEqual, A: l(4), B: m.c("Bash"), Place: -1},
			{Op: OpInput, Target: 5, Index: command, Place: -1},
			{Op: OpCallBuiltin, Target: 6, Index: contains, Args: []Operand{l(5), m.c(literal)}, Place: -1},
			{Op: OpNotEqual, A: l(6), B: m.c(false), Place: -1},
			{Op: OpSetAdd, Target: out, A: m.c(message), Place: -1},
		})
	}
	m.fn("deny", 2, rules...)
	return m
}

// expressions is guardrails whose rules match a regular expression each.
func expressions(n int) *maker {
	m := guardrails(n)
	match := m.builtin("regex.match")
	for i := range n {
		call := &m.Funcs[0].Blocks[i+1].Stmts[4]
		pattern := m.c(`(^|\s|;)cmd` + strconv.Itoa(i) + `\s+(-[a-z]*r[a-z]*f|--force)\b`)
		call.Index, call.Args = match, []Operand{pattern, call.Args[0]}
	}
	return m
}

// slots is an event whose slots are at hand.
type slots [2]Value

func (s *slots) Slot(i int) (Value, bool) { return s[i], s[i] != nil }

const harmless = "git status --short && go test ./... -run TestSomething -count 1 | tail -20"

func BenchmarkGuardrail(b *testing.B) {
	for _, c := range []struct {
		name, tool, command string
		rules               int
	}{
		{"other tool", "Read", harmless, 1},
		{"miss", "Bash", harmless, 1},
		{"hit", "Bash", "sudo rm -rf / --no-preserve-root", 1},
		{"100 rules, other tool", "Read", harmless, 100},
		{"100 rules, miss", "Bash", harmless, 100},
		{"100 rules, one hit", "Bash", "sudo rm -rf / --no-preserve-root", 100},
	} {
		b.Run(c.name, func(b *testing.B) {
			code := guardrails(c.rules).link(b)
			var m Machine
			in := &slots{c.tool, c.command}
			b.ReportAllocs()
			for b.Loop() {
				if _, ok, err := code.Eval(&m, 0, in); err != nil || !ok {
					b.Fatal(ok, err)
				}
			}
		})
	}
}

// BenchmarkRule is one guardrail rule as a hook asks for it: each value with the
// rule that gave it, the event's slots looked up in maps.
func BenchmarkRule(b *testing.B) {
	for _, c := range []struct{ name, tool, command string }{
		{"other tool", "Read", harmless}, {"miss", "Bash", harmless}, {"hit", "Bash", "sudo rm -rf / --no-preserve-root"},
	} {
		b.Run(c.name, func(b *testing.B) {
			code := guardrails(1).link(b)
			var m Machine
			in := &doc{p: code.Program(), v: map[string]Value{"tool_name": c.tool, "cwd": "/repo", "tool_input": map[string]Value{"command": c.command}}}
			delivered := 0
			tell := func(int, Value) bool { delivered++; return true }
			b.ReportAllocs()
			for b.Loop() {
				if err := code.Rules(&m, 0, in, tell); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkStart is what a process pays that decides one event: the program
// read from its bytes, linked, and evaluated once.
func BenchmarkStart(b *testing.B) {
	for _, c := range []struct {
		name, tool string
		program    *maker
	}{
		{"1 rule, other tool", "Read", guardrails(1)},
		{"1 rule", "Bash", guardrails(1)},
		{"1 pattern", "Bash", expressions(1)},
		{"100 rules", "Bash", guardrails(100)},
		{"100 patterns, other tool", "Read", expressions(100)},
		{"100 patterns", "Bash", expressions(100)},
	} {
		b.Run(c.name, func(b *testing.B) {
			text := c.program.Append(nil)
			in := &slots{c.tool, harmless}
			b.ReportAllocs()
			for b.Loop() {
				p, err := Decode(text)
				if err != nil {
					b.Fatal(err)
				}
				code, err := Link(p, nil)
				if err != nil {
					b.Fatal(err)
				}
				var m Machine
				if _, ok, err := code.Eval(&m, 0, in); err != nil || !ok {
					b.Fatal(ok, err)
				}
			}
		})
	}
}
