package casetest

import (
	"context"
	"fmt"
	"path/filepath"
	"sort"
	"sync"

	"github.com/hookc/hookc"
	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/internal/covered"
	"github.com/hookc/hookc/internal/host"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
)

// Coverage is what the tests evaluated of a policy. Cases count by the serial
// definition, with OPA for Rego: what native code or a plan leaves out is looked at
// all the same.
type Coverage struct {
	// Percent is how much of all that is counted was covered.
	Percent float64      `json:"percent"`
	Counts  []CoverCount `json:"counts"`
	Files   []CoverFile  `json:"files"`
}

// Keep keeps what was covered of each file, for editors.
func (c *Coverage) Keep() error {
	for _, f := range c.Files {
		path, err := filepath.Abs(f.source.Name)
		if err != nil {
			return err
		}
		lines := covered.Lines{}
		for _, l := range f.Lines {
			lines[l.Line] = l.Covered
		}
		if err := covered.Keep(path, f.source.Content, lines); err != nil {
			return err
		}
	}
	return nil
}

// CoverCount counts the parts of a kind: hook, filter, condition, rule, body, line.
// Filters and conditions count twice: once for true and once for false.
type CoverCount struct {
	Kind    string `json:"kind"`
	Covered int    `json:"covered"`
	Of      int    `json:"of"`
}

// CoverFile is the coverage of a file.
type CoverFile struct {
	Name    string `json:"name"`
	Covered int    `json:"covered"`
	Of      int    `json:"of"`
	// Lines are those on which something is counted; Missing is what no test
	// reaches, in the order written.
	Lines   []CoverLine `json:"lines"`
	Missing []Missing   `json:"missing,omitempty"`

	source *diag.Source
}

// CoverLine is a line: Covered is true if all that begins there is.
type CoverLine struct {
	Line    int  `json:"line"`
	Covered bool `json:"covered"`
}

// Missing is a part that no test reaches.
type Missing struct {
	At   string `json:"at"`
	Text string `json:"text"`

	line int
}

// place is where something is written, however its text was read.
type place struct {
	file       string
	start, end int
}

// collector is a dag.Cover.
type collector struct {
	shown func(string) string
	mu    sync.Mutex
	parts map[place][]dag.Part
	seen  map[place][2]bool
}

func newCollector(shown func(string) string) *collector {
	return &collector{shown: shown, parts: map[place][]dag.Part{}, seen: map[place][2]bool{}}
}

func (c *collector) place(at diag.Span) place {
	name := at.File()
	if filepath.IsAbs(name) {
		name = c.shown(name)
	}
	return place{name, at.Start, at.End}
}

