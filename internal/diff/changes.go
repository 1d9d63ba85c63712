package diff

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/hookc/hookc/builtins/toolcall"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/internal/spell"
	"github.com/hookc/hookc/policy"
)

// Direction is which way a decision changed.
type Direction string

// The directions, worst first: what was held back goes on now, what went on is
// held back now, and the same action with other words or another patch.
const (
	Loosened  Direction = "loosened"
	Tightened Direction = "tightened"
	Reworded  Direction = "other"
)

func (d Direction) rank() int { return slices.Index([]Direction{Loosened, Tightened, Reworded}, d) }

// strictness orders actions by how much they hold back.
//
//go:noinline
func strictness(a policy.Action) int {
	switch a {
	case policy.Proceed:
		return 0
	case policy.DeferCall, policy.AskUser:
		return 1
	case policy.KeepWorking, policy.RetryTurn, policy.Hide, policy.Block:
		return 2
	}
	return 3 // abort and end_turn leave more than the step
}

// Change is one way in which decisions differ, with an event that shows it.
type Change struct {
	Event policy.Event `json:"event"`
	// Tools are those of the events on which it was seen, sorted.
	Tools []string `json:"tools,omitempty"`
	// From and To are the actions of old and new.
	From      policy.Action `json:"from"`
	To        policy.Action `json:"to"`
	Direction Direction     `json:"direction"`
	// Events is on how many of the events tried it was seen.
	Events int `json:"events"`
	// Recorded is how many of those had really happened.
	Recorded int `json:"recorded,omitempty"`
	// Witness is one of them, as `hookc run` takes it.
	Witness json.RawMessage `json:"witness"`
	// Answers are what the witness supposes of hooks that are not run: what a hook
	// answers, or that it fails.
	Answers map[string]any `json:"answers,omitempty"`
	// Old and New are the Decisions on the witness, without the trace of hooks.
	Old *policy.Decision `json:"old"`
	New *policy.Decision `json:"new"`
}

// trial gathers the differences on one lifecycle point.
type trial struct {
	event   policy.Event
	was, is *decider
	// volatile is true when a rule looks at the clock, at chance or at the disk.
	volatile bool
	byKind   map[string]*Change
	order    []string
	unstable int
	// prover, if not nil, is told of every difference.
	prover *prover
	// solved is how many events were made for the changes, differences how many show
	// one.
	solved, differences int
	// maker makes events; tried counts all. proved says that no event need be tried.
	maker  *maker
	tried  Tried
	proved bool
}

func newTrial(event policy.Event, was, is *decider) *trial {
	return &trial{event: event, was: was, is: is, byKind: map[string]*Change{}}
}

// again is how often a difference must be seen before it is believed, and
// againVolatile how often where a rule looks at the clock or at chance.
const (
	again         = 2
	againVolatile = 16
)

// seek decides events that are made for the changes, and those of tests, with both
// policies.
func (f *trial) seek(ctx context.Context, m *maker, o *Options) error {
	f.maker, f.volatile, f.tried.Event = m, m.volatile, f.event
	if f.prover != nil {
		if f.proved = f.prover.proved(); f.proved {
			return nil
		}
		if err := f.prover.seek(); err != nil {
			return err
		}
		f.tried.Solved = f.solved
	}
	for _, c := range o.Cases {
		if in, ok := eventOf(f.event, fieldsOf(c)); ok && c.Text(policy.FieldEvent) == string(f.event) && (o.Tool == "" || c.Text(policy.FieldToolName) == o.Tool) {
			f.tried.Cases++
			if err := f.one(ctx, in, false); err != nil {
				return err
			}
		}
	}
	return nil
}

// finish decides different events that are made up, and shortens the witnesses.
func (f *trial) finish(ctx context.Context, o *Options) error {
	if f.proved {
		return nil
	}
	for _, in := range f.maker.events(o.Events) {
		if err := f.one(ctx, in, false); err != nil {
			return err
		}
	}
	f.tried.Events = f.maker.made()
	return f.shrink(ctx)
}

// fieldsOf is an event as it was sent.
func fieldsOf(c *policy.Context) map[string]any {
	out := map[string]any{}
	for _, f := range c.Fields() {
		if v, ok := c.Get(f); ok && f != policy.FieldToolUseID { // a repeated call would be answered from memory
			out[f.String()] = v
		}
	}
	return out
}

// one decides an event.
func (f *trial) one(ctx context.Context, in made, recorded bool) error {
	a, b := f.was.decide(ctx, f.event, in), f.is.decide(ctx, f.event, in)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if !Differ(a, b) {
		if f.prover != nil && a.By != "" {
			by, _, _ := spell.Cut(a.By, "#")
			f.prover.masks[by] = true
		}
		return nil
	}
	steady, err := f.steady(ctx, in, a, b)
	switch {
	case err != nil:
		return err
	case !steady:
		f.unstable++
	default:
		f.note(in, a, b, recorded)
		if f.differences++; f.prover != nil {
			f.prover.blame(in, Directed(a, b))
		}
	}
	return nil
}

