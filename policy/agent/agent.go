// Package agent knows the agents, each in one file that holds one value: its
// events and fields, what a hook may say at each and how that is written, how
// its own scripts are spoken to and read, where its settings are, how hookc is
// installed there, and how its own hooks combine. All lists, names, protocols
// and places are derived from these values.
//
// hookc stands where an agent starts a hook: it reads the event the agent sends
// and answers in the agent's own words on stdout, stderr and by exit code. What
// an agent cannot express becomes something stricter that it can, and the
// Decision says so; no opinion is never written as an approval (docs/reference/cli.md
// "Dialects"). In the other direction it speaks to a script as the agent would
// ([Agent.Input], [Agent.Read]).
package agent

import (
	"slices"
	"strconv"
	"strings"

	"github.com/hookc/hookc/internal/fault"
	"github.com/hookc/hookc/internal/lazy"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/internal/spell"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
)

// Power is a set of things an agent lets a hook say at one event.
type Power uint16

// The members of Power.
const (
	MayAllow Power = 1 << iota
	MayAsk
	MayDefer
	// MayDeny: the guarded action does not happen, a result is hidden or
	// annotated, the agent keeps working; by the class of the event.
	MayDeny
	// MayRetry: the step is done again with feedback.
	MayRetry
	// MayStop: the sub-pipeline is left.
	MayStop
	// MayEnd: the turn ends.
	MayEnd
	MayContext
	MayInject
	// MaySystem: the user is shown a message.
	MaySystem
	MaySuppress
)

var powerNames = [...]string{"allow", "ask", "defer", "deny", "retry", "stop", "end_turn", "context", "inject", "system_message", "suppress_output"}

// Has reports whether p and q share a member.
func (p Power) Has(q Power) bool { return p&q != 0 }

// Names lists the members in order.
func (p Power) Names() []string {
	var out []string
	for i, n := range powerNames {
		if p&(1<<i) != 0 {
			out = append(out, n)
		}
	}
	return out
}

// Wire is an answer as the agent reads it.
type Wire struct {
	Stdout []byte
	Stderr string
	Exit   int
}

// Agent is one agent's protocol at one version. Values are immutable and
// safe for concurrent use.
type Agent struct {
	// ID names the dialect; a variant for older versions of an agent ends in
	// @version.
	ID string
	// Version is the release of the agent that the value describes.
	Version string
	// Aliases are other spellings of ID.
	Aliases []string
	// Doc says in a line what speaks it.
	Doc string
	// Profile is what the agent's own configuration means; nil when hookc does
	// not read it.
	Profile *Profile

	// Files are where the agent keeps its configuration, in the order in which
	// its hooks stand.
	Files []File
	// protects are further files and folders, as path-guard takes them, with which
	// the agent could be told to run something or to leave its hooks out.
	protects []string
	// settings is how its settings hold hooks; nil when that is not known.
	settings *Settings

	points []point
	// computed makes the points where they are no plain list; they are made when
	// something asks for them.
	computed func() []point
	// keys are the agent's names of the fields; none are the canonical ones.
	keys []key
	// eventKey is where the agent writes the name of the event; eventEnv the
	// variable that holds it when nothing else names it.
	eventKey, eventEnv string
	// unnamed is true when the agent sends the name of most events nowhere.
	unnamed bool
	// mcp is what the agent calls the server and the tool where it says them.
	mcp mcpNames
	// env are the variables that stand in for fields the agent did not send.
	env []envKey
	// narrow takes away what the agent would not obey in this situation.
	narrow func(in *policy.Context, may Power) Power
	// fits reports whether the final value of a field the point writes can be
	// expressed; nil is always.
	fits func(c *Call, f policy.Field, v any) bool
	// blank is a result of a call that shows nothing but a text, for one that
	// cannot be expressed; false where there is none. nil is never.
	blank func(c *Call, text string) (any, bool)
	// join separates several contexts; "" is a line break.
	join string
	// deliver writes an answer that holds only what the point can express.
	deliver func(a *answer) Wire
	// timeoutExit: exit status 124 of a script means that its time ran out.
	timeoutExit bool
	// refuseUnknown refuses when not even the event is known.
	refuseUnknown func(reason string) Wire
	// noticeExit is the code with which text on stderr reaches the user and
	// nothing else happens.
	noticeExit int
	// warns is true where the agent warns the user of any other exit code, and
	// has no other way to show a message.
	warns bool
	// stderrIsAnswer is true when the agent takes stderr for an answer although the
	// exit code is 0.
	stderrIsAnswer bool

	scripts scripts
}

