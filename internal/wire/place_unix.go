//go:build unix

package wire

import (
	"io/fs"
	"strconv"
	"syscall"
)

// headOf is the first n bytes of a file, or what there is of them.
func headOf(path string, n int) []byte {
	fd, err := syscall.Open(path, syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	defer syscall.Close(fd)
	out := make([]byte, n)
	if n, err = syscall.Pread(fd, out, 0); err != nil {
		return nil
	}
	return out[:n]
}

// fileID is the device and number of a file.
func fileID(info fs.FileInfo) string {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return ""
	}
	return strconv.FormatUint(uint64(st.Dev), 10) + "/" + strconv.FormatUint(st.Ino, 10)
}
