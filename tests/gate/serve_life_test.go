//go:build unix

package gate

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// How a server begins, is watched and ends, through real processes.

const slowPolicy = "pre_tool_execution:\n  - {name: slow, command: 'touch begun; sleep 5; echo \"{\\\"decision\\\":\\\"deny\\\",\\\"reason\\\":\\\"no\\\"}\"'}\n"

// begun waits until the hook of slowPolicy has begun.
func (h *gateHouse) begun() {
	h.t.Helper()
	require.Eventually(h.t, func() bool { _, err := os.Stat(filepath.Join(h.project, "begun")); return err == nil }, 2*time.Minute, 5*time.Millisecond)
}

// page gets a page of the server's HTTP address.
func page(t *testing.T, request *http.Request) (status int, text string) {
	t.Helper()
	reply, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	defer reply.Body.Close()
	body, err := io.ReadAll(reply.Body)
	require.NoError(t, err)
	return reply.StatusCode, string(body)
}

var (
	promHelp   = regexp.MustCompile(`^# HELP ([a-z_]+) \S.*$`)
	promType   = regexp.MustCompile(`^# TYPE ([a-z_]+) (counter|gauge|histogram)$`)
	promSample = regexp.MustCompile(`^([a-z_]+?)(_bucket|_sum|_count)?(?:\{([a-z]+)="([^"\\]*)"\})? ([0-9.e+-]+)$`)
)

// samples reads Prometheus' text format: each family once, with what it is
// before its samples, and buckets that add up.
func samples(t *testing.T, text string) map[string]float64 {
	t.Helper()
	out, kinds, helped, last := map[string]float64{}, map[string]string{}, "", ""
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if m := promHelp.FindStringSubmatch(line); m != nil {
			helped = m[1]
			continue
		}
		if m := promType.FindStringSubmatch(line); m != nil {
			require.Equal(t, helped, m[1])
			require.NotContains(t, kinds, m[1])
			kinds[m[1]], last = m[2], m[1]
			continue
		}
		m := promSample.FindStringSubmatch(line)
		require.NotNil(t, m, "%q", line)
		family := m[1]
		if kinds[family] != "histogram" {
			family += m[2]
		}
		require.Equal(t, last, family, "%q", line)
		value, err := strconv.ParseFloat(m[5], 64)
		require.NoError(t, err)
		out[m[1]+m[2]+m[4]] = value
	}
	before := 0.0
	for _, bound := range regexp.MustCompile(`le="([^"]+)"`).FindAllStringSubmatch(text, -1) {
		at := out["hookc_answer_seconds_bucket"+bound[1]]
		require.GreaterOrEqual(t, at, before)
		before = at
	}
	require.Equal(t, out["hookc_answer_seconds_count"], out["hookc_answer_seconds_bucket+Inf"])
	return out
}

// TestServeHealth: --metrics answers on a loopback address, under no other
// name, and says when the server is ending.
func TestServeHealth(t *testing.T) {
	t.Parallel()
	free, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	address := free.Addr().String()
	require.NoError(t, free.Close())
	h := newGateHouse(t)
	h.settles = true
	h.write("hooks.yaml", gatePolicy)
	h.serve("--metrics", address)
	assert.Equal(t, denied, h.removes())
	ask := func(method, path, host string) (int, string) {
		request, err := http.NewRequestWithContext(t.Context(), method, "http://"+address+path, nil)
		require.NoError(t, err)
		request.Host = host
		return page(t, request)
	}
	for _, row := range []struct {
		method, path, host string
		status             int
		text               string
	}{
		{"GET", "/healthz", "", 200, "ok\n"}, {"GET", "/healthz", "localhost:1", 200, "ok\n"}, {"GET", "/healthz", "evil.example", 403, "not here\n"},
		{"GET", "/metrics", "evil.example:80", 403, "not here\n"}, {"POST", "/healthz", "", 405, "Method Not Allowed\n"}, {"GET", "/", "", 404, "404 page not found\n"},
	} {
		status, text := ask(row.method, row.path, row.host)
		assert.Equal(t, []any{row.status, row.text}, []any{status, text}, "%v", row)
	}
	var got map[string]float64
	// An answer is heard before the server has counted it out.
	require.Eventually(t, func() bool {
		status, text := ask("GET", "/metrics", "")
		assert.Equal(t, 200, status)
		got = samples(t, text)
		return got["hookc_requests_active"] == 0
	}, time.Minute, 10*time.Millisecond)
	for name, want := range map[string]float64{"hookc_requests_totalanswered": 1, "hookc_requests_totalrefused": 0, "hookc_plans": 1, "hookc_plans_broken": 0,
		"hookc_answer_seconds_count": 1, "hookc_requests_active": 0, "hookc_build_failures_total": 0} {
		assert.Equal(t, want, got[name], name)
	}
	assert.Positive(t, got["hookc_memory_bytes"])
	h.write("hooks.yaml", "pre_tool_execution: [{name: x, deny: '))'}]\n")
	assert.Equal(t, denied, h.removes())
	_, text := ask("GET", "/metrics", "")
	got = samples(t, text)
	assert.Equal(t, []float64{1, 2, 2}, []float64{got["hookc_plans_broken"], got["hookc_requests_totalanswered"], got["hookc_answer_seconds_count"]})
	assert.Positive(t, got["hookc_build_failures_total"])
	assert.Equal(t, 3, h.ask("", nil, h.hookc, "serve", "--socket", filepath.Join(h.home, "run", "s"), "--metrics", address).Exit, "the address is taken")

	h.write("hooks.yaml", slowPolicy)
	done := make(chan told, 1)
	go func() { done <- h.removes() }()
	h.begun()
	require.NoError(t, h.server.Process.Signal(syscall.SIGTERM))
	require.Eventually(t, func() bool { status, text := ask("GET", "/healthz", ""); return status == 503 && text == "ending\n" }, 2*time.Minute, time.Millisecond)
	assert.Equal(t, denied, <-done)
}

