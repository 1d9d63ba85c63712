package plane_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	opa "github.com/open-policy-agent/opa/v1/bundle"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/internal/bundle"
	"github.com/hookc/hookc/policy/bundled"
)

// scoped signs for a scope.
func (k signer) scoped(t *testing.T, packed []byte, scope string) []byte {
	t.Helper()
	b, err := bundle.Read("b", bytes.NewReader(packed), nil)
	require.NoError(t, err)
	require.NoError(t, bundle.Sign(b, bundle.Key{File: k.private, Algorithm: "ES256", Scope: scope}))
	var out bytes.Buffer
	require.NoError(t, bundle.Write(&out, b))
	return out.Bytes()
}

// laced is a signed archive with more entries than were signed, before or behind the others.
func laced(t *testing.T, packed []byte, before bool, more ...tar.Header) []byte {
	t.Helper()
	unzipped, err := gzip.NewReader(bytes.NewReader(packed))
	require.NoError(t, err)
	from := tar.NewReader(unzipped)
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	w := tar.NewWriter(z)
	add := func() {
		for _, h := range more {
			text := []byte("package evil\n\nx := 1\n")
			if h.Typeflag == tar.TypeReg {
				if strings.HasSuffix(h.Name, "json") || strings.HasSuffix(h.Name, "manifest") {
					text = []byte("{}")
				}
				h.Size = int64(len(text))
			}
			h.Mode = 0o777
			require.NoError(t, w.WriteHeader(&h))
			if h.Size > 0 {
				_, err := w.Write(text)
				require.NoError(t, err)
			}
		}
	}
	if before {
		add()
	}
	for {
		h, err := from.Next()
		if err == io.EOF {
			break
		}
		require.NoError(t, err)
		require.NoError(t, w.WriteHeader(h))
		_, err = io.Copy(w, from)
		require.NoError(t, err)
	}
	if !before {
		add()
	}
	require.NoError(t, w.Close())
	require.NoError(t, z.Close())
	return out.Bytes()
}

