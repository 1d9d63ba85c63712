//go:build unix

package tests

import (
	"bytes"
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

	"github.com/hookc/hookc/cmd/hookgate/wire"
)

// Every answer of a gate is the right one or the declared posture, whatever
// the server does.

func dialUnix(path string) (*net.UnixConn, error) {
	return net.DialUnix("unix", nil, &net.UnixAddr{Name: path, Net: "unix"})
}

func (h *gateHouse) removes(args ...string) told {
	h.t.Helper()
	return h.ask(removes, nil, h.gate, append([]string{"PreToolUse", "--dialect", "claude", "--deadline", "30s"}, args...)...)
}

// fake listens in a server's place and does with each connection what it is
// told.
func (h *gateHouse) fake(do func(*net.UnixConn)) {
	h.t.Helper()
	require.NoError(h.t, os.MkdirAll(filepath.Dir(h.socket()), 0o700))
	l, err := net.Listen("unix", h.socket())
	require.NoError(h.t, err)
	require.NoError(h.t, os.Chmod(h.socket(), 0o600))
	var conns sync.WaitGroup
	conns.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			conns.Go(func() {
				defer conn.Close()
				do(conn.(*net.UnixConn))
			})
		}
	})
	h.t.Cleanup(func() { l.Close(); conns.Wait() })
}

// swallow reads a whole request.
func swallow(conn *net.UnixConn) {
	var b []byte
	for part := make([]byte, 4096); ; {
		n, err := conn.Read(part)
		b = append(b, part[:n]...)
		if size, bad := wire.RequestSize(b); err != nil || bad != nil || size > 0 && len(b) >= size {
			return
		}
	}
}

// TestGateGarbage: what is no whole reply is no answer, least of all one that
// lets something through.
func TestGateGarbage(t *testing.T) {
	reply := wire.AppendReply(nil, &wire.Reply{Stdout: []byte("let it"), Exit: 0})
	flipped := bytes.Clone(reply)
	flipped[len(flipped)-1] ^= 1
	huge := bytes.Clone(reply)
	copy(huge[4:], "\xff\xff\xff\x7f")
	for name, sent := range map[string][]byte{
		"nothing": nil, "text": []byte("HTTP/1.1 200 OK\r\n\r\n"), "half": reply[:len(reply)/2], "header": reply[:10], "flipped": flipped,
		"huge": huge, "trailing": append(bytes.Clone(reply), 'x'), "beats": []byte("wwww"), "zeroes": make([]byte, 1<<16),
		"refused": wire.AppendReply(nil, &wire.Reply{Refused: "no"}), "a request": wire.AppendRequest(nil, &wire.Request{}),
		"no exit": wire.AppendReply(nil, &wire.Reply{Exit: 256}),
	} {
		t.Run(name, func(t *testing.T) {
			h := newGateHouse(t)
			h.write("hooks.yaml", gatePolicy)
			h.fake(func(conn *net.UnixConn) { swallow(conn); conn.Write(sent) })
			assert.Equal(t, denied, h.removes(), "hookc run decides")
			assert.Equal(t, posture("hookgate: no server answers and there is no hookc beside hookgate"),
				h.removes("--hookc", filepath.Join(h.home, "absent"), "--socket", h.socket()), "the posture")
		})
	}
}

// TestGateUnread: the server closes, or never reads.
func TestGateUnread(t *testing.T) {
	h := newGateHouse(t)
	h.write("hooks.yaml", gatePolicy)
	h.fake(func(conn *net.UnixConn) {})
	assert.Equal(t, denied, h.removes())
}

// TestGateSilentServer: a server that accepts and says nothing, and one that
// says for ever that it is working.
func TestGateSilentServer(t *testing.T) {
	h := newGateHouse(t)
	h.write("hooks.yaml", gatePolicy)
	h.fake(func(conn *net.UnixConn) { swallow(conn); conn.Read(make([]byte, 1)) })
	assert.Equal(t, denied, h.removes(), "after two seconds without a sign the gate helps itself")

	busy := newGateHouse(t)
	busy.write("hooks.yaml", gatePolicy)
	busy.fake(func(conn *net.UnixConn) {
		for swallow(conn); ; time.Sleep(50 * time.Millisecond) {
			if _, err := conn.Write([]byte{wire.Working}); err != nil {
				return
			}
		}
	})
	began := time.Now()
	assert.Equal(t, posture("hookgate: no answer before the deadline"), busy.removes("--deadline", "700ms"))
	assert.Less(t, time.Since(began), 10*time.Second)
}

