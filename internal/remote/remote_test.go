package remote

import (
	"context"
	"encoding/json"
	"encoding/pem"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/policy"
)

// vouching is what a test has SSL_CERT_FILE say.
var vouching string

// server is what the flags say.
func server(t *testing.T, args ...string) *Server {
	t.Helper()
	for _, name := range []string{"SSL_CERT_FILE", "SSL_CERT_DIR"} {
		if os.Getenv(name) != vouching {
			t.Setenv(name, "")
		}
	}
	s, cmd := &Server{}, flag.NewFlagSet("run", flag.ContinueOnError)
	s.Flags(cmd)
	require.NoError(t, cmd.Parse(args))
	require.NoError(t, s.Check())
	return s
}

// decided is what becomes of an event that this machine's policies let through.
func decided(t *testing.T, s *Server, event policy.Event) *policy.Decision {
	t.Helper()
	in := policy.NewContext(event).Set(policy.FieldToolName, "Bash").Set(policy.FieldToolInput, map[string]any{"command": "ls"})
	return s.Decide(t.Context(), event, in, &policy.Decision{Event: event, Action: policy.Proceed})
}

const allows = `{"event":"pre_tool_execution","action":"proceed","verdict":"none","control":"go"}`

func answering(t *testing.T, status int, version, body string) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if version != "" {
			w.Header().Set(protocolHeader, version)
		}
		w.WriteHeader(status)
		io.WriteString(w, body)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// raw is a server that writes bytes after a request, and closes the connection.
func raw(t *testing.T, bytes string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = conn.Read(make([]byte, 64<<10))
			_, _ = io.WriteString(conn, bytes)
			conn.Close()
		}
	}()
	return "http://" + l.Addr().String()
}

// faults are servers that do not decide an event, and what is said of each.
func faults(t *testing.T) map[string][2]string {
	gone := httptest.NewServer(nil)
	gone.Close()
	slow := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.ReadAll(r.Body) // and then the server sees that nobody waits
		<-r.Context().Done()
	}))
	t.Cleanup(slow.Close)
	tls := httptest.NewTLSServer(nil)
	t.Cleanup(tls.Close)
	other := answering(t, 200, "1", allows)
	whole := "HTTP/1.1 200 OK\r\nHookc-Protocol: 1\r\nContent-Length: %d\r\n\r\n" + allows
	out := map[string][2]string{
		"refused":       {gone.URL, "refused"},
		"slow":          {slow.URL, "deadline"},
		"unknown TLS":   {tls.URL, "certificate"},
		"TLS to HTTP":   {strings.Replace(other, "http:", "https:", 1), "HTTP"},
		"cut":           {raw(t, fmt.Sprintf(whole, len(allows)+1)), "cut off"},
		"cut header":    {raw(t, "HTTP/1.1 200 OK\r\nHookc-Pro"), "malformed"},
		"nothing":       {raw(t, ""), "EOF"},
		"no HTTP":       {raw(t, "hello\r\n\r\n"), "malformed"},
		"no version":    {answering(t, 200, "", allows), "protocol"},
		"other version": {answering(t, 200, "2", allows), "protocol"},
		"redirect":      {answering(t, 302, "1", allows), "302"},
		"half":          {answering(t, 200, "1", allows[:40]), "cannot be read"},
		"two":           {answering(t, 200, "1", allows+allows), "cannot be read"},
		"large":         {answering(t, 200, "1", strings.Repeat(" ", maxReply)+allows), "too large"},
	}
	for _, status := range []int{201, 204, 400, 401, 403, 404, 408, 413, 422, 429, 500, 502, 503, 504} {
		out[fmt.Sprint(status)] = [2]string{answering(t, status, "1", map[bool]string{false: allows}[status == 204]), fmt.Sprint(status)}
	}
	for _, text := range []string{"", "null", "[]", `"proceed"`, "{}", "<html>proceed</html>", `{"action":"proceed"}`,
		`{"event":"stop","action":"proceed","verdict":"none","control":"go"}`, strings.Replace(allows, `"proceed"`, `"PROCEED"`, 1), strings.Replace(allows, `"proceed"`, `true`, 1),
		strings.Replace(allows, `"proceed"`, `"cancelled"`, 1), strings.Replace(allows, `"none"`, `"deny"`, 1), strings.Replace(allows, `"none"`, `"ask"`, 1), strings.Replace(allows, `"none"`, `0`, 1),
		strings.Replace(allows, `"go"`, `"halt"`, 1), strings.Replace(allows, `"go"`, `"gone"`, 1), strings.Replace(allows, `"proceed"`, `"hide"`, 1),
		strings.Replace(allows, "{", `{"reasons":"no",`, 1), strings.Replace(allows, "{", `{"patch":[],`, 1), strings.Replace(allows, "{", `{"patch":{"unheard_of":1},`, 1),
		strings.Replace(allows, "{", `{"feedback":[1],`, 1), strings.Replace(allows, "{", `{"patch":{"tool_input":"text"},`, 1)} {
		out["answer "+text] = [2]string{answering(t, 200, "1", text), "answer"}
	}
	return out
}

