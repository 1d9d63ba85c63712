// Package proof finds out whether the policy that a bundle holds may come into
// force: it is compiled, and its own tests are run.
package proof

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/hookc/hookc"
	"github.com/hookc/hookc/internal/casetest"
	"github.com/hookc/hookc/internal/fault"
	"github.com/hookc/hookc/internal/host"
	"github.com/hookc/hookc/internal/witness"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
	"github.com/hookc/hookc/policy/source"
	"github.com/hookc/hookc/rego"
)

// Result is what is known of a policy that may come into force.
type Result struct {
	// Plan is the hash of what was compiled.
	Plan   string `json:"plan"`
	Hooks  int    `json:"hooks"`
	Events int    `json:"events"`
	// Tests are how many of its own tests passed.
	Tests int            `json:"tests"`
	Rules witness.Counts `json:"rules"`
	// Findings are what is to be said of it, and is no reason to refuse it.
	Findings diag.List `json:"findings,omitempty"`
}

// Options are those of an engine for the policy in a folder, as the managed tier
// of a machine has it.
func Options(dir string) []hookc.Option {
	return []hookc.Option{host.Input[hookc.Option](source.Input{Path: dir, Tier: policy.TierManaged}), hookc.ShownFrom(dir)}
}

// Policy proves the policy in a folder. The error says why it must not come into
// force: it does not compile, names a file outside of the folder, one of its tests
// fails, or the time is over.
func Policy(ctx context.Context, dir string) (*Result, error) {
	program, found := hookc.Compile(Options(dir)...)
	if program == nil || found.HasErrors() {
		return nil, diag.ListError{List: found}
	}
	if err := within(dir, program.Sources); err != nil {
		return nil, err
	}
	out := &Result{Plan: program.Hash, Events: len(program.Plans), Findings: found}
	for _, e := range program.Hooks {
		if !hookc.Own(e.Hook) {
			out.Hooks++
		}
	}
	if out.Hooks == 0 {
		return nil, errors.New("the policy has no hook")
	}
	if err := out.test(ctx, dir); err != nil {
		return nil, err
	}
	rules := witness.Find(ctx, program, program.Tools)
	if err := context.Cause(ctx); err != nil {
		return nil, fault.Errorf("the proof took too long: %w", err)
	}
	out.Rules = witness.Count(rules)
	out.Findings.Add(witness.Findings(rules, found)...)
	out.Findings.Sort()
	return out, nil
}

// within is an error for a policy that names what its folder does not hold: on
// another machine that is another file.
func within(dir string, sources []policy.SourceFile) error {
	for _, s := range sources {
		for _, used := range append(append([]string{s.Path}, s.Uses...), s.Folders...) {
			rel, err := filepath.Rel(dir, used)
			if err != nil || !filepath.IsLocal(rel) {
				return fault.Errorf("%s names %s, which is not in the folder: a bundle has all files of its policy", s.Name, used)
			}
		}
	}
	return nil
}

// test runs the tests beside the policy. That there are none is no reason to refuse it.
func (r *Result) test(ctx context.Context, dir string) error {
	report, err := casetest.Run(ctx, casetest.Config{
		Dir: dir, Options: Options(dir), Environ: os.Environ(),
		Shown: func(path string) string { return path },
		Eyes:  func(report func(rego.Difference)) *rego.Eyes { return rego.NewEyes(true, nil, report) },
		Named: func(policies []string, in string) ([]hookc.Option, func(), error) {
			var out []hookc.Option
			for _, at := range policies {
				if !filepath.IsAbs(at) {
					at = filepath.Join(in, at)
				}
				out = append(out, host.Input[hookc.Option](source.Input{Path: at, Tier: policy.TierManaged}))
			}
			return out, func() {}, nil
		},
	})
	switch {
	case context.Cause(ctx) != nil:
		return fault.Errorf("the tests took too long: %w", context.Cause(ctx))
	case err != nil:
		return err
	case report.Findings.HasErrors():
		return diag.ListError{List: report.Findings}
	case report.Failed > 0:
		var lines []string
		for _, o := range report.Tests {
			if !o.Pass {
				lines = append(lines, strings.TrimSpace(fmt.Sprintf("%s: the test %q fails: %s", o.At, o.Name, o.Text)))
			}
		}
		return errors.New(strings.ReplaceAll(strings.Join(lines, "\n"), dir+string(filepath.Separator), ""))
	}
	r.Tests = report.Passed
	return nil
}
