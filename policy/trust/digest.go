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
	"sort"
	"syscall"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/hookc/hookc/internal/fault"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy"
)

// What one consent may cover. A policy that names more is not a policy but a
// tree of sources; it stays untrusted.
const (
	maxFiles = 10_000
	maxBytes = 256 << 20
)

// entry is one covered file: what it is, what is in it, whether it can be
// executed. A folder and a glob are their listing, so that a file added to
// them shows; a symbolic link is where it points and what is there.
type entry struct {
	Path   string   `json:"path"`
	Kind   string   `json:"kind"`
	Link   string   `json:"link,omitempty"`
	Exec   bool     `json:"exec,omitempty"`
	SHA256 string   `json:"sha256,omitempty"`
	Names  []string `json:"names,omitempty"`
}

const (
	kindFile    = "file"
	kindFolder  = "folder"
	kindMissing = "missing"
	kindGlob    = "glob"
)

// same reports whether two entries of one path are alike. Records of an older
// hookc have no names.
func (e *entry) same(o *entry) bool {
	return e.Kind == o.Kind && e.Link == o.Link && e.Exec == o.Exec && e.SHA256 == o.SHA256
}

// digester reads every file that sources name, each once.
type digester struct {
	root  string
	kept  *keeper
	seen  map[string]entry
	bytes int64
	// files are those of the part under way.
	files map[string]entry
}

func newDigester(root string, k *keeper) *digester {
	return &digester{root: root, kept: k, seen: map[string]entry{}}
}

// part lists what sources consist of, sorted by path. A file that is not there
// is an entry of its own kind: it becoming one is a change.
func (d *digester) part(sources []policy.SourceFile) ([]entry, error) {
	d.files = map[string]entry{}
	for _, f := range sources {
		for _, path := range append([]string{f.Path}, f.Uses...) {
			if err := d.add(path); err != nil {
				return nil, err
			}
		}
		for _, pattern := range f.Globs {
			e, err := globbed(name(d.root, pattern), pattern)
			if err != nil {
				return nil, err
			}
			d.files[e.Path+"\x00"] = e
		}
	}
	out := make([]entry, 0, len(d.files))
	for _, e := range d.files {
		out = append(out, e)
	}
	sort.Slice(out, func(i, j int) bool {
		return lists.First(cmp.Compare(out[i].Path, out[j].Path), cmp.Compare(out[i].Kind, out[j].Kind)) < 0
	})
	return out, nil
}

func (d *digester) add(path string) error {
	path = filepath.Clean(path)
	if _, done := d.files[path]; done {
		return nil
	}
	if len(d.files) == maxFiles {
		return fault.Errorf("the policy names more than %d files", maxFiles)
	}
	e, known := d.seen[path]
	if !known {
		var err error
		if e, err = d.read(path); err != nil {
			return fault.Errorf("%s cannot be read: %w", name(d.root, path), err)
		}
		d.seen[path] = e
	}
	d.files[path] = e
	if e.Link != "" {
		// What a link leads to is covered on its own: an interpreter looks beside it
		// for what it imports.
		if target, err := filepath.EvalSymlinks(path); err == nil {
			return d.add(target)
		}
		return nil
	}
	for _, item := range e.Names {
		if err := d.add(filepath.Join(path, item)); err != nil {
			return err
		}
	}
	return nil
}

// read looks at one path and keeps a copy of what is there.
func (d *digester) read(path string) (entry, error) {
	var to io.Writer = io.Discard
	e, err := look(name(d.root, path), path, func(e *entry) (io.Writer, error) {
		if d.kept == nil {
			return to, nil
		}
		return d.kept.file(path, e)
	}, maxBytes-d.bytes, &d.bytes)
	if err != nil {
		return e, err
	}
	if d.kept != nil {
		if err := d.kept.settle(path, &e); err != nil {
			return e, err
		}
	}
	return e, nil
}