// steady reports whether both policies answer an event as they did, by the serial
// definition.
func (f *trial) steady(ctx context.Context, in made, a, b *policy.Decision) (bool, error) {
	times := again
	if f.volatile {
		times = againVolatile
	}
	for range times {
		x, y := f.was.serially(ctx, f.event, in), f.is.serially(ctx, f.event, in)
		if ctx.Err() != nil {
			return false, ctx.Err()
		}
		if Differ(a, x) || Differ(b, y) {
			return false, nil
		}
	}
	return true, nil
}

// kindOf is what differences are told apart by: those that hold something back, or do
// not any more, also by the rule that does.
func kindOf(a, b *policy.Decision) string {
	rule, how := "", Directed(a, b)
	switch how {
	case Loosened:
		rule = a.At.String()
	case Tightened:
		rule = b.At.String()
	}
	return strings.Join([]string{string(a.Action), string(b.Action), string(how), a.By, b.By, rule}, "\x00")
}

// note counts a difference; the shortest event is the witness.
func (f *trial) note(in made, a, b *policy.Decision, recorded bool) {
	key := kindOf(a, b)
	if in.supposes() {
		key += "\x00supposed"
	}
	c := f.byKind[key]
	if c == nil {
		c = &Change{Event: f.event, From: a.Action, To: b.Action, Direction: Directed(a, b)}
		f.byKind[key] = c
		f.order = append(f.order, key)
	}
	c.Events++
	if recorded {
		c.Recorded++
	}
	if tool := in.context.Text(policy.FieldToolName); tool != "" && !lists.Has(c.Tools, tool) {
		c.Tools = append(c.Tools, tool)
		lists.Sort(c.Tools)
	}
	if c.Witness == nil || len(in.text) < len(c.Witness) {
		c.show(in, a, b)
	}
}

// show makes an event the witness.
func (c *Change) show(in made, a, b *policy.Decision) {
	old, new := *a, *b
	old.Hooks, new.Hooks = nil, nil // they hold times
	c.Witness, c.Answers, c.Old, c.New = in.text, in.answers, &old, &new
}

// Directed is which way a decision changed from a to b.
func Directed(a, b *policy.Decision) Direction {
	held := func(d *policy.Decision) int {
		if d.Verdict == policy.Allow { // the agent does not ask its user then
			return 2*strictness(d.Action) - 1
		}
		return 2 * strictness(d.Action)
	}
	switch cmp.Compare(held(a), held(b)) {
	case 1:
		return Loosened
	case -1:
		return Tightened
	}
	return Reworded
}

// shrink takes out of each witness what it differs without.
func (f *trial) shrink(ctx context.Context) error {
	for _, key := range f.order {
		c := f.byKind[key]
		for _, path := range partsOf(c.Witness) {
			if err := f.replace(ctx, key, without(c.Witness, path)); err != nil {
				return err
			}
		}
		names := usualTools[:1]
		if tool, is := decoded(c.Witness)[policy.FieldToolName.String()].(string); is && !lists.Has(toolcall.Names(), tool) {
			names = usualTools
		} else if !lists.Has(c.Tools, usualTools[0]) {
			names = nil
		}
		for _, name := range names {
			before, as := string(c.Witness), decoded(c.Witness)
			as[policy.FieldToolName.String()] = name
			if err := f.replace(ctx, key, as); err != nil {
				return err
			}
			if string(c.Witness) != before {
				break
			}
		}
	}
	return nil
}

// replace makes an event the witness of a difference, if it shows the same.
func (f *trial) replace(ctx context.Context, key string, fields map[string]any) error {
	in, ok := eventOf(f.event, fields)
	if !ok {
		return nil
	}
	in.answers = f.byKind[key].Answers
	a, b := f.was.decide(ctx, f.event, in), f.is.decide(ctx, f.event, in)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if !Differ(a, b) || kindOf(a, b) != strings.TrimSuffix(key, "\x00supposed") {
		return nil
	}
	steady, err := f.steady(ctx, in, a, b)
	if steady {
		f.byKind[key].show(in, a, b)
	}
	return err
}

// placed are the members of every witness: what says which event it is, of
// which tool, and where it happens, so that it means the same wherever it is run.
var placed = []string{"event", "cwd", "project_root", "tool_name"}

// partsOf are the paths of an event that can be taken out.
func partsOf(text []byte) [][]string {
	var out [][]string
	fields := decoded(text)
	for _, key := range lists.Keys(fields) {
		if lists.Has(placed, key) {
			continue
		}
		out = append(out, []string{key})
		if inner, ok := fields[key].(map[string]any); ok {
			for _, below := range lists.Keys(inner) {
				out = append(out, []string{key, below})
			}
		}
	}
	return out
}

// without is an event without what is at a path.
func without(text []byte, path []string) map[string]any {
	fields := decoded(text)
	at := fields
	for _, key := range path[:len(path)-1] {
		inner, ok := at[key].(map[string]any)
		if !ok {
			return fields
		}
		at = inner
	}
	delete(at, path[len(path)-1])
	return fields
}

func decoded(text []byte) map[string]any {
	v, err := policy.DecodeJSON(text)
	if err != nil {
		panic("diff: an event that was made is no JSON: " + err.Error())
	}
	return v.(map[string]any)
}

// changes are the differences, in the order they were found.
func (f *trial) changes() []Change {
	out := make([]Change, 0, len(f.order))
	for _, key := range f.order {
		out = append(out, *f.byKind[key])
	}
	return out
}
