package native

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestOwnBuiltins: each is there once, and found by its name.
func TestOwnBuiltins(t *testing.T) {
	names := Names()
	assert.Len(t, names, 87)
	assert.Equal(t, slices.Compact(slices.Clone(names)), names)
	for _, name := range names {
		own := ownBuiltin(name)
		require.NotNil(t, own, name)
		assert.Equal(t, name, own.name)
		assert.NotNil(t, own.call(), name)
		assert.Positive(t, own.arity, name)
	}
	assert.Nil(t, ownBuiltin("http.send").call())
	for _, name := range []string{"", "http.send", "count"} {
		assert.Nil(t, testerOf(name), name)
	}
}
