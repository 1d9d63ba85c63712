package tests

import (
	"os/exec"
	"testing"

	"github.com/hookc/hookc/tests/depth"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Importing hookc changes nothing of its host's own OPA: a program says the same
// of all of OPA's functions, and of very long numbers, with hookc beside it and
// without.
func TestHostsOPA(t *testing.T) {
	depth.NotShort(t)
	run := func(args ...string) string {
		out, err := exec.Command("go", append(append([]string{"run"}, args...), "./testdata/beside")...).CombinedOutput()
		require.NoError(t, err, string(out))
		return string(out)
	}
	alone := run()
	assert.Contains(t, alone, "n + 1 > 5 1 <nil>")
	assert.Contains(t, alone, "product([n, 2]) > 5 1 <nil>")
	assert.Equal(t, alone, run("-tags", "beside"))
}