// TestAttacks: whoever answers for the server and has no key can bring nothing into
// force but what was signed, for this scope, and no older than what is there.
func TestAttacks(t *testing.T) {
	s, k := newSite(t), newSigner(t)
	m := newMachine(t, s, k, "")
	text, err := os.ReadFile(m.config)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(m.config, bytes.Replace(text, []byte("keyid: fleet"), []byte("keyid: fleet, scope: write"), 1), 0o600))
	first := k.scoped(t, k.pack(t, "v1", 1, policyOf("one")), "write")
	s.put(first)
	m.start()
	m.until("v1 in force", func() bool { return m.inForce() == "v1" })
	bad := func(revision string) []byte { return k.scoped(t, k.pack(t, revision, 2, policyOf("two")), "write") }
	file := func(name string) tar.Header { return tar.Header{Name: name, Typeflag: tar.TypeReg} }
	link := func(kind byte) tar.Header {
		return tar.Header{Name: "/guard.rego", Linkname: "/etc/passwd", Typeflag: kind}
	}
	var delta bytes.Buffer
	require.NoError(t, opa.Write(&delta, opa.Bundle{Manifest: opa.Manifest{Revision: "delta", Roots: &[]string{"hookc"}},
		Patch: opa.Patch{Data: []opa.PatchOperation{{Op: "replace", Path: "/hookc/files", Value: map[string]any{}}}}}))
	attacks := map[string][]byte{
		"delta":            delta.Bytes(),
		"other scope":      k.scoped(t, k.pack(t, "other scope", 2, policyOf("two")), "read"),
		"no scope":         k.pack(t, "no scope", 2, policyOf("two")),
		"old, no serial":   k.scoped(t, k.pack(t, "old, no serial", 0, policyOf("zero")), "write"),
		"outside":          laced(t, bad("outside"), false, file("../../../../evil.rego")),
		"absolute":         laced(t, bad("absolute"), true, file("/etc/hookc/evil.rego")),
		"one more":         laced(t, bad("one more"), false, file("/evil.rego")),
		"another in place": laced(t, bad("another in place"), false, file("/guard.rego")),
		"another before":   laced(t, bad("another before"), true, file("/guard.rego")),
		"two manifests":    laced(t, bad("two manifests"), false, file("/.manifest")),
		"two signatures":   laced(t, bad("two signatures"), false, file("/.signatures.json")),
		"link":             laced(t, bad("link"), true, link(tar.TypeSymlink)),
		"hard link":        laced(t, bad("hard link"), false, link(tar.TypeLink)),
		"patch":            laced(t, bad("patch"), false, file("/patch.json")),
	}
	good, err := bundle.Read("b", bytes.NewReader(bad("x")), nil)
	require.NoError(t, err)
	files, err := bundle.Files("b", good)
	require.NoError(t, err)
	refused := 0
	for name, packed := range attacks {
		s.put(first)
		m.until("nothing refused", func() bool { return m.refused() == "" || m.inForce() != "v1" })
		if m.inForce() != "v1" { // what was signed came into force, without what was added: begin again
			m.end(syscall.SIGKILL)
			require.NoError(t, os.RemoveAll(m.managed))
			require.NoError(t, os.Mkdir(m.managed, 0o755))
			m.start()
			m.until("v1 in force", func() bool { return m.inForce() == "v1" })
		}
		s.put(packed)
		m.until(name+" refused, or harmless", func() bool { return m.refused() != "" || m.inForce() == name })
		if m.inForce() == name {
			list, err := bundled.Read(m.managed, func(os.FileInfo) error { return nil })
			require.NoError(t, err)
			assert.Equal(t, bundle.Digest(files), list[0].Digest, "%s: what is in force is what was signed", name)
		} else {
			refused++
			assert.Equal(t, "v1", m.inForce(), name)
		}
		action, d := m.decide("always")
		assert.Equal(t, "block", action, "%s: %v", name, d)
	}
	assert.GreaterOrEqual(t, refused, 10)
	require.NoError(t, filepath.WalkDir(filepath.Dir(m.managed), func(at string, _ os.DirEntry, err error) error {
		assert.NotContains(t, at, "evil")
		return err
	}))
}

// TestReplayedDiscovery: an old signed configuration that names no bundle does not take
// the policy out of force where configurations have serials; and a bundle that was out of
// force does not come back older than it was.
func TestReplayedDiscovery(t *testing.T) {
	shelf := t.TempDir()
	web := httptest.NewServer(http.FileServer(http.Dir(shelf)))
	t.Cleanup(web.Close)
	s, k := newSite(t), newSigner(t)
	m := newMachine(t, s, k, "")
	m.configure(s, k, "web: {url: '"+web.URL+"'}", "discovery: {service: web, resource: d.tar.gz, decision: discovery/config, "+quick+"}")
	names := func(serial int, bundles string) []byte {
		return k.discovered(t, fmt.Sprintf(`config := {"plugins": {"hookc": {"serial": %d}}, "bundles": {%s}}`, serial, bundles))
	}
	const main = `"main": {"service": "web", "resource": "b.tar.gz", "signing": {"keyid": "fleet"}, "polling": {"min_delay_seconds": 1, "max_delay_seconds": 1}}`
	other := strings.Replace(main, `"main"`, `"other"`, 1)
	put := func(name string, text []byte) { publish(t, filepath.Join(shelf, name), text) }
	put("d.tar.gz", names(2, main))
	put("b.tar.gz", k.pack(t, "v2", 2, policyOf("two")))
	m.start()
	m.until("v2 in force", func() bool { return m.inForce() == "v2" })
	put("d.tar.gz", names(1, ""))
	m.until("the old configuration is refused", func() bool { return strings.Contains(m.said(), "plugins.hookc.serial 1, and one before had 2") })
	assert.Equal(t, "v2", m.inForce())
	put("d.tar.gz", names(3, other))
	m.until("main is out of force", func() bool { return strings.Contains(m.said(), "out of force") })
	put("b.tar.gz", k.pack(t, "v1", 1, policyOf("one")))
	put("d.tar.gz", names(4, main))
	m.until("v1 refused", func() bool { return strings.Contains(m.refused(), "going back needs") })
	assert.NotEqual(t, "v1", m.inForce())
	put("b.tar.gz", k.pack(t, "v3", 3, policyOf("three")))
	m.until("v3 in force", func() bool { return m.inForce() == "v3" })
}

