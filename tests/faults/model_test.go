package faults

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/cmd/hookc/model"
	"github.com/hookc/hookc/policy"
)

// faultProvider is the wire of one provider of models: its variables, and its
// reply with a text, without any, and with nothing at all.
type faultProvider struct {
	name, address, key string
	// model is the default one.
	model string
	says  func(text string) string
	empty string
}

func quoted(s string) string {
	text, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(text)
}

var faultProviders = []faultProvider{
	{name: "openai", address: "OPENAI_BASE_URL", key: "OPENAI_API_KEY", model: "m", says: func(text string) string {
		return `{"id":"1","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":` + quoted(text) + `}}]}`
	}, empty: `{"id":"1","object":"chat.completion","created":1,"model":"m","choices":[]}`},
	{name: "anthropic", address: "ANTHROPIC_BASE_URL", key: "ANTHROPIC_API_KEY", model: "m", says: func(text string) string {
		return `{"id":"1","type":"message","role":"assistant","model":"m","stop_reason":"end_turn","content":[{"type":"text","text":` + quoted(text) + `}],"usage":{"input_tokens":1,"output_tokens":1}}`
	}, empty: `{"id":"1","type":"message","role":"assistant","model":"m","stop_reason":"end_turn","content":[],"usage":{"input_tokens":1,"output_tokens":1}}`},
}

// open is the real client for a server at an address.
func (p *faultProvider) open(address string) (policy.Model, error) {
	env := map[string]string{"HOOKC_MODEL_PROVIDER": p.name, p.address: address, p.key: "secret-key", "HOOKC_MODEL": p.model}
	m, _, err := model.FromEnv(func(k string) string { return env[k] })
	return atOnce(m), err
}

// atOnce leaves out the time between attempts: it changes no posture, and
// thousands of attempts fail here. The tests of cmd/hookc/model and of the
// executor have it.
func atOnce(m policy.Model) policy.Model {
	return func(ctx context.Context, r policy.ModelRequest) (string, error) {
		text, err := m(ctx, r)
		var failed *policy.HookError
		if errors.As(err, &failed) {
			failed.After = 0
		}
		return text, err
	}
}

func answers(status int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body) // a client that has gone is none of the server's business
	}
}

// cutOff promises a whole reply and closes the connection half-way.
func cutOff(body string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // else closing resets the connection
		conn, rw, err := w.(http.Hijacker).Hijack()
		if err != nil {
			panic(err)
		}
		defer conn.Close()
		_, _ = rw.WriteString("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 5000\r\n\r\n" + body[:len(body)/2])
		_ = rw.Flush()
	}
}

// drip begins a reply and never ends it.
func drip(body string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, body[:10])
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}
}

// Where a model hook without a server of its own gets its answers.
const (
	noProvider = "no provider"
	refused    = "nobody listens"
)

func modelFault(name, fails, text string, reply func(p faultProvider) http.HandlerFunc) fault {
	return fault{name: name, kind: "llm", fails: fails, text: text, reply: reply,
		hook: map[string]any{"type": "llm", "prompt": "is {{session_id}} safe?"}}
}

func modelSays(name, fails, text, reply string) fault {
	return modelFault(name, fails, text, func(p faultProvider) http.HandlerFunc { return answers(200, p.says(reply)) })
}

func modelFaults() []fault {
	drips := func(p faultProvider) http.HandlerFunc { return drip(p.says("{}")) }
	return []fault{
		modelFault("refused connection", "network", "connection refused", nil).with(func(f *fault) { f.model = refused }),
		modelFault("429", "network", "429 Too Many Requests", func(faultProvider) http.HandlerFunc {
			return answers(429, `{"error":{"message":"slow down","type":"rate_limit_error"}}`)
		}),
		modelFault("500", "network", "500 Internal Server Error", func(faultProvider) http.HandlerFunc { return answers(500, "oops") }),
		modelFault("not JSON", "network", "cannot be read", func(faultProvider) http.HandlerFunc { return answers(200, "<html>") }),
		modelFault("truncated body", "network", "cut off", func(p faultProvider) http.HandlerFunc { return cutOff(p.says("{}")) }),
		modelFault("empty choices", "network", "the reply has no", func(p faultProvider) http.HandlerFunc { return answers(200, p.empty) }),
		modelFault("slow body", "timeout", "timed out after 250ms", drips).timed(faultTimeout),
		modelFault("deadline, running", "deadline", "chain deadline", drips).deadline(struckRunning),
		modelFault("deadline, not started", "deadline", "chain deadline", drips).deadline(struckWaiting),
		modelSays("no JSON in the reply", "parse", "no JSON object", "It is quite safe."),
		modelSays("half an object", "parse", "no JSON object", `{"decision": "allow"`),
		modelSays("two objects", "parse", "not JSON", `{"decision": "allow"} {"decision": "deny"}`),
		modelSays("wrong type", "parse", "decision", `Sure: {"decision": true}`),
		modelSays("unknown action", "parse", "action", `{"action": "proceed"}`),
		modelFault("mended by the last attempt", "", "", func(p faultProvider) http.HandlerFunc {
			var mu sync.Mutex
			calls := map[string]int{}
			return func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				mu.Lock()
				calls[string(body)]++
				n := calls[string(body)]
				mu.Unlock()
				if n%3 != 0 {
					answers(503, "busy")(w, r)
					return
				}
				answers(200, p.says("{}"))(w, r)
			}
		}).with(func(f *fault) { f.flaky = true; f.hook["retry"] = 2 }),
	}
}

// modelFaultsAlone need no provider's wire.
func modelFaultsAlone() []fault {
	return []fault{
		modelFault("no provider", "network", "no model provider is configured", nil).with(func(f *fault) { f.model = noProvider }),
	}
}

// faultServer is the local model server: each row of the table has a path of
// its own, and its requests are counted.
type faultServer struct {
	*httptest.Server
	// refusing is where nobody listens.
	refusing string

	mu   sync.Mutex
	rows map[string]http.HandlerFunc
}

func newFaultServer(t *testing.T) *faultServer {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, l.Close())
	s := &faultServer{refusing: "http://" + l.Addr().String(), rows: map[string]http.HandlerFunc{}}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
		s.mu.Lock()
		reply := s.rows[id]
		s.mu.Unlock()
		reply(w, r)
	}))
	return s
}

// route serves a row, counts its requests and returns its address.
func (s *faultServer) route(id string, calls *atomic.Int64, reply http.HandlerFunc) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rows[id] = func(w http.ResponseWriter, r *http.Request) {
		calls.Add(1)
		reply(w, r)
	}
	return s.URL + "/" + id
}

func (s *faultServer) close() {
	s.Close()
	http.DefaultTransport.(*http.Transport).CloseIdleConnections()
}
