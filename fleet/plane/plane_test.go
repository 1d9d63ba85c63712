package plane_test

import (
	"bytes"
	"compress/gzip"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/internal/bundle"
	"github.com/hookc/hookc/policy/bundled"
)

// patience is how long anything may take: a guard against hanging, no measure.
const patience = 60 * time.Second

var programs struct {
	sync.Once
	dir, managed string
	err          error
}

// TestMain takes away what was built.
func TestMain(m *testing.M) {
	code := m.Run()
	os.RemoveAll(programs.dir)
	os.Exit(code)
}

// built are hookc and hookcd whose managed tier is in a folder of the test's own.
func built(t *testing.T) (hookc, hookcd, managed string) {
	t.Helper()
	programs.Do(func() {
		if programs.dir, programs.err = os.MkdirTemp("", "hookc-fleet-*"); programs.err != nil {
			return
		}
		programs.managed = filepath.Join(programs.dir, "managed")
		for module, which := range map[string][]string{"../..": {"./cmd/hookc", "./cmd/hookgate"}, "..": {"./cmd/hookcd"}} {
			build := exec.Command("go", append([]string{"build", "-ldflags", "-X github.com/hookc/hookc/policy/source.managedDir=" + programs.managed, "-o", programs.dir + "/"}, which...)...)
			build.Dir = module
			if out, err := build.CombinedOutput(); err != nil {
				programs.err = fmt.Errorf("%w: %s", err, out)
			}
		}
	})
	require.NoError(t, programs.err)
	require.NoError(t, os.RemoveAll(programs.managed))
	require.NoError(t, os.Mkdir(programs.managed, 0o755))
	return filepath.Join(programs.dir, "hookc"), filepath.Join(programs.dir, "hookcd"), programs.managed
}

// site is a bundle server: one file, with an ETag.
type site struct {
	*httptest.Server
	mu      sync.Mutex
	bundle  []byte
	fetched atomic.Int64
	reports chan []byte
	// away has every request refused; log is what was sent to /logs.
	away atomic.Bool
	log  []map[string]any
}

func newSite(t *testing.T) *site {
	s := &site{reports: make(chan []byte, 1000)}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

func (s *site) put(b []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.bundle = b
}

func (s *site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if s.away.Load() {
		http.Error(w, "away", http.StatusServiceUnavailable)
		return
	}
	if strings.HasPrefix(r.URL.Path, "/logs") {
		z, err := gzip.NewReader(r.Body)
		if err == nil {
			s.mu.Lock()
			defer s.mu.Unlock()
			var events []map[string]any
			if err = json.NewDecoder(z).Decode(&events); err == nil {
				s.log = append(s.log, events...)
			}
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
		}
		return
	}
	if r.Method == http.MethodPost {
		text, _ := io.ReadAll(r.Body)
		select {
		case s.reports <- text:
		default:
		}
		return
	}
	s.mu.Lock()
	b := s.bundle
	s.mu.Unlock()
	s.fetched.Add(1)
	w.Header().Set("ETag", fmt.Sprintf(`"%x"`, len(b))+bundle.Digest([]bundle.File{{Name: "b", Data: b}})[:8])
	if b == nil {
		http.Error(w, "none", http.StatusNotFound)
		return
	}
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(b))
}

// logged is how often the decision on a command was sent.
func (s *site) logged(command string) (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range s.log {
		input, _ := e["input"].(map[string]any)
		if call, _ := input["tool_input"].(map[string]any); call["command"] == command {
			n++
		}
	}
	return n
}

// signer makes bundles of a policy that denies one command.
type signer struct{ private, public string }

func newSigner(t *testing.T) signer {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	der, err := x509.MarshalPKCS8PrivateKey(key)
	require.NoError(t, err)
	at := filepath.Join(t.TempDir(), "key.pem")
	require.NoError(t, os.WriteFile(at, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), 0o600))
	der, err = x509.MarshalPKIXPublicKey(&key.PublicKey)
	require.NoError(t, err)
	return signer{at, string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}))}
}

