// Package artifact is the container of a compiled policy, `policy.hookc`: named
// sections of bytes, each with its hash, that are read without touching the
// others, beside the files and the environment the policy was compiled from.
// What the sections mean is their owners' business. hookgate links it, so it
// imports the standard library's smallest parts only (performance.md §5).
//
// The hashes tell a damaged file from a whole one; they are no signature. Who
// may write the file may write any policy, as with hooks.yaml itself.
package artifact

import (
	"crypto/sha256"
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"
	"strconv"

	"github.com/hookc/hookc/internal/binary"
)

// Version is the format's. A reader refuses any other.
const Version = 2

// Suffix ends the names of artifacts.
const Suffix = ".hookc"

// magic begins every artifact. It is not text, and what turns line breaks into
// others breaks it.
const magic = "hookc\x00\r\n"

// The sections that this package fills in and that every artifact has, and those
// whose names are agreed: what hookgate decides by, which cmd/hookc makes of the
// program, and the program's own, texts of the sources included. A program may
// have sections of further names.
const (
	Sources     = "sources"
	Environment = "environment"
	Gate        = "gate"
	Program     = "program"
)

// The bounds of a header, in bytes and sections: a file that claims more is
// damaged.
const (
	maxHeader   = 1 << 20
	maxSections = 4096
	firstRead   = 64 << 10
)

// Kind is why an artifact is refused.
type Kind uint8

// The kinds of refusal.
const (
	// Unreadable: the file is not there or cannot be read.
	Unreadable Kind = iota
	// Foreign: the file is no artifact.
	Foreign
	// OtherVersion: the format is of another version of hookc.
	OtherVersion
	// OtherBuild: another hookc wrote it.
	OtherBuild
	// Damaged: the content is not what was written.
	Damaged
	// Changed: a file it was compiled from is not as it was.
	Changed
	// OtherEnvironment: a variable or flag it was compiled under is another.
	OtherEnvironment
)

// Error is a refusal.
type Error struct {
	Kind Kind
	// Path is the artifact, or for Changed the file that did.
	Path string
	// Text says why, in plain ASCII on one line and without quotes or
	// backslashes, so that it can be put into an answer as it is.
	Text string
}

func (e *Error) Error() string { return e.Text }

// Stale reports whether an error means that the artifact is whole and no longer
// what its sources compile to here: what --allow-stale accepts.
func Stale(err error) bool {
	var e *Error
	return errors.As(err, &e) && (e.Kind == Changed || e.Kind == OtherEnvironment || e.Kind == OtherBuild)
}

// plain makes text fit for Error.Text.
//
//go:noinline
func plain(text string) string {
	out := []byte(text)
	for i, c := range out {
		if c < ' ' || c > '~' || c == '"' || c == '\\' || c == '\'' {
			out[i] = '?'
		}
	}
	return string(out)
}

// File is an artifact being read. It is safe for concurrent use after Open.
type File struct {
	// Path is the file's name as it was given.
	Path string
	// Build is the build of hookc that wrote it (internal/wire, BuildOf),
	// Release the released version, "" if there is none.
	Build, Release string
	// ID identifies the content: the hash of the header, which holds the hash of
	// every section.
	ID [sha256.Size]byte

	table []entry
	// head is the beginning of the file, from the disk or all of it.
	head []byte
	disk *os.File
}

type entry struct {
	name         string
	offset, size uint64
	sum          [sha256.Size]byte
}

// Is reports whether a file's first bytes are those of an artifact.
//
//go:noinline
func Is(begin []byte) bool { return len(begin) >= len(magic) && string(begin[:len(magic)]) == magic }

// Named reports whether a path has the name of an artifact. A project's folder
// .hookc has no name before the suffix, wherever the project lies.
//
//go:noinline
func Named(path string) bool {
	name := len(path) - len(Suffix)
	return name > 0 && path[name:] == Suffix && !os.IsPathSeparator(path[name-1])
}

// Open opens an artifact and checks its header. The caller closes it. Errors are
// of type *Error.
func Open(path string) (*File, error) {
	disk, err := open(path)
	if err != nil {
		return nil, &Error{Unreadable, path, plain(path + ": " + cause(err))}
	}
	f := &File{Path: path, disk: disk}
	if err := f.begin(); err != nil {
		disk.Close()
		return nil, err
	}
	return f, nil
}

// Parse is Open of a file's content.
func Parse(path string, data []byte) (*File, error) {
	f := &File{Path: path, head: data}
	if err := f.header(uint64(len(data))); err != nil {
		return nil, err
	}
	return f, nil
}

// Close releases the file. Sections that were read stay valid.
func (f *File) Close() error {
	if f.disk == nil {
		return nil
	}
	return f.disk.Close()
}

