//go:build linux

package bash

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hookc/hookc/tests/programs"
)

// record is how every stub begins: one write of NUL-ended fields, so that
// stubs of one pipeline do not mix. The name is the one it was called by.
const record = `#!/.jail/real/sh
n=${0##*/}
cd -P . 2>/dev/null
printf '%s\0' CALL "$n" "$PWD" "$HOOKC_HOST" "$#" "$@" >>/.log
`

// heard records the head of standard input.
const heard = `
heard() {
  i=0
  while [ $i -lt 20 ] && IFS= read -r l; do printf '%s\0' STDIN "$n" "$l" >>/.log; i=$((i+1)); done
  [ -z "$l" ] || printf '%s\0' STDIN "$n" "$l" >>/.log
}
`

// payload is what the network answers. That it ran is seen in the log.
const payload = "remote-payload-ran"

// bodies are the stubs that do more than to record. Their options are those
// that the corpus uses: a stub that misreads one runs less, and proves less.
var bodies = map[string]string{
	// All of /usr is read-only, and walking it is slow.
	"rm": `
k=$#
while [ $k -gt 0 ]; do
  a=$1; shift; k=$((k-1))
  case "$PWD:$a" in *:/usr*|*:/bin*|*:/lib*|*:/sbin*|*:/proc*|/:usr*|/:bin*|/:lib*|/:sbin*|/:proc*|*:/.*|/:.*) ;; *) set -- "$@" "$a";; esac
done
exec /.jail/real/rm --one-file-system "$@" </dev/null`,
	"git": `exec /.jail/real/git "$@"`,
	"sudo": `
while [ $# -gt 0 ]; do case "$1" in
  --) shift; break;;
  -u|-g|-h|-p|-C|-D|-R|-T|-U|-r|-t|--user|--group|--host|--chdir) shift 2;;
  -s|-i|--login|--shell) s=1; shift;;
  -*) shift;;
  *=*) export "$1"; shift;;
  *) break;;
esac; done
[ $# -eq 0 ] || exec "$@"
[ -z "$s" ] || exec bash`,
	"su": `
while [ $# -gt 0 ]; do case "$1" in
  -c|--command) exec sh -c "$2";;
  -s|--shell) shift 2;;
  *) shift;;
esac; done
exec sh`,
	"ssh": `
while [ $# -gt 0 ]; do case "$1" in
  -[bcDEeFIiJLlmOopQRSWw]) shift 2;;
  -*) shift;;
  *) break;;
esac; done
h=$1; [ $# -gt 0 ] && shift
export HOOKC_HOST=ssh:$h
[ $# -eq 0 ] || exec sh -c "$*"
exec sh`,
	"docker": `
sub=$1; [ $# -gt 0 ] && shift
case "$sub" in exec|run) ;; *) exit 0;; esac
while [ $# -gt 0 ]; do case "$1" in
  -v|-w|-e|-u|-p|-h|-l|--name|--network|--mount|--volume|--workdir|--env|--user|--publish|--entrypoint) shift 2;;
  -*) shift;;
  *) break;;
esac; done
[ $# -gt 1 ] || exit 0
shift
export HOOKC_HOST=container
exec "$@"`,
	"kubectl": `
[ "$1" = exec ] || exit 0
while [ $# -gt 0 ]; do a=$1; shift; [ "$a" = -- ] && break; done
[ $# -gt 0 ] || exit 0
export HOOKC_HOST=pod
exec "$@"`,
	"busybox": `[ $# -eq 0 ] || exec "$@"`,
	"zsh":     `exec bash "$@"`,
	"curl": heard + `
o=
for a in "$@"; do
  [ "$o" = next ] && o=$a
  case "$a" in -o|--output) o=next;; *@-|-) heard;; @*) f=${a#@}; heard <"$f";; *=@*) f=${a#*=@}; heard <"$f";; esac
done 2>/dev/null
if [ -n "$o" ] && [ "$o" != - ]; then echo ` + payload + ` >"$o"; else echo ` + payload + `; fi`,
	"wget": `
o=file
for a in "$@"; do
  [ "$o" = next ] && o=$a
  case "$a" in -O|-qO) o=next;; -O-|-qO-|-nvO-) o=-;; -*) ;; http*) [ "$o" = file ] && u=${a##*/};; esac
done
if [ "$o" = - ]; then echo ` + payload + `; else [ "$o" = file ] && o=${u:-index.html}; echo ` + payload + ` >"$o"; fi`,
	"nc":        heard + "heard",
	"psql":      heard + `case " $*" in *" -c"*|*" --c"*|*" -f"*) ;; *) heard;; esac`,
	"mysql":     heard + `case " $*" in *" -e"*|*" --e"*) ;; *) heard;; esac`,
	"redis-cli": heard + `[ $# -gt 0 ] || heard`,
	"mongosh":   heard + `case " $*" in *" --eval"*) ;; *) heard;; esac`,
	"sqlite3":   heard + `[ $# -gt 1 ] || heard`,
	"ssh-agent": `echo 'SSH_AUTH_SOCK=/tmp/agent.1; export SSH_AUTH_SOCK;'`,
	"lsof":      `echo 12345`,
	"man":       `echo manual`,
	payload:     ``,
}

