package bundle

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"os"
	"path/filepath"
	"testing"

	opa "github.com/open-policy-agent/opa/v1/bundle"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// files is a policy of every kind of file.
var files = map[string]string{
	"hooks.yaml":       "pre_tool_execution:\n  - {name: guard, type: rego, file: guard.rego}\n",
	"guard.rego":       "package guard\n\ndeny contains \"no\" if input.tool_input.command in data.denied\n",
	"data.json":        `{"denied": ["rm"]}`,
	"lists/words.yaml": "a: [1, 2.50, 1e3]\n",
	"scripts/audit.sh": "#!/bin/sh\ncat\n",
	"guard_test.rego":  "package guard_test\n\ntest_x if true\n",
}

func laidOut(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		at := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(at), 0o755))
		require.NoError(t, os.WriteFile(at, []byte(text), 0o644))
	}
	return dir
}

func built(t *testing.T) []byte {
	t.Helper()
	b, err := FromFolder(laidOut(t, files))
	require.NoError(t, err)
	require.NoError(t, Describe(b, "v1", nil, About{Plan: "sha256:p", Serial: 7}))
	return packed(t, b)
}

func packed(t *testing.T, b *opa.Bundle) []byte {
	t.Helper()
	var out bytes.Buffer
	require.NoError(t, Write(&out, b))
	return out.Bytes()
}

// TestRoundTrip: what is unpacked is what was packed, whatever read the bundle in
// between and wrote it again; the same files are the same bytes.
func TestRoundTrip(t *testing.T) {
	first := built(t)
	assert.Equal(t, first, built(t))
	b, err := Read("b", bytes.NewReader(first), nil)
	require.NoError(t, err)
	again, err := opa.NewReader(bytes.NewReader(packed(t, b))).Read() // OPA's own
	require.NoError(t, err)
	lazily, err := opa.NewReader(bytes.NewReader(first)).WithLazyLoadingMode(true).Read()
	require.NoError(t, err)
	for _, b := range []*opa.Bundle{b, &again, &lazily} {
		held, err := Files("b", b)
		require.NoError(t, err)
		dir := filepath.Join(t.TempDir(), "policy")
		require.NoError(t, Unpack(dir, held))
		for name, text := range files {
			got, err := os.ReadFile(filepath.Join(dir, name))
			require.NoError(t, err)
			assert.Equal(t, text, string(got), name)
		}
		info, err := os.Stat(filepath.Join(dir, "scripts", "audit.sh"))
		require.NoError(t, err)
		assert.Equal(t, os.FileMode(0o755), info.Mode())
		assert.Len(t, held, len(files))
		assert.Equal(t, About{Plan: "sha256:p", Serial: 7}, Of(b))
		assert.Equal(t, []string{"denied", "guard", "guard_test", "hookc"}, *b.Manifest.Roots)
	}
	assert.Equal(t, []any{"rm"}, again.Data["denied"], "data is where OPA looks for it too")
}

// TestEveryTruncationIsFound: a part of a bundle is no bundle, wherever it ends.
func TestEveryTruncationIsFound(t *testing.T) {
	whole := built(t)
	for n := range whole {
		_, err := Read("b", bytes.NewReader(whole[:n]), nil)
		require.Error(t, err, "%d of %d bytes", n, len(whole))
	}
}

// TestSignatures: a bundle is taken with its own signature alone, and not when one
// byte of any of its files differs.
func TestSignatures(t *testing.T) {
	private, public := keys(t)
	_, other := keys(t)
	b, err := Read("b", bytes.NewReader(built(t)), nil)
	require.NoError(t, err)
	verify := func(b *opa.Bundle, file string, change func(*Key)) error {
		k := Key{File: file, Algorithm: "ES256", Scope: "write"}
		if change != nil {
			change(&k)
		}
		v, err := k.Verification()
		require.NoError(t, err)
		_, err = Read("b", bytes.NewReader(packed(t, b)), v)
		return err
	}
	require.ErrorContains(t, verify(b, public, nil), "HK230")
	require.NoError(t, Sign(b, Key{File: private, Algorithm: "ES256", Scope: "write"}))
	require.NoError(t, verify(b, public, nil))
	require.ErrorContains(t, verify(b, other, nil), "HK230")
	require.ErrorContains(t, verify(b, public, func(k *Key) { k.Scope = "read" }), "scope")
	require.Error(t, verify(b, public, func(k *Key) { k.Algorithm = "HS256" }), "a public key is no secret")
	for name, change := range map[string]func(b *opa.Bundle){
		"rego":     func(b *opa.Bundle) { b.Modules[0].Raw = append(b.Modules[0].Raw, '\n') },
		"policy":   func(b *opa.Bundle) { b.Data["hookc"].(map[string]any)["files"].(map[string]any)["hooks.yaml"] = "{}" },
		"revision": func(b *opa.Bundle) { b.Manifest.Revision = "v2" },
		"serial":   func(b *opa.Bundle) { b.Manifest.Metadata["hookc"].(map[string]any)["serial"] = 9 },
		"fewer":    func(b *opa.Bundle) { b.Modules = b.Modules[1:] },
		"more": func(b *opa.Bundle) {
			b.Modules = append(b.Modules, opa.ModuleFile{Path: "/x.rego", Raw: []byte("package x\n")})
		},
	} {
		changed := b.Copy()
		changed.Signatures = b.Signatures
		change(&changed)
		require.ErrorContains(t, verify(&changed, public, nil), "HK230", name)
	}
}

func keys(t *testing.T) (private, public string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	der, err := x509.MarshalPKCS8PrivateKey(key)
	require.NoError(t, err)
	dir := t.TempDir()
	private, public = filepath.Join(dir, "key.pem"), filepath.Join(dir, "public.pem")
	require.NoError(t, os.WriteFile(private, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), 0o600))
	der, err = x509.MarshalPKIXPublicKey(&key.PublicKey)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(public, pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}), 0o600))
	return private, public
}

// TestBadBundles: what does not hold a policy, or would leave its folder, is refused.
func TestBadBundles(t *testing.T) {
	with := func(data map[string]any) *opa.Bundle { return &opa.Bundle{Data: data} }
	texts := func(files map[string]any) *opa.Bundle {
		return with(map[string]any{"hookc": map[string]any{"files": files}})
	}
	for name, b := range map[string]*opa.Bundle{
		"nothing":   with(nil),
		"no text":   texts(map[string]any{"hooks.yaml": 1}),
		"above":     texts(map[string]any{"hooks.yaml": "{}", "../x": ""}),
		"absolute":  texts(map[string]any{"hooks.yaml": "{}", "/x": ""}),
		"not clean": texts(map[string]any{"hooks.yaml": "{}", "a/../b": ""}),
		"backslash": texts(map[string]any{"hooks.yaml": "{}", `a\b`: ""}),
		"too deep":  texts(map[string]any{"a/b/HOOK.md": ""}),
	} {
		_, err := Files("b", b)
		require.ErrorContains(t, err, "HK230", name)
	}
	dir := laidOut(t, files)
	require.NoError(t, os.Symlink("/etc/hosts", filepath.Join(dir, "link")))
	_, err := FromFolder(dir)
	require.ErrorContains(t, err, "link")
	require.NoError(t, os.Remove(filepath.Join(dir, "link")))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "image"), []byte{0xff}, 0o600))
	_, err = FromFolder(dir)
	require.ErrorContains(t, err, "UTF-8")
}
