package browser

import (
	"bufio"
	_ "embed"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/internal/approval"
	"github.com/hookc/hookc/internal/decisionlog"
	"github.com/hookc/hookc/policy"
	terms "github.com/hookc/hookc/policy/approval"
	"github.com/hookc/hookc/policy/diag"
	"github.com/hookc/hookc/tests/programs"
)

//go:embed layout.js
var layoutScript string

// hostile are texts that would run, load or break something.
var hostile = []string{
	`<script>document.title="taken"</script>`, `"><img src=http://192.0.2.1/x onerror=alert(1)>`, `' onfocus='alert(1)' autofocus='`, `</title></svg><script>alert(1)</script>`,
	`javascript:alert(1)`, `<iframe src=http://192.0.2.1/>`, `<style>*{display:none}</style>`, strings.Repeat("long", 100), "a\u202eb\x00c", `<meta http-equiv=refresh content="0;url=http://192.0.2.1/">`,
}

// serving runs `hookc ui` over a log and approvals with hostile texts; first is a decision.
func serving(t *testing.T) (link, first string, store *approval.Store) {
	hookc, dir := programs.Hookc(t), t.TempDir()
	home := filepath.Join(dir, "hookc")
	w, err := decisionlog.Open(decisionlog.Folder(home), decisionlog.Options{})
	require.NoError(t, err)
	for _, s := range hostile {
		in := policy.NewContext(policy.PreToolExecution).Set(policy.FieldToolName, s).Set(policy.FieldToolInput, map[string]any{"command": s + "\none\ntwo"})
		d := &policy.Decision{Event: policy.PreToolExecution, Action: policy.Block, Verdict: policy.Deny, Control: policy.Go, By: s, Reasons: []string{s},
			Patch: map[string]any{"tool_input": map[string]any{"command": s + "\n1\ntwo"}},
			Hooks: []policy.HookTrace{{TracedHook: &policy.TracedHook{Name: s}, Status: policy.StatusRan, Verdict: policy.Deny, Micros: 20}}}
		if s == hostile[7] {
			d.Action, d.Verdict, d.By, d.Reasons, d.Patch = policy.Proceed, policy.None, "", nil, nil
			for _, w := range []*policy.Would{{Hook: "tried-out", Says: "deny", Action: policy.Block, Reasons: []string{s}}, {Hook: s, Says: "ask", Action: policy.AskUser, Reasons: []string{s}}} {
				d.Warnings = append(d.Warnings, policy.Warning{Code: &diag.Code{ID: "HK000"}, Hook: w.Hook, Text: "tried out", Would: w})
			}
		}
		require.NoError(t, w.Add(t.Context(), decisionlog.Decided{Event: policy.PreToolExecution, In: in.Frozen(policy.PreToolExecution), Agent: s, Decision: d}))
	}
	require.NoError(t, w.Close())
	for e := range decisionlog.Newest(decisionlog.Folder(home), decisionlog.Range{}) {
		if first = e.ID; e.Type == "decision" {
			break
		}
	}
	store = approval.Open(home)
	for _, s := range hostile {
		_, _, _, err := store.Ask(t.Context(), &approval.Question{Call: approval.Call{Event: policy.PreToolExecution, Tool: s, Input: map[string]any{"command": s}, Cwd: s},
			Session: s, Policy: "p", Rules: []string{s}, Reasons: []string{s}, Agent: s, Terms: terms.Terms{Anyone: true, Quorum: 1, TTL: 1 << 42}})
		require.NoError(t, err)
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "hooks.yaml"), []byte("pre_tool_execution:\n  - {name: no-force, type: expr, deny: 'command contains \"--force\"', reason: no}\n  - {name: "+strings.Repeat("long", 20)+", deny: 'command == \"x\"', reason: no}\n"), 0o644))
	cmd := exec.Command(hookc, "ui", "--as=ann")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+dir, "HOME="+dir, "HOOKC_TRUST=all")
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		_ = cmd.Wait()
	})
	link, err = bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	return strings.TrimSpace(link), first, store
}

var paths = []string{"/", "/hooks", "/hooks?rules=all", "/impact", "/approvals", "/agents"}

// TestPages: every page on a narrow and a wide screen, in the light and in the dark.
func TestPages(t *testing.T) {
	b := started(t)
	link, first, _ := serving(t)
	base, _, _ := strings.Cut(link, "/?")
	b.open(link)
	for _, width := range []int{390, 1280} {
		for _, dark := range []bool{false, true} {
			b.screen(width, dark)
			for _, path := range append(paths, "/decision?id="+first) {
				b.open(base + path)
				b.compared(path, width, dark)
				assert.Empty(t, b.faults(), "%s at %s", path, describe(width, dark))
				var title string
				b.eval("document.title", &title)
				assert.NotEqual(t, "taken", title)
				assert.True(t, strings.HasSuffix(title, "hookc"), title)
				b.quiet(base)
			}
		}
	}
}

// TestKeyboard: Tab goes through everything that does something, in the order of the
// page, each with a frame that is seen; a form is sent by Enter.
func TestKeyboard(t *testing.T) {
	b := started(t)
	link, first, store := serving(t)
	base, _, _ := strings.Cut(link, "/?")
	b.screen(390, false)
	b.open(link)
	var at string
	var entries int
	b.eval("location.href", &at)
	b.eval("performance.getEntriesByType('navigation').filter((e) => e.name.includes('token')).length", &entries)
	assert.Equal(t, base+"/", at, "the token has left the address")
	assert.Zero(t, entries)
	b.key("Tab")
	b.key("Enter")
	b.eval("document.activeElement.id", &at)
	assert.Equal(t, "main", at, "the first link skips to the content")
	for _, path := range append(paths, "/decision?id="+first) {
		b.open(base + path)
		var n int
		b.eval(`window.stops = [...document.querySelectorAll("a[href],input:not([type=hidden]),select,button,summary,[tabindex='0']")].filter((e) => e.checkVisibility()); stops.length`, &n)
		require.Greater(t, n, 3)
		for i := range n {
			b.key("Tab")
			var at struct {
				Index int
				Frame bool
			}
			b.eval(`(() => { const e = document.activeElement, s = getComputedStyle(e); return {Index: stops.indexOf(e), Frame: s.outlineStyle !== "none" && parseFloat(s.outlineWidth) >= 2}; })()`, &at)
			require.Equal(t, i, at.Index, "%s", path)
			require.True(t, at.Frame, "%s: %d", path, i)
		}
	}
	b.open(base + "/approvals")
	b.eval(`document.querySelector("button[value=deny]").focus()`, nil)
	was := b.loaded
	b.key("Enter")
	for b.loaded == was {
		b.next()
	}
	all, err := store.List()
	require.NoError(t, err)
	denied := 0
	for _, a := range all {
		if a.State == approval.Denied {
			denied++
			assert.Equal(t, []string{"ann"}, a.By())
		}
	}
	assert.Equal(t, 1, denied)
	b.quiet(base)
}
