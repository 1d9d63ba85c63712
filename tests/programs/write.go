package programs

import (
	"os"
	"syscall"
)

// Write writes a program that is about to be run. A process that another test
// starts meanwhile would hold the file open for writing until it runs its own
// program, and the system runs no file that somebody may write ("text file
// busy"): none is started while the file is open.
func Write(path string, data []byte) error {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	return os.WriteFile(path, data, 0o755)
}
