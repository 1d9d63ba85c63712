package browser

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/tests/depth"
	"github.com/hookc/hookc/tests/programs"
)

// drawn compiles a policy and returns where its picture is, as a page or as SVG.
func drawn(t *testing.T, policy, form string) string {
	path := filepath.Join(t.TempDir(), "p."+form)
	out, err := exec.Command(programs.Hookc(t), "compile", "--explain="+form, "-o", path, policy).CombinedOutput()
	require.NoError(t, err, "%s", out)
	return "file://" + path
}

func written(t *testing.T, text string) string {
	path := filepath.Join(t.TempDir(), "hooks.yaml")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	return path
}

// sixty are sixty rules, and a process and a rule behind them.
func sixty() string {
	text := "pre_tool_execution:\n"
	for i := range 60 {
		text += fmt.Sprintf("  - {name: rule-%d, deny: 'tool_input.command contains \"%d\"', reason: no}\n", i, i)
	}
	return text + "  - {name: script, command: 'true', reads: [tool_input], writes: [tool_input], on_error: ask}\n" +
		"  - {name: after, deny: 'tool_input.command contains \"rm\"', reason: no}\n"
}

// long are rules of one slot: one with a wide name, one with a filter that has no room.
func long() string {
	return "pre_tool_execution:\n  - {name: " + strings.Repeat("W", 47) + ", deny: 'command == \"x\"', reason: no}\n" +
		"  - {name: a, deny: 'command == \"x\"', reason: no, filter: {command: '^(" + strings.Repeat("make|", 60) + "git)$'}}\n"
}

// TestPictures: what explain draws, on a narrow and a wide screen, in the light and in
// the dark: of the example, of 60 rules, of names in other scripts, of texts that are too
// long, and of hooks at each event of three pipelines within each other.
func TestPictures(t *testing.T) {
	b := started(t)
	names := "pre_tool_execution:\n"
	for i, name := range drawnNames {
		names += fmt.Sprintf("  - {name: '%s', deny: 'tool_input.command contains \"%d\"', reason: no}\n  - {name: '%[1]s-script', command: 'true', reads: [tool_input], writes: [], may: [deny], on_error: ask}\n", name, i)
	}
	policies := map[string]string{"example": "../../hooks.example.yaml", "sixty": written(t, sixty()), "names": written(t, names), "long": written(t, long()), "deep": "testdata/deep.yaml"}
	for name, policy := range policies {
		for _, form := range []string{"html", "svg"} {
			address := drawn(t, policy, form)
			for _, width := range []int{390, 1280} {
				dark := (width == 390) != (form == "svg")
				b.screen(width, dark)
				b.open(address)
				assert.Empty(t, b.faults(), "%s of %s: %s", form, name, describe(width, dark))
				b.shot = fmt.Sprintf("%s-%s-%d-%v", name, form, width, dark)
				b.screenshot()
				b.quiet("file:")
			}
		}
	}
}

// TestSixtyRules: the picture of a chain of sixty rules is not wider than the screen until each of them
// is asked for; a click on their box, or on the button, shows them all, and another
// folds them again.
func TestSixtyRules(t *testing.T) {
	b := started(t)
	address := drawn(t, written(t, sixty()), "html")
	for _, width := range []int{390, 1280} {
		b.screen(width, false)
		b.open(address)
		var seen struct{ Folded, Wider, Rules int }
		look := func() {
			b.eval(`(() => { const shown = (e) => e.checkVisibility(), all = (s) => [...document.querySelectorAll(s)].filter(shown);
				return {Folded: all(".hk-node[data-holds]").length, Wider: all("section[data-event] figure").filter((f) => f.scrollWidth > f.clientWidth).length,
					Rules: all(".hk-node.hk-inline").length}; })()`, &seen)
			assert.Empty(t, b.faults(), describe(width, false))
		}
		look()
		assert.Equal(t, 1, seen.Folded)
		assert.Zero(t, seen.Wider, "%d pixels", width)
		for _, press := range []string{".hk-node[data-holds]", ".folding button"} {
			click := fmt.Sprintf(`[...document.querySelectorAll("%s")].find((e) => e.checkVisibility()).dispatchEvent(new MouseEvent("click", {bubbles: true}))`, press)
			b.eval(click, nil)
			look()
			assert.Zero(t, seen.Folded, press)
			assert.GreaterOrEqual(t, seen.Rules, 60, press)
			b.eval(strings.Replace(click, press, ".folding button", 1), nil)
			look()
			assert.Equal(t, 1, seen.Folded, press)
		}
	}
}

