// Package record says what `log:` of policy files means: what each may say of the
// decision log, and which of several holds. The strictest does, and what a more trusted
// tier said is not taken back by a less trusted one.
package record

import (
	"fmt"
	"sort"
	"strings"

	"github.com/hookc/hookc/internal/fault"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/internal/spell"
	"github.com/hookc/hookc/policy/diag"
)

// User is the rank of the user's tier. Ranks are those of policy.Tier: the lower, the
// more trusted.
const User = 2

// Setting is what one file says of the log.
type Setting struct {
	// Tier and At say who it is: At is zero for what is not in a policy file, which By
	// names then.
	Tier string
	Rank int
	By   string
	At   diag.Span
	// Enabled is "on", "off", or "" for neither.
	Enabled string
	// OnError is "deny", "warn" or "".
	OnError          string
	Durable          bool
	KeepDays, KeepMB int
	// Mask are JSON pointers of what is masked; Drop are events that are not logged.
	Mask, Drop []When
	// Rego are modules with mask and drop, each with the name of its file, in Version.
	Rego    []diag.Text
	Version string
	// Checkpoints is a file for copies of the signed checkpoints.
	Checkpoints string
}

// When is a pointer or an event, with the expression that says when it is meant; the
// zero Text is always.
type When struct {
	What string
	If   diag.Text
}

// who is how people are told who said something.
func (s *Setting) who() string {
	if s.At.IsZero() {
		return s.By
	}
	return fmt.Sprintf("the %s tier, %s", s.Tier, s.At)
}

// Masking is a When, or a module's Rego, that is in force.
type Masking struct {
	When
	Rego    diag.Text
	Version string
	// Narrow is set for what a tier says that is not as trusted as the user: it masks
	// what a call said, and not which call it was or what was decided. Drops is set
	// where it may drop events.
	Narrow, Drops bool
}

// Settled is what is in force.
type Settled struct {
	Enabled          bool
	OnError          string
	Durable          bool
	KeepDays, KeepMB int
	Mask, Drop, Rego []Masking
	Checkpoints      []string
	// Notes are lines for people: what is in force, and who said it.
	Notes []string
	// Unused is what does not hold.
	Unused []Unused
}

// Unused is one thing that a setting says and that does not hold.
type Unused struct {
	At   diag.Span
	Text string
}

// settling is a Settled under way.
type settling struct {
	*Settled
	// charge is the rank of the tier that turned the log on.
	charge int
}

// Settle finds what is in force of all that is said.
func Settle(all []Setting) *Settled {
	list := append([]Setting(nil), all...)
	sort.SliceStable(list, func(i, j int) bool { return list[i].Rank < list[j].Rank })
	s := settling{Settled: &Settled{OnError: "warn"}}
	s.enabled(list)
	for i := range list {
		s.add(&list[i])
	}
	if !s.Enabled {
		return &Settled{OnError: "warn", Notes: s.Notes[:min(1, len(s.Notes))], Unused: s.Unused}
	}
	return s.Settled
}

// enabled finds who decides whether there is a log: the most trusted that says so, and
// among equals who says on.
func (s *settling) enabled(list []Setting) {
	var first *Setting
	for i := range list {
		e := &list[i]
		switch {
		case e.Enabled == "":
		case first == nil || e.Rank == first.Rank && e.Enabled == "on":
			first = e
		case e.Enabled == "off" && first.Enabled == "on":
			s.unused(e, "enabled: false", "the log is on by "+first.who())
		case e.Enabled == "on" && first.Enabled == "off":
			s.unused(e, "enabled: true", "the log is off by "+first.who())
		}
	}
	if first == nil {
		return
	}
	s.Enabled, s.charge = first.Enabled == "on", first.Rank
	s.say("log: "+first.Enabled, first)
}

//go:noinline
func (s *settling) say(what string, e *Setting) { s.Notes = append(s.Notes, what+", by "+e.who()) }

//go:noinline
func (s *settling) unused(e *Setting, what, why string) {
	s.Unused = append(s.Unused, Unused{e.At, "log: " + what + " is not used: " + why})
}

// add lays one setting over those that are more trusted.
func (s *settling) add(e *Setting) {
	if e.Durable && !s.Durable {
		s.Durable = true
		s.say("log: durable", e)
	}
	switch {
	case e.OnError == "deny" && s.OnError != "deny":
		s.OnError = "deny"
		s.say("log: on_error deny", e)
	case e.OnError == "warn" && s.OnError == "deny":
		s.unused(e, "on_error: warn", "a more trusted tier, or one beside it, refuses what cannot be logged")
	}
	s.keep(e, "keep_days", e.KeepDays, &s.KeepDays)
	s.keep(e, "keep_mb", e.KeepMB, &s.KeepMB)
	narrow, drops := e.Rank > User, e.Rank <= s.charge
	for _, m := range e.Mask {
		if narrow && !Narrow(m.What) {
			s.unused(e, "mask of "+m.What, "a project masks what is below /input or /answers, and not which call it was")
			continue
		}
		s.Mask = append(s.Mask, Masking{When: m, Narrow: narrow})
		s.say("log: masks "+m.What+conditional(m.If), e)
	}
	for _, d := range e.Drop {
		if !drops {
			s.unused(e, "drop", "a more trusted tier wants the log")
			continue
		}
		s.Drop = append(s.Drop, Masking{When: d})
		s.say("log: drops "+lists.First(d.What, "events")+conditional(d.If), e)
	}
	for _, text := range e.Rego {
		s.Rego = append(s.Rego, Masking{Rego: text, Version: e.Version, Narrow: narrow, Drops: drops})
		s.say("log: masks by Rego "+text.Span.String(), e)
	}
	switch {
	case e.Checkpoints == "":
	case narrow:
		s.unused(e, "checkpoints", "only the user and the machine's administrator say where they go")
	default:
		s.Checkpoints = append(s.Checkpoints, e.Checkpoints)
		s.say("log: checkpoints also go to "+e.Checkpoints, e)
	}
}

// keep takes the larger bound. A project sets one where nobody else does.
func (s *settling) keep(e *Setting, key string, value int, held *int) {
	switch {
	case value == 0 || value == *held:
	case *held == 0 || e.Rank <= User && value > *held:
		*held = value
		s.say(fmt.Sprintf("log: %s %d", key, value), e)
	default:
		s.unused(e, fmt.Sprintf("%s: %d", key, value), fmt.Sprintf("it is %d by another", *held))
	}
}

func conditional(when diag.Text) string {
	if when.Value == "" {
		return ""
	}
	return " when " + strings.Join(strings.Fields(when.Value), " ")
}

// kept are the members of an event that say which call it was.
var kept = []string{"event", "tool_name", "session_id", "agent", "cwd", "project_root"}

// Narrow reports whether a JSON pointer is one that a project may mask: what a call
// said, below /input or /answers.
func Narrow(pointer string) bool {
	part, rest, _ := spell.Cut(strings.TrimPrefix(pointer, "/"), "/")
	name, _, _ := spell.Cut(rest, "/")
	return part == "answers" && name != "" || part == "input" && name != "" && name != "*" && !lists.Has(kept, name)
}

// CheckPointer says what is wrong with a JSON pointer into an entry.
func CheckPointer(p string) error {
	part, rest, _ := spell.Cut(strings.TrimPrefix(p, "/"), "/")
	if !strings.HasPrefix(p, "/") || rest == "" || !lists.Has([]string{"input", "result", "answers"}, part) {
		return fault.Errorf("mask has %q: it takes JSON pointers below /input, /result or /answers, such as /input/tool_input/content", p)
	}
	return nil
}