// TestUnreachable: whatever a server does but decide, a guarded event has the declared
// posture, any other goes on, and both say what happened.
func TestUnreachable(t *testing.T) {
	for name, fault := range faults(t) {
		t.Run(name, func(t *testing.T) {
			within := "30s"
			if name == "slow" {
				within = "10ms"
			}
			for _, e := range policy.Events() {
				event := e
				d := decided(t, server(t, "--server", fault[0], "--server-timeout", within), event)
				if strings.Contains(name, `"`+string(event)+`"`) && event != policy.PreToolExecution {
					continue // for this event it is an answer
				}
				guards := event.Spec().Class == policy.Guard
				assert.Equal(t, map[bool]policy.Action{true: policy.Block, false: policy.Proceed}[guards], d.Action, event)
				require.Len(t, d.Warnings, 1, event)
				assert.Equal(t, "HK394", d.Warnings[0].Code.ID)
				if event == policy.PreToolExecution {
					assert.Contains(t, d.Warnings[0].Text, fault[1])
					assert.Contains(t, strings.Join(d.Reasons, ""), "could not decide")
				}
			}
			d := decided(t, server(t, "--server", fault[0], "--server-timeout", within, "--on-unreachable", "allow"), policy.PreToolExecution)
			assert.Equal(t, policy.Proceed, d.Action)
			assert.Contains(t, d.Warnings[0].Text, "--on-unreachable allow")
			d = decided(t, server(t, "--server", fault[0], "--server-timeout", within, "--on-unreachable", "local"), policy.PreToolExecution)
			assert.Equal(t, managed(), d.Action == policy.Proceed, "without a bundle of its own a machine has nothing to decide by")
		})
	}
}

// TestStricter: a refusal of either counts, and what both add is there.
func TestStricter(t *testing.T) {
	const refuses = `{"event":"pre_tool_execution","action":"block","verdict":"deny","control":"go","by":"theirs","reasons":["their reason"],"additional_context":["their context"],"warnings":[{"code":"HK023","text":"theirs"}]}`
	const changes = `{"event":"pre_tool_execution","action":"proceed","verdict":"allow","control":"go","patch":{"tool_input":{"command":"ls -l"}}}`
	in := policy.NewContext(policy.PreToolExecution).Set(policy.FieldToolName, "Bash").Set(policy.FieldToolInput, map[string]any{"command": "ls"})
	ask := func(answer string, own *policy.Decision) *policy.Decision {
		own.Event = policy.PreToolExecution
		return server(t, "--server", answering(t, 200, "1", answer)).Decide(t.Context(), own.Event, in, own)
	}
	d := ask(refuses, &policy.Decision{Action: policy.Proceed, Context: []string{"own context"}})
	assert.Equal(t, policy.Block, d.Action, d.Warnings)
	assert.Equal(t, []string{"their reason"}, d.Reasons)
	assert.Equal(t, []string{"own context", "their context"}, d.Context)
	assert.Equal(t, "the policy server says: theirs", d.Warnings[0].Text)
	d = ask(refuses, &policy.Decision{Action: policy.AskUser, Verdict: policy.Ask, By: "own"})
	assert.Equal(t, "theirs", d.By)
	d = ask(allows, &policy.Decision{Action: policy.AskUser, Verdict: policy.Ask, By: "own"})
	assert.Equal(t, policy.AskUser, d.Action, "a server takes no question away")
	d = ask(changes, &policy.Decision{Action: policy.Proceed})
	assert.Equal(t, map[string]any{"tool_input": map[string]any{"command": "ls -l"}}, d.Patch)
	assert.Equal(t, policy.Allow, d.Verdict)
	own := &policy.Decision{Action: policy.Block, Verdict: policy.Deny, By: "own"}
	s := server(t, "--server", "http://127.0.0.1:1")
	assert.Same(t, own, s.Decide(t.Context(), policy.PreToolExecution, in, own), "what is refused here is not asked elsewhere")
	assert.Empty(t, own.Warnings)
}

