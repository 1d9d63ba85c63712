package main

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/hookc/hookc/internal/casetest"
	"github.com/hookc/hookc/internal/spell"
	"github.com/hookc/hookc/policy"
)

// replayReport is what replay found.
type replayReport struct {
	// Events were decided; Same are decided as recorded, Unrecorded had no
	// decision, LeftOut were not asked for, Debug were lines of the debug log.
	Events     int                   `json:"events"`
	Same       int                   `json:"same"`
	Unrecorded int                   `json:"unrecorded"`
	LeftOut    int                   `json:"left_out"`
	Debug      int                   `json:"debug_lines"`
	Actions    map[policy.Action]int `json:"actions"`
	// Changed are decided otherwise; Unsure differ, and a hook that was not run
	// may be why.
	Changed []replayed `json:"changed"`
	Unsure  []replayed `json:"unsure"`
	// Unread is how many records could not be read.
	Unread int `json:"unread"`

	unread []string
}

// replayed is a record that is decided otherwise.
type replayed struct {
	At    string       `json:"at"`
	Name  string       `json:"name,omitempty"`
	Event policy.Event `json:"event"`
	Tool  string       `json:"tool,omitempty"`
	// Differs lists the keys of the Decision that differ, with both values.
	Differs []string `json:"differs"`
	// NotRun are the hooks that were reached and not run.
	NotRun   []string         `json:"not_run,omitempty"`
	Input    json.RawMessage  `json:"input"`
	Recorded map[string]any   `json:"recorded"`
	Decision *policy.Decision `json:"decision"`
}

// aside are the keys of a whole Decision that are no part of what was decided.
var aside = []string{"at", "by", "degraded", "failed", "hooks", "policy", "warnings"}

// note compares a decision with the one that was recorded.
func (r *replayReport) note(rec *recording, eng *replayEngine, d *policy.Decision) {
	r.Events++
	r.Actions[d.Action]++
	if rec.expect == nil {
		r.Unrecorded++
		return
	}
	differs := rec.differs(d)
	if len(differs) == 0 {
		r.Same++
		return
	}
	input, err := rec.in.MarshalJSON()
	if err != nil {
		panic("hookc: an event that was read has no JSON: " + err.Error())
	}
	c := replayed{At: rec.at, Name: rec.name, Event: rec.event, Tool: rec.in.Text(policy.FieldToolName), Differs: differs, NotRun: eng.concerned(d),
		Input: input, Recorded: rec.expect, Decision: d}
	if len(c.NotRun) > 0 && unsure(rec, d, c.NotRun) {
		r.Unsure = append(r.Unsure, c)
		return
	}
	r.Changed = append(r.Changed, c)
}

// unsure reports whether hooks that were not run may be why a decision is not
// what was recorded: one of them decided it, or nobody is known to have, then or
// now.
func unsure(rec *recording, d *policy.Decision, notRun []string) bool {
	by, said := rec.expect["by"].(string)
	if !said {
		return d.By == ""
	}
	return slices.ContainsFunc(notRun, func(name string) bool { return by == name || strings.HasPrefix(by, name+"#") })
}

// differs lists the keys in which a decision is not the recorded one.
func (rec *recording) differs(d *policy.Decision) []string {
	got, want := decided(d), maps.Clone(rec.expect)
	if rec.whole {
		for key := range got {
			if _, has := want[key]; !has {
				want[key] = nil
			}
		}
		maps.DeleteFunc(want, func(key string, _ any) bool { return spell.Has(aside, key) })
	}
	return casetest.Unlike("", want, got)
}

func (r *replayer) print() error {
	r.report.Unread = len(r.report.unread)
	out := r.cmd.OutOrStdout()
	if r.asJSON {
		return writeJSON(out, &r.report)
	}
	var s strings.Builder
	for i := range r.report.Changed {
		r.report.Changed[i].text(&s, "CHANGED")
	}
	for i := range r.report.Unsure {
		r.report.Unsure[i].text(&s, "UNSURE")
	}
	r.report.summary(&s)
	if _, err := io.WriteString(out, s.String()); err != nil {
		return cannot("the report cannot be written: %v", err)
	}
	return nil
}

func (c *replayed) text(s *strings.Builder, word string) {
	fmt.Fprintf(s, "%s %s  %s", word, c.At, c.Event)
	for _, part := range []string{c.Tool, c.Name} {
		if part != "" {
			fmt.Fprintf(s, " %s", part)
		}
	}
	if was, ok := c.Recorded["action"].(string); ok && was != string(c.Decision.Action) {
		fmt.Fprintf(s, "  %s → %s", was, c.Decision.Action)
	}
	s.WriteByte('\n')
	if c.Decision.By != "" {
		fmt.Fprintf(s, "     by %s  %s\n", c.Decision.By, c.Decision.At)
	}
	for _, d := range c.Differs {
		fmt.Fprintf(s, "     %s\n", d)
	}
	if len(c.NotRun) > 0 {
		fmt.Fprintf(s, "     not run: %s\n", strings.Join(c.NotRun, ", "))
	}
}

func (r *replayReport) summary(s *strings.Builder) {
	fmt.Fprintf(s, "%s replayed: %d as recorded, %d changed, %d unsure, %d without a recorded decision", count(r.Events, "event"), r.Same, len(r.Changed),
		len(r.Unsure), r.Unrecorded)
	if r.LeftOut > 0 {
		fmt.Fprintf(s, "; %d left out by --event or --tool", r.LeftOut)
	}
	if r.Debug > 0 {
		fmt.Fprintf(s, "; %s of the debug log, which holds no events", count(r.Debug, "line"))
	}
	s.WriteByte('\n')
	var actions []string
	for _, a := range spell.Keys(r.Actions) {
		actions = append(actions, fmt.Sprintf("%d %s", r.Actions[a], a))
	}
	if len(actions) > 0 {
		fmt.Fprintf(s, "now: %s\n", strings.Join(actions, ", "))
	}
}
