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
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
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
			first := began.Add(pause * time.Duration(i) / time.Duration(conns)) // the connections take turns
			for next := first; time.Since(began) < lasting; next = next.Add(pause) {
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

// peerVariable makes this program `opa run --server` of the rules it names.
const peerVariable = "HOOKC_TEST_OPA"

func TestMain(m *testing.M) {
	if rules := os.Getenv(peerVariable); rules != "" {
		fmt.Fprintln(os.Stderr, serveOPA(rules))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// serveOPA is OPA's own server, which says where it listens on stdout.
func serveOPA(rules string) error {
	params := runtime.NewParams()
	params.Addrs, params.Paths, params.Logger, params.GracefulShutdownPeriod = &[]string{"127.0.0.1:0"}, []string{rules}, logging.NewNoOpLogger(), 1
	params.Output = io.Discard
	ctx := context.Background()
	opa, err := runtime.NewRuntime(ctx, params)
	if err != nil {
		return err
	}
	go func() {
		for len(opa.Addrs()) == 0 {
			time.Sleep(10 * time.Millisecond)
		}
		fmt.Println("listens on", opa.Addrs()[0])
	}()
	return opa.Serve(ctx)
}

// served is a server in a process of its own.
type served struct {
	address string
	id      int
}

// start starts a server and waits until it says where it listens.
func start(b *testing.B, c *exec.Cmd) served {
	said, write, err := os.Pipe()
	require.NoError(b, err)
	c.Stdout, c.Stderr = write, write
	require.NoError(b, c.Start())
	write.Close()
	b.Cleanup(func() {
		c.Process.Kill()
		c.Wait()
		said.Close()
	})
	for lines := bufio.NewScanner(said); lines.Scan(); {
		if _, address, found := strings.Cut(lines.Text(), " on 127.0.0.1:"); found {
			return served{"127.0.0.1:" + address, c.Process.Pid}
		}
		b.Log(lines.Text())
	}
	b.Fatal("the server did not start")
	return served{}
}

// used is the time that a server has had of the processors, in hundredths of a second.
func (s served) used(b *testing.B) float64 {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.id))
	require.NoError(b, err)
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	user, _ := strconv.ParseFloat(string(fields[11]), 64)
	system, _ := strconv.ParseFloat(string(fields[12]), 64)
	return user + system
}

// BenchmarkServer compares `hookcd --listen` with `opa run --server`, in one run on one
// machine, by the same rules and events over HTTP/1.1 with connections that stay open.
// Each server and the load are processes of their own, and share the processors.
func BenchmarkServer(b *testing.B) {
	module, event := rules()
	dir := b.TempDir()
	rego, hooks, hookcd := filepath.Join(dir, "guard.rego"), filepath.Join(dir, "hooks.yaml"), filepath.Join(dir, "hookcd")
	require.NoError(b, os.WriteFile(rego, []byte(module), 0o600))
	require.NoError(b, os.WriteFile(hooks, []byte("pre_tool_execution:\n  - {name: guard, type: rego, file: guard.rego}\n"), 0o600))
	out, err := exec.Command("go", "build", "-o", hookcd, "../cmd/hookcd").CombinedOutput()
	require.NoError(b, err, string(out))
	own := start(b, exec.Command(hookcd, "--listen", "127.0.0.1:0", "--policy", hooks))
	peer := exec.Command(os.Args[0])
	peer.Env = append(os.Environ(), peerVariable+"="+rego)
	opa := start(b, peer)
	const turn, conns = 2 * time.Second, 16
	input := `{"input":` + event + `}`
	ask := func(lasting, pause time.Duration) (rate float64, p99 time.Duration) {
		return load(b, own.address, "/v1/events/pre_tool_execution", event, conns, lasting, pause, `"block"`)
	}
	askPeer := func(lasting time.Duration) float64 {
		rate, _ := load(b, opa.address, "/v1/data/guard/deny", input, conns, lasting, 0, "no 99")
		return rate
	}
	askPeer(turn / 4)
	ask(turn/4, 0)
	var rates, theirs, times, cost []float64 // cost is the processor's time for an answer of OPA's by that for one of hookcd's
	for range 5 {                            // turns, so that what else the machine does meets both
		before := own.used(b)
		rate, _ := ask(turn, 0)
		spent := own.used(b) - before
		before = opa.used(b)
		other := askPeer(turn)
		cost = append(cost, (opa.used(b)-before)/other/(spent/rate)) // both turns last as long
		rates, theirs, times = append(rates, rate), append(theirs, other), append(times, rate/other)
	}
	var late []float64
	const half = conns * time.Second / (25_000 / 2) // between two events of a connection
	for range 3 {
		_, p99 := ask(turn, half)
		late = append(late, float64(p99.Microseconds())/1000)
	}
	b.ResetTimer() // the turns are the measurement
	for name, all := range map[string][]float64{"decisions/s": rates, "opa/s": theirs, "times-opa": times, "times-opa-in-cpu": cost, "p99-ms-at-half": late} {
		slices.Sort(all)
		b.ReportMetric(all[len(all)/2], name)
	}
	b.ReportMetric(0, "ns/op")
}
