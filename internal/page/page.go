// Package page answers HTTP requests for texts: one request a connection, on a
// loopback address unless it is told otherwise. It is far smaller than net/http's server.
package page

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"time"
)

const (
	// most is how many connections are attended to at once; others wait.
	most = 64
	// longest bounds a request in bytes.
	longest = 16 << 10
	// parting is how long the connections have when the listener ends.
	parting = 200 * time.Millisecond
)

// ErrAddress says that an address is none of this machine alone.
var ErrAddress = errors.New("takes a loopback address with a port, such as 127.0.0.1:9464")

// Listener answers requests.
type Listener struct {
	// Answer is asked for what is at a path: a status and a text. Only GET and HEAD
	// get there, from who names this machine as the host.
	Answer func(path string) (status int, text string)
	// Reply, unless it is nil, is asked in the place of Answer, for every request: which
	// hosts and methods it takes is its own to say.
	Reply func(r *http.Request) Reply
	// Post, unless it is nil, is asked for every POST, from whatever host: whose request
	// counts is its own to say.
	Post func(r *http.Request) Reply
	// Anywhere permits addresses that other machines reach.
	Anywhere bool
	// Limit bounds the time of a request and its answer.
	Limit time.Duration
}

// Reply is an answer. Without a Content-Type in its Header it is plain text.
type Reply struct {
	Status int
	Header http.Header
	Text   string
}

// Start answers at a loopback address; the function it returns ends that.
func (s Listener) Start(address string) (stop func(), err error) {
	_, stop, err = s.Open(address)
	return stop, err
}

// Open is Start, and says the address, whose port the system chose where it was 0.
func (s Listener) Open(address string) (at netip.AddrPort, stop func(), err error) {
	if at, err = netip.ParseAddrPort(address); err != nil || !s.Anywhere && !at.Addr().IsLoopback() {
		return at, nil, ErrAddress
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		return at, nil, err
	}
	if tcp, ok := l.Addr().(*net.TCPAddr); ok {
		at = netip.AddrPortFrom(at.Addr(), tcp.AddrPort().Port())
	}
	ctx, end := context.WithCancel(context.Background())
	var wait sync.WaitGroup
	wait.Go(func() { s.attend(ctx, l) })
	return at, func() {
		end()
		l.Close()
		wait.Wait()
	}, nil
}

// attend takes connections until the listener is closed, and waits for them.
func (s Listener) attend(ctx context.Context, l net.Listener) {
	var wait sync.WaitGroup
	defer wait.Wait()
	room := make(chan struct{}, most)
	for {
		room <- struct{}{}
		conn, err := l.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil { // the process has too many files open, for one
			<-room
			select {
			case <-time.After(parting):
			case <-ctx.Done():
			}
			continue
		}
		wait.Go(func() {
			s.converse(ctx, conn)
			<-room
		})
	}
}

// converse answers one request.
func (s Listener) converse(ctx context.Context, conn net.Conn) {
	defer conn.Close()
	if conn.SetDeadline(time.Now().Add(s.Limit)) != nil {
		return
	}
	hurried := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Now().Add(parting)) })
	defer hurried()
	from := io.LimitReader(conn, longest)
	r, err := http.ReadRequest(bufio.NewReader(from))
	var network net.Error
	if errors.As(err, &network) || errors.Is(err, io.EOF) {
		return // nobody waits for an answer
	}
	reply := s.reply(r, err)
	answer := http.Response{
		StatusCode: reply.Status, ProtoMajor: 1, ProtoMinor: 1, Close: true, Request: &http.Request{Method: http.MethodGet},
		Header:        http.Header{"Content-Type": {"text/plain; version=0.0.4; charset=utf-8"}, "X-Content-Type-Options": {"nosniff"}},
		ContentLength: int64(len(reply.Text)), Body: io.NopCloser(strings.NewReader(reply.Text)),
	}
	for name, values := range reply.Header {
		answer.Header[name] = values
	}
	if r != nil && r.Method == http.MethodHead {
		answer.Request = r
	}
	if answer.Write(conn) != nil {
		return
	}
	// What was sent and not read would take the answer back when the connection is
	// closed.
	if tcp, ok := conn.(*net.TCPConn); ok && tcp.CloseWrite() == nil {
		_, _ = io.Copy(io.Discard, from)
	}
}

// reply is the answer to a request, which err says is none.
func (s Listener) reply(r *http.Request, err error) Reply {
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return Reply{Status: http.StatusRequestHeaderFieldsTooLarge, Text: "too long\n"}
	case err != nil:
		return Reply{Status: http.StatusBadRequest, Text: "no request\n"}
	case s.Reply != nil:
		return s.Reply(r)
	case s.Post != nil && r.Method == http.MethodPost:
		return s.Post(r)
	case !local(r.Host):
		return Reply{Status: http.StatusForbidden, Text: "not here\n"}
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		return Reply{Status: http.StatusMethodNotAllowed, Header: http.Header{"Allow": {"GET, HEAD"}}, Text: "Method Not Allowed\n"}
	}
	status, text := s.Answer(r.URL.Path)
	return Reply{Status: status, Text: text}
}

// local reports whether a request names this machine by an address or as
// localhost: a web page could send requests through a name of its own.
func local(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	ip, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return host == "localhost" || err == nil && ip.IsLoopback()
}
