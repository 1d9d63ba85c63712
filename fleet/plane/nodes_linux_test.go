package plane_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"math/big"
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

	"github.com/hookc/hookc/policy/bundled"
)

// network is a bridge in a namespace of its own, to which nodes and their server are
// plugged; each of them is a namespace too.
type network struct {
	t    *testing.T
	ip   string
	name string
}

func newNetwork(t *testing.T) *network {
	t.Helper()
	n := &network{t: t, ip: tool(t, "ip"), name: fmt.Sprintf("hk%d", os.Getpid()%100000)}
	if out, err := exec.Command(n.ip, "netns", "add", n.name).CombinedOutput(); err != nil {
		if os.Getenv(toolsEnv) == "" {
			t.Skipf("namespaces need root: %s", out)
		}
		require.NoError(t, err, string(out))
	}
	t.Cleanup(func() { _ = exec.Command(n.ip, "netns", "del", n.name).Run() })
	n.do("-n", n.name, "link", "add", "br0", "type", "bridge")
	n.do("-n", n.name, "link", "set", "br0", "up")
	return n
}

func (n *network) do(words ...string) {
	n.t.Helper()
	out, err := exec.Command(n.ip, words...).CombinedOutput()
	require.NoError(n.t, err, "ip %v: %s", words, out)
}

func (n *network) address(i int) string { return fmt.Sprintf("10.231.0.%d", i+1) }

// join makes the namespace of number i and plugs it in.
func (n *network) join(i int) (space string) {
	n.t.Helper()
	space = fmt.Sprintf("%s-%d", n.name, i)
	n.do("netns", "add", space)
	n.t.Cleanup(func() { _ = exec.Command(n.ip, "netns", "del", space).Run() })
	port := fmt.Sprintf("p%d", i)
	n.do("-n", n.name, "link", "add", port, "type", "veth", "peer", "name", "eth0", "netns", space)
	n.do("-n", n.name, "link", "set", port, "master", "br0", "up")
	n.do("-n", space, "addr", "add", n.address(i)+"/24", "dev", "eth0")
	n.do("-n", space, "link", "set", "lo", "up")
	n.do("-n", space, "link", "set", "eth0", "up")
	return space
}

// plug plugs number i in or out.
func (n *network) plug(i int, state string) {
	n.t.Helper()
	n.do("-n", n.name, "link", "set", fmt.Sprintf("p%d", i), state)
}

// node is one machine: hookcd as a process in a network and a disk of its own.
type node struct {
	machine
	network *network
	number  int
	space   string
	disk    string
	before  []string // what hookcd is run by
}

// inside is a command in the node's namespaces.
func (n *node) inside(words ...string) *exec.Cmd {
	script := `mount --bind "$1" "$2" && shift 2 && exec "$@"`
	cmd := exec.Command(n.network.ip, append([]string{"netns", "exec", n.space, "sh", "-c", script, "sh", n.disk, n.managed}, words...)...)
	cmd.Dir = n.empty
	cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+filepath.Join(n.empty, "state"), "XDG_CONFIG_HOME="+filepath.Join(n.empty, "config"), "HOME="+n.empty)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return cmd
}

func (n *node) begin() {
	n.t.Helper()
	n.log = &journal{}
	n.running = n.inside(append(append([]string{}, n.before...), n.hookcd, "--config", n.config, "--id", n.space)...)
	n.running.Stderr = n.log
	require.NoError(n.t, n.running.Start())
	cmd := n.running
	n.t.Cleanup(func() { kill(cmd) })
}

func (n *node) revision() string {
	list, err := bundled.Read(n.disk, func(os.FileInfo) error { return nil })
	if err != nil || len(list) == 0 {
		return ""
	}
	return list[0].Revision
}

// guarded is the decision on what every revision refuses.
func (n *node) guarded() (string, error) {
	cmd := n.inside(n.hookc, "run", "--json")
	cmd.Stdin = strings.NewReader(`{"event":"pre_tool_execution","tool_name":"Bash","tool_input":{"command":"always"}}`)
	out, err := cmd.Output()
	var d struct{ Action, By string }
	if json.Unmarshal(out, &d) != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return d.Action + " by " + d.By, nil
}

