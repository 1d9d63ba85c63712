package witness

import (
	"os"
	"runtime/debug"
)

// CollectSeldom lets memory grow to six times what is held before it is collected, up
// to a gigabyte: for a command that ends soon. GOGC and GOMEMLIMIT hold where the user
// has set them.
func CollectSeldom() {
	if os.Getenv("GOGC") == "" && os.Getenv("GOMEMLIMIT") == "" {
		debug.SetGCPercent(500)
		debug.SetMemoryLimit(1 << 30)
	}
}
