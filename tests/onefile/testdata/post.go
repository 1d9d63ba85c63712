package runner

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
	"github.com/hookc/hookc/policy/source"
)

// The kind post asks a web service. Its file is laid over this package by
// tests/onefile, and nothing else of hookc knows it.
var _ = Add("post", false, postKind,
	source.Key{Name: "url", Type: source.TypeText, Infers: true, Note: "the service that is sent the event"},
	source.Key{Name: "strict", Type: source.TypeBool, Default: "false", Note: "an empty reply is a failure"})

var codeURL = diag.Define("HK398", diag.Error, "no address of a service").Explained("url: is an http address.", "notify:\n  - {url: nowhere}\n", "notify:\n  - {url: 'http://localhost/'}\n")

func postKind(Options) dag.Kind {
	return dag.Kind{
		Name: "post", Timeout: time.Minute, Cost: 20 * time.Millisecond, OnGuard: policy.OnErrorDeny, OnOther: policy.OnErrorSkip,
		Doc: "sends the event to a web service, which answers with a HookResult",
		Prepare: func(h *policy.Hook) (dag.Body, diag.List) {
			p := &post{hook: h}
			var found diag.List
			for _, o := range h.Body.Options {
				switch o.Key.Value {
				case "url":
					p.url, _ = o.Value.(string)
					if u, err := url.Parse(p.url); err != nil || u.Scheme != "http" {
						found.Add(codeURL.Report(o.Span, "%q is no address", p.url).WithHook(h.Name))
					}
				case "strict":
					p.strict = o.Value == true
				}
			}
			spec := h.Event.Spec()
			return dag.Body{Runner: p, Effects: policy.Effects{Reads: spec.Readable(), May: spec.PowersFor(""), World: policy.WorldNone, MayFail: true}}, found
		},
	}
}

type post struct {
	hook   *policy.Hook
	url    string
	strict bool
}

func (p *post) Run(ctx context.Context, in *policy.Context, _ int) (policy.Result, error) {
	event, err := in.MarshalJSON()
	if err != nil {
		return policy.Result{}, policy.Failf(policy.ErrParse, "%w", err)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, p.url, bytes.NewReader(event))
	if err != nil {
		return policy.Result{}, policy.Failf(policy.ErrNetwork, "%w", err)
	}
	reply, err := http.DefaultClient.Do(request)
	if err != nil {
		return policy.Result{}, policy.Failf(policy.ErrNetwork, "%w", err)
	}
	defer func() { _ = reply.Body.Close() }() // it was read
	text, err := io.ReadAll(io.LimitReader(reply.Body, 1<<20))
	switch {
	case err != nil:
		return policy.Result{}, policy.Failf(policy.ErrNetwork, "%w", err)
	case reply.StatusCode != http.StatusOK:
		return policy.Result{}, policy.Failf(policy.ErrNetwork, "%s", reply.Status)
	case len(text) == 0 && !p.strict:
		return policy.Result{}, nil
	}
	return policy.ParseHookResultText(text, policy.By{Name: p.hook.Name, At: p.hook.Span})
}
