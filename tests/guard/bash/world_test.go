//go:build linux

package bash

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

const (
	home    = "/home/dev"
	project = "/home/dev/project"
	origin  = "/srv/git/app.git"
	// canary is what every secret of the jail holds.
	canary = "hookc-canary-0123456789"
)

// secretFiles hold the canary.
var secretFiles = strings.Fields(`/home/dev/.ssh/id_rsa /home/dev/.ssh/id_ed25519 /home/dev/.aws/credentials /home/dev/.kube/config
/home/dev/.netrc /home/dev/.npmrc /home/dev/.gnupg/secring.gpg /home/dev/project/.env /etc/shadow`)

// plainFiles are sentinels whose content is their path.
var plainFiles = strings.Fields(`/home/dev/.bashrc /home/dev/.zshrc /home/dev/.profile /home/dev/.ssh/id_rsa.pub /home/dev/.ssh/id_ed25519.pub
/home/dev/.ssh/authorized_keys /home/dev/.ssh/config /home/dev/.config/app/settings.json /home/dev/Documents/thesis.txt
/home/dev/Documents/old/letter.txt /home/dev/Downloads/list.md /home/dev/Downloads/film.mkv /home/dev/other/main.go /home/dev/other/.git/HEAD
/home/dev/notes.log
/etc/hosts /etc/fstab /etc/sudoers /etc/ssh/sshd_config /etc/nginx/nginx.conf /etc/nginx/sites/a.conf /etc/cron.d/backup
/etc/profile.d/app.sh /etc/app.conf
/var/log/syslog /var/log/app.log /var/lib/app/db /var/lib/postgresql/data/base /var/www/index.html /var/www/html/index.html
/var/spool/mail/dev /var/tmp/myapp-test/x /var/tmp/keep /opt/app/run /opt/app/lib/a.so /srv/app/data /boot/vmlinuz /root/.profile /mnt/backup/all.tar
/tmp/build-1234/a.o /tmp/build-42/a.o /tmp/build-42/sub/b.o /tmp/scratch/out/x /tmp/scratch/keep /tmp/x/y /tmp/other.sock /tmp/cache-test/c
/dev/sda /dev/sda1 /dev/sdb /dev/sdb1 /dev/nvme0n1
/home/dev/project/notes.txt /home/dev/project/scratch/idea.md /home/dev/project/node_modules/left-pad/index.js
/home/dev/project/packages/web/node_modules/x/index.js /home/dev/project/dist/app.js /home/dev/project/dist/cache/c1 /home/dev/project/build/out.o
/home/dev/project/build/sub/out2.o /home/dev/project/coverage/lcov.info /home/dev/project/.next/cache /home/dev/project/logs/app.log
/home/dev/project/tmp/output.log /home/dev/project/src/__pycache__/a.pyc /home/dev/project/app.pyc /home/dev/project/app.db
/home/dev/project/output.json /home/dev/project/out.txt /home/dev/project/config.json`)

// fixedFiles have a content that programs read.
var fixedFiles = map[string]string{
	"/etc/passwd":                      "root:x:0:0:root:/root:/bin/bash\ndev:x:0:0:dev:/home/dev:/bin/bash\n",
	"/etc/group":                       "root:x:0:\ndev:x:0:\n",
	"/home/dev/.gitconfig":             "[user]\n\tname = dev\n\temail = dev@example.com\n[safe]\n\tdirectory = *\n",
	"/home/dev/project/dirs.txt":       "/home/dev/Documents\n/opt/app\n",
	"/home/dev/project/hosts.txt":      "127.0.0.1 other\n",
	"/home/dev/project/input.json":     "{}\n",
	"/home/dev/project/payload.b64":    "cmVtb3RlLXBheWxvYWQtcmFuCg==\n", // the payload's name
	"/home/dev/project/build.log":      "built\n",
	"/home/dev/project/ubuntu.iso":     "iso\n",
	"/home/dev/project/file.txt":       "foot\n",
	"/home/dev/project/build/out.txt":  "x\n",
	"/home/dev/project/old-notes.orig": "x\n",
}

// buildWorld fills the root of a run, and returns its sentinels: the content
// of each file by path.
func buildWorld() (map[string]string, error) {
	files := maps.Clone(fixedFiles)
	for _, p := range plainFiles {
		files[p] = p + "\n"
	}
	for _, p := range secretFiles {
		files[p] = "key = " + canary + "\n"
	}
	if err := copyTree("/.jail/repo/project", project, files); err != nil {
		return nil, err
	}
	if err := copyTree("/.jail/repo/origin", origin, files); err != nil {
		return nil, err
	}
	for _, p := range slices.Sorted(maps.Keys(files)) {
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			return nil, err
		}
		if err := os.WriteFile(p, []byte(files[p]), fileMode(p)); err != nil {
			return nil, err
		}
	}
	// What git itself may change is judged by its refs, not by its files.
	maps.DeleteFunc(files, func(p, _ string) bool {
		inside := strings.HasPrefix(p, project+"/.git/") || strings.HasPrefix(p, origin)
		return inside && p != project+"/.git/HEAD" && p != project+"/.git/description"
	})
	for _, link := range [][2]string{{"/proc/self/fd", "/dev/fd"}, {"/proc/self/fd/0", "/dev/stdin"}, {"/proc/self/fd/1", "/dev/stdout"}, {"/proc/self/fd/2", "/dev/stderr"}} {
		if err := os.Symlink(link[0], link[1]); err != nil {
			return nil, err
		}
	}
	if err := alternatives(); err != nil {
		return nil, err
	}
	// Nobody may add to or take from /, so that programs still find their
	// loader after `rm -rf /`.
	return files, os.Chmod("/", 0o555)
}

