package rego

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/storage"
	"github.com/open-policy-agent/opa/v1/storage/inmem"
	"github.com/open-policy-agent/opa/v1/topdown"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/rego/native"
)

// The corpus is Rego as platform teams write it about agents: testdata/corpus
// holds a module a file, v0 those of the older syntax, lib what they import,
// data.json what they look up. A line `# event: {...}` is an event that says
// more about a module than its literals do.
const corpusFolder = "testdata/corpus"

// corpusGolden lists what of the corpus topdown evaluates, with the reasons,
// and the functions that only the resident engine has. It may only shrink.
const corpusGolden = "testdata/corpus.txt"

// corpusModule is a module with what it needs to be compiled.
type corpusModule struct {
	name    string
	version ast.RegoVersion
	parsed  *ast.Module
	libs    map[string]*ast.Module
	data    ast.Value
	events  []any
}

// verdictDocs are the names under which rules say something.
var verdictDocs = []string{"deny", "ask", "allow", "violation", "warn", "stop", "skip", "context", "message", "feedback", "patch"}

func isVerdict(name string) bool {
	head, _, _ := strings.Cut(name, "_")
	return slices.Contains(verdictDocs, head)
}

// loadCorpus reads testdata/corpus, in the order of its names.
func loadCorpus(t testing.TB) []*corpusModule {
	data := readData(t, filepath.Join(corpusFolder, "data.json"))
	libs := map[string]*ast.Module{}
	for _, file := range corpusFiles(t, corpusFolder, "lib", "*.rego") {
		libs[file] = readModule(t, file, ast.RegoV1)
	}
	var out []*corpusModule
	for _, file := range corpusFiles(t, corpusFolder, "*.rego") {
		m := newCorpusModule(t, file, ast.RegoV1)
		m.libs, m.data = libsOf(m.parsed, libs), data
		out = append(out, m)
	}
	for _, file := range corpusFiles(t, corpusFolder, "v0", "*.rego") {
		m := newCorpusModule(t, file, ast.RegoV0)
		m.data = data
		out = append(out, m)
	}
	return out
}

func corpusFiles(t testing.TB, parts ...string) []string {
	files, err := filepath.Glob(filepath.Join(parts...))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	return files
}

func readModule(t testing.TB, file string, version ast.RegoVersion) *ast.Module {
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	m, err := parseModule(filepath.ToSlash(file), string(text), version)
	require.NoError(t, err, file)
	return m
}

func readData(t testing.TB, file string) ast.Value {
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	v, err := ast.ValueFromReader(strings.NewReader(string(text)))
	require.NoError(t, err, file)
	return v
}

func newCorpusModule(t testing.TB, file string, version ast.RegoVersion) *corpusModule {
	m := &corpusModule{
		name: strings.TrimSuffix(filepath.Base(file), ".rego"), version: version, parsed: readModule(t, file, version),
		data: ast.NewObject(),
	}
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	for line := range strings.Lines(string(text)) {
		if event, ok := strings.CutPrefix(line, "# event: "); ok {
			m.events = append(m.events, eventOf(t, event))
		}
	}
	return m
}

func eventOf(t testing.TB, text string) any {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var v any
	require.NoError(t, d.Decode(&v), text)
	return v
}

// libsOf are the libraries that a module imports, and those that they import.
func libsOf(m *ast.Module, all map[string]*ast.Module) map[string]*ast.Module {
	out := map[string]*ast.Module{}
	for todo := []*ast.Module{m}; len(todo) > 0; todo = todo[1:] {
		for _, i := range todo[0].Imports {
			for file, lib := range all {
				if out[file] == nil && i.Path.Value.Compare(lib.Package.Path) == 0 {
					out[file] = lib
					todo = append(todo, lib)
				}
			}
		}
	}
	return out
}

// compile compiles a module that stands where m does.
func (m *corpusModule) compile(module *ast.Module) *ast.Compiler {
	modules := map[string]*ast.Module{m.name + ".rego": module}
	for file, lib := range m.libs {
		modules[file] = lib
	}
	c := newOPACompiler(m.version, nil)
	c.Compile(modules)
	return c
}

