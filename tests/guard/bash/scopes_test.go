//go:build linux

package bash

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/hookc/hookc/builtins/shell"
	"github.com/hookc/hookc/tests/depth"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// scopes makes programs of variables and who sees them: functions with
// variables and parameters of their own, subshells, pipelines, eval, traps, child shells.
type scopes struct {
	r *rand.Rand
	// n is part of every path, so that the programs of a line are told apart; made are the
	// paths so far, no two of which are equal. Nor are two deletions, of which there are
	// uses: what is foreseen of one says nothing of another.
	n, uses int
	made    []string
}

func (g *scopes) pick(list ...string) string { return list[g.r.IntN(len(list))] }

func (g *scopes) name() string { return g.pick("x", "y", "z") }

func (g *scopes) value() string {
	v := g.pick("/srv/a", "/srv/b", "build", "dist", "/opt/c", "$x", "$y", `"$z"`, "${x:-/srv/d}")
	if !strings.Contains(v, "$") {
		v += strconv.Itoa(g.n) + "n" + strconv.Itoa(len(g.made))
		g.made = append(g.made, v)
	}
	return v
}

func (g *scopes) use() string {
	return g.deletes(g.pick("x", "y", "z", "x", "y", "z", "1", "2", "@"))
}

func (g *scopes) deletes(name string) string {
	g.uses++
	return fmt.Sprintf(`rm -rf m%dn%d "$%s"`, g.n, g.uses, name)
}

// parameters is a statement about the positional parameters.
func (g *scopes) parameters(level int) string {
	switch g.r.IntN(8) {
	case 0:
		return "set -- " + g.value() + " " + g.value() + g.pick("", " "+g.value())
	case 1:
		return g.pick(`set -- "$@" `, `set -- "$2" `, "set -- ") + g.value()
	case 2:
		return g.pick("shift", "shift", "shift 2")
	case 3:
		return g.test() + g.pick(" && ", " || ") + g.pick("shift", "set -- "+g.value())
	case 4:
		return "if " + g.test() + "; then shift; else " + g.statement(level, 0) + "; fi"
	case 5:
		return g.pick("while [ $# -gt 0 ]", "until [ $# -eq 0 ]", "while (( $# > 1 ))") + "; do " + g.pick(g.use(), g.name()+"=$1", `case $1 in /srv/*) `+g.use()+";; b*) x=$1;; *) "+g.use()+";; esac") + "; shift; done"
	case 6:
		return "for i in 1 2; do " + g.use() + "; shift; done"
	default:
		return fmt.Sprintf("case $1 in /srv/a%d*) %s;; build*) %s;; *) %s;; esac", g.n, g.statement(level, 0), g.statement(level, 0), g.use())
	}
}

// statement is one statement in a function of a level, 0 outside of all.
func (g *scopes) statement(level, depth int) string {
	n := 24
	if depth <= 0 {
		n = 10
	}
	switch g.r.IntN(n) {
	case 0, 1:
		return g.name() + "=" + g.value()
	case 2, 3:
		return g.use()
	case 4, 5:
		return g.pick("local", "declare", "typeset", "declare -g", "declare -x", "local -x", "export", "declare -r") + " " + g.assignments()
	case 6:
		return g.pick("unset ", "unset -v ", "export -n ", "export ", "readonly ") + g.name()
	case 7, 8:
		if level >= 3 {
			return g.use()
		}
		return g.pick("", "", "", g.name()+"="+g.value()+" ") + fmt.Sprintf("f%d", level+1+g.r.IntN(3-level)) + g.pick("", " "+g.value(), " "+g.value()+" "+g.value(), ` "$@"`)
	case 9:
		return "bash -c '" + g.deletes(g.name()) + "'"
	case 10:
		return "( " + g.list(level, depth-1) + " )"
	case 11:
		return "{ " + g.list(level, depth-1) + "; }"
	case 12:
		return g.pick("{ "+g.list(level, depth-1)+"; } | cat", "echo a | { "+g.list(level, depth-1)+"; }")
	case 13:
		if s := g.statement(level, 0); !strings.Contains(s, "'") {
			return "eval '" + s + "'"
		}
		return g.use()
	case 14:
		return g.pick("if true; then ", "if false; then ", "if [ -n \"$x\" ]; then ", "if "+g.test()+"; then ", "if "+g.test()+"; then ") + g.list(level, depth-1) + "; else " + g.list(level, depth-1) + "; fi"
	case 15:
		return fmt.Sprintf("case $%s in /srv/*) %s;; build%d*) %s;; d*) %s;; *) %s;; esac", g.name(), g.statement(level, 0), g.n, g.statement(level, 0), g.statement(level, 0), g.statement(level, 0))
	case 16:
		return g.test() + g.pick(" && ", " || ") + g.statement(level, 0) + g.pick("", " || "+g.statement(level, 0))
	case 17:
		return g.pick("true", "false", ":") + g.pick(" && ", " || ") + g.statement(level, 0)
	case 18:
		return fmt.Sprintf("for i in 1 2; do if %s; then %s=%s; else %s; fi; done", g.test(), g.name(), g.value(), g.statement(level, 0))
	case 19:
		return fmt.Sprintf("declare -n r=%s; r=%s; %s", g.name(), g.value(), g.statement(level, 0))
	case 20, 21, 22:
		return g.parameters(level)
	default:
		if level > 0 && g.r.IntN(3) == 0 {
			return "return 0"
		}
		return g.pick(fmt.Sprintf("for %s in build /srv/e; do %s; done", g.name(), g.list(level, depth-1)), "trap '"+g.deletes(g.name())+"' EXIT",
			"true && "+g.statement(level, 0)+" || "+g.statement(level, 0))
	}
}