// TestGateStuck: when hookc run itself gives no answer the posture is taken, in
// time, for whatever reason.
func TestGateStuck(t *testing.T) {
	h := newGateHouse(t)
	h.write("hooks.yaml", gatePolicy)
	program := func(name, text string) string {
		path := filepath.Join(h.home, name)
		require.NoError(t, os.WriteFile(path, []byte("#!/bin/sh\n"+text), 0o755))
		return path
	}
	for name, row := range map[string]struct{ text, why string }{
		"hangs":   {"exec sleep 60", "hookgate: no answer before the deadline"},
		"dies":    {"kill -9 $$", "hookgate: hookc run gave no answer"},
		"nothing": {"exit 0", "hookgate: hookc run gave no answer"},
		"leaks":   {"echo '{}'; exit 3", "hookgate: hookc run gave no answer"},
	} {
		deadline := "20s"
		if name == "hangs" {
			deadline = "500ms"
		}
		assert.Equal(t, posture(row.why), h.removes("--hookc", program(name, row.text), "--deadline", deadline), name)
	}
	notProgram := filepath.Join(h.home, "text")
	require.NoError(t, os.WriteFile(notProgram, []byte("x"), 0o644))
	assert.Equal(t, posture("hookgate: hookc run cannot be started"), h.removes("--hookc", notProgram))
	none := []string{"--hookc", filepath.Join(h.home, "absent")}
	why := "hookgate: no server answers and there is no hookc beside hookgate"
	assert.Equal(t, posture(why), h.removes(none...))
	assert.Equal(t, told{0, `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"hookc could not decide: ` + why + `"}}` + "\n", ""}.Stdout,
		h.removes(append(none, "--on-unavailable", "ask")...).Stdout, "some modes ask nobody")
	said := h.removes(append(none, "--on-unavailable", "proceed")...)
	assert.Equal(t, 0, said.Exit)
	assert.Contains(t, said.Stdout+said.Stderr, why, "never in silence")
	assert.NotContains(t, said.Stdout, "allow")
	assert.Equal(t, 2, h.removes("--what").Exit)
	assert.Equal(t, told{2, "", "hookgate: unknown dialect\n"}, h.ask(removes, nil, h.gate, "PreToolUse", "--dialect", "nobody"))
}

// TestGateInput: an event that is too large, and one that never ends.
func TestGateInput(t *testing.T) {
	h := newGateHouse(t)
	h.write("hooks.yaml", gatePolicy)
	assert.Equal(t, posture("hookgate: the event is larger than 32 MiB"),
		h.ask(strings.Repeat(" ", 33<<20), nil, h.gate, "PreToolUse", "--dialect", "claude", "--deadline", "30s"))
	cmd := h.command(h.gate, "PreToolUse", "--dialect", "claude", "--deadline", "300ms")
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	defer in.Close()
	out, err := cmd.Output()
	var exit *exec.ExitError
	require.ErrorAs(t, err, &exit)
	assert.Equal(t, posture("hookgate: no answer before the deadline"), told{exit.ExitCode(), string(out), string(exit.Stderr)})
}

// TestGateClosedOutput: an agent that does not read the answer gets a refusal.
func TestGateClosedOutput(t *testing.T) {
	h := newGateHouse(t)
	h.write("hooks.yaml", gatePolicy)
	h.serve()
	r, w, err := os.Pipe()
	require.NoError(t, err)
	r.Close()
	cmd := h.command(h.gate, "PreToolUse", "--dialect", "claude", "--deadline", "30s")
	cmd.Stdin, cmd.Stdout = strings.NewReader(removes), w
	err = cmd.Run()
	w.Close()
	var exit *exec.ExitError
	require.ErrorAs(t, err, &exit)
	assert.Equal(t, 2, exit.ExitCode())
}