// point is one event of an agent.
type point struct {
	name  string
	event policy.Event
	may   Power
	// writes are the fields a hook may change.
	writes []policy.Field
	// when tells points of one name apart by what was sent; nil is always.
	when func(sent map[string]any) bool
	// shape is nil where what is sent is one flat object of names in keys.
	shape *shape
	// promptOptional is true when the agent need not send the text of the prompt.
	promptOptional bool
	// annotates is true where a refusal is shown beside what was produced, which
	// it does not hide.
	annotates bool
	// complains is true where a refusal refuses nothing, and the user is shown why.
	complains bool
	// silent is true where the agent takes whatever is said for an answer.
	silent bool
	// askKeepsInput is true where a rewrite goes with a question.
	askKeepsInput bool
	// allowed is true where only an approval can carry a rewrite.
	allowed bool
	// at is what holds for hooks of the agent's settings there.
	at At
}

// key is an agent's name of a field.
type key struct {
	name  string
	field policy.Field
	// at are the events at which scripts are sent the field; nil is every event.
	at  []policy.Event
	use keyUse
}

// keyUse says in which direction a name counts.
type keyUse uint8

const (
	// both: it is read at every event, and sent at those of key.at.
	both keyUse = iota
	// here: it is read and sent at those of key.at alone.
	here
	// sent: scripts are sent it; the agent sends it not, or means another field.
	sent
	// read: the agent sends it, at those of key.at; scripts are not sent it.
	read
)

// same are fields that go by their canonical names.
func same(fields ...policy.Field) []key { return sameAt(nil, fields...) }

func sameAt(at []policy.Event, fields ...policy.Field) []key {
	out := make([]key, len(fields))
	for i, f := range fields {
		out[i] = key{name: f.String(), field: f, at: at}
	}
	return out
}

// field is the field that a name means at an event; false for a name that is
// none of the agent's own.
func (a *Agent) field(name string, event policy.Event) (f policy.Field, ok bool) {
	for _, k := range a.keys {
		switch listed := lists.Among(k.at, event); {
		case k.name != name || k.use == sent || k.name == k.field.String():
		case listed && k.use != both:
			return k.field, true
		case !ok && (k.use == both || k.use == read && k.at == nil):
			f, ok = k.field, true
		}
	}
	return f, ok
}

// envKey is an environment variable and the field it stands in for.
type envKey struct {
	name  string
	field policy.Field
}

// mcpNames are an agent's names of mcp.server and mcp.tool.
type mcpNames struct{ server, tool string }

var registry []*Agent

// register adds a dialect to the closed registry of this package. It panics on
// an incomplete value and on a name that is taken. A value that is a variable is
// laid out by the linker; a literal among the arguments is copied at each start.
func register(d Agent) *Agent {
	if d.ID == "" || d.Version == "" || d.Doc == "" || d.eventKey == "" || d.deliver == nil || d.refuseUnknown == nil || len(d.points) == 0 && d.computed == nil {
		panic("agent: " + d.ID + " is incomplete")
	}
	for i := range d.points {
		if p := &d.points[i]; p.name == "" || p.event == "" {
			panic("agent: " + d.ID + " has an event without a name")
		}
	}
	for _, name := range append([]string{d.ID}, d.Aliases...) {
		if exact(name) != nil {
			panic("agent: the name " + name + " is taken")
		}
	}
	for i, f := range d.Files {
		base, _, _ := spell.Cut(d.ID, "@")
		d.Files[i].Format = lists.First(f.Format, base)
	}
	if d.settings != nil {
		d.settings.Files = installed(d.Files)
	}
	if d.computed != nil {
		d.computed = lazy.Value(d.computed)
	}
	registry = append(registry, &d)
	return &d
}

// allPoints are the events of the agent.
//
//go:noinline
func (d *Agent) allPoints() []point {
	if d.computed != nil {
		return d.computed()
	}
	return d.points
}

// All lists the dialects, by ID.
func All() []*Agent {
	return slices.SortedFunc(slices.Values(registry), func(a, b *Agent) int { return strings.Compare(a.ID, b.ID) })
}

// Names lists every accepted name of a dialect, sorted.
func Names() []string {
	var out []string
	for _, d := range registry {
		out = append(append(out, d.ID), d.Aliases...)
	}
	lists.Sort(out)
	return out
}

