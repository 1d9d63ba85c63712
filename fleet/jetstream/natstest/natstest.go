// Package natstest starts a cluster of real NATS servers for tests.
package natstest

import (
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/fleet/jetstream/link"
)

// toolsEnv names the folder of the programs that .ci/fleet installs.
const toolsEnv = "HOOKC_TEST_FLEET"

// Patience ends a test that hangs.
const Patience = 2 * time.Minute

// Cluster is three servers, each a process.
type Cluster struct {
	t       testing.TB
	program string
	names   []string
	dirs    []string
	clients []int
	routes  []int
	leaves  []int
	more    string
	running []*exec.Cmd
}

// Start starts the servers and waits until they keep messages.
func Start(t testing.TB) *Cluster {
	t.Helper()
	c := &Cluster{t: t, program: filepath.Join(os.Getenv(toolsEnv), "nats-server"), running: make([]*exec.Cmd, 3)}
	if _, err := os.Stat(c.program); err != nil || os.Getenv(toolsEnv) == "" {
		if os.Getenv(toolsEnv) != "" {
			t.Fatalf("%s has no nats-server: %v", toolsEnv, err)
		}
		t.Skip(toolsEnv + " is not set: .ci/fleet installs nats-server")
	}
	for i := range 3 {
		c.names = append(c.names, fmt.Sprintf("s%d", i))
		c.dirs = append(c.dirs, t.TempDir())
		c.clients, c.routes, c.leaves = append(c.clients, port(t)), append(c.routes, port(t)), append(c.leaves, port(t))
	}
	for i := range 3 {
		c.Up(i)
	}
	t.Cleanup(func() {
		for i := range 3 {
			c.Kill(i)
		}
	})
	c.ready()
	return c
}

// given are the ports that this process has given out.
var given sync.Map

// port is a free port that no outgoing connection is given, so that a server finds it free
// again after it was killed. It is below those that Linux and IANA keep for them.
func port(t testing.TB) int {
	for range 1000 {
		n := 10_000 + rand.IntN(20_000)
		if _, taken := given.LoadOrStore(n, true); taken {
			continue
		}
		if l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", n)); err == nil {
			require.NoError(t, l.Close())
			return n
		}
	}
	require.Fail(t, "no port is free")
	return 0
}

// URL has the addresses of all servers.
func (c *Cluster) URL() string {
	var out []string
	for i := range 3 {
		out = append(out, c.At(i))
	}
	return strings.Join(out, ",")
}

// At is the address of one server.
func (c *Cluster) At(i int) string { return fmt.Sprintf("nats://127.0.0.1:%d", c.clients[i]) }

// Again kills all servers and starts them again, with more in their configuration.
func (c *Cluster) Again(more string) {
	c.more = more
	for i := range 3 {
		c.Kill(i)
	}
	for i := range 3 {
		c.Up(i)
	}
}

// Up starts a server, again on what it kept.
func (c *Cluster) Up(i int) {
	config := fmt.Sprintf(`server_name: %s
listen: "127.0.0.1:%d"
jetstream { store_dir: %q, domain: hub, sync_interval: always, max_file: 2GB, max_mem: 64MB }
leafnodes { listen: "127.0.0.1:%d" }
%s
cluster { name: test, listen: "127.0.0.1:%d", routes: ["nats://127.0.0.1:%d", "nats://127.0.0.1:%d", "nats://127.0.0.1:%d"] }
`, c.names[i], c.clients[i], c.dirs[i], c.leaves[i], c.more, c.routes[i], c.routes[0], c.routes[1], c.routes[2])
	c.running[i] = c.start(c.dirs[i], config)
}

// start starts a server with a configuration, which it keeps in dir.
func (c *Cluster) start(dir, config string) *exec.Cmd {
	path := filepath.Join(dir, "nats.conf")
	require.NoError(c.t, os.WriteFile(path, []byte(config), 0o600))
	cmd := exec.Command(c.program, "-c", path, "-l", filepath.Join(dir, "log"))
	require.NoError(c.t, cmd.Start())
	return cmd
}

