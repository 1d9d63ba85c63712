//go:build unix

package shell

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hookc/hookc/builtins/quoting"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// ranCommand is a command that really ran: its words and where.
type ranCommand struct {
	dir  string
	argv []string
}

// shellJail is a directory with programs that only write down that they ran.
type shellJail struct{ root, home, bin, log string }

var jailPrograms = []string{"p1", "p2", "p3", "rm", "git"}

func newShellJail(t testing.TB) *shellJail {
	root, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	j := &shellJail{root: filepath.Join(root, "work"), home: filepath.Join(root, "home"), bin: filepath.Join(root, "bin"), log: filepath.Join(root, "log")}
	for _, dir := range []string{j.root + "/d1/d2", j.root + "/d3", j.home, j.bin} {
		require.NoError(t, os.MkdirAll(dir, 0o755))
	}
	// One write a record: stubs of one pipeline write at the same time.
	stub := "#!/bin/sh\nprintf '%s\\000' \"$(pwd -P)\" \"${0##*/}\" \"$@\" \"$(printf '\\001')\" >>'" + j.log + "'\n"
	for _, name := range jailPrograms {
		require.NoError(t, os.WriteFile(filepath.Join(j.bin, name), []byte(stub), 0o755))
	}
	return j
}

func (j *shellJail) at() At {
	return At{Cwd: j.root, Root: j.root, Home: j.home, Temp: "/tmp"}
}

// run lets bash run a line, and returns what ran.
func (j *shellJail) run(t testing.TB, line string) []ranCommand {
	require.NoError(t, os.WriteFile(j.log, nil, 0o644))
	for _, left := range []string{"s.sh", "s2.sh", "s3.sh", "d1/s.sh", "d1/d2/s.sh", "d3/s.sh", "../home/s.sh"} {
		_ = os.Remove(filepath.Join(j.root, left))
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "-c", line)
	cmd.Dir = j.root
	cmd.Env = []string{"PATH=" + j.bin + ":/usr/bin:/bin", "HOME=" + j.home, "PWD=" + j.root, "LC_ALL=C"}
	_ = cmd.Run() // what a line's last command says is no matter here
	require.NoError(t, ctx.Err(), line)
	log, err := os.ReadFile(j.log)
	require.NoError(t, err)
	var out []ranCommand
	for record := range bytes.SplitSeq(log, []byte("\x01\x00")) {
		fields := strings.Split(strings.TrimSuffix(string(record), "\x00"), "\x00")
		if len(fields) >= 2 {
			out = append(out, ranCommand{fields[0], fields[1:]})
		}
	}
	return out
}

// foresaw reports whether the analysis lists what ran, word for word, or says
// of a command of that name that it cannot know all of it.
func foresaw(s *Line, ran ranCommand) (listed, exactly bool) {
	for _, c := range s.Commands {
		if c.Name == ran.argv[0] && c.Dir == ran.dir && slices.Equal(WordTexts(c.Argv)[1:], ran.argv[1:]) {
			return true, true
		}
		open := c.Dynamic || c.Dir == "" || slices.ContainsFunc(c.Argv, func(w Word) bool { return w.Pattern })
		listed = listed || open && (c.Name == ran.argv[0] || c.Name == "")
	}
	return listed || len(s.Unknown) > 0, false
}

// TestShellAgainstBash: every command that bash runs is in the analysis.
func TestShellAgainstBash(t *testing.T) {
	j := newShellJail(t)
	rows, err := os.ReadFile("testdata/shell_bash.txt")
	require.NoError(t, err)
	exact, all := 0, 0
	check := func(line string) {
		s := Parse(line, j.at())
		for _, ran := range j.run(t, line) {
			listed, exactly := foresaw(s, ran)
			if !assert.True(t, listed, "%q ran %q in %s", line, ran.argv, strings.TrimPrefix(ran.dir, j.root)) {
				for _, c := range s.Commands {
					t.Logf("  %s: %q in %s", c.Name, WordTexts(c.Argv), strings.TrimPrefix(c.Dir, j.root))
				}
			}
			all++
			if exactly {
				exact++
			}
		}
	}
	for row := range strings.SplitSeq(strings.TrimSpace(string(rows)), "\n%\n") {
		check(row)
	}
	fixed := all
	require.Greater(t, fixed, 120, "the rows must run something")
	for seed := range uint64(120) {
		g := &shellGrammar{r: rand.New(rand.NewPCG(seed, 7))}
		check(g.line())
	}
	require.Greater(t, all-fixed, 250, "the lines must run something")
	assert.Greater(t, float64(exact)/float64(all), 0.85, "most of what runs is known word for word")
	t.Logf("%d commands ran, %d of them foreseen word for word", all, exact)
}

// shellGrammar writes random lines of shell that do no harm.
type shellGrammar struct {
	r     *rand.Rand
	depth int
	funcs int
}

func (g *shellGrammar) pick(list ...string) string { return list[g.r.IntN(len(list))] }

func (g *shellGrammar) line() string {
	var parts []string
	if g.r.IntN(5) > 0 {
		parts = append(parts, "v=abc w='one two' cmd=p2 arr=(m 'n o'); set -- s 't u'")
	}
	for range 1 + g.r.IntN(4) {
		parts = append(parts, g.stmt())
	}
	return strings.Join(parts, g.pick("; ", "\n", "\n", " && ", " || "))
}

