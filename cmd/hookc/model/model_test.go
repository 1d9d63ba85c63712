package model

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/observe"
)

const secret = "sk-test-0123456789abcdef0123"

// provider is one protocol under test: where it posts, what a good reply looks
// like on its wire, and how it is configured.
type provider struct {
	name, path, reply, empty, cut string
	// declined are replies in which the model gives no answer, by what is said
	// of them.
	declined  map[string]string
	env       func(address string) map[string]string
	auth      string
	requestID string
	// prompt is the path to the prompt in the request.
	prompt string
}

func openaiEnv(more ...string) func(address string) map[string]string {
	return func(address string) map[string]string {
		env := map[string]string{"OPENAI_API_KEY": secret, "OPENAI_BASE_URL": address, "HOOKC_MODEL": "m"}
		for i := 0; i < len(more); i += 2 {
			env[more[i]] = more[i+1]
		}
		return env
	}
}

var providers = []provider{
	{
		name: "openai", path: "/chat/completions",
		reply: `{"id":"1","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"{\"action\":\"skip\"}"}}]}`,
		empty: `{"id":"1","object":"chat.completion","created":1,"model":"m","choices":[]}`,
		cut:   `{"id":"1","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"finish_reason":"length","message":{"role":"assistant","content":"{\"act"}}]}`,
		declined: map[string]string{
			"the model refuses to answer":                            `{"choices":[{"finish_reason":"stop","message":{"role":"assistant","content":null,"refusal":"I cannot."}}]}`,
			"the reply was stopped by the provider's content filter": `{"choices":[{"finish_reason":"content_filter","message":{"role":"assistant","content":"{}"}}]}`,
			"the reply has no text":                                  `{"choices":[{"finish_reason":"tool_calls","message":{"role":"assistant","content":null}}]}`,
		},
		env: openaiEnv(), auth: "Authorization", requestID: "X-Request-Id", prompt: "messages",
	},
	{
		name: "openai-responses", path: "/responses",
		reply: `{"id":"1","object":"response","status":"completed","error":null,"incomplete_details":null,"output":[{"type":"reasoning","summary":[]},{"type":"message","role":"assistant","content":[{"type":"output_text","text":"{\"action\":","annotations":[]},{"type":"output_text","text":"\"skip\"}"}]}]}`,
		empty: `{"id":"1","object":"response","status":"completed","output":[]}`,
		cut:   `{"id":"1","object":"response","status":"incomplete","incomplete_details":{"reason":"max_output_tokens"},"output":[{"type":"message","content":[{"type":"output_text","text":"{}"}]}]}`,
		declined: map[string]string{
			"the model refuses to answer":                            `{"status":"completed","output":[{"type":"message","content":[{"type":"refusal","refusal":"I cannot."}]}]}`,
			"the reply was stopped by the provider's content filter": `{"status":"incomplete","incomplete_details":{"reason":"content_filter"},"output":[]}`,
			"the provider could not complete the reply":              `{"status":"failed","error":{"code":"server_error","message":"no"},"output":[]}`,
		},
		env: openaiEnv("HOOKC_MODEL_PROVIDER", "openai-responses"), auth: "Authorization", requestID: "X-Request-Id", prompt: "input",
	},
	{
		name: "anthropic", path: "/v1/messages",
		reply: `{"id":"1","type":"message","role":"assistant","model":"m","stop_reason":"end_turn","content":[{"type":"text","text":"{\"action\":\"skip\"}"}],"usage":{"input_tokens":1,"output_tokens":1}}`,
		empty: `{"id":"1","type":"message","role":"assistant","model":"m","stop_reason":"end_turn","content":[],"usage":{"input_tokens":1,"output_tokens":1}}`,
		cut:   `{"id":"1","type":"message","role":"assistant","model":"m","stop_reason":"max_tokens","content":[{"type":"text","text":"{"}],"usage":{"input_tokens":1,"output_tokens":1}}`,
		env: func(address string) map[string]string {
			return map[string]string{"ANTHROPIC_API_KEY": secret, "ANTHROPIC_BASE_URL": address, "HOOKC_MODEL": "m"}
		},
		declined: map[string]string{
			"the model refuses to answer": `{"stop_reason":"refusal","content":[{"type":"text","text":"{}"}]}`,
			"the reply has no text":       `{"stop_reason":"tool_use","content":[{"type":"tool_use","id":"1","name":"x","input":{}}]}`,
		},
		auth: "X-Api-Key", requestID: "Request-Id", prompt: "messages",
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
			var path, auth, parent, state string
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				path, auth = r.URL.Path, r.Header.Get(p.auth)
				parent, state = r.Header.Get("traceparent"), r.Header.Get("tracestate")
				assert.NoError(t, json.NewDecoder(r.Body).Decode(&asked))
				sends(200, p.reply)(w, r)
			}))
			defer srv.Close()
			got, err := open(t, p, srv.URL)(t.Context(), policy.ModelRequest{Prompt: "safe?"})
			require.NoError(t, err)
			assert.Empty(t, parent+state, "who is in no trace says nothing of one")
			at := observe.Parse("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "a=1")
			_, err = open(t, p, srv.URL)(observe.WithTrace(t.Context(), at), policy.ModelRequest{Prompt: "safe?"})
			require.NoError(t, err)
			assert.Equal(t, at, observe.Trace{Parent: parent, State: state})
			assert.Equal(t, `{"action":"skip"}`, got)
			assert.Equal(t, p.path, path)
			assert.Contains(t, auth, secret)
			assert.Equal(t, "m", asked["model"])
			assert.Equal(t, float64(0), asked["temperature"])
			text, err := json.Marshal(asked[p.prompt])
			require.NoError(t, err)
			assert.Contains(t, string(text), "safe?")
			_, err = open(t, p, srv.URL)(t.Context(), policy.ModelRequest{Model: "other", Prompt: "safe?"})
			require.NoError(t, err)
			assert.Equal(t, "other", asked["model"], "the hook's model wins over HOOKC_MODEL")
		})
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
		{"unknown", map[string]string{"HOOKC_MODEL_PROVIDER": "acme"}, false, `HOOKC_MODEL_PROVIDER must be openai, openai-responses or anthropic, not "acme"`},
		{"named but bare", map[string]string{"HOOKC_MODEL_PROVIDER": "anthropic", "OPENAI_API_KEY": "k"}, false,
			"HOOKC_MODEL_PROVIDER is anthropic, but neither ANTHROPIC_API_KEY nor ANTHROPIC_BASE_URL is set"},
		{"responses without a key", map[string]string{"HOOKC_MODEL_PROVIDER": "openai-responses", "ANTHROPIC_API_KEY": "k"}, false,
			"HOOKC_MODEL_PROVIDER is openai-responses, but neither OPENAI_API_KEY nor OPENAI_BASE_URL is set"},
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
	srv := httptest.NewServer(sends(200, providers[2].reply))
	defer srv.Close()
	env := providers[2].env(srv.URL)
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

