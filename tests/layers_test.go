// Package tests is the black box: scripts, laws, the oracle, vectors, and the
// tables that hold the house together.
package tests

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const module = "github.com/hookc/hookc"

// layers is the dependency rule: a package imports only packages of the lists
// before its own. Packages of one list do not import each other.
var layers = [][]string{
	{"internal/lazy", "internal/packed"},
	{"policy/digits", "policy/glyph", "policy/govalue", "internal/exit", "internal/fault", "internal/finding", "internal/group", "internal/lists", "internal/pace", "internal/spell", "internal/starter", "rego/cases", "rego/globs", "rego/thread"},
	{"rego/bounds", "policy/scan", "internal/binary", "builtins/losses", "builtins/quoting", "tests/depth", "tests/guard/interval"},
	{"policy/diag", "policy/artifact", "rego/native", "internal/paths", "internal/wire", "builtins/secret", "builtins/tokens", "builtins/winshell", "internal/gate/table"},
	{"builtins/calls", "builtins/posix", "internal/fix", "internal/severity", "policy/approval", "policy/record"},
	{"policy", "policy/state", "policy/disk", "builtins/shell", "internal/gate/rules"},
	{"internal/share", "policy/observe", "policy/rollout", "builtins/harm"},
	{"dag", "internal/decisionlog", "policy/agent/form", "policy/agent/js", "policy/agent/repeats", "policy/agent/supersede", "policy/pattern", "policy/source/permission", "policy/source/plugins", "policy/source/tree", "policy/source/variables", "policy/trust", "builtins/links", "builtins/rule", "builtins/toolcall", "rego/directed", "rego/outline", "rego/template"},
	{"builtins/toolfiles", "policy/agent", "policy/bundled", "policy/callmatch", "policy/source/commandline", "policy/source/extensions", "policy/source/parts", "compiler/solve"},
	{"builtins/guard", "policy/facts", "rego/conditions"},
	{"builtins"},
	{"dag/render/layout"},
	{"rego", "dag/codec", "dag/render", "policy/source", "compiler/lint", "executor/kind/expr", "executor/durable", "executor/tally", "executor/withhold"},
	{"compiler", "executor", "executor/runner", "internal/logrules", "policy/install", "policy/source/cases", "policy/source/jsonschema", "policy/source/print"},
	{"internal/approval", "internal/covered", "internal/host", "internal/protected", "internal/reference", "internal/release", "internal/remote", "internal/shape", "internal/sites"},
	{"internal/decisionlog/keep"},
	{""},
	{"internal/approval/judge", "internal/witness"},
	{"cmd/hookc/model", "internal/gate/build", "internal/bundle", "internal/diff", "internal/memory", "internal/page", "internal/prove", "internal/report", "internal/screen", "tests/processes", "tests/programs", "tests/vectors"},
	{"internal/casetest", "cmd/hookc/approvals", "internal/impact", "internal/lsp"},
	{"cmd/hookc/logs"},
	{"internal/bundle/proof"},
	{"cmd/hookc/bundles", "cmd/hookc/ui"},
	{"internal/decide"},
	{"internal/ahead", "internal/replay", "internal/serve"},
	{"cmd/hookc", "cmd/hookgate"},
	{"tests", "tests/agents", "tests/bench", "tests/browser", "tests/codes", "tests/faults", "tests/fuzz", "tests/gate", "tests/guard", "tests/guard/bash", "tests/hostile", "tests/inert", "tests/kit",
		"tests/laws", "tests/loosened", "tests/onefile", "tests/reload", "tests/scripts", "tests/wasm", "tests/weight", "tests/gen/bench", "tests/gen/commands", "tests/gen/everyday", "tests/gen/release", "tests/gen/schema", "tests/gen/secrets"},
}

// layerOf is the number of the list that names a package; false for none.
func layerOf(name string) (int, bool) {
	i := slices.IndexFunc(layers, func(l []string) bool { return slices.Contains(l, name) })
	return i, i >= 0
}

// stdOnly lists the packages that import nothing but the standard library and
// lower layers.
var stdOnly = []string{"policy/diag", "policy/artifact", "policy", "policy/agent", "internal/wire", "internal/gate/table", "internal/gate/rules", "cmd/hookgate", "rego/native", "rego/bounds", "policy/approval", "policy/digits", "policy/glyph", "policy/govalue", "policy/scan", "internal/binary", "internal/fault", "internal/lists", "internal/spell"}

// owners says which packages may import a module; everything else must not,
// and those in barred must not even link it.
var owners = []struct {
	module string
	allow  []string
	barred []string
}{
	{"github.com/open-policy-agent/opa", []string{"rego", "rego/cases", "rego/conditions", "rego/outline", "internal/bundle", "internal/logrules", "cmd/hookc/bundles"}, []string{"compiler", "compiler/lint", "dag", "policy/source", "executor"}},
	{"github.com/expr-lang/expr", []string{"executor/kind/expr"}, []string{"compiler", "compiler/lint", "dag", "policy/source", "executor"}},
	{"gopkg.in/yaml.v3", []string{"policy/source/tree", "policy/source/print"}, nil},
	{"github.com/pelletier/go-toml/v2", []string{"policy/source/tree", "tests/gen/secrets"}, nil},
	{"go.yaml.in/yaml", nil, nil}, // OPA's; one YAML reader is enough
	{"mvdan.cc/sh/v3", []string{"builtins/shell", "builtins/posix"}, []string{"compiler", "executor"}},
	{"github.com/tailscale/hujson", nil, nil}, // a test's
	{"github.com/gowebpki/jcs", []string{"internal/approval"}, nil},
	{"github.com/spf13/cobra", []string{"cmd/hookc", "cmd/hookc/approvals", "cmd/hookc/bundles", "cmd/hookc/logs", "cmd/hookc/ui", "internal/decide", "internal/serve"}, []string{"", "compiler", "executor"}},
}

