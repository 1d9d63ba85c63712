package agents_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// pluginHooks is a hooks.json whose hook leaves a word.
func pluginHooks(word string) string {
	return `{"hooks":{"PreToolUse":[{"matcher":"Bash","hooks":[{"type":"command","command":"echo ` + word + ` >> $CLAUDE_PROJECT_DIR/ran.txt"}]}]}}`
}

// TestClaudePlugins: of installed plugins the same hooks run under the profile as in
// the program.
func TestClaudePlugins(t *testing.T) {
	const (
		on, off   = `{"enabledPlugins":{"p@m":true}}`, `{"enabledPlugins":{"p@m":false}}`
		user      = "home/.claude/settings.json"
		project   = "project/.claude/settings.json"
		local     = "project/.claude/settings.local.json"
		known     = "home/.claude/plugins/known_marketplaces.json"
		installed = "home/.claude/plugins/installed_plugins.json"
		manifest  = "home/pl/.claude-plugin/plugin.json"
		extra     = "home/pl/more/extra.json"
		managed   = "etc/claude-code/managed-settings.json"
	)
	inline := func(word string) string { // what a manifest holds, without the key
		return strings.TrimSuffix(strings.TrimPrefix(pluginHooks(word), `{"hooks":`), "}")
	}
	listed := func(items string) string { return `{"name":"p","hooks":[` + items + `]}` }
	entry := func(text string) string { return `{"version":2,"plugins":{"p@m":[` + text + `]}}` }
	base := map[string]string{
		installed: entry(`{"scope":"user","installPath":"$HOME/pl","version":"1"}`),
		known:     `{"m":{"source":{"source":"github","repo":"a/b"},"installLocation":"$HOME/mkt","lastUpdated":"2026-01-01T00:00:00.000Z"}}`,
		"home/mkt/.claude-plugin/marketplace.json": `{"name":"m","owner":{"name":"me"},"plugins":[{"name":"p","source":"./p"}]}`,
		"home/mkt/p/hooks/hooks.json":              pluginHooks("market"), "home/pl/hooks/hooks.json": pluginHooks("standard"), manifest: `{"name":"p"}`,
	}
	for name, more := range map[string]map[string]string{
		"enabled": {user: on}, "disabled": {user: off}, "unsaid": nil, "project off": {user: on, project: off}, "project on": {user: off, project: on},
		"local off": {user: on, local: off}, "no marketplace": {user: on, known: "{}"}, "no manifest": {user: on, manifest: ""},
		"directory":      {user: on, known: `{"m":{"source":{"source":"directory","path":"$HOME/mkt"},"installLocation":"$HOME/mkt","lastUpdated":"2026-01-01T00:00:00.000Z"}}`},
		"elsewhere":      {user: on, installed: entry(`{"scope":"project","installPath":"$HOME/pl","version":"1","projectPath":"/elsewhere"}`)},
		"here":           {project: on, installed: entry(`{"scope":"project","installPath":"$HOME/pl","version":"1","projectPath":"$PROJECT"}`)},
		"more":           {user: on, manifest: `{"name":"p","hooks":"./more/extra.json"}`, extra: pluginHooks("extra")},
		"bad manifest":   {user: on, manifest: `{"name":"p","hooks":"more/extra.json"}`, extra: pluginHooks("extra")},
		"out of it":      {user: on, manifest: `{"name":"p","hooks":"./../out.json"}`, "home/out.json": pluginHooks("out")},
		"inline":         {user: on, manifest: `{"name":"p",` + strings.TrimPrefix(pluginHooks("inline"), "{")},
		"all hooks off":  {user: `{"enabledPlugins":{"p@m":true},"disableAllHooks":true}`},
		"a list":         {user: on, manifest: listed(`"./more/extra.json",` + inline("one") + `,` + inline("two")), extra: pluginHooks("extra")},
		"a list, a gap":  {user: on, manifest: listed(`"./more/none.json","./more/extra.json"`), extra: pluginHooks("extra")},
		"a list, twice":  {user: on, manifest: listed(`"./more/extra.json","./more/extra.json","./hooks/hooks.json"`), extra: pluginHooks("extra")},
		"a list, bad":    {user: on, manifest: listed(`"more/extra.json",` + inline("one")), extra: pluginHooks("extra")},
		"a list, nested": {user: on, manifest: listed(`"./more/extra.json",` + pluginHooks("one")), extra: pluginHooks("extra")},
		"managed":        {user: strings.TrimSuffix(pluginHooks("user"), "}") + `,"enabledPlugins":{"p@m":true}}`, managed: strings.TrimSuffix(pluginHooks("managed"), "}") + `,"allowManagedHooksOnly":true}`, project: pluginHooks("project")},
		"managed plugin": {user: pluginHooks("user"), managed: `{"allowManagedHooksOnly":true,"enabledPlugins":{"p@m":true}}`},
		"managed kept":   {user: strings.TrimSuffix(pluginHooks("user"), "}") + `,"disableAllHooks":true}`, managed: strings.TrimSuffix(pluginHooks("managed"), "}") + `,"enabledPlugins":{"p@m":true}}`},
		"managed none":   {user: on, managed: strings.TrimSuffix(pluginHooks("managed"), "}") + `,"disableAllHooks":true,"enabledPlugins":{"p@m":true}}`},
		"in settings as": {user: strings.TrimSuffix(pluginHooks("standard"), "}") + `,"enabledPlugins":{"p@m":true}}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := begin(t, claude)
			s.bare = true
			lay := func(path, text string) {
				if text = strings.NewReplacer("$HOME", s.home, "$PROJECT\"", s.project+"\"").Replace(text); text != "" {
					put(t, filepath.Join(filepath.Dir(s.home), path), text)
				}
			}
			for path, text := range base {
				if _, other := more[path]; !other {
					lay(path, text)
				}
			}
			for path, text := range more {
				lay(path, text)
			}
			if more[managed] != "" {
				s.before = withEtc(t, filepath.Join(filepath.Dir(s.home), "etc"))
			}
			require.NoError(t, os.MkdirAll(filepath.Join(s.project, ".git"), 0o755))
			ran := func() []string {
				words := strings.Fields(s.file(t, "ran.txt"))
				slices.Sort(words)
				return words
			}
			argv := append(slices.Clone(s.before), s.hookc, "run", "PreToolUse", "--profile", "claude", "--json")
			run := exec.CommandContext(t.Context(), argv[0], argv[1:]...)
			run.Dir, run.Env = s.project, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + s.home, "HOOKC_TRUST=all"}
			run.Stdin = strings.NewReader(`{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"true"},"cwd":"` + s.project + `"}`)
			out, err := run.CombinedOutput()
			require.NoError(t, err, "%s", out)
			profile := ran()
			require.NoError(t, os.RemoveAll(filepath.Join(s.project, "ran.txt")))
			s.play(t, func(*session) []turn { return []turn{claude.shell("true"), {text: "done"}} })
			assert.Equal(t, ran(), profile, "%s", out)
		})
	}
}

// withEtc is what a command line follows that has a folder's files in its /etc as well,
// and the rest of the system as it is.
func withEtc(t *testing.T, folder string) []string {
	t.Helper()
	for _, name := range []string{"passwd", "group", "hosts", "nsswitch.conf", "ssl"} {
		out, err := exec.Command("cp", "-rL", filepath.Join("/etc", name), folder).CombinedOutput()
		require.True(t, err == nil || name == "ssl" || name == "nsswitch.conf", "%s", out)
	}
	return []string{"unshare", "--map-root-user", "--mount", "sh", "-c", `mount --bind "$0" /etc && exec "$@"`, folder}
}
