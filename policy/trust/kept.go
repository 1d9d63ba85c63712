package trust

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/hookc/hookc/internal/fault"
	"github.com/hookc/hookc/internal/lazy"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/internal/spell"
	"github.com/hookc/hookc/policy/state"
)

// Tree is the copy of a project's policy that consent keeps: every covered
// file, at its absolute path below a folder of the state folder. So what one
// file says of another by a relative path is true in the copy too.
type Tree struct {
	dir string
	// root is the project root that consent was given for, now the one it is
	// used for: another worktree has the same files elsewhere.
	root, now string
}

// Root is the project's root that the tree is used for.
func (t *Tree) Root() string { return t.now }

// Kept is where the copy of a path lies.
func (t *Tree) Kept(path string) string {
	rel := name(t.now, path)
	return filepath.Join(t.dir, inside(place(t.root, rel)))
}

// Live is the path whose copy lies at one, and whether that is in the tree.
func (t *Tree) Live(path string) (string, bool) {
	rel, err := filepath.Rel(t.dir, path)
	if err != nil || !filepath.IsLocal(rel) {
		return path, false
	}
	root := filepath.Join(t.dir, inside(t.root))
	if at, err := filepath.Rel(root, path); err == nil && filepath.IsLocal(at) {
		return filepath.Join(t.now, at), true
	}
	return outside(rel), true
}

// Holds reports whether the copy has something at a path.
func (t *Tree) Holds(path string) bool {
	_, err := os.Lstat(t.Kept(path))
	return err == nil
}

