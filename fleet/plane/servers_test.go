package plane_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/registry"
	"github.com/open-policy-agent/opa/v1/compile"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/fleet/oci"
	"github.com/hookc/hookc/internal/bundle"
)

// toolsEnv names the folder of the programs that .ci/fleet installs. Where it is set,
// no test of real servers is skipped.
const toolsEnv = "HOOKC_TEST_FLEET"

// tool is a program of the system or of .ci/fleet.
func tool(t *testing.T, name string) string {
	t.Helper()
	dir := os.Getenv(toolsEnv)
	for _, at := range []string{filepath.Join(dir, name), "/usr/sbin/" + name} {
		if info, err := os.Stat(at); err == nil && info.Mode().IsRegular() {
			return at
		}
	}
	at, err := exec.LookPath(name)
	if err != nil && dir == "" {
		t.Skipf("%s is not here: .ci/fleet installs it", name)
	}
	require.NoError(t, err)
	return at
}

// port is one that nobody listens on.
func port(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	return fmt.Sprint(l.Addr().(*net.TCPAddr).Port)
}

// configure writes the configuration of a machine: services and the rest; the key
// fleet and the sink of reports are there.
func (m *machine) configure(s *site, k signer, services, rest string) {
	m.t.Helper()
	key, err := json.Marshal(k.public)
	require.NoError(m.t, err)
	require.NoError(m.t, os.WriteFile(m.config, fmt.Appendf(nil, "services: {reports: {url: %s}, %s}\nkeys: {fleet: {key: %s, algorithm: ES256}}\nstatus: {service: reports}\n%s\n", s.URL, services, key, rest), 0o600))
}

const quick = "signing: {keyid: fleet}, polling: {min_delay_seconds: 1, max_delay_seconds: 1}"

// authority makes a certificate for 127.0.0.1 and its key; both are files.
func authority(t *testing.T, dir string) (cert, key string) {
	t.Helper()
	made, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	der, err := x509.CreateCertificate(rand.Reader, &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "fleet"}, IsCA: true,
		BasicConstraintsValid: true, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour)},
		&x509.Certificate{Subject: pkix.Name{CommonName: "fleet"}}, &made.PublicKey, made)
	require.NoError(t, err)
	private, err := x509.MarshalPKCS8PrivateKey(made)
	require.NoError(t, err)
	cert, key = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	require.NoError(t, os.WriteFile(cert, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600))
	require.NoError(t, os.WriteFile(key, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}), 0o600))
	return cert, key
}

// begin starts a server as a process; it is ready once it takes connections.
func begin(t *testing.T, address, name string, args ...string) *exec.Cmd {
	t.Helper()
	cmd, said := exec.Command(name, args...), &journal{}
	cmd.Stdout, cmd.Stderr = said, said
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { kill(cmd) })
	for end := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		c, err := net.Dial("tcp", address)
		if err == nil {
			c.Close()
			return cmd
		}
		require.True(t, time.Now().Before(end), "%s does not listen: %s", name, said)
	}
}

// kill ends a server and what it started, at once.
func kill(cmd *exec.Cmd) {
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	_ = cmd.Wait()
}

// publish puts a file where a server serves it, in one step.
func publish(t *testing.T, at string, text []byte) {
	t.Helper()
	require.NoError(t, os.WriteFile(at+".new", text, 0o644))
	require.NoError(t, os.Rename(at+".new", at))
}

// reportSaying waits for a report to the server that holds all of the texts.
func (m *machine) reportSaying(s *site, texts ...string) string {
	m.t.Helper()
	timeout, last := time.After(patience), ""
	for {
		select {
		case report := <-s.reports:
			all := true
			last = string(report)
			for _, text := range texts {
				all = all && strings.Contains(string(report), text)
			}
			if all {
				return string(report)
			}
		case <-timeout:
			m.t.Fatalf("no report says %q; the last one: %s\nhookcd said:\n%s", texts, last, m.log)
		}
	}
}