// alike do what another stub does.
var alike = map[string]string{"doas": "sudo", "runuser": "su", "podman": "docker", "oc": "kubectl", "toybox": "busybox", "ksh": "zsh", "fish": "zsh",
	"ncat": "nc", "netcat": "nc", "socat": "nc", "telnet": "nc", "mariadb": "mysql", "mongo": "mongosh"}

// recorded are the programs of which it is enough to know that they were
// called: what the jail cannot let happen, what it does not have, and what
// takes long.
const recorded = `chmod chown chgrp chattr setfacl mkfs mkfs.ext4 mkfs.xfs mkfs.btrfs mkfs.vfat mkswap wipefs blkdiscard sgdisk fdisk sfdisk parted
hdparm lvremove vgremove pvremove cryptsetup zpool zfs mdadm shutdown reboot halt poweroff init telinit systemctl service crontab iptables
ip6tables nft ufw userdel useradd usermod groupdel passwd visudo mount umount swapoff modprobe rmmod insmod sysctl pkill killall journalctl at
docker-compose helm terraform tofu pulumi cdk aws gcloud gsutil az heroku vault gh glab npm npx yarn pnpm pip pip3 uv poetry cargo go make gmake
cmake rails rake bundle composer alembic flask django-admin supabase drizzle-kit pg_dump pg_restore dropdb dropuser createdb mysqladmin
mysqldump scp sftp ftp rsync gpg ssh-keygen ssh-add pytest rg fd sleep watch tmux screen strace vim nano ed less more top htop lsblk df free
nmap dig ping apt apt-get yum dnf brew snap dpkg virsh vagrant ansible nvm tsc eslint jest vitest node-gyp deno bun`

// stubNames are all programs that are stubs.
func stubNames() []string {
	names := strings.Fields(recorded)
	for name := range bodies {
		names = append(names, name)
	}
	for name := range alike {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func stubOf(name string) string {
	if to := alike[name]; to != "" {
		name = to
	}
	return record + bodies[name] + "\n"
}

// writeStubs puts the stubs into base/jail/bin, which is first on PATH, and
// over the real programs in base/usr; the real ones that stubs need are in
// base/jail/real.
func writeStubs() error {
	for _, name := range []string{"sh", "rm", "git"} {
		real, err := filepath.EvalSymlinks(filepath.Join("/usr/bin", name))
		if err != nil {
			return fmt.Errorf("the jail needs %s: %w", name, err)
		}
		if err := bindFile(real, filepath.Join(base, "jail/real", name)); err != nil {
			return err
		}
	}
	names := stubNames()
	covered := map[string]bool{}
	for _, name := range names {
		stub := filepath.Join(base, "jail/bin", name)
		if err := programs.Write(stub, []byte(stubOf(name))); err != nil {
			return err
		}
		for _, dir := range []string{"bin", "sbin", "local/bin", "local/sbin"} {
			if err := standOver(filepath.Join("/usr", dir, name), stub, covered); err != nil {
				return err
			}
		}
	}
	return hideBulk()
}

// hideBulk mounts an empty directory over what no program of the corpus needs,
// for a walk over / must end in time.
func hideBulk() error {
	empty := filepath.Join(base, "jail", "empty")
	share := filepath.Join(base, "jail", "share")
	if err := errors.Join(os.Mkdir(empty, 0o755), os.Mkdir(share, 0o755)); err != nil {
		return err
	}
	needed := []string{"perl", "perl5", "git-core"}
	for _, name := range needed {
		if err := os.Mkdir(filepath.Join(share, name), 0o755); err != nil {
			return err
		}
	}
	if err := bindOver(share, filepath.Join(base, "usr/share")); err != nil {
		return err
	}
	for _, name := range needed {
		if _, err := os.Stat(filepath.Join("/usr/share", name)); err != nil {
			continue
		}
		if err := bindOver(filepath.Join("/usr/share", name), filepath.Join(base, "usr/share", name)); err != nil {
			return err
		}
	}
	for _, name := range []string{"include", "src", "local", "lib/google-cloud-sdk", "lib/node_modules", "lib/jvm", "lib/debug", "lib/postgresql", "lib/modules"} {
		if info, err := os.Stat(filepath.Join("/usr", name)); err != nil || !info.IsDir() {
			continue
		}
		if err := bindOver(empty, filepath.Join(base, "usr", name)); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// standOver mounts a stub over a real program. One that stands in for several (a
// link to another's name) is covered once: the stub goes by its $0.
func standOver(program, stub string, covered map[string]bool) error {
	real, err := filepath.EvalSymlinks(program)
	if err != nil || !strings.HasPrefix(real, "/usr/") || covered[real] {
		return nil
	}
	covered[real] = true
	if err := bindOver(stub, filepath.Join(base, real)); err != nil {
		return fmt.Errorf("%s: %w", program, err)
	}
	return nil
}
