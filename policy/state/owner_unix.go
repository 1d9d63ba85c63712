//go:build unix

package state

import (
	"io/fs"
	"os"
	"syscall"
)

// noFollow makes opening a lock file fail on a symbolic link.
const noFollow = syscall.O_NOFOLLOW

// ours reports whether a file belongs to this user or to root, who could
// change it anyway.
func ours(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && (int(st.Uid) == os.Geteuid() || st.Uid == 0)
}
