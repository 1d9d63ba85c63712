// Package replay compares what is decided of recorded events with what was, and counts.
package replay

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hookc/hookc/internal/approval"
	"github.com/hookc/hookc/internal/casetest"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/internal/spell"
	"github.com/hookc/hookc/policy"
	terms "github.com/hookc/hookc/policy/approval"
	"github.com/hookc/hookc/policy/scan"
)

// Report is what replay found.
type Report struct {
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
	Changed []Change `json:"changed"`
	Unsure  []Change `json:"unsure"`
	// Unread is how many records could not be read.
	Unread int `json:"unread"`
	// Lost is how many decisions the log says it had no room for.
	Lost int64 `json:"lost,omitempty"`

	// Wrong says what is wrong with the first of them.
	Wrong []string `json:"-"`
}

// Misses notes what is wrong with a record.
func (r *Report) Misses(why string) {
	const most = 100
	if r.Unread++; r.Unread <= most {
		r.Wrong = append(r.Wrong, why)
	} else if r.Unread == most+1 {
		r.Wrong = append(r.Wrong, "and more")
	}
}

// Change is a record that is decided otherwise.
type Change struct {
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

// Outcome is what became of a record.
type Outcome struct {
	What   What
	Action policy.Action
	// Change is what is different, where something is.
	Change *Change
}

// What is a kind of outcome.
type What uint8

// The kinds: of Undecided nothing is known yet.
const (
	Undecided What = iota
	LeftOut
	Unrecorded
	Same
	Unsure
	Changed
)

// Add counts what became of a record.
func (r *Report) Add(o *Outcome) {
	if o.What == LeftOut {
		r.LeftOut++
		return
	}
	r.Events++
	r.Actions[o.Action]++
	switch o.What {
	case Unrecorded:
		r.Unrecorded++
	case Same:
		r.Same++
	case Unsure:
		r.Unsure = append(r.Unsure, *o.Change)
	default:
		r.Changed = append(r.Changed, *o.Change)
	}
}

// Compare compares a decision with the one of a record, or with what is said of it
// where whole is false. notRun are the hooks that were reached and not run. c says which
// record it is; a change has the rest.
func Compare(c *Change, in *policy.Context, whole bool, d *policy.Decision, notRun func(*policy.Decision) []string) Outcome {
	o := Outcome{What: Unrecorded, Action: d.Action}
	if c.Recorded == nil {
		return o
	}
	d = answered(c.Recorded, d)
	o.Action = d.Action
	if c.Differs = differs(c.Recorded, whole, d); len(c.Differs) == 0 {
		o.What = Same
		return o
	}
	input, err := in.MarshalJSON()
	if err != nil {
		panic("hookc: an event that was read has no JSON: " + err.Error())
	}
	c.Tool, c.Input, c.Decision, c.NotRun = in.Text(policy.FieldToolName), input, d, notRun(d)
	if o.What, o.Change = Changed, c; len(c.NotRun) > 0 && unsure(c.Recorded, d, c.NotRun) {
		o.What = Unsure
	}
	return o
}

// answered is a Decision that is a question, with what came of it as a record of the same
// question has it: by a grant, or because it was not approved. People are not asked again.
func answered(recorded map[string]any, d *policy.Decision) *policy.Decision {
	if !approval.Asks(d) {
		return d
	}
	out := *d
	if grant, is := recorded["grant"].(map[string]any); is {
		text, err := policy.EncodeJSON(grant)
		var g terms.Grant
		if err == nil && json.Unmarshal(text, &g) == nil {
			approval.Permit(&out, &g)
		}
		return &out
	}
	if recorded["verdict"] != policy.Deny.String() || !asked(recorded) {
		return d
	}
	reasons, _ := recorded["reasons"].([]any)
	var why []string // what was said of the approval comes after the reasons of who asked
	for _, r := range reasons[min(len(d.Reasons), len(reasons)):] {
		text, _ := r.(string)
		why = append(why, text)
	}
	approval.Refuse(&out, why...)
	return &out
}

// asked reports whether the hook that decided a recorded Decision had asked: it was
// refused because nobody approved.
func asked(recorded map[string]any) bool {
	by, _ := recorded["by"].(string)
	hooks, _ := recorded["hooks"].([]any)
	for _, h := range hooks {
		h, _ := h.(map[string]any)
		name, _ := h["name"].(string)
		verdict, _ := h["verdict"].(string)
		if name != "" && (by == name || strings.HasPrefix(by, name+"#")) && (verdict == policy.Ask.String() || verdict == policy.Defer.String()) {
			return true
		}
	}
	return false
}

// unsure reports whether hooks that were not run may be why a decision is not
// what was recorded: one of them decided it, or nobody is known to have, then or
// now.
func unsure(recorded map[string]any, d *policy.Decision, notRun []string) bool {
	by, said := recorded["by"].(string)
	if !said {
		return d.By == ""
	}
	return slices.ContainsFunc(notRun, func(name string) bool { return by == name || strings.HasPrefix(by, name+"#") })
}

// differs lists the keys in which a decision is not the recorded one.
func differs(recorded map[string]any, whole bool, d *policy.Decision) []string {
	got, want := casetest.Object(d), maps.Clone(recorded)
	if whole {
		for key := range got {
			if _, has := want[key]; !has {
				want[key] = nil
			}
		}
		maps.DeleteFunc(want, func(key string, _ any) bool { return lists.Has(aside, key) })
	}
	return casetest.Unlike("", want, got)
}

// Text writes the change for people.
func (c *Change) Text(s *strings.Builder, word string) {
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

// Summary writes the counts for people.
func (r *Report) Summary(s *strings.Builder) {
	fmt.Fprintf(s, "%s replayed: %d as recorded, %d changed, %d unsure, %d without a recorded decision", spell.Count(r.Events, "event"), r.Same, len(r.Changed),
		len(r.Unsure), r.Unrecorded)
	if r.LeftOut > 0 {
		fmt.Fprintf(s, "; %d left out by --event or --tool", r.LeftOut)
	}
	if r.Debug > 0 {
		fmt.Fprintf(s, "; %s of the debug log, which holds no events", spell.Count(r.Debug, "line"))
	}
	if r.Lost > 0 {
		fmt.Fprintf(s, "; %s not in the log, which had no room", spell.Count(int(r.Lost), "decision"))
	}
	s.WriteByte('\n')
	var actions []string
	for _, a := range lists.Keys(r.Actions) {
		actions = append(actions, fmt.Sprintf("%d %s", r.Actions[a], a))
	}
	if len(actions) > 0 {
		fmt.Fprintf(s, "now: %s\n", strings.Join(actions, ", "))
	}
}

// Comparer finds decisions that are as recorded. It remembers how those that say nothing
// were recorded, which are most of a log. It is not safe for concurrent use.
type Comparer struct {
	// Known are recorded Decisions, of says what was decided of each.
	Known [][]byte
	of    []silence
	next  int
	// now is the text of last.
	now  []byte
	last silence
}

// silence is all of a Decision that is compared, where nothing more was said.
type silence struct {
	event   policy.Event
	action  policy.Action
	verdict policy.Verdict
	control policy.Control
}

// silenceOf is what is compared of a Decision; false is for one that says more.
func silenceOf(d *policy.Decision) (silence, bool) {
	said := len(d.Reasons) + len(d.Feedback) + len(d.Context) + len(d.SystemMessages) + len(d.Inject) + len(d.Patch)
	return silence{d.Event, d.Action, d.Verdict, d.Control},
		said == 0 && d.StopReason == "" && d.Scope == policy.NoLabel && !d.SuppressOutput && d.Grant == nil && d.Would() == nil
}

// Same reports whether a recorded Decision is written as one that is made now, but
// for what is no part of the comparison. False is also for what is only written
// otherwise.
func (c *Comparer) Same(recorded []byte, d *policy.Decision) bool {
	s, silent := silenceOf(d)
	if !silent {
		return same(recorded, written(d))
	}
	for i, known := range c.Known {
		if c.of[i] == s && bytes.Equal(known, recorded) {
			return true
		}
	}
	if c.now == nil || c.last != s {
		c.now, c.last = written(d), s
	}
	const most, longest = 8, 1 << 16
	is := same(recorded, c.now)
	if is && len(recorded) <= longest {
		if len(c.Known) < most {
			c.Known, c.of = append(c.Known, nil), append(c.of, s)
		}
		c.Known[c.next], c.of[c.next] = append(c.Known[c.next][:0], recorded...), s
		c.next = (c.next + 1) % most
	}
	return is
}

// written is a Decision as JSON, without most that is no part of the comparison.
func written(d *policy.Decision) []byte {
	short := *d
	short.Hooks, short.Failed, short.By, short.Degraded, short.Policy = nil, nil, "", "", ""
	if d.Would() == nil {
		short.Warnings = nil
	}
	text, err := short.MarshalJSON()
	if err != nil {
		panic("hookc: a Decision has no JSON: " + err.Error())
	}
	return text
}

// same compares two Decisions as they are written, with their keys in order.
func same(recorded, now []byte) bool {
	var parts [32][]byte // of each list what is left is compared
	n, at := 0, 0
	if !scan.Members(now, func(key, value []byte) bool {
		if !lists.Has(aside, string(key)) {
			if n+2 > len(parts) {
				return false
			}
			parts[n], parts[n+1] = key, value
			n += 2
		}
		return true
	}) {
		return false
	}
	return scan.Members(recorded, func(key, value []byte) bool {
		if lists.Has(aside, string(key)) {
			return true
		}
		is := at < n && bytes.Equal(parts[at], key) && bytes.Equal(parts[at+1], value)
		at += 2
		return is
	}) && at == n
}
