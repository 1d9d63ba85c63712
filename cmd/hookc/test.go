package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"github.com/hookc/hookc"
	"github.com/hookc/hookc/internal/casetest"
	"github.com/hookc/hookc/internal/decide"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/internal/report"
	"github.com/hookc/hookc/internal/spell"
	"github.com/hookc/hookc/rego"
)

// testFlags are the command line of test.
type testFlags struct {
	sources
	asJSON, verbose, update, watch, trace bool
	only                                  string
	cover                                 bool
	atLeast                               float64
	page                                  string
	mutate, suggest, witnesses            bool
	score                                 float64
	mutants                               int
	seed                                  uint64
}

func newTest() *cobra.Command {
	var f testFlags
	cmd := &cobra.Command{
		Use:   "test [PATH…]",
		Short: "Run the tests beside a policy: YAML cases and Rego test rules",
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.watch {
				return f.again(cmd, args)
			}
			return f.once(cmd, args, new(casetest.Watch))
		},
	}
	f.flags(cmd)
	cmd.Flags().BoolVar(&f.asJSON, "json", false, "as JSON")
	cmd.Flags().BoolVarP(&f.verbose, "verbose", "v", false, "also the tests that pass")
	cmd.Flags().StringVar(&f.only, "run", "", "only tests whose names the regular expression `REGEX` matches")
	cmd.Flags().BoolVar(&f.update, "update", false, "write the snapshots of cases again")
	cmd.Flags().BoolVar(&f.trace, "trace", false, "what each test of Rego evaluates")
	cmd.Flags().BoolVar(&f.cover, "coverage", false, "which hooks, filters, conditions, rules, bodies and lines the tests reach, and which not")
	cmd.Flags().Float64Var(&f.atLeast, "coverage-min", 0, "exit 1 if less than `PERCENT` of the policy is covered")
	cmd.Flags().StringVar(&f.page, "coverage-html", "", "write the coverage as a page to `FILE`")
	cmd.Flags().BoolVar(&f.mutate, "mutate", false, "how many mistakes in the policy the tests notice, and an event for each that they do not")
	cmd.Flags().Float64Var(&f.score, "mutate-min", 0, "exit 1 if the tests notice less than `PERCENT` of the mistakes")
	cmd.Flags().IntVar(&f.mutants, "mutants", casetest.DefaultMutants, "with --mutate: try `N` mistakes at most")
	cmd.Flags().Uint64Var(&f.seed, "seed", 0, "with --mutate: `NUMBER` that chooses them where there are more")
	cmd.Flags().BoolVar(&f.suggest, "suggest", false, "run nothing: write cases for the rules, to be read and kept")
	cmd.Flags().BoolVar(&f.witnesses, "witnesses", false, "run nothing: show an event on which each rule fires")
	cmd.Flags().BoolVar(&f.watch, "watch", false, "run again whenever a file of the policy or of its tests changes, until interrupted")
	return cmd
}

// once runs the tests, and has watched what they depend on.
func (f *testFlags) once(cmd *cobra.Command, args []string, w *casetest.Watch) error {
	c, done, err := f.config(cmd, args)
	if err != nil {
		return err
	}
	defer done()
	if f.suggest || f.witnesses {
		return f.rules(cmd, c)
	}
	var doing atomic.Value
	c.Say = func(what string) { doing.Store(what) }
	c.Say("running tests")
	stop := progressOf(cmd.ErrOrStderr(), func() string { return doing.Load().(string) })
	result, err := casetest.Run(cmd.Context(), c)
	stop()
	w.Add(result)
	if err != nil {
		return testError(cmd, err)
	}
	if err := f.write(cmd, result); err != nil {
		return err
	}
	if result.Coverage != nil && f.only == "" {
		_ = result.Coverage.Keep() // an editor shows none then
	}
	if f.page != "" && result.Coverage != nil {
		if err := writePage(f.page, result.Coverage); err != nil {
			return err
		}
	}
	switch c := result.Coverage; {
	case result.OK() && c != nil && c.Percent < f.atLeast:
		return exitError{Code: exitFindings, Text: fmt.Sprintf("hookc: the tests cover %.1f%% of the policy, less than %v%%", c.Percent, f.atLeast)}
	case result.Mutation != nil && result.Mutation.Score < f.score:
		return exitError{Code: exitFindings, Text: fmt.Sprintf("hookc: the tests notice %.1f%% of the mistakes, less than %v%%", result.Mutation.Score, f.score)}
	case result.OK():
		return nil
	case len(result.Tests) == 0 && f.only != "" && !result.Findings.HasErrors():
		return exitError{Code: exitFindings, Text: fmt.Sprintf("hookc: no test has a name that %q matches", f.only)}
	case len(result.Tests) == 0 && !result.Findings.HasErrors():
		return exitError{Code: exitFindings, Text: "hookc: no tests: write *_test.yaml or *_test.rego beside the policy (see 'hookc help test')"}
	}
	return exitError{Code: exitFindings, Text: ""}
}

// write writes what became of the tests. Where another program reads it, people
// read the text on stderr.
func (f *testFlags) write(cmd *cobra.Command, r *casetest.Report) error {
	switch {
	case f.asJSON && f.Output == "" || f.Output == "json":
		return writeJSON(cmd.OutOrStdout(), r)
	case f.Output == "" || f.Output == "text":
		f.print(cmd, cmd.OutOrStdout(), r)
		return nil
	}
	f.print(cmd, cmd.ErrOrStderr(), r)
	return writeReport(cmd, f.Output, &report.Report{Findings: r.Findings, Results: f.results(r)})
}

