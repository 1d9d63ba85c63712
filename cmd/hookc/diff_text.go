package main

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/hookc/hookc/internal/diff"
	"github.com/hookc/hookc/internal/report"
	"github.com/hookc/hookc/policy"
)

// diffMarks begin the lines of hooks and files, by what became of them.
var diffMarks = map[string]string{diff.Added: "+", diff.Removed: "-", diff.Changed: "~", diff.Moved: ">"}

// diffText is the report for people: what is decided differently first.
func diffText(out io.Writer, r *diff.Report) error {
	var s strings.Builder
	if len(r.Decisions) > 0 {
		s.WriteString("DECISIONS\n")
	}
	for i := range r.Decisions {
		diffDecision(&s, &r.Decisions[i])
	}
	diffWritten(&s, r)
	for _, d := range r.Denied {
		if (d.Old == "") != (d.New == "") {
			fmt.Fprintf(&s, "%s %s\n", d.Event, diffDenied(&d))
		}
	}
	if s.Len() > 0 {
		s.WriteByte('\n')
	}
	diffTried(&s, r)
	if _, err := io.WriteString(out, s.String()); err != nil {
		return cannot("the differences cannot be written: %v", err)
	}
	return nil
}

func diffDenied(d *diff.DeniedChange) string {
	if d.Old == "" {
		return fmt.Sprintf("%s is always denied now, by %s", d.Tool, d.New)
	}
	return fmt.Sprintf("%s was always denied, by %s, and is not any more", d.Tool, d.Old)
}

// maxTools is how many tools are named of one difference.
const maxTools = 6

// diffDecision is one difference with its witness.
func diffDecision(s *strings.Builder, c *diff.Change) {
	fmt.Fprintf(s, "  %s → %s  %s", c.From, c.To, c.Event)
	if n := len(c.Tools); n > maxTools {
		fmt.Fprintf(s, " %s and %d others", strings.Join(c.Tools[:maxTools-1], ", "), n-maxTools+1)
	} else if n > 0 {
		fmt.Fprintf(s, " %s", strings.Join(c.Tools, ", "))
	}
	fmt.Fprintf(s, "  (%s, on %s", c.Direction, count(c.Events, "event"))
	if c.Recorded > 0 {
		fmt.Fprintf(s, ", %d recorded", c.Recorded)
	}
	s.WriteString(")\n")
	fmt.Fprintf(s, "    %s\n", c.Witness)
	fmt.Fprintf(s, "    old: %s\n    new: %s\n", diffSaid(c.Old), diffSaid(c.New))
}

// diffSaid is a Decision in a line.
func diffSaid(d *policy.Decision) string {
	out := string(d.Action)
	if d.Verdict == policy.Allow {
		out += " (allow)"
	}
	if d.By != "" {
		out += " by " + d.By
	}
	if at := d.At.String(); at != "" {
		out += "  " + at
	}
	if len(d.Reasons) > 0 {
		out += fmt.Sprintf("  %q", d.Reasons)
	}
	for _, list := range [][]string{d.Feedback, d.Context, d.SystemMessages} {
		if len(list) > 0 {
			out += fmt.Sprintf("  %q", list)
		}
	}
	if len(d.Patch) > 0 {
		patch, err := policy.EncodeJSON(d.Patch)
		if err != nil {
			panic("hookc: a patch has no JSON: " + err.Error())
		}
		out += "  patch " + string(patch)
	}
	return out
}

// diffWritten is what is written differently.
func diffWritten(s *strings.Builder, r *diff.Report) {
	event := policy.Event("")
	for i := range r.Hooks {
		h := &r.Hooks[i]
		if h.Event != event {
			event = h.Event
			fmt.Fprintf(s, "%s\n", event)
		}
		diffHook(s, h)
	}
	for _, c := range r.Settings {
		fmt.Fprintf(s, "~ %s: %s → %s\n", strings.TrimSpace(string(c.Event)+" "+c.Key), cmp.Or(c.Old, "–"), cmp.Or(c.New, "–"))
	}
	for _, c := range r.Files {
		fmt.Fprintf(s, "%s file %s %s\n", diffMarks[c.Change], c.Path, c.Change)
	}
}

func diffHook(s *strings.Builder, h *diff.HookChange) {
	fmt.Fprintf(s, "  %s %s (%s) %s", diffMarks[h.Change], h.Hook, h.Kind, h.Change)
	if h.Was != "" {
		fmt.Fprintf(s, ", it was %s", h.Was)
	}
	switch {
	case h.Old == "" || h.New == "":
		fmt.Fprintf(s, "  %s\n", h.Old+h.New)
	default:
		fmt.Fprintf(s, "  %s → %s\n", h.Old, h.New)
	}
	for _, f := range h.Fields {
		if strings.Contains(f.Old+f.New, "\n") {
			fmt.Fprintf(s, "      %s differs\n", f.Key)
			continue
		}
		fmt.Fprintf(s, "      %s: %s → %s\n", f.Key, cmp.Or(f.Old, "–"), cmp.Or(f.New, "–"))
	}
	if h.MayDiffer != "" {
		fmt.Fprintf(s, "      %s\n", h.MayDiffer)
	}
}

// diffTried says what the answer rests on.
func diffTried(s *strings.Builder, r *diff.Report) {
	events, recorded := 0, 0
	for _, t := range r.Tried {
		events += t.Events
		recorded += t.Recorded
	}
	tried := fmt.Sprintf("%s tried, at %s", count(events, "event"), count(len(r.Tried), "lifecycle point"))
	if recorded > 0 {
		tried = fmt.Sprintf("%s and %s", count(recorded, "recorded event"), tried)
	}
	switch {
	case r.Same:
		fmt.Fprintf(s, "one program: %s", r.Old)
		if len(r.Files) > 0 {
			s.WriteString(", files beside it differ")
		}
		fmt.Fprintf(s, "; %s\n", tried)
	case r.Empty():
		fmt.Fprintf(s, "no difference found; %s, which proves nothing of others\n", tried)
	default:
		fmt.Fprintf(s, "%s, %s, %s, %s; %s, which proves nothing of others\n", count(len(r.Decisions), "changed decision"), count(len(r.Hooks), "hook"),
			count(len(r.Settings), "setting"), count(len(r.Files), "file"), tried)
	}
	if r.Unstable > 0 {
		fmt.Fprintf(s, "%s left out: one policy by itself answered in two ways\n", count(r.Unstable, "event"))
	}
}

// diffResults are the differences of decisions as results of tests: one that holds
// back less fails, and with onlyLoosened the others do not.
func diffResults(r *diff.Report, onlyLoosened bool) []report.Result {
	var out []report.Result
	for i := range r.Decisions {
		c := &r.Decisions[i]
		t := report.Result{Name: fmt.Sprintf("%s: %s → %s, %s %s", c.Direction, c.From, c.To, c.Event, strings.Join(c.Tools, ", ")), Status: report.Failed,
			Text: fmt.Sprintf("old: %s\nnew: %s\nevent: %s", diffSaid(c.Old), diffSaid(c.New), c.Witness)}
		if onlyLoosened && c.Direction != diff.Loosened {
			t.Status = report.Skipped
		}
		for _, d := range []*policy.Decision{c.Old, c.New} {
			if !d.At.IsZero() {
				t.File = d.At.File()
				t.Line, _ = d.At.Position()
			}
		}
		out = append(out, t)
	}
	return out
}
