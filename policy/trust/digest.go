package trust

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/hookc/hookc/policy"
)

// What one consent may cover. A policy that names more is not a policy but a
// tree of sources; it stays untrusted.
const (
	maxFiles = 10_000
	maxBytes = 256 << 20
)

// entry is one covered file: what it is, what is in it, whether it can be
// executed. A folder is its listing, so that a file added to it shows; a
// symbolic link is where it points and what is there.
type entry struct {
	Path   string `json:"path"`
	Kind   string `json:"kind"`
	Link   string `json:"link,omitempty"`
	Exec   bool   `json:"exec,omitempty"`
	SHA256 string `json:"sha256,omitempty"`
}

// digest reads every file the sources name, each once, sorted by path. A file
// that is not there is an entry of its own kind: it becoming one is a change.
func digest(root string, files []policy.SourceFile) ([]entry, error) {
	d := digester{roots: []string{root}, seen: map[string]bool{}}
	if target, err := filepath.EvalSymlinks(root); err == nil && target != root {
		d.roots = append(d.roots, target)
	}
	for _, f := range files {
		if err := d.add(f.Path); err != nil {
			return nil, err
		}
		for _, used := range f.Uses {
			if err := d.add(used); err != nil {
				return nil, err
			}
		}
	}
	slices.SortFunc(d.entries, func(a, b entry) int { return cmp.Compare(a.Path, b.Path) })
	return d.entries, nil
}

type digester struct {
	roots   []string // as spelled, and the real one
	seen    map[string]bool
	entries []entry
	bytes   int64
}

func (d *digester) add(path string) error {
	path = filepath.Clean(path)
	if d.seen[path] {
		return nil
	}
	d.seen[path] = true
	if len(d.entries) == maxFiles {
		return fmt.Errorf("the policy names more than %d files", maxFiles)
	}
	e := entry{Path: d.name(path)}
	info, err := os.Lstat(path)
	if err == nil && info.Mode()&fs.ModeSymlink != 0 {
		if e.Link, err = os.Readlink(path); err != nil {
			return fmt.Errorf("%s cannot be read: %w", e.Path, err)
		}
		info, err = os.Stat(path)
	}
	switch {
	case missing(err):
		e.Kind, err = "missing", nil
	case err != nil:
	case info.IsDir():
		return d.folder(path, e)
	case info.Mode().IsRegular():
		e.Kind, e.Exec = "file", info.Mode()&0o111 != 0
		e.SHA256, err = d.content(path)
	default:
		return fmt.Errorf("%s is neither a file nor a folder", e.Path)
	}
	if err != nil {
		return fmt.Errorf("%s cannot be read: %w", e.Path, err)
	}
	d.entries = append(d.entries, e)
	return nil
}

// missing reports whether there is no such file, which a path through a file
// in the place of a folder also means.
func missing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// folder adds a folder's listing and all that is in it. A folder that links
// lead to again is followed once: its real path is what has been seen.
func (d *digester) folder(path string, e entry) error {
	e.Kind = "folder"
	listing, err := os.ReadDir(path) // sorted by name
	if err != nil {
		return fmt.Errorf("%s cannot be read: %w", e.Path, err)
	}
	sum := sha256.New()
	for _, item := range listing {
		fmt.Fprintf(sum, "%q\n", item.Name())
	}
	e.SHA256 = hex.EncodeToString(sum.Sum(nil))
	d.entries = append(d.entries, e)
	if e.Link != "" {
		target, err := filepath.EvalSymlinks(path)
		if err != nil {
			return fmt.Errorf("%s cannot be read: %w", e.Path, err)
		}
		return d.add(target)
	}
	for _, item := range listing {
		if err := d.add(filepath.Join(path, item.Name())); err != nil {
			return err
		}
	}
	return nil
}

func (d *digester) content(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	sum := sha256.New()
	n, err := io.Copy(sum, io.LimitReader(f, maxBytes-d.bytes+1))
	if err != nil {
		return "", err
	}
	if d.bytes += n; d.bytes > maxBytes {
		return "", fmt.Errorf("the policy names more than %d MiB of files", maxBytes>>20)
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// name is a path as people and the record see it: relative to the root, with
// slashes, where it lies in it.
func (d *digester) name(path string) string {
	for _, root := range d.roots {
		if rel, err := filepath.Rel(root, path); err == nil && filepath.IsLocal(rel) {
			return filepath.ToSlash(rel)
		}
	}
	return filepath.ToSlash(path)
}

// difference lists the paths whose entries differ between two sorted lists.
func difference(old, now []entry) []string {
	before := make(map[string]entry, len(old))
	for _, e := range old {
		before[e.Path] = e
	}
	var out []string
	for _, e := range now {
		if was, ok := before[e.Path]; !ok || was != e {
			out = append(out, e.Path)
		}
		delete(before, e.Path)
	}
	for path := range before {
		out = append(out, path)
	}
	slices.Sort(out)
	return out
}