// dated makes a certificate for an address and a time.
func dated(t *testing.T, dir, ip string, from, to time.Time) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	ca, err := os.ReadFile(filepath.Join(dir, "ca.key"))
	var authority *ecdsa.PrivateKey
	parent := &x509.Certificate{SerialNumber: big.NewInt(1), IsCA: true, BasicConstraintsValid: true, NotBefore: time.Now().Add(-time.Hour * 999), NotAfter: time.Now().Add(time.Hour * 999)}
	if err != nil {
		authority, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		require.NoError(t, err)
		der, err := x509.MarshalECPrivateKey(authority)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(dir, "ca.key"), der, 0o600))
		der, err = x509.CreateCertificate(rand.Reader, parent, parent, &authority.PublicKey, authority)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(dir, "ca.pem"), pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o644))
	} else {
		authority, err = x509.ParseECPrivateKey(ca)
		require.NoError(t, err)
	}
	der, err := x509.CreateCertificate(rand.Reader, &x509.Certificate{SerialNumber: big.NewInt(time.Now().UnixNano()), IPAddresses: []net.IP{net.ParseIP(ip)}, NotBefore: from, NotAfter: to}, parent, &key.PublicKey, authority)
	require.NoError(t, err)
	private, err := x509.MarshalPKCS8PrivateKey(key)
	require.NoError(t, err)
	publish(t, filepath.Join(dir, "cert.pem"), pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
	publish(t, filepath.Join(dir, "key.pem"), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}))
}

// webServer is nginx in a namespace.
type webServer struct {
	t             *testing.T
	network       *network
	space, dir    string
	nginx, access string
	running       *exec.Cmd
}

func (w *webServer) start() {
	w.t.Helper()
	w.running = exec.Command(w.network.ip, "netns", "exec", w.space, w.nginx, "-c", filepath.Join(w.dir, "nginx.conf"), "-p", w.dir, "-e", "stderr")
	w.running.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	require.NoError(w.t, w.running.Start())
	cmd := w.running
	w.t.Cleanup(func() { kill(cmd) })
}

// asked is how often an address was answered with a bundle, or that there is no newer.
func (w *webServer) asked(address string) (n int) {
	text, _ := os.ReadFile(w.access)
	for line := range strings.Lines(string(text)) {
		if f := strings.Fields(line); len(f) > 1 && f[0] == address && (f[1] == "200" || f[1] == "304") {
			n++
		}
	}
	return n
}

func newWebServer(t *testing.T, n *network) *webServer {
	t.Helper()
	w := &webServer{t: t, network: n, space: n.join(0), dir: t.TempDir(), nginx: tool(t, "nginx")}
	w.access = filepath.Join(w.dir, "access.log")
	require.NoError(t, os.Chmod(w.dir, 0o755))
	require.NoError(t, os.Mkdir(filepath.Join(w.dir, "www"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(w.dir, "nginx.conf"), fmt.Appendf(nil, `user root; daemon off; master_process off; pid %[1]s/pid; error_log stderr;
events {}
http {
  client_body_temp_path %[1]s/t1; proxy_temp_path %[1]s/t2; fastcgi_temp_path %[1]s/t3; uwsgi_temp_path %[1]s/t4; scgi_temp_path %[1]s/t5;
  log_format short "$remote_addr $status"; access_log %[1]s/access.log short; keepalive_timeout 0;
  server { listen %[2]s:443 ssl; ssl_certificate %[1]s/cert.pem; ssl_certificate_key %[1]s/key.pem; root %[1]s/www; }
}
`, w.dir, n.address(0)), 0o644))
	return w
}

// TestNodes: nodes in namespaces of their own take their policy from a real server.
// Whatever is killed, cut off, slow, expired, wrongly signed or cut short in turn, under
// load: every node has the new revision within two answered polls after that is over,
// and what every revision refuses is refused at every moment.
func TestNodes(t *testing.T) {
	k, network := newSigner(t), newNetwork(t)
	web := newWebServer(t, network)
	good := func() {
		dated(t, web.dir, network.address(0), time.Now().Add(-time.Hour), time.Now().Add(time.Hour))
	}
	good()
	served := filepath.Join(web.dir, "www", "bundle.tar.gz")
	publish(t, served, k.pack(t, "v0", 1, policyOf("v0")))
	web.start()
	s := newSite(t)
	nodes := make([]*node, 3)
	for i := range nodes {
		n := &node{machine: *newMachine(t, s, k, ""), network: network, number: i + 1, space: network.join(i + 1), disk: t.TempDir()}
		require.NoError(t, os.Chmod(n.disk, 0o755))
		key, err := json.Marshal(k.public)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(n.config, fmt.Appendf(nil, "services: {web: {url: 'https://%s', response_header_timeout_seconds: 2, tls: {ca_cert: %s}}}\nkeys: {fleet: {key: %s, algorithm: ES256}}\nbundles: {main: {service: web, resource: bundle.tar.gz, %s}}\n",
			network.address(0), filepath.Join(web.dir, "ca.pem"), key, quick), 0o600))
		nodes[i] = n
	}
	for _, n := range nodes { // all folders are there now, and stay
		n.begin()
	}
	for _, n := range nodes {
		n.until("v0 in force", func() bool { return n.revision() == "v0" })
	}
	done := make(chan struct{})
	var load sync.WaitGroup
	for _, n := range nodes {
		load.Go(func() {
			for fired := 0; ; fired++ {
				select {
				case <-done:
					assert.Positive(t, fired)
					return
				default:
				}
				got, err := n.guarded()
				assert.NoError(t, err)
				assert.Equal(t, "block by guard", got, n.space)
			}
		})
	}
	ended := sync.OnceFunc(func() { close(done); load.Wait() })
	t.Cleanup(ended)
	number := 0
	next := func() (revision string, packed []byte) {
		number++
		revision = fmt.Sprintf("v%d", number)
		return revision, k.pack(t, revision, int64(number+1), policyOf(revision))
	}
	refused := func(says string) {
		for _, n := range nodes {
			n.until("it says "+says, func() bool { return strings.Contains(n.said(), says) })
		}
	}
	for _, fault := range faults(t, web, nodes, good, refused) {
		fault.begin()
		revision, packed := next()
		if fault.meanwhile != nil {
			fault.meanwhile(packed)
		}
		publish(t, served, packed)
		before := map[*node]int{}
		for _, n := range nodes {
			before[n] = web.asked(network.address(n.number))
		}
		fault.heal()
		for _, n := range nodes {
			polls := 0
			n.until(fault.name+": "+revision+" in force", func() bool {
				seen := web.asked(network.address(n.number)) - before[n] // read before the revision: never too few
				if n.revision() == revision {
					return true
				}
				polls = seen
				return false
			})
			assert.LessOrEqual(t, polls, 2, "%s, %s: answered polls before %s came into force", fault.name, n.space, revision)
		}
	}
	ended()
}