// documents are the names of what a module defines that is no function.
func documentsOf(m *ast.Module) []ast.Value {
	var out []ast.Value
	seen := map[string]bool{}
	for _, r := range m.Rules {
		ref := r.Ref().ConstantPrefix()
		if name := ref.String(); len(r.Head.Args) == 0 && !seen[name] {
			seen[name] = true
			out = append(out, ref)
		}
	}
	return out
}

// nameOf is the first name of a document below its package.
func nameOf(m *ast.Module, want ast.Value) string {
	return strings.Trim(want.(ast.Ref)[len(m.Package.Path)].Value.String(), `"`)
}

// corpusRun is a module that both engines evaluate.
type corpusRun struct {
	*corpusModule
	module   *ast.Module
	compiler *ast.Compiler
	wants    []ast.Value
	queries  []ast.Body
	store    storage.Store
	txn      storage.Transaction
	plan     *plan
	// indexed is the plan's code with an index.
	indexed *native.Code
}

// open readies a module for both engines; nil when it does not compile.
func (m *corpusModule) open(module *ast.Module) *corpusRun {
	r := &corpusRun{corpusModule: m, module: module, compiler: m.compile(module)}
	if r.compiler.Failed() {
		return nil
	}
	r.wants = documentsOf(module)
	for _, want := range r.wants {
		body := ast.NewBody(ast.Equality.Expr(ast.VarTerm(resultVar), ast.NewTerm(want).Copy()))
		query, err := r.compiler.QueryCompiler().Compile(body)
		if err != nil {
			return nil
		}
		r.queries = append(r.queries, query)
	}
	r.store = inmem.NewFromASTObject(m.data.(ast.Object))
	var err error
	if r.txn, err = r.store.NewTransaction(context.Background()); err != nil {
		panic(err)
	}
	r.plan = planValues(r.compiler, r.wants, m.data)
	if r.plan.code != nil {
		if r.indexed, err = native.Link(r.plan.program, bridge); err != nil {
			panic(err)
		}
		r.indexed.Index()
	}
	return r
}

// topdown evaluates a document as hookc does: builtin errors are errors.
func (r *corpusRun) topdown(i int, input ast.Value, e *evaluation) (ast.Value, error) {
	q := topdown.NewQuery(r.queries[i]).WithCompiler(r.compiler).WithStore(r.store).WithTransaction(r.txn).
		WithTime(e.start).WithBuiltins(functions().eval).WithStrictBuiltinErrors(true).WithInput(ast.NewTerm(input))
	rs, err := q.Run(context.Background())
	if err != nil || len(rs) == 0 {
		return nil, err
	}
	return rs[0][resultVar].Value, nil
}

// reason says why a document is not native, "" when it is.
func (p *plan) reason(i int) string { return cmp.Or(p.entries[i].why, p.why) }

// census counts the rules of modules by how they run.
type census struct {
	modules, rules, native, kernel, cold int
	reasons, functions                   map[string]int
	lines                                []string
}

func newCensus() *census { return &census{reasons: map[string]int{}, functions: map[string]int{}} }

// count adds a module: its rules that say something, or all of its documents'.
func (s *census) count(r *corpusRun, counts func(name string) bool) {
	s.modules++
	for _, want := range r.wants {
		name := nameOf(r.module, want)
		if !counts(name) {
			continue
		}
		rules := 0
		for _, rule := range r.module.Rules {
			if !rule.Default && len(rule.Head.Args) == 0 && rule.Ref().ConstantPrefix().Equal(want.(ast.Ref)) {
				rules++
			}
		}
		s.rules += rules
		p := planValues(r.compiler, []ast.Value{want}, r.data)
		if why := p.reason(0); why != "" {
			s.reasons[why] += rules
			s.lines = append(s.lines, fmt.Sprintf("%s.%s: %s", r.name, name, why))
			continue
		}
		s.native += rules
		if strings.HasPrefix(p.way(&p.entries[0]), "kernel") {
			s.kernel += rules
		}
		slices.Sort(p.bridged)
		if p.bridged = slices.Compact(p.bridged); len(p.bridged) == 0 {
			s.cold += rules
		}
		for _, f := range p.bridged {
			s.functions[f] += rules
		}
	}
}

