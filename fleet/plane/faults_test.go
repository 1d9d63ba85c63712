package plane_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestNoUndeclaredAllow: whoever decides while policies take each other's place is
// told what one of them says, at every moment, also where hookcd is killed.
func TestNoUndeclaredAllow(t *testing.T) {
	s, k := newSite(t), newSigner(t)
	m := newMachine(t, s, k, "")
	s.put(k.pack(t, "v0", 1, policyOf("v0")))
	m.start()
	m.until("v0 in force", func() bool { return m.inForce() == "v0" })
	done, fired := make(chan struct{}), 0
	var firing sync.WaitGroup
	firing.Go(func() {
		for {
			select {
			case <-done:
				return
			default:
			}
			action, d := m.decide("always")
			assert.Equal(t, "block", action)
			assert.Equal(t, "guard", d["by"], "the policy decides, and no error in its place")
			fired++
		}
	})
	for i := 1; i <= 6; i++ {
		revision := fmt.Sprintf("v%d", i)
		before := s.fetched.Load()
		s.put(k.pack(t, revision, int64(i+1), policyOf(revision)))
		if i%2 == 0 {
			m.until("the server is asked", func() bool { return s.fetched.Load() > before })
			time.Sleep(time.Duration(i) * 250 * time.Millisecond) // somewhere in the activation; it may be anywhere
			m.end(syscall.SIGKILL)
			m.start()
		}
		m.until(revision+" in force", func() bool { return m.inForce() == revision })
	}
	close(done)
	firing.Wait()
	assert.Positive(t, fired)
	action, d := m.decide("v6")
	assert.Equal(t, "block", action, d)
}

// TestOfflineStart: what was in force decides where neither hookcd nor its server is
// there, and after hookcd came back without the server.
func TestOfflineStart(t *testing.T) {
	s, k := newSite(t), newSigner(t)
	m := newMachine(t, s, k, "")
	s.put(k.pack(t, "v1", 1, policyOf("one")))
	m.start()
	m.until("v1 in force", func() bool { return m.inForce() == "v1" })
	m.end(syscall.SIGKILL)
	s.Close()
	action, d := m.decide("one")
	assert.Equal(t, "block", action)
	assert.Nil(t, d["warnings"])
	m.start()
	m.until("a failed request", func() bool { return strings.Contains(m.said(), "request failed") })
	action, _ = m.decide("one")
	assert.Equal(t, "block", action)
	assert.Empty(t, m.refused(), "a server that is away refused nothing")
}

// said is what hookcd has logged.
func (m *machine) said() string { return m.log.String() }

// TestAge: a policy that nobody confirmed for longer than max_age refuses what is
// guarded where on_stale says so, until it is confirmed again.
func TestAge(t *testing.T) {
	s, k := newSite(t), newSigner(t)
	m := newMachine(t, s, k, "max_age: 2s, on_stale: deny")
	s.put(k.pack(t, "v1", 1, policyOf("one")))
	m.start()
	m.until("v1 in force", func() bool { return m.inForce() == "v1" })
	m.end(syscall.SIGTERM)
	m.until("a refusal for its age", func() bool { action, d := m.decide("other"); return action == "block" && d["by"] == "age of main" })
	m.start()
	m.until("it is confirmed", func() bool { action, _ := m.decide("other"); return action == "proceed" })
}

// TestRollback: a revision that was in force before, or has a lower serial, comes into
// force only where the configuration allows it.
func TestRollback(t *testing.T) {
	s, k := newSite(t), newSigner(t)
	m := newMachine(t, s, k, "allow_rollback: false")
	first := k.pack(t, "v1", 0, policyOf("one"))
	s.put(first)
	m.start()
	m.until("v1 in force", func() bool { return m.inForce() == "v1" })
	s.put(k.pack(t, "v2", 0, policyOf("two")))
	m.until("v2 in force", func() bool { return m.inForce() == "v2" })
	s.put(first)
	m.until("v1 refused", func() bool { return strings.Contains(m.refused(), "was in force before") })
	assert.Equal(t, "v2", m.inForce())
	m.end(syscall.SIGTERM)
	text, err := os.ReadFile(m.config)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(m.config, []byte(strings.Replace(string(text), "allow_rollback: false", "allow_rollback: true", 1)), 0o600))
	m.start()
	m.until("v1 in force again", func() bool { return m.inForce() == "v1" })
}

