//go:build linux

// Package bash asks the real shell: it runs command lines with bash in a jail
// of namespaces, and compares what happened with what builtins.shell.Parse says
// they would do.
//
// The jail has no network, nothing of the machine but a read-only /usr, and a
// home, a project and a system of sentinel files that live in memory. Programs
// that matter are stubs that write down their arguments.
package bash

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/hookc/hookc/tests/programs"
	"golang.org/x/sys/unix"
)

// job is a command line to run, and where.
type job struct {
	Shell string // bash or sh
	Line  string
	Cwd   string
	// Record makes rm a function of bash that writes down its arguments and deletes
	// nothing: no program starts, which a stub needs two of.
	Record bool
}

// happened is what a job did.
type happened struct {
	Calls []call `json:",omitempty"`
	// Gone and Changed are the sentinels that were deleted or have other
	// content.
	Gone    []string `json:",omitempty"`
	Changed []string `json:",omitempty"`
	// Lost are commits that no ref reaches any more, by repository.
	Lost []string `json:",omitempty"`
	// Shown is true when a secret stands in what the line printed.
	Shown   bool   `json:",omitempty"`
	Output  string `json:",omitempty"`
	Late    bool   `json:",omitempty"` // stopped by the clock
	Trouble string `json:",omitempty"` // the jail's own failure
}

const (
	roleVar    = "HOOKC_TEST_JAIL_ROLE"
	roleKeeper = "keeper"
	roleRun    = "run"
	// base is where a keeper builds what all its runs share; any directory
	// that is always there does, for the mount hides it in the jail only.
	base     = "/tmp"
	lineTime = 2 * time.Second
	// mostOfLine are the processes a line may have, mostOfRun what it shares
	// with the run: a line that forks without end leaves the run its threads.
	mostOfLine, mostOfRun = 96, 160
)

// init turns this test binary into a keeper or a run before tests start.
func init() {
	var err error
	switch os.Getenv(roleVar) {
	case "":
		return
	case roleKeeper:
		err = keep(os.Stdin, os.Stdout)
	case roleRun:
		err = runJob()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// jail is a keeper: a process in namespaces of its own that starts every job
// in a fresh set of mounts and processes. It is for one goroutine.
type jail struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *json.Decoder
	err *strings.Builder
}

// newJail starts a keeper; the error says that the machine has no namespaces
// for us, or that the jail could not be built.
func newJail() (*jail, error) {
	uid, gid := os.Getuid(), os.Getgid()
	if uid == 0 {
		// Nobody's ids: root of the jail owns nothing outside of it, and the
		// limit of processes holds for it.
		uid, gid = 65534, 65534
	}
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = []string{roleVar + "=" + roleKeeper}
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS | syscall.CLONE_NEWPID | syscall.CLONE_NEWNET | syscall.CLONE_NEWIPC | syscall.CLONE_NEWUTS,
		UidMappings: []syscall.SysProcIDMap{{HostID: uid, Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{HostID: gid, Size: 1}},
		Credential:  &syscall.Credential{NoSetGroups: true},
		Pdeathsig:   syscall.SIGKILL,
	}
	j := &jail{cmd: cmd, err: &strings.Builder{}}
	cmd.Stderr = j.err
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	j.in, j.out = in, json.NewDecoder(out)
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("namespaces: %w", err)
	}
	var ready happened
	if err := j.out.Decode(&ready); err != nil {
		j.close()
		return nil, fmt.Errorf("the jail was not built: %w: %s", err, j.err)
	}
	return j, nil
}

// do runs a job.
func (j *jail) do(what job) (happened, error) {
	var h happened
	if err := json.NewEncoder(j.in).Encode(what); err != nil {
		return h, err
	}
	if err := j.out.Decode(&h); err != nil {
		return h, fmt.Errorf("%w: %s", err, j.err)
	}
	if h.Trouble != "" {
		return h, errors.New(h.Trouble)
	}
	return h, nil
}

func (j *jail) close() {
	j.in.Close()
	_ = j.cmd.Process.Kill() // all processes of the jail end with it
	_ = j.cmd.Wait()
}