type goPackage struct {
	ImportPath                string
	Imports                   []string
	TestImports, XTestImports []string
	Deps                      []string
}

func listPackages(t *testing.T) map[string]goPackage { return listFor(t, "", "") }

// listFor lists the packages as they are built for a system and with a tag, "" for
// this system and for none.
func listFor(t *testing.T, system, tag string) map[string]goPackage {
	t.Helper()
	cmd := exec.Command("go", "list", "-tags="+tag, "-json=ImportPath,Imports,TestImports,XTestImports,Deps", module+"/...")
	cmd.Env = append(cmd.Environ(), "GOOS="+system, "CGO_ENABLED=0")
	out, err := cmd.Output()
	require.NoError(t, err)
	packages := map[string]goPackage{}
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p goPackage
		err := dec.Decode(&p)
		if errors.Is(err, io.EOF) {
			return packages
		}
		require.NoError(t, err)
		packages[local(p.ImportPath)] = p
	}
}

func local(path string) string {
	return strings.TrimPrefix(strings.TrimPrefix(path, module), "/")
}

func TestLayers(t *testing.T) {
	packages := listPackages(t)
	for name, p := range packages {
		layer, known := layerOf(name)
		require.True(t, known, "package %q has no layer: put it in the table on purpose", name)
		for _, imp := range p.Imports {
			if imp != module && !strings.HasPrefix(imp, module+"/") {
				thirdParty := strings.Contains(strings.Split(imp, "/")[0], ".")
				require.False(t, thirdParty && slices.Contains(stdOnly, name), "%s imports %s", name, imp)
				continue
			}
			below, _ := layerOf(local(imp))
			require.Less(t, below, layer, "%s imports %s, which is not below it", name, local(imp))
		}
	}
	for _, name := range slices.Concat(slices.Concat(layers...), stdOnly) {
		require.Contains(t, packages, name, "the tables name a package that is gone")
	}
}

// TestLayersEverywhere: no import runs up on another system either, or with a tag, and
// a test in a package imports nothing that imports the package.
func TestLayersEverywhere(t *testing.T) {
	for _, build := range []struct{ system, tag string }{{"", "topdown"}, {"windows", ""}, {"darwin", ""}, {"freebsd", ""}} {
		packages := listFor(t, build.system, build.tag)
		for name, p := range packages {
			layer, _ := layerOf(name)
			for _, imp := range p.Imports {
				if imp == module || strings.HasPrefix(imp, module+"/") {
					below, _ := layerOf(local(imp))
					require.Less(t, below, layer, "%s %s: %s imports %s, which is not below it", build.system, build.tag, name, local(imp))
				}
			}
			for _, imp := range p.TestImports {
				require.NotContains(t, packages[local(imp)].Deps, p.ImportPath, "a test of %s imports %s", name, imp)
			}
		}
	}
}

// TestDrawing: CONTRIBUTING.md shows the layers as the table has them. With
// TestLayers it is a drawing of the imports: each runs from a row to one above it.
func TestDrawing(t *testing.T) {
	const head, path = "| layer | packages |\n|---|---|\n", "../CONTRIBUTING.md"
	var rows strings.Builder
	for i, l := range layers {
		names := slices.DeleteFunc(slices.Clone(l), func(name string) bool { return name == "tests" || strings.HasPrefix(name, "tests/") })
		for k, name := range names {
			names[k] = "`" + cmp.Or(name, ".") + "`"
		}
		if len(names) > 0 {
			fmt.Fprintf(&rows, "| %d | %s |\n", i, strings.Join(names, ", "))
		}
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
	require.Equal(t, rows.String(), was+"\n", "go test ./tests -run TestDrawing -update writes it again from the table")
}

func TestOwners(t *testing.T) {
	packages := listPackages(t)
	for _, o := range owners {
		within := func(path string) bool { return path == o.module || strings.HasPrefix(path, o.module+"/") }
		for name, p := range packages {
			if !slices.Contains(o.allow, name) {
				require.False(t, slices.ContainsFunc(p.Imports, within), "%s imports %s, which belongs to %v", name, o.module, o.allow)
			}
			if slices.Contains(o.barred, name) {
				require.False(t, slices.ContainsFunc(p.Deps, within), "%s links %s", name, o.module)
			}
		}
		for _, name := range o.allow {
			require.True(t, slices.ContainsFunc(packages[name].Imports, within), "%s may import %s and does not: take it out of owners", name, o.module)
		}
		for _, name := range o.barred {
			require.Contains(t, packages, name, "owners bars a package that is gone")
		}
	}
}

// TestSmall: what the gate links beside the parts it had before is small too, as
// starting is all it costs.
func TestSmall(t *testing.T) {
	packages := listPackages(t)
	for _, big := range []string{"fmt", "encoding/json", "encoding/binary", "reflect", "regexp", "net"} {
		require.NotContains(t, packages["policy/artifact"].Deps, big)
	}
}
