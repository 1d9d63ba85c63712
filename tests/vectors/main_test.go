package vectors

import (
	"os"
	"testing"

	"github.com/hookc/hookc/tests/processes"
)

func TestMain(m *testing.M) {
	processes.SideBySide()
	os.Exit(m.Run())
}
