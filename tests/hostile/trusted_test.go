//go:build unix

package hostile

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/tests/depth"
	"github.com/hookc/hookc/tests/programs"
)

// late is how much later than its deadline an answer may be read on a machine
// that does much else: a bound against waiting for ever, no figure.
const late = 20 * time.Second

// Trusted are contents that cost most once they are trusted, beside those of
// [Repos].
func Trusted() []repo {
	const hook = "pre_tool_execution:\n"
	rego := func(name, module string) repo {
		return repo{name, func(root string) error {
			if err := put(root, ".hookc/hooks.yaml", hook+"  - {name: r, file: r.rego}\n"); err != nil {
				return err
			}
			return put(root, ".hookc/r.rego", module)
		}}
	}
	text := func(name, text string) repo {
		return repo{name, func(root string) error { return put(root, ".hookc/hooks.yaml", text) }}
	}
	data := func(root, path, module string) error {
		if err := put(root, ".hookc/r.rego", "package p\n"+module+"\n"); err != nil {
			return err
		}
		return put(root, ".hookc/hooks.yaml", "rego: {data: ["+path+"]}\n"+hook+"  - {name: r, file: r.rego}\n")
	}
	many := depth.Of(8_000)
	rules := strings.Builder{}
	rules.WriteString("package p\n")
	for i := range many {
		fmt.Fprintf(&rules, "deny contains \"no\" if contains(input.tool_input.command, data.p.x%d)\nx%d := \"y%d\"\n", i, i, i)
	}
	classes := strings.Builder{}
	classes.WriteString(hook)
	for i := range many / 8 {
		fmt.Fprintf(&classes, "  - {name: r%d, deny: 'command matches \"(%s[a-z]{0,30}){30}\"', reason: no}\n", i, strings.Repeat("x?", i%50))
	}
	return []repo{
		rego("Rego that multiplies", "package p\ndeny contains \"no\" if {\n\tsome a in numbers.range(1, 100000)\n\tsome b in numbers.range(1, 100000)\n\tsome c in numbers.range(1, 100000)\n\ta * b * c == -1\n}\n"),
		rego("Rego that counts", "package p\ndeny contains \"no\" if count([1 | numbers.range(1, 100000000)[_]; numbers.range(1, 100000000)[_]]) == 0\n"),
		rego("Rego of many rules", rules.String()),
		rego("Rego that is deep", "package p\nx := "+strings.Repeat("[", many)+strings.Repeat("]", many)+"\ndeny contains \"no\" if x\n"),
		rego("Rego of one long sum", "package p\nx := 1"+strings.Repeat(" + 1", many)+"\ndeny contains \"no\" if x == 0\n"),
		rego("Rego in a comprehension of comprehensions", "package p\ndeny contains \"no\" if "+strings.Repeat("count([1 | ", 60)+"true"+strings.Repeat("]) > 0", 60)+"\n"),
		text("regular expressions", classes.String()),
		text("a long expression", hook+"  - {name: r, deny: 'command == \"x\""+strings.Repeat(" || command contains \"xy\"", many)+"'}\n"),
		text("a range", hook+"  - {name: r, deny: 'any(1..1000000000, any(1..1000000000, # == -1))'}\n"),
		text("a command that never ends", "defaults: {chain_timeout: 600}\n"+hook+"  - {name: r, command: \"trap '' TERM; sleep 600\", timeout: 600, on_error: deny}\n"),
		{"many includes", func(root string) error {
			for i := range many {
				if err := put(root, fmt.Sprintf(".hookc/more/%d.yaml", i), fmt.Sprintf("notify: [{name: n%d, message: '\"x\"'}]\n", i)); err != nil {
					return err
				}
			}
			return put(root, ".hookc/hooks.yaml", "include: ['more/*.yaml']\n")
		}},
		{"large data", func(root string) error {
			if err := data(root, "data", `deny contains "no" if data.x0[_] == input.tool_input.command`); err != nil {
				return err
			}
			list := strings.Repeat(`"xxxxxxxx",`, 20*many)
			for i := range 8 {
				if err := put(root, fmt.Sprintf(".hookc/data/%d.json", i), fmt.Sprintf(`{"x%d":[%s""]}`, i, list)); err != nil {
					return err
				}
			}
			return nil
		}},
		{"data that is sparse", func(root string) error {
			if err := data(root, "d.json", `deny contains "no" if data.x`); err != nil {
				return err
			}
			return sparse(filepath.Join(root, ".hookc/d.json"), 50<<30)
		}},
		{"data that is a pipe", func(root string) error {
			if err := data(root, "d.json", `deny contains "no" if data.x`); err != nil {
				return err
			}
			return syscall.Mkfifo(filepath.Join(root, ".hookc/d.json"), 0o600)
		}},
	}
}

// Whatever a repository holds that is trusted, or that was something else when
// it was trusted, an answer arrives within the deadline, and it is no permission
// of what the user denies: the user's own verdict, or the posture.
func TestTrustedRepositoryIsAnswered(t *testing.T) {
	repos, placed := Trusted(), 0
	known := len(repos)
	for _, r := range Repos() {
		if strings.HasPrefix(r.name, "hooks.yaml") || strings.HasPrefix(r.name, ".hookc/hooks.local.yaml") {
			if placed++; !depth.Full() {
				continue // the first place stands for all
			}
		}
		repos = append(repos, r)
	}
	require.NotZero(t, placed)
	for i, r := range repos {
		both := depth.Full() || i < known && depth.Tries(1, 2) // of the others, and daily of all, one of the two by turns
		trusted := func(t *testing.T) {
			t.Parallel()
			h := newHouse(t)
			require.NoError(t, r.make(h.project))
			trusted := h.ask(t, "", programs.Hookc(t), "trust", "--yes")
			t.Logf("trust: %d in %s", trusted.code, trusted.took)
			h.answersInTime(t)
		}
		changed := func(t *testing.T) {
			t.Parallel()
			h := newHouse(t)
			require.NoError(t, put(h.project, ".hookc/hooks.yaml", "pre_tool_execution: [{name: theirs, deny: 'command contains \"curl\"', reason: no}]\n"))
			require.Equal(t, 0, h.ask(t, "", programs.Hookc(t), "trust", "--yes").code)
			require.NoError(t, os.RemoveAll(filepath.Join(h.project, ".hookc")))
			require.NoError(t, r.make(h.project))
			h.answersInTime(t)
		}
		if both || i%2 == 0 {
			t.Run(r.name, trusted)
		}
		if both || i%2 == 1 {
			t.Run(r.name+" after consent", changed)
		}
	}
}

// answersInTime asks about what the user denies.
func (h *house) answersInTime(t *testing.T) {
	deadline := "1s"
	if depth.Full() {
		deadline = "5s"
	}
	for road, words := range map[string][]string{
		"run":  {programs.Hookc(t), "run", "PreToolUse", "--dialect", "claude", "--deadline", deadline},
		"gate": {programs.Hookgate(t), "PreToolUse", "--dialect", "claude", "--deadline", deadline},
	} {
		a := h.ask(t, removal, words...)
		assert.Equal(t, 2, a.code, "%s: %s%s", road, a.stdout, a.stderr)
		assert.True(t, json.Valid([]byte(a.stdout)), "%s: %s", road, a.stdout)
		assert.Contains(t, a.stdout, `"permissionDecision":"deny"`, road)
		assert.Less(t, a.took, late, road)
		t.Logf("%s: %s: %.200s", road, a.took, a.stdout)
	}
}
