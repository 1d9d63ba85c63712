package paths

import (
	"os"
	"os/exec"
	"path/filepath"
)

// Program finds a program in PATH, which the environment sets: not in one of the folders,
// nor in a project around one, behind links too. What holds the system's programs or the
// account's home is none of these.
func Program(name string, folders ...string) (string, error) {
	for _, folder := range folders {
		folders = append(folders, realPath(folder))
	}
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		if !filepath.IsAbs(dir) || barred(dir, folders) || barred(realPath(dir), folders) {
			continue
		}
		if found, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
			return found, nil
		}
	}
	return "", exec.ErrNotFound
}

func barred(dir string, folders []string) bool {
	for _, folder := range folders {
		for at := filepath.Clean(folder); at != filepath.Dir(at); at = filepath.Dir(at) {
			if isBelow(dir, at) && (at == filepath.Clean(folder) || Marked(at)) && !isBelow("/usr/bin", at) && !isBelow(Account(), at) {
				return true
			}
		}
	}
	return false
}

func realPath(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return filepath.Clean(path)
}

// isBelow reports whether a path is dir or lies below it.
//
//go:noinline
func isBelow(path, dir string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}