// TestServeKilled: kill -9 in the middle of an event. The gate runs hookc run;
// the next server takes the stale socket's place.
func TestServeKilled(t *testing.T) {
	h := newGateHouse(t)
	h.write("hooks.yaml", "pre_tool_execution:\n  - {name: slow, command: 'mkdir begun 2>/dev/null && exec sleep 30; echo \"{\\\"decision\\\":\\\"deny\\\",\\\"reason\\\":\\\"no\\\"}\"'}\n")
	h.serve()
	done := make(chan told, 1)
	go func() { done <- h.removes() }()
	require.Eventually(t, func() bool { _, err := os.Stat(filepath.Join(h.project, "begun")); return err == nil }, 20*time.Second, 5*time.Millisecond)
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
	h := newGateHouse(t)
	h.write("hooks.yaml", "pre_tool_execution:\n  - {name: slow, command: 'touch begun; sleep 1; echo \"{\\\"decision\\\":\\\"deny\\\",\\\"reason\\\":\\\"no\\\"}\"'}\n")
	h.serve()
	done := make(chan told, 1)
	go func() { done <- h.removes("--hookc", filepath.Join(h.home, "absent"), "--socket", h.socket()) }()
	begun := filepath.Join(h.project, "begun")
	require.Eventually(t, func() bool { _, err := os.Stat(begun); return err == nil }, 20*time.Second, 5*time.Millisecond)
	require.NoError(t, h.server.Process.Signal(syscall.SIGTERM))
	assert.Equal(t, denied, <-done, "by the server, since there is no hookc")
	require.Eventually(t, func() bool { _, err := os.Stat(h.socket()); return err != nil }, 10*time.Second, 10*time.Millisecond)

	require.NoError(t, os.Remove(begun))
	h.write("hooks.yaml", "pre_tool_execution:\n  - {name: slow, command: 'touch begun; sleep 2; touch ended'}\n")
	h.serve()
	cmd := h.command(h.gate, "PreToolUse", "--dialect", "claude", "--deadline", "30s")
	cmd.Stdin = strings.NewReader(removes)
	require.NoError(t, cmd.Start())
	require.Eventually(t, func() bool { _, err := os.Stat(begun); return err == nil }, 20*time.Second, 5*time.Millisecond)
	require.NoError(t, cmd.Process.Kill())
	require.Error(t, cmd.Wait())
	require.Eventually(t, func() bool { s, err := h.status(); return err == nil && s.Requests.Active == 0 }, 10*time.Second, 10*time.Millisecond)
	time.Sleep(2500 * time.Millisecond)
	assert.NoFileExists(t, filepath.Join(h.project, "ended"))
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
	for to, from := range map[string]string{next.hookc: hookcBinary, next.gate: gateBinary} {
		data, err := os.ReadFile(from)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(to, data, 0o755))
	}
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
	require.Eventually(t, func() bool { _, err := os.Stat(next.socketOf(t)); return err != nil }, 20*time.Second, 20*time.Millisecond,
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

// TestServeCrowd: connections without number, slow clients, half requests and
// garbage; a gate gets its answer all the same.
func TestServeCrowd(t *testing.T) {
	h := newGateHouse(t)
	h.write("hooks.yaml", gatePolicy)
	h.serve()
	whole := wire.AppendRequest(nil, &wire.Request{Kind: wire.Decide, Args: []string{"run"}})
	var held []*net.UnixConn
	for i := range 2000 {
		conn, err := dialUnix(h.socket())
		if err != nil {
			continue // the queue is full
		}
		held = append(held, conn)
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
	}, 20*time.Second, 100*time.Millisecond, "and by the server when it is gone")
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
	h.write("hooks.yaml", gatePolicy)
	future := time.Now().Add(24 * time.Hour)
	require.NoError(t, os.Chtimes(filepath.Join(h.project, "hooks.yaml"), future, future))
	h.serve()
	assert.Equal(t, denied, h.removes())
	old := time.Now().Add(-24 * time.Hour)
	h.write("hooks.yaml", strings.Replace(gatePolicy, "rm", "xx", 1))
	require.NoError(t, os.Chtimes(filepath.Join(h.project, "hooks.yaml"), old, old))
	assert.Equal(t, passed, h.removes())
}

// TestGateStart: the first event is decided cold and starts a server, the
// later ones are that server's; a server that cannot start is not tried again
// and again.
func TestGateStart(t *testing.T) {
	h := newGateHouse(t)
	h.write("hooks.yaml", gatePolicy)
	assert.Equal(t, denied, h.removes("--start"))
	require.Eventually(t, func() bool { _, err := h.status(); return err == nil }, 20*time.Second, 10*time.Millisecond)
	t.Cleanup(func() { h.ask("", nil, h.hookc, "serve", "stop") })
	assert.Equal(t, denied, h.removes("--start"))
	s, err := h.status()
	require.NoError(t, err)
	assert.Equal(t, int64(1), s.Requests.Answered)
	assert.NotEqual(t, os.Getpid(), s.Pid)
}

// TestGateLinks: the gate links the standard library's smallest parts.
func TestGateLinks(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", module+"/cmd/hookgate").Output()
	require.NoError(t, err)
	for _, name := range strings.Fields(string(out)) {
		switch {
		case name == module+"/cmd/hookgate", name == module+"/cmd/hookgate/wire":
		case strings.Contains(name, "."):
			assert.Fail(t, "hookgate links "+name)
		default:
			assert.NotContains(t, []string{"net", "fmt", "os/exec", "os/signal", "encoding/json", "regexp", "flag", "crypto/sha256", "context"}, name)
		}
	}
}

// TestServeConfined: a caller that is confined is answered outside of nothing
// it is confined to: it decides by itself, in there.
func TestServeConfined(t *testing.T) {
	h := newGateHouse(t)
	h.write("hooks.yaml", gatePolicy)
	h.serve()
	time.Sleep(200 * time.Millisecond) // what was just written is read with every event
	assert.Equal(t, denied, h.removes())
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
	h.write("hooks.yaml", gatePolicy+"# edited\n")
	confined(1, "setpriv", "--no-new-privs") // reading a policy for it is
	h.write("hooks.yaml", "pre_tool_execution:\n  - {name: run, command: 'echo \"{\\\"decision\\\":\\\"deny\\\",\\\"reason\\\":\\\"no\\\"}\"'}\n")
	assert.Equal(t, denied, h.removes())
	confined(1, "setpriv", "--no-new-privs") // and starting a program
}
