package model

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/policy"
)

const secret = "sk-test-0123456789abcdef0123"

// provider is one adapter under test: where it posts, what a good reply looks
// like on its wire, and how it is configured.
type provider struct {
	name, path, reply, empty, cut string
	env                           func(address string) map[string]string
	auth                          string
}

var providers = []provider{
	{
		name: "openai", path: "/chat/completions",
		reply: `{"id":"1","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"{\"action\":\"skip\"}"}}]}`,
		empty: `{"id":"1","object":"chat.completion","created":1,"model":"m","choices":[]}`,
		cut:   `{"id":"1","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"finish_reason":"length","message":{"role":"assistant","content":"{\"act"}}]}`,
		env: func(address string) map[string]string {
			return map[string]string{"OPENAI_API_KEY": secret, "OPENAI_BASE_URL": address, "HOOKC_MODEL": "m"}
		},
		auth: "Authorization",
	},
	{
		name: "anthropic", path: "/v1/messages",
		reply: `{"id":"1","type":"message","role":"assistant","model":"m","stop_reason":"end_turn","content":[{"type":"text","text":"{\"action\":\"skip\"}"}],"usage":{"input_tokens":1,"output_tokens":1}}`,
		empty: `{"id":"1","type":"message","role":"assistant","model":"m","stop_reason":"end_turn","content":[],"usage":{"input_tokens":1,"output_tokens":1}}`,
		cut:   `{"id":"1","type":"message","role":"assistant","model":"m","stop_reason":"max_tokens","content":[{"type":"text","text":"{"}],"usage":{"input_tokens":1,"output_tokens":1}}`,
		env: func(address string) map[string]string {
			return map[string]string{"ANTHROPIC_API_KEY": secret, "ANTHROPIC_BASE_URL": address, "HOOKC_MODEL": "m"}
		},
		auth: "X-Api-Key",
	},
}

func from(env map[string]string) func(string) string { return func(k string) string { return env[k] } }

func open(t *testing.T, p provider, address string) policy.Model {
	t.Helper()
	m, name, err := FromEnv(from(p.env(address)))
	require.NoError(t, err)
	require.Equal(t, "m", name)
	require.NotNil(t, m)
	return m
}

func sends(status int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

func TestCallAndReply(t *testing.T) {
	for _, p := range providers {
		t.Run(p.name, func(t *testing.T) {
			var asked map[string]any
			var path, auth string
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				path, auth = r.URL.Path, r.Header.Get(p.auth)
				assert.NoError(t, json.NewDecoder(r.Body).Decode(&asked))
				sends(200, p.reply)(w, r)
			}))
			defer srv.Close()
			got, err := open(t, p, srv.URL)(t.Context(), policy.ModelRequest{Prompt: "safe?"})
			require.NoError(t, err)
			assert.Equal(t, `{"action":"skip"}`, got)
			assert.Equal(t, p.path, path)
			assert.Contains(t, auth, secret)
			assert.Equal(t, "m", asked["model"])
			assert.Equal(t, float64(0), asked["temperature"])
			text, err := json.Marshal(asked["messages"])
			require.NoError(t, err)
			assert.Contains(t, string(text), "safe?")
			_, err = open(t, p, srv.URL)(t.Context(), policy.ModelRequest{Model: "other", Prompt: "safe?"})
			require.NoError(t, err)
			assert.Equal(t, "other", asked["model"], "the hook's model wins over HOOKC_MODEL")
		})
	}
}

func TestFailures(t *testing.T) {
	for _, p := range providers {
		rows := []struct {
			name   string
			handle http.HandlerFunc
			kind   policy.ErrKind
			text   string
		}{
			{"429", sends(429, `{"error":{"message":"slow down `+secret+`","type":"rate_limit_error"}}`), policy.ErrNetwork, p.name + ": 429 Too Many Requests"},
			{"500", sends(500, `oops `+secret), policy.ErrNetwork, p.name + ": 500 Internal Server Error"},
			{"401", sends(401, `{"error":{"message":"bad key `+secret+`"}}`), policy.ErrNetwork, p.name + ": 401 Unauthorized"},
			{"empty", sends(200, p.empty), policy.ErrNetwork, map[string]string{"openai": "openai: the reply has no choices", "anthropic": "anthropic: the reply has no text"}[p.name]},
			{"not JSON", sends(200, "<html>"), policy.ErrNetwork, p.name + ": the reply cannot be read"},
			{"truncated", truncated(p.reply), policy.ErrNetwork, p.name + ": the reply was cut off"},
			{"too large", huge, policy.ErrNetwork, p.name + ": the reply is larger than 8 MiB"},
		}
		for _, row := range rows {
			t.Run(p.name+"/"+row.name, func(t *testing.T) {
				calls := 0
				srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					calls++
					row.handle(w, r)
				}))
				defer srv.Close()
				got, err := open(t, p, srv.URL)(t.Context(), policy.ModelRequest{Prompt: "?"})
				var failed *policy.HookError
				require.ErrorAs(t, err, &failed)
				assert.Empty(t, got)
				assert.Equal(t, row.kind, failed.Kind)
				assert.Equal(t, row.text, failed.Text)
				assert.NotContains(t, failed.Error(), secret)
				assert.Equal(t, 1, calls, "the library must not retry")
			})
		}
	}
}

