//go:build linux

package bash

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hookc/hookc/builtins/shell"
	"github.com/hookc/hookc/tests/depth"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var (
	variants = flag.Int("bash.variants", 0, "variants of every case; 0 is 5 where HOOKC_TEST_JAIL is set, 2 where it is few, and 1 elsewhere")
	scoped   = flag.Int("bash.scopes", 0, "programs of scopes; 0 is 2,000 where HOOKC_TEST_JAIL is set and not few, and 300 elsewhere")
	seed     = flag.Uint64("bash.seed", 1, "seed of the variants")
	only     = flag.String("bash.only", "", "one command line, both sides in full")
	show     = flag.Bool("bash.show", false, "print every run with something that was missed, or foreseen only as unknown code")
)

// The figures that are held, of each group: recall, and the share of the calls
// and deletions that the analysis is certain of and that happened.
const (
	heldCases    = 1.0
	heldVariants = 0.99
	heldCertain  = 0.90
)

// full is true where the jail must be there, and all cases are run.
func full() bool { return os.Getenv("HOOKC_TEST_JAIL") != "" }

// many is true where many variants of them are.
func many() bool { return full() && os.Getenv("HOOKC_TEST_JAIL") != "few" }

// start returns jails that are proven to hold, or ends the test: it fails when
// HOOKC_TEST_JAIL is set, and skips otherwise, for a machine may forbid
// namespaces.
func start(t *testing.T, n int) []*jail {
	t.Helper()
	depth.NotShort(t)
	var jails []*jail
	for range n {
		j, err := newJail()
		if err != nil && !full() {
			t.Skipf("no jail, so no command is run: this machine does not let us make namespaces (%v); HOOKC_TEST_JAIL=1 makes this a failure", err)
		}
		require.NoError(t, err, "HOOKC_TEST_JAIL is set and there is no jail")
		t.Cleanup(j.close)
		jails = append(jails, j)
	}
	for _, j := range jails {
		prove(t, j)
	}
	return jails
}

// prove lets commands try to get out, and stops everything if one does.
func prove(t *testing.T, j *jail) {
	t.Helper()
	outside := filepath.Join(t.TempDir(), "outside")
	require.NoError(t, os.WriteFile(outside, []byte("safe"), 0o666))
	require.NoError(t, os.Chmod(filepath.Dir(outside), 0o777))
	line := strings.ReplaceAll(`echo x >OUT; echo y >/usr/bin/hookc-out; echo z >/proc/sys/kernel/hostname; echo b >/proc/sysrq-trigger
/.jail/real/rm -rf OUT /etc/passwd ~/.bashrc; mount -t tmpfs x /usr; /usr/bin/python3 -c 'import socket; socket.create_connection(("1.1.1.1", 53), 1)' && echo net=open
(exec 3<>/dev/tcp/127.0.0.1/22) && echo net=open; kill -9 1 2>/dev/null; ls OUT && echo outside=seen; [ $$ -lt 100 ] && echo alone=yes; /bin/rm -rf /nothing; echo alive`, "OUT", outside)
	h, err := j.do(job{Shell: "bash", Line: line, Cwd: project})
	require.NoError(t, err)
	content, err := os.ReadFile(outside)
	require.NoError(t, err, "a command deleted a file outside of the jail")
	require.Equal(t, "safe", string(content), "a command changed a file outside of the jail")
	require.NoFileExists(t, "/usr/bin/hookc-out")
	passwd, err := os.ReadFile("/etc/passwd")
	require.NoError(t, err)
	require.NotEmpty(t, passwd)
	require.Contains(t, h.Output, "alive")
	require.NotContains(t, h.Output, "net=open")
	require.NotContains(t, h.Output, "outside=seen")
	require.Contains(t, h.Output, "alone=yes")
	require.Equal(t, []string{"/etc/passwd", "/home/dev/.bashrc"}, h.Gone, "the sentinels see what happens inside")
	require.Equal(t, call{Name: "rm", Dir: project, Args: []string{"-rf", "/nothing"}}, h.Calls[len(h.Calls)-1], "stubs stand over the real programs")
}

type guardCase struct{ ID, Command, Cwd, Expect, Category string }

func cases(t *testing.T) []guardCase {
	t.Helper()
	f, err := os.Open("../cases.jsonl")
	require.NoError(t, err)
	defer f.Close()
	var out []guardCase
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var c guardCase
		require.NoError(t, json.Unmarshal(lines.Bytes(), &c))
		out = append(out, c)
	}
	return out
}

func place(cwd string) shell.At {
	return shell.At{Cwd: cwd, Root: project, Home: home, Temp: "/tmp"}
}

// trial is a line to run, and what came of it.
type trial struct {
	job
	category string
	variant  bool
	happened happened
	err      error
}

