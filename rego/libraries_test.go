package rego

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// librariesEnv names folders of public Rego, as PATH names folders. Without it
// there is nothing to test: the libraries are other projects', fetched by
// .ci/run, which sets it.
const librariesEnv = "HOOKC_NATIVE_LIBRARIES"

// libraryEvents are the events of each module of a library, libraryMutants how
// many mutants it has besides.
const (
	libraryEvents  = 12
	libraryMutants = 1
)

// TestNativeLibraries evaluates what others wrote natively and by topdown, and
// what is like it: every module below the folders that compiles with those of
// them that it imports. HOOKC_NATIVE_ROUNDS and HOOKC_NATIVE_SEED are the
// corpus's.
func TestNativeLibraries(t *testing.T) {
	folders := filepath.SplitList(os.Getenv(librariesEnv))
	if len(folders) == 0 {
		t.Skip(librariesEnv + " names no folder of Rego")
	}
	rounds, seed := number(t, "HOOKC_NATIVE_ROUNDS", 1), number(t, "HOOKC_NATIVE_SEED", 1)
	for _, folder := range folders {
		t.Run(filepath.Base(folder), func(t *testing.T) {
			modules := loadLibraries(t, folder)
			counted := newCensus()
			var compiled []*corpusModule
			for _, m := range modules {
				m.standIn()
				if r := m.open(m.parsed); r != nil {
					compiled = append(compiled, m)
					counted.count(r, func(string) bool { return true })
				}
			}
			t.Logf("%d of %d modules compile\n%s", len(compiled), len(modules), counted.text(filepath.Base(folder)))
			require.NotEmpty(t, compiled)
			reportCorpus(t, inParallel(compiled, func(m *corpusModule, o *corpusOutcome) {
				rng := corpusRandom(m.name, seed)
				r := m.open(m.parsed)
				o.modules++
				o.try(r, newEventMaker(r, rng), libraryEvents*rounds)
				for range libraryMutants * rounds {
					if r := m.mutant(rng); r != nil {
						o.mutants++
						o.try(r, newEventMaker(r, rng), libraryEvents)
					}
				}
				runtime.GC() // Libraries are large, and so is what is made of them.
			}))
			assert.Greater(t, counted.native*10, counted.rules*9, "of rules run natively")
		})
	}
}

// standIn gives a module and its libraries functions instead of those that only
// their own engine has: what they give is their arguments.
func (m *corpusModule) standIn() {
	missing := map[string]bool{}
	for _, err := range m.compile(m.parsed).Errors {
		if name, ok := strings.CutPrefix(err.Message, "undefined function "); ok && !strings.HasPrefix(name, "data.") {
			missing[name] = true
		}
	}
	if len(missing) == 0 {
		return
	}
	functions, err := parseModule("stand_in", standIns, ast.RegoV1)
	if err != nil {
		panic(err)
	}
	libs := map[string]*ast.Module{"stand_in.rego": functions}
	for name, lib := range m.libs {
		libs[name] = lib.Copy()
		replaceCalls(libs[name], missing)
	}
	m.libs = libs
	replaceCalls(m.parsed, missing)
}

const standIns = `package stand_in
f0() := []
f1(a) := [a]
f2(a, b) := [a, b]
f3(a, b, c) := [a, b, c]
f4(a, b, c, d) := [a, b, c, d]
`

func replaceCalls(m *ast.Module, missing map[string]bool) {
	replace := func(call []*ast.Term) {
		if len(call) > 0 && len(call) <= 5 && missing[call[0].String()] {
			call[0] = ast.NewTerm(ast.MustParseRef(fmt.Sprintf("data.stand_in.f%d", len(call)-1)))
		}
	}
	ast.WalkExprs(m, func(e *ast.Expr) bool {
		if terms, ok := e.Terms.([]*ast.Term); ok {
			replace(terms)
		}
		return false
	})
	ast.WalkTerms(m, func(t *ast.Term) bool {
		if call, ok := t.Value.(ast.Call); ok {
			replace(call)
		}
		return false
	})
}

// loadLibraries reads the modules below a folder, tests of them left out, in
// the syntax of this version or the older one.
func loadLibraries(t *testing.T, folder string) []*corpusModule {
	var out []*corpusModule
	all := map[ast.RegoVersion]map[string]*ast.Module{ast.RegoV0: {}, ast.RegoV1: {}}
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".rego") || strings.HasSuffix(path, "_test.rego") {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name := strings.TrimPrefix(filepath.ToSlash(strings.TrimPrefix(path, folder)), "/")
		for _, version := range []ast.RegoVersion{ast.RegoV1, ast.RegoV0} {
			module, err := parseModule(name, string(text), version)
			if err != nil {
				continue
			}
			all[version][name] = module
			out = append(out, &corpusModule{
				name: strings.TrimSuffix(name, ".rego"), version: version, parsed: module, data: ast.NewObject(),
			})
			break
		}
		return nil
	})
	require.NoError(t, err)
	for _, m := range out {
		m.libs = libsOf(m.parsed, all[m.version])
		delete(m.libs, m.name+".rego")
	}
	return out
}
