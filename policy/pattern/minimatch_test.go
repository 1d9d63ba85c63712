package pattern

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestMinimatch(t *testing.T) {
	for _, row := range []struct {
		glob, path string
		want       bool
	}{
		{"**/*.ts", "/p/.cfg/a.ts", false},
		{"*.ts", "/p/src/a.ts", true},
		{"src/**", "/p/src/a.ts", false},
		{"src/**", "src/a.ts", true},
		{"src/**", "src", false},
		{"*", "/p/.env", false},
		{".env", "/p/.env", true},
		{".*", "/p/.env", true},
		{"**/.env*", "/p/.env.local", true},
		{"**/.env*", ".env", true},
		{"/p/**", "/p/src/a.ts", true},
		{"/p/**", "/p/.git/config", false},
		{"**/src/**", "/p/src/a.ts", true},
		{"**/src/**", "src/a.ts", true},
		{"lib/**/*.js", "lib/x.js", true},
		{"lib/**/*.js", "lib/a/b/x.js", true},
		{"lib/**/*.js", "lib/.a/x.js", false},
		{"!*.md", "/p/a.md", false},
		{"!*.md", "/p/a.go", true},
		{"!!*.md", "a.md", true},
		{"#*.md", "#a.md", false},
		{"*.{ts,tsx}", "a.tsx", true},
		{"*.{ts,tsx}", "a.js", false},
		{"{a,{b,c}}/x", "c/x", true},
		{"f{1..3}", "f2", true},
		{"f{1..3}", "f4", false},
		{"f{x}", "f{x}", true},
		{"f{a..c}", "fb", true},
		{"docs/*.md", "docs/a.md", true},
		{"docs/*.md", "docs/a/b.md", false},
		{"[ab].go", "b.go", true},
		{"[!ab].go", "b.go", false},
		{"[!ab].go", "c.go", true},
		{"[ab", "[ab", true},
		{"a?c", "abc", true},
		{"a?c", "ac", false},
		{`a\*c`, "a*c", true},
		{`a\*c`, "abc", false},
		{"@(a).go", "a.go", true},
		{"!(a).go", "a.go", true}, // the ! in front turns round what (a).go says, which is plain text
		{"x!(a).go", "xb.go", true},
		{"x!(a).go", "xa.go", false},
		{"+(ab)", "abab", true},
		{"a(b", "a(b", true},
		{"*/", "a/", true},
		{"**", "a/b", true},
		{"**", "a/.b", false},
		{"", "", true},
	} {
		assert.Equal(t, row.want, Minimatch(row.glob).Match(row.path), "%s on %s", row.glob, row.path)
	}
	assert.Equal(t, "*.ts", Minimatch("*.ts").String())
}

func TestWholeECMAScript(t *testing.T) {
	for _, row := range []struct {
		text, in string
		want     bool
	}{
		{"rm", "rm -rf x", false}, {"rm.*", "rm -rf x", true}, {"rm.*", "rm -rf x\nls", false}, {"rm.*", "rm x\n", false},
		{`[A-Z]\w+`, "Shell", true}, {"ls|make build", "make build", true}, {"Bash", "xBash", false}, {"Bash", "Bash\n", false},
	} {
		p, err := WholeECMAScript(row.text)
		require.NoError(t, err)
		assert.Equal(t, row.want, p.Match(row.in), "%q on %q", row.text, row.in)
	}
	for _, bad := range []string{"*", "[", "(a"} {
		_, err := WholeECMAScript(bad)
		assert.Error(t, err, bad)
	}
}

func FuzzMinimatch(f *testing.F) {
	for _, seed := range []string{"**/*.ts", "!(a|b)*", "{a,{b,c}}", "[!x", `\`, "{1..9}", "+(", "@(a)b"} {
		f.Add(seed, "a/b.ts")
	}
	f.Fuzz(func(t *testing.T, glob, path string) { Minimatch(glob).Match(path) })
}