// TestNginx: nginx serves bundles over TLS to who has the token. It is asked with the
// ETag; when it was killed and is back, the next poll that it answers brings what is new.
func TestNginx(t *testing.T) {
	nginx, dir, at := tool(t, "nginx"), t.TempDir(), port(t)
	require.NoError(t, os.Chmod(dir, 0o755))
	cert, private := authority(t, dir)
	user := ""
	if os.Geteuid() == 0 {
		user = "user root;"
	}
	conf := filepath.Join(dir, "nginx.conf")
	require.NoError(t, os.Mkdir(filepath.Join(dir, "www"), 0o755))
	require.NoError(t, os.WriteFile(conf, fmt.Appendf(nil, `%s daemon off; worker_processes 1; pid %[2]s/pid; error_log stderr;
events {}
http {
  client_body_temp_path %[2]s/t1; proxy_temp_path %[2]s/t2; fastcgi_temp_path %[2]s/t3; uwsgi_temp_path %[2]s/t4; scgi_temp_path %[2]s/t5;
  log_format short "$status $bytes_sent"; access_log %[2]s/access.log short;
  server { listen 127.0.0.1:%s ssl; ssl_certificate %s; ssl_certificate_key %s; root %[2]s/www;
    if ($http_authorization != "Bearer secret") { return 401; } }
}
`, user, dir, at, cert, private), 0o644))
	s, k := newSite(t), newSigner(t)
	m := newMachine(t, s, k, "")
	configured := func(token string) {
		m.configure(s, k, "web: {url: 'https://127.0.0.1:"+at+"', tls: {ca_cert: "+cert+"}, credentials: {bearer: {token: "+token+"}}}", "bundles: {main: {service: web, resource: bundle.tar.gz, "+quick+"}}")
	}
	served, access := filepath.Join(dir, "www", "bundle.tar.gz"), filepath.Join(dir, "access.log")
	statuses := func() (out []string) {
		text, _ := os.ReadFile(access)
		for line := range strings.Lines(string(text)) {
			status, _, _ := strings.Cut(line, " ")
			out = append(out, status)
		}
		return out
	}
	configured("secret")
	publish(t, served, k.pack(t, "v1", 1, policyOf("one")))
	running := begin(t, "127.0.0.1:"+at, nginx, "-c", conf, "-p", dir, "-e", "stderr")
	m.start()
	m.until("v1 in force", func() bool { return m.inForce() == "v1" })
	m.until("an answer that nothing changed", func() bool { return strings.Contains(strings.Join(statuses(), " "), "304") })
	assert.Equal(t, 1, strings.Count(strings.Join(statuses(), " "), "200"), "the bundle is sent once")

	v2 := k.pack(t, "v2", 2, policyOf("two"))
	publish(t, served, v2[:len(v2)/2])
	m.until("a bundle cut short is refused", func() bool { return strings.Contains(m.refused(), "EOF") })
	m.reportSaying(s, "EOF", `"active_revision":"v1"`)
	publish(t, served, v2)
	m.until("v2 in force", func() bool { return m.inForce() == "v2" })

	kill(running)
	m.until("a failed request", func() bool { return strings.Contains(m.said(), "request failed") })
	m.reportSaying(s, "request failed", `"active_revision":"v2"`)
	assert.Empty(t, m.refused(), "a server that is away refused nothing")
	publish(t, served, k.pack(t, "v3", 3, policyOf("three")))
	require.NoError(t, os.Remove(access))
	begin(t, "127.0.0.1:"+at, nginx, "-c", conf, "-p", dir, "-e", "stderr")
	m.until("v3 in force", func() bool { return m.inForce() == "v3" })
	require.NotEmpty(t, statuses())
	assert.Equal(t, "200", statuses()[0], "the first poll that is answered brings it")

	m.end(syscall.SIGKILL)
	configured("wrong")
	m.start()
	m.reportSaying(s, `"http_code":401`)
	assert.Equal(t, "v3", m.inForce())
	action, _ := m.decide("three")
	assert.Equal(t, "block", action)
}

// TestRegistry: a registry that holds a bundle as hookcd bundle push left it is a server
// of bundles; one that is away refused nothing, and an unsigned bundle does not count.
func TestRegistry(t *testing.T) {
	var away atomic.Bool
	content := registry.New(registry.Logger(log.New(io.Discard, "", 0)))
	reg := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if away.Load() {
			panic(http.ErrAbortHandler)
		}
		content.ServeHTTP(w, r)
	}))
	t.Cleanup(reg.Close)
	host := strings.TrimPrefix(reg.URL, "http://")
	s, k := newSite(t), newSigner(t)
	m := newMachine(t, s, k, "")
	m.configure(s, k, "reg: {url: '"+reg.URL+"', type: oci}", "persistence_directory: "+t.TempDir()+"\nbundles: {main: {service: reg, resource: '"+host+"/team/policy:stable', "+quick+"}}")
	push := func(packed []byte) {
		_, err := oci.Registry{Plain: true}.Push(t.Context(), packed, host+"/team/policy:stable")
		require.NoError(t, err)
	}
	push(k.pack(t, "v1", 1, policyOf("one")))
	m.start()
	m.until("v1 in force", func() bool { return m.inForce() == "v1" })
	push(signer{}.pack(t, "bad", 2, policyOf("two")))
	m.until("an unsigned one is refused", func() bool { return strings.Contains(m.refused(), ".signatures.json") })
	m.reportSaying(s, ".signatures.json", `"active_revision":"v1"`)
	push(k.pack(t, "v2", 2, policyOf("two")))
	m.until("v2 in force", func() bool { return m.inForce() == "v2" })
	m.until("nothing refused", func() bool { return m.refused() == "" })
	away.Store(true)
	m.until("a failed pull", func() bool { return strings.Contains(m.said(), "failed to pull") })
	m.reportSaying(s, "failed to pull", `"active_revision":"v2"`)
	assert.Empty(t, m.refused(), "a registry that is away refused nothing")
	push2 := k.pack(t, "v3", 3, policyOf("three"))
	away.Store(false)
	push(push2)
	m.until("v3 in force", func() bool { return m.inForce() == "v3" })
}

