package oci_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-containerregistry/pkg/registry"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/fleet/oci"
	"github.com/hookc/hookc/internal/bundle"
)

// packed is a bundle of a policy that says why.
func packed(t *testing.T, revision string) []byte {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "hooks.yaml"), []byte("pre_tool_execution:\n  - {name: a, deny: 'true', reason: "+revision+"}\n"), 0o600))
	b, err := bundle.FromFolder(dir)
	require.NoError(t, err)
	require.NoError(t, bundle.Describe(b, revision, nil, bundle.About{}))
	var out bytes.Buffer
	require.NoError(t, bundle.Write(&out, b))
	return out.Bytes()
}

// serving is a registry that wants a name and a password where user is not "", and
// that cuts what it sends of blobs while cut is set.
func serving(t *testing.T, user, password string, tls bool) (s *httptest.Server, host string, cut *atomic.Bool) {
	t.Helper()
	cut = &atomic.Bool{}
	all := registry.New(registry.Logger(log.New(io.Discard, "", 0)))
	s = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if name, pass, _ := r.BasicAuth(); user != "" && (name != user || pass != password) {
			w.Header().Set("WWW-Authenticate", `Basic realm="registry"`)
			http.Error(w, `{"errors":[{"code":"UNAUTHORIZED"}]}`, http.StatusUnauthorized)
			return
		}
		if cut.Load() && r.Method == http.MethodGet && strings.Contains(r.URL.Path, "/blobs/") {
			rec := httptest.NewRecorder()
			all.ServeHTTP(rec, r)
			w.Header().Set("Docker-Content-Digest", rec.Header().Get("Docker-Content-Digest"))
			w.Write(rec.Body.Bytes()[:rec.Body.Len()/2])
			return
		}
		all.ServeHTTP(w, r)
	}))
	if s.Start(); tls {
		s.Close()
		s = httptest.NewTLSServer(s.Config.Handler)
	}
	t.Cleanup(s.Close)
	_, host, _ = strings.Cut(s.URL, "://")
	return s, host, cut
}

// TestPushPull: what was pushed to a tag comes back by the tag and by the digest, byte
// for byte, and the digest goes on to name it when the tag has moved.
func TestPushPull(t *testing.T) {
	t.Setenv("DOCKER_CONFIG", t.TempDir())
	_, host, _ := serving(t, "", "", false)
	r := oci.Registry{Plain: true}
	first, second := packed(t, "v1"), packed(t, "v2")
	digest, err := r.Push(t.Context(), first, host+"/team/policy:stable")
	require.NoError(t, err)
	again, err := r.Push(t.Context(), first, host+"/team/policy:stable")
	require.NoError(t, err)
	assert.Equal(t, digest, again, "the same bundle has the same digest")
	got, said, err := r.Pull(t.Context(), host+"/team/policy:stable")
	require.NoError(t, err)
	assert.Equal(t, first, got)
	assert.Equal(t, digest, said)

	moved, err := r.Push(t.Context(), second, host+"/team/policy:stable")
	require.NoError(t, err)
	assert.NotEqual(t, digest, moved)
	got, _, err = r.Pull(t.Context(), host+"/team/policy@"+digest)
	require.NoError(t, err)
	assert.Equal(t, first, got)
	got, _, err = r.Pull(t.Context(), host+"/team/policy:stable")
	require.NoError(t, err)
	assert.Equal(t, second, got)
}

// TestRefused: what does not come whole, from whom it should, to whom it may, is an
// error, and no bundle.
func TestRefused(t *testing.T) {
	t.Setenv("DOCKER_CONFIG", t.TempDir())
	_, host, cut := serving(t, "ci", "right", false)
	file := func(text string) string {
		path := filepath.Join(t.TempDir(), "password")
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	known := oci.Registry{Plain: true, User: "ci", PasswordFile: file("right\n")}
	_, err := known.Push(t.Context(), packed(t, "v1"), host+"/policy:v1")
	require.NoError(t, err)
	for name, r := range map[string]oci.Registry{"nobody": {Plain: true}, "wrong password": {Plain: true, User: "ci", PasswordFile: file("wrong")}} {
		_, _, err := r.Pull(t.Context(), host+"/policy:v1")
		require.Error(t, err, name)
		_, err = r.Push(t.Context(), packed(t, "v2"), host+"/policy:v1")
		require.Error(t, err, name)
	}
	got, _, err := known.Pull(t.Context(), host+"/policy:v1")
	require.NoError(t, err)
	assert.Equal(t, packed(t, "v1"), got, "whoever is not known changed nothing")

	cut.Store(true)
	got, _, err = known.Pull(t.Context(), host+"/policy:v1")
	require.ErrorContains(t, err, "did not come whole")
	assert.Nil(t, got)
	cut.Store(false)
	for reference, says := range map[string]string{
		host + "/policy":                     "neither a tag nor a digest",
		host + "/policy:v9":                  "not found",
		"registry.example.com/policy:v1":     "for a registry on this machine",
		host + "/Policy:v1":                  "HOST/NAME:TAG",
		host + "/policy@sha256:abc":          "HOST/NAME:TAG",
		host + "/nothing/like/that:v1":       "not found",
		host + "/policy@sha256:" + zeros(64): "not found",
	} {
		_, _, err := known.Pull(t.Context(), reference)
		assert.ErrorContains(t, err, says, reference)
	}
	_, err = known.Push(t.Context(), []byte("<html>"), host+"/policy:v1")
	require.Error(t, err, "no bundle")
	_, err = known.Push(t.Context(), packed(t, "v1")[:200], host+"/policy:v1")
	require.Error(t, err, "half a bundle")
}

func zeros(n int) string { return strings.Repeat("0", n) }

// TestTLS: a registry's certificate must be of an authority that is trusted, and what
// docker login has kept is used.
func TestTLS(t *testing.T) {
	docker := t.TempDir()
	t.Setenv("DOCKER_CONFIG", docker)
	s, host, _ := serving(t, "ci", "right", true)
	kept, err := json.Marshal(map[string]any{"auths": map[string]any{host: map[string]string{"auth": base64.StdEncoding.EncodeToString([]byte("ci:right"))}}})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(docker, "config.json"), kept, 0o600))
	authority := filepath.Join(t.TempDir(), "ca.pem")
	require.NoError(t, os.WriteFile(authority, pemOf(s.Certificate().Raw), 0o600))
	_, err = oci.Registry{Authority: authority}.Push(t.Context(), packed(t, "v1"), host+"/policy:v1")
	require.NoError(t, err)
	_, _, err = oci.Registry{}.Pull(t.Context(), host+"/policy:v1")
	assert.ErrorContains(t, err, "certificate")
	_, _, err = oci.Registry{Authority: authority}.Pull(t.Context(), host+"/policy:v1")
	assert.NoError(t, err)
}

func pemOf(der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}