// keep is the keeper's life: it builds the shared part, and answers jobs.
func keep(in io.Reader, out io.Writer) error {
	if err := buildBase(); err != nil {
		return err
	}
	answers := json.NewEncoder(out)
	if err := answers.Encode(happened{}); err != nil {
		return err
	}
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return nil // the test is over
		}
		var h happened
		cmd := exec.Command(base + "/jail/self")
		cmd.Env = []string{roleVar + "=" + roleRun, "GORACE=atexit_sleep_ms=0"} // the race detector would wait a second
		cmd.Stdin = strings.NewReader(string(line))
		cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS | syscall.CLONE_NEWPID, Pdeathsig: syscall.SIGKILL}
		var said strings.Builder
		cmd.Stderr = &said
		answer, err := cmd.Output()
		if err == nil {
			err = json.Unmarshal(answer, &h)
		}
		if err != nil {
			h = happened{Trouble: fmt.Sprintf("%v: %s", err, said.String())}
		}
		if err := answers.Encode(h); err != nil {
			return err
		}
	}
}

// buildBase mounts what runs share below base: usr (read-only, stubs over the
// real programs), jail (stubs, the real programs behind them, this binary) and
// log, the one writable place.
func buildBase() error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("private mounts: %w", err)
	}
	if err := unix.Mount("tmpfs", base, "tmpfs", unix.MS_NOSUID, "size=160m,mode=755"); err != nil {
		return fmt.Errorf("tmpfs: %w", err)
	}
	for _, dir := range []string{"usr", "jail/bin", "jail/real", "jail/repo", "log", "root"} {
		if err := os.MkdirAll(filepath.Join(base, dir), 0o755); err != nil {
			return err
		}
	}
	if err := unix.Mount("tmpfs", base+"/log", "tmpfs", unix.MS_NOSUID, "size=16m,mode=755"); err != nil {
		return err
	}
	self, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		return err
	}
	if err := programs.Write(base+"/jail/self", self); err != nil {
		return err
	}
	if err := unix.Mount("/usr", base+"/usr", "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
		return fmt.Errorf("/usr: %w", err)
	}
	if err := writeStubs(); err != nil {
		return err
	}
	if err := buildRepo(base + "/jail/repo"); err != nil {
		return err
	}
	for _, dir := range []string{"usr", "jail"} {
		if dir == "jail" {
			if err := unix.Mount(base+"/jail", base+"/jail", "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
				return err
			}
		}
		attr := &unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY | unix.MOUNT_ATTR_NOSUID}
		if err := unix.MountSetattr(unix.AT_FDCWD, filepath.Join(base, dir), unix.AT_RECURSIVE, attr); err != nil {
			return fmt.Errorf("read-only %s: %w", dir, err)
		}
	}
	return nil
}

func bindFile(from, to string) error {
	if err := programs.Write(to, nil); err != nil {
		return err
	}
	if err := unix.Mount(from, to, "", unix.MS_BIND, ""); err != nil {
		return fmt.Errorf("bind %s: %w", from, err)
	}
	return nil
}

// enter builds the run's own root, and makes it the only one there is.
func enter() error {
	root := base + "/root"
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return err
	}
	if err := unix.Mount("tmpfs", root, "tmpfs", unix.MS_NOSUID, "size=24m,nr_inodes=4096,mode=755"); err != nil {
		return err
	}
	for _, dir := range []string{"usr", "proc", "dev", ".jail", ".old"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
			return err
		}
	}
	for from, to := range map[string]string{base + "/usr": root + "/usr", base + "/jail": root + "/.jail"} {
		if err := unix.Mount(from, to, "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
			return fmt.Errorf("%s: %w", to, err)
		}
	}
	for _, name := range []string{"null", "zero", "full", "random", "urandom"} {
		if err := bindFile("/dev/"+name, root+"/dev/"+name); err != nil {
			return err
		}
	}
	// Bound as a file: what deletes all of / cannot unlink it.
	if err := os.WriteFile(base+"/log/log", nil, 0o644); err != nil {
		return err
	}
	if err := bindFile(base+"/log/log", root+"/.log"); err != nil {
		return err
	}
	for _, name := range []string{"bin", "sbin", "lib", "lib32", "lib64", "libx32"} {
		if err := likeOutside(name, root); err != nil {
			return err
		}
	}
	if err := unix.Mount("proc", root+"/proc", "proc", unix.MS_RDONLY|unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, ""); err != nil {
		return fmt.Errorf("proc: %w", err)
	}
	if err := unix.PivotRoot(root, root+"/.old"); err != nil {
		return fmt.Errorf("pivot_root: %w", err)
	}
	if err := os.Chdir("/"); err != nil {
		return err
	}
	if err := unix.Unmount("/.old", unix.MNT_DETACH); err != nil {
		return err
	}
	return os.Remove("/.old")
}

