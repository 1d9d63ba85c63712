package permission

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
)

func TestClaudeIf(t *testing.T) {
	bash := func(command string) *policy.Context {
		return policy.NewContext("").Set(policy.FieldCwd, "/w").Set(policy.FieldToolName, "Bash").Set(policy.FieldToolInput, map[string]any{"command": command})
	}
	file := func(tool, path string) *policy.Context {
		return policy.NewContext("").
			Set(policy.FieldCwd, "/w").
			Set(policy.FieldProjectRoot, "/p").
			Set(policy.FieldToolName, tool).
			Set(policy.FieldToolInput, map[string]any{"file_path": path})
	}
	for _, c := range []struct {
		rule          string
		in            *policy.Context
		want, literal bool // literal is the answer of --faithful
	}{
		{"Bash", bash("x"), true, true},
		{"Bash(*)", bash("x"), true, true},
		{"Bash(git *)", bash("FOO='a b' BAR=1 git push"), true, true},
		{"Bash(git *)", bash("npm test && git push"), true, true},
		{"Bash(git *)", bash("npm test"), false, false},
		{"Bash(git *)", bash("git"), true, true},
		{"Bash(git *)", bash("gitk"), false, false},
		{"Bash(git push:*)", bash("git push -f"), true, true},
		{"Bash(git status)", bash("git status -s"), false, false},
		{"Bash(rm *)", bash("echo $(rm -rf /)"), true, true},
		{"Bash(rm *)", bash("echo `rm -rf /`"), true, true},
		{"Bash(rm *)", bash("diff <(rm x) y"), true, true},
		{"Bash(rm *)", bash(`echo "a $(echo "$(rm x)")"`), true, true},
		{"Bash(rm *)", bash("echo $(date)"), false, false},
		{"Bash(rm *)", bash("echo '$(rm x)'"), false, false},
		{"Bash(git push *)", bash("echo $(date)"), true, true},
		{"Bash(git push *)", bash("echo $BRANCH"), true, true},
		{"Bash(git push *)", bash("echo '$BRANCH'"), false, false},
		{"Bash(rm *)", bash("echo 2>&1 x"), false, false},
		{"Bash(rm *)", bash("for f in *; do rm $f; done"), true, true},
		{"Bash(rm *)", bash("cat <<E\nrm x\nE"), true, true},
		{"Bash(rm *)", bash("! rm x"), true, true},
		{"Bash(rm *)", bash("nohup nice -n 5 rm x"), true, true},
		{"Bash(rm *)", bash("sh -c 'rm x'"), true, false},
		{"Bash(rm *)", bash(`"rm" x`), true, true},
		{"Edit", bash("x"), false, false},
		{"Edit(src/**)", file("Edit", "/w/src/a/b.go"), true, true},
		{"Edit(src/**)", file("Write", "/w/src/a.go"), true, true},
		{"Edit(src/**)", file("Edit", "/w/docs/a.md"), false, false},
		{"Edit(src/**)", file("Edit", "src/a.go"), true, true},
		{"Edit(/src/**)", file("Edit", "/p/src/a.go"), true, true},
		{"Edit(/src/**)", file("Edit", "/w/src/a.go"), false, false},
		{"Read(.env)", file("Read", "/w/conf/.env"), true, true},
		{"Read(//etc/**)", file("Read", "/etc/passwd"), true, true},
		{"Read(src)", file("Grep", "/w/src/a.go"), true, true},
		{"Read(x)", file("Read", ""), true, true},
		{"Read", file("Edit", "/w/x"), false, false},
		{"WebFetch(domain:example.com)", policy.NewContext("").Set(policy.FieldToolName, "WebFetch").Set(policy.FieldToolInput, map[string]any{"url": "https://a.example.com/x"}), true, true},
		{"WebFetch(domain:example.com)", policy.NewContext("").Set(policy.FieldToolName, "WebFetch").Set(policy.FieldToolInput, map[string]any{"url": "https://example.com.evil.org/"}), false, false},
		{"mcp__a", policy.NewContext("").Set(policy.FieldToolName, "mcp__a__get"), true, true},
		{"mcp__a__*", policy.NewContext("").Set(policy.FieldToolName, "mcp__ab__get"), false, false},
		{"Agent(Explore)", policy.NewContext("").Set(policy.FieldToolName, "Task").Set(policy.FieldToolInput, map[string]any{"subagent_type": "Explore"}), true, true},
		{"Agent(Explore)", policy.NewContext("").Set(policy.FieldToolName, "Agent").Set(policy.FieldToolInput, map[string]any{"subagent_type": "Plan"}), false, false},
		{"Unheard(of)", policy.NewContext("").Set(policy.FieldToolName, "Unheard").Set(policy.FieldToolInput, map[string]any{}), true, true},
	} {
		in := c.in.Frozen(policy.PreToolExecution)
		for faithful, want := range map[bool]bool{false: c.want, true: c.literal} {
			input, _ := in.Get(policy.FieldToolInput)
			condition, ok := Condition(diag.Literal(c.rule), faithful)
			require.True(t, ok, c.rule)
			assert.Equal(t, want, condition.Atom.Test(in), "%s on %v, faithful %v", c.rule, input, faithful)
		}
	}
	for _, rule := range []string{"", "Bash(git", "Bash git", "(x)"} {
		_, ok := Condition(diag.Literal(rule), false)
		assert.False(t, ok, rule)
	}
}

// FuzzShellParts: any line is read in bounded time, and what one command is
// made of is found in it.
func FuzzShellParts(f *testing.F) {
	for _, seed := range []string{"git push && rm x", "echo $(rm `x`)", `echo "a $(b 'c)')"`, "a <(b) 2>&1 | c", "if x; then y; fi", "((((", "$(", "`", `\`, "# x\ny"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, line string) {
		p := readShellParts(line)
		for _, part := range p.parts {
			if part == "" {
				t.Fatal("an empty command")
			}
		}
	})
}
