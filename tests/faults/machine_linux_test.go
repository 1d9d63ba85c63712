package faults

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/hookc/hookc/tests/programs"
)

// machineVar names a folder whose script runs where /etc is empty and may be written.
const machineVar = "HOOKC_TEST_MACHINE"

func init() {
	dir := os.Getenv(machineVar)
	if dir == "" {
		return
	}
	err := machine(dir)
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// machine becomes the shell that runs the script of dir. Root may read there only
// what modes let it.
func machine(dir string) error {
	runtime.LockOSThread()
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("mounts: %w", err)
	}
	if err := unix.Mount("tmpfs", "/etc", "tmpfs", 0, "size=1m,mode=755"); err != nil {
		return fmt.Errorf("/etc: %w", err)
	}
	if err := os.Mkdir("/etc/hookc", 0o755); err != nil {
		return err
	}
	for _, c := range []uintptr{unix.CAP_DAC_OVERRIDE, unix.CAP_DAC_READ_SEARCH} {
		if err := unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0); err != nil {
			return err
		}
	}
	os.Unsetenv(machineVar)
	return syscall.Exec("/bin/sh", []string{"sh", filepath.Join(dir, "script")}, os.Environ())
}

// onMachine runs a script in a folder on a machine of its own, with hookc on its PATH,
// and returns what it printed.
func onMachine(t *testing.T, dir, script string) string {
	t.Helper()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "script"), []byte("set -eu\ncd '"+dir+"'\n"+script), 0o600))
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = []string{machineVar + "=" + dir, "HOME=" + dir, "XDG_STATE_HOME=" + dir + "/state", "PATH=" + programs.Dir(t) + ":/usr/bin:/bin:/usr/sbin:/sbin"}
	ids := []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}}
	groups := []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}}
	if os.Getuid() == 0 { // who may give a file to somebody else
		ids = append(ids, syscall.SysProcIDMap{ContainerID: 1, HostID: 1, Size: 1})
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS, UidMappings: ids, GidMappings: groups,
		Pdeathsig: syscall.SIGKILL}
	out, err := cmd.CombinedOutput()
	if err != nil && len(out) == 0 && os.Getenv("HOOKC_TEST_JAIL") == "" {
		t.Skip("nothing is written to /etc/hookc outside a namespace, and this machine lets us make none; HOOKC_TEST_JAIL=1 makes this a failure:", err)
	}
	require.NoError(t, err, "%s", out)
	return string(out)
}

// strangers gives a file to somebody else, as far as this user can.
func strangers() string {
	if os.Getuid() == 0 {
		return "chown 1 /etc/hookc/facts.env"
	}
	return "mount --bind /usr/bin/env /etc/hookc/facts.env"
}

const machinePolicy = `facts:
  environment: {enum: [dev, prod]}
  roles: {list: string}
  level: int
  oncall: bool
pre_tool_execution:
  - {name: prod, deny: 'facts.environment == "prod"', reason: "this is production"}
  - {name: level, ask: 'facts.level > 3 && facts.oncall', reason: "at this level"}
  - name: rego
    source: |
      package p
      deny contains "no operator" if { "operator" in input.facts.roles }
`

