package pattern

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestECMAScriptAsNode compares with what Node itself answered: for each
// pattern null where new RegExp threw, else one digit for each name.
func TestECMAScriptAsNode(t *testing.T) {
	content, err := os.ReadFile("testdata/ecmascript.json")
	require.NoError(t, err)
	var recorded struct {
		Node  string
		Names []string
		Cases [][2]*string
	}
	require.NoError(t, json.Unmarshal(content, &recorded))
	require.Greater(t, len(recorded.Cases), 1000)
	wrong := 0
	for _, c := range recorded.Cases {
		p, err := ECMAScript.Compile(*c[0])
		if c[1] == nil {
			if !assert.Error(t, err, "%q is no pattern in node %s", *c[0], recorded.Node) {
				wrong++
			}
			continue
		}
		if !assert.NoError(t, err, "%q", *c[0]) {
			wrong++
			continue
		}
		var got strings.Builder
		for _, name := range recorded.Names {
			got.WriteByte("01"[b2i(p.Match(name))])
		}
		if !assert.Equal(t, *c[1], got.String(), "%q", *c[0]) {
			wrong++
		}
	}
	assert.Zero(t, wrong)
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// TestECMAScriptErrors: a pattern that JavaScript rejects says why and where.
func TestECMAScriptErrors(t *testing.T) {
	for text, want := range map[string]Error{
		`*x`:        {Text: "nothing to repeat", Start: 0, End: 2},
		`(?i)x`:     {Text: "invalid group", Start: 0, End: 5},
		`a(b`:       {Text: "unterminated group", Start: 1, End: 3},
		`a)`:        {Text: "unmatched )", Start: 1, End: 2},
		`x[z-a]`:    {Text: "range out of order in character class", Start: 2, End: 6},
		`é[`:        {Text: "unterminated character class", Start: 2, End: 3},
		`a{2,1}`:    {Text: "numbers out of order in {} quantifier", Start: 1, End: 6},
		`a\`:        {Text: `\ at end of pattern`, Start: 1, End: 2},
		`(?<n>a)\k`: {Text: "invalid named reference", Start: 7, End: 9},
	} {
		_, err := ECMAScript.Compile(text)
		var bad *Error
		require.ErrorAs(t, err, &bad, text)
		assert.Equal(t, want, *bad, text)
	}
	_, err := ECMAScript.Compile(strings.Repeat("(", 100_000))
	assert.Error(t, err)
}

// TestECMAScriptGivesUp: a match that would take for ever counts as one, soon.
func TestECMAScriptGivesUp(t *testing.T) {
	p, err := ECMAScript.Compile(`^(?!x)(a+)+\1$`)
	require.NoError(t, err)
	began := time.Now()
	assert.True(t, p.Match(strings.Repeat("a", 64)+"b"))
	assert.Less(t, time.Since(began), time.Minute)
	linear, err := ECMAScript.Compile(`^(a+)+$`)
	require.NoError(t, err)
	assert.False(t, linear.Match(strings.Repeat("a", 64)+"b"), "no look-around: linear, and exact")
}

func FuzzECMAScript(f *testing.F) {
	for _, seed := range []string{`(?<n>a)\k<n>`, `[^\d-z]`, `\u{2}`, `(?=(a))\1`, `{2}`, "[\xff]"} {
		f.Add(seed, "ab\nc")
	}
	f.Fuzz(func(t *testing.T, text, name string) {
		if len(text) > 200 || len(name) > 200 {
			return
		}
		if p, err := ECMAScript.Compile(text); err == nil {
			p.Match(name)
		}
	})
}