// TestServeActivated: the socket that a service manager passes is used as it
// is, and what is no such socket refused.
func TestServeActivated(t *testing.T) {
	h := newGateHouse(t)
	h.write("hooks.yaml", gatePolicy)
	path := filepath.Join(h.home, "run", "passed")
	passed, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	require.NoError(t, err)
	defer passed.Close()
	require.NoError(t, os.Chmod(path, 0o600))
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer tcp.Close()
	start := func(from interface{ File() (*os.File, error) }, set string, args ...string) (*exec.Cmd, *bytes.Buffer) {
		file, err := from.File()
		require.NoError(t, err)
		defer file.Close()
		cmd := h.command("/bin/sh", append([]string{"-c", set + ` exec "$0" serve "$@"`, h.hookc}, args...)...)
		var said bytes.Buffer
		cmd.Stderr, cmd.ExtraFiles = &said, []*os.File{file}
		require.NoError(t, cmd.Start())
		return cmd, &said
	}
	for _, row := range []struct {
		from interface{ File() (*os.File, error) }
		set  string
		said string
	}{
		{passed, "LISTEN_PID=$$ LISTEN_FDS=2", `hookc: LISTEN_FDS is "2": serve takes one socket` + "\n"},
		{tcp.(*net.TCPListener), "LISTEN_PID=$$ LISTEN_FDS=1", "hookc: the socket passed by the service manager is not a unix stream socket\n"},
	} {
		cmd, said := start(row.from, "export "+row.set+";")
		require.Error(t, cmd.Wait())
		assert.Equal(t, []any{3, row.said}, []any{cmd.ProcessState.ExitCode(), said.String()})
	}

	cmd, said := start(passed, "export LISTEN_PID=$$ LISTEN_FDS=1;", "--idle", "2s")
	alone := []string{"--hookc", filepath.Join(h.home, "absent"), "--socket", path}
	assert.Equal(t, denied, h.removes(alone...), "by the server, since there is no hookc")
	require.NoError(t, cmd.Wait())
	assert.Equal(t, fmt.Sprintf("hookc: serving on %s\nhookc: serve has ended: %s\n", path, "it had nothing to do"), said.String())
	assert.FileExists(t, path, "it is the service manager's")

	cmd, said = start(passed, "export LISTEN_PID=1 LISTEN_FDS=1;", "--idle", "1s")
	require.NoError(t, cmd.Wait())
	assert.Contains(t, said.String(), h.socket(), "meant for another process")
}

// TestServeIdle: a server with nothing to do ends, and not before.
func TestServeIdle(t *testing.T) {
	t.Parallel()
	h := newGateHouse(t)
	h.write("hooks.yaml", gatePolicy)
	idle := 2 * time.Second
	for h.serve("--idle", idle.String()); !h.askedInTime(idle); h.serve("--idle", idle.String()) {
		require.Equal(t, 0, h.ask("", nil, h.hookc, "serve", "stop").Exit)
		<-h.ended
		idle *= 4
		require.Less(t, idle, time.Hour)
	}
	require.Eventually(t, func() bool { _, err := os.Stat(h.socket()); return err != nil }, 2*time.Minute, 20*time.Millisecond)
	assert.Equal(t, denied, h.removes())
}

// askedInTime asks for twice as long as the server may be idle, and demands that
// it is the same server that answers. It is false where the machine was too slow
// to ask often enough.
func (h *gateHouse) askedInTime(idle time.Duration) bool {
	pid, last := h.server.Process.Pid, time.Now()
	for range 8 {
		time.Sleep(idle / 4)
		answer := h.removes()
		if time.Since(last) > idle*3/4 {
			return false
		}
		last = time.Now()
		require.Equal(h.t, denied, answer)
	}
	s, err := h.status()
	if time.Since(last) > idle*3/4 {
		return false
	}
	require.NoError(h.t, err)
	assert.Equal(h.t, []int64{int64(pid), 8}, []int64{int64(s.Pid), s.Requests.Answered}, "twice as long as it may be idle")
	return true
}

// TestServeDrainTime: a server that is told to end waits for events for as long
// as --drain says; their gates then take the posture, and nothing goes on.
func TestServeDrainTime(t *testing.T) {
	t.Parallel()
	h := newGateHouse(t)
	h.write("hooks.yaml", strings.Replace(slowPolicy, "sleep 5", "sleep 30; touch ended", 1))
	h.serve("--drain", "300ms")
	done := make(chan told, 1)
	go func() { done <- h.removes("--hookc", filepath.Join(h.home, "absent"), "--socket", h.socket()) }()
	h.begun()
	assert.Equal(t, 0, h.ask("", nil, h.hookc, "serve", "stop").Exit)
	assert.Equal(t, posture("hookgate: no server answers and there is no hookc beside hookgate"), <-done)
	assert.NoFileExists(t, h.socket())
	assert.Equal(t, 3, h.ask("", nil, h.hookc, "serve", "status").Exit)
	assert.NoFileExists(t, filepath.Join(h.project, "ended"))
}
