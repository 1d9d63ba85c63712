package server

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestClient: hookc run --server, as a program, asks a server that wants a certificate
// and a token of it, and answers an agent in its words. Without either, or the server,
// the call is refused, and no variable changes that.
func TestClient(t *testing.T) {
	program := filepath.Join(t.TempDir(), "hookc")
	build := exec.Command("go", "build", "-ldflags", "-X github.com/hookc/hookc/policy/source.managedDir="+t.TempDir(), "-o", program, "./cmd/hookc")
	build.Dir = "../.."
	out, err := build.CombinedOutput()
	require.NoError(t, err, string(out))

	ca, caPEM, _ := issue(t, "ca", nil)
	_, cert, key := issue(t, "server", &ca)
	_, red, redKey := issue(t, "red", &ca)
	sum := sha256.Sum256([]byte("secret"))
	r, _ := listening(t, func(o *Options) {
		o.Policies = []string{"red=" + policyFile(t, "red says no"), "blue=" + policyFile(t, "blue says no")}
		o.Cert, o.Key, o.Clients = file(t, "cert", cert), file(t, "key", key), file(t, "ca", caPEM)
		o.Auth.Tokens = file(t, "tokens", "blue sha256:"+hex.EncodeToString(sum[:])+"\n")
	})
	url := "https://" + r.Address.String()
	home := t.TempDir()
	run := func(command string, env []string, args ...string) (said string, exit int) {
		t.Helper()
		cmd := exec.Command(program, append([]string{"run", "PreToolUse", "--dialect", "claude", "--server", url, "--server-ca", r.o.Clients}, args...)...)
		cmd.Dir, cmd.Env = home, append([]string{"HOME=" + home, "PATH=" + os.Getenv("PATH")}, env...)
		cmd.Stdin = strings.NewReader(`{"hook_event_name":"PreToolUse","session_id":"s","cwd":"` + home + `","tool_name":"Bash","tool_input":{"command":"` + command + `"}}`)
		out, err := cmd.CombinedOutput()
		var ended *exec.ExitError
		if err != nil {
			require.True(t, errors.As(err, &ended), "%v: %s", err, out)
			exit = ended.ExitCode()
		}
		return string(out), exit
	}
	token := []string{"--server-token", file(t, "token", "secret\n")}
	said, exit := run("rm -rf x", nil, token...)
	assert.Equal(t, 2, exit, said)
	assert.Contains(t, said, "blue says no")
	said, exit = run("rm -rf x", nil, "--server-cert", file(t, "red.pem", red+redKey))
	assert.Equal(t, 2, exit, said)
	assert.Contains(t, said, "red says no")
	said, exit = run("ls", nil, token...)
	assert.Zero(t, exit, said)
	assert.NotContains(t, said, "deny")

	loose := []string{"HOOKC_RUN_ON_UNREACHABLE=allow", "HOOKC_RUN_SERVER=https://127.0.0.1:1", "HOOKC_RUN_SERVER_CA=/dev/null", "HTTPS_PROXY=http://127.0.0.1:1", "SSL_CERT_FILE=/dev/null", "HOOKC_DEFAULTS_ON_ERROR=skip", "HOOKC_ENABLED=0"}
	said, exit = run("rm -rf x", loose, token...)
	assert.Equal(t, 2, exit, said)
	assert.Contains(t, said, "blue says no")
	for name, args := range map[string][]string{"nobody": nil, "wrong token": {"--server-token", file(t, "token", "wrong")}, "no such token": {"--server-token", "/nowhere/token"}, "no such certificate": {"--server-cert", "/nowhere/cert"}, "bad flag": {"--on-unreachable", "perhaps"}} {
		for _, env := range [][]string{nil, loose} {
			said, exit = run("ls", env, args...)
			assert.Equal(t, 2, exit, "%s: %s", name, said)
			assert.Contains(t, said, "could not decide", name)
		}
	}
	said, exit = run("ls", nil, "--on-unreachable", "allow")
	assert.Zero(t, exit, said)
	assert.Contains(t, said, "--on-unreachable allow", "never in silence")
	require.NoError(t, r.End())
	said, exit = run("ls", nil, token...)
	assert.Equal(t, 2, exit, said)
	assert.Contains(t, said, "refused")
}