// Leaf starts a server that keeps nothing and hands on to the cluster, as each machine or
// site of a fleet may have one, and gives its address.
func (c *Cluster) Leaf() string {
	at := port(c.t)
	var remotes []string
	for _, leaf := range c.leaves {
		remotes = append(remotes, fmt.Sprintf(`"nats-leaf://127.0.0.1:%d"`, leaf))
	}
	cmd := c.start(c.t.TempDir(), fmt.Sprintf("server_name: leaf\nlisten: \"127.0.0.1:%d\"\nleafnodes { reconnect: 1, remotes: [{urls: [%s]}] }\n", at, strings.Join(remotes, ", ")))
	c.t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // killed is how it ends
	})
	return fmt.Sprintf("nats://127.0.0.1:%d", at)
}

// Kill kills a server as kill -9 does.
func (c *Cluster) Kill(i int) {
	if cmd := c.running[i]; cmd != nil {
		c.running[i] = nil
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // killed is how it ends
	}
}

// Hang has a server answer nobody while its connections stay, as where the network is
// cut, until the end is called.
func (c *Cluster) Hang(i int) (end func()) {
	process := c.running[i].Process
	require.NoError(c.t, process.Signal(syscall.SIGSTOP))
	return func() { require.NoError(c.t, process.Signal(syscall.SIGCONT)) }
}

// Slow has each write of a server take longer to reach the disk, until the end is called.
func (c *Cluster) Slow(i int) (end func()) {
	at, err := exec.LookPath("strace")
	require.NoError(c.t, err)
	cmd := exec.Command(at, "-f", "-o", filepath.Join(c.dirs[i], "trace"), "-e", "trace=fsync", "-e", "inject=fsync:delay_enter=100000", "-p", strconv.Itoa(c.running[i].Process.Pid))
	said := filepath.Join(c.dirs[i], "strace")
	cmd.Stderr, err = os.Create(said)
	require.NoError(c.t, err)
	require.NoError(c.t, cmd.Start())
	Until(c.t, "strace is there", func() bool {
		text, err := os.ReadFile(said)
		return err == nil && strings.Contains(string(text), "attached")
	})
	return func() {
		Until(c.t, "a write that was slow", func() bool { // the others may keep all before this one does
			traced, err := os.ReadFile(filepath.Join(c.dirs[i], "trace"))
			return err == nil && strings.Contains(string(traced), "fsync(")
		})
		require.NoError(c.t, cmd.Process.Signal(os.Interrupt))
		_ = cmd.Wait() // a signal is how it ends
	}
}

// Domain is that of the cluster's JetStream.
const Domain = "hub"

// Link is a connection to the cluster.
func (c *Cluster) Link() *link.Link { return c.connect(&link.Fleet{URL: c.URL(), Replicas: 3}) }

// LinkByLeaf is a connection through a leaf node.
func (c *Cluster) LinkByLeaf() *link.Link {
	return c.connect(&link.Fleet{URL: c.Leaf(), Domain: Domain, Replicas: 3})
}

func (c *Cluster) connect(f *link.Fleet) *link.Link {
	l, err := f.Connect("test")
	require.NoError(c.t, err)
	c.t.Cleanup(l.Close)
	return l
}

// ready waits until the cluster has a leader.
func (c *Cluster) ready() {
	conn, err := nats.Connect(c.URL(), nats.RetryOnFailedConnect(true), nats.MaxReconnects(-1))
	require.NoError(c.t, err)
	defer conn.Close()
	js, err := conn.JetStream()
	require.NoError(c.t, err)
	Until(c.t, "the cluster has a leader", func() bool {
		if _, err := js.AddStream(&nats.StreamConfig{Name: "READY", Subjects: []string{"ready"}, Replicas: 3}); err != nil {
			return false
		}
		return js.DeleteStream("READY") == nil
	})
}

// Until waits for what a test wants to see.
func Until(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(Patience); !ok(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not seen: %s", what)
		}
	}
}
