package trust

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/state"
)

// project lays out a project with a policy, a script it names and a hook
// folder, in a home that trusts nothing, and returns what discovery says of it.
func project(t *testing.T) (root string, parts []Part) {
	t.Helper()
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	t.Setenv(Env, "")
	root = t.TempDir()
	write(t, filepath.Join(root, "hooks.yaml"), "stop: [{command: ./check.sh}]\n", 0o644)
	write(t, filepath.Join(root, "check.sh"), "exit 0\n", 0o755)
	folder := filepath.Join(root, ".agents", "hooks", "guard")
	write(t, filepath.Join(folder, "HOOK.md"), "---\nname: guard\n---\n", 0o644)
	write(t, filepath.Join(folder, "scripts", "run.sh"), "exit 2\n", 0o755)
	return root, partOf(root, []policy.SourceFile{
		{Name: "hooks.yaml", Path: filepath.Join(root, "hooks.yaml"), Tier: policy.TierProject, Format: "hooks.yaml",
			Uses: []string{filepath.Join(root, "check.sh")}, Opaque: []string{"make lint"}},
		{Name: "guard", Path: filepath.Join(folder, "HOOK.md"), Tier: policy.TierProject, Format: "hookmd", Uses: []string{folder}},
	})
}

// partOf is one part, found where its sources are.
func partOf(root string, sources []policy.SourceFile) []Part {
	p := Part{Sources: sources}
	for _, s := range sources {
		p.Inputs = append(p.Inputs, Input{Path: s.Path, Tier: s.Tier, Format: s.Format})
	}
	return []Part{p}
}

// standing is what consulting says, in short.
func standing(root string, parts []Part) (Kind, []string) {
	st := Open(root).Check(parts)
	return st.Kind, st.Changed
}

func write(t *testing.T, path, content string, mode os.FileMode) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
	require.NoError(t, os.Chmod(path, mode))
}

const advice = "; look at it and run `hookc trust`"

func TestNeverTrusted(t *testing.T) {
	root, parts := project(t)
	st := Open(root).Consult("", parts[0].Inputs)
	assert.Equal(t, Standing{Kind: Never, Why: "this project was never trusted" + advice, Inputs: parts[0].Inputs}, st)
	assert.Equal(t, Standing{}, Open(root).Consult("", nil), "nothing discovered, nothing to trust")
}

func TestTrustCoversEverythingNamed(t *testing.T) {
	root, parts := project(t)
	want := Consent{
		Files: []string{".agents/hooks/guard", ".agents/hooks/guard/HOOK.md", ".agents/hooks/guard/scripts",
			".agents/hooks/guard/scripts/run.sh", "check.sh", "hooks.yaml"},
		Opaque: []string{"make lint"},
	}
	offer, err := Open(root).Offer(parts)
	require.NoError(t, err)
	assert.Equal(t, want, offer.Consent)
	kind, _ := standing(root, parts)
	assert.Equal(t, Never, kind, "looking is not agreeing")
	given, err := Open(root).Trust(parts)
	require.NoError(t, err)
	assert.Equal(t, want, given)
	kind, _ = standing(root, parts)
	assert.Equal(t, Fits, kind)

	had, err := Open(root).Forget()
	require.NoError(t, err)
	assert.True(t, had)
	kind, _ = standing(root, parts)
	assert.Equal(t, Never, kind)
	had, err = Open(root).Forget()
	require.NoError(t, err)
	assert.False(t, had)
	assert.Empty(t, copies(t, root), "what was kept is gone with the consent")
}

// copies are the folders that consent keeps.
func copies(t *testing.T, root string) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(filepath.Dir(Open(root).Path()), "kept-*"))
	require.NoError(t, err)
	return found
}

func TestTrustIsOfOneProject(t *testing.T) {
	root, parts := project(t)
	_, err := Open(root).Trust(parts)
	require.NoError(t, err)
	assert.Equal(t, Never, Open(t.TempDir()).Consult("", parts[0].Inputs).Kind)
}

