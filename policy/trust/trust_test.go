package trust

import (
	"os"
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
func project(t *testing.T) (root string, files []policy.SourceFile) {
	t.Helper()
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	t.Setenv(Env, "")
	root = t.TempDir()
	write(t, filepath.Join(root, "hooks.yaml"), "stop: [{command: ./check.sh}]\n", 0o644)
	write(t, filepath.Join(root, "check.sh"), "exit 0\n", 0o755)
	folder := filepath.Join(root, ".agents", "hooks", "guard")
	write(t, filepath.Join(folder, "HOOK.md"), "---\nname: guard\n---\n", 0o644)
	write(t, filepath.Join(folder, "scripts", "run.sh"), "exit 2\n", 0o755)
	return root, []policy.SourceFile{
		{Name: "hooks.yaml", Path: filepath.Join(root, "hooks.yaml"), Tier: policy.TierProject, Format: "hooks.yaml",
			Uses: []string{filepath.Join(root, "check.sh")}, Opaque: []string{"make lint"}},
		{Name: "guard", Path: filepath.Join(folder, "HOOK.md"), Tier: policy.TierProject, Format: "hookmd", Uses: []string{folder}},
	}
}

func write(t *testing.T, path, content string, mode os.FileMode) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
	require.NoError(t, os.Chmod(path, mode))
}

const advice = "; look at it and run `hookc trust`"

func TestNeverTrusted(t *testing.T) {
	root, files := project(t)
	assert.Equal(t, Verdict{Never: true, Why: "this project was never trusted" + advice}, Open(root).Check(files))
	assert.Equal(t, Verdict{Trusted: true}, Open(root).Check(nil), "nothing discovered, nothing to trust")
}

func TestTrustCoversEverythingNamed(t *testing.T) {
	root, files := project(t)
	want := Consent{
		Files: []string{".agents/hooks/guard", ".agents/hooks/guard/HOOK.md", ".agents/hooks/guard/scripts",
			".agents/hooks/guard/scripts/run.sh", "check.sh", "hooks.yaml"},
		Opaque: []string{"make lint"},
	}
	given, err := Open(root).Trust(files)
	require.NoError(t, err)
	assert.Equal(t, want, given)
	assert.Equal(t, Verdict{Trusted: true}, Open(root).Check(files))

	had, err := Open(root).Forget()
	require.NoError(t, err)
	assert.True(t, had)
	assert.True(t, Open(root).Check(files).Never)
	had, err = Open(root).Forget()
	require.NoError(t, err)
	assert.False(t, had)
}

func TestTrustIsOfOneProject(t *testing.T) {
	root, files := project(t)
	_, err := Open(root).Trust(files)
	require.NoError(t, err)
	assert.True(t, Open(t.TempDir()).Check(files).Never)
}

func TestWhatChangedIsUntrustedUntilTrustedAgain(t *testing.T) {
	for _, c := range []struct {
		name    string
		change  func(t *testing.T, root string)
		changed []string
	}{
		{"a script", func(t *testing.T, root string) { write(t, filepath.Join(root, "check.sh"), "exit 1\n", 0o755) }, []string{"check.sh"}},
		{"the policy", func(t *testing.T, root string) { write(t, filepath.Join(root, "hooks.yaml"), "\n", 0o644) }, []string{"hooks.yaml"}},
		{"a hook's script", func(t *testing.T, root string) {
			write(t, filepath.Join(root, ".agents/hooks/guard/scripts/run.sh"), "exit 0\n", 0o755)
		}, []string{".agents/hooks/guard/scripts/run.sh"}},
		{"a script that takes precedence", func(t *testing.T, root string) {
			write(t, filepath.Join(root, ".agents/hooks/guard/scripts/run"), "exit 0\n", 0o755)
		}, []string{".agents/hooks/guard/scripts", ".agents/hooks/guard/scripts/run"}},
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
			root, files := project(t)
			_, err := Open(root).Trust(files)
			require.NoError(t, err)
			c.change(t, root)
			got := Open(root).Check(files)
			assert.Equal(t, Verdict{Why: changedText(c.changed) + advice, Changed: c.changed}, got)
			_, err = Open(root).Trust(files)
			require.NoError(t, err)
			assert.Equal(t, Verdict{Trusted: true}, Open(root).Check(files))
		})
	}
}