// TestNoModelNamed: the provider's own model has a name; a server of the user's may
// have others.
func TestNoModelNamed(t *testing.T) {
	for name, env := range map[string]map[string]string{"gpt-4o-mini": {"OPENAI_API_KEY": "k"}, "claude-haiku-4-5": {"ANTHROPIC_API_KEY": "k"},
		"": {"ANTHROPIC_BASE_URL": "http://localhost"}, "mine": {"OPENAI_BASE_URL": "http://localhost", "HOOKC_MODEL": "mine"}} {
		_, got, err := FromEnv(from(env))
		require.NoError(t, err)
		assert.Equal(t, name, got)
	}
}

// TestHeadersOfTheUser: organisation, project and headers of the user's own
// are sent, and what no header can hold fails the call without being repeated.
func TestHeadersOfTheUser(t *testing.T) {
	for _, p := range providers[:2] {
		var got http.Header
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			got = r.Header
			sends(200, p.reply)(w, r)
		}))
		env := p.env(srv.URL)
		env["OPENAI_ORG_ID"], env["OPENAI_PROJECT_ID"], env["OPENAI_CUSTOM_HEADERS"] = "org-1", "proj-1", "X-Team: guard\nX-Empty:\n"
		m, _, err := FromEnv(from(env))
		require.NoError(t, err)
		_, err = m(t.Context(), policy.ModelRequest{Prompt: "?"})
		require.NoError(t, err)
		assert.Equal(t, []string{"org-1"}, got.Values("OpenAI-Organization"))
		assert.Equal(t, []string{"proj-1"}, got.Values("OpenAI-Project"))
		assert.Equal(t, []string{"guard"}, got.Values("X-Team"))
		assert.Equal(t, []string{""}, got.Values("X-Empty"))
		for variable, value := range map[string]string{
			"OPENAI_API_KEY": "sk-\r\nX-Evil: 1", "OPENAI_ORG_ID": "a\nb", "OPENAI_PROJECT_ID": "a\x00b", "OPENAI_CUSTOM_HEADERS": "no colon " + secret,
		} {
			bad := p.env(srv.URL)
			bad[variable] = value
			m, _, err := FromEnv(from(bad))
			require.NoError(t, err, "a policy without llm hooks works")
			_, err = m(t.Context(), policy.ModelRequest{Prompt: "?"})
			require.EqualError(t, err, p.name+": "+variable+" is not what an HTTP header can hold")
		}
		srv.Close()
	}
}

