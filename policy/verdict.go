package policy

import (
	"strings"

	"github.com/hookc/hookc/internal/fault"
)

// Verdict is a hook's opinion on the action an event guards. A greater value
// is more restrictive; None is no opinion and never a forced allow
// (semantics.md §2.1).
type Verdict uint8

// The verdicts, least restrictive first.
const (
	None Verdict = iota
	Allow
	Ask
	Defer
	Deny
)

var verdictNames = [...]string{"none", "allow", "ask", "defer", "deny"}

func (v Verdict) String() string { return verdictNames[v] }

// MarshalText makes a verdict its name in JSON.
func (v Verdict) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// ParseVerdict reads a verdict by its name or one of its aliases: approve is
// allow, block is deny.
func ParseVerdict(s string) (Verdict, bool) {
	switch s {
	case "none":
		return None, true
	case "allow", "approve":
		return Allow, true
	case "ask":
		return Ask, true
	case "defer":
		return Defer, true
	case "deny", "block":
		return Deny, true
	}
	return None, false
}

// Control is how far a hook breaks out of the lifecycle: Skip leaves the
// step, Stop the sub-pipeline, Halt the turn (semantics.md §1.2).
type Control uint8

// The controls, weakest first.
const (
	Go Control = iota
	Skip
	Stop
	Halt
)

var controlNames = [...]string{"go", "skip", "stop", "halt"}

func (c Control) String() string { return controlNames[c] }

// MarshalText makes a control its name in JSON.
func (c Control) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// ParseControl reads a control by its name.
func ParseControl(s string) (Control, bool) {
	for i, n := range controlNames {
		if n == s {
			return Control(i), true
		}
	}
	return Go, false
}

// Powers is a set of verdicts and controls other than none and go: what an
// event obeys, or what a hook may say.
type Powers uint16

// The members of Powers.
const (
	MayAllow Powers = 1 << iota
	MayAsk
	MayDefer
	MayDeny
	MaySkip
	MayStop
	MayHalt

	AllPowers Powers = 1<<iota - 1
)

var powerNames = [...]string{"allow", "ask", "defer", "deny", "skip", "stop", "halt"}

// PowerNames lists the words `may:` takes.
func PowerNames() []string { return powerNames[:] }

// ParsePower reads one word of a `may:` list.
func ParsePower(s string) (Powers, bool) {
	for i, n := range powerNames {
		if n == s {
			return 1 << i, true
		}
	}
	return 0, false
}

// Verdict reports whether v may be said. None always may.
func (p Powers) Verdict(v Verdict) bool { return v == None || p&(1<<(v-1)) != 0 }

// Control reports whether c may be said. Go always may.
func (p Powers) Control(c Control) bool { return c == Go || p&(MaySkip<<(c-1)) != 0 }

// Has reports whether p and q share a member.
func (p Powers) Has(q Powers) bool { return p&q != 0 }

// Names lists the members in order.
//
//go:noinline
func (p Powers) Names() []string {
	out := []string{}
	for i, n := range powerNames {
		if p&(1<<i) != 0 {
			out = append(out, n)
		}
	}
	return out
}

func (p Powers) String() string { return strings.Join(p.Names(), " ") }

// MarshalText is the members separated by spaces.
func (p Powers) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// Class is what an event is for: it decides what a deny there means.
type Class uint8

// The classes of semantics.md §1.1.
const (
	// Observe: results other than messages and context are masked.
	Observe Class = iota
	// Guard: an upcoming action is guarded.
	Guard
	// Transform: a produced value may be changed or hidden.
	Transform
	// Quality: ending is guarded; a deny keeps the agent working.
	Quality
)

func (c Class) String() string { return [...]string{"O", "G", "T", "Q"}[c] }

// MarshalText is the class's letter: O, G, T or Q.
func (c Class) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// Posture is what a hook's failure means (semantics.md §5.4).
type Posture uint8

// The postures. PostureUnset is "not written": the default of the kind and
// the event's class applies.
const (
	PostureUnset Posture = iota
	// OnErrorSkip: as if the hook had said nothing; the failure is recorded.
	OnErrorSkip
	// OnErrorAbort: the step does not happen and the chain ends.
	OnErrorAbort
	// OnErrorDeny: as if the hook had denied.
	OnErrorDeny
	// OnErrorAsk: as if the hook had asked; deny where ask is not available.
	OnErrorAsk
)

var postureNames = [...]string{"", "skip", "abort", "deny", "ask"}

func (p Posture) String() string { return postureNames[p] }

// MarshalText makes a posture its name in JSON.
func (p Posture) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// PostureNames lists the words `on_error:` takes.
func PostureNames() []string { return postureNames[1:] }

// ParsePosture reads a posture. `stop` is the newer jcli spelling of abort.
func ParsePosture(s string) (Posture, error) {
	if s == "stop" {
		return OnErrorAbort, nil
	}
	for i, n := range postureNames {
		if i > 0 && n == s {
			return Posture(i), nil
		}
	}
	return PostureUnset, fault.Errorf("%q is not a posture", s)
}
