// Package tests is the black box: scripts, laws, the oracle, vectors, and the
// tables that hold the house together.
package tests

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const module = "github.com/hookc/hookc"

// layers is the dependency rule: a package imports only packages of lower
// layers. Packages of one layer do not import each other.
var layers = map[string]int{
	"policy/diag":         0,
	"policy/artifact":     0,
	"policy/digits":       -2,
	"policy/glyph":        -2,
	"rego/bounds":         -1,
	"rego/native":         0,
	"policy":              1,
	"policy/state":        1,
	"policy/disk":         1,
	"dag":                 2,
	"internal/paths":      0,
	"builtins/shell":      1,
	"builtins":            2,
	"policy/agent":        2,
	"policy/pattern":      2,
	"policy/trust":        2,
	"rego":                3,
	"dag/codec":           3,
	"policy/format":       3,
	"compiler/lint":       3,
	"compiler":            4,
	"executor":            4,
	"executor/runner":     4,
	"policy/install":      4,
	"":                    5,
	"cmd/hookc/model":     5,
	"cmd/hookc/gatetable": 5,
	"cmd/hookc/diff":      5,
	"cmd/hookc":           6,
	"internal/wire":       0,
	"cmd/hookgate/cold":   0,
	"cmd/hookgate/rules":  1,
	"cmd/hookgate":        6,
	"tests":               6,
	"tests/agents":        6,
	"tests/codes":         6,
	"tests/depth":         5,
	"tests/faults":        6,
	"tests/gate":          6,
	"tests/laws":          6,
	"tests/processes":     5,
	"tests/programs":      5,
	"tests/reload":        6,
	"tests/scripts":       6,
	"tests/vectors":       5,
	"tests/bench":         6,
	"tests/fuzz":          6,
	"tests/weight":        6,
	"tests/hostile":       6,
	"tests/guard":         6,
	"tests/guard/bash":    6,
	"tests/gen/bench":     6,
	"tests/gen/schema":    6,
	"tests/gen/secrets":   6,
	"tests/gen/commands":  6,
}

// stdOnly lists the packages that import nothing but the standard library and
// lower layers.
var stdOnly = []string{"policy/diag", "policy/artifact", "policy", "policy/agent", "internal/wire", "cmd/hookgate/cold", "cmd/hookgate/rules", "cmd/hookgate", "rego/native", "rego/bounds", "policy/digits", "policy/glyph"}

// owners says which packages may import a module; everything else must not,
// and those in barred must not even link it.
var owners = []struct {
	module string
	allow  []string
	barred []string
}{
	{"github.com/open-policy-agent/opa", []string{"rego"}, []string{"compiler", "compiler/lint", "dag", "policy/format", "executor"}},
	{"github.com/expr-lang/expr", []string{"executor/runner"}, []string{"compiler", "compiler/lint", "dag", "policy/format", "executor"}},
	{"gopkg.in/yaml.v3", []string{"policy/format"}, nil},
	{"github.com/pelletier/go-toml/v2", []string{"policy/format", "tests/gen/secrets"}, nil},
	{"go.yaml.in/yaml", nil, nil}, // OPA's; one YAML reader is enough
	{"mvdan.cc/sh/v3", []string{"builtins/shell"}, []string{"compiler", "executor"}},
	{"github.com/tailscale/hujson", []string{"policy/install"}, []string{"", "policy/format"}},
	{"github.com/spf13/cobra", []string{"cmd/hookc"}, []string{"", "compiler", "executor"}},
}

type goPackage struct {
	ImportPath string
	Imports    []string
	Deps       []string
}

func listPackages(t *testing.T) map[string]goPackage {
	t.Helper()
	out, err := exec.Command("go", "list", "-json=ImportPath,Imports,Deps", module+"/...").Output()
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
	for name, p := range listPackages(t) {
		layer, known := layers[name]
		require.True(t, known, "package %q has no layer: put it in the table on purpose", name)
		for _, imp := range p.Imports {
			if imp != module && !strings.HasPrefix(imp, module+"/") {
				thirdParty := strings.Contains(strings.Split(imp, "/")[0], ".")
				require.False(t, thirdParty && slices.Contains(stdOnly, name), "%s imports %s", name, imp)
				continue
			}
			require.Less(t, layers[local(imp)], layer, "%s imports %s, which is not below it", name, local(imp))
		}
	}
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