// TestKeyWithSpaceAround: a key read from a file often ends with a line's end.
func TestKeyWithSpaceAround(t *testing.T) {
	for _, p := range providers {
		var got string
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			got = r.Header.Get(p.auth)
			sends(200, p.reply)(w, r)
		}))
		env := p.env(srv.URL)
		for name, value := range env {
			if value == secret {
				env[name] = secret + "\n"
			}
		}
		m, _, err := FromEnv(from(env))
		require.NoError(t, err)
		_, err = m(t.Context(), policy.ModelRequest{Prompt: "?"})
		require.NoError(t, err)
		assert.Equal(t, protocolOf(t, p.name).word+secret, got)
		srv.Close()
	}
}

func protocolOf(t *testing.T, name string) protocol {
	t.Helper()
	i := slices.IndexFunc(protocols, func(p protocol) bool { return p.name == name })
	require.GreaterOrEqual(t, i, 0)
	return protocols[i]
}

// TestRequestBodies: the wire of each provider, to the byte.
func TestRequestBodies(t *testing.T) {
	want := map[string]string{
		"openai":           `{"model":"m","messages":[{"role":"user","content":"a <b> & \"c\""}],"temperature":0}`,
		"openai-responses": `{"model":"m","input":[{"role":"user","content":"a <b> & \"c\""}],"temperature":0,"store":false}`,
		"anthropic":        `{"model":"m","max_tokens":4096,"messages":[{"role":"user","content":"a <b> & \"c\""}],"temperature":0}`,
	}
	for _, p := range providers {
		var body []byte
		var head http.Header
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, _ = io.ReadAll(r.Body)
			head = r.Header
			sends(200, p.reply)(w, r)
		}))
		_, err := open(t, p, srv.URL)(t.Context(), policy.ModelRequest{Prompt: `a <b> & "c"`})
		srv.Close()
		require.NoError(t, err)
		assert.Equal(t, want[p.name]+"\n", string(body))
		assert.Equal(t, "application/json", head.Get("Content-Type"))
		if p.name == "anthropic" {
			assert.Equal(t, "2023-06-01", head.Get("Anthropic-Version"))
		}
	}
}

// TestAddressKeepsItsQuery: some servers take a version there.
func TestAddressKeepsItsQuery(t *testing.T) {
	for _, p := range providers {
		var got string
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			got = r.URL.RequestURI()
			sends(200, p.reply)(w, r)
		}))
		_, err := open(t, p, srv.URL+"/deep/?version=1")(t.Context(), policy.ModelRequest{Prompt: "?"})
		srv.Close()
		require.NoError(t, err)
		assert.Equal(t, "/deep"+p.path+"?version=1", got)
	}
}
