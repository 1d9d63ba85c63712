package bash

import (
	"os"
	"testing"

	"github.com/hookc/hookc/tests/depth"
)

// TestMain: all runs in the jail are made where HOOKC_TEST_JAIL is set.
func TestMain(m *testing.M) {
	depth.Cap("HOOKC_TEST_JAIL")
	os.Exit(m.Run())
}
