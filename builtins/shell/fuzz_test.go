package shell

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// FuzzShell: any bytes are read without a panic, within the bounds, to the
// same answer each time; what is not read is said to be unknown.
func FuzzShell(f *testing.F) {
	for _, c := range shellCases(f) {
		f.Add(c.Command)
	}
	for _, line := range hostileShell {
		f.Add(line(40))
	}
	f.Fuzz(func(t *testing.T, line string) {
		start := time.Now()
		s := Parse(line, casePlace("/home/dev/project"))
		require.Less(t, time.Since(start), time.Minute)
		checkShell(t, s)
		require.Equal(t, s.JSON(), Parse(line, casePlace("/home/dev/project")).JSON())
	})
}

// checkShell is what holds of every analysis.
func checkShell(t testing.TB, s *Line) {
	require.LessOrEqual(t, len(s.Commands), maxShellCommands)
	require.LessOrEqual(t, len(s.Effects), maxEffects+8)
	unknown := 0
	for _, e := range s.Effects {
		require.Less(t, e.Command, len(s.Commands))
		require.GreaterOrEqual(t, e.Command, -1)
		require.GreaterOrEqual(t, e.Offset, 0)
		require.NotEmpty(t, e.Op)
		require.NotEmpty(t, e.Domain)
		if e.Kind == EffectUnknown && e.Command < 0 {
			unknown++
		}
	}
	require.GreaterOrEqual(t, unknown, len(s.Unknown))
	require.False(t, len(s.Unknown) > 0 && !s.Dynamic)
	for _, c := range s.Commands {
		require.GreaterOrEqual(t, c.Offset, 0)
	}
}

func repeated(s string) func(int) string {
	return func(n int) string { return strings.Repeat(s, n) }
}

