package state

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"
	"time"

	"github.com/hookc/hookc/internal/fault"
)

// enter opens the state folder, made private to the user; with create, it is
// made first. The folder and its parent must be real folders of this user:
// in a shared place such as /tmp somebody else could have made them, or
// symbolic links, first.
func (d *Dir) enter(create bool) (*os.Root, error) {
	if create {
		if err := os.MkdirAll(d.base, 0o700); err != nil {
			return nil, fault.Errorf("state folder: %w", err)
		}
	}
	root, err := os.OpenRoot(d.base)
	if err != nil {
		return nil, fault.Errorf("state folder: %w", err)
	}
	for _, name := range []string{"hookc", d.leaf} {
		next, err := d.step(root, name, create)
		root.Close()
		if err != nil {
			return nil, fault.Errorf("state folder %s: %w", d.Path(), err)
		}
		root = next
	}
	return root, nil
}

func (d *Dir) step(root *os.Root, name string, create bool) (*os.Root, error) {
	if create {
		if err := root.Mkdir(name, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
	}
	info, err := root.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() || !ours(info) || d.shared(info) {
		return nil, fault.Errorf("%s: %w", name, ErrUnsafe)
	}
	next, err := root.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	// What was opened must be what was looked at.
	opened, err := next.Stat(".")
	if err == nil && !os.SameFile(info, opened) {
		err = fault.Errorf("%s: %w", name, ErrUnsafe)
	}
	if err == nil && create && opened.Mode().Perm() != 0o700 && runtime.GOOS != "windows" {
		err = next.Chmod(".", 0o700)
	}
	if err != nil {
		next.Close()
		return nil, err
	}
	return next, nil
}

// Version is the format's.
const Version = 1

// magic begins every state file, with the version after family; the digest of the
// content and a line break follow. The digest tells a half-written file from a whole
// one.
const (
	family = "hookc-state-"
	magic  = family + "1 sha256:"
)

// otherVersion reports whether data begins as a state file of another format does.
func otherVersion(data []byte) bool {
	rest, ours := bytes.CutPrefix(data, []byte(family))
	digits := len(rest) - len(bytes.TrimLeft(rest, "0123456789"))
	return ours && digits > 0 && digits < 10 && digits < len(rest) && rest[digits] == ' ' && !bytes.HasPrefix(data, []byte(magic))
}

const headerSize = len(magic) + 2*sha256.Size + 1

func header(content []byte) []byte {
	sum := sha256.Sum256(content)
	return fmt.Appendf(nil, "%s%s\n", magic, hex.EncodeToString(sum[:]))
}

func (d *Dir) read(root *os.Root, name string) ([]byte, error) {
	info, err := root.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || !ours(info) || d.shared(info) {
		return nil, fault.Errorf("%s: %w", name, ErrUnsafe)
	}
	f, err := root.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, int64(headerSize+MaxSize+1)))
	if err != nil {
		return nil, err
	}
	if otherVersion(data) {
		return nil, fault.Errorf("%s: %w", name, ErrVersion)
	}
	if len(data) < headerSize || len(data) > headerSize+MaxSize || !bytes.Equal(data[:headerSize], header(data[headerSize:])) {
		d.damaged(name)
		return nil, fault.Errorf("%s: %w", name, ErrCorrupt)
	}
	return data[headerSize:], nil
}

// replace writes content in the place of old. The caller holds the lock, so
// the temporary file has one writer and a crash leaves at most one behind.
func replace(root *os.Root, name string, old, content []byte, durable bool) error {
	switch {
	case len(content) > MaxSize:
		return fault.Errorf("%s: %w", name, ErrTooLarge)
	case content == nil && old == nil:
		return nil
	case content == nil:
		return root.Remove(name)
	case old != nil && bytes.Equal(old, content):
		return nil
	}
	temp := name + ".tmp"
	if err := root.Remove(temp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fault.Errorf("writing state: %w", err)
	}
	if err := write(root, temp, content, durable); err != nil {
		return fault.Errorf("writing state: %w", err)
	}
	if err := rename(root, temp, name); err != nil {
		return fault.Errorf("writing state: %w", err)
	}
	if durable {
		return syncDir(root)
	}
	return nil
}

func write(root *os.Root, name string, content []byte, durable bool) error {
	f, err := root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(append(header(content), content...))
	if err == nil && durable {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// rename retries on Windows, where a reader that has the old file open makes
// it fail for as long as it reads.
func rename(root *os.Root, from, to string) error {
	for attempt := 0; ; attempt++ {
		err := root.Rename(from, to)
		if err == nil || runtime.GOOS != "windows" || attempt == 40 {
			return err
		}
		time.Sleep(lockRetry)
	}
}

// syncDir makes a rename survive a power failure. Windows has no such call
// and needs none.
func syncDir(root *os.Root) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	dir, err := root.Open(".")
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}