// TestS3: requests are signed as S3 wants it, which a real gateway checks.
func TestS3(t *testing.T) {
	gateway, dir, at := tool(t, "versitygw"), t.TempDir(), port(t)
	require.NoError(t, os.Mkdir(filepath.Join(dir, "policies"), 0o755))
	begin(t, "127.0.0.1:"+at, gateway, "--access", "machine", "--secret", "right", "--port", "127.0.0.1:"+at, "posix", "--nometa", dir)
	s, k := newSite(t), newSigner(t)
	m := newMachine(t, s, k, "")
	m.configure(s, k, "s3: {url: 'http://127.0.0.1:"+at+"/policies', credentials: {s3_signing: {environment_credentials: {}}}}", "bundles: {main: {service: s3, resource: bundle.tar.gz, "+quick+"}}")
	t.Setenv("AWS_REGION", "us-east-1")
	t.Setenv("AWS_ACCESS_KEY_ID", "machine")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "right")
	served := filepath.Join(dir, "policies", "bundle.tar.gz")
	publish(t, served, k.pack(t, "v1", 1, policyOf("one")))
	m.start()
	m.until("v1 in force", func() bool { return m.inForce() == "v1" })
	publish(t, served, k.pack(t, "v2", 2, policyOf("two")))
	m.until("v2 in force", func() bool { return m.inForce() == "v2" })
	m.end(syscall.SIGTERM)
	t.Setenv("AWS_SECRET_ACCESS_KEY", "wrong")
	m.start()
	m.reportSaying(s, `"http_code":403`)
	assert.Equal(t, "v2", m.inForce())
}

// discovered is a signed bundle of the configuration that a rule gives.
func (k signer) discovered(t *testing.T, rule string) []byte {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "d.rego"), []byte("package discovery\n\n"+rule), 0o644))
	var built, out bytes.Buffer
	require.NoError(t, compile.New().WithAsBundle(true).WithPaths(dir).WithOutput(&built).WithRevision("d").Build(t.Context()))
	b, err := bundle.Read("b", &built, nil)
	require.NoError(t, err)
	if k.private != "" {
		require.NoError(t, bundle.Sign(b, bundle.Key{File: k.private, Algorithm: "ES256"}))
	}
	require.NoError(t, bundle.Write(&out, b))
	return out.Bytes()
}