func TestWhatWasTrustedDecidesUntilTrustedAgain(t *testing.T) {
	for _, c := range []struct {
		name    string
		change  func(t *testing.T, root string)
		changed []string
	}{
		{"a script", func(t *testing.T, root string) { write(t, filepath.Join(root, "check.sh"), "exit 1\n", 0o755) }, []string{"check.sh"}},
		{"a script's permission", func(t *testing.T, root string) { require.NoError(t, os.Chmod(filepath.Join(root, "check.sh"), 0o644)) }, []string{"check.sh"}},
		{"the policy", func(t *testing.T, root string) { write(t, filepath.Join(root, "hooks.yaml"), "\n", 0o644) }, []string{"hooks.yaml"}},
		{"a hook's script", func(t *testing.T, root string) {
			write(t, filepath.Join(root, ".agents/hooks/guard/scripts/run.sh"), "exit 0\n", 0o755)
		}, []string{".agents/hooks/guard/scripts/run.sh"}},
		{"a script that takes precedence", func(t *testing.T, root string) {
			write(t, filepath.Join(root, ".agents/hooks/guard/scripts/run"), "exit 0\n", 0o755)
		}, []string{".agents/hooks/guard/scripts/run"}},
		{"a script gone", func(t *testing.T, root string) { require.NoError(t, os.Remove(filepath.Join(root, "check.sh"))) }, []string{"check.sh"}},
		{"a script now a folder", func(t *testing.T, root string) {
			require.NoError(t, os.Remove(filepath.Join(root, "check.sh")))
			require.NoError(t, os.Mkdir(filepath.Join(root, "check.sh"), 0o755))
		}, []string{"check.sh"}},
		{"a script now a link to its own content", func(t *testing.T, root string) {
			require.NoError(t, os.Rename(filepath.Join(root, "check.sh"), filepath.Join(root, "other.sh")))
			require.NoError(t, os.Symlink("other.sh", filepath.Join(root, "check.sh")))
		}, []string{"check.sh"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			root, parts := project(t)
			_, err := Open(root).Trust(parts)
			require.NoError(t, err)
			was := Open(root).Consult("", parts[0].Inputs)
			require.Equal(t, Fits, was.Kind)
			c.change(t, root)
			st := Open(root).Consult("", parts[0].Inputs)
			assert.Equal(t, Differs, st.Kind)
			assert.Equal(t, c.changed, st.Changed)
			assert.Equal(t, changedText(c.changed)+", and what was trusted then decides"+advice, st.Why)
			assert.Equal(t, was.Inputs, st.Inputs)
			kept, err := os.ReadFile(st.Inputs[0].Path)
			require.NoError(t, err)
			assert.Equal(t, "stop: [{command: ./check.sh}]\n", string(kept))
			script, err := os.ReadFile(st.Tree.Kept(filepath.Join(root, "check.sh")))
			require.NoError(t, err)
			assert.Equal(t, "exit 0\n", string(script))
			_, err = Open(root).Trust(parts)
			require.NoError(t, err)
			kind, _ := standing(root, parts)
			assert.Equal(t, Fits, kind)
			assert.Len(t, copies(t, root), 2, "a plan of the copy before may still decide")
			for range 2 * maxSpent {
				_, err = Open(root).Trust(parts)
				require.NoError(t, err)
			}
			assert.Len(t, copies(t, root), 1+maxSpent, "older copies are removed")
		})
	}
}

// Whatever becomes of the kept copy, it does not decide as anything but what
// consent covered.
func TestDamagedCopyDecidesNothing(t *testing.T) {
	for name, damage := range map[string]func(t *testing.T, kept string){
		"changed": func(t *testing.T, kept string) { write(t, kept, "exit 0 # evil\n", 0o755) },
		"gone":    func(t *testing.T, kept string) { require.NoError(t, os.Remove(kept)) },
		"all gone": func(t *testing.T, kept string) {
			require.NoError(t, os.RemoveAll(filepath.Dir(kept)))
		},
		"not executable": func(t *testing.T, kept string) { require.NoError(t, os.Chmod(kept, 0o600)) },
	} {
		t.Run(name, func(t *testing.T) {
			root, parts := project(t)
			_, err := Open(root).Trust(parts)
			require.NoError(t, err)
			damage(t, Open(root).Consult("", parts[0].Inputs).Tree.Kept(filepath.Join(root, "check.sh")))
			st := Open(root).Consult("", parts[0].Inputs)
			assert.Equal(t, Broken, st.Kind)
			assert.Contains(t, st.Why, " is not as it was kept")
			assert.Nil(t, st.Tree)
		})
	}
}

