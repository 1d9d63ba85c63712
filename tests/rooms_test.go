package tests

import (
	"cmp"
	"flag"
	"fmt"
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What a package has at most, tests not counted.
const (
	roomLines = 4500
	roomFiles = 25
)

// larger are the packages that have more, how much they may have, and why. A row
// of a package that does not need it fails.
var larger = map[string]struct {
	lines, files int
	why          string
}{
	"builtins/shell": {11000, 52, "the analysis of command lines is one analysis; a file a family of programs"},
	"cmd/hookc":      {9000, 60, "a file a command; what is no command moves to internal/"},
	"compiler":       {4500, 42, "a file a pass"},
	"executor":       {4700, 31, "the definition and the run of it"},
	"policy/agent":   {8500, 40, "a file an agent"},
	"policy/source":  {10200, 52, "a file a format; the readers of agents' settings"},
	"rego":           {11200, 64, "all that knows OPA"},
	"rego/native":    {9700, 55, "the machine: its parts know each other"},
}

// public are the packages that README.md promises.
var public = []string{"", "policy", "policy/diag", "policy/agent", "dag", "builtins", "builtins/rule"}

// publicNames lists the exported names of the public packages as CHANGELOG.md
// was last written.
const publicNames = "testdata/public.txt"

var update = flag.Bool("update", false, "write "+publicNames+" and the map of CONTRIBUTING.md again")

// sources parses the files of a package that are not tests.
func sources(t *testing.T, name string) (fset *token.FileSet, files []*ast.File, lines int) {
	t.Helper()
	fset = token.NewFileSet()
	paths, err := filepath.Glob(filepath.Join("..", name, "*.go"))
	require.NoError(t, err)
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		file, err := parser.ParseFile(fset, path, text, parser.ParseComments)
		require.NoError(t, err)
		files, lines = append(files, file), lines+strings.Count(string(text), "\n")
	}
	return fset, files, lines
}

// TestRooms: a package is small enough to be read, and the table is true.
func TestRooms(t *testing.T) {
	packages := listPackages(t)
	for name := range packages {
		_, files, lines := sources(t, name)
		row, named := larger[name]
		if !named {
			row.lines, row.files = roomLines, roomFiles
		}
		assert.LessOrEqual(t, lines, row.lines, "%s has more lines than it may have: lift a part out", name)
		assert.LessOrEqual(t, len(files), row.files, "%s has more files than it may have", name)
		assert.False(t, named && lines <= roomLines && len(files) <= roomFiles, "%s needs no row in larger", name)
	}
	for name, row := range larger {
		assert.Contains(t, packages, name, "larger names a package that is gone")
		assert.NotEmpty(t, row.why, name)
	}
}

// TestPublicNames: an exported name that appears or goes is in CHANGELOG.md.
func TestPublicNames(t *testing.T) {
	var names []string
	for _, name := range []string{"", "policy/diag", "builtins", "builtins/rule"} {
		names = append(names, exported(t, name)...)
	}
	before, err := os.ReadFile(publicNames)
	require.NoError(t, err)
	changes, err := os.ReadFile("../CHANGELOG.md")
	require.NoError(t, err)
	listed := strings.Fields(string(before))
	said := func(name string) bool {
		_, short, _ := strings.Cut(name, ".")
		return regexp.MustCompile("[`.]" + regexp.QuoteMeta(short) + `\b`).Match(changes)
	}
	for _, name := range names {
		assert.True(t, slices.Contains(listed, name) || said(name), "%s is new, and CHANGELOG.md does not say so", name)
	}
	for _, name := range listed {
		assert.True(t, slices.Contains(names, name) || said(name), "%s is gone, and CHANGELOG.md does not say so", name)
	}
	if *update && !t.Failed() {
		require.NoError(t, os.WriteFile(publicNames, []byte(strings.Join(names, "\n")+"\n"), 0o644))
	}
}

func docOf(t *testing.T, name string) *doc.Package {
	fset, files, _ := sources(t, name)
	p, err := doc.NewFromFiles(fset, files, module+"/"+name)
	require.NoError(t, err)
	return p
}

// TestMap: CONTRIBUTING.md says of each package what the package itself says.
func TestMap(t *testing.T) {
	const head, path = "| package | what |\n|---|---|\n", "../CONTRIBUTING.md"
	var rows strings.Builder
	for _, name := range slices.Sorted(maps.Keys(listPackages(t))) {
		if name == "tests" || strings.HasPrefix(name, "tests/") {
			continue
		}
		p := docOf(t, name)
		what := p.Synopsis(p.Doc)
		require.NotEmpty(t, what, "%s has no package comment", name)
		what = strings.TrimPrefix(strings.TrimPrefix(what, "Package "+p.Name+" "), "Command ")
		fmt.Fprintf(&rows, "| `%s` | %s |\n", cmp.Or(name, "."), strings.ReplaceAll(what, "|", "\\|"))
	}
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	before, rest, ok := strings.Cut(string(text), head)
	require.True(t, ok)
	was, after, ok := strings.Cut(rest, "\n\n")
	require.True(t, ok)
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(before+head+rows.String()+"\n"+after), 0o644))
		return
	}
	require.Equal(t, rows.String(), was+"\n", "go test ./tests -run TestMap -update writes it again from the packages' comments")
}

// exported lists the exported names of a package and their methods, as
// package.Name and package.Type.Method.
func exported(t *testing.T, dir string) (out []string) {
	p := docOf(t, dir)
	add := func(name string) { out = append(out, p.Name+"."+name) }
	values := func(list []*doc.Value) {
		for _, v := range list {
			for _, name := range v.Names {
				if ast.IsExported(name) {
					add(name)
				}
			}
		}
	}
	funcs := func(list []*doc.Func, of string) {
		for _, f := range list {
			add(of + f.Name)
		}
	}
	values(p.Consts)
	values(p.Vars)
	funcs(p.Funcs, "")
	for _, typ := range p.Types {
		add(typ.Name)
		values(typ.Consts)
		values(typ.Vars)
		funcs(typ.Funcs, "")
		funcs(typ.Methods, typ.Name+".")
	}
	slices.Sort(out)
	return slices.Compact(out)
}
