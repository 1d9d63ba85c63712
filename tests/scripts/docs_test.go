package scripts

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/tests/codes"
	"github.com/hookc/hookc/tests/programs"
)

// TestReferencePagesAreCurrent compares the committed pages with what the code
// says now.
func TestReferencePagesAreCurrent(t *testing.T) {
	for page, flag := range map[string]string{"schema.md": "--markdown", "diagnostics.md": "--codes"} {
		t.Run(page, func(t *testing.T) {
			want, err := exec.Command(programs.Hookc(t), "schema", flag).Output()
			require.NoError(t, err)
			got, err := os.ReadFile(filepath.Join("..", "..", "docs", "reference", page))
			require.NoError(t, err)
			if string(want) == string(got) {
				return
			}
			line, old, current := firstDifference(string(got), string(want))
			t.Errorf("docs/reference/%s is stale at line %d: run `go run ./tests/gen/schema`\n  page: %s\n  code: %s", page, line, old, current)
		})
	}
}

func firstDifference(a, b string) (line int, x, y string) {
	left, right := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := 0; ; i++ {
		switch {
		case i >= len(left):
			return i + 1, "(ends)", right[i]
		case i >= len(right):
			return i + 1, left[i], "(ends)"
		case left[i] != right[i]:
			return i + 1, left[i], right[i]
		}
	}
}

// TestEveryCodeHasASection holds the page of codes against the list of them.
func TestEveryCodeHasASection(t *testing.T) {
	var want []string
	for _, c := range codes.All(t) {
		want = append(want, c.Name)
	}
	text, err := os.ReadFile("../../docs/reference/diagnostics.md")
	require.NoError(t, err)
	var got []string
	for _, m := range regexp.MustCompile(`(?m)^## (HK\d{3})$`).FindAllStringSubmatch(string(text), -1) {
		got = append(got, m[1])
	}
	assert.ElementsMatch(t, want, got)
}

// TestJSONSchemaIsOne checks the form; what it accepts is tested beside it.
func TestJSONSchemaIsOne(t *testing.T) {
	out, err := exec.Command(programs.Hookc(t), "schema").Output()
	require.NoError(t, err)
	var schema map[string]any
	require.NoError(t, json.Unmarshal(out, &schema))
	assert.NotEmpty(t, schema["$schema"])
	assert.NotEmpty(t, schema["$defs"])
	require.Error(t, exec.Command(programs.Hookc(t), "schema", "--markdown", "--codes").Run())
}

// TestPoliciesOnPages: each policy that a page shows compiles, where no other test runs
// it: those of README, the guides and docs/reference have tests of their own.
func TestPoliciesOnPages(t *testing.T) {
	pages, err := filepath.Glob("../../docs/*.md")
	require.NoError(t, err)
	checked := 0
	for _, page := range pages {
		text, err := os.ReadFile(page)
		require.NoError(t, err)
		for _, m := range regexp.MustCompile("(?s)\n```yaml\n(.*?)```").FindAllStringSubmatch(string(text), -1) {
			if !regexp.MustCompile(`(?m)^(pre|post|stop|session)[a-z_]*:$`).MatchString(m[1]) {
				continue
			}
			file := filepath.Join(t.TempDir(), "hooks.yaml")
			require.NoError(t, os.WriteFile(file, []byte(m[1]), 0o644))
			out, _ := exec.Command(programs.Hookc(t), "check", file).CombinedOutput()
			wrong := strings.ReplaceAll(string(out), "error[HK001]", "") // files that a page names and does not show
			assert.NotContains(t, wrong, "error[", "%s:\n%s", page, m[1])
			assert.Regexp(t, `hooks? on |error\[HK001\]`, string(out), page)
			checked++
		}
	}
	assert.GreaterOrEqual(t, checked, 4)
}