func (g *shellGrammar) word() string {
	return g.pick("a", "'b c'", `"d e"`, `f\ g`, `$'\x68\151'`, `"$v"`, "$w", "${v:-z}", "${nope:-dflt}", "${v%c}", "${v/b/B}", "${#v}", "$((1 + 2 * 3))", "{x,y}", "{1..3}",
		"$(echo in)", "`echo bt`", `"$(printf '%s-' q r)"`, `"${arr[@]}"`, "${arr[1]}", "~", "~/h", "pre$w'post'", `""`, "-rf", "--flag=1", "$PWD", `"$@"`, "$1", "a''b", `x"y"'z'`,
		"$(( ${#v} + 1 ))", `"$(echo "$(echo deep)")"`, "${v:0:1}", `"${v^^}"`, "-", "=", "#no", "a#b", `\$v`, `'$v'`, `"\$v"`, "$(basename /x/y.z .z)", "$(dirname /x/y)", "$(pwd)")
}

func (g *shellGrammar) simple() string {
	words := []string{g.pick("p1", "p2", "p3", "p1", `p\1`, `'p2'`, `"p"3`, "$cmd", "rm", "git")}
	for range g.r.IntN(4) {
		words = append(words, g.word())
	}
	return strings.Join(words, " ")
}

func (g *shellGrammar) assign() string {
	return g.pick("v=abc", "v='b c'", `w="one two"`, "w=$v", "w=", "arr=(m 'n o' p)", "arr+=(q)", "v+=d", "set -- s 't u'", "shift", "cmd=p2", "cmd='p3 given'", "printf -v v '%s' pv", "v=$(echo sub)",
		"w=$((3*4))", "read -r v w <<< 'r1 r2 r3'", "export v=ex", "declare w=dw", "unset w", "IFS=,; w=i,j", "IFS=$' \\t\\n'", "cd ~/../work/d1", "cd ~/../work/d1/..", "cd ~/../work/d1/d2", "cd", "cd -", "pushd ~/../work/d3 >/dev/null", "popd >/dev/null", `cd "$PWD"`)
}

func (g *shellGrammar) stmt() string {
	if g.depth > 3 {
		return g.simple()
	}
	g.depth++
	defer func() { g.depth-- }()
	if g.r.IntN(3) == 0 {
		return g.simple()
	}
	body := g.stmt
	switch g.r.IntN(26) {
	case 0, 1, 2, 3:
		return g.assign()
	case 4:
		return body() + " && " + g.simple()
	case 5:
		return g.pick("true", "false") + " || " + g.simple()
	case 6:
		return "( " + g.assign() + "; " + body() + " )"
	case 7:
		return "{ " + body() + "\n}"
	case 8:
		return "if " + g.pick("true", "false") + "; then " + body() + "\nelse " + g.assign() + "\nfi; " + g.simple()
	case 9:
		return "for i in 1 'two 2' $w; do p1 \"$i\"; " + body() + "\ndone"
	case 10:
		return "n=0; while [ $n -lt 2 ]; do n=$((n+1)); " + g.simple() + "; done"
	case 11:
		return "case $v in a*) " + g.simple() + ";; *) " + body() + "\n;; esac"
	case 12:
		g.funcs++
		return fmt.Sprintf("f%d() { local l=$1; p1 \"$l\" \"$@\"; %s\n}; f%d %s k", g.funcs, g.simple(), g.funcs, g.word())
	case 13:
		return "eval " + quoting.Quote(g.simple())
	case 14:
		return g.pick("sh", "bash", "env bash") + " -c " + quoting.Quote(g.simple()) + g.pick("", " name a1 'a 2'")
	case 15:
		return g.pick("env", "command", "nohup", "timeout 9", "nice -n 1", "env A=1", "env -i PATH=\"$PATH\"", "env -C ~/../work/d1", "timeout -s KILL 9", "time") + " p1 " + g.word() + " 2>/dev/null"
	case 16:
		return "echo one two | xargs " + g.pick("", "-n1 ", "-I{} ") + "p2 " + g.pick("x{}", "-r", "{}")
	case 17:
		return "bash <<'E'\n" + g.simple() + "\nE\n:"
	case 18:
		return "sh <<E\np1 " + g.pick("$w", "x", "$(echo h)") + "\nE\n:"
	case 19:
		return "echo " + quoting.Quote("p3 "+g.pick("a", "'b c'", "$HOME")) + " | " + g.pick("sh", "bash", "cat | sh", "tee /dev/null | bash")
	case 20:
		return "cat <(" + g.simple() + ") >/dev/null"
	case 21:
		return "echo \"$(" + body() + "\n)\""
	case 22:
		return "trap " + quoting.Quote(g.simple()) + " EXIT"
	case 23:
		return "printf '%s\\n' l1 'l 2' | while read -r r; do p1 \"$r\"; done"
	case 24:
		return "echo " + quoting.Quote(g.simple()) + " > s.sh; " + g.pick("sh s.sh", "bash s.sh a1", ". ./s.sh", "chmod +x s.sh; ./s.sh")
	}
	return "! " + g.simple()
}
