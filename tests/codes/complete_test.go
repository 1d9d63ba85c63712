package codes

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/hookc/hookc/policy/diag"
)

// TestCodesAreComplete: every code explains itself, and has examples or says why it has none.
// Their texts are in policy/diag/codes.txt, away from where a code is defined.
func TestCodesAreComplete(t *testing.T) {
	for _, c := range diag.Codes() {
		assert.NotEmpty(t, c.Help, c.ID)
		assert.Equal(t, c.NoExample == "", c.Bad != "", c.ID)
		assert.Equal(t, c.NoExample == "", c.Good != "", c.ID)
	}
}
