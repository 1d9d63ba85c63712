package winshell

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/tests/depth"
)

// TestRewriteEnds: any part of any command is read to its end, in a time that
// grows as the text does.
func TestRewriteEnds(t *testing.T) {
	data, err := os.ReadFile("../../tests/guard/windows.txt")
	require.NoError(t, err)
	for line := range strings.Lines(string(data)) {
		for i := range line {
			if i%11 != 0 && !depth.Full() {
				continue
			}
			for _, d := range []Dialect{PowerShell, Cmd} {
				Rewrite(d, line[i:])
				Rewrite(d, line[:i])
			}
		}
	}
	for _, open := range []string{"(", "{", "$(", "@(", "@{a=", "[", "'", "\"", "\"$(", "if (", "$x.a(", "$x[", "-not ", ",", "& ", "a|", "for %i in (", "%", "^", "1+", "@'\n", "<#", "function a(", "-join ", "a -b:", "if x==y ", "call ",
		"a|", "1 -eq ", "a -b:c ", "$a=", "$a='x';", "$a+=$a;", "foreach($a in 1){", "%x% ", "a>b ", "1..", "'a'.Replace('a','b')", ".Replace('a','aa')", "\"$a", "<#a#>", "a`\n", "a,b"} {
		for _, d := range []Dialect{PowerShell, Cmd} {
			Rewrite(d, strings.Repeat(open, depth.Of(40_000))) // ends, and its stack does too
		}
	}
}