// test is a condition on a variable.
func (g *scopes) test() string {
	return fmt.Sprintf(`[ "$%s" %s %s ]`, g.name(), g.pick("=", "!=", "=="), g.pick(append(g.made, `"$y"`)...))
}

func (g *scopes) assignments() string {
	out := g.name() + g.pick("", "="+g.value(), "="+g.value())
	if g.r.IntN(3) == 0 {
		out += " " + g.name() + "=" + g.value()
	}
	return out
}

func (g *scopes) list(level, depth int) string {
	out := make([]string, 1+g.r.IntN(3))
	for i := range out {
		out[i] = g.statement(level, depth)
	}
	return strings.Join(out, "; ")
}

func (g *scopes) program() string {
	var b strings.Builder
	for f := 3; f >= 1; f-- {
		fmt.Fprintf(&b, "f%d() { %s; }\n", f, g.list(f, 2))
	}
	for range 3 + g.r.IntN(4) {
		b.WriteString(g.statement(0, 2) + "\n")
	}
	b.WriteString(g.use() + "\n")
	if text := b.String(); !strings.Contains(text, "trap") {
		return text
	}
	// An assignment to what is read-only ends a shell, and its trap then sees what no other statement does.
	return strings.NewReplacer("readonly ", "export ", "declare -r ", "declare ").Replace(b.String())
}

// nothing is a deletion without a path.
var nothing = regexp.MustCompile(`"m\d+n\d+"(?: "")*\] in`)

// TestBashScopes: whichever variable a deletion sees, the analysis foresaw the
// value.
func TestBashScopes(t *testing.T) {
	const each = 5 // programs in a line
	programs := 300
	switch {
	case *scoped > 0:
		programs = *scoped
	case depth.Full() || many():
		programs = 2000
	}
	jails := start(t, 2)
	missing, veiled, ran := 0, 0, 0 // things, lines, things
	for from := 0; from < programs; from += 1000 {
		var all []*trial
		for i := from; i < min(from+1000, programs); i += each {
			var line strings.Builder
			for n := range each {
				g := &scopes{r: rand.New(rand.NewPCG(*seed, uint64(i+n))), n: n}
				line.WriteString("(\n" + g.program() + ")\n")
			}
			all = append(all, &trial{job: job{Shell: "bash", Line: line.String(), Cwd: project, Record: true}})
		}
		run(jails, all)
		for _, tr := range all {
			require.NoError(t, tr.err, "%q", tr.Line)
			s := shell.Parse(tr.Line, place(project))
			if len(s.Unknown) > 0 {
				veiled++
			}
			for _, th := range judge(s, tr.happened) {
				ran++
				if th.cover == missed && !nothing.MatchString(th.what) {
					missing++
					assert.Less(t, missing, 0, "not foreseen: %s\n%s", th.what, tr.Line)
				}
			}
			if missing > 10 {
				t.FailNow()
			}
		}
	}
	t.Logf("%d programs, %d things that they did, %d lines that are not read whole", programs, ran, veiled)
	assert.Greater(t, ran, programs)
	assert.Less(t, veiled, programs/each/10)
}

// TestScopesRecorded: a function that writes down what is to be deleted sees what
// the program that deletes sees.
func TestScopesRecorded(t *testing.T) {
	jail := start(t, 1)[0]
	for i := range 40 {
		g := &scopes{r: rand.New(rand.NewPCG(*seed, uint64(i)))}
		line := g.program()
		deleted, err := jail.do(job{Shell: "bash", Line: line, Cwd: project})
		require.NoError(t, err, line)
		recorded, err := jail.do(job{Shell: "bash", Line: line, Cwd: project, Record: true})
		require.NoError(t, err, line)
		if !deleted.Late && !recorded.Late { // the clock cut one of them
			require.ElementsMatch(t, deleted.Calls, recorded.Calls, line)
		}
	}
}
