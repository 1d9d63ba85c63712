package server

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/open-policy-agent/opa/v1/logging"
	opa "github.com/open-policy-agent/opa/v1/runtime"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
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

// sender is a connection of the load.
type sender struct {
	fd   int
	busy bool
	at   time.Time // what is asked counts from here
	next time.Time // when it asks again, where that is said
	got  []byte
}

// load sends one event over some connections, again and again, and returns how many
// answers came in a second and how long 99 of 100 took at most. With a pause each asks
// when that is over, and an answer counts from when its question was due. One thread
// does it all with as few calls of the system as can be: it shares the processors with
// the server.
func load(b *testing.B, address, path, event string, conns int, lasting time.Duration, pause time.Duration, want string) (rate float64, p99 time.Duration) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	request := fmt.Appendf(nil, "POST %s HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", path, len(event), event)
	to, err := net.ResolveTCPAddr("tcp4", address)
	require.NoError(b, err)
	ready, err := unix.EpollCreate1(0)
	require.NoError(b, err)
	defer unix.Close(ready)
	timer, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK)
	require.NoError(b, err)
	defer unix.Close(timer)
	watch := func(fd, i int) {
		require.NoError(b, unix.EpollCtl(ready, unix.EPOLL_CTL_ADD, fd, &unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(i)}))
	}
	watch(timer, conns)
	began := time.Now()
	end := began.Add(lasting)
	all := make([]sender, conns)
	for i := range all {
		fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0)
		require.NoError(b, err)
		defer unix.Close(fd)
		require.NoError(b, unix.Connect(fd, &unix.SockaddrInet4{Port: to.Port, Addr: [4]byte(to.IP.To4())}))
		require.NoError(b, unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1))
		all[i] = sender{fd: fd, got: make([]byte, 0, 64<<10), next: began.Add(pause * time.Duration(i) / time.Duration(conns))} // by turns
		watch(fd, i)
	}
	var took []time.Duration
	events := make([]unix.EpollEvent, conns+1)
	for {
		now, busy, soonest := time.Now(), 0, end
		for i := range all {
			c := &all[i]
			if !c.busy && now.Before(end) && !now.Before(c.next) {
				c.busy, c.at = true, now
				if pause > 0 {
					c.at, c.next = c.next, c.next.Add(pause)
				}
				n, err := unix.Write(c.fd, request)
				require.NoError(b, err)
				require.Equal(b, len(request), n)
			}
			if c.busy {
				busy++
			} else if c.next.Before(soonest) {
				soonest = c.next
			}
		}
		if busy == 0 && !now.Before(end) {
			break
		}
		if pause > 0 && busy < conns && now.Before(end) {
			wait := unix.NsecToTimespec(max(time.Until(soonest), 1).Nanoseconds())
			require.NoError(b, unix.TimerfdSettime(timer, 0, &unix.ItimerSpec{Value: wait}, nil))
		}
		n, err := unix.EpollWait(ready, events, -1)
		if err != unix.EINTR {
			require.NoError(b, err)
		}
		for _, e := range events[:max(n, 0)] {
			if int(e.Fd) == conns {
				unix.Read(timer, make([]byte, 8))
				continue
			}
			c := &all[e.Fd]
			n, err := unix.Read(c.fd, c.got[len(c.got):cap(c.got)])
			require.NoError(b, err)
			require.Positive(b, n, "the server closed the connection")
			c.got = c.got[:len(c.got)+n]
			body, whole := answerOf(b, c.got)
			if !whole {
				continue
			}
			require.Contains(b, string(body), want)
			took = append(took, time.Since(c.at))
			c.busy, c.got = false, c.got[:0]
		}
	}
	slices.Sort(took)
	require.NotEmpty(b, took)
	return float64(len(took)) / time.Since(began).Seconds(), took[len(took)*99/100]
}

// answerOf is the body of an answer that says its length, once all of it is there.
func answerOf(b *testing.B, text []byte) (body []byte, whole bool) {
	header, body, whole := bytes.Cut(text, []byte("\r\n\r\n"))
	if !whole {
		return nil, false
	}
	require.True(b, bytes.HasPrefix(header, []byte("HTTP/1.1 200 ")), string(text))
	_, after, _ := bytes.Cut(header, []byte("Content-Length: "))
	value, _, _ := bytes.Cut(after, []byte("\r\n"))
	length, err := strconv.Atoi(string(value))
	require.NoError(b, err, string(header))
	return body, len(body) == length
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
	params := opa.NewParams()
	params.Addrs, params.Paths, params.Logger, params.GracefulShutdownPeriod = &[]string{"127.0.0.1:0"}, []string{rules}, logging.NewNoOpLogger(), 1
	params.Output = io.Discard
	ctx := context.Background()
	peer, err := opa.NewRuntime(ctx, params)
	if err != nil {
		return err
	}
	go func() {
		for len(peer.Addrs()) == 0 {
			time.Sleep(10 * time.Millisecond)
		}
		fmt.Println("listens on", peer.Addrs()[0])
	}()
	return peer.Serve(ctx)
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
	other := start(b, peer)
	const turn, conns = 2 * time.Second, 16
	input := `{"input":` + event + `}`
	ask := func(lasting, pause time.Duration) (rate float64, p99 time.Duration) {
		return load(b, own.address, "/v1/events/pre_tool_execution", event, conns, lasting, pause, `"block"`)
	}
	askPeer := func(lasting time.Duration) float64 {
		rate, _ := load(b, other.address, "/v1/data/guard/deny", input, conns, lasting, 0, "no 99")
		return rate
	}
	askPeer(turn / 4)
	ask(turn/4, 0)
	var rates, theirs, times, cost []float64 // cost is the processor's time for an answer of OPA's by that for one of hookcd's
	for range 5 {                            // turns, so that what else the machine does meets both
		before := own.used(b)
		rate, _ := ask(turn, 0)
		spent := own.used(b) - before
		before = other.used(b)
		theirRate := askPeer(turn)
		cost = append(cost, (other.used(b)-before)/theirRate/(spent/rate)) // both turns last as long
		rates, theirs, times = append(rates, rate), append(theirs, theirRate), append(times, rate/theirRate)
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
