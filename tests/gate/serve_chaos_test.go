//go:build unix

package gate

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/internal/wire"
	"github.com/hookc/hookc/tests/processes"
	"github.com/hookc/hookc/tests/programs"
)

// TestServeKilled: kill -9 in the middle of an event. The gate runs hookc run;
// the next server takes the stale socket's place.
func TestServeKilled(t *testing.T) {
	t.Parallel()
	h := newGateHouse(t)
	h.write("hooks.yaml", "pre_tool_execution:\n  - {name: slow, command: 'mkdir begun 2>/dev/null && exec sleep 30; echo \"{\\\"decision\\\":\\\"deny\\\",\\\"reason\\\":\\\"no\\\"}\"'}\n")
	h.serve()
	done := make(chan told, 1)
	go func() { done <- h.removes() }()
	require.Eventually(t, func() bool { _, err := os.Stat(filepath.Join(h.project, "begun")); return err == nil }, 2*time.Minute, 5*time.Millisecond)
	require.NoError(t, h.server.Process.Kill())
	assert.Equal(t, denied, <-done)
	assert.FileExists(t, h.socket(), "it was killed")
	assert.Equal(t, denied, h.removes(), "nobody listens on a stale socket")
	h.serve()
	assert.Equal(t, denied, h.removes())
	s, err := h.status()
	require.NoError(t, err)
	assert.Equal(t, int64(1), s.Requests.Answered)
}

// TestServeDrain: events under way finish when the server is told to stop; one
// whose caller goes away does not go on.
func TestServeDrain(t *testing.T) {
	t.Parallel()
	h := newGateHouse(t)
	h.write("hooks.yaml", "pre_tool_execution:\n  - {name: slow, command: 'touch begun; sleep 1; echo \"{\\\"decision\\\":\\\"deny\\\",\\\"reason\\\":\\\"no\\\"}\"'}\n")
	h.serve()
	done := make(chan told, 1)
	go func() { done <- h.removes("--hookc", filepath.Join(h.home, "absent"), "--socket", h.socket()) }()
	begun := filepath.Join(h.project, "begun")
	require.Eventually(t, func() bool { _, err := os.Stat(begun); return err == nil }, 2*time.Minute, 5*time.Millisecond)
	require.NoError(t, h.server.Process.Signal(syscall.SIGTERM))
	assert.Equal(t, denied, <-done, "by the server, since there is no hookc")
	<-h.ended // until then there is no room for another one
	assert.NoFileExists(t, h.socket())

	require.NoError(t, os.Remove(begun))
	mark := fmt.Sprint("drained-", os.Getpid())
	h.write("hooks.yaml", "pre_tool_execution:\n  - {name: slow, timeout: 900, command: 'touch begun; while [ ! -e go ]; do sleep 0.05; done; touch ended', env: {FAULT_MARK: "+mark+"}}\n")
	h.serve()
	cmd := h.command(h.gate, "PreToolUse", "--dialect", "claude", "--deadline", "30s")
	cmd.Stdin = strings.NewReader(removes)
	require.NoError(t, cmd.Start())
	require.Eventually(t, func() bool { _, err := os.Stat(begun); return err == nil }, 2*time.Minute, 5*time.Millisecond)
	require.NoError(t, cmd.Process.Kill())
	require.Error(t, cmd.Wait())
	require.Eventually(t, func() bool { s, err := h.status(); return err == nil && s.Requests.Active == 0 }, 2*time.Minute, 10*time.Millisecond)
	assert.Empty(t, processes.LeftBehind(mark), "it goes on")
}

