//go:build unix

package gate

import (
	"bytes"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/internal/wire"
	"github.com/hookc/hookc/tests/programs"
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
	t.Parallel()
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
	t.Parallel()
	h := newGateHouse(t)
	h.write("hooks.yaml", gatePolicy)
	h.fake(func(conn *net.UnixConn) {})
	assert.Equal(t, denied, h.removes())
}

// TestGateSilentServer: a server that accepts and says nothing, and one that
// says for ever that it is working.
func TestGateSilentServer(t *testing.T) {
	t.Parallel()
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
	assert.Less(t, time.Since(began), 5*time.Minute, "the server never answers")
}

// TestGateStuck: when hookc run itself gives no answer the posture is taken, in
// time, for whatever reason.
func TestGateStuck(t *testing.T) {
	h := newGateHouse(t)
	h.write("hooks.yaml", gatePolicy)
	program := func(name, text string) string {
		path := filepath.Join(h.home, name)
		require.NoError(t, programs.Write(path, []byte("#!/bin/sh\n"+text)))
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
	t.Parallel()
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

// TestGateStart: the first event is decided cold and starts a server, the
// later ones are that server's; a server that cannot start is not tried again
// and again.
func TestGateStart(t *testing.T) {
	h := newGateHouse(t)
	h.write("hooks.yaml", gatePolicy)
	assert.Equal(t, denied, h.removes("--start"))
	require.Eventually(t, func() bool { _, err := h.status(); return err == nil }, 2*time.Minute, 10*time.Millisecond)
	t.Cleanup(func() { h.ask("", nil, h.hookc, "serve", "stop") })
	assert.Equal(t, denied, h.removes("--start"))
	s, err := h.status()
	require.NoError(t, err)
	assert.Equal(t, int64(1), s.Requests.Answered)
	assert.NotEqual(t, os.Getpid(), s.Pid)
}

// TestGateLinks: the gate links the standard library's smallest parts, of which
// regexp, that rules in Rego need, is the largest. os/signal, with context, is
// among them because a signal is answered first, and internal/spell because what
// the gate says on stderr may be shown by a terminal.
func TestGateLinks(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "github.com/hookc/hookc/cmd/hookgate").Output()
	require.NoError(t, err)
	for _, name := range strings.Fields(string(out)) {
		switch {
		case name == "github.com/hookc/hookc/cmd/hookgate", name == "github.com/hookc/hookc/internal/wire", name == "github.com/hookc/hookc/internal/lists", name == "github.com/hookc/hookc/internal/spell", name == "github.com/hookc/hookc/internal/gate/table", name == "github.com/hookc/hookc/internal/gate/rules",
			name == "github.com/hookc/hookc/policy/artifact", name == "github.com/hookc/hookc/rego/native", name == "github.com/hookc/hookc/rego/bounds", name == "github.com/hookc/hookc/rego/globs", name == "github.com/hookc/hookc/policy/digits",
			name == "github.com/hookc/hookc/policy/scan", name == "github.com/hookc/hookc/internal/binary":
		case strings.HasPrefix(name, "crypto/internal/"), strings.HasPrefix(name, "vendor/"): // what crypto/sha256 brings along
		case strings.Contains(name, "."):
			assert.Fail(t, "hookgate links "+name)
		default:
			assert.NotContains(t, []string{"net", "fmt", "os/exec", "encoding/json", "encoding/binary", "reflect", "math/big", "log", "flag"}, name)
		}
	}
}
