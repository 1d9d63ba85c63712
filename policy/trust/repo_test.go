package trust

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/policy"
)

func gitIn(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=t", "-c", "user.email=t@example.com"}, args...)...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
}

// repository is a project in git with a policy, in its root or a folder, and a worktree.
func repository(t *testing.T, at string) (main, worktree string) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	main, worktree = filepath.Join(dir, "main"), filepath.Join(dir, "worktree")
	write(t, filepath.Join(main, at, "hooks.yaml"), "stop: [{command: make lint}]\n", 0o644)
	gitIn(t, main, "init", "-q")
	gitIn(t, main, "add", "-A")
	gitIn(t, main, "commit", "-qm", "x")
	gitIn(t, main, "worktree", "add", "-q", worktree)
	return main, worktree
}

func policyAt(root string) []Part {
	return partOf(root, []policy.SourceFile{{Path: filepath.Join(root, "hooks.yaml"), Tier: policy.TierProject, Format: "hooks.yaml"}})
}

// TestGitFilesBorrowNoConsent: what lies in a folder says nowhere that it is a worktree of a
// trusted repository: only what git keeps in that repository does.
func TestGitFilesBorrowNoConsent(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	t.Setenv(Env, "")
	good, worktree := repository(t, "")
	_, err := Open(good).Trust(policyAt(good))
	require.NoError(t, err)
	bare := filepath.Join(t.TempDir(), "bare.git")
	gitIn(t, good, "clone", "-q", "--bare", ".", bare)
	for name, own := range map[string]string{"own": ".g", "as git has it": ".g/worktrees/evil", "through a link": "c/worktrees/evil", "another's": "w"} {
		for _, common := range []string{filepath.Join(good, ".git"), good, filepath.Join(worktree, ".git"), "../..", filepath.Join("..", "..", "c"), bare} {
			evil := t.TempDir()
			write(t, filepath.Join(evil, "hooks.yaml"), "stop: [{command: make lint}]\n", 0o644)
			require.NoError(t, os.MkdirAll(filepath.Join(evil, ".g", "worktrees"), 0o755))
			require.NoError(t, os.Symlink(filepath.Join(good, ".git"), filepath.Join(evil, "c")))
			require.NoError(t, os.Symlink(filepath.Join(good, ".git", "worktrees", "worktree"), filepath.Join(evil, "w")))
			if name != "through a link" && name != "another's" {
				write(t, filepath.Join(evil, own, "commondir"), common+"\n", 0o644)
				write(t, filepath.Join(evil, own, "gitdir"), filepath.Join(evil, ".git")+"\n", 0o644)
			}
			for _, at := range []string{own, filepath.Join(evil, own)} {
				write(t, filepath.Join(evil, ".git"), "gitdir: "+at+"\n", 0o644)
				assert.Equal(t, Never, Open(evil).Consult("", policyAt(evil)[0].Inputs).Kind, "%s %s", at, common)
				_, err := Open(evil).Forget()
				require.NoError(t, err)
				kind, _ := standing(good, policyAt(good))
				require.Equal(t, Fits, kind, "%s %s took the consent of another", at, common)
			}
		}
	}
}

// TestGitFilesTakeNoConsent: whatever becomes of the .git of a root that had consent, of its
// own or of its repository, it has that consent, until somebody withdraws it.
func TestGitFilesTakeNoConsent(t *testing.T) {
	tamper := map[string]func(t *testing.T, root, dotgit string){
		"gone": func(t *testing.T, root, dotgit string) {},
		"another line": func(t *testing.T, root, dotgit string) {
			write(t, dotgit, "gitdir: /main/.git/worktrees/worktree\n#", 0o644)
		},
		"to nowhere":    func(t *testing.T, root, dotgit string) { write(t, dotgit, "gitdir: /nowhere\n", 0o644) },
		"a repository":  func(t *testing.T, root, dotgit string) { gitIn(t, filepath.Dir(dotgit), "init", "-q") },
		"one in it":     func(t *testing.T, root, dotgit string) { gitIn(t, root, "init", "-q") },
		"of nobody's":   func(t *testing.T, root, dotgit string) { moved(t, dotgit, false) },
		"of a trusted":  func(t *testing.T, root, dotgit string) { moved(t, dotgit, true) },
		"no text":       func(t *testing.T, root, dotgit string) { write(t, dotgit, "", 0o644) },
		"a link to one": func(t *testing.T, root, dotgit string) { require.NoError(t, os.Symlink(t.TempDir(), dotgit)) },
	}
	for name, tamper := range tamper {
		for _, at := range []string{"", "pkg"} {
			if at != "" && name != "gone" && name != "one in it" && name != "of a trusted" {
				continue // as the root above it
			}
			for _, c := range []string{"main", "its worktree", "a worktree"} {
				t.Run(name+"/"+c+"/"+at, func(t *testing.T) {
					t.Setenv("XDG_STATE_HOME", t.TempDir())
					t.Setenv("HOME", t.TempDir())
					t.Setenv(Env, "")
					main, root := repository(t, at)
					trusted, dotgit := filepath.Join(main, at), filepath.Join(root, ".git")
					switch c {
					case "main":
						root, dotgit = main, filepath.Join(main, ".git")
					case "a worktree":
						trusted = filepath.Join(root, at)
					}
					root = filepath.Join(root, at)
					_, err := Open(trusted).Trust(policyAt(trusted))
					require.NoError(t, err)
					parts := policyAt(root)
					kind, _ := standing(root, parts)
					require.Equal(t, Fits, kind)

					require.NoError(t, os.RemoveAll(dotgit))
					tamper(t, root, dotgit)
					kind, _ = standing(root, parts)
					assert.Equal(t, Fits, kind)
					assert.Contains(t, Projects(filepath.Join(root, "deep")), root)
					write(t, filepath.Join(root, "hooks.yaml"), "\n", 0o644)
					kind, _ = standing(root, parts)
					assert.Equal(t, Differs, kind, "what was trusted decides")

					// A person's word counts where it is given.
					_, err = Open(root).Trust(parts)
					require.NoError(t, err)
					kind, _ = standing(root, parts)
					assert.Equal(t, Fits, kind)
					had, err := Open(root).Forget()
					require.NoError(t, err)
					assert.True(t, had)
					kind, _ = standing(root, parts)
					assert.Equal(t, Never, kind)
				})
			}
		}
	}
}

// moved makes a folder a worktree of another repository, by git's own files.
func moved(t *testing.T, dotgit string, trust bool) {
	t.Helper()
	main, worktree := repository(t, "")
	if trust {
		write(t, filepath.Join(main, "hooks.yaml"), "\n", 0o644)
		_, err := Open(main).Trust(policyAt(main))
		require.NoError(t, err)
	}
	text, err := os.ReadFile(filepath.Join(worktree, ".git"))
	require.NoError(t, err)
	write(t, dotgit, string(text), 0o644)
	write(t, filepath.Join(main, ".git", "worktrees", "worktree", "gitdir"), dotgit+"\n", 0o644)
}

// TestForgetCountsForWorktrees: consent that is withdrawn in the repository is withdrawn in
// its worktrees, which remember whose they are.
func TestForgetCountsForWorktrees(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	t.Setenv(Env, "")
	main, worktree := repository(t, "")
	for range 2 {
		_, err := Open(main).Trust(policyAt(main))
		require.NoError(t, err)
		kind, _ := standing(worktree, policyAt(worktree))
		assert.Equal(t, Fits, kind)
		_, err = Open(main).Forget()
		require.NoError(t, err)
		kind, _ = standing(worktree, policyAt(worktree))
		assert.Equal(t, Never, kind)
	}
}