// hostileShell makes text of any size that is hard on a parser or on what
// reads its tree.
var hostileShell = map[string]func(n int) string{
	"substitutions": repeated("$("), "subshells": repeated("("), "groups": repeated("{ "), "arithmetic": repeated("$(("), "defaults": repeated("${a:-"),
	"backquotes": repeated("`"), "bangs": repeated("! "), "ifs": repeated("if "), "whiles": repeated("while "), "cases": repeated("case a in a) "), "functions": repeated("f() "),
	"times": repeated("time "), "quotes": repeated(`"$(`), "pipes": repeated("a|"), "ands": repeated("a&&"), "ors": repeated("a||"), "lines": repeated("a\n"),
	"heredocs": repeated("<<a "), "redirects": repeated(">a "), "tests": repeated("[[ ( "), "nots": repeated("[[ ! "), "minus": func(n int) string { return "$((" + strings.Repeat("-", n) + "1))" },
	"sum": func(n int) string { return "echo $((1" + strings.Repeat("+1", n) + "))" }, "ternary": func(n int) string { return "echo $((1" + strings.Repeat("?1:1", n) + "))" },
	"braces": repeated("{a,b}"), "sequences": func(n int) string { return "rm {1.." + strings.Repeat("9", min(n, 30)) + "}" },
	"nested braces": func(n int) string { return strings.Repeat("{a,", n) + strings.Repeat("}", n) },
	"doubling":      func(n int) string { return "a=x\n" + strings.Repeat("a=$a$a\n", n) + "rm $a" },
	"printf": func(n int) string {
		return "rm $(printf '%s" + strings.Repeat("%s", n) + "' " + strings.Repeat("a ", n) + ")"
	},
	"loops": func(n int) string {
		return strings.Repeat("for i in {1..60}; do ", n) + "rm $i" + strings.Repeat("; done", n)
	},
	"fork":      func(n int) string { return ":(){ " + strings.Repeat(":|", n) + ":& };:" },
	"recursion": func(n int) string { return "f() { " + strings.Repeat("f; ", n) + "}; f" },
	"evals":     func(n int) string { return strings.Repeat("eval ", n) + "rm" },
	"self eval": func(n int) string { return "x='eval \"$x;$x\"'; eval \"$x\"" + strings.Repeat(" ", n) },
	"sudos":     func(n int) string { return strings.Repeat("sudo ", n) + "rm" }, "xargs": func(n int) string { return strings.Repeat("xargs ", n) + "rm" },
	"choices": func(n int) string {
		var b strings.Builder
		for i := range n {
			b.WriteString("if a; then v" + itoa(i) + "=1; else v" + itoa(i) + "=2; fi\n")
		}
		for i := range n {
			b.WriteString(" $v" + itoa(i))
		}
		return b.String()
	},
	"alias": func(n int) string { return "alias a='a;a' b='a;b'\n" + strings.Repeat("b;", n) }, "git alias": func(n int) string {
		return "git config alias.a '!git a; git a'; git a" + strings.Repeat(";", min(n, 1))
	},
	"python": func(n int) string { return "python3 -c '" + strings.Repeat("f(", n) + "'" }, "python lists": func(n int) string { return "python3 -c '" + strings.Repeat("[", n) + "'" },
	"python sum": func(n int) string { return "python3 -c 'x=\"a\"\n" + strings.Repeat("x=x+x\n", n) + "'" }, "javascript": func(n int) string { return "node -e '" + strings.Repeat("a.b(", n) + "'" },
	"sql": func(n int) string { return "psql -c '" + strings.Repeat("drop table a;", n) + "'" }, "sed": func(n int) string { return "sed '" + strings.Repeat("s/a/b/;", n) + "'" },
	"globs": func(n int) string {
		return "x=" + strings.Repeat("a", n) + "; rm ${x#" + strings.Repeat("*a", n/2) + "b}"
	}, "replace": func(n int) string { return "x=" + strings.Repeat("a", n) + "; rm ${x//*a*/b}" },
	"nul": repeated("\x00"), "invalid": repeated("\xff\xfe"), "marks": repeated(markOpen + "0" + markClose), "words": repeated("rm -rf a "), "stars": func(n int) string { return "rm " + strings.Repeat("*/", n) },
	"dots": func(n int) string { return "rm -rf " + strings.Repeat("../", n) + "etc" }, "array": func(n int) string { return "a=(" + strings.Repeat("x ", n) + "); rm ${a[@]} ${a[@]} ${a[@]}" },
	"files": func(n int) string { return strings.Repeat("cat f f >> f; ", n) + "sh f" }, "scripts": func(n int) string { return "echo 'sh s; sh s' > s; sh s" + strings.Repeat("; sh s", n) },
	"ssh": func(n int) string { return strings.Repeat("ssh h ", n) + "rm" }, "finds": func(n int) string { return strings.Repeat("find . -exec ", n) + "rm {} +" },
	"cd": func(n int) string { return "while a; do cd ../$x; rm x; done" + strings.Repeat("; cd ..", n) }, "escapes": repeated(`\\\\\`), "dollar quotes": repeated(`$'\x`), "windows": repeated(`C:\a\b `),
}

// TestShellIsBounded: text of the longest size takes no longer than a keystroke
// and says so when it was not read to its end.
func TestShellIsBounded(t *testing.T) {
	for name, make := range hostileShell {
		for _, n := range []int{100, 3000, 1 << 17} {
			line := make(n)
			if len(line) > MaxBytes {
				line = line[:MaxBytes]
			}
			start := time.Now()
			s := Parse(line, casePlace("/home/dev/project"))
			took := time.Since(start)
			assert.Less(t, took, time.Minute, "%s %d", name, n)
			if took > 50*time.Millisecond {
				t.Logf("%s %d (%d bytes): %v, %d commands, %v", name, n, len(line), took, len(s.Commands), s.Unknown)
			}
			checkShell(t, s)
		}
	}
	long := Parse(strings.Repeat("a", 10<<20), casePlace("/"))
	assert.Equal(t, []string{shellTooLong}, long.Unknown)
	for _, nested := range []string{"$(", "(", "{ ", "$((", "${a:-"} {
		s := Parse("rm -rf / ; "+strings.Repeat(nested, 1<<20), At{MaxBytes: 1 << 30})
		assert.NotEmpty(t, s.Unknown, nested)
	}
}
