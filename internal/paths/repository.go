package paths

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/hookc/hookc/internal/fault"
	"github.com/hookc/hookc/internal/spell"
)

// Repository finds the work tree that dir is in and its git folder, which a
// worktree or a submodule names in a file. Both are empty outside of one.
func Repository(dir string) (work, git string, err error) {
	dir = filepath.FromSlash(dir)
	if !filepath.IsAbs(dir) {
		return "", "", ErrUndefined // relative to what?
	}
	for dir = filepath.Clean(dir); ; dir = filepath.Dir(dir) {
		at := filepath.Join(dir, ".git")
		info, err := os.Stat(at)
		switch {
		case err == nil && info.IsDir():
			return dir, at, nil
		case err == nil && info.Mode().IsRegular():
			line, err := FirstLine(at)
			target, ok := spell.CutPrefix(line, "gitdir: ")
			if err != nil {
				return "", "", err
			}
			if !ok {
				return "", "", fault.Errorf("%s is no git folder and names none", at)
			}
			if !filepath.IsAbs(target) {
				target = filepath.Join(dir, target)
			}
			return dir, target, nil
		case err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR):
			return "", "", err
		case dir == filepath.Dir(dir):
			return "", "", nil
		}
	}
}

// maxHead bounds what is read of a file that holds one line.
const maxHead = 4096

// FirstLine is the first line of a file, at most 4 KiB of it.
func FirstLine(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	buf := make([]byte, maxHead)
	n, err := f.Read(buf)
	if n == 0 && err != nil && err != io.EOF {
		return "", err
	}
	line, _, _ := spell.Cut(string(buf[:n]), "\n")
	return strings.TrimRight(line, "\r "), nil
}

// Marked reports whether a folder is marked as the root of a project, by .git or .hookc.
func Marked(dir string) bool {
	for _, mark := range []string{".git", ".hookc"} {
		if _, err := os.Lstat(filepath.Join(dir, mark)); err == nil {
			return true
		}
	}
	return false
}
