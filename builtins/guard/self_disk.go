package guard

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/hookc/hookc/internal/paths"
)

//go:noinline
func exists(p string) bool {
	_, err := os.Lstat(filepath.FromSlash(p))
	return err == nil
}

// linked returns the part of hookc that is the same file as p under another
// name.
func (o *selfParts) linked(p string) (string, bool) {
	info, err := os.Stat(filepath.FromSlash(p))
	if err != nil || !info.Mode().IsRegular() || !manyNames(info) {
		return "", false
	}
	for _, f := range o.files {
		if own, err := os.Stat(filepath.FromSlash(f)); err == nil && os.SameFile(info, own) {
			return f, true
		}
	}
	return "", false
}

// isProgram reports whether a path is hookc or hookgate: by its name, through
// links, or as a copy.
func (o *selfParts) isProgram(p string) bool {
	if isOwnName(p) {
		return true
	}
	real, err := filepath.EvalSymlinks(filepath.FromSlash(p))
	if err != nil {
		return false
	}
	if isOwnName(real) {
		return true
	}
	info, err := os.Stat(real)
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	for _, f := range o.programs {
		own, err := os.Stat(filepath.FromSlash(f))
		if err == nil && (os.SameFile(info, own) || info.Size() == own.Size() && sameEnds(real, f, info.Size())) {
			return true
		}
	}
	return false
}

// isOwnName reports whether a program is called hookc or hookgate.
func isOwnName(p string) bool {
	base := strings.TrimSuffix(strings.ToLower(filepath.Base(filepath.FromSlash(paths.Slash(p)))), ".exe")
	return base == "hookc" || base == "hookgate"
}

// sameEnds compares the beginning, the middle and the end of two files of one
// size.
func sameEnds(a, b string, size int64) bool {
	fa, err := os.Open(a)
	if err != nil {
		return false
	}
	defer fa.Close()
	fb, err := os.Open(b)
	if err != nil {
		return false
	}
	defer fb.Close()
	const part = 4 << 10
	for _, at := range []int64{0, size / 2, max(size-part, 0)} {
		var x, y [part]byte
		n, errA := fa.ReadAt(x[:], at)
		m, errB := fb.ReadAt(y[:], at)
		if errA != nil && errA != io.EOF || errB != nil && errB != io.EOF || !bytes.Equal(x[:n], y[:m]) {
			return false
		}
	}
	return size > 0
}

// maxScript is the longest script that is read before it runs.
const maxScript = 256 << 10

// scriptText is a script that a command would run; false for what is none.
func scriptText(p string) (string, bool) {
	info, err := os.Stat(filepath.FromSlash(p))
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxScript {
		return "", false
	}
	data, err := os.ReadFile(filepath.FromSlash(p))
	if err != nil || bytes.IndexByte(data, 0) >= 0 {
		return "", false
	}
	return string(data), true
}