// TestMachineFacts: what /etc/hookc/facts.env says holds for every hook, whatever the
// host says, from sources and from an artifact; and a file that cannot be relied on
// is an error that refuses, with its place. What a managed command says is not kept
// where an agent could write it.
func TestMachineFacts(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, text string) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	write("hooks.yaml", machinePolicy)
	event := `{"event": "pre_tool_execution", "tool_name": "Bash", "tool_input": {"command": "ls"}, "facts": %s}`
	write("silent.json", strings.Replace(fmt.Sprintf(event, `{}`), `, "facts": {}`, "", 1))
	write("lies.json", fmt.Sprintf(event, `{"environment": "dev", "roles": [], "level": 1, "oncall": false}`))
	write("managed.yaml", "facts: {who: {command: \"echo x >>"+dir+"/asked; echo machine\"}}\npre_tool_execution: [{name: m, deny: 'facts.who == \"machine\"', reason: the machine says so}]\n")
	write("session.json", fmt.Sprintf(event, `{}, "session_id": "s"`))
	write("claude.json", `{"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "ls"}}`)
	var script strings.Builder
	var want []string
	run := func(args, event, answer string) {
		fmt.Fprintf(&script, "code=0; hookc run %s <%s >out 2>err || code=$?\necho \"$code $(cat err | tr '\\n' '|')\"\n", args, event)
		want = append(want, answer)
	}
	says := func(text string) { fmt.Fprintf(&script, "cat >/etc/hookc/facts.env <<'END'\n%sEND\n", text) }
	refused := func(place, why string) {
		error := "/etc/hookc/facts.env" + place + ": error[HK062]: " + why + "|"
		run("-f hooks.yaml", "lies.json", "3 "+error)
		run("--dialect claude -f hooks.yaml", "claude.json", "2 hookc could not decide: "+error)
	}
	run("-f hooks.yaml", "silent.json", "0 ")
	for _, road := range []string{"-f hooks.yaml", "-f compiled.hookc"} {
		says("# of this machine\nenvironment=prod\n\nother = of nobody\n")
		fmt.Fprintln(&script, "hookc compile -o compiled.hookc -f hooks.yaml >made 2>&1 || cat made")
		run(road, "lies.json", "2 this is production|")
		run(road, "silent.json", "2 this is production|")
		says("roles = \"operator, reader\"\nenvironment=dev\n")
		if road == "-f compiled.hookc" {
			fmt.Fprintln(&script, "hookc run -f compiled.hookc <lies.json >out 2>err && exit 1; grep -c 'facts.env' err")
			want = append(want, "1")
			fmt.Fprintln(&script, "hookc compile -o compiled.hookc -f hooks.yaml >made 2>&1 || cat made")
		}
		run(road, "lies.json", "2 no operator|")
		says("level=4\noncall=true\n")
		fmt.Fprintln(&script, "hookc compile -o compiled.hookc -f hooks.yaml >made 2>&1 || cat made")
		run(road, "lies.json", "4 at this level|")
	}
	says("environment=prod\nlevel\n")
	refused(":2:1", "a line is NAME=value")
	says("environment=test\n")
	refused(":1:1", "facts.environment must be one of dev, prod")
	says("level=high\n")
	refused(":1:1", "facts.level must be a whole number")
	says("environment=dev\n")
	fmt.Fprintln(&script, "chmod 000 /etc/hookc/facts.env")
	refused(":1:1", "permission denied")
	for _, mode := range []string{"646", "664"} {
		fmt.Fprintln(&script, "chmod "+mode+" /etc/hookc/facts.env")
		refused(":1:1", "others may write it")
	}
	fmt.Fprintln(&script, "rm /etc/hookc/facts.env; mkdir /etc/hookc/facts.env")
	refused(":1:1", "it is no regular file")
	fmt.Fprintln(&script, "rmdir /etc/hookc/facts.env; mkfifo /etc/hookc/facts.env")
	refused(":1:1", "it is no regular file")
	fmt.Fprintln(&script, "rm /etc/hookc/facts.env; ln -s facts.env /etc/hookc/facts.env")
	refused(":1:1", "too many levels of symbolic links")
	fmt.Fprintln(&script, "rm /etc/hookc/facts.env; dd if=/dev/zero of=/etc/hookc/facts.env bs=1k count=1025 status=none 2>/dev/null || true; mount -o remount,size=4m /etc; dd if=/dev/zero of=/etc/hookc/facts.env bs=1k count=1025 status=none")
	refused(":1:1", "it is larger than 1024 KiB")
	fmt.Fprintln(&script, "rm /etc/hookc/facts.env; echo environment=dev >/etc/hookc/facts.env; chmod 644 /etc/hookc/facts.env")
	run("-f hooks.yaml", "lies.json", "0 ")
	fmt.Fprintln(&script, strangers())
	refused(":1:1", "it belongs to another user")

	fmt.Fprintln(&script, "umount /etc/hookc/facts.env 2>/dev/null || true; rm -f /etc/hookc/facts.env; cp managed.yaml /etc/hookc/hooks.yaml; sleep 1.2")
	for range 2 {
		run("-f hooks.yaml", "session.json", "2 the machine says so|")
	}
	fmt.Fprintln(&script, "wc -l <asked; ls state/hookc/*/facts.json 2>/dev/null || echo none")
	want = append(want, "2", "none")

	lines := strings.Split(strings.TrimSuffix(onMachine(t, dir, script.String()), "\n"), "\n")
	require.Len(t, lines, len(want), "%s", strings.Join(lines, "\n"))
	for i := range want {
		line := lines[i]
		if strings.Contains(want[i], "HK062") {
			line = line[:min(len(line), len(want[i]))]
		}
		assert.Equal(t, want[i], line)
	}
}
