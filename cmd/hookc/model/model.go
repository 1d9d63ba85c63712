// Package model answers llm hooks over HTTP: one POST to a provider for each
// attempt. It is linked by the command line alone; programs that embed hookc
// bring their own policy.Model. A call that fails is a *policy.HookError of
// kind ErrNetwork, or ErrTimeout when its context ended; its text names the
// status and the request's id, and never a key or a body. The package makes one
// request for each call: semantics.md §5.4 says how often a hook is tried, and
// HookError.After how long to wait before that. Models are safe for concurrent
// use.
package model

import (
	"math/rand/v2"
	"net/url"
	"strings"
	"time"

	"github.com/hookc/hookc/internal/fault"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/internal/spell"
	"github.com/hookc/hookc/policy"
)

// protocol is how the requests and replies of one provider look.
type protocol struct {
	// name is the word for HOOKC_MODEL_PROVIDER and begins every failure.
	name string
	// prefix begins the names of the provider's variables.
	prefix string
	// base is the address without one of the user's; path is below it. model is
	// asked where nobody names another.
	base, path, model string
	// headers are sent with every request; key is the one that holds the key,
	// after a word.
	headers   map[string]string
	key, word string
	// requestID is the header of a reply that names the request.
	requestID string
	// ask is the request's body.
	ask func(model string, req policy.ModelRequest) any
	// read is the text of a reply. Its error is of the kind that callers get.
	read func(p *protocol, body []byte) (string, error)
}

// protocols are in the order in which a configured one is looked for. Those
// with the variables of one before them are used where they are asked for.
var protocols = []protocol{chatCompletions, responses, messages}

// Providers lists the words HOOKC_MODEL_PROVIDER takes.
func Providers() []string {
	var out []string
	for _, p := range protocols {
		out = append(out, p.name)
	}
	return out
}

// FromEnv chooses a provider from the environment and returns its Model and the
// default model's name: HOOKC_MODEL, else the provider's own. At an address of the
// user's it is "": the event's model comes before the provider's, which a server of
// the user's may not have. HOOKC_MODEL_PROVIDER decides; without it the provider that is configured does, openai before anthropic. A
// provider is configured by its key (OPENAI_API_KEY, ANTHROPIC_API_KEY) or
// its address (OPENAI_BASE_URL, ANTHROPIC_BASE_URL): a local server needs no
// key. With none the Model is nil. The error is of what the user wrote.
func FromEnv(getenv func(string) string) (m policy.Model, name string, err error) {
	name = getenv("HOOKC_MODEL")
	provider := getenv("HOOKC_MODEL_PROVIDER")
	for _, p := range protocols {
		a := accountOf(p, getenv)
		if provider == p.name || provider == "" && a.configured() {
			if err := a.check(); err != nil {
				return nil, name, err
			}
			if name == "" && a.address == "" {
				name = p.model
			}
			return a.call, name, nil
		}
	}
	if provider != "" {
		words := Providers()
		last := len(words) - 1
		err = fault.Errorf("HOOKC_MODEL_PROVIDER must be %s or %s, not %q", strings.Join(words[:last], ", "), words[last], provider)
	}
	return nil, name, err
}

// account is how one provider is reached.
type account struct {
	protocol
	// named is the model of a request that names none.
	secret, address, named string
	// own are headers that the user's variables add.
	own []header
	// longest bounds a call whose context has no deadline.
	longest time.Duration
	now     func() time.Time
	// random is a number from 0 to below 1.
	random func() float64
}

// header is a header of a request and the variable that says it.
type header struct{ variable, name, value string }

// longestCall is more than any model needs for the answer of a hook.
const longestCall = 10 * time.Minute

func accountOf(p protocol, getenv func(string) string) *account {
	a := &account{
		protocol: p, named: lists.First(getenv("HOOKC_MODEL"), p.model), address: getenv(p.prefix + "_BASE_URL"),
		secret:  strings.TrimSpace(getenv(p.prefix + "_API_KEY")),
		longest: longestCall, now: time.Now, random: rand.Float64,
	}
	if p.prefix != "OPENAI" {
		return a
	}
	for _, h := range []header{{variable: "OPENAI_ORG_ID", name: "OpenAI-Organization"}, {variable: "OPENAI_PROJECT_ID", name: "OpenAI-Project"}} {
		if h.value = getenv(h.variable); h.value != "" {
			a.own = append(a.own, h)
		}
	}
	for _, line := range strings.Split(getenv("OPENAI_CUSTOM_HEADERS"), "\n") {
		if name, value, ok := spell.Cut(line, ":"); ok {
			a.own = append(a.own, header{"OPENAI_CUSTOM_HEADERS", strings.TrimSpace(name), strings.TrimSpace(value)})
		} else if strings.TrimSpace(line) != "" {
			a.own = append(a.own, header{variable: "OPENAI_CUSTOM_HEADERS"}) // which no call can send
		}
	}
	return a
}

func (a *account) configured() bool { return a.secret != "" || a.address != "" }

// check reports what no call could be made with. What only a call needs is
// looked at when it is made: a policy without llm hooks works without it.
func (a *account) check() error {
	if !a.configured() {
		return fault.Errorf("HOOKC_MODEL_PROVIDER is %s, but neither %s_API_KEY nor %s_BASE_URL is set", a.name, a.prefix, a.prefix)
	}
	if a.address == "" {
		return nil
	}
	u, err := url.Parse(a.address)
	if err != nil || u.Host == "" || !lists.Has([]string{"http", "https"}, u.Scheme) {
		return fault.Errorf("%s_BASE_URL is not an http or https address", a.prefix)
	}
	return nil
}

// fails is a failure of a call.
//
//go:noinline
func (p *protocol) fails(format string, args ...any) *policy.HookError {
	return policy.Failf(policy.ErrNetwork, p.name+": "+format, args...)
}
