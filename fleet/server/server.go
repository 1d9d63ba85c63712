// Package server is the policy server: an HTTP endpoint that decides events of agents
// on other machines. It keeps nothing between events, so that many of them stand
// behind a balancer. Whoever is not known, and whatever cannot be read, is refused:
// there is no answer that lets an action through unless a policy gave it.
package server

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/valyala/fasthttp"

	"github.com/hookc/hookc"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/agent"
	"github.com/hookc/hookc/policy/observe"
)

// Limits bound what one client may take of the server.
type Limits struct {
	// Event is the largest event and Batch the largest batch, in bytes; Events is
	// how many a batch may hold.
	Event, Batch int64
	Events       int
	// Header, Body and Answer are how long sending the header, sending the body
	// and taking the answer may last; Idle is how long a connection may be silent.
	Header, Body, Answer, Idle time.Duration
	// Decide is how long an event may be decided.
	Decide time.Duration
	// Conns is how many connections may be open, Active how many events may be
	// decided at a time.
	Conns, Active int
}

// Standard are the limits that hold where none are said.
var Standard = Limits{Event: 1 << 20, Batch: 8 << 20, Events: 256, Header: 5 * time.Second, Body: 10 * time.Second, Answer: 10 * time.Second,
	Idle: 2 * time.Minute, Decide: 5 * time.Second, Conns: 4096, Active: 1024}

// Server decides events over HTTP.
type Server struct {
	tenants *Tenants
	auth    *Auth
	limits  Limits
	counts  counters
	active  atomic.Int64 // events
	// ctx is over when what is under way is broken off.
	ctx    context.Context
	ending atomic.Bool
	// exposition is what /metrics shows beside the counters, or nil.
	exposition func() string
}

// work is the memory of one request, used again by later ones.
type work struct {
	body   []byte
	reused hookc.Reused
}

var works = sync.Pool{New: func() any { return &work{body: make([]byte, 0, 8<<10)} }}

// answer answers one request. What goes wrong in it without an error is a refusal too,
// and ends no other request.
func (s *Server) answer(c *fasthttp.RequestCtx) {
	defer func() {
		if wrong := recover(); wrong != nil {
			fmt.Fprintf(os.Stderr, "hookcd: an answer broke off: %v\n%s", wrong, debug.Stack())
			c.Response.Reset()
			s.refuse(c, problem{status: http.StatusInternalServerError, title: "the event could not be decided"})
		}
	}()
	const one = "/v1/events/"
	switch path := c.Path(); {
	case string(path) == "/health/live":
		text(c, http.StatusOK, "ok\n")
	case string(path) == "/health/ready":
		s.ready(c)
	case string(path) == "/metrics":
		s.metrics(c)
	case string(path) == "/v1/events:batch":
		s.decide(c, "", s.limits.Batch, s.batch)
	case len(path) > len(one) && string(path[:len(one)]) == one:
		s.decide(c, string(path[len(one):]), s.limits.Event, s.one)
	default:
		s.refuse(c, problem{status: http.StatusNotFound, title: "there is nothing at this path"})
	}
}

// ready is whether a balancer may send events here.
func (s *Server) ready(c *fasthttp.RequestCtx) {
	switch {
	case s.ending.Load():
		text(c, http.StatusServiceUnavailable, "ending\n")
	case !s.tenants.Active():
		text(c, http.StatusServiceUnavailable, "no active policy\n")
	case s.tenants.stale.Load() > 0: // what is wrong names files, and anybody may ask here
		text(c, http.StatusOK, fmt.Sprintf("ok\nthe last edit of %d policies was refused, the ones before are in force: the log says why\n", s.tenants.stale.Load()))
	default:
		text(c, http.StatusOK, "ok\n")
	}
}

// asked is a request whose sender is known and whose body is there.
type asked struct {
	*work
	c      *fasthttp.RequestCtx
	ctx    context.Context
	name   string
	tenant *Tenant
}

// decide finds out who asks, reads the body, and has it answered.
func (s *Server) decide(c *fasthttp.RequestCtx, name string, most int64, answer func(*asked) error) {
	if !c.IsPost() {
		c.Response.Header.Set("Allow", http.MethodPost)
		s.refuse(c, problem{status: http.StatusMethodNotAllowed, title: "events are sent by POST"})
		return
	}
	if ambiguous(&c.Request.Header) {
		c.SetConnectionClose()
		s.refuse(c, problem{http.StatusBadRequest, codeUnread.ID, "the event could not be read", "it has both a length and a Transfer-Encoding, or one that is not chunked"})
		return
	}
	label, err := s.auth.Label(c)
	if err != nil {
		c.Response.Header.Set("WWW-Authenticate", "Bearer")
		s.refuse(c, problem{status: http.StatusUnauthorized, title: "the client is not known", detail: err.Error()})
		return
	}
	tenant, err := s.tenants.Of(label)
	if err != nil {
		s.refuse(c, problem{status: http.StatusForbidden, title: "there is no policy for this client", detail: err.Error()})
		return
	}
	defer s.active.Add(-1)
	if s.active.Add(1) > int64(s.limits.Active) {
		c.Response.Header.Set("Retry-After", "1")
		s.refuse(c, problem{status: http.StatusServiceUnavailable, title: "too many events are being decided"})
		return
	}
	a := &asked{c: c, ctx: s.ctx, name: name, tenant: tenant, work: works.Get().(*work)}
	defer func() {
		if cap(a.body) <= 64<<10 {
			works.Put(a.work)
		}
	}()
	if parent := sent(c, "Traceparent"); len(parent) == 1 {
		a.ctx = observe.WithTrace(a.ctx, observe.Parse(parent[0], strings.Join(sent(c, "Tracestate"), ",")))
	}
	if err := a.read(most); err != nil {
		s.refuse(c, unread(err, most))
		return
	}
	began := time.Now()
	if err := answer(a); err != nil {
		var p problem
		if !errors.As(err, &p) {
			p = problem{status: http.StatusInternalServerError, title: "the event could not be decided", detail: err.Error()}
		}
		s.refuse(c, p)
	}
	s.counts.took(time.Since(began))
}

