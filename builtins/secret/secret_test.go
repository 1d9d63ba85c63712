package secret

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestSecretRules: every rule compiles and has a keyword of two bytes at least.
func TestSecretRules(t *testing.T) {
	set := secretRules()
	assert.Greater(t, len(set.rules), 200)
	assert.Less(t, len(set.words), 256, "the number of a list is one byte")
	for _, r := range set.rules {
		r.compile()
		assert.NotEmpty(t, r.Keywords, r.ID)
		assert.Less(t, r.Group, r.re.NumSubexp()+1, r.ID)
	}
	pem := "-----BEGIN RSA PRIVATE KEY-----\n" + strings.Repeat("MIIEpAIBAAKCAQEA0Z3VS5JJcds3xfn\n", 40) + "-----END RSA PRIVATE KEY-----"
	found, err := Find(strings.Repeat("text ", 1000) + pem + strings.Repeat(" text", 1000))
	require.NoError(t, err)
	require.Len(t, found, 1)
	assert.Equal(t, Secret{Rule: "private-key", From: 5000, To: 5000 + len(pem), Preview: "----…"}, found[0])
}

// TestRulesAreThoseThatAreRead: what is compiled in is the file that people read.
func TestRulesAreThoseThatAreRead(t *testing.T) {
	want, err := os.ReadFile("rules.json")
	require.NoError(t, err)
	got, err := rulesJSON()
	require.NoError(t, err)
	require.Equal(t, string(want), string(got), "go run ./tests/gen/secrets writes rules.json.gz again")
}