// likeOutside makes /bin and its like what they are outside: links into /usr,
// or directories of their own.
func likeOutside(name, root string) error {
	if to, err := os.Readlink("/" + name); err == nil {
		return os.Symlink(to, filepath.Join(root, name))
	}
	if _, err := os.Stat("/" + name); err != nil {
		return nil
	}
	if err := os.Mkdir(filepath.Join(root, name), 0o755); err != nil {
		return err
	}
	if err := unix.Mount("/"+name, filepath.Join(root, name), "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
		return err
	}
	attr := &unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY | unix.MOUNT_ATTR_NOSUID}
	return unix.MountSetattr(unix.AT_FDCWD, filepath.Join(root, name), unix.AT_RECURSIVE, attr)
}

// confined reports an error unless this process is inside: the first process,
// alone with an unreachable network, no way to the machine's files, and a
// system it cannot write. Nothing runs when it is not.
func confined() error {
	if os.Getpid() != 1 {
		return errors.New("not in a process namespace")
	}
	if err := os.WriteFile("/usr/bin/hookc-jail-self-test", nil, 0o644); !errors.Is(err, unix.EROFS) {
		return fmt.Errorf("/usr can be written: %v", err)
	}
	if err := os.WriteFile("/.jail/bin/rm", nil, 0o644); !errors.Is(err, unix.EROFS) {
		return fmt.Errorf("the stubs can be written: %v", err)
	}
	if _, err := os.Stat("/.old"); !os.IsNotExist(err) {
		return fmt.Errorf("the machine's files are there: %v", err)
	}
	if _, err := os.Stat("/sys"); !os.IsNotExist(err) {
		return fmt.Errorf("/sys is there: %v", err)
	}
	mounts, err := os.ReadFile("/proc/self/mounts")
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(mounts)) {
		f := strings.Fields(line)
		if f[1] == "/" && f[2] != "tmpfs" || f[2] == "overlay" && !strings.HasPrefix(f[3], "ro") {
			return errors.New("a disk of the machine is mounted: " + line)
		}
	}
	nets, err := os.ReadFile("/proc/self/net/dev")
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(nets)) {
		name, _, found := strings.Cut(line, ":")
		if name = strings.TrimSpace(name); found && name != "lo" {
			return errors.New("a network is there: " + name)
		}
	}
	return nil
}

// weaken takes every capability from the calling thread and what it starts,
// and limits processes, file sizes and memory. The thread must be locked. The
// soft limit of processes is for the line; runLine takes it from this process.
func weaken() error {
	last, err := os.ReadFile("/proc/sys/kernel/cap_last_cap")
	if err != nil {
		return err
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(last)))
	if err != nil {
		return err
	}
	for c := 0; c <= n; c++ {
		if err := unix.Prctl(unix.PR_CAPBSET_DROP, uintptr(c), 0, 0, 0); err != nil {
			return err
		}
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	for what, most := range map[int]uint64{unix.RLIMIT_FSIZE: 1 << 20, unix.RLIMIT_CORE: 0, unix.RLIMIT_CPU: 3} {
		if err := unix.Setrlimit(what, &unix.Rlimit{Cur: most, Max: most}); err != nil {
			return err
		}
	}
	return unix.Setrlimit(unix.RLIMIT_NPROC, &unix.Rlimit{Cur: mostOfLine, Max: mostOfRun})
}
