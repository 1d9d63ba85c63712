package rego

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/rego/native"
)

// builtinsGolden is the table of OPA's builtins by who answers them: native
// (in every process), host (OPA's own, called by the resident engine), topdown
// (the whole rule).
const builtinsGolden = "testdata/builtins.txt"

// TestNativeBuiltinTable: the table is what the registries say.
func TestNativeBuiltinTable(t *testing.T) {
	own := native.Names()
	require.True(t, slices.IsSorted(own))
	var lines []string
	for _, b := range ast.Builtins {
		engine := "host"
		switch {
		case slices.Contains(own, b.Name):
			engine = "native"
		case unfitBuiltin(b.Name) != "":
			engine = "topdown"
		}
		lines = append(lines, fmt.Sprintf("%-8s %s\n", engine, b.Name))
	}
	slices.Sort(lines)
	got := strings.Join(lines, "")
	if *update {
		require.NoError(t, os.WriteFile(builtinsGolden, []byte(got), 0o644))
	}
	want, err := os.ReadFile(builtinsGolden)
	require.NoError(t, err)
	require.Equal(t, string(want), got)
}
