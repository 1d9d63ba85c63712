package model

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/hookc/hookc/policy"
)

// unreached is the failure of a call that got no whole reply. Errors of
// net/http may hold addresses, and what a server wrote; only what is known to
// be harmless is repeated.
func (a *account) unreached(ctx context.Context, err error, attempt int) error {
	if ctx.Err() != nil {
		return policy.Failf(policy.ErrTimeout, "%s: no reply in time: %w", a.name, ctx.Err())
	}
	failure := a.broken(err)
	failure.After = a.backoff(attempt)
	return failure
}

func (p *protocol) broken(err error) *policy.HookError {
	var nested net.Error
	var op *net.OpError
	var untrusted *tls.CertificateVerificationError
	var plain tls.RecordHeaderError
	switch {
	case errors.As(err, &untrusted):
		return p.fails("the server's certificate is not trusted: %w", untrusted.Err)
	case errors.As(err, &plain):
		return p.fails("the server does not speak TLS")
	case errors.As(err, &nested) && nested.Timeout():
		return p.fails("the connection timed out")
	case errors.As(err, &op):
		return p.fails("cannot %s: %w", op.Op, op.Err)
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return p.fails("the reply was cut off")
	}
	return p.fails("no reply that can be read came from the server, or from a proxy before it")
}

// refused is the failure of a call with another status than 200.
func (a *account) refused(resp *http.Response, attempt int) error {
	text := strings.TrimSpace(fmt.Sprintf("%d %s", resp.StatusCode, http.StatusText(resp.StatusCode)))
	if resp.StatusCode >= 300 && resp.StatusCode < 400 {
		text += ": a redirect to another server is not followed"
	}
	failure := a.fails("%s", text)
	if later(resp.StatusCode) {
		var asked bool
		if failure.After, asked = a.asked(resp.Header); !asked {
			failure.After = a.backoff(attempt)
		}
	}
	return identified(failure, a.requestOf(resp))
}

// later reports whether a status says that the same request may be answered
// another time.
func later(status int) bool {
	switch status {
	case http.StatusRequestTimeout, http.StatusConflict, http.StatusTooEarly, http.StatusTooManyRequests:
		return true
	}
	return status >= 500
}

// identified adds the id of the request, by which the provider finds it.
func identified(err error, id string) error {
	var failure *policy.HookError
	if id != "" && errors.As(err, &failure) && failure.Kind == policy.ErrNetwork {
		failure.Text += " (request " + id + ")"
	}
	return err
}

// requestOf is the id that a reply gives its request, "" for one that is no
// plain word or holds the key.
func (a *account) requestOf(resp *http.Response) string {
	const longest = 100
	id := resp.Header.Get(a.requestID)
	if len(id) > longest || a.secret != "" && strings.Contains(id, a.secret) {
		return ""
	}
	for _, c := range []byte(id) {
		if !alphanumeric(c) && c != '-' && c != '_' && c != '.' {
			return ""
		}
	}
	return id
}

// Without a word of the server the first further attempt comes after a quarter
// of a second, each other after twice as long.
const (
	firstBackoff = 250 * time.Millisecond
	lastBackoff  = 8 * time.Second
	// tooLong means all that is longer.
	tooLong = 24 * time.Hour
)

// backoff is how long to wait after an attempt, a quarter of it by chance: many
// that failed together shall not come again together.
func (a *account) backoff(attempt int) time.Duration {
	d := lastBackoff
	if attempt < 5 {
		d = firstBackoff << max(attempt, 0)
	}
	return d - time.Duration(a.random()*float64(d/4))
}

// asked is how long the server asks to wait, and up to a tenth more by chance:
// never less. ok is false if it says nothing that can be read.
func (a *account) asked(h http.Header) (wait time.Duration, ok bool) {
	text := h.Get("Retry-After")
	wait, ok = amount(h.Get("Retry-After-Ms"), time.Millisecond)
	if !ok {
		wait, ok = amount(text, time.Second)
	}
	if !ok {
		at, err := http.ParseTime(text)
		if err != nil {
			return 0, false
		}
		wait = max(at.Sub(a.sent(h)), 0)
	}
	return wait + time.Duration(a.random()*float64(min(wait/10, time.Second))), true
}

// sent is when the server answered, by its own clock: ours may be another.
func (a *account) sent(h http.Header) time.Time {
	if at, err := http.ParseTime(h.Get("Date")); err == nil {
		return at
	}
	return a.now()
}

// amount is a count of units.
func amount(text string, unit time.Duration) (time.Duration, bool) {
	n, err := strconv.ParseFloat(text, 64)
	if math.IsNaN(n) || n < 0 || err != nil && !math.IsInf(n, 1) {
		return 0, false
	}
	return time.Duration(min(n*float64(unit), float64(tooLong))), true
}
