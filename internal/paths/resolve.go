package paths

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/hookc/hookc/internal/fault"
)

// Real is p, from base when relative, with every symbolic link followed. A path
// that does not exist yet is resolved as far as it exists.
func Real(p, base string) (string, error) {
	p, base = Slash(p), Slash(base)
	at, _ := Root(p)
	if at == "" {
		p = base + "/" + p
		at, _ = Root(p)
	}
	if at == "" || at[0] == '~' {
		return "", ErrUndefined
	}
	resolved, err := follow(filepath.FromSlash(p))
	if err != nil {
		return "", err
	}
	return filepath.ToSlash(resolved), nil
}

// maxLinks is how many symbolic links one path may lead through, as in Linux.
const maxLinks = 40

// follow resolves an absolute path part by part as the system would. `..` is
// taken after the links before it are followed, never in the text.
func follow(p string) (string, error) {
	volume := filepath.VolumeName(p)
	top := volume + string(filepath.Separator)
	done, todo := top, splitPath(p[len(volume):])
	for links := 0; len(todo) > 0; {
		part := todo[0]
		todo = todo[1:]
		if part == ".." {
			done = filepath.Dir(done)
			continue
		}
		next := filepath.Join(done, part)
		target, err := readLink(next)
		if err != nil {
			return "", err
		}
		if target == "" {
			done = next
			continue
		}
		if links++; links > maxLinks {
			return "", fault.Errorf("%s: too many symbolic links", p)
		}
		if filepath.IsAbs(target) {
			v := filepath.VolumeName(target)
			done, target = v+string(filepath.Separator), target[len(v):]
		}
		todo = append(splitPath(target), todo...)
	}
	return done, nil
}

// readLink is where the link at p points, "" when there is no link there.
func readLink(p string) (string, error) {
	info, err := os.Lstat(p)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return "", nil
	case err != nil:
		return "", err
	case info.Mode()&fs.ModeSymlink == 0:
		return "", nil
	}
	return os.Readlink(p)
}

func splitPath(p string) []string {
	var out []string
	start := 0
	for i := 0; i <= len(p); i++ {
		if i < len(p) && !os.IsPathSeparator(p[i]) {
			continue
		}
		if part := p[start:i]; part != "" && part != "." {
			out = append(out, part)
		}
		start = i + 1
	}
	return out
}

// ShownFrom is a path as people in a folder know it.
func ShownFrom(dir, path string) string {
	if rel, err := filepath.Rel(dir, path); err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return path
}
