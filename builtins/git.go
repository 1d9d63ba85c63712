package builtins

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/hookc/hookc/policy"
)

// The git functions read the files of a repository; they start no process and
// do not look at the repository's configuration.

var _ = register(Func{
	Name: "git.branch", Params: []Param{param("dir")}, Result: str, World: policy.WorldRead,
	Call: func(args []any) (any, error) { return gitBranch(text(args[0])) },
	Doc:  "the branch checked out in the repository that dir is in; empty outside of one and when no branch is checked out",
	Examples: []Example{
		{Call: `git.branch("/")`, Want: ""},
	},
})

var _ = register(Func{
	Name: "git.root", Params: []Param{param("dir")}, Result: str, World: policy.WorldRead,
	Call: func(args []any) (any, error) {
		work, _, err := repository(text(args[0]))
		return filepath.ToSlash(work), err
	},
	Doc: "the top folder of the repository that dir is in; empty outside of one",
	Examples: []Example{
		{Call: `git.root("/")`, Want: ""},
	},
})

// headPrefix begins the HEAD of a repository with a branch checked out.
const headPrefix = "ref: refs/heads/"

func gitBranch(dir string) (any, error) {
	_, git, err := repository(dir)
	if err != nil || git == "" {
		return "", err
	}
	head, err := firstLine(filepath.Join(git, "HEAD"))
	if err != nil {
		return nil, err
	}
	branch, ok := strings.CutPrefix(head, headPrefix)
	if !ok {
		return "", nil
	}
	return branch, nil
}

// repository finds the work tree that dir is in and its git folder, which a
// worktree or a submodule names in a file. Both are empty outside of one.
func repository(dir string) (work, git string, err error) {
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
			line, err := firstLine(at)
			target, ok := strings.CutPrefix(line, "gitdir: ")
			if err != nil {
				return "", "", err
			}
			if !ok {
				return "", "", fmt.Errorf("%s is no git folder and names none", at)
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

func firstLine(path string) (string, error) {
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
	line, _, _ := strings.Cut(string(buf[:n]), "\n")
	return strings.TrimRight(line, "\r "), nil
}
