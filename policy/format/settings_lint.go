package format

import (
	"path"
	"slices"
	"time"

	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
	"github.com/hookc/hookc/policy/pattern"
)

// knownNames reports names in a matcher that are no tools of the agent.
func (r *settingsReader) knownNames(written diag.Text, f policy.Field, names []string) {
	profile := r.dialect.Profile
	if f != policy.FieldToolName || len(profile.Tools) == 0 {
		return
	}
	for _, name := range names {
		open := func(glob string) bool {
			ok, err := path.Match(glob, name)
			return ok || err != nil
		}
		if name == "" || slices.Contains(profile.Tools, name) || slices.ContainsFunc(profile.Open, open) {
			continue
		}
		r.report(codeMatcher.Report(written.Span, "%s has no tool %q: the hooks never run for it", r.id, name).
			WithHint("%s", diag.DidYouMean(name, profile.Tools, "names are compared as they are written")))
	}
}

// knownPattern reports a matcher that finds none of the agent's tools.
func (r *settingsReader) knownPattern(written diag.Text, f policy.Field, p *pattern.Pattern) {
	if f == policy.FieldToolName && !r.mayMatch(p) {
		r.report(codeMatcher.Report(written.Span, "%q matches no tool of %s: these hooks never run", written.Value, r.id).
			WithHint("%s", diag.DidYouMean(written.Value, r.dialect.Profile.Tools, "")))
	}
}

// tooLong is a timeout that was rather meant in milliseconds.
const tooLong = 1000 * time.Second

// inSeconds reports a timeout that seems to be written in milliseconds.
func (r *settingsReader) inSeconds(h *policy.Hook) {
	if h.TimeoutSpan.IsZero() || h.Timeout < tooLong {
		return
	}
	r.report(codeTimeout.Report(h.TimeoutSpan, "%s counts seconds: this is %v", r.id, h.Timeout.Round(time.Second)).
		WithHint("write %g for %v", h.Timeout.Seconds()/1000, h.Timeout/1000))
}

// races reports two hooks of one agent that start at once, may meet and may
// both rewrite a call.
func (l *Loader) races(hooks []*policy.Hook) {
	var writers []*policy.Hook
	for _, h := range hooks {
		if h.Event == policy.PreToolExecution && h.Body.Agent.Event != "" && h.Untrusted == "" && !h.Async && mayRewrite(h) {
			writers = append(writers, h)
		}
	}
	for i, h := range writers {
		for _, before := range writers[:i] {
			if apart(before, h) {
				continue
			}
			l.diags.Add(codeTogether.Report(h.Span, "this hook and the one at %s start at once and may both rewrite a call: the agent keeps what finishes last, hookc the later in the files, and neither sees the other's", before.Span).
				WithHint("write one hook that does both"))
			return
		}
	}
}

// apart reports whether the names of tools that two hooks list have none in
// common.
func apart(a, b *policy.Hook) bool {
	one, two := listedTools(a), listedTools(b)
	return one != nil && two != nil && !slices.ContainsFunc(one, func(name string) bool { return slices.Contains(two, name) })
}

func listedTools(h *policy.Hook) []string {
	for _, c := range h.Filter.Conditions {
		if a := c.Atom; a != nil && a.Op == policy.AtomIn && a.Field == policy.FieldToolName {
			return a.Values
		}
	}
	return nil
}