// TestServeOne: of two servers that race one serves; one of another build
// takes over, and gates of the old build find nobody and do without.
func TestServeOne(t *testing.T) {
	h := newGateHouse(t)
	h.write("hooks.yaml", gatePolicy)
	var both sync.WaitGroup
	codes := make([]told, 2)
	cmds := make([]*exec.Cmd, 2)
	for i := range cmds {
		cmds[i] = h.command(h.hookc, "serve", "--idle", "3s")
		var said bytes.Buffer
		cmds[i].Stderr = &said
		both.Go(func() {
			_ = cmds[i].Run() // by its code
			codes[i] = told{cmds[i].ProcessState.ExitCode(), "", said.String()}
		})
	}
	both.Wait()
	assert.ElementsMatch(t, []int{0, 1}, []int{codes[0].Exit, codes[1].Exit}, "%v", codes)

	h.serve()
	assert.Equal(t, denied, h.removes())
	next := *h
	bin := filepath.Join(h.home, "bin")
	require.NoError(t, os.Mkdir(bin, 0o755))
	next.hookc, next.gate = filepath.Join(bin, "hookc"), filepath.Join(bin, "hookgate")
	for to, from := range map[string]string{next.hookc: programs.Hookc(t), next.gate: programs.Hookgate(t)} {
		data, err := os.ReadFile(from)
		require.NoError(t, err)
		require.NoError(t, programs.Write(to, data))
	}
	rebuilt(t, next.hookc)
	assert.NotEqual(t, h.socket(), next.socket())
	assert.Equal(t, denied, next.removes(), "cold")
	next.serve()
	assert.Equal(t, denied, next.removes())
	assert.Equal(t, denied, h.removes(), "cold again")
	s, err := next.status()
	require.NoError(t, err)
	assert.Equal(t, int64(1), s.Requests.Answered)
	_, err = h.status()
	assert.Error(t, err, "the old one has ended")

	require.NoError(t, os.Remove(next.hookc))
	require.Eventually(t, func() bool { _, err := os.Stat(next.socketOf(t)); return err != nil }, 2*time.Minute, 20*time.Millisecond,
		"a server whose program is gone ends")
}

// socketOf is the one socket in the run folder.
func (h *gateHouse) socketOf(t *testing.T) string {
	found, err := filepath.Glob(filepath.Join(h.home, "run", "hookc", "*.sock"))
	require.NoError(t, err)
	if len(found) == 0 {
		return filepath.Join(h.home, "none")
	}
	return found[0]
}

// TestServeSocketUnsafe: a gate talks to nobody over a socket that others
// could have made, and serve does not listen where they could.
func TestServeSocketUnsafe(t *testing.T) {
	h := newGateHouse(t)
	h.write("hooks.yaml", gatePolicy)
	var mu sync.Mutex
	calls := 0
	h.fake(func(conn *net.UnixConn) {
		mu.Lock()
		calls++
		mu.Unlock()
	})
	dir := filepath.Dir(h.socket())
	require.NoError(t, os.Chmod(h.socket(), 0o666))
	assert.Equal(t, denied, h.removes())
	require.NoError(t, os.Chmod(h.socket(), 0o600))
	require.NoError(t, os.Chmod(dir, 0o777))
	assert.Equal(t, denied, h.removes())
	require.NoError(t, os.Chmod(dir, 0o700))
	if os.Geteuid() == 0 {
		require.NoError(t, os.Lchown(h.socket(), 12345, 12345))
		assert.Equal(t, denied, h.removes())
		require.NoError(t, os.Lchown(h.socket(), 0, 0))
		require.NoError(t, os.Lchown(dir, 12345, 12345))
		assert.Equal(t, denied, h.removes())
		assert.Equal(t, 3, h.ask("", nil, h.hookc, "serve").Exit, "somebody else's folder")
		require.NoError(t, os.Lchown(dir, 0, 0))
	}
	assert.Zero(t, calls)
	require.NoError(t, os.Chmod(h.home, 0o777))
	assert.Equal(t, 3, h.ask("", nil, h.hookc, "serve", "--socket", filepath.Join(h.home, "s")).Exit)
}

// TestServeCrowd: ten thousand connections, slow clients, half requests and
// garbage; a gate gets its answer all the same.
func TestServeCrowd(t *testing.T) {
	h := newGateHouse(t)
	h.write("hooks.yaml", gatePolicy)
	h.serve()
	whole := wire.AppendRequest(nil, &wire.Request{Kind: wire.Decide, Args: []string{"run"}})
	var held []*net.UnixConn
	for i := range 10_000 {
		conn, err := dialUnix(h.socket())
		for ; err != nil; conn, err = dialUnix(h.socket()) {
			require.ErrorIs(t, err, syscall.EAGAIN, "the queue is full for a moment")
			time.Sleep(time.Millisecond)
		}
		if held = append(held, conn); len(held) > 3000 { // more may be open than this process can have
			held[0].Close()
			held = held[1:]
		}
		_, _ = conn.Write([][]byte{nil, whole[:i%len(whole)], []byte("GET / HTTP/1.1\r\n\r\n"), append(whole[:8:8], make([]byte, 64)...)}[i%4])
	}
	assert.Equal(t, denied, h.removes(), "in the crowd")
	for _, conn := range held {
		conn.Close()
	}
	require.Eventually(t, func() bool {
		before, err := h.status()
		if err != nil {
			return false
		}
		require.Equal(t, denied, h.removes())
		after, err := h.status()
		return err == nil && after.Requests.Answered == before.Requests.Answered+1
	}, 2*time.Minute, 100*time.Millisecond, "and by the server when it is gone")
}

