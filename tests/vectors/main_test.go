package vectors

import (
	"os"
	"testing"

	"github.com/hookc/hookc/tests/processes"
)

func TestMain(m *testing.M) { os.Exit(processes.Main(m)) }
