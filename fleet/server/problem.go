package server

import (
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"strconv"

	"github.com/valyala/fasthttp"

	"github.com/hookc/hookc"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
)

const outside = "What a client sends is no part of a policy, so there is no example."

var (
	codeEvent   = diag.Define("HK390", diag.Error, "a client of the policy server names an unknown event").Unprovoked(outside).Explained("The path /v1/events/EVENT names an event in hookc's words or an agent's; hookc help events lists them. The event is refused.", "", "")
	codeUnread  = diag.Define("HK391", diag.Error, "a client of the policy server sends what is no event").Unprovoked(outside).Explained("The body is one JSON object, as hookc run reads it on stdin. The event is refused.", "", "")
	codeLarge   = diag.Define("HK392", diag.Error, "a client of the policy server sends too much, or too slowly").Unprovoked(outside).Explained("An event is at most 1 MiB and arrives within 10 seconds. The event is refused.", "", "")
	codeDialect = diag.Define("HK393", diag.Error, "a client of the policy server names an unknown dialect").Unprovoked(outside).Explained("The query ?dialect= names an agent; hookc list dialect lists them. The event is refused.", "", "")
)

// problem is a refusal of the server itself (RFC 9457). The posture in it is always
// deny: a client that reads nothing else of it does not go on.
type problem struct {
	status              int
	code, title, detail string
}

func (p problem) Error() string { return p.title + ": " + p.detail }

type problemJSON struct {
	Title   string        `json:"title"`
	Status  int           `json:"status"`
	Detail  string        `json:"detail,omitempty"`
	Code    string        `json:"code,omitempty"`
	Posture string        `json:"posture"`
	Action  policy.Action `json:"action"`
	Reasons []string      `json:"reasons"`
}

func (p problem) json() problemJSON {
	return problemJSON{p.title, p.status, p.detail, p.code, "deny", policy.Block, []string{"hookc could not decide: " + p.Error()}}
}

func (s *Server) refuse(c *fasthttp.RequestCtx, p problem) {
	s.counts.refused.Add(1)
	text, err := json.Marshal(p.json())
	if err != nil {
		panic("hookc: a problem cannot be written: " + err.Error())
	}
	c.Response.Header.SetContentType("application/problem+json")
	if p.code == codeLarge.ID {
		c.SetConnectionClose()
	}
	c.SetStatusCode(p.status)
	c.Response.SetBodyRaw(text)
}

// malformed refuses what is no request of HTTP, or came too slowly for one.
func (s *Server) malformed(c *fasthttp.RequestCtx, err error) {
	var small *fasthttp.ErrSmallBuffer
	if errors.As(err, &small) {
		s.refuse(c, problem{http.StatusRequestHeaderFieldsTooLarge, codeLarge.ID, "the headers are too large", "at most " + strconv.Itoa(headerBytes) + " bytes"})
		return
	}
	p := unread(err, 0)
	if p.status == http.StatusBadRequest {
		p.detail = "it is no request of HTTP/1.1" // the error has parts of it
	}
	s.refuse(c, p)
}

// unread is the refusal of a body that did not come.
func unread(err error, most int64) problem {
	switch {
	case errors.Is(err, errLarge):
		return problem{http.StatusRequestEntityTooLarge, codeLarge.ID, "the event is too large", "at most " + strconv.FormatInt(most, 10) + " bytes"}
	case errors.Is(err, os.ErrDeadlineExceeded):
		return problem{http.StatusRequestTimeout, codeLarge.ID, "the event came too slowly", "its time is over"}
	}
	return problem{http.StatusBadRequest, codeUnread.ID, "the event could not be read", err.Error()}
}

// wrong is the refusal of an event that could not be decided.
func wrong(event policy.Event, err error) error {
	var unread *hookc.DecodeError
	var unfit *hookc.UnfitError
	if errors.As(err, &unread) || errors.As(err, &unfit) {
		return problem{http.StatusUnprocessableEntity, codeUnread.ID, "this is no event " + string(event), err.Error()}
	}
	return err
}
