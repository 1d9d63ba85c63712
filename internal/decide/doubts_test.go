package decide

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/hookc/hookc/rego"
)

// What was found wrong once is so for the next process, without the secrets of the
// event that showed it.
func TestDoubtsOutlastAProcess(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	assert.Empty(t, OpenDoubts().Lines())
	OpenDoubts().Report(rego.Difference{
		Hook: "push", Code: "c0de", Module: "package push", Native: "none go", Topdown: "deny go, no",
		Event: map[string]any{"command": "aws configure set key AKIAIQKWP5GZ7ZRNLOEV"},
	})
	d := OpenDoubts()
	assert.Len(t, d.Lines(), 1)
	assert.Contains(t, d.Lines()[0], "push: its native code was wrong on ")
	one := d.load()["c0de"]
	assert.Equal(t, map[string]any{"command": "aws configure set key [aws-access-token]"}, one.Event)
	assert.Equal(t, "package push", one.Module)
	assert.Equal(t, map[string]string{"c0de": "push"}, d.Eyes(false).Rejected())
}
