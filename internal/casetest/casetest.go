// Package casetest runs the tests of policies: the cases of *_test.yaml files and
// the test rules of *_test.rego files. A policy is compiled once; each case is
// decided by an engine of it that has decided nothing before.
package casetest

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"

	"github.com/hookc/hookc"
	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/internal/fault"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/internal/severity"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
	"github.com/hookc/hookc/rego"
)

// Config says what is tested, and how.
type Config struct {
	// Dir is the folder that paths are relative to, Shown a path as people there
	// know it.
	Dir   string
	Shown func(path string) string
	// Options are the policy under test.
	Options []hookc.Option
	// Named are the options of policies that a file of cases in a folder names.
	Named func(policies []string, dir string) ([]hookc.Option, func(), error)
	// Environ is the environment of bash hooks, to which a case may add.
	Environ []string
	// Eyes make what compares the engines of Rego.
	Eyes func(report func(rego.Difference)) *rego.Eyes
	// Cases are files of cases beside those of the policy's folders.
	Cases []string
	// Run selects tests by name; nil selects all.
	Run *regexp.Regexp
	// Update writes snapshots again.
	Update bool
	// Trace adds what each Rego test evaluated.
	Trace bool
	// Mutate tries mistakes in the policy, Mutants of them at most, which Seed
	// chooses; Say is told what is being done.
	Mutate  bool
	Mutants int
	Seed    uint64
	Say     func(string)
	// Cover finds out what the tests evaluate of the policy.
	Cover bool
}

// Outcome is what became of one test.
type Outcome struct {
	Name string `json:"name"`
	File string `json:"file"`
	At   string `json:"at,omitempty"`
	Pass bool   `json:"pass"`
	Text string `json:"text,omitempty"`
	// Output is what the test printed, Trace what it evaluated.
	Output string `json:"output,omitempty"`
	Trace  string `json:"trace,omitempty"`
	// Engine says what evaluated the rules of Rego.
	Engine string `json:"engine,omitempty"`
	Micros int64  `json:"us"`
}

// Report is what became of all tests.
type Report struct {
	Passed   int       `json:"passed"`
	Failed   int       `json:"failed"`
	Findings diag.List `json:"findings,omitempty"`
	Tests    []Outcome `json:"tests"`
	Coverage *Coverage `json:"coverage,omitempty"`
	Mutation *Mutation `json:"mutation,omitempty"`

	inputs []string
}

// OK reports whether there were tests and all passed.
func (r *Report) OK() bool {
	return !r.Findings.HasErrors() && r.Failed == 0 && len(r.Tests) > 0
}

//go:noinline
func (r *Report) add(o Outcome) {
	r.Tests = append(r.Tests, o)
	if o.Pass {
		r.Passed++
	} else {
		r.Failed++
	}
}

// UnreadError is a policy that cannot be read, and no case says which other is
// under test.
type UnreadError struct{ Found diag.List }

func (e *UnreadError) Error() string { return e.Found.Render() + "hookc: the policy cannot be read" }

// tester runs the tests once.
type tester struct {
	Config
	report  Report
	held    unstarted
	differs differences
	benches map[string]*bench
	closing []func()
	// policy is the policy under test, as found, and asked the cases that were run,
	// with what is under each.
	policy *policy.Policy
	asked  []*asked
	seen   *collector
}

// asked is a case that was run.
type asked struct {
	Test
	event  policy.Event
	bench  *bench
	passed bool
	// received is what the hooks answered that were run.
	mu       sync.Mutex
	received map[string]received
}

type received struct {
	result policy.Result
	err    error
}

func (a *asked) hear(h *policy.Hook, r policy.Result, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.received == nil {
		a.received = map[string]received{}
	}
	a.received[h.Name] = received{r, err}
}

// again has a firing be one of the same case in which nothing is run: what a hook
// answered before it answers again, and what was not run says nothing.
func (a *asked) again(ctx context.Context) context.Context {
	return dag.WithTrial(ctx, &dag.Trial{Now: a.Now, Say: func(h *policy.Hook) (policy.Result, error, bool) {
		if r, err, ok := a.Test.say(h); ok {
			return r, err, true
		}
		a.mu.Lock()
		defer a.mu.Unlock()
		was := a.received[h.Name]
		return was.result, was.err, true
	}})
}

