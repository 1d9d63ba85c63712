package simulation

import (
	"bytes"
	"context"
	"crypto/rand"
	"flag"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/open-policy-agent/opa/v1/plugins"
	"github.com/open-policy-agent/opa/v1/plugins/logs"
	"github.com/open-policy-agent/opa/v1/server"
	"github.com/open-policy-agent/opa/v1/storage/inmem"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/internal/bundle"
)

var update = flag.Bool("update", false, "write the table into docs/fleet.md")

// uploadLimit is the most that OPA's plugin sends in one request.
const uploadLimit = 32768

// sizes are those of real messages.
type sizes struct {
	first, second []byte  // bundles of one rule, which take less time to read
	weight        int     // a bundle of a hundred rules
	unchanged     int     // an answer without a bundle, and its request
	header        int     // a request of the log without its body, and its answer
	event         float64 // one decision in the log, compressed
}

// counted counts what goes through its connections.
type counted struct {
	net.Listener
	n *atomic.Int64
}

type counting struct {
	net.Conn
	n *atomic.Int64
}

func (c counted) Accept() (net.Conn, error) {
	conn, err := c.Listener.Accept()
	return counting{conn, c.n}, err
}
func (c counting) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.n.Add(int64(n))
	return n, err
}
func (c counting) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	c.n.Add(int64(n))
	return n, err
}

// measured takes the sizes from real parts: bundles that hookc's packing makes, answers
// over a real connection, and the requests of OPA's plugin for decision logs.
func measured(t *testing.T) (z sizes) {
	t.Helper()
	z.first, z.second, z.weight = packed(t, "v1", 1), packed(t, "v2", 1), len(packed(t, "v1", 100))
	var wire, body atomic.Int64
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n, _ := io.Copy(io.Discard, r.Body)
		body.Add(n)
		if r.Method == http.MethodGet {
			w.Header().Set("ETag", `"6743a2b1-12f"`)
			http.ServeContent(w, r, "", time.Unix(1, 0), bytes.NewReader(z.first))
		}
	}))
	s.Listener = counted{s.Listener, &wire}
	s.Start()
	defer s.Close()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+"/bundle.tar.gz", nil)
	require.NoError(t, err)
	for name, value := range map[string]string{"If-None-Match": `"6743a2b1-12f"`, "Prefer": "modes=snapshot,delta", "User-Agent": "Open Policy Agent/1.22.0 (linux, amd64)", "Authorization": "Bearer " + strings.Repeat("x", 40)} {
		r.Header.Set(name, value)
	}
	answer, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	answer.Body.Close()
	require.Equal(t, http.StatusNotModified, answer.StatusCode)
	z.unchanged = int(wire.Load())

	const events = 3000
	wire.Store(0)
	m, err := plugins.New(fmt.Appendf(nil, `{"services":{"s":{"url":%q}},"labels":{"team":"payments"}}`, s.URL), "node-1", inmem.New())
	require.NoError(t, err)
	config, err := logs.NewConfigBuilder().WithBytes([]byte(`{"service":"s"}`)).WithServices([]string{"s"}).Parse()
	require.NoError(t, err)
	plugin := logs.New(config, m)
	require.NoError(t, plugin.Start(t.Context()))
	var result any = map[string]any{"action": "proceed", "by": "guard"}
	for i := range events {
		var input any = map[string]any{"event": "pre_tool_execution", "session_id": fmt.Sprintf("%032x", i*2654435761%10007), "tool_name": "Bash",
			"tool_input": map[string]any{"command": fmt.Sprintf("go test ./pkg/part%d -run 'TestCase%d$' -count=1", i*7919%613, i*104729%9973), "description": "Run the tests of one package"}, "tool_use_id": rand.Text(), "cwd": "/home/user/project"}
		require.NoError(t, plugin.Log(t.Context(), &server.Info{DecisionID: strings.ToLower(rand.Text()),
			Path: "hookc/decision", Timestamp: time.Unix(1_790_000_000, int64(i)*1e8), Input: &input, Results: &result}))
	}
	within, cancel := context.WithTimeout(t.Context(), time.Minute) // without a deadline it drops what it holds
	defer cancel()
	plugin.Stop(within)
	require.Greater(t, body.Load(), int64(events)*20)
	z.event = float64(body.Load()) / events
	z.header = int(wire.Load()-body.Load()) / int(body.Load()/uploadLimit+1)
	return z
}

