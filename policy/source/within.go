package source

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/trust"
)

var errOutside = errors.New("lies outside the project, which is not trusted: nothing there is read before `hookc trust`")

// Outside says why a file may not be read for in, nil where it may: nothing
// that a project names is read outside it before somebody agreed to that.
// Links count as what they lead to.
//
//go:noinline
func (f *File) Outside(path string) error { return outside(f.Within, path) }

func outside(root, path string) error {
	if root == "" {
		return nil
	}
	if !isBelow(root, path) {
		return errOutside
	}
	real, err := filepath.EvalSymlinks(path)
	switch {
	case errors.Is(err, fs.ErrNotExist), err == nil && isBelow(realPath(root), real):
		return nil
	case err != nil:
		return plainError(err)
	}
	return errOutside
}

// isBelow reports whether a path is a folder, or something in it.
func isBelow(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}

// shared says why a file or folder of shared Rego or data may not be read for
// in: everything in it stays inside as well, and there is not too much of it.
func (f *File) shared(path string) error {
	if f.Within == "" {
		return nil
	}
	left := usual.looked
	return filepath.WalkDir(path, func(at string, e fs.DirEntry, err error) error {
		if left--; left < 0 {
			return errGlobTooWide
		}
		if err != nil {
			return plainError(err)
		}
		if at != path && e.Type()&fs.ModeSymlink == 0 {
			return nil
		}
		return f.Outside(at)
	})
}

// boundary is the folder that reading what was found in a project may not
// leave: its root before consent, "" after it.
func boundary(root, profile string, found []Input) string {
	st := trust.Open(root).Consult(profile, consented(found))
	if st.Holds() {
		return ""
	}
	return root
}

// Boundary is the folder that reading a policy that was named may not leave, ""
// if there is none: the root of its project while nobody trusted that.
func Boundary(in Input) string {
	if !fromProject(in.Tier) || in.Content != nil {
		return ""
	}
	path := Absolute("", in.Path)
	root := policy.ProjectRoot(filepath.Dir(path))
	if !trust.IsProject(root) || trust.Open(root).Consult("", []trust.Input{{Path: path, Tier: in.Tier}}).Kind != trust.Never {
		return ""
	}
	return root
}

// Text reads a file within the bounds that the files of a policy have.
func (in *File) Text(path string) (string, error) {
	if err := in.Outside(path); err != nil {
		return "", err
	}
	info, err := os.Stat(path)
	if err != nil {
		return "", plainError(err)
	}
	return readRegular(path, info)
}

// readFolder lists a folder, sorted by name: a pipe in its place would wait for
// somebody to write to it.
func readFolder(path string) ([]fs.DirEntry, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, &fs.PathError{Op: "readdir", Path: path, Err: syscall.ENOTDIR}
	}
	return os.ReadDir(path)
}

// regularFile is the state of a path that is a regular file, nil for all else: a
// pipe or a device may never end.
func regularFile(path string) fs.FileInfo {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return nil
	}
	return info
}
