package model

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/policy"
)

type failing struct {
	name   string
	handle http.HandlerFunc
	text   string
	// waits is true if another attempt is to come later.
	waits bool
}

func failures(p provider) []failing {
	empty := "the reply has no text"
	if p.name == "openai" {
		empty = "the reply has no choices"
	}
	rows := []failing{
		{"429", sends(429, `{"error":{"message":"slow down `+secret+`","type":"rate_limit_error"}}`), "429 Too Many Requests", true},
		{"500", sends(500, `oops `+secret), "500 Internal Server Error", true},
		{"503", sends(503, ``), "503 Service Unavailable", true},
		{"529", sends(529, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`), "529", true},
		{"408", sends(408, ``), "408 Request Timeout", true},
		{"400", sends(400, `{"error":{"message":"temperature"}}`), "400 Bad Request", false},
		{"401", sends(401, `{"error":{"message":"bad key `+secret+`"}}`), "401 Unauthorized", false},
		{"404", sends(404, `{"error":{"code":"model_not_found"}}`), "404 Not Found", false},
		{"204", sends(204, ""), "204 No Content", false},
		{"201", sends(201, p.reply), "201 Created", false},
		{"empty", sends(200, p.empty), empty, false},
		{"nothing", sends(200, ""), "the reply is empty", false},
		{"not JSON", sends(200, "<html>"), "the reply cannot be read", false},
		{"another value", sends(200, `[1]`), "the reply cannot be read", false},
		{"null", sends(200, `null`), empty, false},
		{"more behind it", sends(200, p.reply+"x"), "the reply cannot be read", false},
		{"half the JSON", sends(200, p.reply[:len(p.reply)/2]), "the reply was cut off", false},
		{"another type", typed("text/html; charset=utf-8", p.reply), "the reply is text/html, not JSON", false},
		{"a stream", typed("text/event-stream", "data: "+p.reply+"\n\n"), "the reply is text/event-stream, not JSON", false},
		{"no known type", typed("; "+secret, p.reply), "the reply is of no known type, not JSON", false},
		{"truncated", truncated(p.reply), "the reply was cut off", true},
		{"closed at once", hangUp, "the reply was cut off", true},
		{"no HTTP", gibberish, "no reply that can be read came from the server, or from a proxy before it", true},
		{"too large", huge, "the reply is larger than 8 MiB", false},
		{"too large, compressed", bomb, "the reply is larger than 8 MiB", false},
		{"token limit", sends(200, p.cut), "the reply was cut off at the model's token limit", false},
	}
	for text, reply := range p.declined {
		rows = append(rows, failing{text, sends(200, reply), text, false})
	}
	return rows
}

func TestFailures(t *testing.T) {
	for _, p := range providers {
		for _, row := range failures(p) {
			t.Run(p.name+"/"+row.name, func(t *testing.T) {
				var calls atomic.Int64
				srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					calls.Add(1)
					_, _ = io.Copy(io.Discard, r.Body) // else closing resets the connection
					row.handle(w, r)
				}))
				defer srv.Close()
				got, err := open(t, p, srv.URL)(t.Context(), policy.ModelRequest{Prompt: "?"})
				var failed *policy.HookError
				require.ErrorAs(t, err, &failed)
				assert.Empty(t, got)
				assert.Equal(t, policy.ErrNetwork, failed.Kind)
				assert.Equal(t, p.name+": "+row.text, failed.Text)
				assert.NotContains(t, fmt.Sprintf("%+v %v", err, errors.Unwrap(err)), secret)
				assert.Equal(t, row.waits, failed.After > 0, "waits %v", failed.After)
				assert.EqualValues(t, 1, calls.Load(), "the hook's retry counts the requests")
			})
		}
	}
}

func typed(kind, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind)
		_, _ = io.WriteString(w, body)
	}
}

// raw writes text in place of a reply and closes the connection.
func raw(w http.ResponseWriter, text string) {
	conn, rw, err := w.(http.Hijacker).Hijack()
	if err != nil {
		panic(err)
	}
	defer conn.Close()
	_, _ = rw.WriteString(text)
	_ = rw.Flush()
}

// truncated promises the whole body and closes the connection half-way.
func truncated(body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		raw(w, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 5000\r\n\r\n"+body[:len(body)/2])
	}
}

func hangUp(w http.ResponseWriter, _ *http.Request) { raw(w, "") }

func gibberish(w http.ResponseWriter, _ *http.Request) { raw(w, "who is "+secret+"?\r\n\r\n") }

func huge(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	fill(w)
}

// fill writes ten MiB, as long as somebody reads.
func fill(w io.Writer) {
	chunk := strings.Repeat(" ", 1<<20)
	for range 10 {
		if _, err := io.WriteString(w, chunk); err != nil {
			return
		}
	}
}

// bomb is small on its way.
func bomb(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Encoding", "gzip")
	z := gzip.NewWriter(w)
	fill(z)
	_ = z.Close()
}

// TestRequestIDs: a failure names the request as the provider does, unless what
// the server calls it is no plain word.
func TestRequestIDs(t *testing.T) {
	ids := map[string]string{
		"req_011CSHoEeqs5C35K2UUqR7Fy":         " (request req_011CSHoEeqs5C35K2UUqR7Fy)",
		"6f1c0f0e-4d5b-4a3c-9a3e-0a1b2c3d4e5f": " (request 6f1c0f0e-4d5b-4a3c-9a3e-0a1b2c3d4e5f)",
		"":                                     "", secret: "", "x" + secret: "", "a b": "", "a;b": "", "id\u202e": "", strings.Repeat("x", 101): "",
	}
	for _, p := range providers {
		for id, want := range ids {
			for _, reply := range []struct {
				status     int
				body, text string
			}{
				{429, "", "429 Too Many Requests"}, {401, "", "401 Unauthorized"},
				{200, p.cut, "the reply was cut off at the model's token limit"}, {200, "{", "the reply was cut off"},
			} {
				srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					w.Header()[p.requestID] = []string{id}
					sends(reply.status, reply.body)(w, r)
				}))
				_, err := open(t, p, srv.URL)(t.Context(), policy.ModelRequest{Prompt: "?"})
				srv.Close()
				assert.EqualError(t, err, p.name+": "+reply.text+want)
			}
		}
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
		assert.Positive(t, failed.After)
	}
}

// TestUnknownCertificate: nothing is sent to a server that cannot be trusted.
func TestUnknownCertificate(t *testing.T) {
	for _, p := range providers {
		asked := false
		srv := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked = true }))
		srv.Config.ErrorLog = quiet
		srv.StartTLS()
		_, err := open(t, p, srv.URL)(t.Context(), policy.ModelRequest{Prompt: "?"})
		srv.Close()
		assert.ErrorContains(t, err, p.name+": the server's certificate is not trusted")
		assert.False(t, asked)

		plain := httptest.NewServer(sends(200, p.reply))
		_, err = open(t, p, "https"+strings.TrimPrefix(plain.URL, "http"))(t.Context(), policy.ModelRequest{Prompt: "?"})
		plain.Close()
		assert.ErrorContains(t, err, p.name+": ")
		assert.Equal(t, policy.ErrNetwork, policy.KindOf(err))
	}
}

// TestSlowReplyEndsWithTheContext: before the headers, after them, and between
// two bytes of the body; and without a deadline at the longest a call may take.
func TestSlowReplyEndsWithTheContext(t *testing.T) {
	slow := map[string]func(w http.ResponseWriter, reply string){
		"no headers": func(http.ResponseWriter, string) {},
		"no body":    func(w http.ResponseWriter, _ string) { w.(http.Flusher).Flush() },
		"half a body": func(w http.ResponseWriter, reply string) {
			_, _ = io.WriteString(w, reply[:10])
			w.(http.Flusher).Flush()
		},
	}
	for _, p := range providers {
		for name, begin := range slow {
			t.Run(p.name+"/"+name, func(t *testing.T) {
				arrived := make(chan struct{}, 1)
				srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					_, _ = io.Copy(io.Discard, r.Body)
					w.Header().Set("Content-Type", "application/json")
					begin(w, p.reply)
					arrived <- struct{}{}
					<-r.Context().Done()
				}))
				defer srv.Close()
				ctx, cancel := context.WithCancel(t.Context())
				go func() {
					<-arrived
					cancel()
				}()
				_, err := open(t, p, srv.URL)(ctx, policy.ModelRequest{Prompt: "?"})
				assert.Equal(t, policy.ErrTimeout, policy.KindOf(err))
				assert.ErrorIs(t, err, context.Canceled)

				a := accountOf(protocolOf(t, p.name), from(p.env(srv.URL)))
				a.longest = 10 * time.Millisecond
				_, err = a.call(context.Background(), policy.ModelRequest{Prompt: "?"})
				assert.Equal(t, policy.ErrTimeout, policy.KindOf(err))
				assert.ErrorIs(t, err, context.DeadlineExceeded)
			})
		}
	}
}