// look is what stands at a path. The content of a file is read from the very
// file that is looked at, and goes to the writer that to gives for it.
func look(called, path string, to func(*entry) (io.Writer, error), limit int64, read *int64) (entry, error) {
	e := entry{Path: called, Kind: kindMissing}
	info, err := os.Lstat(path)
	if err == nil && info.Mode()&fs.ModeSymlink != 0 {
		if e.Link, err = os.Readlink(path); err != nil {
			return e, err
		}
		info, err = os.Stat(path)
	}
	switch {
	case missing(err):
		return e, nil
	case err != nil:
		return e, err
	case info.IsDir():
		return e, e.list(path)
	case !info.Mode().IsRegular():
		return e, errors.New("it is neither a file nor a folder")
	}
	f, err := os.OpenFile(path, os.O_RDONLY|noWait, 0) // a pipe may stand there by now
	if err != nil {
		return e, err
	}
	defer f.Close()
	if info, err = f.Stat(); err != nil || !info.Mode().IsRegular() {
		return e, errors.Join(err, errors.New("it is no file any more"))
	}
	e.Kind, e.Exec = kindFile, info.Mode()&0o111 != 0
	w, err := to(&e)
	if err != nil {
		return e, err
	}
	sum := sha256.New()
	n, err := io.Copy(io.MultiWriter(sum, w), io.LimitReader(f, limit+1))
	if err != nil {
		return e, err
	}
	if *read += n; n > limit {
		return e, fault.Errorf("the policy names more than %d MiB of files", maxBytes>>20)
	}
	e.SHA256 = hex.EncodeToString(sum.Sum(nil))
	return e, nil
}

// list makes the entry that of a folder.
func (e *entry) list(path string) error {
	listing, err := os.ReadDir(path) // sorted by name
	if err != nil {
		return err
	}
	e.Kind = kindFolder
	for _, item := range listing {
		e.Names = append(e.Names, item.Name())
	}
	e.SHA256 = listed(e.Names)
	return nil
}

func listed(names []string) string {
	sum := sha256.New()
	for _, n := range names {
		fmt.Fprintf(sum, "%q\n", n)
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// globbed is the entry of a pattern of file names: what matches it.
func globbed(called, pattern string) (entry, error) {
	matches, err := doublestar.FilepathGlob(pattern, doublestar.WithFilesOnly())
	if err != nil {
		return entry{}, err
	}
	lists.Sort(matches)
	base, _ := doublestar.SplitPattern(filepath.ToSlash(pattern))
	e := entry{Path: called, Kind: kindGlob}
	for _, m := range matches {
		e.Names = append(e.Names, name(filepath.FromSlash(base), m))
	}
	e.SHA256 = listed(e.Names)
	return e, nil
}

// missing reports whether there is no such file, which a path through a file
// in the place of a folder also means.
func missing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// changes lists the recorded paths that are not as they were: by name, what is
// new in a folder by its own.
func changes(root string, files []entry) []string {
	var out []string
	var bytes int64
	known := map[string]bool{}
	for i := range files {
		known[files[i].Path] = true
	}
	for i := range files {
		e := &files[i]
		path := place(root, e.Path)
		var now entry
		var err error
		if e.Kind == kindGlob {
			now, err = globbed(e.Path, path)
		} else {
			now, err = look(e.Path, path, func(*entry) (io.Writer, error) { return io.Discard, nil }, maxBytes, &bytes)
		}
		if err == nil && e.same(&now) {
			continue
		}
		fresh := newNames(root, e, &now)
		fresh = lists.DeleteFunc(fresh, func(n string) bool { return known[n] })
		switch {
		case len(fresh) > 0:
			out = append(out, fresh...)
		case e.Kind == kindGlob: // what is gone is an entry of its own
		default:
			out = append(out, e.Path)
		}
	}
	return lists.Distinct(out)
}

// newNames are the paths that a listing has and did not have.
func newNames(root string, was, now *entry) []string {
	if was.Kind != now.Kind || was.Link != now.Link || was.Names == nil && was.Kind == kindFolder {
		return nil
	}
	base := place(root, was.Path)
	if was.Kind == kindGlob {
		at, _ := doublestar.SplitPattern(filepath.ToSlash(base))
		base = filepath.FromSlash(at)
	}
	var out []string
	for _, n := range now.Names {
		if !lists.Has(was.Names, n) {
			out = append(out, name(root, filepath.Join(base, filepath.FromSlash(n))))
		}
	}
	return out
}

// name is a path as people and the record see it: relative to the root, with
// slashes, where it lies in it.
func name(root, path string) string {
	roots := []string{root}
	if target, err := filepath.EvalSymlinks(root); err == nil && target != root {
		roots = append(roots, target)
	}
	for _, r := range roots {
		if rel, err := filepath.Rel(r, path); err == nil && filepath.IsLocal(rel) {
			return filepath.ToSlash(rel)
		}
	}
	return filepath.ToSlash(path)
}

// place is the path that a name of the record means for a root.
func place(root, called string) string {
	path := filepath.FromSlash(called)
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(root, path)
}