// TestServeFullDisk: a state folder that cannot be written is said in the
// answer, as run says it, and decides nothing.
func TestServeFullDisk(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Log("there is no device that is always full here; the folder is a file instead")
	}
	h := newGateHouse(t)
	h.write("hooks.yaml", gatePolicy)
	require.NoError(t, os.WriteFile(filepath.Join(h.home, "state"), nil, 0o600))
	h.serve()
	for range 2 {
		assert.Equal(t, h.ask(removes, nil, h.hookc, "run", "PreToolUse", "--dialect", "claude"), h.removes())
		assert.Equal(t, h.ask(lists, nil, h.hookc, "run", "PreToolUse", "--dialect", "claude"),
			h.ask(lists, nil, h.gate, "PreToolUse", "--dialect", "claude", "--deadline", "30s"))
	}
}

// TestServeClockJump: files from the future, as after a clock that was put
// back, are read with every event.
func TestServeClockJump(t *testing.T) {
	h := newGateHouse(t)
	h.settles = true
	h.write("hooks.yaml", gatePolicy)
	future := time.Now().Add(24 * time.Hour)
	require.NoError(t, os.Chtimes(filepath.Join(h.project, "hooks.yaml"), future, future))
	h.serve()
	assert.Equal(t, denied, h.removes())
	old := time.Now().Add(-24 * time.Hour)
	h.write("hooks.yaml", strings.Replace(gatePolicy, "rm", "xx", 1))
	require.NoError(t, os.Chtimes(filepath.Join(h.project, "hooks.yaml"), old, old))
	h.settle()
	assert.Equal(t, passed, h.removes())
}

// TestServeConfined: a caller that is confined is answered outside of nothing
// it is confined to: it decides by itself, in there.
func TestServeConfined(t *testing.T) {
	t.Parallel()
	h := newGateHouse(t)
	h.write("hooks.yaml", gatePolicy)
	h.serve()
	for range 2 { // what was just written is read with every event, and the first one makes the state folder
		time.Sleep(200 * time.Millisecond)
		assert.Equal(t, denied, h.removes())
	}
	gate := []string{h.gate, "PreToolUse", "--dialect", "claude", "--deadline", "30s"}
	confined := func(refused int64, wrap ...string) {
		t.Helper()
		if _, err := exec.LookPath(wrap[0]); err != nil || h.ask("", nil, wrap[0], append(wrap[1:], "true")...).Exit != 0 {
			t.Logf("%s does not work here", wrap[0])
			return
		}
		before, err := h.status()
		require.NoError(t, err)
		assert.Equal(t, denied, h.ask(removes, nil, wrap[0], append(wrap[1:], gate...)...), "%q", wrap)
		after, err := h.status()
		require.NoError(t, err)
		assert.Equal(t, refused, after.Requests.Refused-before.Requests.Refused, "%q", wrap)
	}
	confined(1, "unshare", "-n")
	confined(1, "unshare", "-m")
	confined(0, "setpriv", "--no-new-privs") // a rule of a plan in force is nothing it could not decide itself
	// What is younger than a second is decided by the plan before it, if one was kept.
	grown := func() { time.Sleep(1100 * time.Millisecond) }
	h.write("hooks.yaml", gatePolicy+"# edited\n")
	grown()
	confined(1, "setpriv", "--no-new-privs") // reading a policy for it is
	h.write("hooks.yaml", "pre_tool_execution:\n  - {name: run, command: 'echo \"{\\\"decision\\\":\\\"deny\\\",\\\"reason\\\":\\\"no\\\"}\"'}\n")
	grown()
	assert.Equal(t, denied, h.removes())
	confined(1, "setpriv", "--no-new-privs") // and starting a program
}
