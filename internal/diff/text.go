package diff

import (
	"fmt"
	"strings"

	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/internal/spell"
	"github.com/hookc/hookc/policy"
)

// marks begin the lines of hooks and files, by what became of them.
var marks = map[string]string{Added: "+", Removed: "-", Changed: "~", Moved: ">"}

// Text is the report for people: what is decided differently first.
func (r *Report) Text() string {
	var s strings.Builder
	if len(r.Decisions) > 0 {
		s.WriteString("DECISIONS\n")
	}
	for i := range r.Decisions {
		writeDecision(&s, &r.Decisions[i])
	}
	writeWritten(&s, r)
	for _, d := range r.Denied {
		if (d.Old == "") != (d.New == "") {
			fmt.Fprintf(&s, "%s %s\n", d.Event, denied(&d))
		}
	}
	if s.Len() > 0 {
		s.WriteByte('\n')
	}
	writeTried(&s, r)
	return s.String()
}

func denied(d *DeniedChange) string {
	if d.Old == "" {
		return fmt.Sprintf("%s is always denied now, by %s", d.Tool, d.New)
	}
	return fmt.Sprintf("%s was always denied, by %s, and is not any more", d.Tool, d.Old)
}

// maxTools is how many tools are named of one difference.
const maxTools = 6

// Names are the tools of a difference, and how many there are that have no room.
func (c *Change) Names() string {
	if n := len(c.Tools); n > maxTools {
		return fmt.Sprintf("%s and %d others", strings.Join(c.Tools[:maxTools-1], ", "), n-maxTools+1)
	}
	return strings.Join(c.Tools, ", ")
}

// writeDecision is one difference with its witness.
func writeDecision(s *strings.Builder, c *Change) {
	s.WriteString(strings.TrimRight(fmt.Sprintf("  %s → %s  %s %s", c.From, c.To, c.Event, c.Names()), " "))
	fmt.Fprintf(s, "  (%s, on %s", c.Direction, spell.Count(c.Events, "event"))
	if c.Recorded > 0 {
		fmt.Fprintf(s, ", %d recorded", c.Recorded)
	}
	s.WriteString(")\n")
	fmt.Fprintf(s, "    %s\n", c.Witness)
	for _, name := range lists.Keys(c.Answers) {
		if c.Answers[name] == fails {
			fmt.Fprintf(s, "    if %s fails\n", name)
			continue
		}
		text, err := policy.EncodeJSON(c.Answers[name])
		if err != nil {
			panic("diff: an answer has no JSON: " + err.Error())
		}
		fmt.Fprintf(s, "    if %s answers %s\n", name, text)
	}
	fmt.Fprintf(s, "    old: %s\n    new: %s\n", InLine(c.Old), InLine(c.New))
}

// InLine is a Decision in a line.
func InLine(d *policy.Decision) string {
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

// writeWritten is what is written differently.
func writeWritten(s *strings.Builder, r *Report) {
	event := policy.Event("")
	for i := range r.Hooks {
		h := &r.Hooks[i]
		if h.Event != event {
			event = h.Event
			fmt.Fprintf(s, "%s\n", event)
		}
		writeHook(s, h)
	}
	for _, c := range r.Settings {
		fmt.Fprintf(s, "~ %s: %s → %s\n", strings.TrimSpace(string(c.Event)+" "+c.Key), lists.First(c.Old, "–"), lists.First(c.New, "–"))
		writeKnown(s, &c.Known)
	}
	for _, c := range r.Files {
		fmt.Fprintf(s, "%s file %s %s\n", marks[c.Change], c.Path, c.Change)
	}
}

func writeHook(s *strings.Builder, h *HookChange) {
	fmt.Fprintf(s, "  %s %s (%s) %s", marks[h.Change], h.Hook, h.Kind, h.Change)
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
		fmt.Fprintf(s, "      %s: %s → %s\n", f.Key, lists.First(f.Old, "–"), lists.First(f.New, "–"))
	}
	if h.MayDiffer != "" && h.Verdict != Unchanged && h.Verdict != Differs {
		fmt.Fprintf(s, "      %s\n", h.MayDiffer)
	}
	writeKnown(s, &h.Known)
}

// writeKnown says what is known of a change.
func writeKnown(s *strings.Builder, k *Known) {
	switch {
	case k.Verdict == Unchanged:
		s.WriteString("      unchanged (proved): it decides as before\n")
	case k.Verdict == Unproved:
		fmt.Fprintf(s, "      unknown: %s\n", strings.Join(k.Tried, "; "))
	case k.Verdict == Differs && k.Loosens == Unproved:
		fmt.Fprintf(s, "      changed; whether it also holds less back is unknown: %s\n", strings.Join(k.Tried, "; "))
	case k.Verdict == Differs:
		s.WriteString("      changed\n")
	}
	if k.Loosens == Unchanged && k.Verdict != Unchanged {
		s.WriteString("      where no rule fails it holds back no less (proved)\n")
	}
}

// writeTried says what the answer rests on.
func writeTried(s *strings.Builder, r *Report) {
	events, recorded := 0, 0
	for _, t := range r.Tried {
		events += t.Events + t.Solved + t.Cases
		recorded += t.Recorded
	}
	tried := fmt.Sprintf("%s tried, at %s", spell.Count(events, "event"), spell.Count(len(r.Tried), "lifecycle point"))
	if recorded > 0 {
		tried = fmt.Sprintf("%s and %s", spell.Count(recorded, "recorded event"), tried)
	}
	unknown := r.Unknown(false)
	for _, line := range r.Unproved {
		fmt.Fprintf(s, "unknown: %s\n", line)
	}
	if r.Same {
		fmt.Fprintf(s, "one program: %s", r.Old)
		if len(r.Files) > 0 {
			s.WriteString(", files beside it differ")
		}
		s.WriteString("; ")
	}
	written := fmt.Sprintf("%s, %s, %s", spell.Count(len(r.Hooks), "hook"), spell.Count(len(r.Settings), "setting"), spell.Count(len(r.Files), "file"))
	switch {
	case len(r.Decisions) > 0:
		fmt.Fprintf(s, "%s, %s; %d unknown; %s\n", spell.Count(len(r.Decisions), "changed decision"), written, len(unknown), tried)
	case len(unknown) == 0:
		fmt.Fprintf(s, "0 changed decisions (proved), %s\n", written)
	default:
		fmt.Fprintf(s, "no changed decision was found, %d unknown, %s; %s\n", len(unknown), written, tried)
	}
	if p := r.Past; p != nil {
		for _, said := range []struct {
			n   int
			why string
		}{{p.LeftOut, "not tried: another event or tool, or no hook of either policy"}, {p.Unfit, "left out: no policy takes such an event"},
			{p.Proved, "not tried: no decision differs there (proved)"}, {p.Masked, "tried with masks where values were"},
			{p.Unanswered, "tried without an answer of then: the script or model is another now"}} {
			if said.n > 0 {
				fmt.Fprintf(s, "%s %s\n", spell.Count(said.n, "recorded event"), said.why)
			}
		}
	}
	if r.Unstable > 0 {
		fmt.Fprintf(s, "%s left out: one policy on its own answered in two ways\n", spell.Count(r.Unstable, "event"))
	}
}
