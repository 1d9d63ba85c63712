package server

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/open-policy-agent/opa/v1/logging"
	"github.com/open-policy-agent/opa/v1/runtime"
	"github.com/stretchr/testify/require"
)

// rules are 100 rules, each of which looks at the command, and an event of 1.2 kB that
// the last of them refuses.
func rules() (module, event string) {
	var b strings.Builder
	b.WriteString("package guard\n\n")
	for i := range 100 {
		fmt.Fprintf(&b, "deny contains \"no %d\" if {\n\tinput.tool_name == \"Bash\"\n\tcontains(input.tool_input.command, \"forbidden-%d \")\n}\n\n", i, i)
	}
	event = `{"event":"pre_tool_execution","session_id":"s","cwd":"/work/project","project_root":"/work/project","tool_name":"Bash","tool_input":{"command":"make forbidden-99 ` +
		strings.Repeat("x", 1000) + `","description":"builds the project"}}`
	return b.String(), event
}

// load sends one event over some connections, again and again, and returns how many
// answers came in a second and how long 99 of 100 took at most.
func load(b *testing.B, address, path, event string, conns int, lasting time.Duration, pause time.Duration, want string) (rate float64, p99 time.Duration) {
	request := fmt.Appendf(nil, "POST %s HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", path, len(event), event)
	times := make([][]time.Duration, conns)
	began := time.Now()
	var all sync.WaitGroup
	for i := range conns {
		all.Go(func() {
			conn, err := net.Dial("tcp", address)
			if err != nil {
				b.Error(err)
				return
			}
			defer conn.Close()
			in := bufio.NewReaderSize(conn, 16<<10)
			for next := began; time.Since(began) < lasting; next = next.Add(pause) {
				if pause > 0 {
					time.Sleep(time.Until(next))
				}
				at := time.Now()
				if pause > 0 && next.Before(at) {
					at = next // a late one counts from when it was due
				}
				conn.Write(request)
				body, err := answerOf(in)
				if err != nil || !bytes.Contains(body, []byte(want)) {
					b.Errorf("%v: %s", err, body)
					return
				}
				times[i] = append(times[i], time.Since(at))
			}
		})
	}
	all.Wait()
	flat := slices.Sorted(slices.Values(slices.Concat(times...)))
	if len(flat) == 0 {
		b.Fatal("nothing was answered")
	}
	return float64(len(flat)) / time.Since(began).Seconds(), flat[len(flat)*99/100]
}

// answerOf reads an answer that says its length, and returns its body, which is there
// until the next one is read. It does as little as can be: whoever sends the load
// shares the processors with the server.
func answerOf(in *bufio.Reader) ([]byte, error) {
	length := -1
	for first := true; ; first = false {
		line, err := in.ReadSlice('\n')
		switch {
		case err != nil:
			return nil, err
		case first && !bytes.HasPrefix(line, []byte("HTTP/1.1 200 ")):
			return nil, fmt.Errorf("%s", line)
		case len(line) <= 2 && length < 0:
			return nil, errors.New("an answer without its length")
		case len(line) <= 2:
			body, err := in.Peek(length)
			if err == nil {
				_, err = in.Discard(length)
			}
			return body, err
		}
		if value, ok := bytes.CutPrefix(line, []byte("Content-Length: ")); ok {
			if length, err = strconv.Atoi(string(bytes.TrimSpace(value))); err != nil {
				return nil, err
			}
		}
	}
}

// used is the time that this process has had of the processors.
func used(b *testing.B) time.Duration {
	var u syscall.Rusage
	require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkServer compares the policy server with `opa run --server`, in one run on one
// machine, by the same rules and events over HTTP/1.1 with connections that stay open.
func BenchmarkServer(b *testing.B) {
	module, event := rules()
	dir := b.TempDir()
	require.NoError(b, os.WriteFile(filepath.Join(dir, "guard.rego"), []byte(module), 0o600))
	require.NoError(b, os.WriteFile(filepath.Join(dir, "hooks.yaml"), []byte("pre_tool_execution:\n  - {name: guard, type: rego, file: guard.rego}\n"), 0o600))
	r, err := Options{Address: "127.0.0.1:0", Policies: []string{filepath.Join(dir, "hooks.yaml")}, Limits: Standard, Drain: time.Second}.Listen(b.Context())
	require.NoError(b, err)
	defer r.End()
	ctx, stop := context.WithCancel(b.Context())
	defer stop()
	params := runtime.NewParams()
	params.Addrs, params.Paths, params.Logger, params.GracefulShutdownPeriod = &[]string{"127.0.0.1:0"}, []string{filepath.Join(dir, "guard.rego")}, logging.NewNoOpLogger(), 1
	params.Output = io.Discard
	peer, err := runtime.NewRuntime(ctx, params)
	require.NoError(b, err)
	go peer.Serve(ctx)
	for len(peer.Addrs()) == 0 {
		time.Sleep(10 * time.Millisecond)
	}
	const turn, conns = 2 * time.Second, 16
	input := `{"input":` + event + `}`
	var own, theirs, cost []float64 // cost is the processor's time for a peer's answer by that for one's own
	load(b, peer.Addrs()[0], "/v1/data/guard/deny", input, conns, turn/4, 0, "no 99")
	load(b, r.Address.String(), "/v1/events/pre_tool_execution", event, conns, turn/4, 0, `"block"`)
	for range 3 { // turns, so that what else the machine does meets both
		began := used(b)
		rate, _ := load(b, r.Address.String(), "/v1/events/pre_tool_execution", event, conns, turn, 0, `"block"`)
		own = append(own, rate)
		between := used(b)
		other, _ := load(b, peer.Addrs()[0], "/v1/data/guard/deny", input, conns, turn, 0, "no 99")
		theirs = append(theirs, other)
		cost = append(cost, float64(used(b)-between)/other/(float64(between-began)/rate)) // both turns last as long
	}
	slices.Sort(own)
	slices.Sort(theirs)
	slices.Sort(cost)
	const half = conns * time.Second / (25_000 / 2) // between two events of a connection
	_, p99 := load(b, r.Address.String(), "/v1/events/pre_tool_execution", event, conns, turn, half, `"block"`)
	b.ResetTimer() // the turns are the measurement
	b.ReportMetric(own[1], "decisions/s")
	b.ReportMetric(theirs[1], "opa/s")
	b.ReportMetric(own[1]/theirs[1], "times-opa")
	b.ReportMetric(cost[1], "times-opa-in-cpu")
	b.ReportMetric(float64(p99.Microseconds())/1000, "p99-ms-at-half")
	b.ReportMetric(0, "ns/op")
}