// TestExpiredCertificate: a server whose certificate is over is not believed, and what
// is in force stays.
func TestExpiredCertificate(t *testing.T) {
	s, k := newSite(t), newSigner(t)
	m := newMachine(t, s, k, "")
	s.put(k.pack(t, "v1", 1, policyOf("one")))
	m.start()
	m.until("v1 in force", func() bool { return m.inForce() == "v1" })
	m.end(syscall.SIGTERM)

	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	der, err := x509.CreateCertificate(rand.Reader, &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "fleet"}, IsCA: true,
		BasicConstraintsValid: true, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, NotBefore: time.Now().Add(-48 * time.Hour), NotAfter: time.Now().Add(-24 * time.Hour)},
		&x509.Certificate{Subject: pkix.Name{CommonName: "fleet"}}, &key.PublicKey, key)
	require.NoError(t, err)
	secure := httptest.NewUnstartedServer(s)
	secure.TLS = &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}
	secure.StartTLS()
	t.Cleanup(secure.Close)
	ca := filepath.Join(t.TempDir(), "ca.pem")
	require.NoError(t, os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600))
	text, err := os.ReadFile(m.config)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(m.config, []byte(strings.Replace(string(text), "{url: "+s.URL+"}", "{url: "+secure.URL+", tls: {ca_cert: "+ca+"}}", 1)), 0o600))
	s.put(k.pack(t, "v2", 2, policyOf("two")))
	m.start()
	m.until("the certificate is refused", func() bool { return strings.Contains(m.said(), "certificate has expired") })
	assert.Equal(t, "v1", m.inForce())
	action, _ := m.decide("one")
	assert.Equal(t, "block", action)
}

// TestConfiguration: what would be passed over in silence is an error with its place,
// and hookcd does not start.
func TestConfiguration(t *testing.T) {
	s, k := newSite(t), newSigner(t)
	for text, says := range map[string]string{
		"services: {}\nbundels: {}\n": "2:1: unknown key \"bundels\": did you mean",
		"bundle: {}\n":                "1:1: bundle is what bundles was called once",
		"services: {main: {url: \"${HOOKC_NOT_SET_ANYWHERE}\"}}\n": "1:24: the variable in ${HOOKC_NOT_SET_ANYWHERE} is not set",
		"plugins: {hookc: {max_age: soon}}\n":                      "plugins.hookc.max_age",
		"plugins: {hookc: {on_stale: allow}}\n":                    "neither warn nor deny",
		"- x\n":                                                    "must be a mapping",
	} {
		m := newMachine(t, s, k, "")
		require.NoError(t, os.WriteFile(m.config, []byte(text), 0o600))
		m.start()
		require.Error(t, m.running.Wait(), text)
		assert.Contains(t, m.said(), says)
	}
}

// TestServeConfig: hookc serve --config becomes the hookcd beside it, and says what to
// install where there is none.
func TestServeConfig(t *testing.T) {
	s, k := newSite(t), newSigner(t)
	m := newMachine(t, s, k, "")
	s.put(k.pack(t, "v1", 1, policyOf("one")))
	alone := filepath.Join(t.TempDir(), "hookc")
	require.NoError(t, os.Link(m.hookc, alone))
	cmd := exec.Command(alone, "serve", "--config", m.config)
	cmd.Env = []string{"PATH=" + t.TempDir(), "HOME=" + m.empty}
	out, err := cmd.CombinedOutput()
	require.Error(t, err)
	assert.Equal(t, 3, cmd.ProcessState.ExitCode())
	assert.Contains(t, string(out), "go -C fleet build")
	m.hookcd = m.hookc
	m.first = []string{"serve"}
	m.start()
	m.until("v1 in force", func() bool { return m.inForce() == "v1" })
}

// TestRecord: what hookc run decided reaches the service that decision_logs names, also
// where hookcd was killed and the service was away; reports say what became of it.
func TestRecord(t *testing.T) {
	s, k := newSite(t), newSigner(t)
	m := newMachine(t, s, k, "")
	t.Setenv("HOME", m.empty)
	t.Setenv("XDG_STATE_HOME", filepath.Join(m.empty, "state"))
	text, err := os.ReadFile(m.config)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(m.config, append(text, "decision_logs: {service: main, reporting: {min_delay_seconds: 1, max_delay_seconds: 1}}\n"...), 0o600))
	policy := policyOf("one")
	policy["hooks.yaml"] = "log: {enabled: true}\n" + policy["hooks.yaml"]
	s.put(k.pack(t, "v1", 1, policy))
	s.away.Store(true)
	m.start()
	m.until("a failed request", func() bool { return strings.Contains(m.said(), "request failed") || strings.Contains(m.said(), "503") })
	s.away.Store(false)
	m.until("v1 in force", func() bool { return m.inForce() == "v1" })
	s.away.Store(true)
	action, d := m.decide("one")
	require.Equal(t, "block", action, d)
	m.until("it is not taken", func() bool { return strings.Contains(m.said(), "decisions were not shipped, and stay in the record") })
	m.end(syscall.SIGKILL)
	action, _ = m.decide("two")
	require.Equal(t, "proceed", action)
	s.away.Store(false)
	m.start()
	m.until("both are there", func() bool { return s.logged("one") > 0 && s.logged("two") > 0 })
	m.reportSaying(s, `\"record\":{\"decision_logs\":{\"shipped\":2}}`)
	m.end(syscall.SIGTERM)
	m.start()
	m.decide("three")
	m.until("the next is there", func() bool { return s.logged("three") > 0 })
	m.end(syscall.SIGTERM)
	assert.Equal(t, 1, s.logged("three"))
	assert.Equal(t, 1, s.logged("one"), "what was sent is not sent again")
}