func policyOf(command string) map[string]string {
	return map[string]string{
		"hooks.yaml":  fmt.Sprintf("pre_tool_execution:\n  - {name: guard, type: rego, file: guard.rego}\n  - {name: which, deny: 'command == %q', reason: now}\n", command),
		"guard.rego":  "package guard\n\ndeny contains \"always\" if input.tool_input.command == \"always\"\n",
		"a_test.yaml": "cases:\n  - {name: always, event: {event: pre_tool_execution, tool_name: Bash, tool_input: {command: always}}, expect: {action: block}}\n",
	}
}

func (k signer) pack(t *testing.T, revision string, serial int64, files map[string]string) []byte {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	b, err := bundle.FromFolder(dir)
	require.NoError(t, err)
	require.NoError(t, bundle.Describe(b, revision, nil, bundle.About{Serial: serial}))
	if k.private != "" {
		require.NoError(t, bundle.Sign(b, bundle.Key{File: k.private, Algorithm: "ES256"}))
	}
	var out bytes.Buffer
	require.NoError(t, bundle.Write(&out, b))
	return out.Bytes()
}

// journal is what a running program says.
type journal struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (j *journal) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.Write(p)
}

func (j *journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.String()
}

// machine is one machine of a fleet; first are words before hookcd's own.
type machine struct {
	first                  []string
	t                      *testing.T
	hookc, hookcd, managed string
	config, empty          string
	running                *exec.Cmd
	log                    *journal
}

func newMachine(t *testing.T, s *site, k signer, settings string) *machine {
	t.Helper()
	m := &machine{t: t, empty: t.TempDir()}
	m.hookc, m.hookcd, m.managed = built(t)
	key, err := json.Marshal(k.public)
	require.NoError(t, err)
	m.config = filepath.Join(t.TempDir(), "hookcd.yaml")
	require.NoError(t, os.WriteFile(m.config, fmt.Appendf(nil, `services: {main: {url: %s}}
keys: {fleet: {key: %s, algorithm: ES256}}
labels: {team: payments}
bundles:
  main: {service: main, resource: bundle.tar.gz, signing: {keyid: fleet}, polling: {min_delay_seconds: 1, max_delay_seconds: 1}}
status: {service: main}
plugins: {hookc: {%s}}
`, s.URL, key, settings), 0o600))
	return m
}

func (m *machine) start() {
	m.t.Helper()
	m.log = &journal{}
	m.running = exec.Command(m.hookcd, append(m.first, "--config", m.config)...)
	m.running.Stderr = m.log
	require.NoError(m.t, m.running.Start())
	cmd := m.running
	m.t.Cleanup(func() { cmd.Process.Kill(); _ = cmd.Wait() })
}

func (m *machine) end(s syscall.Signal) {
	m.t.Helper()
	require.NoError(m.t, m.running.Process.Signal(s))
	_ = m.running.Wait()
}

// decide is the decision on a command by hookc run, as a process of its own.
func (m *machine) decide(command string) (action string, d map[string]any) {
	m.t.Helper()
	cmd := exec.Command(m.hookc, "run", "--json")
	cmd.Dir = m.empty
	cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+filepath.Join(m.empty, "state"), "XDG_CONFIG_HOME="+filepath.Join(m.empty, "config"), "HOME="+m.empty)
	cmd.Stdin = strings.NewReader(fmt.Sprintf(`{"event":"pre_tool_execution","tool_name":"Bash","tool_input":{"command":%q}}`, command))
	out, err := cmd.Output()
	if json.Unmarshal(out, &d) != nil {
		return fmt.Sprintf("failed: %v: %s", err, out), nil
	}
	return d["action"].(string), d
}

// until waits for something that hookcd brings about.
func (m *machine) until(what string, ok func() bool) {
	m.t.Helper()
	for end := time.Now().Add(patience); !ok(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			m.t.Fatalf("%s did not happen; hookcd said:\n%s", what, m.log)
		}
	}
}

