package server

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// asking sends bytes to a server and returns the statuses and actions of its answers,
// until it closes the connection.
func asking(t *testing.T, url, text string) (statuses []int, actions []string) {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
	require.NoError(t, err)
	defer conn.Close()
	_, err = io.WriteString(conn, text)
	require.NoError(t, err)
	require.NoError(t, conn.(*net.TCPConn).CloseWrite())
	answers := bufio.NewReader(conn)
	for {
		res, err := http.ReadResponse(answers, nil)
		if err != nil {
			return statuses, actions
		}
		var a answer
		body, err := io.ReadAll(res.Body)
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(body, &a), "%s", body)
		statuses, actions = append(statuses, res.StatusCode), append(actions, a.Action)
	}
}

// TestFraming: what a server behind a balancer takes for an event is an event for the
// balancer too. Whatever the headers say of the length, each event that is decided is
// one that another reader of HTTP (Go's own) finds at the same place, with the same
// body, so that nothing hides in the body of another request.
func TestFraming(t *testing.T) {
	_, url := listening(t, nil)
	event := func(command string) string { return strings.Replace(remove, "rm -rf /", command, 1) }
	const line = "POST /v1/events/pre_tool_execution HTTP/1.1\r\nHost: x\r\n"
	hidden := fmt.Sprintf("%sContent-Length: %d\r\n\r\n%s", line, len(remove), remove)
	lengths := []string{"", "Content-Length: LEN\r\n", "Content-Length: 0\r\n", "Content-Length: +LEN\r\n", "Content-Length: LEN, LEN\r\n", "Content-Length: LEN\r\nContent-Length: 5\r\n",
		"Content-Length: 5\r\nContent-Length: LEN\r\n", "Content-Length: LEN\r\nContent-Length: LEN\r\n", "Content-Length : LEN\r\n", " Content-Length: LEN\r\n", "Content-Length: 0xFF\r\n", "Content-Length: LEN \r\n", "Content-Length: -1\r\n",
		"Content-Length:\r\n LEN\r\n", "Content-Length: 99999999999999999999\r\n", "Content-Length:\vLEN\r\n", "content-length:LEN\r\n", "Content_Length: 5\r\n", "X: y\nContent-Length: LEN\r\n", "X: y\rContent-Length: LEN\r\n", "X: a\x00b\r\n"}
	codings := []string{"", "Transfer-Encoding: chunked\r\n", "Transfer-Encoding : chunked\r\n", "Transfer-Encoding: identity\r\n", "Transfer-Encoding: chunked, identity\r\n", "Transfer-Encoding: gzip, chunked\r\n", "Transfer-Encoding: xchunked\r\n",
		"Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n", "Transfer-Encoding:\tchunked\r\n", "Transfer-Encoding:\r\n chunked\r\n", "transfer-encoding: CHUNKED\r\n", "Transfer-Encoding: \"chunked\"\r\n", "Transfer-Encoding:\x0bchunked\r\n", "Transfer-Encoding: chunked\x00\r\n"}
	bodies := []string{"EVENT", "HEX\r\nEVENT\r\n0\r\n\r\n", "0\r\n\r\nEVENT", "HEX;a=b\r\nEVENT\r\n0\r\nTrailer: x\r\n\r\n", "HEX\nEVENT\n0\n\n", "HEX \r\nEVENT\r\n0\r\n\r\n", "0xHEX\r\nEVENT\r\n0\r\n\r\n", "+HEX\r\nEVENT\r\n0\r\n\r\n", "HEX\r\nEVENTxx0\r\n\r\n", "1ffffffffffffffff\r\nEVENT\r\n0\r\n\r\n", ""}
	random, decided := rand.New(rand.NewPCG(1, 2)), 0
	for range 3000 {
		inside := event("ls")
		if random.IntN(3) == 0 { // the body ends in a request
			inside += hidden
		}
		said := len(inside)
		if random.IntN(4) == 0 {
			said = len(event("ls"))
		}
		pick := func(of []string) string {
			if random.IntN(3) == 0 {
				return of[0]
			}
			return of[random.IntN(len(of))]
		}
		headers := []string{pick(lengths), pick(codings)}
		if random.IntN(3) == 0 {
			headers[0] = lengths[1]
		}
		random.Shuffle(2, func(i, j int) { headers[i], headers[j] = headers[j], headers[i] })
		text := line + strings.Join(headers, "") + "\r\n" + strings.NewReplacer("EVENT", inside, "HEX", fmt.Sprintf("%x", said)).Replace(pick(bodies))
		text = strings.ReplaceAll(text, "LEN", fmt.Sprint(said)) + hidden
		var found []string // the action of each event that Go's reader finds
		for from := bufio.NewReader(strings.NewReader(text)); ; {
			r, err := http.ReadRequest(from)
			if err != nil {
				break
			}
			body, err := io.ReadAll(r.Body)
			if err != nil {
				break
			}
			switch string(body) {
			case event("ls"):
				found = append(found, "proceed")
			case remove:
				found = append(found, "block")
			default:
				found = append(found, "")
			}
		}
		statuses, actions := asking(t, url, text)
		for i, status := range statuses {
			if status == http.StatusOK {
				decided++
				require.Less(t, i, len(found), "%q", text)
				require.Equal(t, found[i], actions[i], "%q", text)
			}
		}
	}
	assert.Greater(t, decided, 300)
}