func (s *census) text(of string) string {
	share := func(n int) float64 { return 100 * float64(n) / float64(max(s.rules, 1)) }
	return fmt.Sprintf("%s: %d rules in %d modules, %d native (%.1f %%): %d kernel, %d closures; %d without OPA (%.1f %%)\n"+
		"\nFall back, rules by reason:\n%s\nCall functions of the resident engine, rules by function:\n%s\nDocuments that fall back:\n%s\n",
		of, s.rules, s.modules, s.native, share(s.native), s.kernel, s.native-s.kernel, s.cold, share(s.cold),
		countsText(s.reasons), countsText(s.functions), strings.Join(s.lines, "\n"))
}

// TestCorpusShare counts which rules run natively: of the corpus at least 95 %,
// and of OPA's own examples. What falls back is listed, and the list may only
// shrink.
func TestCorpusShare(t *testing.T) {
	own := newCensus()
	for _, m := range loadCorpus(t) {
		r := m.open(m.parsed)
		require.NotNil(t, r, "%s: %v", m.name, m.compile(m.parsed).Errors)
		own.count(r, isVerdict)
	}
	assert.GreaterOrEqual(t, own.modules, 60)
	assert.GreaterOrEqual(t, own.rules, 250)
	assert.GreaterOrEqual(t, own.native*100, own.rules*95, "of guardrail rules run natively")
	found := newCensus()
	for _, m := range opaExamples(t) {
		if r := m.open(m.parsed); r != nil {
			found.count(r, func(string) bool { return true })
		}
	}
	compareCorpus(t, own, found)
}

// compareCorpus fails when something joins what falls back.
func compareCorpus(t *testing.T, own, found *census) {
	text := own.text("Guardrails") + "\n" + found.text("OPA's examples")
	if *update {
		require.NoError(t, os.WriteFile(corpusGolden, []byte(text), 0o644))
		return
	}
	golden, err := os.ReadFile(corpusGolden)
	require.NoError(t, err)
	known := map[string]bool{}
	for line := range strings.Lines(string(golden)) {
		known[strings.TrimSpace(line)] = true
		if _, name, ok := strings.Cut(strings.TrimSpace(line), "  "); ok {
			known[name] = true
		}
	}
	for _, s := range []*census{own, found} {
		for _, line := range s.lines {
			assert.True(t, known[line], "falls back now, and did not: %s", line)
		}
		for name := range s.functions {
			assert.True(t, known[name], "needs the resident engine's %s now, and did not", name)
		}
	}
	if text != string(golden) && !t.Failed() {
		t.Logf("%s can shrink: run with -update", corpusGolden)
	}
}

// opaExamples are the modules that OPA's documentation and its own tools hold,
// read where OPA lies, with the inputs beside them.
func opaExamples(t testing.TB) []*corpusModule {
	dir, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "github.com/open-policy-agent/opa").Output()
	require.NoError(t, err)
	root := strings.TrimSpace(string(dir))
	var out []*corpusModule
	err = filepath.WalkDir(root, func(file string, d os.DirEntry, err error) error {
		if err != nil || filepath.Ext(file) != ".rego" || strings.Contains(file, "cases") {
			return err
		}
		if m := opaExample(t, root, file); m != nil {
			out = append(out, m)
		}
		return nil
	})
	require.NoError(t, err)
	require.Greater(t, len(out), 50)
	return out
}

func opaExample(t testing.TB, root, file string) *corpusModule {
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	name, err := filepath.Rel(root, file)
	require.NoError(t, err)
	m := &corpusModule{name: filepath.ToSlash(strings.TrimSuffix(name, ".rego")), version: ast.RegoV1, data: ast.NewObject()}
	if m.parsed, err = parseModule(m.name, string(text), m.version); err != nil {
		m.version = ast.RegoV0
		if m.parsed, err = parseModule(m.name, string(text), m.version); err != nil {
			return nil
		}
	}
	if input, err := os.ReadFile(filepath.Join(filepath.Dir(file), "input.json")); err == nil {
		m.events = append(m.events, eventOf(t, string(input)))
	}
	if _, err := os.Stat(filepath.Join(filepath.Dir(file), "data.json")); err == nil {
		m.data = readData(t, filepath.Join(filepath.Dir(file), "data.json"))
	}
	return m
}