// TestDamagedDisk: where the files of the policy in force are damaged, nothing guarded
// is let through, and the next start of hookcd mends them.
func TestDamagedDisk(t *testing.T) {
	s, k := newSite(t), newSigner(t)
	m := newMachine(t, s, k, "")
	s.put(k.pack(t, "v1", 1, policyOf("one")))
	m.start()
	m.until("v1 in force", func() bool { return m.inForce() == "v1" })
	index := filepath.Join(m.managed, bundled.Index)
	whole, err := os.ReadFile(index)
	require.NoError(t, err)
	for name, harm := range map[string]func(folder string) error{
		"half an index": func(string) error { return os.WriteFile(index, whole[:len(whole)/2], 0o644) },
		"empty index":   func(string) error { return os.WriteFile(index, nil, 0o644) },
		"no bundles":    func(string) error { return os.WriteFile(index, []byte(`{"bundles":[]}`), 0o644) },
		"no folder":     os.RemoveAll,
		"no policy":     func(at string) error { return os.Remove(filepath.Join(at, "hooks.yaml")) },
		"half a rule":   func(at string) error { return os.Truncate(filepath.Join(at, "guard.rego"), 20) },
		"no rule":       func(at string) error { return os.Remove(filepath.Join(at, "guard.rego")) },
	} {
		m.end(syscall.SIGKILL)
		list, err := bundled.Read(m.managed, func(os.FileInfo) error { return nil })
		require.NoError(t, err)
		require.Len(t, list, 1, name)
		require.NoError(t, harm(filepath.Join(m.managed, bundled.Folders, list[0].Folder)))
		for _, command := range []string{"one", "always"} {
			action, d := m.decide(command)
			assert.NotEqual(t, "proceed", action, "%s: %v", name, d)
		}
		m.start()
		m.until(name+" is mended", func() bool { action, d := m.decide("two"); return action == "proceed" && d["warnings"] == nil })
		action, d := m.decide("one")
		assert.Equal(t, "block", action, "%s: %v", name, d)
	}
}

// TestFullDisk: where the disk has no room, what is in force stays so, and the new
// revision comes into force when there is room again.
func TestFullDisk(t *testing.T) {
	s, k := newSite(t), newSigner(t)
	m := newMachine(t, s, k, "")
	if err := syscall.Mount("none", m.managed, "tmpfs", 0, "size=512k,mode=755"); err != nil {
		if os.Getenv(toolsEnv) == "" {
			t.Skipf("a small disk needs root: %v", err)
		}
		require.NoError(t, err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(m.managed, syscall.MNT_DETACH) })
	s.put(k.pack(t, "v1", 1, policyOf("one")))
	m.start()
	m.until("v1 in force", func() bool { return m.inForce() == "v1" })
	ballast := filepath.Join(m.managed, "ballast")
	f, err := os.Create(ballast)
	require.NoError(t, err)
	_, err = io.Copy(f, io.LimitReader(zeros{}, 1<<20))
	require.ErrorIs(t, err, syscall.ENOSPC)
	require.NoError(t, f.Close())
	s.put(k.pack(t, "v2", 2, policyOf("two")))
	m.until("there is no room", func() bool { return strings.Contains(m.said(), "no space left") })
	for range 3 {
		assert.Equal(t, "v1", m.inForce())
		action, d := m.decide("one")
		assert.Equal(t, "block", action, d)
	}
	m.end(syscall.SIGKILL)
	m.start()
	action, d := m.decide("one")
	assert.Equal(t, "block", action, d)
	require.NoError(t, os.Remove(ballast))
	m.until("v2 in force", func() bool { return m.inForce() == "v2" })
	action, d = m.decide("two")
	assert.Equal(t, "block", action, d)
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }
