package artifact

import (
	"crypto/sha256"
	"errors"
	"os"

	"github.com/hookc/hookc/internal/binary"
)

// Writer makes an artifact. It is for one goroutine.
type Writer struct {
	// Build and Release are as in File.
	Build, Release string
	// Private is true of an artifact that only its owner may read.
	Private bool

	names    []string
	contents [][]byte
}

// Add appends a section. Those added first are read with the header, in one
// call: what a gate needs comes first. A name twice is a bug and panics.
//
//go:noinline
func (w *Writer) Add(name string, content []byte) {
	for _, n := range w.names {
		if n == name {
			panic("artifact: section " + name + " twice")
		}
	}
	w.names, w.contents = append(w.names, name), append(w.contents, content)
}

// Bytes is the whole file.
func (w *Writer) Bytes() []byte {
	// The length of the offsets depends on the offsets: they are written until
	// the header's size stays.
	end := 0
	for {
		head := w.header(end)
		if len(head) == end {
			out := make([]byte, 0, end+w.size()+sha256.Size)
			sum := sha256.Sum256(head)
			out = append(append(out, head...), sum[:]...)
			for _, c := range w.contents {
				out = append(out, c...)
			}
			return out
		}
		end = len(head)
	}
}

func (w *Writer) size() int {
	n := 0
	for _, c := range w.contents {
		n += len(c)
	}
	return n
}

// header is the header whose size is said to be end.
func (w *Writer) header(end int) []byte {
	b := binary.Writer{B: appendLE32(appendLE32([]byte(magic), Version), uint32(end))}
	b.Text(w.Build)
	b.Text(w.Release)
	b.Uint(uint64(len(w.names)))
	at := uint64(end + sha256.Size)
	for i, name := range w.names {
		b.Text(name)
		b.Uint(at)
		b.Uint(uint64(len(w.contents[i])))
		sum := sha256.Sum256(w.contents[i])
		b.B = append(b.B, sum[:]...)
		at += uint64(len(w.contents[i]))
	}
	return b.B
}

// WriteFile puts the artifact in the place of path in one step: who reads it
// meanwhile has the old one or the new one. A symbolic link is followed. It can
// be read by whoever could read the old one, a new one by everybody, as far as
// the process's umask lets them; one that is Private by its owner alone.
func (w *Writer) WriteFile(path string) (err error) {
	if to, err := os.Readlink(path); err == nil {
		if !os.IsPathSeparator(to[0]) {
			to = folder(path) + to
		}
		path = to
	}
	mode := os.FileMode(0o644)
	if info, err := os.Stat(path); err == nil {
		mode = info.Mode().Perm()
	}
	if w.Private {
		mode &= 0o700
	}
	f, err := create(path, mode)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			os.Remove(f.Name())
		}
	}()
	_, err = f.Write(w.Bytes())
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// create makes a new file beside path.
func create(path string, mode os.FileMode) (*os.File, error) {
	dir := folder(path)
	f, err := os.CreateTemp(dirOr(dir), "."+path[len(dir):]+".*")
	if err != nil {
		return nil, err
	}
	name := f.Name()
	f.Close()
	os.Remove(name) // CreateTemp makes it for the user alone: made again, the umask counts
	return os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode)
}

func dirOr(dir string) string {
	if dir == "" {
		return "."
	}
	return dir
}

// folder is the part of a path up to and with its last separator.
func folder(path string) string {
	i := len(path)
	for i > 0 && !os.IsPathSeparator(path[i-1]) {
		i--
	}
	return path[:i]
}
