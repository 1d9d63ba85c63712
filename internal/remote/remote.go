// Package remote has a policy server decide an event beside the policies of this
// machine: the server can refuse what they let through, and nothing more. What becomes
// of an event that the server does not decide is declared.
package remote

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/hookc/hookc/internal/exit"
	"github.com/hookc/hookc/internal/fault"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/bundled"
	"github.com/hookc/hookc/policy/diag"
	"github.com/hookc/hookc/policy/source"
)

var codeUnreachable = diag.Define("HK394", diag.Warning, "the policy server did not decide an event").Guarding().Unprovoked("It takes a policy server that does not answer.")

const (
	// protocol is what answers of a server are marked with.
	protocol, protocolHeader = "1", "Hookc-Protocol"
	maxReply                 = 8 << 20
)

// Server is where and how a policy server is asked. The zero value asks nobody.
type Server struct {
	url, token, authority, certificate, unreachable string
	within                                          time.Duration
	client                                          atomic.Pointer[http.Client]
}

// flags are what a command line is read by.
type flags interface {
	StringVar(p *string, name, value, usage string)
	DurationVar(p *time.Duration, name string, value time.Duration, usage string)
}

// Flags are those of run.
func (s *Server) Flags(f flags) {
	f.StringVar(&s.url, "server", "", "have the policy server at `URL` decide too, after the policies of this machine: its refusal counts")
	f.StringVar(&s.token, "server-token", "", "with --server: the bearer token in `FILE`")
	f.StringVar(&s.authority, "server-ca", "", "with --server: the authorities in `FILE`, and no others, vouch for it")
	f.StringVar(&s.certificate, "server-cert", "", "with --server: the client's certificate and its key in `FILE`")
	f.DurationVar(&s.within, "server-timeout", 5*time.Second, "with --server: how long it may take")
	f.StringVar(&s.unreachable, "on-unreachable", "deny", "with --server: `WHAT` becomes of guarded actions that it does not decide: deny, local (this machine's managed policy decides), allow")
}

// Check is what is wrong with the flags. A path is absolute: an event's folder must not
// choose whom hookc believes.
func (s *Server) Check() error {
	if s.url == "" {
		if s.token+s.authority+s.certificate != "" || s.unreachable != "deny" {
			return exit.Cannot("--server URL says which policy server is meant")
		}
		return nil
	}
	at, err := url.Parse(s.url)
	switch {
	case err != nil || at.Host == "" || at.User != nil || at.RawQuery+at.Fragment != "" || at.Scheme != "https" && at.Scheme != "http":
		return exit.Cannot("--server is an address such as https://policy.example.com:8443")
	case at.Scheme == "http" && !loopback(at.Hostname()):
		return exit.Cannot("--server: http is for this machine alone, since anybody on the way could answer: write https")
	case s.within <= 0:
		return exit.Cannot("--server-timeout is a time above zero, such as 5s")
	case s.unreachable != "deny" && s.unreachable != "local" && s.unreachable != "allow":
		return exit.Cannot("--on-unreachable is deny, local or allow")
	}
	for _, path := range []string{s.token, s.authority, s.certificate} {
		if path != "" && !filepath.IsAbs(path) {
			return exit.Cannot("--server-token, --server-ca and --server-cert take absolute paths")
		}
	}
	return nil
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// Decide has the server decide what own, the decision of this machine's policies, lets
// through. The stricter of both counts.
func (s *Server) Decide(ctx context.Context, event policy.Event, in *policy.Context, own *policy.Decision) *policy.Decision {
	if s.url == "" || own.Action != policy.Proceed && own.Action != policy.AskUser && own.Action != policy.DeferCall {
		return own
	}
	if own.Final != nil {
		in = own.Final
	}
	text, err := in.MarshalJSON()
	if err == nil {
		text, err = s.ask(ctx, event, text)
	}
	if err == nil {
		if err = join(own, event, in, text); err == nil {
			return own
		}
	}
	s.client.Store(nil) // what it was made of may have changed
	why := "the policy server " + s.url + " did not decide: " + err.Error()
	switch {
	case event.Spec().Class != policy.Guard:
	case s.unreachable == "allow":
		why += "; --on-unreachable allow lets the policies of this machine decide alone"
	case s.unreachable == "local" && managed():
		why += "; --on-unreachable local lets the managed policy of this machine decide"
	default:
		own.Action, own.Verdict, own.By, own.At, own.Patch = policy.Block, policy.Deny, "--on-unreachable "+s.unreachable, diag.Span{}, nil
		own.Reasons = append(own.Reasons, "hookc could not decide: "+why)
	}
	own.Warnings = append(own.Warnings, policy.Warning{Code: codeUnreachable, Text: why})
	return own
}

// managed reports whether a bundle was ever put in force here. One that is damaged or
// too old makes a decision of this machine's own.
func managed() bool {
	_, err := os.Stat(filepath.Join(source.ManagedDir(), bundled.Index))
	return err == nil
}

// ask sends an event and returns the answer's text.
func (s *Server) ask(ctx context.Context, event policy.Event, text []byte) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, s.within)
	defer cancel()
	client, err := s.open()
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimSuffix(s.url, "/")+"/v1/events/"+string(event), bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	req.Header = http.Header{"Content-Type": {"application/json"}, "Idempotency-Key": nil} // it decides, and does nothing
	if s.token != "" {
		token, err := os.ReadFile(s.token)
		if err != nil {
			return nil, err
		}
		req.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(token)))
	}
	res, err := client.Do(req)
	if err != nil {
		var whole *url.Error
		if errors.As(err, &whole) {
			err = whole.Err // the address is said before
		}
		return nil, err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(io.LimitReader(res.Body, maxReply+1))
	switch {
	case err != nil:
		return nil, fault.Errorf("its answer was cut off: %v", err)
	case res.StatusCode != http.StatusOK:
		return nil, fault.Errorf("it answered %s", res.Status)
	case len(body) > maxReply:
		return nil, errors.New("its answer is too large")
	case res.Header.Get(protocolHeader) != protocol:
		return nil, fault.Errorf("its answer is of the protocol %q, and this hookc reads %s", res.Header.Get(protocolHeader), protocol)
	}
	return body, nil
}

// open is the client, made again after a failure. The environment chooses neither a way
// to the server nor who vouches for it.
func (s *Server) open() (*http.Client, error) {
	if c := s.client.Load(); c != nil {
		return c, nil
	}
	t := &tls.Config{MinVersion: tls.VersionTLS13}
	if s.authority != "" {
		text, err := os.ReadFile(s.authority)
		if err != nil {
			return nil, err
		}
		t.RootCAs = x509.NewCertPool()
		if !t.RootCAs.AppendCertsFromPEM(text) {
			return nil, fault.Errorf("%s has no certificate", s.authority)
		}
	} else if strings.EqualFold(s.url[:5], "https") && os.Getenv("SSL_CERT_FILE")+os.Getenv("SSL_CERT_DIR") != "" {
		return nil, errors.New("SSL_CERT_FILE or SSL_CERT_DIR is set, and may not choose who vouches for it: write --server-ca into the command")
	}
	if s.certificate != "" {
		pair, err := tls.LoadX509KeyPair(s.certificate, s.certificate)
		if err != nil {
			return nil, err
		}
		t.Certificates = []tls.Certificate{pair}
	}
	c := &http.Client{Transport: &http.Transport{TLSClientConfig: t, MaxIdleConnsPerHost: 16, IdleConnTimeout: time.Minute},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	s.client.Store(c)
	return c, nil
}
