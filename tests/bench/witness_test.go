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
	"github.com/hookc/hookc/policy/diag"
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

// witnessRule is the text of one rule of Rego, with what it uses.
func witnessRule(i int) string {
	rule := fmt.Sprintf(witnessRules[i%len(witnessRules)], i, i%7)
	out := ""
	if strings.Contains(rule, "allowed") {
		out = fmt.Sprintf("      allowed%d if glob.match(\"/srv/area%d/{public,tmp}/**\", [\"/\"], input.tool_input.file_path)\n      allowed%d if input.cwd == \"/srv/area%d\"\n", i, i, i, i)
	}
	return out + fmt.Sprintf("      deny contains \"rule %d\" if { %s }\n", i, rule)
}

// witnessExpr are shapes of rules in expr.
var witnessExpr = []string{
	`command matches "^deploy%[1]d .*(--prod|--live)" and tool_input.n > %[1]d`,
	`tool_name == "Write" && tool_input.file_path startsWith "/srv/area%[1]d/"`,
	`command contains "drop table t%[1]d;" || command contains "truncate t%[1]d;"`,
	`tool_input.timeout in %[1]d..%[2]d && permission_mode != "plan"`,
	`tool_kind == "fetch" && tool_input.url matches "^https?://host%[1]d\\."`,
	`any(tool_input.files, # endsWith ".ext%[1]d")`,
}

// witnessShapes are policies of n rules: their files, of which the first names the
// others.
var witnessShapes = []struct {
	name  string
	files func(n int) map[string]string
}{
	{"hook each", func(n int) map[string]string { return map[string]string{"hooks.yaml": witnessPolicy(n, 1)} }},
	{"one file", func(n int) map[string]string {
		text := strings.Builder{}
		text.WriteString("package big\n" + witnessHelpers)
		for i := range n {
			text.WriteString(witnessRule(i))
		}
		return map[string]string{"big.rego": text.String(), "hooks.yaml": "rego: {data: [lists.json]}\npre_tool_execution:\n  - {name: big, type: rego, file: big.rego}\n"}
	}},
	{"100 files", func(n int) map[string]string {
		out, yaml := map[string]string{}, strings.Builder{}
		yaml.WriteString("rego: {data: [lists.json]}\npre_tool_execution:\n")
		for at := 0; at < n; at += 10 {
			text := fmt.Sprintf("package r%d\n%s", at, witnessHelpers)
			for i := at; i < min(at+10, n); i++ {
				text += witnessRule(i)
			}
			out[fmt.Sprintf("r%d.rego", at)] = text
			fmt.Fprintf(&yaml, "  - {name: r%d, type: rego, file: r%d.rego}\n", at, at)
		}
		out["hooks.yaml"] = yaml.String()
		return out
	}},
	{"expr", func(n int) map[string]string {
		yaml := strings.Builder{}
		yaml.WriteString("pre_tool_execution:\n")
		for i := range n {
			fmt.Fprintf(&yaml, "  - name: e%d\n    type: expr\n    deny: '%s'\n    reason: no\n", i, fmt.Sprintf(witnessExpr[i%len(witnessExpr)], i, i+5))
		}
		return map[string]string{"hooks.yaml": yaml.String()}
	}},
	{"mixed", witnessMixed},
}

