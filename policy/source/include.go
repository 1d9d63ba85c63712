package source

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/hookc/hookc/internal/lists"
)

var errGlobTooWide = errors.New("the glob looks at too many files")

// includeGlob is the files that a glob matches, sorted, and the folders in which
// a file that it matches may come to be, or such a folder: all that are there
// below the part of it that is no pattern. It looks at no more than the most
// files and folders.
func includeGlob(glob string, most int, more ...doublestar.GlobOption) (files, folders []string, err error) {
	base, rest := doublestar.SplitPattern(filepath.ToSlash(glob))
	base = filepath.FromSlash(base)
	disk := &boundedFS{FS: os.DirFS(base), left: most}
	found, err := doublestar.Glob(disk, rest, append(more, doublestar.WithFilesOnly())...)
	if err != nil {
		return nil, nil, err
	}
	for _, f := range found {
		files = append(files, filepath.Join(base, filepath.FromSlash(f)))
	}
	lists.Sort(files)
	folders = []string{base}
	if strings.ContainsAny(rest, "/") || strings.Contains(rest, "**") {
		folders = append(folders, disk.below(base, most)...)
	}
	if disk.over {
		return nil, nil, errGlobTooWide
	}
	return files, folders, nil
}

// glob is includeGlob of what may be read for in.
func (in *File) glob(glob string, most int) (files, folders []string, err error) {
	base, _ := doublestar.SplitPattern(filepath.ToSlash(glob))
	if err := in.Outside(filepath.FromSlash(base)); err != nil {
		return nil, nil, err
	}
	if in.Within != "" {
		return includeGlob(glob, most, doublestar.WithNoFollow())
	}
	return includeGlob(glob, most)
}

// boundedFS is a file system of which only so much is looked at.
type boundedFS struct {
	fs.FS
	left int
	over bool
}

// Stat is what fs.Stat asks: without it a file is opened, and a pipe would wait
// for somebody to write to it.
func (b *boundedFS) Stat(name string) (fs.FileInfo, error) { return fs.Stat(b.FS, name) }

// ReadDir is what fs.ReadDir asks; nothing once too much was looked at.
func (b *boundedFS) ReadDir(name string) ([]fs.DirEntry, error) {
	if b.over {
		return nil, nil
	}
	entries, err := fs.ReadDir(b.FS, name)
	if b.left -= 1 + len(entries); b.left < 0 {
		b.over = true
		return nil, nil
	}
	return entries, err
}

// below lists the folders below base, and looks at no more than left.
func (b *boundedFS) below(base string, left int) (out []string) {
	_ = filepath.WalkDir(base, func(at string, e fs.DirEntry, err error) error {
		left--
		switch {
		case b.over || left < 0:
			b.over = true
			return fs.SkipAll
		case err != nil:
			return fs.SkipDir // what cannot be looked into matches nothing
		case at != base && e.IsDir():
			out = append(out, at)
		}
		return nil
	})
	return out
}
