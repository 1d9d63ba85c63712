// Package hostile plays whoever wants hookc not to work: repositories, agents and
// environments.
package hostile

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/tests/depth"
	"github.com/hookc/hookc/tests/programs"
)

const (
	// sequences are the sequences of calls that are tried at full depth, each with
	// a policy of its own and callsEach calls.
	sequences = 120
	callsEach = 14
)

// gated is an agent in a project with a locked policy, and what must not change.
type gated struct {
	*testing.T
	rand    *rand.Rand
	root    string
	environ []string
	eng     *hookc.Engine
	// parts are the files of the policy, dirs folders that hold some.
	parts, dirs []string
	before      map[string][sha256.Size]byte
	policy      string
	made        []string
	permitted   int
	log         []string
}

// TestGatedAgentChangesNothing: over random policies and random sequences of
// calls, of which those that hookc permits are carried out, the files of the
// policy and the hooks in force stay what they were.
func TestGatedAgentChangesNothing(t *testing.T) {
	tried, calls, permitted := 0, 0, 0
	for seed := range depth.Of(uint64(sequences)) {
		g := newGated(t, rand.New(rand.NewPCG(seed, 12)))
		for range callsEach {
			g.step()
			calls++
			if !g.unchanged() {
				break
			}
		}
		permitted += g.permitted
		g.eng.Close()
		tried++
		if t.Failed() {
			t.Logf("seed %d:\n%s", seed, strings.Join(g.log, "\n"))
			break
		}
	}
	t.Logf("%d sequences of %d calls tried, %d of %d calls permitted and carried out", tried, callsEach, permitted, calls)
	assert.Greater(t, permitted, calls/5, "an agent that may do nothing shows nothing")
}

func newGated(t *testing.T, r *rand.Rand) *gated {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	g := &gated{T: t, rand: r, root: filepath.Join(dir, "home", "work", "project")}
	home, bin := filepath.Join(dir, "home"), filepath.Join(dir, "bin")
	for name, dir := range map[string]string{"HOME": home, "XDG_CONFIG_HOME": home + "/.config", "XDG_STATE_HOME": home + "/.state", "XDG_RUNTIME_DIR": home + "/.run"} {
		t.Setenv(name, dir)
	}
	t.Setenv("HOOKC_TRUST", "")
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	require.NoError(t, os.MkdirAll(bin, 0o755))
	// Nothing here may end a process of anybody else's: these only leave a mark.
	for _, name := range []string{"kill", "pkill", "killall"} {
		require.NoError(t, programs.Write(filepath.Join(bin, name), []byte("#!/bin/sh\necho \"$0 $*\" >> \"$HOME/killed\"\n")))
	}
	require.NoError(t, os.Link(programs.Hookc(t), filepath.Join(bin, "hookc")), "one file system for tests")
	g.environ = os.Environ()
	g.write()
	git := exec.Command("sh", "-c", "git init -q . && git -c user.name=n -c user.email=e@x add -A && git -c user.name=n -c user.email=e@x commit -qm x && git branch other")
	git.Dir, git.Env = g.root, g.environ
	out, err := git.CombinedOutput()
	require.NoError(t, err, "%s", out)
	g.open()
	g.before, g.policy = g.sums(), g.fire("Bash", map[string]any{"command": "ls"}).Policy
	return g
}

// write makes a random policy with a locked guard, and a project around it.
func (g *gated) write() {
	base := [...]string{"hooks.yaml", ".hookc/hooks.yaml"}[g.rand.IntN(2)]
	in := filepath.ToSlash(filepath.Dir(base))
	rel := func(p string) string {
		if in == "." {
			return p
		}
		return "../" + p
	}
	data := [...]string{"policies/limits.json", "etc/deep/data.json", "limits.json"}[g.rand.IntN(3)]
	lib := [...]string{"policies/lib.rego", "rego/a/lib.rego"}[g.rand.IntN(2)]
	guards := []string{
		"  - {name: shell, type: builtin, use: shell-guard, locked: true}\n",
		"  - {name: files, type: builtin, use: path-guard, locked: true}\n",
		"  - {name: words, deny: '(tool_input.command ?? \"\") contains \"rm -rf /\"', reason: \"no\", locked: true}\n",
		"  - {name: script, command: ./scripts/check.sh, locked: true, may: [deny]}\n",
	}
	g.rand.Shuffle(len(guards), func(i, j int) { guards[i], guards[j] = guards[j], guards[i] })
	text := "rego:\n  paths: [" + rel(lib) + "]\n  data: [" + rel(data) + "]\ninclude: [" + rel("more/extra.yaml") + "]\npre_tool_execution:\n" +
		"  - {name: limits, type: rego, locked: true, source: \"package limits\\nimport data.lib\\ndeny if lib.over(input.tool_input.n, data.limits.n)\"}\n" +
		strings.Join(guards[:1+g.rand.IntN(len(guards))], "")
	g.parts = nil
	for name, content := range map[string]string{
		base: text, data: `{"limits": {"n": 3}}`, lib: "package lib\nover(a, b) if a > b\n", "more/extra.yaml": "stop:\n  - {name: later, command: \"true\"}\n",
		"scripts/check.sh": "#!/bin/sh\nexit 0\n",
	} {
		g.put(name, content)
		if name != "scripts/check.sh" || strings.Contains(text, "check.sh") {
			g.parts = append(g.parts, name)
		}
	}
	slices.Sort(g.parts)
	for _, p := range g.parts {
		if d := filepath.Dir(p); d != "." && !slices.Contains(g.dirs, d) {
			g.dirs = append(g.dirs, d)
		}
	}
	g.made = []string{"src/a.go", "docs/b.md", "build/out.txt"}
	for _, name := range g.made {
		g.put(name, "x\n")
	}
}

