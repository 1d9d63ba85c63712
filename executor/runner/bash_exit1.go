package runner

import (
	"path/filepath"
	"regexp"
	"strings"

	"github.com/hookc/hookc/internal/lazy"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/agent"
	"github.com/hookc/hookc/policy/diag"
)

var codeExit1 = diag.Define("HK093", diag.Warning, "exit 1 lets the action happen").Guarding()

var (
	exit1  = lazy.Value(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^[^#\n]*\bexit\s*\(?\s*1\b`) })
	speaks = lazy.Value(func() *regexp.Regexp { return regexp.MustCompile(`(?i)decision|\bdeny\b|"?continue"?\s*:`) })
)

// lintExit1 reports a hook of an agent's own configuration that can only have
// meant to block with status 1: it exits so, and never with 2 nor by an answer.
func lintExit1(h *policy.Hook, a *agent.Agent) diag.List {
	spec, body := h.Event.Spec(), &h.Body
	if body.Agent.Event == "" || body.Agent.Strict || !a.Refuses(2) || a.Refuses(1) || !spec.Guarded() || !spec.Powers.Has(policy.MayDeny) ||
		body.Command.Span.IsZero() && len(body.Args) == 0 || body.Agent.OnFailure > policy.OnErrorSkip {
		return nil
	}
	text, where := body.Command.Value, "the command"
	span := body.Command.Span
	if span.IsZero() {
		span = h.Span
	}
	if at := exit1().FindStringIndex(text); at != nil {
		span = body.Command.At(at[0], at[1])
	}
	for name, script := range scriptsOf(h, body) {
		if exit1().MatchString(script) && where == "the command" && !exit1().MatchString(body.Command.Value) {
			where = name
		}
		text += "\n" + script
	}
	if !exit1().MatchString(text) || exit2().MatchString(text) || speaks().MatchString(text) {
		return nil
	}
	return diag.List{codeExit1.Report(span, "%s exits with 1, which %s takes for a failure of the hook: the action happens", where, body.Protocol).
		WithHook(h.Name).WithHint("exit with 2, and say why on standard error")}
}

// scriptsOf yields the files a command starts with, by the name it gives them.
func scriptsOf(h *policy.Hook, body *policy.Body) func(func(string, string) bool) {
	return func(yield func(string, string) bool) {
		for _, path := range body.Args {
			if !filepath.IsAbs(path) {
				continue // an interpreter
			}
			if script, ok := scriptText(h, path); ok && !yield(path, script) {
				return
			}
		}
		words := firstWords(body.Command.Value)
		for _, w := range words[:min(3, len(words))] {
			if !strings.Contains(w.text, "/") {
				continue
			}
			path, _ := whereFound(h, w.text)
			if script, ok := scriptText(h, path); ok && !yield(w.text, script) {
				return
			}
		}
	}
}