// drawnNames are names whose width cannot be told from their length.
var drawnNames = []string{
	"a", "git", "a-very-long-name-of-a-hook-that-goes-on-and-on-and-does-not-end-where-a-line-ends-0123456789", "שומר-סודות-של-הפרויקט", "حارس-الملفات-السرية-في-المشروع",
	"🛡️🔥🚀-guard", "名前がとても長いフックの例です", "family-👨‍👩‍👧‍👦", "WWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWW", "iiiiiiiiiiiiiiiiiiiiiiii", "Größe-ß-ÆŒ", "Проверка-ЩЩЩЩЩЩЩЩЩЩ", "ẅ̈ë̈-z̷a̷l̷g̷o̷",
}

// randomPolicy is a policy of a few events with rules, scripts, questions and groups.
func randomPolicy(rnd *rand.Rand) string {
	var text strings.Builder
	at := 0
	fields := map[string][]string{"pre_tool_execution": {"tool_input.command", "tool_input.path", "tool_input"}, "pre_send_message": {"user_input"},
		"post_tool_execution": {"tool_result"}}
	hook := func(event, indent string) {
		at++
		field := fields[event][rnd.IntN(len(fields[event]))]
		name := fmt.Sprintf("%s-%d", drawnNames[rnd.IntN(len(drawnNames))], at)
		fmt.Fprintf(&text, "%s- {name: '%s', ", indent, name)
		filter := ""
		if strings.HasSuffix(event, "tool_execution") && rnd.IntN(3) == 0 {
			filter = ", filter: {tool_kind: shell, command: '^(" + strings.Repeat("make|", 1+rnd.IntN(30)) + "git)$'}"
		}
		switch rnd.IntN(7) {
		case 0, 1, 2:
			fmt.Fprintf(&text, "deny: '%s contains \"%d\"', reason: no", fields[event][0], at)
		case 3:
			fmt.Fprintf(&text, "command: 'true', reads: [%s], writes: [%[1]s], may: [], on_error: ask", field)
		case 4:
			text.WriteString("command: 'true', may: [], writes: [], on_error: skip")
		case 5:
			text.WriteString("command: 'true', may: [], writes: [], async: true, on_error: skip")
		case 6:
			text.WriteString("prompt: 'Is this safe? {{event}}', writes: [], on_error: ask")
		}
		text.WriteString(filter + "}\n")
	}
	for _, event := range slices.Sorted(maps.Keys(fields)) {
		text.WriteString(event + ":\n")
		for range 1 + rnd.IntN(14) {
			if rnd.IntN(6) > 0 {
				hook(event, "  ")
				continue
			}
			at++
			fmt.Fprintf(&text, "  - name: '%s-%d'\n    parallel:\n", drawnNames[rnd.IntN(len(drawnNames))], at)
			for range 1 + rnd.IntN(4) {
				hook(event, "      ")
			}
		}
	}
	return text.String()
}

// TestRandomPictures: whatever is drawn, no text is wider than its box, no boxes overlap
// and no edge crosses a text or a box that it does not lead to.
func TestRandomPictures(t *testing.T) {
	b := started(t)
	rnd := rand.New(rand.NewPCG(21, 11))
	for i := range depth.Of(12) {
		text := randomPolicy(rnd)
		policy := written(t, text)
		for _, form := range []string{"svg", "html"}[:1+i%2] {
			address, width := drawn(t, policy, form), []int{390, 1280}[i/2%2]
			b.screen(width, i%3 == 0)
			b.open(address)
			b.shot = fmt.Sprintf("random-%d-%s", i, form)
			b.screenshot()
			if !assert.Empty(t, b.faults(), "%d, %s, %d pixels:\n%s", i, form, width, text) {
				return
			}
			b.quiet("file:")
		}
	}
}
