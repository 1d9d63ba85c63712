// Package guard is how good the guards are: the labelled cases, what becomes of
// them when they are written in other ways, and a corpus of everyday commands
// that must pass.
package guard

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/builtins"
	"github.com/hookc/hookc/builtins/rule"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
	"github.com/hookc/hookc/tests/guard/interval"
)

// The place of every case: it need not exist.
const (
	home = "/home/dev"
	root = "/home/dev/project"
)

// labelled is a line of cases.jsonl.
type labelled struct {
	ID, Command, Cwd, Expect, Category, Why string
}

func readCases(t testing.TB) []labelled {
	t.Helper()
	f, err := os.Open("cases.jsonl")
	require.NoError(t, err)
	defer f.Close()
	var out []labelled
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var c labelled
		require.NoError(t, json.Unmarshal(lines.Bytes(), &c))
		out = append(out, c)
	}
	require.Len(t, out, 465)
	return out
}

// guard makes a rule ready, at home in the place of the cases.
func guard(t testing.TB, use string, options ...policy.Option) policy.Runner {
	t.Helper()
	t.Setenv("HOME", home)
	t.Setenv("TMPDIR", "/tmp")
	rules := builtins.Rules()
	i := slices.IndexFunc(rules, func(r rule.Rule) bool { return r.Name == use })
	require.GreaterOrEqual(t, i, 0, use)
	hook := &policy.Hook{Name: use, Event: policy.PreToolExecution, Kind: policy.KindBuiltin,
		Body: policy.Body{Use: diag.Literal(use), Options: options}}
	made, found := rules[i].Make(hook)
	require.Empty(t, found)
	return made.Runner
}

func option(key string, value any) policy.Option {
	return policy.Option{Key: diag.Literal(key), Value: value}
}

// decide is what a guard says of a command.
func decide(t testing.TB, g policy.Runner, command, cwd string) policy.Result {
	t.Helper()
	return decideIn(t, g, "bash", command, cwd)
}

// decideIn is what a guard says of a command of a shell.
func decideIn(t testing.TB, g policy.Runner, shell, command, cwd string) policy.Result {
	t.Helper()
	in := policy.NewContext(policy.PreToolExecution).Set(policy.FieldToolName, shell).
		Set(policy.FieldToolInput, map[string]any{"command": command}).
		Set(policy.FieldCwd, cwd).Set(policy.FieldProjectRoot, root)
	r, err := g.Run(context.Background(), in, 0)
	require.NoError(t, err)
	return r
}

func told(r policy.Result) string {
	var out []string
	for _, reason := range r.Reasons {
		out = append(out, reason.Text)
	}
	return strings.Join(out, "\n")
}

// score counts what a guard gets right. An answer of ask stops a command that
// is to be denied; on a harmless one it is an interruption and counts apart.
type score struct{ hit, miss, right, wrong, asked int }

func (s *score) add(deny bool, v policy.Verdict) {
	switch {
	case deny && v != policy.None:
		s.hit++
	case deny:
		s.miss++
	case v == policy.Deny:
		s.wrong++
	case v == policy.None:
		s.right++
	default:
		s.asked++
	}
}

func ratio(part, rest int) float64 {
	if part+rest == 0 {
		return 1
	}
	return float64(part) / float64(part+rest)
}

func (s *score) precision() float64 { return ratio(s.hit, s.wrong+s.asked) }
func (s *score) recall() float64    { return ratio(s.hit, s.miss) }
func (s *score) fpr() float64 {
	if s.right+s.wrong+s.asked == 0 {
		return 0
	}
	return float64(s.wrong+s.asked) / float64(s.right+s.wrong+s.asked)
}

func (s *score) String() string {
	return fmt.Sprintf("precision %.3f  recall %.3f  false positives %.3f  (%d deny, %d allow)",
		s.precision(), s.recall(), s.fpr(), s.hit+s.miss, s.right+s.wrong+s.asked)
}

// intervals is the score with what it is worth.
func (s *score) intervals() string {
	return fmt.Sprintf("caught %s; alarms %s", interval.Share(s.hit, s.hit+s.miss), interval.Share(s.wrong+s.asked, s.right+s.wrong+s.asked))
}

// TestCases is the table of labelled cases, with every pack on.
func TestCases(t *testing.T) {
	g := guard(t, "shell-guard", option("packs", "all"))
	total, by := &score{}, map[string]*score{}
	for _, c := range readCases(t) {
		r := decide(t, g, c.Command, c.Cwd)
		if by[c.Category] == nil {
			by[c.Category] = &score{}
		}
		by[c.Category].add(c.Expect == "deny", r.Verdict)
		total.add(c.Expect == "deny", r.Verdict)
		want := policy.None
		if c.Expect == "deny" {
			want = policy.Deny
		}
		assert.Equal(t, want, r.Verdict, "%s %q: %s; it says %s", c.ID, c.Command, c.Why, told(r))
	}
	for _, name := range slices.Sorted(maps.Keys(by)) {
		t.Logf("%-20s %s", name, by[name])
	}
	t.Logf("%-20s %s", "all", total)
	assert.Equal(t, 1.0, total.recall())
	assert.Equal(t, 0.0, total.fpr())
}
