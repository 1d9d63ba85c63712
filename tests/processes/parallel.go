package processes

import (
	"flag"
	"testing"
)

// sideBySide is how many tests of a package run at once that mostly wait: for
// processes, for a deadline, for a disk.
const sideBySide = "8"

// Main runs the tests of such a package, more of them side by side than there
// are cores. -parallel still decides. It is called by TestMain.
func Main(m *testing.M) int {
	if err := flag.Set("test.parallel", sideBySide); err != nil {
		panic(err)
	}
	return m.Run()
}