// TestUnknownSendsNothing: who is not known is refused before the event is there, and
// an event of which a part is missing is not decided.
func TestUnknownSendsNothing(t *testing.T) {
	_, url := listening(t, func(o *Options) { o.Auth.Tokens = file(t, "tokens", "a sha256:"+strings.Repeat("0", 64)) })
	conn, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
	require.NoError(t, err)
	defer conn.Close()
	_, err = fmt.Fprintf(conn, "POST /v1/events/stop HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n%s", strings.Repeat(" ", 9000))
	require.NoError(t, err)
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	require.NoError(t, err)
	assert.Equal(t, http.StatusUnauthorized, res.StatusCode)

	_, url = listening(t, nil)
	for _, padding := range []int{0, 7000, 9000, 100_000} {
		event := strings.Replace(remove, "rm -rf /", "ls", 1) + strings.Repeat(" ", padding)
		for _, headers := range []string{fmt.Sprintf("Content-Length: %d\r\n\r\n", len(event)+1), fmt.Sprintf("Transfer-Encoding: chunked\r\n\r\n%x\r\n", len(event)+1)} {
			statuses, actions := asking(t, url, "POST /v1/events/pre_tool_execution HTTP/1.1\r\nHost: x\r\n"+headers+event)
			assert.NotContains(t, statuses, http.StatusOK, "%d %s", padding, headers)
			assert.NotContains(t, actions, "proceed", "%d %s", padding, headers)
		}
	}
}

// TestAnswerBrokenOff: what goes wrong in an answer without an error refuses that event, and
// the server goes on.
func TestAnswerBrokenOff(t *testing.T) {
	r, url := listening(t, nil)
	all := *r.tenants.byLabel.Load()
	r.tenants.byLabel.Store(&map[string]*Tenant{anyLabel: {}}) // one without an engine
	a := post(t, http.DefaultClient, url+"/v1/events/pre_tool_execution", remove)
	assert.Equal(t, http.StatusInternalServerError, a.status)
	assert.Equal(t, "block", a.Action)
	r.tenants.byLabel.Store(&all)
	assert.Equal(t, http.StatusOK, post(t, http.DefaultClient, url+"/v1/events/pre_tool_execution", remove).status)
	assert.Zero(t, r.active.Load())
}

// TestConnections: a connection above the limit is closed with an answer that decides
// nothing, and is taken once another has ended.
func TestConnections(t *testing.T) {
	_, url := listening(t, func(o *Options) { o.Limits.Conns = 2 })
	request := fmt.Sprintf("POST /v1/events/pre_tool_execution HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s", len(remove), remove)
	ask := func() (net.Conn, int) {
		conn, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
		require.NoError(t, err)
		io.WriteString(conn, request) // who is turned away may be so before
		res, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			return conn, 0
		}
		assert.Equal(t, res.StatusCode == http.StatusOK, res.Header.Get(protocolHeader) != "")
		return conn, res.StatusCode
	}
	first, status := ask()
	assert.Equal(t, http.StatusOK, status)
	second, status := ask()
	assert.Equal(t, http.StatusOK, status)
	defer second.Close()
	third, status := ask()
	assert.NotEqual(t, http.StatusOK, status)
	third.Close()
	first.Close()
	for status != http.StatusOK {
		third, status = ask()
		third.Close()
	}
}
