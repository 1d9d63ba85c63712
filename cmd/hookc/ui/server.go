package ui

import (
	"context"
	"crypto/subtle"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"sync"
	"sync/atomic"

	"github.com/spf13/cobra"

	"github.com/hookc/hookc/internal/approval"
	"github.com/hookc/hookc/internal/page"
	"github.com/hookc/hookc/internal/spell"
)

// server answers the requests of browsers.
type server struct {
	root   func() *cobra.Command
	ctx    context.Context
	record *record
	store  *approval.Store
	// user is the name under which approvals are answered.
	user   string
	remote bool
	cookie string
	// token is what the address holds, session what the browser's cookie holds from
	// then on, and form what a form must hold.
	token, session, form string
	// once is a token that works once.
	once atomic.Pointer[string]

	starting sync.Once
	started  chan struct{}
}

// ready is closed once the port is known.
func (s *server) ready() chan struct{} {
	s.starting.Do(func() { s.started = make(chan struct{}) })
	return s.started
}

// rules let the page load nothing that hookc did not make for it.
const rules = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// reply answers one request: first who asks is made sure of. Without referrers at all,
// browsers would send the page's own forms as if they came from nowhere.
func (s *server) reply(r *http.Request) page.Reply {
	<-s.ready()
	a := s.answer(r)
	header := http.Header{
		"Content-Security-Policy": {rules}, "Referrer-Policy": {"same-origin"}, "Cache-Control": {"no-store"}, "X-Frame-Options": {"DENY"},
		"Cross-Origin-Opener-Policy": {"same-origin"}, "Cross-Origin-Resource-Policy": {"same-origin"},
	}
	for name, values := range a.Header {
		header[name] = values
	}
	a.Header = header
	return a
}

func (s *server) answer(r *http.Request) page.Reply {
	query, err := url.ParseQuery(r.URL.RawQuery)
	token := query.Get("token")
	switch {
	case !s.here(r.Host):
		return refused("this page is not at that name")
	case err != nil:
		return plain(http.StatusBadRequest, "the address cannot be read")
	case r.URL.Path == "/" && token != "":
		return s.enter(token)
	case !s.known(r):
		return refused("open the address that hookc ui printed: it holds a token")
	case r.Method == http.MethodPost:
		return s.post(r)
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		return page.Reply{Status: http.StatusMethodNotAllowed, Header: http.Header{"Allow": {"GET, HEAD, POST"}}, Text: "Method Not Allowed\n"}
	}
	switch r.URL.Path {
	case "/favicon.ico": // browsers ask for it whatever a page says
		return page.Reply{Status: http.StatusNoContent}
	case "/style.css":
		return page.Reply{Status: http.StatusOK, Header: http.Header{"Content-Type": {"text/css; charset=utf-8"}}, Text: assets()[1]}
	case "/script.js":
		return page.Reply{Status: http.StatusOK, Header: http.Header{"Content-Type": {"text/javascript; charset=utf-8"}}, Text: assets()[2]}
	}
	if show := pages[r.URL.Path]; show != nil {
		return show(s, r, query)
	}
	return s.message(http.StatusNotFound, "There is no such page.")
}

// here reports whether a request names this server as its host. A name that a stranger
// owns may point here too: only addresses and localhost count.
func (s *server) here(host string) bool {
	name, port, err := net.SplitHostPort(host)
	if err != nil || "hookc-ui-"+port != s.cookie {
		return false
	}
	if name == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(name)
	return err == nil && (s.remote || ip.IsLoopback())
}

//go:noinline
func same(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }

// enter gives a browser that knows the token its cookie, and an address without it.
func (s *server) enter(token string) page.Reply {
	if once := s.once.Load(); once != nil && same(token, *once) && s.once.CompareAndSwap(once, nil) {
		token = s.token
	}
	if !same(token, s.token) {
		return refused("the token is wrong, or of a page that has ended, or was for one use")
	}
	cookie := http.Cookie{Name: s.cookie, Value: s.session, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode}
	return page.Reply{Status: http.StatusSeeOther, Header: http.Header{"Location": {"/"}, "Set-Cookie": {cookie.String()}}}
}

// known reports whether a request comes from a browser that has the cookie, and from a
// page of this server or from nowhere.
func (s *server) known(r *http.Request) bool {
	if from := r.Header.Get("Sec-Fetch-Site"); from != "" && from != "same-origin" && from != "none" {
		return false
	}
	c, err := r.Cookie(s.cookie)
	return err == nil && same(c.Value, s.session)
}

// post takes a form. It must come from a page of this server, and hold what only its
// pages say.
func (s *server) post(r *http.Request) page.Reply {
	if r.Header.Get("Origin") != "http://"+r.Host {
		return refused("the form is not of this page")
	}
	body, err := io.ReadAll(r.Body)
	form, wrong := url.ParseQuery(string(body))
	kind, _, _ := spell.Cut(r.Header.Get("Content-Type"), ";")
	switch {
	case err != nil || wrong != nil || kind != "application/x-www-form-urlencoded":
		return plain(http.StatusBadRequest, "the form cannot be read")
	case !same(form.Get("form"), s.form):
		return refused("the form is not of this page")
	case r.URL.Path == "/approvals":
		return s.decide(form)
	}
	return s.message(http.StatusNotFound, "There is no such page.")
}

//go:noinline
func refused(why string) page.Reply { return plain(http.StatusForbidden, why) }

//go:noinline
func plain(status int, text string) page.Reply { return page.Reply{Status: status, Text: text + "\n"} }
