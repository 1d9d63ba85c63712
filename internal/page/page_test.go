package page

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// started answers at a free address; ask sends it bytes and gives all it says.
func started(t *testing.T, limit time.Duration) (address string, ask func(request string) string) {
	t.Helper()
	free, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	address = free.Addr().String()
	require.NoError(t, free.Close())
	stop, err := Listener{Limit: limit, Answer: func(path string) (int, string) {
		if path == "/long" {
			return 200, strings.Repeat("0123456789", 100_000)
		}
		return 404, "nothing at " + path + "\n"
	}}.Start(address)
	require.NoError(t, err)
	t.Cleanup(stop)
	return address, func(request string) string {
		conn, err := net.Dial("tcp", address)
		require.NoError(t, err)
		defer conn.Close()
		go func() { _, _ = io.WriteString(conn, request) }()
		got, _ := io.ReadAll(conn)
		return string(got)
	}
}

func TestAnswers(t *testing.T) {
	_, ask := started(t, time.Minute)
	head := "Host: localhost:1\r\n\r\n"
	for request, want := range map[string]string{
		"GET /a HTTP/1.1\r\n" + head:                                       "404 Not Found|nothing at /a\n",
		"GET /a?x=1 HTTP/1.0\r\n" + head:                                   "404 Not Found|nothing at /a\n",
		"HEAD /a HTTP/1.1\r\n" + head:                                      "404 Not Found|",
		"POST /a HTTP/1.1\r\nContent-Length: 3\r\n" + head + "abc":         "405 Method Not Allowed|Method Not Allowed\n",
		"GET /a HTTP/1.1\r\nHost: evil.example\r\n\r\n":                    "403 Forbidden|not here\n",
		"GET /a HTTP/1.1\r\nHost: 127.0.0.1.evil.example\r\n\r\n":          "403 Forbidden|not here\n",
		"GET /a HTTP/1.1\r\n\r\n":                                          "403 Forbidden|not here\n",
		"GET /a HTTP/1.1\r\nHost: [::1]:80\r\n\r\n":                        "404 Not Found|nothing at /a\n",
		"rubbish\r\n\r\n":                                                  "400 Bad Request|no request\n",
		"GET /a HTTP/1.1\r\nX: " + strings.Repeat("x", 1<<20) + "\r\n\r\n": "431 Request Header Fields Too Large|too long\n",
	} {
		got := ask(request)
		line, rest, _ := strings.Cut(got, "\r\n")
		_, body, _ := strings.Cut(rest, "\r\n\r\n")
		assert.Equal(t, want, strings.TrimPrefix(line, "HTTP/1.1 ")+"|"+body, "%.60q", request)
	}
}

// Clients that send nothing, or half a request, do not keep others waiting beyond
// the limit, however many they are; a client that does not read neither.
func TestSlowClients(t *testing.T) {
	address, ask := started(t, 200*time.Millisecond)
	for i := range 3 * most {
		conn, err := net.Dial("tcp", address)
		require.NoError(t, err)
		defer conn.Close()
		switch i % 3 {
		case 1:
			_, _ = io.WriteString(conn, "GET /a HTTP/1.1\r\nHost:")
		case 2:
			_, _ = io.WriteString(conn, "GET /long HTTP/1.1\r\nHost: localhost\r\n\r\n")
		}
	}
	assert.Contains(t, ask("GET /a HTTP/1.1\r\nHost: localhost\r\n\r\n"), "nothing at /a")
}

// Many ask at once, and each gets the whole text.
func TestManyAtOnce(t *testing.T) {
	address, _ := started(t, time.Minute)
	var wait sync.WaitGroup
	for range 2 * most {
		wait.Go(func() {
			answer, err := http.Get("http://" + address + "/long")
			if assert.NoError(t, err) {
				text, err := io.ReadAll(answer.Body)
				assert.NoError(t, err)
				assert.Len(t, text, 1_000_000)
				answer.Body.Close()
			}
		})
	}
	wait.Wait()
}

// The end does not wait for the clients.
func TestStop(t *testing.T) {
	free, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	address := free.Addr().String()
	require.NoError(t, free.Close())
	stop, err := Listener{Limit: time.Hour}.Start(address)
	require.NoError(t, err)
	for range 3 {
		conn, err := net.Dial("tcp", address)
		require.NoError(t, err)
		defer conn.Close()
		_, err = fmt.Fprint(conn, "GET /a")
		require.NoError(t, err)
	}
	ended := make(chan struct{})
	go func() { stop(); close(ended) }()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	select {
	case <-ended:
	case <-ctx.Done():
		t.Fatal("it does not end")
	}
	_, err = net.Dial("tcp", address)
	assert.Error(t, err)
}

func TestAddresses(t *testing.T) {
	for _, address := range []string{"0.0.0.0:1", "192.0.2.1:80", "localhost:80", "127.0.0.1", ":80", ""} {
		_, err := Listener{}.Start(address)
		assert.ErrorIs(t, err, ErrAddress, address)
	}
}
