package hostile

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc"
	"github.com/hookc/hookc/internal/host"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
	"github.com/hookc/hookc/policy/source"
)

// unseenRunes are all characters that show nothing, by Unicode's own classes.
func unseenRunes() []rune {
	var out []rune
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if r != ' ' && r != 0 && unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zs, unicode.Zl, unicode.Zp, unicode.Bidi_Control,
			unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector, unicode.Join_Control) {
			out = append(out, r)
		}
	}
	return append(out, 0x2800)
}

// codesOf are the codes of findings on a policy.
func codesOf(t *testing.T, options ...hookc.Option) map[string][]diag.Diagnostic {
	t.Helper()
	_, found := hookc.Compile(append(options, hookc.SkipVerify())...)
	out := map[string][]diag.Diagnostic{}
	for _, d := range found {
		out[d.Code.ID] = append(out[d.Code.ID], d)
	}
	return out
}

// No character that shows nothing stands in a filter, a rule, a name or a group's
// name without a finding.
func TestUnseenCharactersAreFound(t *testing.T) {
	places := map[string]func(word string) string{
		"tool_name": func(w string) string {
			return "{name: h%d, type: expr, filter: {tool_name: " + w + "}, deny: 'true', reason: no}"
		},
		"tool_matcher": func(w string) string {
			return "{name: h%d, type: expr, filter: {tool_matcher: " + w + "}, deny: 'true', reason: no}"
		},
		"command": func(w string) string {
			return "{name: h%d, type: expr, filter: {command: " + w + "}, deny: 'true', reason: no}"
		},
		"name": func(w string) string { return "{name: " + w + ", type: expr, deny: 'true', reason: no, priority: %d}" },
		"rule": func(w string) string { return "{name: h%d, deny: \"tool_name == '\" , reason: no}" },
		"group": func(w string) string {
			return "{parallel: [{name: h%[1]d, deny: 'true', reason: no}], name: " + w + ", priority: %[1]d}"
		},
	}
	for place, hook := range places {
		runes := unseenRunes()
		text := &strings.Builder{}
		text.WriteString("pre_tool_execution:\n")
		want := 0
		for i, r := range runes {
			if place == "command" && (r == '\n' || r == '\t') {
				continue
			}
			want++
			word := fmt.Sprintf(`"Ba\U%08xsh"`, r)
			line := hook(word)
			if place == "rule" {
				if r == '\n' || r == '\r' || r == '\t' {
					want--
					continue
				}
				line = fmt.Sprintf(`{name: h%%d, deny: "tool_name == 'Ba\U%08xsh'", reason: no}`, r)
			}
			fmt.Fprintf(text, "  - "+line+"\n", i+1)
		}
		found := codesOf(t, hookc.Text("hooks.yaml", text.String()))
		got := map[string]bool{}
		for _, d := range append(found["HK133"], found["HK028"]...) {
			got[d.Span.String()] = true
			assert.Equal(t, diag.Warning, d.Severity)
		}
		assert.Len(t, got, want, "%s: %v", place, found["HK020"])
	}
}

// Letters that look like those of a tool's name are found, and words of other
// languages are not.
func TestLettersThatLookAlikeAreFound(t *testing.T) {
	policyOf := func(word string) hookc.Option {
		return hookc.Text("hooks.yaml", fmt.Sprintf("pre_tool_execution:\n  - {name: h, type: expr, filter: {tool_matcher: %q}, deny: 'true', reason: no}\n", word))
	}
	for _, word := range []string{
		"B\u0430sh", "\u0412ash", "\u0412\u0430\u0455\u04bb", "Bas\u04bb", "\uff22\uff41\uff53\uff48", "B\u03b1sh", "\u0392ash", "W\u0433ite", "Ed\u0456t",
		"\U0001d401\U0001d41a\U0001d42c\U0001d421", "\U0001d670ash", "Wr\u217ete", "mcp__git__\u0441reate", "mcp\u2010x", "a\uff5cb", "run\uff3fshell", "Re\u0251d",
		"\u13f4ash", "N\u2c9ftebook", "\ua4d0sh", "run_shell_c\u043emmand", "R\u0435ad|Write", "\u0415dit",
	} {
		assert.NotEmpty(t, codesOf(t, policyOf(word))["HK134"], "%q", word)
	}
	for _, word := range []string{"Bash", "поиск", "файл|папка", "검색", "検索", "Ναί", "busca_ação", "çalıştır", "größe", "Bash|поиск"} {
		found := codesOf(t, policyOf(word))
		assert.Empty(t, append(found["HK133"], found["HK134"]...), "%q", word)
	}
	for name, ok := range map[string]bool{"guard": true, "охрана": true, "🚀️ deploy": true, "👩‍💻 review": true, "می\u200cخواهم": true,
		"gu\u0430rd": false, "other\u200b": false, "\u0441\u043e\u0440": false, "\u202eguard": false, "🚀\u200b": false} {
		found := codesOf(t, hookc.Text("hooks.yaml", fmt.Sprintf("pre_tool_execution:\n  - {name: cop, deny: 'true', reason: no}\n  - {name: %q, deny: 'true', reason: no}\n", name)))
		assert.Equal(t, ok, len(found["HK133"])+len(found["HK134"]) == 0, "%q", name)
	}
}

// In every format that hookc reads such a matcher or name is found.
func TestUnseenCharactersInEveryFormat(t *testing.T) {
	for _, g := range configurations {
		for bad, code := range map[string]string{"Bash\u200b": "HK133", "\u202eBash": "HK133", "B\u0430sh": "HK134"} {
			path := filepath.Join(t.TempDir(), filepath.FromSlash(g.file))
			require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
			text := g.text
			if g.profile == "clawdcode" { // whose matchers are maps; a text matches everything
				text = strings.Replace(text, `"Bash"`, `{"tools": "Bash"}`, 1)
			}
			require.NoError(t, os.WriteFile(path, []byte(strings.ReplaceAll(text, "Bash", bad)), 0o644))
			found := codesOf(t, hookc.Profile(g.profile, false), host.Input[hookc.Option](source.Input{Path: path, Tier: policy.TierUser, Format: g.profile}))
			assert.NotEmpty(t, found[code], "%s: %q", g.profile, bad)
		}
	}
	dir := t.TempDir()
	lay(t, dir, map[string]string{"log/HOOK.md": "---\nname: log\ndescription: d\ntrigger: pre-tool-call\nmatcher: {tool: \"Bash\u200b\"}\n---\n", "log/scripts/run.sh": "#!/bin/sh\n"})
	assert.NotEmpty(t, codesOf(t, hookc.Files(dir))["HK133"])
}