// witnessMixed is a policy of rules in Rego and expr with libraries, a document,
// filters, patches and questions, of which some are never asked, in several events.
func witnessMixed(n int) map[string]string {
	out, pre, post := map[string]string{}, strings.Builder{}, strings.Builder{}
	out["lib.rego"] = "package lib.cmd\n\nis_git(c) if startswith(c, \"git \")\nflag(c, f) if { some w in split(c, \" \"); w == f }\nroots := {\"/srv\", \"/opt\"}\nunder_root(p) if { some r in roots; startswith(p, concat(\"\", [r, \"/\"])) }\n"
	for at := 0; at < n; at += 10 {
		text := fmt.Sprintf("package m%d\n\nimport data.lib.cmd\n%s", at, witnessHelpers)
		for i := at; i < min(at+8, n); i++ {
			switch i % 20 {
			case 3:
				text += fmt.Sprintf("      patch := {\"tool_input\": {\"mode\": \"safe%d\"}} if { input.tool_input.mode == \"raw%d\" }\n", i, i)
			case 5:
				text += fmt.Sprintf("      ask contains \"sure %d?\" if { cmd.is_git(input.command); cmd.flag(input.command, \"--area%d\") }\n", i, i)
			case 7:
				text += fmt.Sprintf("      deny contains \"rule %d\" if { cmd.under_root(input.tool_input.file_path); endswith(input.tool_input.file_path, \".k%d\") }\n", i, i)
			default:
				text += witnessRule(i)
			}
		}
		out[fmt.Sprintf("m%d.rego", at)] = text
		fmt.Fprintf(&pre, "  - {name: m%d, type: rego, file: m%d.rego}\n", at, at)
		for i := at + 8; i < min(at+10, n); i++ {
			to := &pre
			if i%4 == 1 {
				to = &post
			}
			fmt.Fprintf(to, "  - name: e%d\n    type: expr\n    deny: '%s'\n    reason: no\n", i, fmt.Sprintf(witnessExpr[i%len(witnessExpr)], i, i+5))
		}
	}
	out["hooks.yaml"] = "rego: {data: [lists.json], paths: [lib.rego]}\npre_tool_execution:\n" + pre.String() + "post_tool_execution:\n" + post.String()
	return out
}

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
			b.WriteString(witnessRule(i))
		}
	}
	return b.String()
}

// witnessFiles writes a policy to a folder.
func witnessFiles(t testing.TB, dir string, files map[string]string) string {
	t.Helper()
	files["lists.json"] = `{"lists": {"branches": ["main", "release/.*"], "tools": ["WebFetch", "Bash", "Read"]}}`
	for name, text := range files {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	return filepath.Join(dir, "hooks.yaml")
}

// checkAll does what hookc check does with a policy.
func checkAll(t testing.TB, file, root string) (*dag.Program, []witness.Rule, diag.List) {
	t.Helper()
	program, found := hookc.Compile(hookc.Files(file), hookc.AsFound())
	require.False(t, found.HasErrors(), "%s", found.Render())
	rules := witness.FindKept(context.Background(), program, program.Tools, root)
	found.Add(witness.Lints(program)...)
	found.Add(witness.Findings(rules, found)...)
	found.Sort()
	return program, rules, found
}

// BenchmarkCheck checks policies of 1,000 rules: as if nothing of them were known, with
// what the last check kept, and after an edit of one rule.
func BenchmarkCheck(b *testing.B) {
	for _, s := range witnessShapes {
		b.Run(s.name, func(b *testing.B) {
			file := witnessFiles(b, b.TempDir(), s.files(1000))
			b.Run("first", func(b *testing.B) {
				for b.Loop() {
					_, rules, _ := checkAll(b, file, b.TempDir())
					b.ReportMetric(float64(witness.Count(rules).Fires), "fires")
					b.ReportMetric(float64(len(rules)), "rules")
				}
			})
			b.Run("kept", func(b *testing.B) {
				root := b.TempDir()
				checkAll(b, file, root)
				for b.Loop() {
					checkAll(b, file, root)
				}
			})
			b.Run("edited", func(b *testing.B) {
				root, dir := b.TempDir(), filepath.Dir(file)
				edited := "hooks.yaml"
				if texts := s.files(1000); texts["r500.rego"] != "" {
					edited = "r500.rego"
				} else if texts["m500.rego"] != "" {
					edited = "m500.rego"
				}
				checkAll(b, file, root)
				text, err := os.ReadFile(filepath.Join(dir, edited))
				require.NoError(b, err)
				for i := 0; b.Loop(); i++ {
					require.NoError(b, os.WriteFile(filepath.Join(dir, edited), []byte(strings.Replace(string(text), "501", fmt.Sprint(5001+i), 1)), 0o644))
					checkAll(b, file, root)
				}
			})
		})
	}
}
