package rego

import (
	"context"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
)

// testTimeout bounds one test.
const testTimeout = 5 * time.Second

// Tests is what RunTests runs: Rego rules called test_*, beside the modules
// they are about.
type Tests struct {
	// Paths are .rego files, and folders searched for them, `_test.rego`
	// included.
	Paths []string
	// Sources are modules written inside policy files. In tests every module
	// goes by its own package name, so two of one name are one package here.
	Sources []diag.Text
	// Config is the `rego:` part of the policy file.
	Config policy.RegoConfig
	// Only selects tests by name; nil selects all. Trace keeps what each evaluated.
	Only  *regexp.Regexp
	Trace bool
	// Cover, when set, sees what the tests evaluate.
	Cover dag.Cover
	// limit is how long each may take; 0 is testTimeout.
	limit time.Duration
}

// TestResult is what became of one test.
type TestResult struct {
	// Name is the test's full name: data.hooks.shell_test.test_denies.
	Name string
	// Pass and Skip are false for a test that failed; Skip is set for
	// todo_test_*.
	Pass, Skip bool
	// Error is why a test could not be evaluated, "" when it could.
	Error string
	// At is where the test is written.
	At       diag.Span
	Duration time.Duration
	// Output is what the test printed.
	Output string
	// Failed is the expression that did not hold, the zero Span where it is not
	// known; Values are what it names, as NAME = VALUE.
	Failed diag.Span
	Values []string
	// Trace is what was evaluated, a line a step.
	Trace []string
}

// RunTests runs the tests it is given, as `opa test` does and in the order of
// their names. Tests see hookc's functions; a builtin error fails a test, as
// it fails a hook. Findings are about text that does not parse or compile:
// with errors among them nothing was run. It stops when ctx ends.
func RunTests(ctx context.Context, t Tests) ([]TestResult, diag.List) {
	u := newUnit(&policy.Hook{File: &policy.FileConfig{Rego: t.Config}})
	for path, f := range u.library(new(Compiler)).modules {
		u.modules[path] = f.module
	}
	u.testModules(t)
	u.ownCalls()
	if u.found.HasErrors() {
		u.found.Sort()
		return nil, u.found
	}
	tests := &testCode{u: u, only: t.Only, limit: lists.First(t.limit, testTimeout)}
	if t.Cover != nil {
		tests.seen = covered(t.Cover, u.where, u.modules)
	}
	if !tests.compile() {
		return nil, u.found
	}
	return tests.run(ctx, t.Trace), u.found
}

// testModules adds the modules under test and the tests.
func (u *unit) testModules(t Tests) {
	for _, root := range t.Paths {
		files, err := listFiles(root, func(path string) bool { return strings.HasSuffix(path, ".rego") })
		if err != nil {
			u.found.Add(codeShared.Report(diag.Span{}, "cannot read %s: %v", root, reason(err)))
		}
		for _, path := range files {
			u.testFile(path)
		}
	}
	for i, text := range t.Sources {
		name := "source " + strconv.Itoa(i)
		u.where[name] = text
		module, err := parseModule(name, text.Value, u.version)
		if err != nil {
			u.found.Add(syntaxFindings(u.where, text.Value, u.version, err)...)
			continue
		}
		u.modules[name] = module
	}
}

func (u *unit) testFile(path string) {
	absolute, err := filepath.Abs(path)
	if err != nil {
		absolute = path
	}
	if u.modules[absolute] != nil {
		return
	}
	content, err := readText(absolute)
	if err != nil {
		u.found.Add(codeShared.Report(diag.Span{}, "cannot read %s: %v", path, reason(err)))
		return
	}
	f := newSharedFile(fileKey{path: absolute, name: path, version: u.version}, content)
	u.where[absolute] = f.text
	u.found.Add(f.found...)
	if f.module != nil {
		u.modules[absolute] = f.module
	}
}