// packed is a bundle of a policy of so many rules.
func packed(t *testing.T, revision string, many int) []byte {
	t.Helper()
	dir := t.TempDir()
	rules := "package guard\n"
	for i := range many {
		rules += fmt.Sprintf("\ndeny contains \"%s: rule %d\" if {\n\tinput.tool_name == \"Bash\"\n\tcontains(input.tool_input.command, \"word-%d\")\n}\n", revision, i, i*7919%997)
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "guard.rego"), []byte(rules), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "hooks.yaml"), []byte("pre_tool_execution:\n  - {name: guard, type: rego, file: guard.rego}\n"), 0o644))
	b, err := bundle.FromFolder(dir)
	require.NoError(t, err)
	require.NoError(t, bundle.Describe(b, revision, nil, bundle.About{Serial: 1}))
	var out bytes.Buffer
	require.NoError(t, bundle.Write(&out, b))
	return out.Bytes()
}

// TestFleet: every node has a new revision within two of its polls; servers that come
// back after an hour are met by no more than the nodes there are in any second. With
// HOOKC_TEST_NODES=10000 it is the simulation whose table is in docs/fleet.md.
func TestFleet(t *testing.T) {
	many, whole := 300, false
	if said := os.Getenv("HOOKC_TEST_NODES"); said != "" {
		var err error
		many, err = strconv.Atoi(said)
		require.NoError(t, err)
		whole = many == 10000
	}
	z := measured(t)
	f, nodes := simulate(t, many, 100*float64(many), z)
	latest, polls := time.Duration(0), int64(0)
	for _, n := range nodes {
		require.Equal(t, "v2", n.revision.Load())
		latest, polls = max(latest, time.Duration(n.second.Load())-published), max(polls, n.polls.Load())
	}
	assert.LessOrEqual(t, polls, int64(2), "polls until the new revision was there")
	assert.LessOrEqual(t, latest, 121*time.Second)
	healed := f.bundles.between(back, back+145*time.Second)
	assert.GreaterOrEqual(t, healed.mean*145, float64(many), "every node is back within one longest delay, and its jitter")
	assert.Less(t, f.bundles.between(back, end).peak, float64(many)/10, "who comes back is spread")
	text := table(f, z, latest)
	t.Log("\n" + text)
	if whole {
		inDocs(t, text)
	}
}

// table is what docs/fleet.md shows.
func table(f *fleet, z sizes, latest time.Duration) string {
	out := fmt.Sprintf("A bundle of 100 rules has %d bytes, an answer that nothing changed %d with its request, one decision in the log %.0f. "+
		"The last of the nodes had the new revision after %.0f s.\n\n| load | requests a second, mean | peak | kB a second, mean | peak |\n|---|---|---|---|---|\n", z.weight, z.unchanged, z.event, latest.Seconds())
	row := func(what string, l load) {
		out += fmt.Sprintf("| %s | %.0f | %.0f | %.0f | %.0f |\n", what, l.mean, l.peak, l.meanBytes/1000, l.peakBytes/1000)
	}
	row("bundles: all nodes start in one second", f.bundles.between(0, time.Second))
	row("bundles: nothing new", f.bundles.between(10*time.Minute, published))
	row("bundles: two minutes of a new revision", f.bundles.between(published, published+2*time.Minute))
	row("bundles: tried in vain, all servers away", f.tries.between(gone+10*time.Minute, back))
	row("bundles: two minutes after servers are back", f.bundles.between(back, back+2*time.Minute))
	row("log: 100 decisions a minute and node", f.logs.between(15*time.Minute, gone))
	row("log: ten minutes after an hour away", f.logs.between(back, back+10*time.Minute))
	return out
}

// inDocs: the page has the table, but for what chance makes of it.
func inDocs(t *testing.T, text string) {
	const name, from, to = "../../docs/fleet.md", "<!-- simulation -->\n", "<!-- end -->"
	page, err := os.ReadFile(name)
	require.NoError(t, err)
	before, rest, ok := strings.Cut(string(page), from)
	require.True(t, ok)
	was, after, ok := strings.Cut(rest, to)
	require.True(t, ok)
	if *update {
		require.NoError(t, os.WriteFile(name, []byte(before+from+text+to+after), 0o644))
		return
	}
	number := regexp.MustCompile(`\d+`)
	require.Equal(t, number.ReplaceAllString(text, "N"), number.ReplaceAllString(was, "N"))
	got := number.FindAllString(text, -1)
	for i, said := range number.FindAllString(was, -1) {
		a, err := strconv.ParseFloat(said, 64)
		require.NoError(t, err)
		b, err := strconv.ParseFloat(got[i], 64)
		require.NoError(t, err)
		assert.LessOrEqual(t, math.Abs(a-b), 10+0.35*max(a, b), "number %d of the table: the page says %s, the simulation %s", i+1, said, got[i])
	}
}