// TestSent: the event goes out whole, as this machine's policies left it, with the
// token; the files are read again after a failure.
func TestSent(t *testing.T) {
	token := filepath.Join(t.TempDir(), "token")
	require.NoError(t, os.WriteFile(token, []byte("old\n"), 0o600))
	var heard map[string]any
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer new" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		assert.Equal(t, "/v1/events/pre_tool_execution", r.URL.Path)
		assert.NoError(t, json.NewDecoder(r.Body).Decode(&heard))
		w.Header().Set(protocolHeader, "1")
		io.WriteString(w, allows)
	}))
	defer s.Close()
	authority := filepath.Join(t.TempDir(), "ca.pem")
	require.NoError(t, os.WriteFile(authority, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}), 0o600))
	asked := server(t, "--server", s.URL+"/", "--server-ca", authority, "--server-token", token)
	assert.Equal(t, policy.Block, decided(t, asked, policy.PreToolExecution).Action)
	require.NoError(t, os.WriteFile(token, []byte("new\n"), 0o600))
	assert.Equal(t, policy.Proceed, decided(t, asked, policy.PreToolExecution).Action)
	assert.Equal(t, map[string]any{"command": "ls"}, heard["tool_input"])
	vouching = authority
	defer func() { vouching = "" }()
	t.Setenv("SSL_CERT_FILE", authority)
	d := decided(t, server(t, "--server", s.URL, "--server-token", token), policy.PreToolExecution)
	assert.Equal(t, policy.Block, d.Action, "the environment vouches for nobody")
	d = decided(t, server(t, "--server", "HTTPS"+s.URL[5:], "--server-token", token), policy.PreToolExecution)
	assert.Equal(t, policy.Block, d.Action, "however the address is written")
	t.Setenv("HTTPS_PROXY", "http://127.0.0.1:1")
	assert.Equal(t, policy.Proceed, decided(t, asked, policy.PreToolExecution).Action, "nor does it choose the way")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	d = asked.Decide(ctx, policy.PreToolExecution, policy.NewContext(policy.PreToolExecution), &policy.Decision{Action: policy.Proceed})
	assert.Equal(t, policy.Block, d.Action)
}

// TestFlags: what could be meant in two ways, or would let others answer, is refused.
func TestFlags(t *testing.T) {
	for args, says := range map[string]string{
		"--server http://policy.example.com":          "write https",
		"--server policy.example.com":                 "is an address",
		"--server ftp://localhost":                    "is an address",
		"--server https://a:b@c":                      "is an address",
		"--server https://c?x=1":                      "is an address",
		"--server https://c --on-unreachable maybe":   "deny, local or allow",
		"--server https://c --server-token token":     "absolute",
		"--server https://c --server-ca ./ca":         "absolute",
		"--server https://c --server-timeout 0s":      "above zero",
		"--on-unreachable allow":                      "which policy server",
		"--server-token /t":                           "which policy server",
		"--server https://c --server-cert cert.pem":   "absolute",
		"--server http://127.0.0.1.example.com":       "write https",
		"--server http://169.254.169.254/latest/meta": "write https",
		"--server https://c --server-timeout=-1s":     "above zero",
		"--server http://[::ffff:192.0.2.1]:80":       "write https",
	} {
		s, cmd := &Server{}, flag.NewFlagSet("run", flag.ContinueOnError)
		s.Flags(cmd)
		require.NoError(t, cmd.Parse(strings.Fields(args)))
		assert.ErrorContains(t, s.Check(), says, args)
	}
	assert.NoError(t, (&Server{unreachable: "deny", within: time.Second}).Check())
}