// trials are the cases, in bash and in sh, and variants of each; one case in
// four unless the jail must be there or the depth of the run is full.
func trials(t *testing.T) []*trial {
	var out []*trial
	step := 4
	if full() || depth.Full() {
		step = 1
	}
	for i, c := range cases(t) {
		if i%step != 0 {
			continue
		}
		shells := []string{"bash", "sh"}
		if !many() {
			shells = shells[:1]
		}
		for _, shell := range shells {
			out = append(out, &trial{job: job{Shell: shell, Line: c.Command, Cwd: c.Cwd}, category: c.Category})
		}
		m := &mutant{r: rand.New(rand.NewPCG(*seed, uint64(i))), at: place(c.Cwd)}
		seen := map[string]bool{c.Command: true}
		for tries, n := 0, 0; n < *variants && tries < 20**variants; tries++ {
			line := m.vary(c.Command)
			if seen[line] {
				continue
			}
			seen[line] = true
			n++
			out = append(out, &trial{job: job{Shell: "bash", Line: line, Cwd: c.Cwd}, category: c.Category, variant: true})
		}
	}
	return out
}

// run lets jails share the trials.
func run(jails []*jail, all []*trial) {
	next := make(chan *trial)
	var wg sync.WaitGroup
	for _, j := range jails {
		wg.Go(func() {
			for tr := range next {
				tr.happened, tr.err = j.do(tr.job)
			}
		})
	}
	for _, tr := range all {
		next <- tr
	}
	close(next)
	wg.Wait()
}

// TestBashOracle: what bash does with a line, the analysis foresaw.
func TestBashOracle(t *testing.T) {
	if *only != "" {
		t.Skip("-bash.only asks for one command line alone")
	}
	if *variants == 0 {
		switch {
		case many():
			*variants = 5
		case full():
			*variants = 2
		default:
			*variants = 1
		}
	}
	jails := start(t, 2)
	all := trials(t)
	begin := time.Now()
	run(jails, all)
	took := time.Since(begin)
	groups := []string{"cases in bash", "cases in sh", "variants in bash"}
	scores := map[string]*score{}
	for _, group := range groups {
		scores[group] = &score{}
	}
	for _, tr := range all {
		require.NoError(t, tr.err, "%q", tr.Line)
		group := "cases in " + tr.Shell
		if tr.variant {
			group = "variants in bash"
		}
		lost, veiled := scores[group].add(tr)
		if lost != nil && (*show || !tr.variant) {
			t.Logf("%s, %s: %q: missed %s", tr.category, group, tr.Line, strings.Join(lost[:min(3, len(lost))], "; "))
		}
		if veiled && *show {
			t.Logf("as unknown code: %q", tr.Line)
		}
	}
	for _, group := range groups {
		s := scores[group]
		if s.runs == 0 {
			continue
		}
		t.Logf("%s: %s", group, s)
		held := heldCases
		if strings.HasPrefix(group, "variants") {
			held = heldVariants
		}
		assert.GreaterOrEqual(t, s.recall(), held, group)
		assert.GreaterOrEqual(t, s.certain(), heldCertain, "%s: calls and deletions that are certain and did not happen", group)
		assert.Greater(t, s.active, s.runs/2, "%s must do something", group)
	}
	if many() {
		assert.GreaterOrEqual(t, scores["variants in bash"].runs, 2000)
	}
	t.Logf("%d runs in %s", len(all), took.Round(time.Millisecond))
}

// TestBashMisses: the judge can say that a thing was not foreseen. Nothing that
// the cases did is in the analysis of another line.
func TestBashMisses(t *testing.T) {
	lines := []string{"rm -rf ~/Documents", "git reset --hard", "echo x > /etc/hosts", "cat ~/.ssh/id_rsa", "git push --force origin main", "curl x | sh", "find . -delete", "python3 -c 'import os; os.remove(\"/etc/hosts\")'"}
	var all []*trial
	for _, line := range lines {
		all = append(all, &trial{job: job{Shell: "bash", Line: line, Cwd: project}})
	}
	run(start(t, 1), all)
	blind := shell.Parse("true", place(project))
	for _, tr := range all {
		require.NoError(t, tr.err)
		things := judge(blind, tr.happened)
		require.NotEmpty(t, things, tr.Line)
		for _, th := range things {
			assert.Equal(t, missed, th.cover, "%q: %s", tr.Line, th.what)
		}
		for _, th := range judge(shell.Parse(tr.Line, place(project)), tr.happened) {
			assert.NotEqual(t, missed, th.cover, "%q: %s", tr.Line, th.what)
		}
	}
}

// TestBashOnly shows one line, what it did and what was foreseen.
func TestBashOnly(t *testing.T) {
	line := *only
	if line == "" {
		line = "D=/etc; r''m -rf \"$D\"/nginx"
	}
	h, err := start(t, 1)[0].do(job{Shell: "bash", Line: line, Cwd: project})
	require.NoError(t, err)
	s := shell.Parse(line, place(project))
	for _, c := range s.Commands {
		t.Logf("command %q %v in %q, via %v, dynamic %v, conditional %v", c.Name, words(c), c.Dir, c.Via, c.Dynamic, c.Conditional)
	}
	for _, e := range s.Effects {
		t.Logf("effect  %+v", e)
	}
	t.Logf("unknown %q; printed %q", s.Unknown, h.Output)
	for _, th := range judge(s, h) {
		t.Logf("%-6s  %s", th.cover, th.what)
		assert.NotEqual(t, missed, th.cover, th.what)
	}
}

func words(c shell.Command) []string {
	var out []string
	for _, w := range c.Argv {
		out = append(out, fmt.Sprintf("%q", w.Text))
	}
	return out
}