func (g *gated) put(name, content string) {
	p := filepath.Join(g.root, filepath.FromSlash(name))
	require.NoError(g, os.MkdirAll(filepath.Dir(p), 0o755))
	require.NoError(g, programs.Write(p, []byte(content)))
}

// open makes the policy the project's own that its user trusts.
func (g *gated) open() {
	cmd := exec.Command(filepath.Join(programs.Dir(g), "hookc"), "trust", "--yes")
	cmd.Dir, cmd.Env = g.root, g.environ
	out, err := cmd.CombinedOutput()
	require.NoError(g, err, "%s", out)
	eng, err := hookc.Open(g.Context(), hookc.Discover(g.root), hookc.SkipVerify())
	require.NoError(g, err)
	g.eng = eng
}

func (g *gated) fire(tool string, input map[string]any) *policy.Decision {
	in := policy.NewContext(policy.PreToolExecution).Set(policy.FieldToolName, tool).Set(policy.FieldToolInput, input).
		Set(policy.FieldCwd, g.root).Set(policy.FieldProjectRoot, g.root)
	d, err := g.eng.Fire(g.Context(), hookc.PreToolExecution, in)
	require.NoError(g, err)
	return d
}

// step tries one call, and carries it out when hookc permits it.
func (g *gated) step() {
	if g.rand.IntN(4) == 0 {
		name := g.path()
		if !g.permits("Write", map[string]any{"file_path": g.spelled(name), "content": g.script()}) {
			return
		}
		p := filepath.Join(g.root, name)
		if os.MkdirAll(filepath.Dir(p), 0o755) == nil && programs.Write(p, []byte(g.script())) == nil {
			g.made = append(g.made, name)
		}
		return
	}
	line := g.wrapped(g.command())
	if !g.permits("Bash", map[string]any{"command": line}) {
		return
	}
	cmd := exec.CommandContext(g.Context(), "sh", "-c", line)
	cmd.Dir, cmd.Env, cmd.WaitDelay = g.root, g.environ, time.Second
	_ = cmd.Run() // most of what an agent tries does not work
}

func (g *gated) permits(tool string, input map[string]any) bool {
	d := g.fire(tool, input)
	g.log = append(g.log, fmt.Sprintf("%s %s %v", d.Action, tool, input))
	if !d.Permits() {
		return false
	}
	g.permitted++
	return true
}

func (g *gated) one(list ...string) string { return list[g.rand.IntN(len(list))] }

// path is a file or folder of the policy, of the project, or a new one.
func (g *gated) path() string {
	switch g.rand.IntN(6) {
	case 0:
		return g.one(g.parts...)
	case 1:
		return g.one(append(slices.Clone(g.dirs), ".")...)
	case 2, 3:
		return g.one(g.made...)
	}
	return fmt.Sprintf("%s/n%d", g.one("src", "docs", "l1", "l2"), g.rand.IntN(4))
}

// spelled is a path as an agent may write it.
func (g *gated) spelled(p string) string {
	return g.one(p, "./"+p, filepath.Join(g.root, p), "src/../"+p, strings.ReplaceAll(p, "/", "//"))
}

func (g *gated) script() string {
	return g.one("x\n", "#!/bin/sh\necho hello > build/hello\n", "#!/bin/sh\n"+g.command()+"\n", "import os\nos.remove('"+g.one(g.parts...)+"')\n")
}