func (m *machine) inForce() (revision string) {
	list, err := bundled.Read(m.managed, func(os.FileInfo) error { return nil })
	if err != nil || len(list) == 0 {
		return ""
	}
	return list[0].Revision
}

func (m *machine) refused() string {
	return bundled.ReadContacts(m.managed, func(os.FileInfo) error { return nil })["main"].Refused
}

// TestBundleComesIntoForce: a good bundle becomes the managed tier; a bad one, of
// whatever kind, leaves the last good one in force, and every answer says so.
func TestBundleComesIntoForce(t *testing.T) {
	s, k := newSite(t), newSigner(t)
	m := newMachine(t, s, k, "")
	s.put(k.pack(t, "v1", 1, policyOf("one")))
	m.start()
	m.until("v1 in force", func() bool { return m.inForce() == "v1" })
	action, _ := m.decide("one")
	assert.Equal(t, "block", action)
	action, _ = m.decide("two")
	assert.Equal(t, "proceed", action)

	failing := policyOf("two")
	failing["a_test.yaml"] = strings.ReplaceAll(failing["a_test.yaml"], "command: always", "command: never")
	broken := policyOf("two")
	broken["guard.rego"] = "package guard\n\ndeny contains x if true\n"
	v2 := k.pack(t, "v2", 2, policyOf("two"))
	for name, bad := range map[string]struct {
		bundle []byte
		says   string
	}{
		"unsigned":     {signer{}.pack(t, "bad", 2, policyOf("two")), "missing .signatures.json"},
		"other key":    {newSigner(t).pack(t, "bad", 2, policyOf("two")), "verify"},
		"truncated":    {v2[:len(v2)*2/3], "EOF"},
		"no archive":   {[]byte("<html>maintenance</html>"), "archive"},
		"tests fail":   {k.pack(t, "bad", 2, failing), "the test \"always\" fails"},
		"no policy":    {emptied(t, k), "holds no policy"},
		"not compiled": {k.pack(t, "bad", 2, broken), "guard.rego:3"},
		"older":        {k.pack(t, "bad", 0, policyOf("zero")), "serial 0"},
	} {
		s.put(bad.bundle)
		m.until(name+" refused", func() bool { return strings.Contains(m.refused(), bad.says) })
		assert.Equal(t, "v1", m.inForce(), name)
		action, d := m.decide("one")
		assert.Equal(t, "block", action, name)
		assert.Contains(t, fmt.Sprint(d["warnings"]), bad.says, name)
	}
	s.put(v2)
	m.until("v2 in force", func() bool { return m.inForce() == "v2" })
	m.until("nothing refused", func() bool { return m.refused() == "" })
	action, d := m.decide("two")
	assert.Equal(t, "block", action)
	assert.Nil(t, d["warnings"])
	m.reported(s, "v2")
}

// reported waits for a report to the server that names a revision and what was found
// of the hooks.
func (m *machine) reported(s *site, revision string) {
	m.t.Helper()
	timeout := time.After(patience)
	for {
		select {
		case text := <-s.reports:
			var r struct {
				Labels  map[string]string `json:"labels"`
				Bundles map[string]struct {
					Active string `json:"active_revision"`
				} `json:"bundles"`
			}
			require.NoError(m.t, json.Unmarshal(text, &r), string(text))
			if r.Bundles["main"].Active == revision {
				assert.Equal(m.t, "payments", r.Labels["team"])
				return
			}
		case <-timeout:
			m.t.Fatalf("no report of %s; hookcd said:\n%s", revision, m.log)
		}
	}
}

// emptied is a bundle that holds data and no policy.
func emptied(t *testing.T, k signer) []byte {
	t.Helper()
	b, err := bundle.Read("b", bytes.NewReader(k.pack(t, "bad", 2, policyOf("two"))), nil)
	require.NoError(t, err)
	b.Data["hookc"] = map[string]any{"files": map[string]any{}}
	require.NoError(t, bundle.Sign(b, bundle.Key{File: k.private, Algorithm: "ES256"}))
	var out bytes.Buffer
	require.NoError(t, bundle.Write(&out, b))
	return out.Bytes()
}
