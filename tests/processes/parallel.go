package processes

import (
	"flag"
	"fmt"
	"testing"

	"github.com/hookc/hookc/tests/depth"
)

// sideBySide is how many tests of a package run at once that mostly wait: for
// processes, for a deadline, for a disk.
const sideBySide = "8"

// SideBySide makes more tests of a package run at once than there are cores.
// -parallel still decides. It is called by TestMain.
func SideBySide() {
	if err := flag.Set("test.parallel", sideBySide); err != nil {
		panic(err)
	}
}

// Main runs the tests of a package that looks at whole processes, side by side.
// With -short it runs none of them. It is called by TestMain.
func Main(m *testing.M) int {
	SideBySide()
	flag.Parse()
	if depth.Short() {
		fmt.Println("-short leaves out the tests of this package: they start processes")
		return 0
	}
	return m.Run()
}
