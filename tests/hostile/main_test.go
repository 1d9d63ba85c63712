package hostile

import (
	"os"
	"testing"

	"github.com/hookc/hookc/tests/depth"
	"github.com/hookc/hookc/tests/processes"
)

// TestMain: all cases of these tests take longer than the whole suite. They are
// tried where HOOKC_TEST_HOSTILE is "full"; a full run of the suite is "wide" here.
func TestMain(m *testing.M) {
	depth.Cap("HOOKC_TEST_HOSTILE")
	os.Exit(processes.Main(m))
}
