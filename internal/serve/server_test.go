//go:build linux

package serve

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/internal/decide"
	"github.com/hookc/hookc/internal/wire"
)

const servedPolicy = "pre_tool_execution:\n  - {name: guard, deny: 'command contains \"rm\"', reason: \"%s\"}\n"

// servedHouse is a server without a socket, in a home of its own.
func servedHouse(t *testing.T) (v *server, project string) {
	t.Helper()
	home := t.TempDir()
	for name, value := range map[string]string{"HOME": home, "XDG_STATE_HOME": filepath.Join(home, "state"), "XDG_CONFIG_HOME": filepath.Join(home, "config"),
		"HOOKC_TRUST": "all"} {
		t.Setenv(name, value)
	}
	v = newServer("build", 0o022)
	t.Cleanup(func() { v.plans.close() })
	return v, filepath.Join(home, "project")
}

func served(project string, environ ...string) *wire.Request {
	return &wire.Request{Kind: wire.Decide, Dir: project, Args: []string{"run", "PreToolUse", "--dialect", "claude"},
		Environ: append(os.Environ(), environ...), Umask: 0o022, Millis: 60000,
		Input: []byte(`{"hook_event_name":"PreToolUse","session_id":"s","tool_name":"Bash","tool_input":{"command":"rm x"}}`)}
}

func writePolicy(t *testing.T, project, reason string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(project, 0o755))
	temp := filepath.Join(project, "new")
	require.NoError(t, os.WriteFile(temp, []byte(strings.Replace(servedPolicy, "%s", reason, 1)), 0o644))
	require.NoError(t, os.Rename(temp, filepath.Join(project, "hooks.yaml")))
}

var self = peer{uid: os.Getuid(), pid: os.Getpid()}

// TestServerConcurrent: callers of many projects and environments, edits,
// reloads and whatever looks on at the same time; each event is refused, for
// the reason of a policy that was in force meanwhile.
func TestServerConcurrent(t *testing.T) {
	v, home := servedHouse(t)
	const projects = 3
	for i := range projects {
		writePolicy(t, fmt.Sprint(home, i), "first")
	}
	var all sync.WaitGroup
	for n := range 8 {
		all.Go(func() {
			for i := range 40 {
				reply, err := v.reply(context.Background(), self, served(fmt.Sprint(home, (n+i)%projects), fmt.Sprintf("WHO=%d", i%5)))
				if !assert.NoError(t, err) {
					return
				}
				assert.Equal(t, 2, reply.Exit)
				assert.Contains(t, []string{"first", "second"}, string(reply.Stderr))
			}
		})
	}
	for _, look := range []func(i int){
		func(i int) { writePolicy(t, fmt.Sprint(home, i%projects), []string{"first", "second"}[i%2]) },
		func(int) { v.flush() },
		func(int) { v.status(); v.exposition() },
		func(int) { v.plans.reload(context.Background()) },
	} {
		all.Go(func() {
			for i := range 15 {
				look(i)
			}
		})
	}
	all.Wait()
	assert.Len(t, v.plans.list(), projects, "rules do not depend on other variables")
}

// TestServerCountsUnlogged: a decision that is not in the decision log is counted where
// people and Prometheus look.
func TestServerCountsUnlogged(t *testing.T) {
	v, project := servedHouse(t)
	t.Cleanup(v.log.Close)
	writePolicy(t, project, "no")
	v.logs = true
	ask := func() {
		reply, err := v.reply(context.Background(), self, served(project))
		require.NoError(t, err)
		require.Equal(t, 2, reply.Exit)
	}
	said := func() string {
		var text strings.Builder
		v.status().write(&text)
		return text.String() + v.exposition()
	}
	ask()
	require.Contains(t, said(), "hookc_log_lost_total 0\n")
	require.NotContains(t, said(), ": they found no room")
	v.log.Close()
	folder := filepath.Join(os.Getenv("XDG_STATE_HOME"), "hookc", "log")
	require.NoError(t, os.Rename(folder, folder+".away"))
	require.NoError(t, os.WriteFile(folder, nil, 0o600))
	ask()
	ask()
	require.Contains(t, said(), "hookc_log_lost_total 2\n")
	require.Contains(t, said(), "2 are not in the decision log: they found no room")
}

// TestServerForgets: plans are bounded, and one that was given up is built
// anew when it is asked for.
func TestServerForgets(t *testing.T) {
	v, project := servedHouse(t)
	writePolicy(t, project, "no")
	for i := range maxPlans + 10 {
		reply, err := v.reply(context.Background(), self, served(project, fmt.Sprintf("HOOKC_X=%d", i)))
		require.NoError(t, err)
		require.Equal(t, 2, reply.Exit)
	}
	assert.Len(t, v.plans.list(), maxPlans)
	_, err := v.reply(context.Background(), self, served(project, "HOOKC_X=0"))
	require.NoError(t, err)
	assert.Equal(t, int64(maxPlans+11), v.plans.builds.Load())
}

// TestServerHandsBack: whatever run would do otherwise in the caller's place.
func TestServerHandsBack(t *testing.T) {
	v, project := servedHouse(t)
	writePolicy(t, project, "no")
	for name, change := range map[string]func(r *wire.Request){
		"build":     func(r *wire.Request) { r.Build = "other" },
		"umask":     func(r *wire.Request) { r.Umask = 0o077 },
		"home":      func(r *wire.Request) { r.Environ = append(r.Environ, "HOME=/") },
		"canary":    func(r *wire.Request) { r.Environ = append(r.Environ, decide.CanaryEnv+"=x") },
		"debug":     func(r *wire.Request) { r.Args = append(r.Args, "--debug") },
		"profile":   func(r *wire.Request) { r.Args = append(r.Args, "--profile", "claude") },
		"framed":    func(r *wire.Request) { r.Args = append(r.Args, decide.Framed) },
		"no run":    func(r *wire.Request) { r.Args = []string{"trust"} },
		"help":      func(r *wire.Request) { r.Args = append(r.Args, "--help") },
		"dialect":   func(r *wire.Request) { r.Args = []string{"run", "--dialect", "nobody"} },
		"folder":    func(r *wire.Request) { r.Dir = filepath.Join(project, "nowhere") },
		"too large": func(r *wire.Request) { r.Input = make([]byte, decide.MaxInput+1) },
	} {
		r := served(project)
		change(r)
		_, err := v.reply(context.Background(), self, r)
		assert.Error(t, err, name)
	}
	elsewhere := self
	elsewhere.elsewhere = decide.HandBack("elsewhere")
	_, err := v.reply(context.Background(), elsewhere, served(project))
	assert.Equal(t, decide.HandBack("elsewhere"), err)
	require.NoError(t, os.WriteFile(filepath.Join(project, "hooks.yaml"), []byte("pre_tool_execution:\n  - {name: run, command: 'true'}\n"), 0o644))
	r := served(project)
	for i, kv := range r.Environ {
		if strings.HasPrefix(kv, "PATH=") {
			r.Environ[i] = "PATH=/bin"
		}
	}
	_, err = v.reply(context.Background(), self, r)
	assert.Equal(t, decide.HandBack("the caller has another PATH, and the policy starts programs"), err)
}
