package rego

import (
	"strings"
	"testing"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestCapabilities: OPA compiles, by the JSON alone, what calls hookc's functions, and
// neither what does not exist nor what is forbidden.
func TestCapabilities(t *testing.T) {
	c, err := ast.LoadCapabilitiesJSON(strings.NewReader(Capabilities()))
	require.NoError(t, err)
	for body, ok := range map[string]bool{
		`path.base(input.path) == "a"`:                             true,
		`startswith(input.command, "a")`:                           true,
		`path.base(1)`:                                             false,
		`path.unheard(input.path)`:                                 false,
		`http.send({"method": "get", "url": "a"}).status == "200"`: false,
	} {
		m, err := ast.ParseModule("a.rego", "package a\ndeny contains \"no\" if "+body)
		require.NoError(t, err)
		compiler := ast.NewCompiler().WithCapabilities(c)
		compiler.Compile(map[string]*ast.Module{"a.rego": m})
		assert.Equal(t, !ok, compiler.Failed(), "%s: %v", body, compiler.Errors)
	}
	for _, f := range functions().decls {
		assert.True(t, c.ContainsBuiltin(f.Name), f.Name)
	}
}
