package plane_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/open-policy-agent/opa/v1/compile"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/internal/bundle"
)

// TestGuideConfiguration: the configuration of a real machine in docs/guide/fleet.md takes
// the policy of the page. cmd/hookcd runs the rest of it.
func TestGuideConfiguration(t *testing.T) {
	page, err := os.ReadFile("../../docs/guide/fleet.md")
	require.NoError(t, err)
	files := map[string]string{}
	for _, block := range strings.Split(string(page), "\n```")[1:] {
		_, text, _ := strings.Cut(block, "\n")
		if name, _, ok := strings.Cut(strings.TrimPrefix(text, "# "), "\n"); ok && strings.HasPrefix(text, "# ") && !strings.Contains(name, " ") {
			if short, ok := strings.CutPrefix(name, "policy/"); ok || name == "hookcd.yaml" {
				files[short] = text
			}
		}
	}
	require.Contains(t, files, "hookcd.yaml")
	s, k := newSite(t), newSigner(t)
	m := newMachine(t, s, k, "")
	t.Setenv("FLEET_KEY", k.public)
	config := files["hookcd.yaml"]
	require.Contains(t, config, "http://localhost:8080")
	require.NoError(t, os.WriteFile(m.config, []byte(strings.Replace(config, "http://localhost:8080", s.URL, 1)), 0o600))
	delete(files, "hookcd.yaml")
	s.put(k.pack(t, "v1", 1, files))
	m.start()
	m.until("v1 in force", func() bool { return m.inForce() == "v1" })
	action, _ := m.decide("psql prod")
	assert.Equal(t, "block", action)
}

// TestBuiltByOPA: a bundle that `opa build -b .` made in a folder, with the policy as data, comes
// into force as one of hookc's does.
func TestBuiltByOPA(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"hookc/hooks/data.yaml": "rego: {data: [data.json]}\npre_tool_execution:\n  - {name: guard, type: rego, file: guard.rego}\n",
		"guard.rego":            "package guard\n\ndeny contains \"no\" if input.tool_input.command in data.denied\n",
		"denied/data.json":      `["one"]`,
	} {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	s, k := newSite(t), newSigner(t)
	m := newMachine(t, s, k, "")
	t.Chdir(dir) // opa build -b .
	var built bytes.Buffer
	require.NoError(t, compile.New().WithAsBundle(true).WithPaths(".").WithOutput(&built).WithRevision("by-opa").Build(t.Context()))
	b, err := bundle.Read("b", &built, nil)
	require.NoError(t, err)
	require.NoError(t, bundle.Sign(b, bundle.Key{File: k.private, Algorithm: "ES256"}))
	var signed bytes.Buffer
	require.NoError(t, bundle.Write(&signed, b))
	s.put(signed.Bytes())
	m.start()
	m.until("it is in force", func() bool { return m.inForce() == "by-opa" })
	action, d := m.decide("one")
	assert.Equal(t, "block", action, d)
	action, _ = m.decide("two")
	assert.Equal(t, "proceed", action)
}
