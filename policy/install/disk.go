package install

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/hookc/hookc/internal/fault"
)

// maxSize is the largest settings file that is read, in bytes.
const maxSize = 16 << 20

// Disk is a settings file as it was read.
type Disk struct {
	// Path is where it is, symbolic links followed.
	Path string
	// Content is nil when there is no file.
	Content []byte
	mode    fs.FileMode
	info    fs.FileInfo
}

// Load reads a settings file, or finds that there is none. It follows
// symbolic links; one that leads nowhere is an error.
func Load(path string) (*Disk, error) {
	d := &Disk{Path: path, mode: 0o644}
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return d, nil
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil, err
	}
	d.Path = real
	info, err := os.Stat(real)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fault.Errorf("%s is not a regular file", path)
	}
	f, err := os.Open(real)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	content, err := io.ReadAll(io.LimitReader(f, maxSize+1))
	switch {
	case err != nil:
		return nil, err
	case len(content) > maxSize:
		return nil, fault.Errorf("%s is larger than %d MiB", path, maxSize>>20)
	case content == nil:
		content = []byte{}
	}
	d.Content, d.mode, d.info = content, info.Mode().Perm(), info
	return d, nil
}

// Replace puts new content in the file's place in one step, with its mode and
// owner, and makes the folders it needs. It returns the folders it made, the
// outermost first. A file that changed since Load is an error and stays.
func (d *Disk) Replace(content []byte) (made []string, err error) {
	dir := filepath.Dir(d.Path)
	made, err = folders(dir)
	if err != nil {
		return made, err
	}
	removeLeft(dir, "."+filepath.Base(d.Path)+leftOver)
	f, err := os.CreateTemp(dir, "."+filepath.Base(d.Path)+leftOver+"*")
	if err != nil {
		return made, err
	}
	temp := f.Name()
	defer func() {
		if err != nil {
			os.Remove(temp)
		}
	}()
	_, err = f.Write(content)
	if err == nil {
		err = f.Chmod(d.mode)
	}
	if err == nil && d.info != nil {
		err = sameOwner(f, d.info)
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return made, err
	}
	if err = d.unchanged(); err != nil {
		return made, err
	}
	if err = os.Rename(temp, d.Path); err != nil {
		return made, err
	}
	return made, syncFolder(dir)
}

// leftOver is in the names of files that are written beside the settings, before
// what is random; stale is the age from which nobody writes to one any more.
const (
	leftOver = ".hookc-"
	stale    = time.Minute
)

// removeLeft removes files that an install left behind when it was killed. What
// cannot be removed stays, and does no harm.
func removeLeft(dir, prefix string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		info, err := e.Info()
		if err == nil && info.Mode().IsRegular() && strings.HasPrefix(e.Name(), prefix) && time.Since(info.ModTime()) > stale {
			_ = os.Remove(filepath.Join(dir, e.Name()))
		}
	}
}

// Remove deletes the file, and the folders as far as they are empty.
func (d *Disk) Remove(made []string) error {
	if err := d.unchanged(); err != nil {
		return err
	}
	removeLeft(filepath.Dir(d.Path), "."+filepath.Base(d.Path)+leftOver)
	if err := os.Remove(d.Path); err != nil {
		return err
	}
	for i := len(made) - 1; i >= 0; i-- {
		if os.Remove(made[i]) != nil {
			break // somebody else's file lies in it
		}
	}
	return nil
}

func (d *Disk) unchanged() error {
	now, err := Load(d.Path)
	if err != nil {
		return err
	}
	if (now.Content == nil) != (d.Content == nil) || !bytes.Equal(now.Content, d.Content) {
		return fault.Errorf("%s was changed by another program just now, so nothing is written: try again", d.Path)
	}
	return nil
}

// folders makes a folder with its parents and returns those it made.
func folders(dir string) ([]string, error) {
	var made []string
	for d := dir; ; d = filepath.Dir(d) {
		if _, err := os.Stat(d); !errors.Is(err, fs.ErrNotExist) || d == filepath.Dir(d) {
			break
		}
		made = append([]string{d}, made...)
	}
	for i, d := range made {
		if err := os.Mkdir(d, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
			return made[:i], err
		}
	}
	return made, nil
}