// Run finds the tests beside the policy, and runs them. The error is Open's of a
// policy that does not compile, or says why nothing could be run.
func Run(ctx context.Context, c Config) (*Report, error) {
	t, err := run(ctx, c)
	defer t.close()
	t.report.inputs = t.inputs()
	t.report.Findings = severity.Apply(t.policy.Severities, t.report.Findings)
	return &t.report, err
}

func run(ctx context.Context, c Config) (*tester, error) {
	t := &tester{Config: c, benches: map[string]*bench{}}
	t.report.Tests = []Outcome{}
	p, found := hookc.Load(append(lists.Copy(c.Options), hookc.AsFound(), hookc.Withhold(t.held.add))...)
	if t.policy = p; found.HasErrors() && len(c.Cases) == 0 {
		return t, &UnreadError{severity.Apply(p.Severities, found)}
	}
	cases, rules, err := Files(p)
	if err != nil {
		return t, err
	}
	cases = append(cases, c.Cases...)
	for _, file := range lists.Distinct(cases) {
		if err := t.cases(ctx, c.Shown(file)); err != nil {
			return t, err
		}
	}
	if c.Cover {
		t.seen = newCollector(c.Shown)
	}
	if err := t.rules(ctx, p, rules); err != nil {
		return t, err
	}
	if c.Cover {
		if err := t.cover(ctx); err != nil {
			return t, err
		}
	}
	if c.Mutate && t.report.OK() {
		if err := t.mutate(ctx, rules); err != nil {
			return t, err
		}
	}
	return t, ctx.Err()
}

func (t *tester) close() {
	for _, b := range t.benches {
		b.engine.Close()
	}
	for _, done := range t.closing {
		done()
	}
}

// wants reports whether a test is selected.
func (c *Config) wants(name string) bool { return c.Run == nil || c.Run.MatchString(name) }

// mostTests is how many files of tests one run reads.
const mostTests = 2000

// Files are the files of tests in the folders of a policy and of its Rego: those
// with cases, and those with Rego.
func Files(p *policy.Policy) (cases, rules []string, err error) {
	for _, folder := range folders(p) {
		entries, err := os.ReadDir(folder)
		if err != nil {
			return nil, nil, err
		}
		for _, e := range entries {
			path := filepath.Join(folder, e.Name())
			switch test := strings.HasSuffix(path, "_test.yaml") || strings.HasSuffix(path, "_test.rego"); {
			case !test || e.IsDir():
			case e.Type()&fs.ModeType != 0:
				return nil, nil, fault.Errorf("%s is not a regular file: tests in links, pipes and devices are not read", path)
			case strings.HasSuffix(path, "_test.yaml"):
				cases = append(cases, path)
			case strings.HasSuffix(path, "_test.rego"):
				rules = append(rules, path)
			}
		}
	}
	if n := len(cases) + len(rules); n > mostTests {
		return nil, nil, fault.Errorf("there are %d files of tests beside the policy; %d is the most", n, mostTests)
	}
	return cases, rules, nil
}

// folders are those of the policy's own files and of its Rego.
func folders(p *policy.Policy) []string {
	var out []string
	for _, s := range p.Sources {
		out = append(out, filepath.Dir(s.Path))
		for _, u := range s.Uses {
			if strings.HasSuffix(u, ".rego") {
				out = append(out, filepath.Dir(u))
			}
		}
	}
	return lists.Distinct(out)
}

// unstarted are the hooks of one case that were not started, because nobody agreed
// to their project.
type unstarted struct {
	mu    sync.Mutex
	names []string
}

func (h *unstarted) add(hook *policy.Hook) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.names = append(h.names, hook.Name)
}

// take says what was not started since the last call, a line each.
func (h *unstarted) take() (lines []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, name := range lists.Distinct(h.names) {
		lines = append(lines, fmt.Sprintf("the hook %q starts a process or asks a model, and its project is not trusted: answer for it under answers:, or run `hookc trust`", name))
	}
	h.names = nil
	return lines
}

// differences are the cases in which native code says what OPA does not.
type differences struct {
	mu    sync.Mutex
	lines []string
}

func (d *differences) add(one rego.Difference) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.lines = append(d.lines, fmt.Sprintf("%s: its native code says %s, and OPA, which `hookc run` asks, %s", one.Hook, one.Native, one.Topdown))
}

func (d *differences) take() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	out := d.lines
	d.lines = nil
	return out
}

// policies are those that are tested.
func (t *tester) policies() []*policy.Policy {
	out := []*policy.Policy{t.policy}
	for _, b := range t.benches {
		out = append(out, b.engine.Policy())
	}
	return out
}