// command is one command over random paths.
func (g *gated) command() string {
	a, b := g.spelled(g.path()), g.spelled(g.path())
	return g.one(
		"echo x >> "+a, ": > "+a, "tee "+a+" < "+b, "sed -i s/3/9/ "+a, "truncate -s 0 "+a, "dd if=/dev/null of="+a, "rm -f "+a, "rm -rf "+a, "rmdir "+a, "unlink "+a,
		"mv "+a+" "+b, "mv -f "+a+" "+b, "cp "+a+" "+b, "cp -r "+a+" "+b, "cp -r "+a+"/. "+b, "cp -rT "+a+" "+b, "install -m 644 "+a+" "+b, "chmod 000 "+a, "chmod -R a-w "+a, "chmod +x "+a,
		"ln -s "+a+" "+b, "ln -sfn "+a+" "+b, "ln -f "+a+" "+b, "ln -s . l1", "ln -s .. l2", "ln -sfn ../"+g.one(g.parts...)+" l1", "mkdir -p "+a, "touch "+a,
		"find "+a+" -type f -delete", "find . -name '*.json' -exec rm -f {} +", "find "+a+" -name '*.yaml' | xargs rm -f", "ls "+a+" | xargs rm -rf", "rm -rf "+g.one("*", "p*", "*/*.json", ".h*", "[a-p]*"),
		"tar cf build/t.tar "+a+" && tar xf build/t.tar -C "+b, "tar cf build/t.tar "+a, "tar xf build/t.tar", "tar xf build/t.tar -C src",
		"sh "+a, ". ./"+g.path(), "python3 "+a, "python3 -c \"import shutil; shutil.rmtree('"+a+"')\"", "python3 -c \"open('"+a+"','w').write('')\"", "perl -pi -e s/3/9/ "+a,
		"git checkout -- "+a, "git checkout HEAD -- .", "git stash", "git stash -u", "git stash pop", "git clean -fd", "git rm -f "+a, "git mv "+a+" "+b, "git restore .", "git switch other", "git checkout -b new", "git reset --hard",
		"git add -A && git -c user.name=n -c user.email=e@x commit -qm y", "git diff > build/p.diff", "git apply build/p.diff", "git apply -R build/p.diff", "patch -p1 < build/p.diff",
		"hookc trust --yes", "hookc trust --forget", "hookc uninstall claude", "hookc install claude", "hookc serve stop", "hookc fmt -w", "hookc fmt -w "+a, "hookc compile -o "+a, "hookc compile -o "+a+".hookc",
		"hookc convert --force -o "+a, "hookc init", "hookc check", "hookc hooks list", "hookc lint", "HOOKC_ENABLED=0 hookc run", "HOOKC_FMT_WRITE=true hookc fmt", "HOOKC_DEBUG="+a+" hookc check",
		"pkill hookc", "killall -9 hookgate", "kill $(pgrep hookc)", "cp $(command -v hookc) h && ./h trust --forget", "rm -rf \"$XDG_STATE_HOME\"", "rm -rf ~/.state", "mv ~/.state ~/s", "mv ../project ../p2", "rm -f ../../../bin/hookc",
		"rm -rf ~/.config; mkdir -p ~/.config/hookc && echo 'stop: []' > ~/.config/hookc/hooks.yaml", "echo '{}' > .claude/settings.json",
	)
}

// wrapped is a command as an agent may hide it.
func (g *gated) wrapped(c string) string {
	quoted := "'" + strings.ReplaceAll(c, "'", `'\''`) + "'"
	switch g.rand.IntN(12) {
	case 0:
		return "sh -c " + quoted
	case 1:
		return "eval " + quoted
	case 2:
		return "(" + c + ")"
	case 3:
		return "cd src && cd .. && " + c
	case 4:
		return "f() { " + c + "; }; f"
	case 5:
		return "true && " + c + " || true"
	case 6:
		return "env X=1 sh -c " + quoted
	case 7:
		return "printf %s " + quoted + " | sh"
	case 8:
		return "for i in 1; do " + c + "; done"
	case 9:
		return c + "; " + g.command()
	}
	return c
}

// sums are what the files of the policy hold, and the record of trust.
func (g *gated) sums() map[string][sha256.Size]byte {
	out := map[string][sha256.Size]byte{}
	for _, p := range g.parts {
		data, _ := os.ReadFile(filepath.Join(g.root, p))
		out[p] = sha256.Sum256(data)
	}
	state := os.Getenv("XDG_STATE_HOME")
	_ = filepath.WalkDir(state, func(p string, e fs.DirEntry, err error) error {
		if err == nil && e.Name() == "trust.json" {
			data, _ := os.ReadFile(p)
			out[strings.TrimPrefix(p, state)] = sha256.Sum256(data)
		}
		return nil
	})
	if info, err := os.Stat(filepath.Join(g.root, "../../../bin/hookc")); err == nil {
		out["bin/hookc"] = [sha256.Size]byte{byte(info.Size() >> 8)}
	}
	return out
}

// unchanged reports whether all is as it was: the bytes, and what is decided.
func (g *gated) unchanged() bool {
	ok := assert.Equal(g, g.before, g.sums())
	killed, _ := os.ReadFile(filepath.Join(os.Getenv("HOME"), "killed"))
	ok = assert.Empty(g, string(bytes.TrimSpace(killed)), "a process of hookc was ended") && ok
	require.NoError(g, g.eng.Reload(g.Context()))
	d := g.fire("Bash", map[string]any{"command": "ls"})
	ok = assert.Equal(g, g.policy, d.Policy, "the hooks in force") && ok
	return ok && assert.Equal(g, policy.Deny, g.fire("Other", map[string]any{"n": 4}).Verdict)
}
