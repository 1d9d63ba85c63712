//go:build linux

package bash

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// repoScript makes the project's repository, with work that is not committed,
// stashes, unmerged branches, and an origin to which others have pushed.
const repoScript = `set -e
export HOME="$PWD" GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_DATE=2026-01-02T03:04:05Z GIT_COMMITTER_DATE=2026-01-02T03:04:05Z
git() { /usr/bin/git -c user.name=dev -c user.email=dev@example.com -c protocol.file.allow=always "$@"; }
git init -q --template= -b main project
cd project
mkdir -p src test scripts docs packages/web migrations k8s chart
for f in README.md Makefile a.txt b.txt install.sh requirements.txt script.py src/app.ts src/old.ts src/util.ts src/app.test.ts test/a.ts \
  scripts/deploy.sh scripts/clean.sh scripts/rm-rf-guard.sh docs/index.md packages/web/index.ts migrations/1.sql k8s/dev.yaml \
  config.example.json package-lock.json .env.example; do echo "# $f" >$f; done
echo 'echo building' >scripts/build.sh
chmod +x install.sh scripts/*.sh
echo '{"name":"app","version":"1.0.0","scripts":{"clean":"rm -rf dist"}}' >package.json
printf '%s\n' node_modules dist build coverage '*.log' '*.pyc' .env .next tmp logs >.gitignore
git add -A && git commit -qm one
echo two >>src/util.ts && git commit -qam two && git branch merged-branch && git tag v1.0.0
echo three >>src/old.ts && git commit -qam three && git tag v1.1.0
for b in old-branch feature/login feature feature-x hot-fix dev wip; do
  git checkout -q -b $b main && echo $b >branch.txt && git add branch.txt && git commit -qm $b
done
git checkout -q main
git clone -q --bare --template= . ../origin
git remote add origin /srv/git/app.git
git config remote.origin.push HEAD
for b in feature/login old-branch; do
  git update-ref refs/heads/$b $(git commit-tree -p $b -m local $b^{tree})
done
git -c remote.origin.url=../origin fetch -q ../origin '+refs/heads/*:refs/remotes/origin/*'
echo four >>docs/index.md && git commit -qam four && git branch backup
for s in 1 2; do echo stash$s >>src/util.ts && git stash push -q -m s$s; done
(cd ../origin
for b in main feature/login old-branch; do
  git update-ref refs/heads/$b $(git commit-tree -p $b -m colleague $b^{tree})
done)
echo 'work that no commit holds' >>src/app.ts
echo 'more of it' >>README.md
git repack -adq; git pack-refs --all
git rev-parse refs/stash >../project.stash
{ git rev-list --branches --tags --remotes; git log -g --format=%H refs/stash; } >../project.commits
cd ../origin && git repack -adq; git pack-refs --all; git rev-list --all >../origin.commits
rm -rf hooks info ../project/.git/hooks ../project/.git/info
`

// buildRepo makes the repositories that every run gets a copy of.
func buildRepo(dir string) error {
	cmd := exec.Command("/usr/bin/bash", "-c", repoScript)
	cmd.Dir = dir
	cmd.Env = []string{"PATH=/usr/bin:/bin"}
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("repositories: %w: %s", err, out)
	}
	return writeAlternatives()
}

// writeAlternatives keeps the links of /etc/alternatives for the runs.
func writeAlternatives() error {
	var b strings.Builder
	links, _ := filepath.Glob("/etc/alternatives/*")
	for _, link := range links {
		if to, err := os.Readlink(link); err == nil {
			fmt.Fprintln(&b, filepath.Base(link), to)
		}
	}
	return os.WriteFile(base+"/jail/alternatives", []byte(b.String()), 0o644)
}
