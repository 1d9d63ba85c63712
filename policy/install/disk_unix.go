//go:build unix

package install

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// sameOwner gives a file the owner of the one it replaces. Whoever may not do
// that may not have to: the file is theirs, or the group is.
func sameOwner(f *os.File, old fs.FileInfo) error {
	st, ok := old.Sys().(*syscall.Stat_t)
	if !ok || int(st.Uid) == os.Geteuid() && int(st.Gid) == os.Getegid() {
		return nil
	}
	err := f.Chown(int(st.Uid), int(st.Gid))
	if errors.Is(err, fs.ErrPermission) && int(st.Uid) == os.Geteuid() {
		return nil
	}
	return err
}

// syncFolder makes a rename survive a power failure.
func syncFolder(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
