package bench

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc"
	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/internal/witness"
)

// witnessRules are shapes of rules as people write them, each with its number in it.
var witnessRules = []string{
	`input.tool_kind == "shell"; regex.match("\\brm\\s+-[a-z]*r[a-z]*f\\b.*\\bdir%[1]d\\b", input.command)`,
	`input.tool_name in {"Write", "Edit", "tool%[1]d"}; glob.match("**/secret%[1]d/*.{env,pem}", ["/"], input.tool_input.file_path)`,
	`regex.match(sprintf("^(?:git|hg) push .*\\b(%%s|prod%[1]d)\\b", [concat("|", data.lists.branches)]), input.command)`,
	`input.tool_input.timeout > %[1]d; input.tool_input.timeout <= %[1]d + 10; not input.tool_input.force`,
	`some w in words; w == "--flag%[1]d"; is_shell`,
	`input.tool_name in data.lists.tools; startswith(lower(input.tool_input.url), "http://host%[1]d.")`,
	`not allowed%[1]d; startswith(input.tool_input.file_path, "/srv/area%[1]d/")`,
	`count(input.tool_input.files) > %[2]d; some f in input.tool_input.files; endswith(f, ".ext%[1]d")`,
	`bad(input.command, "cmd%[1]d"); input.permission_mode != "plan"`,
	`object.get(input.tool_input, "mode", "none") == "mode%[1]d"; contains(input.cwd, "/repo")`,
}

const witnessHelpers = `
      words contains w if some w in split(input.command, " ")
      is_shell if input.tool_kind == "shell"
      bad(c, name) if regex.match(sprintf("(^|[;&| ])%s( |$)", [name]), c)
      bad(c, name) if startswith(trim_space(c), name)
`

// witnessPolicy is a policy of n rules, of which each hook has some.
func witnessPolicy(n, each int) string {
	var b strings.Builder
	b.WriteString("rego: {data: [lists.json]}\npre_tool_execution:\n")
	for at := 0; at < n; at += each {
		if at/each%5 == 4 && each == 1 {
			fmt.Fprintf(&b, "  - name: r%d\n    filter: {tool_kind: shell}\n    deny: 'command matches \"^deploy%d .*(--prod|--live)\" and tool_input.n > %d'\n    reason: no\n", at, at, at)
			continue
		}
		fmt.Fprintf(&b, "  - name: r%d\n    type: rego\n    source: |\n      package r%d%s", at, at, witnessHelpers)
		for i := at; i < min(at+each, n); i++ {
			rule := fmt.Sprintf(witnessRules[i%len(witnessRules)], i, i%7)
			if strings.Contains(rule, "allowed") {
				fmt.Fprintf(&b, "      allowed%d if glob.match(\"/srv/area%d/{public,tmp}/**\", [\"/\"], input.tool_input.file_path)\n      allowed%d if input.cwd == \"/srv/area%d\"\n", i, i, i, i)
			}
			fmt.Fprintf(&b, "      deny contains \"rule %d\" if { %s }\n", i, rule)
		}
	}
	return b.String()
}

func witnessProgram(b *testing.B, n, each int) *dag.Program {
	b.Helper()
	dir := b.TempDir()
	require.NoError(b, os.WriteFile(filepath.Join(dir, "lists.json"), []byte(`{"lists": {"branches": ["main", "release/.*"], "tools": ["WebFetch", "Bash", "Read"]}}`), 0o644))
	file := filepath.Join(dir, "hooks.yaml")
	require.NoError(b, os.WriteFile(file, []byte(witnessPolicy(n, each)), 0o644))
	program, found := hookc.Compile(hookc.Files(file), hookc.AsFound(), hookc.SkipVerify())
	require.False(b, found.HasErrors(), "%s", found.Render())
	return program
}

// BenchmarkWitness looks for the witnesses of a policy of 1,000 rules, which is in
// 1,000 hooks, and in 20.
func BenchmarkWitness(b *testing.B) {
	for _, each := range []int{1, 50} {
		b.Run(fmt.Sprintf("rules=1000/each=%d", each), func(b *testing.B) {
			program := witnessProgram(b, 1000, each)
			for b.Loop() {
				rules := witness.Find(context.Background(), program, program.Tools)
				require.Len(b, rules, 1000)
				require.Equal(b, 1000, witness.Count(rules).Fires, "%v", witness.Count(rules))
			}
		})
	}
}
