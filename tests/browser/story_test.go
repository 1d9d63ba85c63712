package browser

import (
	"bufio"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/tests/programs"
)

// story is a folder with a policy, and a record of what is decided there.
type story struct {
	*testing.T
	hookc, dir string
}

// run runs hookc and returns how it ended and what it said.
func (s *story) run(stdin string, args ...string) (code int, said string) {
	s.Helper()
	cmd := s.command(args...)
	cmd.Stdin = strings.NewReader(stdin)
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		require.NoError(s, err)
	}
	return cmd.ProcessState.ExitCode(), string(out)
}

func (s *story) command(args ...string) *exec.Cmd {
	cmd := exec.Command(s.hookc, args...)
	cmd.Dir = s.dir
	cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+s.dir, "HOME="+s.dir, "XDG_CONFIG_HOME="+s.dir, "HOOKC_TRUST=all")
	return cmd
}

// ends runs hookc, which must end so and say this.
func (s *story) ends(code int, want, stdin string, args ...string) string {
	s.Helper()
	got, said := s.run(stdin, args...)
	require.Equal(s, code, got, "%v: %s", args, said)
	require.Regexp(s, want, said, "%v", args)
	return said
}

func (s *story) policy(text string) {
	require.NoError(s, os.WriteFile(filepath.Join(s.dir, "hooks.yaml"), []byte(text), 0o600))
}

const push = `{"session_id": "s1", "cwd": "/", "permission_mode": "bypassPermissions", "tool_name": "Bash", "tool_input": {"command": "git push"}}`

// call is the call of the agent.
func (s *story) call(code int, want string) {
	s.Helper()
	s.ends(code, want, push, "run", "PreToolUse", "--dialect", "claude", "-f", "hooks.yaml")
}

// page runs `hookc ui` while f looks at it.
func (s *story) page(f func(link string)) {
	cmd := s.command("ui", "--as=ann")
	out, err := cmd.StdoutPipe()
	require.NoError(s, err)
	require.NoError(s, cmd.Start())
	defer func() {
		_ = cmd.Process.Signal(os.Interrupt)
		_ = cmd.Wait()
	}()
	link, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(s, err)
	f(strings.TrimSpace(link))
}

// TestStory: a rule is tried out, judged by the record, put in force, asks, and is granted
// on the page, in a browser where there is one; the call goes ahead once, what was decided
// is decided again as it was, and a byte that is changed in the record is found.
func TestStory(t *testing.T) {
	s := &story{T: t, hookc: programs.Hookc(t), dir: t.TempDir()}
	const rule = "approval: {ttl: 1h}\npre_tool_execution:\n  - {name: push, enforcement: dryrun, ask: 'command startsWith \"git push\"', reason: others see it}\n"
	s.ends(0, "decisions are logged", "", "log", "enable")
	s.policy(rule)
	s.call(0, "HK111: push: enforcement is dryrun; it would have said ask: others see it")
	s.ends(0, `(?m)^push +pre_tool_execution +not in force +0 +1 +0 +0 +1 +1 +0$`, "", "impact", "--since", "7d")

	enforced := time.Now().UTC().Format(time.RFC3339Nano)
	s.policy(strings.Replace(rule, "enforcement: dryrun, ", "", 1))
	s.call(2, "somebody must approve this call, and has not yet")
	if os.Getenv("HOOKC_TEST_BROWSER") != "" {
		s.page(s.pressGrant)
	} else {
		s.page(s.postGrant)
	}
	s.call(0, `"allow".*approved by ann .*once`)
	s.call(2, "somebody must approve this call, and has not yet")
	s.ends(0, `"grant":\{"by":\["ann"\],`, "", "log", "tail", "-n", "2", "--json")

	s.ends(0, `^3 events replayed: 3 as recorded, 0 changed, 0 unsure`, "", "replay", "-f", "hooks.yaml", "--recorded", "--since", enforced)
	s.ends(1, `4 events replayed: 3 as recorded, 1 changed`, "", "replay", "-f", "hooks.yaml", "--recorded")
	s.policy(strings.ReplaceAll(rule, "git push", "git pull")) // who no longer asks decides otherwise
	s.ends(1, `4 events replayed: 0 as recorded, 4 changed`, "", "replay", "-f", "hooks.yaml", "--recorded")

	s.ends(0, "as they were written", "", "log", "verify")
	file := filepath.Join(s.dir, "hookc", "log", "w0-00000001.jsonl")
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(file, []byte(strings.Replace(string(text), `["ann"]`, `["amn"]`, 1)), 0o600))
	s.ends(1, `^w0-00000001.jsonl:4:1: entry 4: it was changed`, "", "log", "verify")
}

// pressGrant presses the button in a browser.
func (s *story) pressGrant(link string) {
	b := started(s.T)
	base, _, _ := strings.Cut(link, "/?")
	b.screen(390, false)
	b.open(link)
	b.open(base + "/approvals")
	b.eval(`document.querySelector("button[value=grant]").focus()`, nil)
	was := b.loaded
	b.key("Enter")
	for b.loaded == was {
		b.next()
	}
}

// postGrant sends the form of the page.
func (s *story) postGrant(link string) {
	jar, err := cookiejar.New(nil)
	require.NoError(s, err)
	client := &http.Client{Jar: jar}
	get := func(address string) string {
		res, err := client.Get(address)
		require.NoError(s, err)
		defer res.Body.Close()
		text, err := io.ReadAll(res.Body)
		require.NoError(s, err)
		require.Equal(s, http.StatusOK, res.StatusCode, "%s", text)
		return string(text)
	}
	get(link)
	base, _, _ := strings.Cut(link, "/?")
	page, form := get(base+"/approvals"), url.Values{"verdict": {"grant"}, "scope": {"once"}}
	for _, name := range []string{"form", "id"} {
		found := regexp.MustCompile(`name="` + name + `" value="([^"]+)"`).FindStringSubmatch(page)
		require.NotNil(s, found)
		form.Set(name, found[1])
	}
	r, err := http.NewRequest("POST", base+"/approvals", strings.NewReader(form.Encode()))
	require.NoError(s, err)
	r.Header.Set("Origin", base)
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	res, err := client.Do(r)
	require.NoError(s, err)
	defer res.Body.Close()
	require.Equal(s, http.StatusOK, res.StatusCode)
}
