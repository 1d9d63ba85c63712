//go:build unix

package gate

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/internal/wire"
	"github.com/hookc/hookc/tests/programs"
)

// broken waits until the server has counted so many connections that were no
// requests.
func (h *gateHouse) broken(n int64) {
	h.t.Helper()
	var s wireStatus
	assert.Eventually(h.t, func() bool {
		var err error
		s, err = h.status()
		return err == nil && s.Requests.Broken >= n
	}, 2*time.Minute, 10*time.Millisecond)
	assert.Equal(h.t, n, s.Requests.Broken)
}

// TestServeSlowClient: one who sends slowly is answered, one who stops half-way
// or sends more than a request is not, and one who does not read his answer
// holds up nobody.
func TestServeSlowClient(t *testing.T) {
	t.Parallel()
	h := newGateHouse(t)
	h.write("hooks.yaml", gatePolicy)
	h.serve()
	whole := wire.AppendRequest(nil, &wire.Request{Kind: wire.Decide, Dir: h.project, Args: []string{"run", "PreToolUse", "--dialect", "claude"},
		Environ: h.env, Umask: umask(t), Millis: 30000, Input: []byte(removes)})
	send := func(parts [][]byte, wait time.Duration) []byte {
		conn, err := dialUnix(h.socket())
		require.NoError(t, err)
		defer conn.Close()
		for _, part := range parts {
			if _, err := conn.Write(part); err != nil {
				break // it was cut off
			}
			time.Sleep(wait)
		}
		answer, err := io.ReadAll(conn)
		if err != nil {
			require.ErrorIs(t, err, syscall.ECONNRESET)
		}
		return answer
	}
	// A few parts: on a busy machine each wait takes many times as long, and a
	// request that takes more than five seconds is cut off.
	parts := slices.Collect(slices.Chunk(whole, len(whole)/6+1))
	reply, err := wire.DecodeReply(send(parts, 10*time.Millisecond))
	require.NoError(t, err)
	assert.Equal(t, &wire.Reply{Exit: 2, Stdout: []byte(denied.Stdout), Stderr: []byte("no")}, reply)
	h.broken(0)

	assert.Empty(t, send([][]byte{append(bytes.Clone(whole), 'x')}, 0), "more than a request")
	h.broken(1)
	conn, err := dialUnix(h.socket())
	require.NoError(t, err)
	_, err = conn.Write(whole[:len(whole)/2])
	require.NoError(t, err)
	require.NoError(t, conn.Close())
	h.broken(2)
	assert.Empty(t, send([][]byte{whole[:len(whole)-1]}, 0), "half a request, and then nothing for longer than a request may take")
	h.broken(3)

	var silent []io.Closer
	for range 50 {
		conn, err := dialUnix(h.socket())
		require.NoError(t, err)
		_, err = conn.Write(whole)
		require.NoError(t, err)
		silent = append(silent, conn)
	}
	assert.Equal(t, denied, h.removes("--hookc", filepath.Join(h.home, "absent"), "--socket", h.socket()))
	for _, conn := range silent {
		conn.Close()
	}
	s, err := h.status()
	require.NoError(t, err)
	assert.Zero(t, s.Requests.Refused)
}

// umask is this process's own, which it hands down.
func umask(t *testing.T) int {
	t.Helper()
	now := syscall.Umask(0o022)
	syscall.Umask(now)
	return now
}

// TestServeOtherUser: another user is not answered, however open the socket
// is, and is not told a thing.
func TestServeOtherUser(t *testing.T) {
	other := []string{"setpriv", "--reuid=12345", "--regid=12345", "--clear-groups"}
	if _, err := exec.LookPath(other[0]); err != nil || exec.Command(other[0], append(other[1:], "true")...).Run() != nil {
		t.Log("nobody can become another user here")
		return
	}
	h := newGateHouse(t)
	h.write("hooks.yaml", gatePolicy)
	h.serve()
	for path, mode := range map[string]os.FileMode{h.home: 0o755, filepath.Join(h.home, "run"): 0o755, filepath.Dir(h.socket()): 0o755, h.socket(): 0o666} {
		require.NoError(t, os.Chmod(path, mode))
	}
	hookc := filepath.Join(h.home, "hookc") // where another user can start it
	data, err := os.ReadFile(h.hookc)
	require.NoError(t, err)
	require.NoError(t, programs.Write(hookc, data))
	for i, command := range []string{"status", "stop", "reload", "metrics"} {
		said := h.ask("", nil, other[0], append(other[1:], hookc, "serve", command, "--socket", h.socket())...)
		assert.Equal(t, []any{3, ""}, []any{said.Exit, said.Stdout}, command)
		assert.Contains(t, said.Stderr, "no serve answers", command)
		h.broken(int64(i + 1))
	}
	assert.Equal(t, 0, h.ask("", nil, hookc, "serve", "status", "--socket", h.socket()).Exit, "its own user is")
}

// TestServeNoSpace: on a disk that is full nothing can be remembered; every
// event is decided all the same, and the answer says so as hookc run's does.
func TestServeNoSpace(t *testing.T) {
	h := newGateHouse(t)
	state := filepath.Join(h.home, "state")
	require.NoError(t, os.Mkdir(state, 0o700))
	if exec.Command("mount", "-t", "tmpfs", "-o", "size=64k", "none", state).Run() != nil {
		t.Log("no disk can be mounted here; TestServeFullDisk has a state folder that cannot be written")
		return
	}
	t.Cleanup(func() { assert.NoError(t, exec.Command("umount", "-l", state).Run()) })
	h.write("hooks.yaml", gatePolicy)
	full, err := os.Create(filepath.Join(state, "full"))
	require.NoError(t, err)
	_, err = io.Copy(full, io.LimitReader(zeroes{}, 1<<20))
	require.ErrorIs(t, err, syscall.ENOSPC)
	require.NoError(t, full.Close())
	h.serve()
	for range 2 {
		assert.Equal(t, h.ask(removes, nil, h.hookc, "run", "PreToolUse", "--dialect", "claude"), h.removes())
		said := h.ask(lists, nil, h.gate, "PreToolUse", "--dialect", "claude", "--deadline", "30s")
		assert.Equal(t, h.ask(lists, nil, h.hookc, "run", "PreToolUse", "--dialect", "claude"), said)
		assert.Equal(t, 0, said.Exit)
		assert.Contains(t, strings.ToLower(said.Stdout+said.Stderr), "no space left on device")
	}
	require.NoError(t, os.Remove(filepath.Join(state, "full")))
	require.Eventually(t, func() bool {
		said := h.ask(lists, nil, h.gate, "PreToolUse", "--dialect", "claude", "--deadline", "30s")
		return said == passed
	}, 2*time.Minute, 50*time.Millisecond, "and when there is room again all is well")
	s, err := h.status()
	require.NoError(t, err)
	assert.Zero(t, s.Requests.Refused)
}

// zeroes is without end.
type zeroes struct{}

func (zeroes) Read(b []byte) (int, error) { return len(b), nil }
