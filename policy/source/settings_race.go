package source

import (
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/hookc/hookc/internal/lazy"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
	"github.com/hookc/hookc/policy/source/commandline"
)

// contagion reports hooks that run in turn because of another group.
func (c *forkConfig) contagion(l *Loader, leads, free []*policy.Hook) {
	l.diags.Add(codeTogether.Report(leads[0].Span, "sequential holds for the whole of %s: where this group matches, %d of other groups run in turn too (%s), each on what the one before it left",
		leads[0].Body.Agent.Event, len(free), whereWritten(free)).WithHint("mark them sequential as well, or take it away here"))
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
	return one != nil && two != nil && !slices.ContainsFunc(one, func(name string) bool { return lists.Has(two, name) })
}

func listedTools(h *policy.Hook) []string {
	for _, c := range h.Filter.Conditions {
		if a := c.Atom; a != nil && a.Op == policy.AtomIn && a.Field == policy.FieldToolName {
			return a.Values
		}
	}
	return nil
}

var rewrites = lazy.Value(func() *regexp.Regexp { return regexp.MustCompile(`tool_input["'\s\\]*[:=]|updatedInput|tool_input=`) })

// race reports hooks that start at once and may both rewrite one call.
func (c *forkConfig) race(l *Loader, hooks []*policy.Hook) {
	var first *policy.Hook
	for _, h := range hooks {
		if h.Event != policy.PreToolExecution || !mayRewrite(h) {
			continue
		}
		if first == nil {
			first = h
			continue
		}
		l.diags.Add(codeTogether.Report(h.Span, "this hook and the one at %s start at once and may both rewrite a call: the input of the later one stands alone, and neither sees the other's", first.Span).
			WithHint(`put them in a group with "sequential": true, the last writing the whole input`))
		return
	}
}

// mayRewrite reports whether a hook's text, or that of the scripts it names,
// speaks of a new input.
func mayRewrite(h *policy.Hook) bool {
	if text := h.Body.Command.Value; strings.Contains(text, "hookSpecificOutput") && rewrites().MatchString(text) {
		return true
	}
	files, _ := commandline.Files(h.Body.Command.Value, h.Dir)
	for _, f := range files {
		info := regularFile(f)
		if info == nil || info.Size() > 1<<20 || h.File != nil && outside(h.File.Within, f) != nil {
			continue
		}
		text, err := os.ReadFile(f)
		if err == nil && strings.Contains(string(text), "hookSpecificOutput") && rewrites().Match(text) {
			return true
		}
	}
	return false
}

var codeTogether = diag.Define("HK035", diag.Warning, "hooks that change each other's effect")