// results are the outcomes of tests as a report has them. That there were none is
// a failure, as it is of the command.
func (f *testFlags) results(r *casetest.Report) []report.Result {
	var out []report.Result
	if len(r.Tests) == 0 {
		out = append(out, report.Result{Name: "tests", Status: report.Failed, Text: "no test was run"})
	}
	for _, o := range r.Tests {
		t := report.Result{Name: o.Name, File: o.File, Text: o.Text, Took: time.Duration(o.Micros) * time.Microsecond}
		if !o.Pass {
			t.Status = report.Failed
		}
		// At is FILE:LINE, or FILE:LINE:COL.
		if place, found := spell.CutPrefix(o.At, o.File+":"); found {
			line, _, _ := spell.Cut(place, ":")
			t.Line, _ = strconv.Atoi(line) // 0: the line is not known
		}
		out = append(out, t)
	}
	return out
}

// testError is the exit for what kept tests from being run.
func testError(cmd *cobra.Command, err error) error {
	var unread *casetest.UnreadError
	var exit exitError
	switch {
	case errors.As(err, &unread):
		return exitError{Code: exitCannot, Text: unread.Error()}
	case errors.As(err, &exit):
		return exit
	}
	return decide.OpenError(cmd.Context(), err)
}

// config is what is tested by these flags: of the policies that args name, or that
// are discovered.
func (f *testFlags) config(cmd *cobra.Command, args []string) (c casetest.Config, done func(), err error) {
	if err := f.fromSources(cmd, args); err != nil {
		return c, nil, err
	}
	if c.Dir, err = decide.WorkDir(); err != nil {
		return c, nil, err
	}
	c.Shown = func(path string) string { return shownFrom(c.Dir, path) }
	if c.Run, err = regexp.Compile(f.only); err != nil {
		return c, nil, cannot("--run: %v", err)
	}
	var policies []string
	for _, path := range lists.Concat(f.Files, args) {
		switch {
		case !strings.HasSuffix(path, "_test.yaml"):
			policies = append(policies, path)
		case filepath.IsAbs(path):
			c.Cases = append(c.Cases, path)
		default:
			c.Cases = append(c.Cases, filepath.Join(c.Dir, path))
		}
	}
	under := f.sources
	under.Files = policies
	c.Options, done, err = under.Options(cmd, nil, c.Dir)
	kept := decide.OpenDoubts()
	c.Environ = os.Environ()
	c.Mutate, c.Mutants, c.Seed = f.mutate || f.score > 0, f.mutants, f.seed
	c.Update, c.Trace, c.Cover = f.update, f.trace, f.cover || f.atLeast > 0 || f.page != ""
	c.Named = func(policies []string, dir string) ([]hookc.Option, func(), error) {
		return (&decide.Sources{Files: policies}).Options(cmd, nil, dir)
	}
	c.Eyes = func(report func(rego.Difference)) *rego.Eyes {
		e := rego.NewEyes(true, kept.Rejected(), func(d rego.Difference) {
			kept.Report(d)
			d.Native, d.Topdown = decide.Masked(d.Native), decide.Masked(d.Topdown)
			report(d)
		})
		e.Leaves(kept.Left(), nil)
		return e
	}
	return c, done, err
}

func (f *testFlags) print(cmd *cobra.Command, out io.Writer, r *casetest.Report) {
	fmt.Fprint(cmd.ErrOrStderr(), r.Findings.Render())
	for _, o := range r.Tests {
		switch {
		case !o.Pass:
			fmt.Fprintf(out, "FAIL %s  %s\n", o.Name, o.At)
			indented(out, "", o.Text)
		case f.verbose:
			fmt.Fprintf(out, "ok   %s  %dµs\n", o.Name, o.Micros)
		}
		if !o.Pass || f.verbose {
			indented(out, "engine: ", o.Engine)
		}
		indented(out, o.Name+": ", o.Output)
		indented(out, "", o.Trace)
	}
	fmt.Fprintf(out, "%d passed, %d failed\n", r.Passed, r.Failed)
	if r.Coverage != nil {
		r.Coverage.WriteText(out)
	}
	switch {
	case r.Mutation != nil:
		r.Mutation.WriteText(out)
	case f.mutate || f.score > 0:
		fmt.Fprintln(out, "mistakes are tried when all tests pass")
	}
}

// writePage writes the page of a coverage.
func writePage(path string, c *casetest.Coverage) error {
	var page strings.Builder
	err := c.WriteHTML(&page)
	if err == nil {
		err = os.WriteFile(path, []byte(page.String()), 0o644)
	}
	if err != nil {
		return cannot("%s: %v", path, err)
	}
	return nil
}

// indented writes a text below the line of its test; an empty one is nothing.
func indented(out io.Writer, what, text string) {
	if text = strings.TrimSuffix(text, "\n"); text != "" {
		fmt.Fprintf(out, "     %s%s\n", what, strings.ReplaceAll(text, "\n", "\n     "))
	}
}

// longRun lets -run of test, as go test has it, be --run.
func longRun(args []string) []string {
	out := lists.Copy(args)
	for i, arg := range out {
		if out[0] == "test" && (arg == "-run" || strings.HasPrefix(arg, "-run=")) {
			out[i] = "-" + arg
		}
	}
	return out
}

// rules shows an event for each rule, or writes cases of them.
func (f *testFlags) rules(cmd *cobra.Command, c casetest.Config) error {
	if f.suggest {
		n, err := casetest.Suggest(cmd.Context(), c, cmd.OutOrStdout())
		switch {
		case err != nil:
			return testError(cmd, err)
		case n == 0:
			return exitError{Code: exitFindings, Text: "hookc: no event was found on which a rule fires: hookc test --witnesses says why"}
		}
		return nil
	}
	rules, err := casetest.Witnesses(cmd.Context(), c)
	if err != nil {
		return testError(cmd, err)
	}
	return writeWitnesses(cmd, rules, f.asJSON)
}
