//go:build unix

package disk

import "golang.org/x/sys/unix"

// Look looks at a file or folder, through a symbolic link at what it leads to:
// where it leads counts, and so does the link.
func Look(path string) Print {
	var st unix.Stat_t
	switch err := unix.Lstat(path, &st); err {
	case nil:
	case unix.ENOENT, unix.ENOTDIR:
		return Print{state: missing}
	default:
		return Print{state: bad}
	}
	if uint32(st.Mode)&unix.S_IFMT != unix.S_IFLNK {
		return printOf(&st)
	}
	link := printOf(&st)
	var to unix.Stat_t
	if err := unix.Stat(path, &to); err != nil {
		link.state = bad
		return link
	}
	target := printOf(&to)
	target.dev ^= link.ino
	if link.sec > target.sec || link.sec == target.sec && link.nsec > target.nsec {
		target.sec, target.nsec = link.sec, link.nsec
	}
	return target
}

//go:noinline
func printOf(st *unix.Stat_t) Print {
	return Print{dev: uint64(st.Dev), ino: st.Ino, size: st.Size, sec: int64(st.Ctim.Sec), nsec: int64(st.Ctim.Nsec),
		mode: uint32(st.Mode), state: there}
}