// Find returns the dialect with a name. A name with a version of its own,
// such as claude@2.1.250, is the variant in force at that version: the one of
// the smallest version that is not older, or the newest.
func Find(name string) (*Agent, error) {
	if d := exact(name); d != nil {
		return d, nil
	}
	base, version, versioned := spell.Cut(name, "@")
	if d := exact(base); versioned && d != nil {
		at, ok := parseVersion(version)
		if !ok {
			return nil, fault.Errorf("%q is not a version of %s", version, d.ID)
		}
		return d.at(at), nil
	}
	return nil, fault.Errorf("unknown dialect %q: %s", name, diag.DidYouMean(name, Names(), "`hookc list dialect` shows them"))
}

//go:noinline
func exact(name string) *Agent {
	for _, d := range registry {
		if d.ID == name || lists.Has(d.Aliases, name) {
			return d
		}
	}
	return nil
}

// at is the variant of an agent's dialect in force at a version.
func (d *Agent) at(version []int) *Agent {
	best := d
	for _, v := range registry {
		base, _, _ := spell.Cut(v.ID, "@")
		known, ok := parseVersion(v.Version)
		if base != d.ID || !ok || slices.Compare(known, version) < 0 {
			continue
		}
		if least, _ := parseVersion(best.Version); slices.Compare(known, least) < 0 {
			best = v
		}
	}
	return best
}

func parseVersion(s string) ([]int, bool) {
	var out []int
	for part := range strings.SplitSeq(s, ".") {
		n, err := strconv.Atoi(part)
		if err != nil {
			return nil, false
		}
		out = append(out, n)
	}
	return out, true
}

// Capabilities is what an agent lets a hook say at one of its events.
type Capabilities struct {
	// Native is the agent's own name of the event.
	Native string
	Event  policy.Event
	May    Power
	// Writes are the fields a hook may change.
	Writes []policy.Field
	// Losses say what becomes of each thing the canonical event obeys and the
	// agent cannot be told.
	Losses []Loss
}

// Can is what the agent lets a hook say at an event: one row for each event
// of the agent that has the canonical name, none when it has no such event.
func (d *Agent) Can(e policy.Event) []Capabilities {
	var out []Capabilities
	for i := range d.allPoints() {
		p := &d.allPoints()[i]
		if p.event != e {
			continue
		}
		losses := p.losses()
		for i, l := range losses {
			if d.RefusedBefore(e) && lists.Has(refusals, l.From) {
				losses[i] = Loss{l.From, string(policy.PreToolExecution), "a hook cannot refuse this; the call of the tool that begins it is refused"}
			}
		}
		out = append(out, Capabilities{Native: p.name, Event: e, May: p.may, Writes: p.writes, Losses: losses})
	}
	return out
}

// refusals are the names of what keeps a step from happening.
var refusals = []string{deny.String(), leave.String(), end.String()}

// Events lists the canonical events the agent has, in lifecycle order.
func (d *Agent) Events() []policy.Event {
	var out []policy.Event
	for _, p := range d.allPoints() {
		out = append(out, p.event)
	}
	return lists.Compact(lists.Order(out, policy.Event.Compare))
}

// find is the event with a name: the agent's own, a canonical one or another
// alias of it.
func (d *Agent) find(name string, sent map[string]any) *point {
	pick := func(same func(p *point) bool) *point {
		for i := range d.allPoints() {
			if p := &d.allPoints()[i]; same(p) && (p.when == nil || p.when(sent)) {
				return p
			}
		}
		return nil
	}
	if name == "" {
		return nil
	}
	if p := pick(func(p *point) bool { return p.name == name }); p != nil {
		return p
	}
	event, ok := policy.ParseEvent(name)
	if !ok {
		return nil
	}
	if p := pick(func(p *point) bool { return p.event == event }); p != nil {
		return p
	}
	// A name that tells points apart by what was sent: the name settles it.
	for i := range d.allPoints() {
		if d.allPoints()[i].event == event {
			return &d.allPoints()[i]
		}
	}
	return nil
}

// Natives lists the agent's own names of its events, sorted.
func (d *Agent) Natives() []string {
	var out []string
	for _, p := range d.allPoints() {
		out = append(out, p.name)
	}
	return lists.Distinct(out)
}

// contexts is the text of several contexts.
func (d *Agent) contexts(parts []string) string {
	return strings.Join(parts, lists.First(d.join, "\n"))
}
