package model

import (
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/policy"
)

var quiet = log.New(io.Discard, "", 0)

// TestRedirects: a request is sent on to the same server alone, whole; nobody
// else sees the key or the prompt.
func TestRedirects(t *testing.T) {
	for _, p := range providers {
		stranger := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			t.Errorf("%s: %s was asked with %v", p.name, r.URL, r.Header)
			sends(200, p.reply)(w, r)
		}))
		for _, status := range []int{301, 302, 303, 307, 308} {
			for _, to := range []string{stranger.URL, "https://other.invalid", "//localhost:1", "http://user:pass@other.invalid", "ftp://other.invalid"} {
				srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					w.Header().Set("Location", to+p.path)
					w.WriteHeader(status)
				}))
				_, err := open(t, p, srv.URL)(t.Context(), policy.ModelRequest{Prompt: "?"})
				srv.Close()
				require.ErrorContains(t, err, p.name+": 30", to)
				require.ErrorContains(t, err, "a redirect to another server is not followed")
			}
		}
		stranger.Close()
	}
}

func TestRedirectOnTheSameServer(t *testing.T) {
	for _, p := range providers {
		var bodies, keys []string
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			bodies, keys = append(bodies, string(body)), append(keys, r.Header.Get(p.auth))
			if !strings.HasPrefix(r.URL.Path, "/moved") {
				http.Redirect(w, r, "/moved"+r.URL.Path, http.StatusPermanentRedirect)
				return
			}
			sends(200, p.reply)(w, r)
		}))
		_, err := open(t, p, srv.URL)(t.Context(), policy.ModelRequest{Prompt: "?"})
		require.NoError(t, err)
		require.Len(t, bodies, 2)
		assert.Equal(t, bodies[0], bodies[1])
		assert.Equal(t, keys[0], keys[1])
		calls := 0
		srv.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			calls++
			http.Redirect(w, r, r.URL.Path, http.StatusTemporaryRedirect)
		})
		_, err = open(t, p, srv.URL)(t.Context(), policy.ModelRequest{Prompt: "?"})
		srv.Close()
		assert.ErrorContains(t, err, p.name+": 307")
		assert.Equal(t, 1+maxRedirects, calls)
	}
}

// TestProxyOfTheEnvironment: net/http reads the variables once in a process, so
// a process of its own makes the calls.
func TestProxyOfTheEnvironment(t *testing.T) {
	if os.Getenv("HOOKC_TEST_PROXY") != "" {
		callThroughProxy(t)
		return
	}
	var mu sync.Mutex
	var asked []string
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		asked = append(asked, r.Method+" "+r.RequestURI)
		mu.Unlock()
		switch {
		case r.Method == http.MethodConnect:
			w.WriteHeader(http.StatusProxyAuthRequired)
		case strings.HasSuffix(r.URL.Path, "/responses"):
			sends(200, providers[1].reply)(w, r)
		case strings.HasSuffix(r.URL.Path, "/messages"):
			sends(200, providers[2].reply)(w, r)
		default:
			sends(200, providers[0].reply)(w, r)
		}
	}))
	defer proxy.Close()
	self, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), self, "-test.run=^TestProxyOfTheEnvironment$", "-test.count=1")
	cmd.Env = append(os.Environ(), "HOOKC_TEST_PROXY=1", "HTTP_PROXY="+proxy.URL, "HTTPS_PROXY="+proxy.URL, "NO_PROXY=", "REQUEST_METHOD=")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	mu.Lock()
	defer mu.Unlock()
	assert.Equal(t, []string{
		"POST http://model.invalid/chat/completions", "CONNECT model.invalid:443",
		"POST http://model.invalid/responses", "CONNECT model.invalid:443",
		"POST http://model.invalid/v1/messages", "CONNECT model.invalid:443",
	}, asked)
}

func callThroughProxy(t *testing.T) {
	for _, p := range providers {
		got, err := open(t, p, "http://model.invalid")(t.Context(), policy.ModelRequest{Prompt: "?"})
		require.NoError(t, err)
		assert.JSONEq(t, `{"action":"skip"}`, got)
		_, err = open(t, p, "https://model.invalid")(t.Context(), policy.ModelRequest{Prompt: "?"})
		require.Equal(t, policy.ErrNetwork, policy.KindOf(err))
	}
}