// Part adds a part.
func (c *collector) Part(p dag.Part) {
	if p.At.IsZero() {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	at := c.place(p.At)
	if !lists.Some(c.parts[at], func(q *dag.Part) bool { return q.Kind == p.Kind && q.Name == p.Name }) {
		c.parts[at] = append(c.parts[at], p)
	}
}

// Seen notes what was evaluated.
func (c *collector) Seen(at diag.Span, held bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	key := c.place(at)
	seen := c.seen[key]
	if held {
		seen[1] = true
	} else {
		seen[0] = true
	}
	c.seen[key] = seen
}

// cover decides each case once more, by an engine that shows what it evaluates.
func (t *tester) cover(ctx context.Context) error {
	engines := map[*bench]*hookc.Engine{}
	defer func() {
		for _, eng := range engines {
			eng.Close()
		}
	}()
	open := func(b *bench) (*hookc.Engine, error) {
		if eng := engines[b]; eng != nil {
			return eng, nil
		}
		eng, err := hookc.Open(ctx, append(lists.Copy(b.options), host.Covered[hookc.Option](t.seen))...)
		if err == nil {
			engines[b] = eng
			t.seen.hooks(eng.Policy())
		}
		return eng, err
	}
	if len(t.asked) == 0 { // rules of Rego alone are tested: what there is counts
		b, err := t.open(ctx, "", t.Options, nil)
		if err == nil {
			_, err = open(b)
		}
		if err != nil {
			return err
		}
	}
	for _, a := range t.asked {
		eng, err := open(a.bench)
		if err != nil {
			return err
		}
		own, err := eng.Variant(nil)
		if err != nil {
			return err
		}
		d, err := own.FireSerial(a.again(ctx), a.event, a.Event)
		if closed := own.Close(); err == nil {
			err = closed
		}
		if err != nil {
			return err
		}
		t.seen.ran(own.Program().Plan(a.event), d)
	}
	t.report.Coverage = t.seen.coverage()
	return nil
}

// hooks are the parts that hooks are themselves.
func (c *collector) hooks(p *policy.Policy) {
	for _, h := range p.Hooks {
		if h.Off || h.Disabled || h.Untrusted != "" || h.Tier == policy.TierBuiltin {
			continue
		}
		c.Part(dag.Part{Kind: dag.PartHook, Name: h.Name, At: h.Span})
		if len(h.Filter.Conditions) > 0 {
			c.Part(dag.Part{Kind: dag.PartFilter, Name: h.Name, At: h.Filter.Span})
		}
	}
}

// ran notes which hooks a decision evaluated, and which filters kept one out.
func (c *collector) ran(plan *dag.Plan, d *policy.Decision) {
	for _, t := range d.Hooks {
		if plan == nil || t.TracedHook == nil || t.Node < 0 || t.Node >= len(plan.Nodes) {
			continue
		}
		h := plan.Nodes[t.Node].Hook
		switch t.Status {
		case policy.StatusRan, policy.StatusFailed, policy.StatusAsync:
			c.Seen(h.Span, true)
			c.Seen(h.Filter.Span, true)
		case policy.StatusFiltered:
			c.Seen(h.Filter.Span, false)
		}
	}
}

// tally makes a Coverage of parts.
type tally struct {
	counts map[string]*CoverCount
	files  map[string]*CoverFile
	lines  map[string]map[int]bool
}

// kinds are what is counted, in the order shown.
var kinds = []string{"hook", "filter", "condition", "rule", "body", "line"}

func (c *collector) coverage() *Coverage {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := tally{counts: map[string]*CoverCount{}, files: map[string]*CoverFile{}, lines: map[string]map[int]bool{}}
	rules := map[string]bool{} // by module and name
	first := map[string]dag.Part{}
	for at, parts := range c.parts {
		for _, p := range parts {
			t.part(at, p, c.seen[at])
			if p.Kind == dag.PartBody {
				key := p.Module.String() + " " + p.Name
				rules[key] = rules[key] || c.seen[at][1]
				if was, known := first[key]; !known || p.At.Start < was.At.Start {
					first[key] = p
				}
			}
		}
	}
	for key, p := range first {
		t.add(c.place(p.At).file, "rule", p.At, rules[key], "the rule "+p.Name+" never held")
	}
	return t.coverage()
}

// part counts one part.
func (t *tally) part(at place, p dag.Part, seen [2]bool) {
	what := map[dag.PartKind]string{dag.PartHook: "the hook " + p.Name + " never ran", dag.PartBody: "this body of " + p.Name + " never held",
		dag.PartLine: "this was never evaluated"}[p.Kind]
	switch p.Kind {
	case dag.PartCondition:
		t.add(at.file, "condition", p.At, seen[1], p.Name+": the condition was never true")
		t.add(at.file, "condition", p.At, seen[0], p.Name+": the condition was never false")
	case dag.PartFilter:
		t.add(at.file, "filter", p.At, seen[1], "the filter of "+p.Name+" let nothing through")
		t.add(at.file, "filter", p.At, seen[0], "the filter of "+p.Name+" kept nothing out")
	default:
		t.add(at.file, string(p.Kind), p.At, seen[1], what)
	}
}

func (t *tally) add(file, kind string, at diag.Span, covered bool, missing string) {
	count, f := t.counts[kind], t.files[file]
	if count == nil {
		count = &CoverCount{Kind: kind}
		t.counts[kind] = count
	}
	if f == nil {
		f = &CoverFile{Name: file, source: at.Source, Lines: []CoverLine{}}
		t.files[file], t.lines[file] = f, map[int]bool{}
	}
	row, col := at.Position()
	was, known := t.lines[file][row]
	t.lines[file][row] = covered && (was || !known)
	count.Of++
	f.Of++
	if covered {
		count.Covered++
		f.Covered++
		return
	}
	f.Missing = append(f.Missing, Missing{At: fmt.Sprintf("%s:%d:%d", file, row, col), Text: missing, line: row})
}

func (t *tally) coverage() *Coverage {
	out := &Coverage{Counts: []CoverCount{}, Files: []CoverFile{}}
	covered, of := 0, 0
	for _, kind := range kinds {
		if n := t.counts[kind]; n != nil {
			out.Counts = append(out.Counts, *n)
			covered, of = covered+n.Covered, of+n.Of
		}
	}
	out.Percent = 100
	if of > 0 {
		out.Percent = float64(covered*1000/of) / 10 // never more than was covered
	}
	for name, f := range t.files {
		for row, ok := range t.lines[name] {
			f.Lines = append(f.Lines, CoverLine{row, ok})
		}
		sort.Slice(f.Lines, func(i, j int) bool { return f.Lines[i].Line < f.Lines[j].Line })
		sort.Slice(f.Missing, func(i, j int) bool {
			a, b := f.Missing[i], f.Missing[j]
			if a.line != b.line {
				return a.line < b.line
			}
			return a.At+a.Text < b.At+b.Text
		})
		out.Files = append(out.Files, *f)
	}
	sort.Slice(out.Files, func(i, j int) bool { return out.Files[i].Name < out.Files[j].Name })
	return out
}
