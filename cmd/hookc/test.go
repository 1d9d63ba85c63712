package main

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/hookc/hookc"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
	"github.com/hookc/hookc/policy/source"
	"github.com/hookc/hookc/rego"
)

func newTest() *cobra.Command {
	var s sources
	var asJSON, verbose bool
	cmd := &cobra.Command{
		Use:   "test [PATH…]",
		Short: "Run the tests beside a policy: YAML cases and Rego test rules",
		Long: `test runs every *_test.yaml (events and the Decisions expected of them) and every
test_ rule of the *_test.rego files beside the policy. A case looks like this:

  cases:
    - name: deletes are denied
      event: {event: pre_tool_execution, tool_name: Bash, tool_input: {command: rm -rf /}}
      answers: {llm-review: {}}        # what bash and llm hooks answer; they are not run then
      expect: {action: block, by: guard-shell}

expect names any part of the Decision. In a project that is not trusted nothing is
started: a case that reaches a bash or llm hook without an answer is an error that
names the hook, and nothing outside the project is read.

Exit codes: 0 all passed · 1 some failed, or there was nothing to run · 3 could not
run.`,
		Example: `  hookc test                     # beside the policies discovered here
  hookc test policies/ --json`,
		RunE: func(cmd *cobra.Command, args []string) error {
			t := tester{cmd: cmd, sources: &s}
			if err := t.run(args); err != nil {
				return err
			}
			if asJSON {
				if err := writeJSON(cmd.OutOrStdout(), t.report()); err != nil {
					return err
				}
			} else {
				t.print(verbose)
			}
			return t.exit()
		},
	}
	s.flags(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "as JSON")
	cmd.Flags().BoolVarP(&verbose, "verbose", "v", false, "also the tests that pass")
	return cmd
}

// outcome is what became of one test.
type outcome struct {
	Name string `json:"name"`
	File string `json:"file"`
	At   string `json:"at,omitempty"`
	Pass bool   `json:"pass"`
	Text string `json:"text,omitempty"`
	// Output is what the test printed.
	Output string `json:"output,omitempty"`
	// Engine says what evaluated the rules of Rego.
	Engine string `json:"engine,omitempty"`
	Micros int64  `json:"us"`
}

// tester collects the outcomes of one run of test.
type tester struct {
	cmd      *cobra.Command
	sources  *sources
	outcomes []outcome
	found    diag.List
	held     unstarted
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

// take says what was not started since the last call, "" for nothing.
func (h *unstarted) take() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	var lines []string
	slices.Sort(h.names)
	for _, name := range slices.Compact(h.names) {
		lines = append(lines, fmt.Sprintf("the hook %q starts a process or asks a model, and its project is not trusted: answer for it under answers:, or run `hookc trust`", name))
	}
	h.names = nil
	return strings.Join(lines, "\n")
}

type testReport struct {
	Passed   int       `json:"passed"`
	Failed   int       `json:"failed"`
	Findings diag.List `json:"findings,omitempty"`
	Tests    []outcome `json:"tests"`
}

func (t *tester) report() testReport {
	r := testReport{Tests: t.outcomes, Findings: t.found}
	for _, o := range t.outcomes {
		if o.Pass {
			r.Passed++
		} else {
			r.Failed++
		}
	}
	return r
}

