// Package model answers llm hooks through the providers' own client
// libraries. It is linked by the command line alone: programs that embed
// hookc bring their own policy.Model. A call that fails is a
// *policy.HookError of kind ErrNetwork, or ErrTimeout when its context ended;
// its text names the status and never a key. The libraries' retries are off:
// semantics.md §5.4 says how often a hook is tried. Models are safe for
// concurrent use.
package model

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/hookc/hookc/policy"
)

// Providers lists the words HOOKC_MODEL_PROVIDER takes.
func Providers() []string { return []string{"openai", "anthropic"} }

// FromEnv chooses a provider from the environment and returns its Model and
// HOOKC_MODEL, the default model's name. HOOKC_MODEL_PROVIDER decides;
// without it the provider that is configured does, openai before anthropic. A
// provider is configured by its key (OPENAI_API_KEY, ANTHROPIC_API_KEY) or
// its address (OPENAI_BASE_URL, ANTHROPIC_BASE_URL): a local server needs no
// key. With none the Model is nil. The error is of what the user wrote.
func FromEnv(getenv func(string) string) (m policy.Model, name string, err error) {
	name = getenv("HOOKC_MODEL")
	provider := getenv("HOOKC_MODEL_PROVIDER")
	open := account{provider: "openai", key: getenv("OPENAI_API_KEY"), address: getenv("OPENAI_BASE_URL"), model: name}
	claude := account{provider: "anthropic", key: getenv("ANTHROPIC_API_KEY"), address: getenv("ANTHROPIC_BASE_URL"), model: name}
	switch {
	case provider == open.provider, provider == "" && open.configured():
		m, err = open.start(newOpenAI)
	case provider == claude.provider, provider == "" && claude.configured():
		m, err = claude.start(newAnthropic)
	case provider != "":
		err = fmt.Errorf("HOOKC_MODEL_PROVIDER must be %s, not %q", strings.Join(Providers(), " or "), provider)
	}
	return m, name, err
}

// account is how one provider is reached.
type account struct{ provider, key, address, model string }

func (a account) configured() bool { return a.key != "" || a.address != "" }

func (a account) start(open func(account) policy.Model) (policy.Model, error) {
	prefix := strings.ToUpper(a.provider)
	if !a.configured() {
		return nil, fmt.Errorf("HOOKC_MODEL_PROVIDER is %s, but neither %s_API_KEY nor %s_BASE_URL is set", a.provider, prefix, prefix)
	}
	if a.address != "" {
		u, err := url.Parse(a.address)
		if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			return nil, fmt.Errorf("%s_BASE_URL is not an http or https address", prefix)
		}
	}
	return open(a), nil
}

// named is the model to ask: the request's, else the account's.
func (a account) named(req policy.ModelRequest) (string, error) {
	switch {
	case req.Model != "":
		return req.Model, nil
	case a.model != "":
		return a.model, nil
	}
	return "", policy.Failf(policy.ErrNetwork, "no model is named: set model: on the hook, defaults.model or HOOKC_MODEL")
}

// failure is a call's error as a HookError. Errors of the libraries may hold
// addresses and bodies; only what is known to be harmless is repeated.
func (a account) failure(ctx context.Context, err error, status int) error {
	var nested net.Error
	var op *net.OpError
	switch {
	case ctx.Err() != nil:
		return policy.Failf(policy.ErrTimeout, "%s: no reply in time: %w", a.provider, ctx.Err())
	case status != 0:
		return policy.Failf(policy.ErrNetwork, "%s: %s", a.provider, strings.TrimSpace(fmt.Sprintf("%d %s", status, http.StatusText(status))))
	case errors.As(err, &nested) && nested.Timeout():
		return policy.Failf(policy.ErrNetwork, "%s: the connection timed out", a.provider)
	case errors.As(err, &op):
		return policy.Failf(policy.ErrNetwork, "%s: cannot %s: %w", a.provider, op.Op, op.Err)
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return policy.Failf(policy.ErrNetwork, "%s: the reply was cut off", a.provider)
	case errors.Is(err, errTooLarge):
		return policy.Failf(policy.ErrNetwork, "%s: %w", a.provider, errTooLarge)
	}
	return policy.Failf(policy.ErrNetwork, "%s: the reply cannot be read", a.provider)
}

// maxReply bounds the body of a reply.
const maxReply = 8 << 20

var errTooLarge = fmt.Errorf("the reply is larger than %d MiB", maxReply>>20)

// client bounds what a server may send.
func client() *http.Client { return &http.Client{Transport: bounded{http.DefaultTransport}} }

type bounded struct{ next http.RoundTripper }

func (b bounded) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := b.next.RoundTrip(req)
	if err == nil {
		resp.Body = &limited{ReadCloser: resp.Body, left: maxReply}
	}
	return resp, err
}

// limited is a body that fails instead of going on for ever.
type limited struct {
	io.ReadCloser
	left int
}

func (l *limited) Read(p []byte) (int, error) {
	if l.left <= 0 {
		return 0, errTooLarge
	}
	n, err := l.ReadCloser.Read(p[:min(len(p), l.left)])
	l.left -= n
	return n, err
}