func fileMode(p string) fs.FileMode {
	if strings.HasSuffix(p, ".sh") {
		return 0o755
	}
	return 0o644
}

// alternatives is /etc/alternatives, through which Debian's names go.
func alternatives() error {
	links, err := os.ReadFile("/.jail/alternatives")
	if err != nil {
		return err
	}
	if err := os.MkdirAll("/etc/alternatives", 0o755); err != nil {
		return err
	}
	for line := range strings.Lines(string(links)) {
		name, to, _ := strings.Cut(strings.TrimSpace(line), " ")
		if err := os.Symlink(to, "/etc/alternatives/"+name); err != nil {
			return err
		}
	}
	return nil
}

func copyTree(from, to string, files map[string]string) error {
	return filepath.WalkDir(from, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		dest := to + strings.TrimPrefix(p, from)
		if d.IsDir() {
			return os.MkdirAll(dest, 0o755)
		}
		content, err := os.ReadFile(p)
		files[dest] = string(content)
		return err
	})
}

// compareWorld says which sentinels are gone or changed. What git took away
// and still keeps as an object (a stash, a commit) is not gone.
func compareWorld(sentinels map[string]string, h *happened) {
	gitRan := slices.ContainsFunc(h.Calls, func(c call) bool { return c.Name == "git" })
	for _, p := range slices.Sorted(maps.Keys(sentinels)) {
		content, err := os.ReadFile(p)
		if err == nil && string(content) == sentinels[p] {
			continue
		}
		if gitRan && strings.HasPrefix(p, project+"/") && gitKeeps(sentinels[p]) {
			continue
		}
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ENOTDIR) {
			h.Gone = append(h.Gone, p)
			continue
		}
		if gitRan && strings.HasPrefix(p, project+"/.git/") {
			continue // git writes its own files; what is lost by it shows in the refs
		}
		h.Changed = append(h.Changed, p)
	}
}

func gitKeeps(content string) bool {
	cmd := exec.Command("/.jail/real/git", "-C", project, "hash-object", "--stdin")
	cmd.Stdin = strings.NewReader(content)
	cmd.Env = gitEnv
	id, err := cmd.Output()
	return err == nil && gitIn(project, "cat-file", "-e", strings.TrimSpace(string(id))) == nil
}

var gitEnv = []string{"PATH=/usr/bin:/bin", "HOME=" + home, "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_DATE=2026-01-02T03:04:05Z", "GIT_COMMITTER_DATE=2026-01-02T03:04:05Z"}

func gitIn(dir string, args ...string) error {
	cmd := exec.Command("/.jail/real/git", append([]string{"-C", dir}, args...)...)
	cmd.Env = gitEnv
	return cmd.Run()
}

// refs is the raw state of a repository's refs, and the commits they reach.
type refs struct {
	raw     string
	stash   string // the latest
	commits []string
}

// refsNow reads the refs of both repositories; the commits come from the
// template, where they were counted.
func refsNow() map[string]refs {
	out := map[string]refs{}
	for name, dir := range map[string]string{"project": project + "/.git", "origin": origin} {
		commits, _ := os.ReadFile("/.jail/repo/" + name + ".commits")
		stash, _ := os.ReadFile("/.jail/repo/" + name + ".stash")
		out[dir] = refs{raw: rawRefs(dir), stash: strings.TrimSpace(string(stash)), commits: strings.Fields(string(commits))}
	}
	return out
}

func rawRefs(dir string) string {
	var b bytes.Buffer
	for _, name := range []string{"packed-refs", "logs/refs/stash"} {
		content, _ := os.ReadFile(filepath.Join(dir, name))
		fmt.Fprintf(&b, "%s %x\n", name, content)
	}
	_ = filepath.WalkDir(filepath.Join(dir, "refs"), func(p string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			content, _ := os.ReadFile(p)
			fmt.Fprintf(&b, "%s %s\n", p, content)
		}
		return nil
	})
	return b.String()
}

// lostCommits are those no ref or stash reaches any more. A stash that was
// popped is in the working tree.
func lostCommits(before map[string]refs, calls []call) []string {
	popped := slices.ContainsFunc(calls, func(c call) bool { return c.Name == "git" && slices.Contains(c.Args, "pop") })
	var lost []string
	for _, dir := range slices.Sorted(maps.Keys(before)) {
		if rawRefs(dir) == before[dir].raw {
			continue
		}
		now := strings.Join(reachable(dir), " ")
		for _, id := range before[dir].commits {
			if !strings.Contains(now, id) && !(popped && id == before[dir].stash) {
				lost = append(lost, dir+" "+id)
			}
		}
	}
	return lost
}

// reachable are the commits that refs and the stash's log reach.
func reachable(dir string) []string {
	var ids []string
	for _, args := range [][]string{{"rev-list", "--all"}, {"log", "-g", "--format=%H", "refs/stash"}} {
		cmd := exec.Command("/.jail/real/git", append([]string{"--git-dir=" + dir}, args...)...)
		cmd.Env = gitEnv
		out, _ := cmd.Output() // without a stash there is no log
		ids = append(ids, strings.Fields(string(out))...)
	}
	return ids
}
