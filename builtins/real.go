package builtins

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/hookc/hookc/policy"
)

// The `_real` functions look at the disk: they follow symbolic links, which
// the lexical functions cannot. A path that does not exist yet is resolved as
// far as it exists, a dangling link to where it points, so that the answer is
// where a write would land.

var _ = register(Func{
	Name: "path.real", Params: []Param{param("p"), param("base")}, Result: str, World: policy.WorldRead,
	Call: func(args []any) (any, error) { return realPath(text(args[0]), text(args[1])) },
	Doc:  "p, from base when relative, with every symbolic link followed; parts that do not exist are kept",
	Examples: []Example{
		{Call: `path.real("/", "/")`, Want: "/"},
	},
})

var _ = register(Func{
	Name: "path.within_real", Params: []Param{param("p"), param("root")}, Result: policy.BoolType, World: policy.WorldRead,
	Call: func(args []any) (any, error) { return withinReal(text(args[0]), text(args[1])) },
	Doc:  "whether p, from root when relative, is root or lies below it once every symbolic link is followed",
	Examples: []Example{
		{Call: `path.within_real("/", "/")`, Want: true},
	},
})

func realPath(p, base string) (any, error) {
	p, base = slashed(p), slashed(base)
	at, _ := root(p)
	if at == "" {
		p = base + "/" + p
		at, _ = root(p)
	}
	if at == "" || at[0] == '~' {
		return nil, ErrUndefined
	}
	resolved, err := follow(filepath.FromSlash(p))
	if err != nil {
		return nil, err
	}
	return filepath.ToSlash(resolved), nil
}

func withinReal(p, dir string) (any, error) {
	resolved, err := realPath(p, dir)
	if err != nil {
		return nil, err
	}
	resolvedDir, err := realPath(dir, dir)
	if err != nil {
		return nil, err
	}
	return lexicalWithin(resolved.(string), resolvedDir.(string))
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
			return "", fmt.Errorf("%s: too many symbolic links", p)
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
