package decisionlog

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"time"
)

// Prune takes away what is older than is to be kept, and of what is larger the
// oldest; the last segment of a writer always stays. It compresses nothing.
func Prune(dir string, options Options) error {
	options = options.filled()
	list, err := segments(dir)
	if err != nil {
		return err
	}
	type aged struct {
		segment
		size int64
		at   time.Time
	}
	var old []aged
	var size int64
	for i, s := range list {
		info, err := os.Stat(filepath.Join(dir, s.name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		size += info.Size()
		if i+1 < len(list) && list[i+1].writer == s.writer {
			old = append(old, aged{s, info.Size(), info.ModTime()})
		}
	}
	sort.SliceStable(old, func(i, j int) bool { return old[i].at.Before(old[j].at) })
	for _, s := range old {
		if size <= options.KeepSize && options.Now().Sub(s.at) < options.KeepAge {
			break
		}
		if err := os.Remove(filepath.Join(dir, s.name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		size -= s.size
	}
	return nil
}