func TestNewAndVanishedSources(t *testing.T) {
	root, files := project(t)
	_, err := Open(root).Trust(files[:1])
	require.NoError(t, err)
	assert.Equal(t, []string{".agents/hooks/guard", ".agents/hooks/guard/HOOK.md", ".agents/hooks/guard/scripts",
		".agents/hooks/guard/scripts/run.sh"}, Open(root).Check(files).Changed)
	_, err = Open(root).Trust(files)
	require.NoError(t, err)
	assert.Equal(t, []string{"check.sh", "hooks.yaml"}, Open(root).Check(files[1:]).Changed)
}

func TestMissingFileThatAppears(t *testing.T) {
	root, files := project(t)
	later := filepath.Join(root, "later", "x.sh")
	files[0].Uses = append(files[0].Uses, later)
	_, err := Open(root).Trust(files)
	require.NoError(t, err)
	assert.True(t, Open(root).Check(files).Trusted)
	write(t, later, "evil\n", 0o755)
	assert.Equal(t, []string{"later/x.sh"}, Open(root).Check(files).Changed)
}

func TestLinksAreFollowed(t *testing.T) {
	root, files := project(t)
	outside := t.TempDir()
	write(t, filepath.Join(outside, "lib", "a.rego"), "package a\n", 0o644)
	require.NoError(t, os.Symlink(filepath.Join(outside, "lib"), filepath.Join(root, "policies")))
	require.NoError(t, os.Symlink("..", filepath.Join(outside, "lib", "up")))
	files[0].Uses = append(files[0].Uses, filepath.Join(root, "policies"))
	_, err := Open(root).Trust(files)
	require.NoError(t, err)
	assert.True(t, Open(root).Check(files).Trusted)

	write(t, filepath.Join(outside, "lib", "a.rego"), "package b\n", 0o644)
	target, err := filepath.EvalSymlinks(filepath.Join(outside, "lib", "a.rego"))
	require.NoError(t, err)
	assert.Equal(t, []string{filepath.ToSlash(target)}, Open(root).Check(files).Changed)
	write(t, filepath.Join(outside, "lib", "a.rego"), "package a\n", 0o644)
	assert.True(t, Open(root).Check(files).Trusted)

	require.NoError(t, os.Remove(filepath.Join(root, "policies")))
	require.NoError(t, os.Symlink(outside, filepath.Join(root, "policies")))
	assert.Contains(t, Open(root).Check(files).Changed, "policies")
}

func TestProjectThroughALink(t *testing.T) {
	root, files := project(t)
	_, err := Open(root).Trust(files)
	require.NoError(t, err)
	link := filepath.Join(t.TempDir(), "link")
	require.NoError(t, os.Symlink(root, link))
	for i := range files {
		files[i].Path = strings.Replace(files[i].Path, root, link, 1)
		for j := range files[i].Uses {
			files[i].Uses[j] = strings.Replace(files[i].Uses[j], root, link, 1)
		}
	}
	assert.Equal(t, Verdict{Trusted: true}, Open(link).Check(files))
}

func TestEnvironment(t *testing.T) {
	root, files := project(t)
	t.Setenv(Env, "all")
	assert.Equal(t, Verdict{Trusted: true, Why: "HOOKC_TRUST=all"}, Open(root).Check(files))
	t.Setenv(Env, "1")
	assert.Equal(t, Verdict{Never: true, Why: "this project was never trusted, and HOOKC_TRUST=1 does not say all" + advice}, Open(root).Check(files))
}

func TestDamagedRecordTrustsNothing(t *testing.T) {
	root, files := project(t)
	_, err := Open(root).Trust(files)
	require.NoError(t, err)
	dir, err := state.Open(root)
	require.NoError(t, err)
	damaged := Verdict{Never: true, Why: "the record of trust is damaged" + advice}
	for _, content := range []string{"", "{", `{"version":2,"files":[{"path":"x"}]}`, `{"version":1,"files":[]}`} {
		require.NoError(t, dir.Update(stateFile, func([]byte) ([]byte, error) { return []byte(content), nil }))
		assert.Equal(t, damaged, Open(root).Check(files), content)
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir.Path(), stateFile), []byte("garbage"), 0o600))
	assert.Equal(t, damaged, Open(root).Check(files))
	_, err = Open(root).Trust(files)
	require.NoError(t, err)
	assert.True(t, Open(root).Check(files).Trusted)
}

func TestNoPlaceForState(t *testing.T) {
	root, files := project(t)
	t.Setenv("XDG_STATE_HOME", filepath.Join(root, "hooks.yaml"))
	got := Open(root).Check(files)
	assert.Equal(t, []any{false, true}, []any{got.Trusted, got.Never})
	_, err := Open(root).Trust(files)
	require.Error(t, err)
	_, err = Open(root).Forget()
	require.Error(t, err)
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