// fault is something that goes wrong, what is tried meanwhile, and how it ends.
type fault struct {
	name      string
	begin     func()
	meanwhile func(packed []byte)
	heal      func()
}

func faults(t *testing.T, web *webServer, nodes []*node, good func(), refused func(says string)) (out []fault) {
	nothing := func() {}
	served := filepath.Join(web.dir, "www", "bundle.tar.gz")
	for _, n := range nodes {
		out = append(out, fault{"node killed", func() { kill(n.running) }, nil, n.begin})
	}
	restart := func() { kill(web.running); web.start() }
	last := nodes[len(nodes)-1]
	return append(out,
		fault{"server killed", func() { kill(web.running) }, func([]byte) { refused("request failed") }, web.start},
		fault{"node cut off", func() { web.network.plug(1, "down") }, func([]byte) {
			nodes[0].until("it is cut off", func() bool { return strings.Contains(nodes[0].said(), "request failed") })
		}, func() { web.network.plug(1, "up") }},
		fault{"server cut off", func() { web.network.plug(0, "down") }, nil, func() { web.network.plug(0, "up") }},
		fault{"certificate expired", func() {
			dated(t, web.dir, web.network.address(0), time.Now().Add(-2*time.Hour), time.Now().Add(-time.Hour))
			restart()
		}, func([]byte) { refused("expired") }, func() { good(); restart() }},
		fault{"clock of the server ahead", func() {
			dated(t, web.dir, web.network.address(0), time.Now().Add(time.Hour), time.Now().Add(2*time.Hour))
			restart()
		}, func([]byte) { refused("not yet valid") }, func() { good(); restart() }},
		fault{"wrong signature", nothing, func([]byte) {
			publish(t, served, newSigner(t).pack(t, "bad", 99, policyOf("bad")))
			refused("failed to verify")
		}, nothing},
		fault{"cut short", nothing, func(packed []byte) { publish(t, served, packed[:len(packed)*2/3]); refused("EOF") }, nothing},
		fault{"slow disk", func() {
			kill(last.running)
			last.before = []string{tool(t, "strace"), "-f", "-qq", "-o", "/dev/null", "-e", "trace=fsync", "-e", "inject=fsync:delay_enter=200000"}
			last.begin()
		}, nil, nothing})
}
