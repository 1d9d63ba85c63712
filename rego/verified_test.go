package rego

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// verifiedFile says between which engines .ci/verify-rego last found no
// difference. Only that command writes it.
const verifiedFile = "testdata/verified.txt"

// TestVerifiedEngines fails when OPA, or what native code is made of, is another
// version than was compared (docs/rego.md, "Another version of OPA").
func TestVerifiedEngines(t *testing.T) {
	if os.Getenv("HOOKC_NATIVE_VERIFIED") != "" {
		require.NoError(t, os.WriteFile(verifiedFile, []byte(engines()+"\n"), 0o644))
	}
	text, err := os.ReadFile(verifiedFile)
	require.NoError(t, err)
	assert.Equal(t, engines(), strings.TrimSpace(string(text)), "native code was not compared with this version of OPA: run .ci/verify-rego")
}

// The version of OPA that evidence names is the one that go.mod has.
func TestEnginesNameTheModule(t *testing.T) {
	text, err := os.ReadFile("../go.mod")
	require.NoError(t, err)
	version, _, _ := strings.Cut(strings.TrimPrefix(engines(), "OPA "), ",")
	assert.Contains(t, string(text), "github.com/open-policy-agent/opa v"+version+"\n")
}
