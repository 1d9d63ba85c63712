package bench

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookc/hookc"
)

// helpers is what rules share that are written as teams write them.
const helpers = `is_bash if input.tool_name in shells

shells := {"Bash", "Shell"}

command := trim_space(input.tool_input.command)

words := split(command, " ")

has(part) if contains(lower(command), part)
`

// conditions are tests of the command behind helper rules, each of rule %d.
var conditions = []string{
	`is_bash; contains(command, "forbidden-%d")`,
	`is_bash; has("--unsafe-%d")`,
	`is_bash; some bad in ["rm -rf /srv%[1]d", "dd of=/dev/sd%[1]d"]; startswith(command, bad)`,
	`is_bash; "tool-%d" in words`,
	`is_bash; regex.match("curl\\s+.*host%d\\.example", command)`,
	`is_bash; glob.match("*/secret%d/*", [], command)`,
}

// helperHooks is n such rules, a hook each.
func helperHooks(n int) string {
	var b strings.Builder
	b.WriteString("pre_tool_execution:\n")
	for i := range n {
		fmt.Fprintf(&b, "  - name: r%d\n    source: |\n      package rules\n      deny contains \"no\" if { "+conditions[i%len(conditions)]+" }\n", i, i)
		b.WriteString(indented(helpers))
	}
	return b.String()
}

// helperHook is n such rules as one hook.
func helperHook(n int) string {
	var b strings.Builder
	b.WriteString("pre_tool_execution:\n  - name: all\n    source: |\n      package rules\n")
	for i := range n {
		fmt.Fprintf(&b, "      deny contains \"no %d\" if { "+conditions[i%len(conditions)]+" }\n", i, i)
	}
	b.WriteString(indented(helpers))
	return b.String()
}

func indented(text string) string {
	return "\n      " + strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n      ") + "\n"
}

// fromArtifact opens a policy that was compiled, after so many events that it
// is all that it will be.
func fromArtifact(b *testing.B, text string) *hookc.Engine {
	b.Helper()
	x, found, err := hookc.NewArtifact(hookc.Text("hooks.yaml", text), hookc.SkipVerify())
	if err != nil || x == nil {
		b.Fatal(err, found.Render())
	}
	path := filepath.Join(b.TempDir(), "policy.hookc")
	if err := x.WriteFile(path, nil); err != nil {
		b.Fatal(err)
	}
	eng, err := hookc.Open(b.Context(), hookc.Artifact(path))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := eng.Close(); err != nil {
			b.Error(err)
		}
	})
	return eng
}

// warm fires until what is made on the way is made.
func warm(b *testing.B, eng *hookc.Engine) func() {
	fire := into(b, eng)
	for range 300 {
		fire()
	}
	if err := eng.Settle(context.Background()); err != nil {
		b.Fatal(err)
	}
	return fire
}

// BenchmarkRatioNativeFlatHelpers is 1,000 rules whose tests stand behind helper
// rules, aliases and functions, each with a literal of its own, against ten: as
// compiled, and as read from an artifact.
func BenchmarkRatioNativeFlatHelpers(b *testing.B) {
	for _, shape := range []struct {
		name string
		text func(n int) string
	}{{"hooks", helperHooks}, {"one-hook", helperHook}} {
		b.Run(shape.name+"/compiled", func(b *testing.B) {
			many := open(b, shape.text(1000))
			engines(b, many)
			ratio(b, "1000/10", 20, warm(b, many), warm(b, open(b, shape.text(10))))
		})
		b.Run(shape.name+"/artifact", func(b *testing.B) {
			ratio(b, "1000/10", 20, warm(b, fromArtifact(b, shape.text(1000))), warm(b, fromArtifact(b, shape.text(10))))
		})
	}
}
