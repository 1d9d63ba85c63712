package pattern

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestRE2(t *testing.T) {
	p, err := RE2.Compile(`rm\s+-r`)
	require.NoError(t, err)
	assert.Equal(t, `rm\s+-r`, p.String())
	assert.True(t, p.Match("sudo rm  -rf /"), "unanchored")
	assert.False(t, p.Match("ls"))
}

func TestRE2Errors(t *testing.T) {
	const beyond = "RE2 has no look-around, backreferences or atomic groups: match what is wanted here and test the rest in the hook's body"
	for text, want := range map[string]Error{
		`a(?!b)`:   {Text: "invalid or unsupported Perl syntax: (?!", Hint: beyond, Start: 1, End: 4},
		`(?<=a)b`:  {Text: "invalid named capture: (?<=a)b", Hint: beyond, Start: 0, End: 4},
		`(a)\1`:    {Text: `invalid escape sequence: \1`, Hint: beyond, Start: 3, End: 5},
		`a(b`:      {Text: "missing closing ): a(b", Start: 0, End: 3},
		`x[z-a]`:   {Text: "invalid character class range: z-a", Start: 2, End: 5},
		`ab**`:     {Text: "invalid nested repetition operator: **", Start: 2, End: 4},
		`ok|\p{Q}`: {Text: `invalid character class range: \p{Q}`, Start: 3, End: 8},
	} {
		_, err := RE2.Compile(text)
		var bad *Error
		require.ErrorAs(t, err, &bad, text)
		assert.Equal(t, want, *bad, text)
	}
}

func TestGlob(t *testing.T) {
	for _, c := range []struct {
		glob, name string
		want       bool
	}{
		{"**/*.go", "main.go", true},
		{"**/*.go", "a/b/main.go", true},
		{"*.go", "a/main.go", false},
		{"/etc/**", "/etc/ssh/config", true},
		{"src/{a,b}/*", "src/b/x", true},
		{"mcp__*", "mcp__github__list", true},
		{"**/.env*", ".env.local", true},
		{"*.GO", "main.go", false},
	} {
		p, err := Glob(c.glob)
		require.NoError(t, err)
		assert.Equal(t, c.want, p.Match(c.name), "%s on %s", c.glob, c.name)
	}
	_, err := Glob("src/[a")
	var bad *Error
	require.ErrorAs(t, err, &bad)
	assert.Equal(t, 6, bad.End)
}
