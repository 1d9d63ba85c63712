package runner

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/hookc/hookc/policy"
)

func TestKinds(t *testing.T) {
	var names []string
	for _, k := range Kinds(Options{}) {
		names = append(names, string(k.Name))
		assert.NotNil(t, k.Prepare, k.Name)
		assert.NotEmpty(t, k.Doc, k.Name)
		assert.Positive(t, k.Timeout, k.Name)
		assert.Positive(t, k.Cost, k.Name)
		assert.NotEqual(t, policy.PostureUnset, k.OnGuard, k.Name)
		assert.NotEqual(t, policy.PostureUnset, k.OnOther, k.Name)
	}
	assert.Equal(t, policy.KindNames(), names)
}
