//go:build linux || darwin || freebsd || netbsd

package artifact

import (
	"io/fs"
	"os"
	"syscall"
)

// exact is true where a Print holds a time that no program can set.
const exact = true

// look takes a file's print; a symbolic link counts, and so does where it leads.
func look(path string) Print {
	var st syscall.Stat_t
	switch err := syscall.Lstat(path, &st); err {
	case nil:
	case syscall.ENOENT, syscall.ENOTDIR:
		return Print{}
	default:
		return Print{Bad: true}
	}
	p := printOf(&st)
	if uint32(st.Mode)&syscall.S_IFMT != syscall.S_IFLNK {
		return p
	}
	var to syscall.Stat_t
	if syscall.Stat(path, &to) != nil {
		p.Bad = true
		return p
	}
	target := printOf(&to)
	target.Dev ^= p.Ino
	if p.Sec > target.Sec || p.Sec == target.Sec && p.Nsec > target.Nsec {
		target.Sec, target.Nsec = p.Sec, p.Nsec
	}
	return target
}

func printOf(st *syscall.Stat_t) Print {
	p := Print{Found: true, Folder: uint32(st.Mode)&syscall.S_IFMT == syscall.S_IFDIR,
		Dev: uint64(st.Dev), Ino: uint64(st.Ino), Size: int64(st.Size), Mode: uint32(st.Mode)}
	p.Sec, p.Nsec = changeTime(st)
	return p
}

// open opens a file for reading. os.Open would first see whether the file can be
// waited for, which takes a process that does nothing else as long as reading it.
func open(path string) (*os.File, error) {
	for {
		fd, err := syscall.Open(path, syscall.O_RDONLY|syscall.O_CLOEXEC|syscall.O_NONBLOCK, 0) // a pipe would hold it
		switch err {
		case nil:
			return os.NewFile(uintptr(fd), path), nil
		case syscall.EINTR:
			continue
		}
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
}
