package paths

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
)

// Program finds a program in PATH, which the environment sets: not in one of the folders,
// nor in a project around one, behind links too. What holds the system's programs or the
// account's home is none of these.
func Program(name string, folders ...string) (string, error) {
	var barred []string
	for _, dir := range folders {
		for _, at := range []string{filepath.Clean(dir), realPath(dir)} {
			for first := at; at != filepath.Dir(at); at = filepath.Dir(at) {
				if (at == first || Marked(at)) && !isBelow("/usr/bin", at) && !isBelow(Account(), at) {
					barred = append(barred, at)
				}
			}
		}
	}
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		if !filepath.IsAbs(dir) || slices.ContainsFunc(barred, func(at string) bool { return isBelow(dir, at) || isBelow(realPath(dir), at) }) {
			continue
		}
		if found, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
			return found, nil
		}
	}
	return "", &exec.Error{Name: name, Err: exec.ErrNotFound}
}

func realPath(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return filepath.Clean(path)
}

// isBelow reports whether a path is dir or lies below it.
func isBelow(path, dir string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}
