package pattern

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestPython(t *testing.T) {
	for _, c := range []struct {
		pattern, text string
		want          bool
	}{
		{"hel", "Shell", true},
		{"Shell|WriteFile", "WriteFile", true},
		{"^Shell$", "Shell2", false},
		{"(?i)shell", "SHELL", true},
		{"S(?!ilent)", "Shell", true},
		{"S(?!hell)", "Shell", false},
		{"(?<=mcp_)get", "mcp_get", true},
		{"(?P<a>ab)(?P=a)", "abab", true},
		{"(?P<a>ab)(?P=a)", "abac", false},
		{`(a)\1`, "aa", true},
		{`ll\Z`, "Shell", true},
		{`\d`, "٣", true},
		{"a.b", "a\nb", false},
	} {
		p, err := Python.Compile(c.pattern)
		require.NoError(t, err, c.pattern)
		assert.Equal(t, c.want, p.Match(c.text), "%s on %q", c.pattern, c.text)
	}
	for _, bad := range []string{"[", "*", "(", "a{2}{3}x(", "(?P<a"} {
		_, err := Python.Compile(bad)
		assert.Error(t, err, bad)
	}
}

func TestPythonGivesUp(t *testing.T) {
	p, err := Python.Compile(`^(a+)+$(?!x)`)
	require.NoError(t, err)
	began := time.Now()
	assert.True(t, p.Match(strings.Repeat("a", 60)+"b"), "given up: it counts as a match")
	assert.Less(t, time.Since(began), time.Minute)
}
