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

// TestConditionsHold: what a clause of the table asks for can be given, and by a
// name that its row knows.
func TestConditionsHold(t *testing.T) {
	for _, rows := range []map[string]*row{cmdlets(), programs(), methods()} {
		for name, w := range rows {
			for _, c := range w.clauses {
				lits := map[string]string{}
				for part := range strings.SplitSeq(c.cond, "&") {
					of, list, named := strings.Cut(part, "=")
					if !named || strings.ContainsAny(of, "~,") {
						continue
					}
					if as, _, ok := w.param(of); !ok || as != of {
						require.Contains(t, []string{"1", "2", "3", "4", "owner", "key", "all"}, of, "%s: %s", name, c.cond)
					}
					lits[of] += strings.TrimPrefix(strings.Split(list, ",")[0], "~")
				}
				given := map[string][]word{}
				for of, lit := range lits {
					given[of] = []word{literal(lit)}
					given["all"] = append(given["all"], literal(lit))
				}
				for part := range strings.SplitSeq(c.cond, "&") {
					given["all"] = append(given["all"], literal(part), literal(strings.Split(part, ",")[0]))
				}
				require.True(t, c.cond == "" || holds(c.cond, given), "%s: %s", name, c.cond)
			}
		}
	}
}
