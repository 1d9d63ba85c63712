package print

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/internal/spell"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
)

// FuzzPrint: every text that a policy can hold comes back as it was, in every
// place.
func FuzzPrint(f *testing.F) {
	for _, s := range []string{"a", " a", "a ", "a\n", "\na", "a\n\n", "a\r\nb", "!x", "a: b", "a #b", "- a", "'", `"`, `\`, `'"\`, "~", "null", "yes", "0x1F", "1_000",
		"12:30:45", "2001-01-01", "<<", "=", "\u0085", "\u2028", "\ufeff", "\U0001F600", "\x00", "\t", "a\tb\n\tc\n", "  a\n b\n", "\n\n  a", "a\n   \n", "a\n  ", "%x", "@x", "`x",
		"{a}", "[a]", "a,b", "a]b", "...", "---", "--- a\n", "...\nb", ".5", "a:", "a:b", "?", "? a", "|", "> a", "&a", "*a", "é", "e\u0301", "\u200b", "#a", "a\n#b\n", "a\n# b: c", "é: ñ\n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if len(s) > 200 || strings.ToValidUTF8(s, "") != s || strings.TrimSpace(s) == "" {
			t.Skip("no text that a file can hold, or too long to learn from")
		}
		h := &policy.Hook{Name: spell.Name(s), Description: s, Event: policy.PreToolExecution, Kind: policy.KindBash, Tier: policy.TierProject, Priority: policy.DefaultPriority, Retry: -1,
			Dir: "/p", File: &policy.FileConfig{Dir: "/p", OnError: map[policy.Kind]policy.Posture{}},
			Body: policy.Body{Command: diag.Literal(s), Env: []policy.EnvVar{{Name: "K" + s, Value: s}}}}
		h.Declared.Reads = []diag.Text{diag.Literal(s), diag.Literal("x")}
		h.Filter.Conditions = []policy.Condition{{Key: policy.FilterToolName, Value: diag.Literal(s)}}
		e := &policy.Hook{Name: "e", Event: policy.PreToolExecution, Kind: policy.KindExpr, Tier: policy.TierProject, Priority: policy.DefaultPriority, Retry: -1, Order: 1,
			Dir: "/p", File: h.File}
		e.Body.Rules = []policy.Rule{{Says: policy.MayDeny, Condition: diag.Literal(s), Reason: diag.Literal(s)}, {Says: policy.MayAsk, Condition: diag.Literal(s)}}
		e.Body.Context = diag.Literal(s)
		if len(s) < 200 { // a key on one line is short
			h.Body.Env = append(h.Body.Env, policy.EnvVar{Name: s, Value: "v"})
			e.Body.Set = []policy.Assign{{Path: diag.Literal(s), Value: diag.Literal(s)}}
		}
		p := &policy.Policy{Hooks: []*policy.Hook{h, e}}
		text, again := reload(t, p, "/p")
		again.Hooks[0].File.OnError, again.Hooks[0].Declared.Span = h.File.OnError, diag.Span{}
		// Where the command's files lie is found when the text is read.
		again.Hooks[0].Body.Line, again.Hooks[0].Body.Imports = "", nil
		again.Hooks[0].Body.Base, again.Hooks[0].Body.Root = "", ""
		require.Equal(t, same(p), same(again), "%s", text)
	})
}