// TestDiscovery: which bundle a machine takes is said by its labels, in a signed bundle
// of discovery; what its own file says counts above that.
func TestDiscovery(t *testing.T) {
	shelf := t.TempDir()
	web := httptest.NewServer(http.FileServer(http.Dir(shelf)))
	t.Cleanup(web.Close)
	s, k := newSite(t), newSigner(t)
	m := newMachine(t, s, k, "")
	labelled := func(stage string) {
		m.configure(s, k, "web: {url: '"+web.URL+"'}", "labels: {stage: "+stage+"}\ndiscovery: {service: web, resource: d.tar.gz, decision: discovery/config, "+quick+"}")
	}
	const rule = `config := {
	"plugins": {"hookc": {"require_signature": false}},
	"bundles": {"main": {"service": "web", "resource": sprintf("%s.tar.gz", [resource]), "signing": {"keyid": "fleet"}, "polling": {"min_delay_seconds": 1, "max_delay_seconds": 1}}},
}

resource := "next" if opa.runtime().config.labels.stage == "canary"

resource := "stable" if opa.runtime().config.labels.stage != "canary"
`
	publish(t, filepath.Join(shelf, "stable.tar.gz"), k.pack(t, "v1", 1, policyOf("one")))
	publish(t, filepath.Join(shelf, "next.tar.gz"), k.pack(t, "v2", 2, policyOf("two")))
	publish(t, filepath.Join(shelf, "d.tar.gz"), k.discovered(t, rule))
	labelled("rest")
	m.start()
	m.until("v1 in force", func() bool { return m.inForce() == "v1" })
	m.reportSaying(s, `"stage":"rest"`, `"active_revision":"v1"`)
	m.end(syscall.SIGTERM)
	labelled("canary")
	m.start()
	m.until("v2 in force by its label", func() bool { return m.inForce() == "v2" })

	publish(t, filepath.Join(shelf, "d.tar.gz"), k.discovered(t, strings.ReplaceAll(rule, `"signing": {"keyid": "fleet"}, `, "")))
	publish(t, filepath.Join(shelf, "next.tar.gz"), signer{}.pack(t, "v3", 3, policyOf("three")))
	m.until("what is discovered does not switch signatures off", func() bool { return strings.Contains(m.refused(), "plugins.hookc.require_signature is on") })
	assert.Equal(t, "v2", m.inForce())
	publish(t, filepath.Join(shelf, "d.tar.gz"), signer{}.discovered(t, rule))
	m.until("an unsigned configuration is refused", func() bool { return strings.Contains(m.said(), "missing .signatures.json") })
	m.reportSaying(s, "discovery", "missing .signatures.json")
	m.end(syscall.SIGTERM)

	text, err := os.ReadFile(m.config)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(m.config, []byte(strings.Replace(string(text), "discovery/config, signing: {keyid: fleet}", "discovery/config", 1)), 0o600))
	m.start()
	require.Error(t, m.running.Wait())
	assert.Contains(t, m.said(), "5:1: discovery needs signing")
}

// TestHookHealth: a report says of each agent whether hookc is in front of it, when it
// last fired, and whether doctor's canary was refused; also where the policy is current
// and the hook is gone.
func TestHookHealth(t *testing.T) {
	s, k := newSite(t), newSigner(t)
	m := newMachine(t, s, k, "")
	t.Setenv("HOME", m.empty)
	t.Setenv("XDG_STATE_HOME", filepath.Join(m.empty, "state"))
	t.Setenv("PATH", filepath.Dir(m.hookc)+":"+os.Getenv("PATH"))
	s.put(k.pack(t, "v1", 1, policyOf("one")))
	install := func(words ...string) {
		cmd := exec.Command(m.hookc, words...)
		cmd.Dir = m.empty
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, string(out))
	}
	m.start()
	m.until("v1 in force", func() bool { return m.inForce() == "v1" })
	m.end(syscall.SIGTERM)
	install("install", "claude", "--scope", "user")
	project := t.TempDir()
	fire := exec.Command(m.hookc, "run", "--dialect", "claude")
	fire.Dir = project
	fire.Stdin = strings.NewReader(fmt.Sprintf(`{"session_id":"s","cwd":%q,"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls"}}`, project))
	out, err := fire.CombinedOutput()
	require.NoError(t, err, string(out))
	m.start()
	found := m.agent(s, `\"wired\":true`)
	assert.Equal(t, "ok", found["canary"], found)
	assert.NotEmpty(t, found["last_fired"], found)
	assert.NotEmpty(t, found["tried"], found)
	m.end(syscall.SIGTERM)
	install("uninstall", "claude", "--scope", "user")
	require.NoError(t, os.MkdirAll(filepath.Join(m.empty, ".claude"), 0o755)) // what the agent itself keeps there
	m.start()
	found = m.agent(s, `\"wired\":false`)
	assert.NotEmpty(t, found["faults"], "the policy is current, and no hook fires: %v", found)
}

// agent waits for a report that says something of Claude Code, beside the plan in force.
func (m *machine) agent(s *site, saying string) map[string]any {
	m.t.Helper()
	var report struct {
		Plugins map[string]struct{ Message string }
	}
	require.NoError(m.t, json.Unmarshal([]byte(m.reportSaying(s, saying, `\"revision\":\"v1\"`)), &report))
	var said struct {
		Bundles []struct{ Revision, Plan string }
		Health  struct{ Agents []map[string]any }
	}
	require.NoError(m.t, json.Unmarshal([]byte(report.Plugins["hookc"].Message), &said))
	require.Len(m.t, said.Bundles, 1)
	assert.NotEmpty(m.t, said.Bundles[0].Plan)
	for _, a := range said.Health.Agents {
		if a["agent"] == "claude" {
			return a
		}
	}
	m.t.Fatalf("claude is not in %s", report.Plugins["hookc"].Message)
	return nil
}