// inside is an absolute path as one below a folder; outside is the way back.
func inside(path string) string {
	volume := filepath.VolumeName(path)
	if volume == "" {
		return strings.TrimLeft(path, `/\`)
	}
	return filepath.Join("volume-"+strings.TrimSuffix(volume, ":"), strings.TrimLeft(path[len(volume):], `/\`))
}

func outside(rel string) string {
	first, rest, _ := spell.Cut(rel, string(filepath.Separator))
	if letter, ok := spell.CutPrefix(first, "volume-"); ok && filepath.Separator == '\\' {
		return letter + ":" + string(filepath.Separator) + rest
	}
	return string(filepath.Separator) + rel
}

// verify reports the first kept file that is not what consent covered.
func (t *Tree) verify(files []entry) error {
	var read int64
	for i := range files {
		e := &files[i]
		if e.Kind == kindGlob || e.Kind == kindMissing {
			continue
		}
		path := t.Kept(place(t.now, e.Path))
		now, err := look(e.Path, path, func(*entry) (io.Writer, error) { return io.Discard, nil }, maxBytes, &read)
		was := *e
		was.Link, now.Link = "", "" // a kept link leads to the kept copy
		if was.Kind == kindFolder {
			now.SHA256, was.SHA256 = "", "" // it holds what was read of it
		}
		if err != nil || !was.same(&now) {
			return fault.Errorf("%s is not as it was kept", e.Path)
		}
	}
	return nil
}

var keptName = lazy.Value(func() *regexp.Regexp { return regexp.MustCompile(`^kept-[0-9a-f]{16}$`) })

// keeper writes a copy. The caller holds the lock of the record, so there is
// one at a time.
type keeper struct {
	folder *os.Root
	temp   string
	open   *os.File
	made   map[string]bool
}

const keeping = "kept-new"

func begin(folder *os.Root) (*keeper, error) {
	if err := folder.RemoveAll(keeping); err != nil {
		return nil, err
	}
	if err := folder.Mkdir(keeping, 0o700); err != nil {
		return nil, err
	}
	return &keeper{folder: folder, temp: keeping, made: map[string]bool{}}, nil
}

// abandon leaves nothing of a copy that was not finished.
func (k *keeper) abandon() {
	if k.open != nil {
		k.open.Close()
	}
	_ = k.folder.RemoveAll(k.temp) // nothing is there when it was finished
}

func (k *keeper) above(path string) (string, error) {
	at := filepath.Join(k.temp, inside(path))
	dir := filepath.Dir(at)
	if k.made[dir] {
		return at, nil
	}
	k.made[dir] = true
	return at, k.folder.MkdirAll(dir, 0o700)
}

// file begins the copy of a file. A link to one is no copy of its own.
func (k *keeper) file(path string, e *entry) (io.Writer, error) {
	if e.Link != "" {
		return io.Discard, nil
	}
	at, err := k.above(path)
	if err != nil {
		return nil, err
	}
	mode := fs.FileMode(0o600)
	if e.Exec {
		mode = 0o700
	}
	k.open, err = k.folder.OpenFile(at, os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode)
	return k.open, err
}

// settle finishes the copy of what stands at a path.
func (k *keeper) settle(path string, e *entry) error {
	if k.open != nil {
		err := errors.Join(k.open.Sync(), k.open.Close())
		k.open = nil
		return err
	}
	at, err := k.above(path)
	switch {
	case err != nil:
		return err
	case e.Link != "" && e.Kind != kindMissing:
		return k.link(path, at)
	case e.Kind == kindFolder:
		return k.folder.MkdirAll(at, 0o700)
	}
	return nil
}

// link makes the copy of a link lead to the copy of what it leads to.
func (k *keeper) link(path, at string) error {
	target, err := filepath.EvalSymlinks(path)
	if err != nil {
		return err
	}
	to := filepath.Join(k.temp, inside(target))
	rel, err := filepath.Rel(filepath.Dir(at), to)
	if err != nil {
		return err
	}
	return k.folder.Symlink(rel, at)
}

// finish puts the copy in its place, under a name that no copy had before: the
// earlier one stays whole until no record names it.
func (k *keeper) finish(c *consent) error {
	var id [8]byte
	if _, err := rand.Read(id[:]); err != nil {
		return err
	}
	c.Kept = "kept-" + hex.EncodeToString(id[:])
	return k.folder.Rename(k.temp, c.Kept)
}

// CopyTo gives another place of state the consent of this one, with the copies
// that it keeps, as what XDG_STATE_HOME names. What is there already stays.
func (s *Store) CopyTo(base string) error {
	if s.noDir != nil {
		return nil // nothing is trusted, here or there
	}
	data, err := os.ReadFile(s.Path())
	if missing(err) {
		return nil
	}
	if err != nil {
		return err
	}
	to := filepath.Join(base, "hookc", filepath.Base(s.own.Path()))
	if err := os.MkdirAll(to, 0o700); err != nil {
		return err
	}
	if _, err := os.Lstat(filepath.Join(to, File)); err == nil {
		return nil
	}
	if r, err := s.load(); err == nil { // a damaged record has no copies
		for _, c := range r.Consents {
			err := os.CopyFS(filepath.Join(to, c.Kept), os.DirFS(filepath.Join(s.dir().Path(), c.Kept)))
			if err != nil && !missing(err) { // without its copy, consent is as broken there
				return err
			}
		}
	}
	if now, err := os.ReadFile(s.Path()); err != nil || !bytes.Equal(now, data) {
		return errors.Join(err, errors.New("consent was given or withdrawn meanwhile; try again"))
	}
	return os.WriteFile(filepath.Join(to, File), data, 0o600)
}

// tidy removes the copies that no consent names any more. What cannot be
// removed is removed the next time.
func (s *Store) tidy() {
	tidy(s.own)
	tidy(s.repo)
}

func tidy(d *state.Dir) {
	_ = d.Update(File, func(old []byte) ([]byte, error) {
		folder, err := d.Enter()
		if err != nil {
			return old, err
		}
		defer folder.Close()
		r, err := parse(old)
		if errors.Is(err, state.ErrVersion) {
			return old, err // whose copies these are is not known here
		}
		if err != nil {
			r = &record{}
		}
		items, err := fs.ReadDir(folder.FS(), ".")
		if err != nil {
			return old, nil
		}
		for _, item := range items {
			used := lists.Has(r.Spent, item.Name()) || slices.ContainsFunc(r.Consents, func(c *consent) bool { return c.Kept == item.Name() })
			if keptName().MatchString(item.Name()) && !used {
				_ = folder.RemoveAll(item.Name())
			}
		}
		return old, nil
	})
}
