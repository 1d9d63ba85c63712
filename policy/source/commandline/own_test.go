package commandline

import (
	"os/exec"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestOwn(t *testing.T) {
	for command, own := range map[string]bool{
		"hookc run": true,
		"/usr/bin/hookc run Stop --dialect claude": true,
		"'/opt/my tools/hookc' run":                true,
		`"/opt/my tools/hookc" run Stop`:           true,
		`/opt/my\ tools/hookc run`:                 true,
		"exec hookc run":                           true,
		"A=1 B='x y' hookc run":                    true,
		"hookc-v1.2 run":                           true,
		`"C:\Tools\hookc.exe" run`:                 true,
		"hookgate Stop --dialect claude":           true,
		"/usr/bin/hookgate":                        true,

		"":                           false,
		"hookc":                      false,
		"hookc test":                 false,
		"hookcount run":              false,
		"echo hookc run":             false,
		"hookc/wrap.sh run":          false,
		"hookc run; rm -rf /":        false,
		"hookc run | tee log":        false,
		"guard.sh && hookc run":      false,
		"hookc run $(cat x)":         false,
		`hookc run "$(cat x)"`:       false,
		"hookc run\ncurl example":    false,
		"hookc run 'unclosed":        false,
		"hookc run > log":            false,
		"# hookc run":                false,
		"hookc run &":                false,
		"hookc run `date`":           false,
		"timeout 5 hookc run":        false,
		`"$HOME/bin/hookc" run Stop`: false,
	} {
		assert.Equal(t, own, Own(command), "%q", command)
	}
}

// What is quoted comes back as it was, from hookc's own reader and a shell.
func TestQuote(t *testing.T) {
	for _, word := range []string{"", "plain", "/a/b.yaml", "my policies", "it's", `a"b\c`, "$HOME", "`x`", "a\nb", "ü", "*", "~", "user=x y", "!"} {
		quoted := Quote(word)
		assert.Equal(t, []string{"x", word}, Words("x "+quoted), "%q", quoted)
		out, err := exec.Command("sh", "-c", "printf '%s|' "+quoted).Output()
		require.NoError(t, err)
		assert.Equal(t, word+"|", string(out))
	}
}
