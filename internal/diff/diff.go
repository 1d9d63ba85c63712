// Package diff compares two compiled policies (semantics.md §9): which hooks and
// settings were added, removed, changed or moved, and on which events the two
// decide differently. Events are made of what the policies themselves name, and
// every difference of decisions carries one event on which both were really
// asked. In-process rules alone are evaluated: no process is started and no
// model called, so hooks of those kinds are compared by what is written. Equal
// decisions on events that were tried prove nothing about those that were not,
// and the report says how many were tried.
package diff

import (
	"context"
	"sort"

	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/policy"
)

// DefaultEvents is how many events of each lifecycle point are tried.
const DefaultEvents = 2000

// Options say what is compared. The zero Options compare everything.
type Options struct {
	// Event and Tool leave out all other events and tools; "" leaves out none.
	Event policy.Event
	Tool  string
	// Events is how many events of each lifecycle point are tried; 0 is
	// DefaultEvents.
	Events int
	// Recorded, if not nil, gives events that really happened, and ends with the error
	// of what it gives them to; no more than one is kept.
	Recorded func(give func(Past) error) error
	// Cases are events of the tests beside the policies.
	Cases []*policy.Context
	// Prove has events made for each change by solving what it tests, and finds of
	// each whether it is proved that no decision differs by it.
	Prove bool
	// Say, if not nil, is told what is being done, for progress.
	Say func(string)
}

// Past is an event that really happened.
type Past struct {
	In *policy.Context
	// Answers are what processes and models answered then, by hook, as the decision log
	// keeps it; nil if there is none.
	Answers map[string]any
	// Masked says that what happened was not quite this: values were masked.
	Masked bool
}

// wants reports whether a lifecycle point is compared.
func (o *Options) wants(event policy.Event) bool {
	return (o.Event == "" || event == o.Event) && (o.Tool == "" || event.Spec().CanRead(policy.FieldToolName))
}

// Report is how two policies differ. Nothing in it depends on time or on the
// order of maps, but for rules that do.
type Report struct {
	// Old and New are the hashes of the programs; Same is true when they are one:
	// then hooks, settings and rules are the same, files that hooks name aside.
	Old  string `json:"old"`
	New  string `json:"new"`
	Same bool   `json:"same_program"`
	// Hooks, Settings and Files are what is written differently.
	Hooks    []HookChange    `json:"hooks"`
	Settings []SettingChange `json:"settings"`
	Files    []FileChange    `json:"files"`
	// Decisions are what is decided differently, worst first, each with a
	// witness.
	Decisions []Change `json:"decisions"`
	// Denied are the tools that either policy denies whatever else an event
	// says. It is proved from the plans, not sampled.
	Denied []DeniedChange `json:"always_denied"`
	// Tried is how many events were decided by both, by lifecycle point.
	Tried []Tried `json:"tried"`
	// Unproved says what nobody knows besides.
	Unproved []string `json:"unproved,omitempty"`
	// Unstable is how many events were left out because one policy on its own
	// answered them in two ways: its rules look at the clock, at chance or at the
	// disk.
	Unstable int `json:"unstable,omitempty"`
	// Past says what became of recorded events; nil where there were none.
	Past *PastReport `json:"recorded,omitempty"`
}

// PastReport counts recorded events beside those that were tried.
type PastReport struct {
	// LeftOut were not asked for or are of events that neither policy has hooks for, and
	// Unfit are refused by every policy. Proved were not tried: no decision differs there.
	LeftOut int `json:"left_out,omitempty"`
	Unfit   int `json:"unfit,omitempty"`
	Proved  int `json:"proved,omitempty"`
	// Masked were tried with masks in the place of values. Unanswered reached both
	// without the answer that a script or model gave then: it is not the same any more.
	Masked     int `json:"masked,omitempty"`
	Unanswered int `json:"unanswered,omitempty"`
}

// Tried counts events.
type Tried struct {
	Event policy.Event `json:"event"`
	// Events were made up, Recorded had happened.
	Events   int `json:"events"`
	Recorded int `json:"recorded,omitempty"`
	// Solved are those that were made for the changes, Cases those of tests.
	Solved int `json:"solved,omitempty"`
	Cases  int `json:"cases,omitempty"`
}

// Empty reports whether no difference was found.
func (r *Report) Empty() bool {
	return len(r.Hooks)+len(r.Settings)+len(r.Files)+len(r.Decisions) == 0
}

// Compare finds how new differs from old. It runs no process and calls no
// model. The error is that of ctx.
func Compare(ctx context.Context, old, new *dag.Program, o Options) (*Report, error) {
	if o.Events <= 0 {
		o.Events = DefaultEvents
	}
	if o.Say == nil {
		o.Say = func(string) {}
	}
	r := &Report{Old: old.Hash, New: new.Hash, Same: old.Hash == new.Hash, Hooks: hookChanges(old, new, &o), Settings: settingChanges(old, new, &o),
		Files: fileChanges(old, new), Decisions: []Change{}, Denied: deniedChanges(old, new, &o), Tried: []Tried{}}
	touched := map[string]bool{}
	for _, h := range r.Hooks {
		touched[h.Hook] = true
	}
	was, is := newDecider(old), newDecider(new)
	defer was.close()
	defer is.close()
	var trials []*trial
	for _, event := range policy.Events() {
		if !o.wants(event) || old.Plan(event) == nil && new.Plan(event) == nil {
			continue
		}
		o.Say("trying events of " + string(event))
		t := newTrial(event, was, is)
		trials = append(trials, t)
		if o.Prove {
			t.prover = newProver(ctx, t, old, new, &o)
		}
		if err := t.seek(ctx, newMaker(old, new, event, o.Tool, touched), &o); err != nil {
			return nil, err
		}
	}
	if o.Recorded != nil {
		r.Past = &PastReport{}
		if err := r.Past.try(ctx, trials, old, new, &o); err != nil {
			return nil, err
		}
	}
	for _, t := range trials {
		o.Say("trying events of " + string(t.event))
		if err := t.finish(ctx, &o); err != nil {
			return nil, err
		}
		r.Tried = append(r.Tried, t.tried)
		r.Decisions = append(r.Decisions, t.changes()...)
		r.Unstable += t.unstable
		if o.Prove {
			t.prover.settle(r)
		}
	}
	if o.Prove {
		r.rest()
	}
	sort.SliceStable(r.Decisions, func(i, j int) bool { return r.Decisions[i].Direction.rank() < r.Decisions[j].Direction.rank() })
	return r, nil
}