func TestNewSources(t *testing.T) {
	root, parts := project(t)
	_, err := Open(root).Trust(partOf(root, parts[0].Sources[:1]))
	require.NoError(t, err)
	kind, changed := standing(root, parts)
	assert.Equal(t, Differs, kind)
	assert.Equal(t, []string{".agents/hooks/guard/HOOK.md"}, changed)
}

func TestMissingFileThatAppears(t *testing.T) {
	root, parts := project(t)
	later := filepath.Join(root, "later", "x.sh")
	parts[0].Sources[0].Uses = append(parts[0].Sources[0].Uses, later)
	_, err := Open(root).Trust(parts)
	require.NoError(t, err)
	kind, _ := standing(root, parts)
	assert.Equal(t, Fits, kind)
	write(t, later, "evil\n", 0o755)
	_, changed := standing(root, parts)
	assert.Equal(t, []string{"later/x.sh"}, changed)
}

func TestFileThatAGlobMatchesLater(t *testing.T) {
	root, parts := project(t)
	parts[0].Sources[0].Globs = []string{filepath.Join(root, "more", "*.yaml")}
	_, err := Open(root).Trust(parts)
	require.NoError(t, err)
	write(t, filepath.Join(root, "more", "x.yaml"), "evil\n", 0o644)
	kind, changed := standing(root, parts)
	assert.Equal(t, Differs, kind)
	assert.Equal(t, []string{"more/x.yaml"}, changed)
}

func TestLinksAreFollowed(t *testing.T) {
	root, parts := project(t)
	outside := t.TempDir()
	write(t, filepath.Join(outside, "lib", "a.rego"), "package a\n", 0o644)
	require.NoError(t, os.Symlink(filepath.Join(outside, "lib"), filepath.Join(root, "policies")))
	require.NoError(t, os.Symlink("..", filepath.Join(outside, "lib", "up")))
	parts[0].Sources[0].Uses = append(parts[0].Sources[0].Uses, filepath.Join(root, "policies"))
	_, err := Open(root).Trust(parts)
	require.NoError(t, err)
	st := Open(root).Consult("", parts[0].Inputs)
	require.Equal(t, Fits, st.Kind, st.Why)
	kept, err := os.ReadFile(filepath.Join(st.Tree.Kept(filepath.Join(root, "policies")), "a.rego"))
	require.NoError(t, err)
	assert.Equal(t, "package a\n", string(kept), "the copy of a link leads to the copy")

	write(t, filepath.Join(outside, "lib", "a.rego"), "package b\n", 0o644)
	target, err := filepath.EvalSymlinks(filepath.Join(outside, "lib", "a.rego"))
	require.NoError(t, err)
	_, changed := standing(root, parts)
	assert.Equal(t, []string{filepath.ToSlash(target)}, changed)
	write(t, filepath.Join(outside, "lib", "a.rego"), "package a\n", 0o644)

	require.NoError(t, os.Remove(filepath.Join(root, "policies")))
	require.NoError(t, os.Symlink(outside, filepath.Join(root, "policies")))
	_, changed = standing(root, parts)
	assert.Contains(t, changed, "policies")
}

func TestProjectThroughALink(t *testing.T) {
	root, parts := project(t)
	_, err := Open(root).Trust(parts)
	require.NoError(t, err)
	link := filepath.Join(t.TempDir(), "link")
	require.NoError(t, os.Symlink(root, link))
	for i := range parts[0].Inputs {
		parts[0].Inputs[i].Path = strings.Replace(parts[0].Inputs[i].Path, root, link, 1)
	}
	kind, changed := standing(link, parts)
	assert.Equal(t, Fits, kind, changed)
}

func TestEnvironment(t *testing.T) {
	root, parts := project(t)
	t.Setenv(Env, "all")
	assert.Equal(t, Decree, Open(root).Consult("", parts[0].Inputs).Kind)
	t.Setenv(Env, "1")
	assert.Equal(t, "this project was never trusted, and HOOKC_TRUST=1 does not say all"+advice, Open(root).Consult("", parts[0].Inputs).Why)
	t.Setenv(Env, "all")
	_, err := Open(root).Trust(parts)
	require.NoError(t, err)
	write(t, filepath.Join(root, "hooks.yaml"), "{}\n", 0o644)
	assert.Equal(t, Differs, Open(root).Consult("", parts[0].Inputs).Kind, "the variable does not stand above consent that was given")
}

