package scripts

import (
	"os"
	"testing"

	"github.com/hookc/hookc/tests/processes"
)

func TestMain(m *testing.M) {
	processes.SideBySide() // scripts wait for files to be old enough, and for servers
	os.Exit(m.Run())
}
