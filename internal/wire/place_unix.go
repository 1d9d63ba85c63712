//go:build unix

package wire

import (
	"io/fs"
	"strconv"
	"syscall"
)

// fileID is the device and number of a file.
func fileID(info fs.FileInfo) string {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return ""
	}
	return strconv.FormatUint(uint64(st.Dev), 10) + "/" + strconv.FormatUint(st.Ino, 10)
}
