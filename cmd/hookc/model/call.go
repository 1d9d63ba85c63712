package model

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"

	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/observe"
)

// maxReply bounds the body of a reply.
const maxReply = 8 << 20

// client sends the requests. Proxies are those of the environment.
var client = &http.Client{CheckRedirect: sameServer}

// maxRedirects is how often one request may be sent on.
const maxRedirects = 3

// sameServer follows a redirect that repeats the request to the server it was
// for. Any other would give the key and the prompt to somebody else, or ask
// without the prompt.
func sameServer(next *http.Request, via []*http.Request) error {
	first := via[0]
	if len(via) > maxRedirects || next.Method != first.Method || next.URL.Scheme != first.URL.Scheme || next.URL.Host != first.URL.Host {
		return http.ErrUseLastResponse
	}
	return nil
}

// call makes one request and reads the reply.
func (a *account) call(ctx context.Context, req policy.ModelRequest) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, a.longest)
	defer cancel()
	post, err := a.request(ctx, req)
	if err != nil {
		return "", err
	}
	resp, err := client.Do(post)
	if err != nil {
		return "", a.unreached(ctx, err, req.Attempt)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return "", a.refused(resp, req.Attempt)
	}
	body, err := a.body(ctx, resp, req.Attempt)
	if err != nil {
		return "", err
	}
	text, err := a.read(&a.protocol, body)
	if err != nil {
		return "", identified(err, a.requestOf(resp))
	}
	return text, nil
}

// request is a call on its way.
func (a *account) request(ctx context.Context, req policy.ModelRequest) (*http.Request, error) {
	address, err := url.Parse(lists.First(a.address, a.base))
	if err != nil {
		return nil, a.fails("%s_BASE_URL is not an http or https address", a.prefix)
	}
	var body bytes.Buffer
	enc := json.NewEncoder(&body)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(a.ask(lists.First(req.Model, a.named), req)); err != nil {
		return nil, a.fails("the request cannot be written: %w", err)
	}
	post, err := http.NewRequestWithContext(ctx, http.MethodPost, address.JoinPath(a.path).String(), &body)
	if err != nil {
		return nil, a.fails("%s_BASE_URL is not an address that can be asked", a.prefix)
	}
	set := []header{{name: "Content-Type", value: "application/json"}, {name: "Accept", value: "application/json"}, {name: "User-Agent", value: "hookc"}}
	for name, value := range a.headers {
		set = append(set, header{name: name, value: value})
	}
	set = append(set, a.own...)
	if a.secret != "" { // a local server wants none; an empty one is worse than none
		set = append(set, header{variable: a.prefix + "_API_KEY", name: a.key, value: a.word + a.secret})
	}
	for _, h := range set {
		if !h.valid() {
			return nil, a.fails("%s is not what an HTTP header can hold", h.variable)
		}
		post.Header.Set(h.name, h.value)
	}
	if t := observe.TraceOf(ctx); t.Parent != "" {
		post.Header["Traceparent"] = []string{t.Parent}
		if t.State != "" {
			post.Header["Tracestate"] = []string{t.State}
		}
	}
	return post, nil
}

// valid reports whether the header can be sent: net/http's own complaint would
// repeat the value.
func (h header) valid() bool {
	const marks = "!#$%&'*+-.^_`|~"
	for _, c := range []byte(h.name) {
		if !alphanumeric(c) && !strings.ContainsRune(marks, rune(c)) {
			return false
		}
	}
	for _, c := range []byte(h.value) {
		if c < ' ' && c != '\t' || c == 0x7f {
			return false
		}
	}
	return h.name != ""
}

func alphanumeric(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

// body is the body of a reply with status 200.
func (a *account) body(ctx context.Context, resp *http.Response, attempt int) ([]byte, error) {
	id := a.requestOf(resp)
	if text := resp.Header.Get("Content-Type"); text != "" {
		kind, _, err := mime.ParseMediaType(text)
		switch {
		case err != nil:
			return nil, identified(a.fails("the reply is of no known type, not JSON"), id)
		case kind != "application/json" && !strings.HasSuffix(kind, "+json"):
			return nil, identified(a.fails("the reply is %s, not JSON", kind), id)
		}
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxReply+1))
	switch {
	case err != nil:
		return nil, identified(a.unreached(ctx, err, attempt), id)
	case len(body) > maxReply:
		return nil, identified(a.fails("the reply is larger than %d MiB", maxReply>>20), id)
	}
	return body, nil
}

// decode reads a reply into a value.
func (p *protocol) decode(body []byte, into any) error {
	err := json.Unmarshal(body, into)
	var syntax *json.SyntaxError
	switch {
	case err == nil:
		return nil
	case len(bytes.TrimSpace(body)) == 0:
		return p.fails("the reply is empty")
	case errors.As(err, &syntax) && syntax.Offset >= int64(len(body)) && strings.HasPrefix(syntax.Error(), "unexpected end"):
		return p.fails("the reply was cut off")
	}
	return p.fails("the reply cannot be read")
}