// truncated promises the whole body and closes the connection half-way.
func truncated(body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		conn, rw, err := w.(http.Hijacker).Hijack()
		if err != nil {
			panic(err)
		}
		defer conn.Close()
		_, _ = rw.WriteString("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 5000\r\n\r\n" + body[:len(body)/2])
		_ = rw.Flush()
	}
}

func huge(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	chunk := strings.Repeat(" ", 1<<20)
	for range 10 {
		if _, err := io.WriteString(w, chunk); err != nil {
			return
		}
	}
}

func TestCutAtTokenLimit(t *testing.T) {
	for _, p := range providers {
		srv := httptest.NewServer(sends(200, p.cut))
		_, err := open(t, p, srv.URL)(t.Context(), policy.ModelRequest{Prompt: "?"})
		srv.Close()
		assert.Equal(t, policy.ErrNetwork, policy.KindOf(err), p.name)
	}
}

func TestRefusedConnection(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	address := "http://" + l.Addr().String()
	require.NoError(t, l.Close())
	for _, p := range providers {
		_, err := open(t, p, address)(t.Context(), policy.ModelRequest{Prompt: "?"})
		var failed *policy.HookError
		require.ErrorAs(t, err, &failed)
		assert.Equal(t, policy.ErrNetwork, failed.Kind)
		assert.Contains(t, failed.Text, "connection refused")
		assert.NotContains(t, failed.Text, secret)
	}
}

func TestSlowBodyEndsWithTheContext(t *testing.T) {
	for _, p := range providers {
		release := make(chan struct{})
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, p.reply[:10])
			w.(http.Flusher).Flush()
			<-release
		}))
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		began := time.Now()
		_, err := open(t, p, srv.URL)(ctx, policy.ModelRequest{Prompt: "?"})
		took := time.Since(began)
		cancel()
		close(release)
		srv.Close()
		assert.Equal(t, policy.ErrTimeout, policy.KindOf(err), p.name)
		assert.Less(t, took, 2*time.Second)
	}
}

func TestFromEnv(t *testing.T) {
	rows := []struct {
		name    string
		env     map[string]string
		want    bool
		failure string
	}{
		{"nothing", nil, false, ""},
		{"openai key", map[string]string{"OPENAI_API_KEY": "k"}, true, ""},
		{"local server", map[string]string{"OPENAI_BASE_URL": "http://localhost:1234/v1"}, true, ""},
		{"anthropic key", map[string]string{"ANTHROPIC_API_KEY": "k"}, true, ""},
		{"unknown", map[string]string{"HOOKC_MODEL_PROVIDER": "acme"}, false, `HOOKC_MODEL_PROVIDER must be openai or anthropic, not "acme"`},
		{"named but bare", map[string]string{"HOOKC_MODEL_PROVIDER": "anthropic", "OPENAI_API_KEY": "k"}, false,
			"HOOKC_MODEL_PROVIDER is anthropic, but neither ANTHROPIC_API_KEY nor ANTHROPIC_BASE_URL is set"},
		{"bad address", map[string]string{"OPENAI_BASE_URL": "localhost:1234"}, false, "OPENAI_BASE_URL is not an http or https address"},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			m, _, err := FromEnv(from(row.env))
			assert.Equal(t, row.want, m != nil)
			if row.failure == "" {
				assert.NoError(t, err)
				return
			}
			assert.EqualError(t, err, row.failure)
		})
	}
}

func TestExplicitProviderWins(t *testing.T) {
	srv := httptest.NewServer(sends(200, providers[1].reply))
	defer srv.Close()
	env := providers[1].env(srv.URL)
	env["OPENAI_API_KEY"] = secret
	env["OPENAI_BASE_URL"] = "http://127.0.0.1:1"
	env["HOOKC_MODEL_PROVIDER"] = "anthropic"
	m, _, err := FromEnv(from(env))
	require.NoError(t, err)
	got, err := m(t.Context(), policy.ModelRequest{Prompt: "?"})
	require.NoError(t, err)
	assert.Equal(t, `{"action":"skip"}`, got)
}

func TestLocalServerGetsNoKey(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", secret)
	var auth []string
	var path string
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		auth, path = r.Header.Values("Authorization"), r.URL.Path
		sends(200, providers[0].reply)(w, r)
	}))
	defer srv.Close()
	m, _, err := FromEnv(from(map[string]string{"OPENAI_BASE_URL": srv.URL + "/v1", "HOOKC_MODEL": "m"}))
	require.NoError(t, err)
	_, err = m(t.Context(), policy.ModelRequest{Prompt: "?"})
	require.NoError(t, err)
	assert.Empty(t, auth)
	assert.Equal(t, "/v1/chat/completions", path)
}

func TestNoModelNamed(t *testing.T) {
	for _, env := range []map[string]string{{"OPENAI_API_KEY": "k"}, {"ANTHROPIC_API_KEY": "k"}} {
		m, name, err := FromEnv(from(env))
		require.NoError(t, err)
		assert.Empty(t, name)
		_, err = m(t.Context(), policy.ModelRequest{Prompt: "?"})
		assert.Equal(t, policy.ErrNetwork, policy.KindOf(err))
	}
}
