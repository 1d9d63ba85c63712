package rules

import (
	"errors"
	"strings"
	"time"

	"github.com/hookc/hookc/internal/gate/table"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/rego/native"
)

// maxTicks bounds how long the rules of an event are evaluated, in native's strides
// of 256 steps: what takes longer is for hookc, whose rules have a budget.
const maxTicks = 4096

// Reply is the answer to an event, and the hooks that ran for it.
type Reply struct {
	Stdout, Stderr []byte
	Exit           int
	Ran            []Ran
}

// Evaluate answers an event that hooks with rules concern; nil leaves it to hookc.
// section gives the sections of the compiled policy by their names, nil if there is none.
// watch is called by rules that are not decided at once: what they do may take long.
func Evaluate(event *table.Answer, section func(name string) []byte, watch func()) *Reply {
	book, ok := Open(section(Section + string(event.Event)))
	if !ok {
		return nil
	}
	ticks := 0
	v, ok := book.Decide(event, func() bool {
		if ticks++; ticks == 1 {
			watch()
		}
		return ticks > maxTicks
	})
	if !ok {
		return nil
	}
	if v.Outcome < 0 {
		return &Reply{Stdout: event.Stdout, Stderr: event.Stderr, Exit: event.Exit, Ran: v.Ran}
	}
	form := FormOf(section(Answers+string(event.Event)), event.Point, v.Outcome)
	if form == nil {
		return nil
	}
	out := &Reply{Exit: form.Exit, Ran: v.Ran}
	if out.Stdout, out.Stderr, ok = form.Answer(event, v); !ok {
		return nil
	}
	return out
}

// Verdict is what the rules of an event say together.
type Verdict struct {
	// Outcome is -1 when none says anything; Texts are its reasons or texts, Hook is
	// the one that spoke.
	Outcome int
	Texts   []string
	Hook    string
	// Ran are the hooks that were evaluated.
	Ran []Ran
}

// Ran is one hook that was evaluated, and how long that took.
type Ran struct {
	Hook string
	Took time.Duration
}

// Decide evaluates the rules of an event, in the order of the chain; false when
// that is left to hookc: a rule bails or takes too long, more than one speaks, or
// one says what no answer is made for. stop is asked now and then.
func (b *Book) Decide(event *table.Answer, stop native.Stop) (*Verdict, bool) {
	d := decider{book: b, out: Verdict{Outcome: -1}}
	d.machine.Stop, d.machine.Unclocked = stop, true
	d.input.book, d.input.event = b, event
	item, halted := -1, false
	for _, number := range event.Rules {
		r, ok := b.rule(number)
		if !ok {
			return nil, false
		}
		if halted && r.Item != item {
			break
		}
		item = r.Item
		begun := time.Now()
		spoke, ok := d.ask(r)
		if !ok || spoke && d.out.Outcome >= 0 {
			return nil, false
		}
		d.out.Ran = append(d.out.Ran, Ran{r.Name, time.Since(begun)})
		if !spoke {
			continue
		}
		if d.out.Outcome = d.outcome(); d.out.Outcome < 0 || r.Says>>d.out.Outcome&1 == 0 {
			return nil, false
		}
		d.out.Hook, halted = r.Name, r.Halts>>d.out.Outcome&1 != 0
	}
	return &d.out, true
}

// decider is the memory of one event's evaluations.
type decider struct {
	book    *Book
	machine native.Machine
	input   input
	out     Verdict
	// contributions are the values of one entry point, verdict, reasons and texts what all
	// entry points of a rule say.
	contributions []native.Value
	verdict       int // a part, or -1
	reasons       []string
	texts         [Other][]string
}

// ask evaluates a rule; spoke is true when it says anything.
func (d *decider) ask(r *rule) (spoke, ok bool) {
	d.input.slots, d.verdict, d.reasons, d.texts = r.Slots, -1, nil, [Other][]string{}
	for i := range r.Entries {
		if !d.entry(r, &r.Entries[i]) || d.input.left {
			return false, false
		}
	}
	spoke = d.verdict >= 0
	for _, list := range d.texts {
		spoke = spoke || len(list) > 0
	}
	return spoke, true
}

// entry evaluates an entry point and takes what it says.
func (d *decider) entry(r *rule, e *Entry) bool {
	d.contributions = d.contributions[:0]
	err := r.code.Rules(&d.machine, e.Func, &d.input, func(_ int, v native.Value) bool {
		d.contributions = append(d.contributions, v)
		return true
	})
	if err != nil {
		return false
	}
	if len(d.contributions) == 0 {
		return true
	}
	part := e.Part
	switch {
	case part == Other:
		return false
	case part == Unallowed && d.verdict >= 0:
		return true
	case part == Unallowed:
		part = Deny
	}
	list, ok := e.contribute(d.contributions)
	if !ok || len(list) == 0 {
		return ok
	}
	list = lists.DeleteFunc(list, func(s string) bool { return s == "" })
	if part > Allow {
		d.texts[part] = append(d.texts[part], list...)
		return true
	}
	if d.verdict < 0 || part < d.verdict { // the more restrictive ones come first
		d.verdict = part
	}
	d.reasons = append(d.reasons, list...)
	return true
}

// contribute is what the values of an entry point say; ok is false for a value of
// the wrong kind, and for what cannot be compared.
func (e *Entry) contribute(list []native.Value) (texts []string, ok bool) {
	defer func() {
		if r := recover(); r != nil {
			if err, is := r.(error); !is || !errors.Is(err, native.ErrBail) {
				panic(r)
			}
			ok = false
		}
	}()
	found, ok := native.Contributions(list, e.Many, e.Part <= Allow || e.Part == Unallowed)
	for _, c := range found {
		texts = append(texts, c.Text)
	}
	return texts, ok
}

// outcome is what a rule that spoke came to, -1 when that is several things at
// once, or a text that answers are not made for.
func (d *decider) outcome() int {
	out, list := d.verdict, d.reasons
	for part, texts := range d.texts {
		if len(texts) == 0 {
			continue
		}
		if out >= 0 {
			return -1
		}
		out, list = part, texts
	}
	if len(list) == 0 {
		out += BareDeny
	}
	d.out.Texts = list
	for _, text := range list {
		if !plain(text) {
			return -1
		}
	}
	return out
}

// plain reports whether a text neither begins nor ends with a blank, which some
// agents are told without.
func plain(text string) bool {
	return text[0] > ' ' && text[len(text)-1] > ' ' && strings.TrimSpace(text) == text
}
