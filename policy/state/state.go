// Package state keeps what must outlast one process (cli.md "Policy
// sources"): counters, consecutive gate blocks, the duplicate guard, trust.
// Each project root has a folder of its own, private to the user; each file
// in it is locked while it changes, replaced whole, checked when read and
// bounded in size. It imports the standard library and gofrs/flock only.
package state

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gofrs/flock"

	"github.com/hookc/hookc/internal/fault"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/internal/paths"
)

// MaxSize bounds the content of one file, in bytes.
const MaxSize = 4 << 20

const (
	lockWait  = 2 * time.Second
	lockRetry = 5 * time.Millisecond
)

// What can go wrong besides the operating system's own errors.
var (
	// ErrCorrupt: a file is not what hookc wrote. Treat it as absent, and
	// never as consent.
	ErrCorrupt = errors.New("state file is damaged")
	// ErrVersion: a hookc of another state format wrote a file. It is not read, and
	// stays as it is for that hookc.
	ErrVersion = errors.New("another version of hookc wrote this state file: use that one, or remove the file")
	// ErrTooLarge: the new content exceeds MaxSize; the old one stays.
	ErrTooLarge = errors.New("state file would be too large")
	// ErrLocked: another process held the file for longer than two seconds.
	ErrLocked = errors.New("state file is locked by another process")
	// ErrUnsafe: the folder or a file in it is a symbolic link or belongs to
	// another user.
	ErrUnsafe = errors.New("state folder is not safe to use")
)

// Dir is the state folder of one project root. It is safe for concurrent use,
// by goroutines and by processes.
type Dir struct {
	base, leaf string
	// doubted is true where the folder lies in a project: only what hookc itself made there
	// counts, which nobody else may read. What a repository brings is for everybody.
	doubted bool

	mu  sync.Mutex
	bad []string
}

// Open returns the state folder of a project root without touching the disk
// more than to resolve root; the folder is made by the first Update. It fails
// when the environment names no place for it.
func Open(root string) (*Dir, error) {
	home, at, err := place(real(root))
	if err != nil {
		return nil, err
	}
	leaf, err := leafName(root)
	if err != nil {
		return nil, fault.Errorf("state of %s: %w", root, err)
	}
	return &Dir{base: filepath.Dir(home), leaf: leaf, doubted: at != ""}, nil
}

// Within returns a folder of hookc's own beside those of the projects, as [Open] does
// for a project; home is what [Home] gives.
//
//go:noinline
func Within(home, name string) *Dir {
	return &Dir{base: filepath.Dir(home), leaf: name, doubted: inProject(home, "") != ""}
}

// inProject is the project in which the folder of all states lies, behind links too: root,
// or any that is marked as one; "" where it is in no project. A project that holds the home of the account
// is the user's own, and so is what lies in it; what HOME says may be the project's word.
func inProject(dir, root string) string {
	account := paths.Account()
	if account != "" {
		account = real(account)
	}
	for at := real(dir); account == "" || !below(account, at); at = filepath.Dir(at) {
		if at == root || paths.Marked(at) {
			return at
		}
		if at == filepath.Dir(at) {
			break
		}
	}
	return ""
}

// shared reports whether others may look into what only hookc makes.
func (d *Dir) shared(info fs.FileInfo) bool {
	return d.doubted && info.Mode().Perm()&0o077 != 0 && runtime.GOOS != "windows"
}

// below reports whether a path is dir or lies below it.
func below(path, dir string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}

// real is a path without links, as far as it is there.
func real(path string) string {
	path = filepath.Clean(path)
	for at, rest := path, ""; ; at, rest = filepath.Dir(at), filepath.Join(filepath.Base(at), rest) {
		if to, err := filepath.EvalSymlinks(at); err == nil {
			return filepath.Join(to, rest)
		}
		if filepath.Dir(at) == at {
			return path
		}
	}
}

// stateHome is $XDG_STATE_HOME or the system's own place for such files. A
// relative $XDG_STATE_HOME is ignored, as the XDG specification demands: it
// would put trust into whatever folder hookc is started in.
func stateHome(getenv func(string) string, home func() (string, error), goos string) (string, error) {
	if dir := getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return dir, nil
	}
	if dir := getenv("LocalAppData"); goos == "windows" && filepath.IsAbs(dir) {
		return dir, nil
	}
	dir, err := home()
	if err != nil {
		return "", err
	}
	switch {
	case !filepath.IsAbs(dir):
		return "", fault.Errorf("home folder %q is not absolute", dir)
	case goos == "darwin":
		return filepath.Join(dir, "Library", "Application Support"), nil
	case goos == "windows":
		return filepath.Join(dir, "AppData", "Local"), nil
	}
	return filepath.Join(dir, ".local", "state"), nil
}

// safeName is a name with _ in the place of each run of bytes that a file's name
// had better not have.
func safeName(name string) string {
	out := make([]byte, 0, len(name))
	for i := range len(name) {
		switch {
		case safeByte(name[i]):
			out = append(out, name[i])
		case i == 0 || safeByte(name[i-1]):
			out = append(out, '_')
		}
	}
	return string(out)
}

func safeByte(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '.' || c == '_' || c == '-'
}

// leafName is a short hash of the real absolute root and, for people, its
// base name. One project reached through a symbolic link has one state.
func leafName(root string) (string, error) {
	abs, err := filepath.Abs(root)
	if err != nil {
		return "", err
	}
	if target, err := filepath.EvalSymlinks(abs); err == nil {
		abs = target
	}
	sum := sha256.Sum256([]byte(abs))
	base := strings.Trim(safeName(filepath.Base(abs)), "._")
	if base == "" {
		base = "root"
	}
	return hex.EncodeToString(sum[:6]) + "-" + base[:min(len(base), 40)], nil
}

