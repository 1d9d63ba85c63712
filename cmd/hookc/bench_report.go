package main

import (
	"math"
	"runtime"

	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy"
)

// benchReport is what bench --json prints. Times are in nanoseconds, medians
// of the rounds but for Max, which is of all of them.
type benchReport struct {
	// Policy is the hash of the program, as in a Decision.
	Policy string `json:"policy"`
	Hooks  int    `json:"hooks"`
	OS     string `json:"os"`
	Arch   string `json:"arch"`
	CPU    string `json:"cpu,omitempty"`
	Procs  int    `json:"procs"`
	Go     string `json:"go"`
	// Parallel is how many events were decided at a time.
	Parallel int `json:"parallel"`
	// Clock is what looking at the clock adds to each time.
	Clock float64 `json:"clock_ns"`
	// Interrupted is true when not everything was measured.
	Interrupted bool         `json:"interrupted,omitempty"`
	Events      []eventBench `json:"events"`
	Notes       []string     `json:"notes,omitempty"`
}

// eventBench is what was measured of one event.
type eventBench struct {
	Event policy.Event `json:"event"`
	Name  string       `json:"name,omitempty"`
	From  string       `json:"from"`
	// Bytes is the size of the event's text.
	Bytes int `json:"bytes"`
	// Dialect is the agent of --dialect.
	Dialect string        `json:"dialect,omitempty"`
	Action  policy.Action `json:"action"`
	By      string        `json:"by,omitempty"`
	Ways    []wayReport   `json:"ways"`
	Hooks   []hookReport  `json:"hooks"`
	Notes   []string      `json:"notes,omitempty"`
}

// wayReport is one way of deciding an event: in process.
type wayReport struct {
	How string `json:"how"`
	measured
	PerSecond float64 `json:"per_second"`
}

// measured is what was measured of one thing. Allocations are known in process
// alone.
type measured struct {
	Rounds int     `json:"rounds"`
	Runs   int64   `json:"runs"`
	P50    float64 `json:"p50_ns"`
	P99    float64 `json:"p99_ns"`
	Max    float64 `json:"max_ns"`
	Mean   float64 `json:"mean_ns"`
	Bytes  *int64  `json:"bytes_op,omitempty"`
	Allocs *int64  `json:"allocs_op,omitempty"`
}

// hookReport is one hook on one event.
type hookReport struct {
	Hook string      `json:"hook"`
	Kind policy.Kind `json:"kind"`
	// Status is what became of it the last time. A hook that is left out has
	// that of one that answers nothing; LeftOut says why it is.
	Status  policy.Status `json:"status"`
	LeftOut string        `json:"left_out,omitempty"`
	// Fused is true when it may be evaluated together with others, who share
	// the time equally.
	Fused bool `json:"fused,omitempty"`
	// Share is its part of the time all hooks took in the chain.
	Share float64   `json:"share"`
	Chain *measured `json:"chain,omitempty"`
	// Alone is a rule on its own, in batches of Batch runs: its P99 and Max are
	// of batches.
	Alone *measured `json:"alone,omitempty"`
	Batch int       `json:"batch,omitempty"`
}

func (b *bencher) report(cut bool) *benchReport {
	program := b.events[0].engine.program
	r := &benchReport{Policy: program.Hash, Hooks: len(program.Hooks), OS: runtime.GOOS, Arch: runtime.GOARCH, CPU: cpuName(), Procs: runtime.GOMAXPROCS(0),
		Go: runtime.Version(), Parallel: b.parallel, Clock: clockCost(), Interrupted: cut, Notes: b.notes, Events: []eventBench{}}
	for _, e := range b.events {
		r.Events = append(r.Events, b.eventReport(e))
	}
	return r
}

func (b *bencher) eventReport(e *benchEvent) eventBench {
	out := eventBench{Event: e.event, Name: e.name, From: e.from, Bytes: len(e.data), Action: e.want.Action, By: e.want.By, Notes: e.notes,
		Ways: []wayReport{}, Hooks: []hookReport{}}
	if b.speaks != nil {
		out.Dialect = b.speaks.ID
	}
	for _, c := range b.cases {
		if c.event == e && len(c.rounds) > 0 {
			perSecond := middle(c.rounds, func(r benchRound) float64 { return r.perSecond })
			out.Ways = append(out.Ways, wayReport{How: howInProcess, measured: *measure(c.rounds, true), PerSecond: perSecond})
		}
	}
	total := 0.0
	for _, h := range e.hooks {
		if e.why[h.node.Hook.Name] == "" {
			total += float64(h.total)
		}
	}
	for _, h := range e.hooks {
		out.Hooks = append(out.Hooks, h.report(total))
	}
	return out
}

func (h *hookBench) report(total float64) hookReport {
	out := hookReport{Hook: h.name, Kind: h.node.Hook.Kind, Status: h.last, LeftOut: h.event.why[h.node.Hook.Name], Fused: h.fused}
	if out.LeftOut != "" {
		return out
	}
	if total > 0 {
		out.Share = float64(h.total) / total
	}
	if len(h.inChain) > 0 {
		out.Chain = measure(h.inChain, false)
	}
	if len(h.alone) > 0 {
		out.Alone, out.Batch = measure(h.alone, true), h.batch
	}
	return out
}

// measure is what rounds came to.
func measure(rounds []benchRound, allocations bool) *measured {
	m := &measured{Rounds: len(rounds),
		P50:  middle(rounds, func(r benchRound) float64 { return r.p50 }),
		P99:  middle(rounds, func(r benchRound) float64 { return r.p99 }),
		Mean: middle(rounds, func(r benchRound) float64 { return r.mean }),
	}
	for _, r := range rounds {
		m.Runs += r.runs
		m.Max = max(m.Max, r.max)
	}
	if allocations {
		size := int64(middle(rounds, func(r benchRound) float64 { return float64(r.bytes) }))
		n := int64(middle(rounds, func(r benchRound) float64 { return float64(r.allocs) }))
		m.Bytes, m.Allocs = &size, &n
	}
	return m
}

// middle is the median over the rounds, to a hundredth.
func middle(rounds []benchRound, of func(benchRound) float64) float64 {
	var values []float64
	for _, r := range rounds {
		values = append(values, of(r))
	}
	return math.Round(median(values)*100) / 100
}

// print writes the report as it is asked for.
func (b *bencher) print(cut bool) error {
	b.events = lists.DeleteFunc(b.events, func(e *benchEvent) bool { return e.want == nil })
	out := b.cmd.OutOrStdout()
	switch b.output {
	case "json":
		return writeJSON(out, b.report(cut))
	case "gobench":
		return b.gobench(out)
	}
	return b.report(cut).text(out)
}
