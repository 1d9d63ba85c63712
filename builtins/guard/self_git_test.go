package guard

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/policy"
)

// otherRepository makes repositories that say of the project's files what they like: their
// main is the weakened one, and their index and HEAD are the files as they are.
func otherRepository(t *testing.T, root string) string {
	t.Helper()
	other := filepath.Join(t.TempDir(), "e")
	cmd := exec.Command("sh", "-ec", `alias g="git -c user.name=n -c user.email=e@x"
g init -q -b main .
g add -A && g commit -qm x && g checkout -qb loose && echo weak > hooks.yaml && g commit -qam y && g checkout -q main
mkdir -p "$1" && cp -r . "$1" && cd "$1"
g checkout -qb as-is && g checkout -q main && echo weak > hooks.yaml && g commit -qam weak && g checkout -q as-is
cp -r .git ../bare && git --git-dir=../bare config core.worktree "$2"
cp -r . ../named && git -C ../named config core.worktree "$2" && ln -s "$2" ../link`, "sh", other, root)
	cmd.Dir = root
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
	return filepath.Dir(other)
}

// TestSelfGuardForeignGit: what a git command would change by another repository than that of
// the files is not asked of theirs: wherever the repository is named, hooks.yaml stays.
func TestSelfGuardForeignGit(t *testing.T) {
	root, g := selfProject(t)
	other := otherRepository(t, root)
	e := filepath.Join(other, "e", ".git")
	fields := func(text string) string {
		return strings.NewReplacer("ROOT", root, "OTHER", other, "EVIL", e).Replace(text)
	}
	changes := []string{"checkout -q main", "checkout -qf main", "switch -q main", "reset -q --hard main", "checkout -q main -- .", "restore -qs main .",
		"-c user.name=n -c user.email=e@x merge -q main", "read-tree -um main", "checkout-index -fa", "rebase -q main"}
	ways := []string{
		"git --git-dir=EVIL --work-tree=ROOT %s", "git --git-dir EVIL --work-tree ROOT %s", "git --git-dir=EVIL %s", "cd OTHER/e && git --work-tree=ROOT %s",
		"cd OTHER && git -C e --work-tree=ROOT %s", "cd src && git --git-dir=EVIL --work-tree=.. %s", "GIT_DIR=EVIL git %s", "GIT_DIR=EVIL GIT_WORK_TREE=ROOT git %s",
		"export GIT_DIR=EVIL; git %s", "export GIT_DIR=EVIL GIT_WORK_TREE=ROOT; cd /; git %s", "env GIT_DIR=EVIL git --work-tree=ROOT %s", "GIT_DIR=EVIL; export GIT_DIR; git %s", "set -a; GIT_DIR=EVIL; git %s",
		"declare -x GIT_DI''R=EVIL; git %s", "f() { git %s; }; GIT_DIR=EVIL f", "GIT_DIR=EVIL sh -c 'git %s'", "GIT_DIR=ROOT/.git; export GIT_DIR=EVIL; git %s",
		"cd OTHER/e && GIT_WORK_TREE=ROOT git %s", "cd OTHER/named && git %s", "git -C OTHER/named %s", "git --git-dir=OTHER/bare %s", "cd OTHER/bare && git %s",
		"git -C OTHER/bare %s", "git --git-dir=EVIL --work-tree=OTHER/link %s", "cd OTHER/link && GIT_DIR=EVIL git %s",
		"GIT_DIR=ROOT/.git true; GIT_DIR=EVIL git %s", "GIT_OBJECT_DIRECTORY=EVIL/objects GIT_INDEX_FILE=EVIL/index git %s", "GIT_COMMON_DIR=EVIL git %s",
		"git --git-dir=$X --work-tree=ROOT %s", "git --git-dir=EVIL --work-tree=$X %s", "git --no-replace-objects %s", "git --git-dir=EVIL -c core.worktree=ROOT %s",
	}
	asked := func(command string) policy.Result {
		return say(t, g, bashCall(command).Set(policy.FieldCwd, root).Set(policy.FieldProjectRoot, root))
	}
	before, err := os.ReadFile(filepath.Join(root, "hooks.yaml"))
	require.NoError(t, err)
	changed := 0
	for _, way := range ways {
		for _, change := range changes {
			command := fields(fmt.Sprintf(way, change))
			r := asked(command)
			assert.Equal(t, policy.Deny, r.Verdict, "%q: %v", command, r.Reasons)
		}
		// What git does is why.
		cmd := exec.Command("sh", "-c", fields(fmt.Sprintf(way, "checkout -qf main")))
		cmd.Dir = root
		_ = cmd.Run() // some ways lead nowhere
		if now, _ := os.ReadFile(filepath.Join(root, "hooks.yaml")); string(now) != string(before) {
			changed++
		}
		require.NoError(t, os.WriteFile(filepath.Join(root, "hooks.yaml"), before, 0o600))
	}
	assert.Greater(t, changed, len(ways)/2)
	for _, command := range []string{
		"git --git-dir=ROOT/.git --work-tree=ROOT checkout main", "git --git-dir=.git checkout main", "GIT_DIR=ROOT/.git git checkout main", "cd OTHER/e && git checkout main",
		"git --git-dir=EVIL log", "git --git-dir=EVIL --work-tree=ROOT status", "git --git-dir=EVIL --work-tree=OTHER/e checkout main", "cd OTHER/e && GIT_INDEX_FILE=x git read-tree main",
		"git --git-dir=EVIL --work-tree=ROOT stash list", "git --git-dir=EVIL --work-tree=ROOT diff", "git -C OTHER/e reset --hard main", "GIT_DIR=EVIL git fetch",
		"GIT_AUTHOR_NAME=x GIT_EDITOR=true git merge main", "cd .git && git --work-tree=.. checkout main",
	} {
		r := asked(fields(command))
		assert.Equal(t, policy.None, r.Verdict, "%q: %v", command, r.Reasons)
	}
	for _, variable := range []string{"GIT_DIR=" + e, "GIT_INDEX_FILE=" + e + "/index"} {
		name, value, _ := strings.Cut(variable, "=")
		t.Setenv(name, value)
		assert.Equal(t, policy.Deny, asked("git checkout main").Verdict, "%s of the agent's environment", name)
		os.Unsetenv(name)
	}
	tools := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(tools, "git"), []byte("#!/bin/sh\n"), 0o755))
	require.NoError(t, os.Symlink(tools, filepath.Join(root, "tools")))
	require.NoError(t, os.MkdirAll(filepath.Join(root, "bin2"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(root, "bin2", "git"), []byte("#!/bin/sh\n"), 0o755))
	t.Setenv("PATH", filepath.Join(root, "bin2")+":"+os.Getenv("PATH"))
	assert.Equal(t, policy.Deny, asked("git checkout loose").Verdict, "the project's git says that nothing changes")
}
