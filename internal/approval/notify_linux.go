package approval

import (
	"os"
	"syscall"
)

// notify tells of every change in a folder; nil where the folder cannot be watched. What
// changed is not said, and several changes may be one.
func notify(dir string) (<-chan struct{}, func()) {
	fd, err := syscall.InotifyInit1(syscall.IN_CLOEXEC | syscall.IN_NONBLOCK)
	if err != nil {
		return nil, func() {}
	}
	if _, err := syscall.InotifyAddWatch(fd, dir, syscall.IN_MOVED_TO|syscall.IN_CREATE|syscall.IN_DELETE|syscall.IN_ONLYDIR); err != nil {
		_ = syscall.Close(fd)
		return nil, func() {}
	}
	news, changed := os.NewFile(uintptr(fd), "inotify"), make(chan struct{}, 1)
	go func() {
		var events [4096]byte
		for {
			if _, err := news.Read(events[:]); err != nil {
				return
			}
			select {
			case changed <- struct{}{}:
			default:
			}
		}
	}()
	return changed, func() { _ = news.Close() }
}