func (f *File) begin() error {
	info, err := f.disk.Stat()
	if err == nil && !info.Mode().IsRegular() {
		return f.Refuse(Foreign, "is not a compiled policy")
	}
	if err == nil {
		f.head = make([]byte, min(info.Size(), firstRead))
		_, err = io.ReadFull(f.disk, f.head)
	}
	if err != nil {
		return f.Refuse(Unreadable, cause(err))
	}
	size := uint64(info.Size())
	if need := headerSize(f.head); need > len(f.head) && uint64(need) <= size {
		f.head = make([]byte, need)
		if _, err := f.disk.ReadAt(f.head, 0); err != nil {
			return f.Refuse(Unreadable, cause(err))
		}
	}
	return f.header(size)
}

// cause is an error of the file system without the path it repeats.
func cause(err error) string {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err.Error()
	}
	return err.Error()
}

// Refuse is the refusal of this artifact.
//
//go:noinline
func (f *File) Refuse(kind Kind, text string) *Error {
	return &Error{kind, f.Path, plain(f.Path + ": " + text)}
}

// Damaged is the refusal of this artifact because of what it holds.
//
//go:noinline
func (f *File) Damaged(what string) *Error {
	return f.Refuse(Damaged, "the compiled policy is damaged ("+what+"): compile it again")
}

// fixed is the part of a header whose place is the same in every version: magic,
// version and the size of the header up to its hash.
const fixed = len(magic) + 8

// headerSize is the size that a header claims, hash included; 0 when it cannot
// be told.
func headerSize(b []byte) int {
	if len(b) < fixed || !Is(b) {
		return 0
	}
	if n := le32(b[len(magic)+4:]); n <= maxHeader {
		return int(n) + sha256.Size
	}
	return 0
}

// header reads the header of a file of a size.
func (f *File) header(size uint64) error {
	b := f.head
	switch {
	case !Is(b) && len(b) >= len(magic):
		return f.Refuse(Foreign, "is not a compiled policy")
	case len(b) < fixed:
		return f.Damaged("it is cut short")
	}
	if v := le32(b[len(magic):]); v != Version {
		return f.Refuse(OtherVersion, "the compiled policy has format "+strconv.FormatUint(uint64(v), 10)+
			" and this hookc reads "+strconv.Itoa(Version)+": compile it again")
	}
	end := headerSize(b) - sha256.Size
	if end < fixed || end+sha256.Size > len(b) {
		return f.Damaged("its header is cut short")
	}
	f.ID = sha256.Sum256(b[:end])
	if string(f.ID[:]) != string(b[end:end+sha256.Size]) {
		return f.Damaged("the hash of its header differs")
	}
	r := binary.NewReader(b[fixed:end])
	f.Build, f.Release = r.Text(), r.Text()
	n := r.Count(maxSections)
	f.table = make([]entry, 0, n)
	at := uint64(end + sha256.Size)
	for range n {
		e := entry{name: r.Text(), offset: r.Uint(), size: r.Uint()}
		copy(e.sum[:], r.Take(sha256.Size))
		if r.Bad() || e.offset != at || e.size > size-at || f.find(e.name) >= 0 {
			return f.Damaged("its table is wrong")
		}
		at += e.size
		f.table = append(f.table, e)
	}
	if r.Bad() || !r.Done() || at != size {
		return f.Damaged("its size is wrong")
	}
	return nil
}

//go:noinline
func (f *File) find(name string) int {
	return slices.IndexFunc(f.table, func(e entry) bool { return e.name == name })
}

// Names lists the sections in the order they lie in the file.
func (f *File) Names() []string {
	out := make([]string, len(f.table))
	for i, e := range f.table {
		out[i] = e.name
	}
	return out
}

// Has reports whether there is a section.
func (f *File) Has(name string) bool { return f.find(name) >= 0 }

// Section reads one section and checks its hash; nothing else is touched. The
// bytes are not to be changed.
func (f *File) Section(name string) ([]byte, error) {
	i := f.find(name)
	if i < 0 {
		return nil, f.Damaged("it has no section " + name)
	}
	e := &f.table[i]
	var b []byte
	if e.offset+e.size <= uint64(len(f.head)) {
		b = f.head[e.offset : e.offset+e.size : e.offset+e.size]
	} else {
		b = make([]byte, e.size)
		if _, err := f.disk.ReadAt(b, int64(e.offset)); err != nil {
			return nil, f.Refuse(Unreadable, cause(err))
		}
	}
	if sha256.Sum256(b) != e.sum {
		return nil, f.Damaged("the hash of section " + name + " differs")
	}
	return b, nil
}

// Verify checks the hash of every section.
func (f *File) Verify() error {
	for _, e := range f.table {
		if _, err := f.Section(e.name); err != nil {
			return err
		}
	}
	return nil
}

// MadeBy reports, as an error, when another hookc wrote the artifact: neither
// this build nor, where there is one, this release.
func (f *File) MadeBy(build, release string) error {
	if f.Build == build && build != "" || f.Release == release && release != "" {
		return nil
	}
	return f.Refuse(OtherBuild, "another hookc compiled this policy: compile it again")
}