func TestDamagedRecordIsNoWithdrawal(t *testing.T) {
	root, parts := project(t)
	_, err := Open(root).Trust(parts)
	require.NoError(t, err)
	dir, err := state.Open(root)
	require.NoError(t, err)
	damaged := Standing{Kind: Broken, Why: "the record of trust is damaged" + advice}
	for _, content := range []string{"", "{", `{"version":0,"files":[{"path":"x"}]}`, `{"version":1,"files":[]}`,
		`{"version":2,"consents":[{"kept":"../..","root":"/","parts":[{}]}]}`} {
		require.NoError(t, dir.Update(File, func([]byte) ([]byte, error) { return []byte(content), nil }))
		assert.Equal(t, damaged, Open(root).Consult("", parts[0].Inputs), content)
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir.Path(), File), []byte("garbage"), 0o600))
	assert.Equal(t, damaged, Open(root).Consult("", parts[0].Inputs))
	_, err = Open(root).Trust(parts)
	require.NoError(t, err)
	kind, _ := standing(root, parts)
	assert.Equal(t, Fits, kind)
}

// A record of an older hookc has no copy: it holds for as long as nothing it
// covered has changed, and afterwards nothing decides in its place.
func TestRecordOfAnOlderHookc(t *testing.T) {
	root, parts := project(t)
	dir, err := state.Open(root)
	require.NoError(t, err)
	e, err := look("hooks.yaml", filepath.Join(root, "hooks.yaml"), func(*entry) (io.Writer, error) { return io.Discard, nil }, maxBytes, new(int64))
	require.NoError(t, err)
	text, err := json.Marshal(record{Version: oldVersion, Files: []entry{e}})
	require.NoError(t, err)
	require.NoError(t, dir.Update(File, func([]byte) ([]byte, error) { return text, nil }))
	st := Open(root).Consult("", parts[0].Inputs)
	assert.Equal(t, Old, st.Kind)
	assert.Contains(t, st.Why, "an older hookc")
	assert.Equal(t, parts[0].Inputs, st.Inputs)
	write(t, filepath.Join(root, "hooks.yaml"), "{}\n", 0o644)
	st = Open(root).Consult("", parts[0].Inputs)
	assert.Equal(t, Broken, st.Kind)
	assert.Equal(t, []string{"hooks.yaml"}, st.Changed)
}

// The record of a newer hookc is no consent here, and stays as it is, with its copies.
func TestRecordOfANewerHookc(t *testing.T) {
	root, parts := project(t)
	_, err := Open(root).Trust(parts)
	require.NoError(t, err)
	dir, err := state.Open(root)
	require.NoError(t, err)
	for name, newer := range map[string]func(whole []byte) []byte{
		"record": func(whole []byte) []byte {
			require.NoError(t, dir.Update(File, func(old []byte) ([]byte, error) {
				return bytes.Replace(old, []byte(`"version":2`), []byte(`"version":3`), 1), nil
			}))
			made, err := os.ReadFile(filepath.Join(dir.Path(), File))
			require.NoError(t, err)
			return made
		},
		"state file": func(whole []byte) []byte {
			made := bytes.Replace(whole, []byte("hookc-state-1 "), []byte("hookc-state-2 "), 1)
			require.NoError(t, os.WriteFile(filepath.Join(dir.Path(), File), made, 0o600))
			return made
		},
	} {
		t.Run(name, func(t *testing.T) {
			whole, err := os.ReadFile(filepath.Join(dir.Path(), File))
			require.NoError(t, err)
			made := newer(whole)
			require.NotEqual(t, whole, made)
			st := Open(root).Consult("", parts[0].Inputs)
			assert.Equal(t, Broken, st.Kind)
			assert.Contains(t, st.Why, "another version of hookc")
			_, err = Open(root).Trust(parts)
			require.ErrorIs(t, err, state.ErrVersion)
			Open(root).tidy()
			got, err := os.ReadFile(filepath.Join(dir.Path(), File))
			require.NoError(t, err)
			assert.Equal(t, made, got)
			assert.NoFileExists(t, filepath.Join(dir.Path(), File+".bad"))
			kept := 0
			items, err := os.ReadDir(dir.Path())
			require.NoError(t, err)
			for _, item := range items {
				if keptName().MatchString(item.Name()) {
					kept++
				}
			}
			assert.Positive(t, kept, "the copies of what was trusted stay")
			require.NoError(t, os.WriteFile(filepath.Join(dir.Path(), File), whole, 0o600))
			kind, _ := standing(root, parts)
			assert.Equal(t, Fits, kind, "the newer hookc finds all as it was")
		})
	}
}