// run finds the tests beside the policies that args name, or are discovered,
// and runs them.
func (t *tester) run(args []string) error {
	if err := t.sources.fromSources(t.cmd, args); err != nil {
		return err
	}
	dir, err := workDir()
	if err != nil {
		return err
	}
	var cases, rules []string
	policies := slices.Concat(t.sources.files, args)
	for i, path := range policies {
		if strings.HasSuffix(path, "_test.yaml") {
			cases = append(cases, absoluteIn(dir, path))
			policies[i] = ""
		}
	}
	policies = slices.DeleteFunc(policies, func(p string) bool { return p == "" })
	options, done, err := (&sources{files: policies, format: t.sources.format, debug: t.sources.debug}).options(t.cmd, nil, dir)
	if err != nil {
		return err
	}
	defer done()
	asFound := append(slices.Clone(options), hookc.AsFound(), hookc.Withhold(t.held.add))
	p, found := hookc.Load(asFound...)
	if found.HasErrors() && len(cases) == 0 {
		return exitError{exitCannot, found.Render() + "hookc: the policy cannot be read"}
	}
	for _, folder := range testFolders(p) {
		c, r, err := testFiles(folder)
		if err != nil {
			return cannot("%v", err)
		}
		cases, rules = append(cases, c...), append(rules, r...)
	}
	if len(cases)+len(rules) > mostTests {
		return cannot("there are %d files of tests beside the policy; %d is the most", len(cases)+len(rules), mostTests)
	}
	slices.Sort(cases)
	for _, file := range slices.Compact(cases) {
		if err := t.cases(shownFrom(dir, file), options); err != nil {
			return err
		}
	}
	return t.rules(p, rules, dir)
}

