//go:build !windows

package source

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

//go:noinline
func defaultManagedDir() string { return "/etc/hookc" }

// writtenByOthers is an error for a file that others than root and this user may
// have written.
func writtenByOthers(info fs.FileInfo) error {
	st, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case !ok || st.Uid != 0 && int(st.Uid) != os.Geteuid():
		return errors.New("it belongs to another user")
	case info.Mode().Perm()&0o022 != 0:
		return errors.New("others may write it")
	}
	return nil
}