// ambiguous is whether readers of HTTP differ in where the body ends, so that one request
// can hide in another. The library takes some of these and closes the connection.
func ambiguous(h *fasthttp.RequestHeader) bool {
	length := h.ContentLength() // below 0 where it is chunked, 0 where nothing is said
	if length > 0 && !h.ConnectionClose() {
		return false
	}
	raw := bytes.ToLower(h.RawHeaders())
	return bytes.Contains(raw, []byte("transfer-encoding")) && (length != -1 || bytes.Contains(raw, []byte("content-length")))
}

// sent are the values of a header, which outlive the request.
func sent(c *fasthttp.RequestCtx, header string) []string {
	var out []string
	for _, value := range c.Request.Header.PeekAll(header) {
		out = append(out, string(value))
	}
	return out
}

var errLarge = errors.New("it is too large")

// read reads the body, which is no larger than most and all there.
func (a *asked) read(most int64) error {
	a.body = a.body[:0]
	said := a.c.Request.Header.ContentLength()
	if int64(said) > most {
		return errLarge
	} else if said > cap(a.body) {
		a.body = make([]byte, 0, said+1)
	}
	from := a.c.RequestBodyStream()
	for from != nil {
		if len(a.body) == cap(a.body) {
			a.body = append(a.body, 0)[:len(a.body)]
		}
		n, err := from.Read(a.body[len(a.body):cap(a.body)])
		a.body = a.body[:len(a.body)+n]
		switch {
		case int64(len(a.body)) > most:
			return errLarge
		case err == io.EOF && said >= 0 && len(a.body) < said:
			return io.ErrUnexpectedEOF
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		}
	}
	return nil
}

// one answers one event: a canonical one by its Decision, one of an agent's by what
// that agent reads.
func (s *Server) one(a *asked) error {
	ctx := s.limited(a.ctx)
	defer ctx.cancel()
	if len(a.c.URI().QueryString()) > 0 {
		return s.native(ctx, a)
	}
	event, err := named(a.name)
	if err != nil {
		return err
	}
	d, err := a.tenant.fire(ctx, event, a.body, &a.reused)
	if err != nil {
		return wrong(event, err)
	}
	out, err := d.MarshalJSON()
	if err != nil {
		return err
	}
	s.counts.decided(d)
	write(a.c, out)
	return nil
}

// The headers that carry what an agent reads beside stdout.
const (
	exitHeader   = "Hookc-Exit-Code"
	stderrHeader = "Hookc-Stderr"
)

// native answers an event in an agent's own words: the body is what the agent reads
// on stdout. An event that cannot be read is refused in those words too. A query that
// names no agent, or two, is refused: an agent takes words that are not its own for
// no refusal.
func (s *Server) native(ctx context.Context, a *asked) error {
	query := a.c.QueryArgs()
	name := string(query.Peek("dialect"))
	if query.Len() != 1 || name == "" {
		return problem{http.StatusBadRequest, codeDialect.ID, "the query names no agent", "it is ?dialect=AGENT, once, and nothing else"}
	}
	speaks, err := agent.Find(name)
	if err != nil {
		return problem{status: http.StatusBadRequest, code: codeDialect.ID, title: "unknown dialect", detail: err.Error()}
	}
	call, err := speaks.Decode(a.body, a.name, func(string) string { return "" })
	if err != nil {
		s.counts.failed.Add(1)
		wire(a.c, call.Fail(err.Error()))
		return nil
	}
	d, err := a.tenant.context(ctx, call.Event(), call.Context)
	if err == nil {
		if next := call.Ahead(); next != nil && d.Permits() {
			d, err = a.tenant.ahead(ctx, d, next)
		}
	}
	if err != nil {
		s.counts.failed.Add(1)
		wire(a.c, call.Fail(err.Error()))
		return nil
	}
	s.counts.decided(d)
	wire(a.c, call.Encode(d))
	return nil
}

// wire writes what an agent reads. What is on stderr is in a header, quoted as a Go
// string, since it may have line breaks.
func wire(c *fasthttp.RequestCtx, answer agent.Wire) {
	c.Response.Header.Set(exitHeader, strconv.Itoa(answer.Exit))
	if answer.Stderr != "" {
		c.Response.Header.Set(stderrHeader, strconv.QuoteToASCII(answer.Stderr))
	}
	write(c, answer.Stdout)
}

func named(name string) (policy.Event, error) {
	event, ok := policy.ParseEvent(name)
	if !ok {
		return "", problem{status: http.StatusNotFound, code: codeEvent.ID, title: "unknown event " + strconv.Quote(name), detail: "the event is refused"}
	}
	return event, nil
}

func write(c *fasthttp.RequestCtx, body []byte) {
	c.Response.Header.SetContentType("application/json")
	c.Response.Header.Set(protocolHeader, "1")
	c.Response.SetBodyRaw(body)
}

// protocolHeader marks an answer as one of a policy server, and says which words it
// is in.
const protocolHeader = "Hookc-Protocol"

func text(c *fasthttp.RequestCtx, status int, body string) {
	c.Response.Header.SetContentType("text/plain; charset=utf-8")
	c.SetStatusCode(status)
	c.SetBodyString(body)
}