// testFolders are the folders of the policy's own files and of its Rego.
func testFolders(p *policy.Policy) []string {
	var out []string
	for _, s := range p.Sources {
		out = append(out, filepath.Dir(s.Path))
		for _, u := range s.Uses {
			if strings.HasSuffix(u, ".rego") {
				out = append(out, filepath.Dir(u))
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// mostTests is how many files of tests one run reads.
const mostTests = 2000

// testFiles lists the test files directly in a folder.
func testFiles(dir string) (cases, rules []string, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, nil, err
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		switch {
		case e.Type()&fs.ModeType != 0:
		case strings.HasSuffix(path, "_test.yaml"):
			cases = append(cases, path)
		case strings.HasSuffix(path, "_test.rego"):
			rules = append(rules, path)
		}
	}
	return cases, rules, nil
}

// cases runs the cases of one file.
func (t *tester) cases(path string, options []hookc.Option) error {
	file, found := source.ReadCases(path)
	t.found.Add(found...)
	if len(file.Policies) > 0 {
		named, done, err := (&sources{files: file.Policies}).options(t.cmd, nil, filepath.Dir(path))
		if err != nil {
			return err
		}
		defer done()
		options = named
	}
	under, _ := hookc.Load(append(slices.Clone(options), hookc.AsFound())...) // its findings are those of each case
	for _, c := range file.Cases {
		begun := time.Now()
		text, engine, err := t.one(c, options, under)
		if err != nil {
			return err
		}
		t.outcomes = append(t.outcomes, outcome{Name: c.Name, File: path, At: c.Span.String(), Pass: text == "", Text: text, Engine: engine,
			Micros: time.Since(begun).Microseconds()})
	}
	return nil
}

// one is runCase, and says before all else what was not started.
func (t *tester) one(c source.Case, options []hookc.Option, under *policy.Policy) (text, engine string, err error) {
	text, engine, err = runCase(t.cmd.Context(), c, append(slices.Clone(options), hookc.AsFound(), hookc.Withhold(t.held.add)), under)
	if said := t.held.take(); said != "" && err == nil {
		text = strings.TrimRight(said+"\n"+text, "\n")
	}
	return text, engine, err
}

// strayAnswer says which answer is no hook's, "" for none.
func strayAnswer(c source.Case, under *policy.Policy) string {
	var names []string
	for _, h := range under.Hooks {
		names = append(names, h.Name)
	}
	for _, name := range slices.Sorted(maps.Keys(c.Answers)) {
		if !slices.Contains(names, name) {
			return fmt.Sprintf("answers: no hook is called %q: %s", name, diag.DidYouMean(name, names, "`hookc hooks list` lists them"))
		}
	}
	return ""
}

// differences lists where a Decision is not what was expected of it.
func differences(want, got map[string]any) []string {
	var out []string
	for _, key := range slices.Sorted(maps.Keys(want)) {
		if want[key] == nil && got[key] == nil || policy.SameValue(want[key], got[key]) {
			continue
		}
		expected, err1 := policy.EncodeJSON(want[key])
		actual, err2 := policy.EncodeJSON(got[key])
		if err1 != nil || err2 != nil {
			panic("hookc: a value of a test cannot be written as JSON")
		}
		out = append(out, fmt.Sprintf("%s: want %s, got %s", key, expected, actual))
	}
	return out
}

// rules runs the Rego test rules: once for each `rego:` configuration in the
// policy, beside the hooks' own modules.
func (t *tester) rules(p *policy.Policy, files []string, dir string) error {
	if len(files) == 0 {
		return nil
	}
	for _, set := range regoTests(p, files, dir) {
		results, found := rego.RunTests(t.cmd.Context(), set)
		t.found.Add(found...)
		for _, r := range results {
			if r.Skip {
				continue
			}
			text := r.Error
			if !r.Pass && text == "" {
				text = "the rule does not hold"
			}
			t.outcomes = append(t.outcomes, outcome{Name: r.Name, File: r.At.File(), At: r.At.String(), Pass: r.Pass, Text: text, Output: r.Output,
				Micros: r.Duration.Microseconds()})
		}
	}
	return t.cmd.Context().Err()
}

// regoTests pairs the test files with the modules they are about: those of
// the policy files in whose folders, or under whose Rego, they lie.
func regoTests(p *policy.Policy, files []string, dir string) []rego.Tests {
	var order []*policy.FileConfig
	sets := map[*policy.FileConfig]*rego.Tests{}
	for _, h := range p.Hooks {
		if h.Kind != policy.KindRego {
			continue
		}
		set := sets[h.File]
		if set == nil {
			set = &rego.Tests{Config: h.File.Rego}
			sets[h.File] = set
			order = append(order, h.File)
		}
		set.Sources = append(set.Sources, h.Body.Source)
		for _, f := range files {
			if shown := shownFrom(dir, f); beside(f, h) && !slices.Contains(set.Paths, shown) {
				set.Paths = append(set.Paths, shown)
			}
		}
	}
	var out []rego.Tests
	for _, config := range order {
		if len(sets[config].Paths) > 0 {
			out = append(out, *sets[config])
		}
	}
	return out
}

// beside reports whether a test file lies in the folder of a hook's policy
// file or of its Rego file.
func beside(file string, h *policy.Hook) bool {
	dir := filepath.Dir(file)
	return dir == h.File.Dir || h.Body.File != "" && dir == filepath.Dir(absoluteIn(h.File.Dir, h.Body.File))
}

func absoluteIn(dir, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}

// shownFrom is a path as people in a folder know it.
func shownFrom(dir, path string) string {
	if rel, err := filepath.Rel(dir, path); err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return path
}

func (t *tester) print(verbose bool) {
	out := t.cmd.OutOrStdout()
	fmt.Fprint(t.cmd.ErrOrStderr(), t.found.Render())
	for _, o := range t.outcomes {
		switch {
		case !o.Pass:
			fmt.Fprintf(out, "FAIL %s  %s\n     %s\n", o.Name, o.At, strings.ReplaceAll(o.Text, "\n", "\n     "))
			o.engine(out)
		case verbose:
			fmt.Fprintf(out, "ok   %s  %dµs\n", o.Name, o.Micros)
			o.engine(out)
		}
		if printed := strings.TrimSuffix(o.Output, "\n"); printed != "" {
			fmt.Fprintf(out, "     %s: %s\n", o.Name, strings.ReplaceAll(printed, "\n", "\n     "))
		}
	}
	r := t.report()
	fmt.Fprintf(out, "%d passed, %d failed\n", r.Passed, r.Failed)
}

func (t *tester) exit() error {
	r := t.report()
	switch {
	case t.found.HasErrors(), r.Failed > 0:
		return exitError{exitFindings, ""}
	case len(t.outcomes) == 0:
		return exitError{exitFindings, "hookc: no tests: write *_test.yaml or *_test.rego beside the policy (see 'hookc help test')"}
	}
	return nil
}
