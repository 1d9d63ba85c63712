// Package server is the policy server: an HTTP endpoint that decides events of agents
// on other machines. It keeps nothing between events, so that many of them stand
// behind a balancer. Whoever is not known, and whatever cannot be read, is refused:
// there is no answer that lets an action through unless a policy gave it.
package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

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
	ending  atomic.Bool
	// exposition is what /metrics shows beside the counters, or nil.
	exposition func() string
}

// New is a server of tenants' policies for the clients that auth knows.
func New(t *Tenants, a *Auth, l Limits) *Server {
	return &Server{tenants: t, auth: a, limits: l}
}

// work is the memory of one request, used again by later ones.
type work struct {
	body   []byte
	reused hookc.Reused
}

var works = sync.Pool{New: func() any { return &work{body: make([]byte, 0, 8<<10)} }}

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch path := r.URL.Path; {
	case path == "/health/live":
		text(w, http.StatusOK, "ok\n")
	case path == "/health/ready":
		s.ready(w)
	case path == "/metrics":
		s.metrics(w)
	case path == "/v1/events:batch":
		s.decide(w, r, "", s.limits.Batch, s.batch)
	case len(path) > len("/v1/events/") && path[:len("/v1/events/")] == "/v1/events/":
		s.decide(w, r, path[len("/v1/events/"):], s.limits.Event, s.one)
	default:
		s.refuse(w, problem{status: http.StatusNotFound, title: "there is nothing at this path"})
	}
}

// ready is whether a balancer may send events here.
func (s *Server) ready(w http.ResponseWriter) {
	switch {
	case s.ending.Load():
		text(w, http.StatusServiceUnavailable, "ending\n")
	case !s.tenants.Active():
		text(w, http.StatusServiceUnavailable, "no active policy\n")
	case s.tenants.stale.Load() > 0: // what is wrong names files, and anybody may ask here
		text(w, http.StatusOK, fmt.Sprintf("ok\nthe last edit of %d policies was refused, the ones before are in force: the log says why\n", s.tenants.stale.Load()))
	default:
		text(w, http.StatusOK, "ok\n")
	}
}

// asked is a request whose sender is known and whose body is there.
type asked struct {
	*work
	r      *http.Request
	name   string
	tenant *Tenant
}

// decide finds out who asks, reads the body, and has it answered.
func (s *Server) decide(w http.ResponseWriter, r *http.Request, name string, most int64, answer func(http.ResponseWriter, *asked) error) {
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		s.refuse(w, problem{status: http.StatusMethodNotAllowed, title: "events are sent by POST"})
		return
	}
	label, err := s.auth.Label(r)
	if err != nil {
		w.Header().Set("WWW-Authenticate", "Bearer")
		s.refuse(w, problem{status: http.StatusUnauthorized, title: "the client is not known", detail: err.Error()})
		return
	}
	tenant, err := s.tenants.Of(label)
	if err != nil {
		s.refuse(w, problem{status: http.StatusForbidden, title: "there is no policy for this client", detail: err.Error()})
		return
	}
	defer s.active.Add(-1)
	if s.active.Add(1) > int64(s.limits.Active) {
		w.Header().Set("Retry-After", "1")
		s.refuse(w, problem{status: http.StatusServiceUnavailable, title: "too many events are being decided"})
		return
	}
	if parent := r.Header["Traceparent"]; len(parent) == 1 {
		r = r.WithContext(observe.WithTrace(r.Context(), observe.Parse(parent[0], strings.Join(r.Header["Tracestate"], ","))))
	}
	a := &asked{r: r, name: name, tenant: tenant, work: works.Get().(*work)}
	defer func() {
		if cap(a.body) <= 64<<10 {
			works.Put(a.work)
		}
	}()
	if err := a.read(w, most); err != nil {
		s.refuse(w, unread(err, most))
		return
	}
	began := time.Now()
	if err := answer(w, a); err != nil {
		var p problem
		if !errors.As(err, &p) {
			p = problem{status: http.StatusInternalServerError, title: "the event could not be decided", detail: err.Error()}
		}
		s.refuse(w, p)
	}
	s.counts.took(time.Since(began))
}

// read reads the body, which is no larger than most.
func (a *asked) read(w http.ResponseWriter, most int64) error {
	a.body = a.body[:0]
	from := http.MaxBytesReader(w, a.r.Body, most)
	if n := a.r.ContentLength; n > most {
		return &http.MaxBytesError{Limit: most}
	} else if n > int64(cap(a.body)) {
		a.body = make([]byte, 0, n+1)
	}
	for {
		if len(a.body) == cap(a.body) {
			a.body = append(a.body, 0)[:len(a.body)]
		}
		n, err := from.Read(a.body[len(a.body):cap(a.body)])
		a.body = a.body[:len(a.body)+n]
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// one answers one event: a canonical one by its Decision, one of an agent's by what
// that agent reads.
func (s *Server) one(w http.ResponseWriter, a *asked) error {
	ctx := s.limited(a.r)
	defer ctx.cancel()
	if query := a.r.URL.RawQuery; query != "" {
		if name := a.r.URL.Query().Get("dialect"); name != "" {
			return s.native(ctx, w, a, name)
		}
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
	write(w, http.StatusOK, out)
	return nil
}

// The headers that carry what an agent reads beside stdout.
const (
	exitHeader   = "Hookc-Exit-Code"
	stderrHeader = "Hookc-Stderr"
)

// native answers an event in an agent's own words: the body is what the agent reads
// on stdout. An event that cannot be read is refused in those words too.
func (s *Server) native(ctx context.Context, w http.ResponseWriter, a *asked, name string) error {
	speaks, err := agent.Find(name)
	if err != nil {
		return problem{status: http.StatusBadRequest, code: codeDialect.ID, title: "unknown dialect", detail: err.Error()}
	}
	call, err := speaks.Decode(a.body, a.name, func(string) string { return "" })
	if err != nil {
		s.counts.failed.Add(1)
		wire(w, call.Fail(err.Error()))
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
		wire(w, call.Fail(err.Error()))
		return nil
	}
	s.counts.decided(d)
	wire(w, call.Encode(d))
	return nil
}

// wire writes what an agent reads. What is on stderr is in a header, quoted as a Go
// string, since it may have line breaks.
func wire(w http.ResponseWriter, answer agent.Wire) {
	w.Header().Set(exitHeader, strconv.Itoa(answer.Exit))
	if answer.Stderr != "" {
		w.Header().Set(stderrHeader, strconv.QuoteToASCII(answer.Stderr))
	}
	write(w, http.StatusOK, answer.Stdout)
}

func named(name string) (policy.Event, error) {
	event, ok := policy.ParseEvent(name)
	if !ok {
		return "", problem{status: http.StatusNotFound, code: codeEvent.ID, title: "unknown event " + strconv.Quote(name), detail: "the event is refused"}
	}
	return event, nil
}

func write(w http.ResponseWriter, status int, body []byte) {
	h := w.Header()
	h["Content-Type"], h[protocolHeader], h["Content-Length"] = jsonType, protocol, []string{strconv.Itoa(len(body))}
	w.WriteHeader(status)
	w.Write(body)
}

// protocolHeader marks an answer as one of a policy server, and says which words it
// is in.
const protocolHeader = "Hookc-Protocol"

var jsonType, protocol = []string{"application/json"}, []string{"1"}

func text(w http.ResponseWriter, status int, body string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	io.WriteString(w, body)
}
