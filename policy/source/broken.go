package source

import (
	"regexp"

	"github.com/hookc/hookc/internal/lazy"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
)

// broken puts a hook that always fails in the place of one that cannot be read,
// so that the failure stays with the events of that hook. The findings that say
// why stay errors for whoever checks the policy.
func (l *Loader) broken(in *File, name string, events []policy.Event, filter policy.Filter, body policy.Body, found diag.List) diag.List {
	if in.Untrusted != "" {
		return found // it never runs
	}
	why := found[max(0, lists.At(found, func(d *diag.Diagnostic) bool { return d.Severity == diag.Error }))]
	body.Broken = in.Name + ": " + why.Text
	for _, event := range events {
		h := &policy.Hook{Name: name, Event: event, Kind: policy.KindBash, Priority: policy.DefaultPriority, Retry: -1, Span: why.Span, Filter: filter,
			OnError: policy.OnErrorSkip, OnTimeout: policy.OnErrorSkip, Body: body}
		if event.Spec().Class == policy.Guard {
			h.OnError, h.OnTimeout = policy.OnErrorDeny, policy.OnErrorDeny
		}
		h.Dir = dirOf(in.Path)
		h.File = &policy.FileConfig{Dir: h.Dir}
		l.Add(in, h)
	}
	for i := range found {
		found[i].Contained = true
	}
	return found
}

var triggerLine = lazy.Value(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^[ \t]*trigger[ \t]*:[ \t]*["']?([a-z_-]+)`)
})

// brokenEvents are the events that a HOOK.md which cannot be read may be meant
// for: those it names, as far as that can be seen, else every guarded one.
func brokenEvents(found diag.List) []policy.Event {
	var out []policy.Event
	for _, d := range found {
		if d.Span.Source == nil || len(out) > 0 {
			continue
		}
		for _, m := range triggerLine().FindAllStringSubmatch(d.Span.Source.Content, -1) {
			if event, ok := policy.ParseEvent(m[1]); ok && lists.Among(mdTriggers, m[1]) && !lists.Among(out, event) {
				out = append(out, event)
			}
		}
	}
	if len(out) > 0 {
		return out
	}
	for _, name := range mdTriggers {
		if event, ok := policy.ParseEvent(name); ok && event.Spec().Class == policy.Guard {
			out = append(out, event)
		}
	}
	return append(out, policy.PermissionRequest)
}