func TestNoPlaceForState(t *testing.T) {
	root, parts := project(t)
	t.Setenv("XDG_STATE_HOME", filepath.Join(root, "hooks.yaml"))
	kind, _ := standing(root, parts)
	assert.NotEqual(t, Fits, kind)
	_, err := Open(root).Trust(parts)
	require.Error(t, err)
	_, err = Open(root).Forget()
	require.Error(t, err)
}

// A worktree has the consent of its repository: for the same files it is
// trusted, and for others what was trusted decides.
func TestWorktrees(t *testing.T) {
	root, parts := project(t)
	git := func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-c", "user.name=t", "-c", "user.email=t@example.com"}, args...)...)
		cmd.Dir = root
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
	}
	git("init", "-q")
	git("add", "-A")
	git("commit", "-qm", "x")
	other := filepath.Join(t.TempDir(), "other")
	git("worktree", "add", "-q", other)
	_, err := Open(root).Trust(parts)
	require.NoError(t, err)
	in := []Input{{Path: filepath.Join(other, "hooks.yaml"), Tier: policy.TierProject, Format: "hooks.yaml"}}
	st := Open(other).Consult("", in)
	assert.Equal(t, Fits, st.Kind, st.Why)
	live, ok := st.Tree.Live(st.Inputs[0].Path)
	assert.True(t, ok)
	assert.Equal(t, in[0].Path, live)
	write(t, filepath.Join(other, "check.sh"), "exit 0 # evil\n", 0o755)
	st = Open(other).Consult("", in)
	assert.Equal(t, Differs, st.Kind)
	assert.Equal(t, []string{"check.sh"}, st.Changed)
	kind, _ := standing(root, parts)
	assert.Equal(t, Fits, kind, "each worktree on its own")

	stranger := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(stranger, ".git"), []byte("gitdir: "+filepath.Join(root, ".git", "worktrees", "other")+"\n"), 0o600))
	assert.Equal(t, Never, Open(stranger).Consult("", in).Kind, "a repository does not know who points at it")
}

func TestProjectsOfAFolder(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("XDG_STATE_HOME", filepath.Join(home, "state"))
	outer, inner, deep := filepath.Join(home, "outer"), filepath.Join(home, "outer", "inner"), filepath.Join(home, "outer", "inner", "deep")
	require.NoError(t, os.MkdirAll(deep, 0o755))
	require.NoError(t, os.MkdirAll(filepath.Join(home, ".hookc"), 0o755))
	require.NoError(t, os.MkdirAll(filepath.Join(outer, ".git"), 0o755))
	assert.Equal(t, []string{outer}, Projects(deep), "the home is no project")
	require.NoError(t, os.MkdirAll(filepath.Join(inner, ".git"), 0o755))
	assert.Equal(t, []string{outer, inner}, Projects(deep))
	elsewhere := filepath.Join(home, "elsewhere")
	require.NoError(t, os.MkdirAll(elsewhere, 0o755))
	assert.Equal(t, []string{outer, inner, elsewhere}, Projects(deep, elsewhere))
	assert.Empty(t, Projects(home))
	write(t, filepath.Join(outer, "hooks.yaml"), "stop: []\n", 0o644)
	_, err := Open(outer).Trust(partOf(outer, []policy.SourceFile{{Path: filepath.Join(outer, "hooks.yaml"), Tier: policy.TierProject}}))
	require.NoError(t, err)
	require.NoError(t, os.RemoveAll(filepath.Join(outer, ".git")))
	assert.Equal(t, []string{outer, inner}, Projects(deep), "consent outlasts the mark")
}

func TestOnlyProjectTiersNeedTrust(t *testing.T) {
	var needed []string
	for _, name := range policy.TierNames() {
		tier, ok := policy.ParseTier(name)
		require.True(t, ok)
		if Needed(tier) {
			needed = append(needed, name)
		}
	}
	assert.Equal(t, []string{"project", "local"}, needed)
}