// Home is the folder that holds the state folders of all projects, and what
// concerns all of them. It need not exist. It fails as [Open] does.
func Home() (string, error) {
	home, _, err := place("")
	return home, err
}

// place is Home for the project root, "" for all, and the project at that it lies in.
func place(root string) (home, at string, err error) {
	base, err := stateHome(os.Getenv, os.UserHomeDir, runtime.GOOS)
	if err != nil {
		return "", "", fault.Errorf("no place for state: %w", err)
	}
	home = filepath.Join(base, "hookc")
	if at = inProject(home, root); at != "" && !below(real(os.Getenv("HOME")), at) {
		return "", "", fault.Errorf("no place for state: XDG_STATE_HOME is in the project %s, which would then say itself that it is trusted", at)
	}
	return home, at, nil
}

// Place is the folder of all states as an environment and a home have it, "" where they
// name none.
func Place(getenv func(string) string, home string) string {
	base, err := stateHome(getenv, func() (string, error) { return home, nil }, runtime.GOOS)
	if err != nil {
		return ""
	}
	return filepath.Join(base, "hookc")
}

// Path is the folder's path. It need not exist.
//
//go:noinline
func (d *Dir) Path() string { return filepath.Join(d.base, "hookc", d.leaf) }

// Damaged lists the files found damaged so far, by name, sorted, for the
// caller to report.
func (d *Dir) Damaged() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return lists.Copy(d.bad)
}

func (d *Dir) damaged(name string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if i, found := slices.BinarySearch(d.bad, name); !found {
		d.bad = lists.Insert(d.bad, i, name)
	}
}

// Enter opens the folder, made when it is not there yet, for what is larger
// than a file of Update. Who writes to it holds the lock of a file that names
// what is written: within the change of an Update.
func (d *Dir) Enter() (*os.Root, error) { return d.enter(true) }

// Read returns a file's content. The error wraps fs.ErrNotExist for a file
// that was never written and ErrCorrupt for one that was damaged since. It
// does not wait for a writer: it sees the content before or after an Update.
func (d *Dir) Read(name string) ([]byte, error) {
	if err := checkName(name); err != nil {
		return nil, err
	}
	root, err := d.enter(false)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return d.read(root, name)
}

// Update replaces a file's content by what change makes of it: nil removes
// the file, an equal content writes nothing, an error changes nothing and is
// returned as it is. old is nil when there is no content yet or it was
// damaged; a damaged file is kept beside as NAME.bad and listed by Damaged.
// Updates of one file exclude each other; a crash leaves the old content or
// the new.
func (d *Dir) Update(name string, change func(old []byte) ([]byte, error)) error {
	return d.update(name, change, how{durable: true})
}

// UpdateKept is Update of what must not begin again: of a damaged file nothing is
// changed, and the error wraps ErrCorrupt, until somebody takes it away.
func (d *Dir) UpdateKept(name string, change func(old []byte) ([]byte, error)) error {
	return d.update(name, change, how{durable: true, kept: true})
}

// UpdateLazy is Update without waiting for the disk. After a power failure
// the file may be found damaged and begin again: it is for what may be lost,
// such as counters.
func (d *Dir) UpdateLazy(name string, change func(old []byte) ([]byte, error)) error {
	return d.update(name, change, how{})
}

// how is how a file is changed: with waiting for the disk, and never begun again.
type how struct{ durable, kept bool }

func (d *Dir) update(name string, change func([]byte) ([]byte, error), how how) error {
	if err := checkName(name); err != nil {
		return err
	}
	root, err := d.enter(true)
	if err != nil {
		return err
	}
	defer root.Close()
	unlock, err := d.lock(name)
	if err != nil {
		return err
	}
	defer unlock()
	old, err := d.read(root, name)
	switch {
	case errors.Is(err, ErrCorrupt) && !how.kept:
		if err := root.Rename(name, name+".bad"); err != nil {
			return fault.Errorf("setting damaged state %s aside: %w", name, err)
		}
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	}
	content, err := change(old)
	if err != nil {
		return err
	}
	return replace(root, name, old, content, how.durable)
}

// lock takes the lock of one file, waiting at most lockWait.
func (d *Dir) lock(name string) (unlock func(), err error) {
	ctx, cancel := context.WithTimeout(context.Background(), lockWait)
	defer cancel()
	lock := flock.New(filepath.Join(d.Path(), name+".lock"),
		flock.SetFlag(os.O_CREATE|os.O_RDWR|noFollow), flock.SetPermissions(0o600))
	ok, err := lock.TryLockContext(ctx, lockRetry)
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return nil, fault.Errorf("%s: %w", lock.Path(), ErrLocked)
	case err != nil:
		return nil, fault.Errorf("locking state: %w", err)
	case !ok:
		return nil, fault.Errorf("%s: %w", lock.Path(), ErrLocked)
	}
	// The lock file stays: removing it would let two processes hold "the"
	// lock, one on the removed file and one on the new.
	return func() { _ = lock.Unlock() }, nil
}

// checkName wants 1 to 61 lowercase letters, digits and hyphens, of which the
// first is no hyphen, and .json after them or nothing.
func checkName(name string) error {
	stem := strings.TrimSuffix(name, ".json")
	if len(stem) == 0 || len(stem) > 61 || stem[0] == '-' || strings.Trim(stem, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" {
		return fault.Errorf("%q is not a name of a state file", name)
	}
	return nil
}
