package artifact

import (
	"crypto/sha256"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/hookc/hookc/internal/binary"
)

// maxSources bounds the files an artifact is compared by.
const maxSources = 1 << 16

// rights are the bits of a mode that say who may read and write: a copy may have
// others. Whether a file can be executed counts.
const rights = 0o666

// Print is what tells without reading it that a file was changed: the time of
// the last change of its content or attributes, which no program can set, and
// what it is. The zero Print is of a file that is not there; Bad is one that
// cannot be looked at.
type Print struct {
	Found, Bad bool
	// Folder is true of a folder.
	Folder    bool
	Dev, Ino  uint64
	Size      int64
	Sec, Nsec int64
	Mode      uint32
}

// Source is one file or folder that a policy depends on, found or not.
type Source struct {
	// Path is absolute.
	Path  string
	Print Print
	// Unsure is true where an equal Print does not mean equal content: the file
	// was changed so shortly before that a further change could carry the same
	// time, or the system has no such time. Then the content decides.
	Unsure bool
	// Sum is the hash of a file's content, or of the names in a folder.
	Sum [sha256.Size]byte
}

// Snapshot looks at the files and folders that what was begun at a time depends
// on, each with its content; folders are not entered. settled is false when one
// was changed, as far as can be told, since just before that time: then what was
// read need not be what is there.
func Snapshot(paths []string, began time.Time) (list []Source, settled bool, err error) {
	if len(paths) > maxSources {
		return nil, false, &Error{Changed, "", "the policy depends on too many files to compare"}
	}
	seen := make(map[string]bool, len(paths))
	settled = true
	for _, path := range paths {
		if seen[path] {
			continue
		}
		seen[path] = true
		at := look(path)
		s := Source{Path: path, Print: at, Unsure: !exact || at.after(began)}
		settled = settled && !at.after(began)
		if s.Sum, err = sum(path, at); err != nil {
			return nil, false, err
		}
		list = append(list, s)
	}
	return list, settled, nil
}

// after reports whether a file may have been changed since a time. Clocks of
// file systems have ticks: some of milliseconds, some of two seconds.
func (p *Print) after(t time.Time) bool {
	return p.Found && time.Unix(p.Sec, p.Nsec).After(t.Add(-p.tick()))
}

func (p *Print) tick() time.Duration {
	if p.Nsec == 0 {
		return 2 * time.Second
	}
	return 100 * time.Millisecond
}

// Settle waits until what was snapshotted can no longer change unseen, at most a
// little over two seconds.
func Settle(list []Source) {
	var until time.Time
	now := time.Now()
	for i := range list {
		p := &list[i].Print
		if at := time.Unix(p.Sec, p.Nsec).Add(p.tick()); p.Found && at.After(until) && !at.After(now.Add(2*time.Second)) {
			until = at
		}
	}
	if wait := until.Sub(now); wait > 0 {
		time.Sleep(wait + 5*time.Millisecond)
	}
}

// maxSum is the size of the largest file that is hashed: what is larger is nothing
// that a policy may read (HK026), and takes longer than an agent waits.
const maxSum = 256 << 20

// sum is the hash of what a path holds. What cannot be read, or is neither file
// nor folder, or too large, is compared by its print alone.
func sum(path string, at Print) (out [sha256.Size]byte, err error) {
	switch {
	case !at.Found || at.Bad || at.Size > maxSum && !at.Folder:
		return out, nil
	case at.Folder:
		entries, err := os.ReadDir(path)
		if err != nil {
			return out, nil
		}
		var b binary.Writer
		for _, e := range entries { // sorted
			if Named(e.Name()) {
				continue // what is compiled is no source, and may be written here next
			}
			b.Text(e.Name())
			b.Uint(uint64(e.Type()))
		}
		return sha256.Sum256(b.B), nil
	}
	f, err := open(path)
	if err != nil {
		return out, nil
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return out, nil
	}
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return out, &Error{Unreadable, path, plain(path + ": " + cause(err))}
	}
	h.Sum(out[:0])
	return out, nil
}

// AddSources appends the section of the files a policy depends on.
func (w *Writer) AddSources(list []Source) {
	var b binary.Writer
	b.Uint(uint64(len(list)))
	for i := range list {
		s := &list[i]
		p := &s.Print
		b.Text(s.Path)
		flags := uint64(0)
		for bit, on := range []bool{p.Found, p.Bad, p.Folder, s.Unsure} {
			if on {
				flags |= 1 << bit
			}
		}
		b.Uint(flags)
		if !p.Found {
			continue
		}
		b.Uint(p.Dev)
		b.Uint(p.Ino)
		b.Int(p.Size)
		b.Int(p.Sec)
		b.Int(p.Nsec)
		b.Uint(uint64(p.Mode))
		b.B = append(b.B, s.Sum[:]...)
	}
	w.Add(Sources, b.B)
}

// Sources lists the files the policy depends on, as they were.
func (f *File) Sources() ([]Source, error) {
	var list []Source
	err := f.sources(func(s *Source) error {
		list = append(list, *s)
		return nil
	})
	return list, err
}

func (f *File) sources(each func(*Source) error) error {
	b, err := f.Section(Sources)
	if err != nil {
		return err
	}
	r := binary.NewReader(b)
	for range r.Count(maxSources) {
		s := Source{Path: r.Text()}
		flags := r.Uint()
		p := &s.Print
		p.Found, p.Bad, p.Folder, s.Unsure = flags&1 != 0, flags&2 != 0, flags&4 != 0, flags&8 != 0
		if p.Found {
			p.Dev, p.Ino, p.Size, p.Sec, p.Nsec, p.Mode = r.Uint(), r.Uint(), r.Int(), r.Int(), r.Int(), uint32(r.Uint())
			copy(s.Sum[:], r.Take(sha256.Size))
		}
		if r.Bad() {
			break
		}
		if err := each(&s); err != nil {
			return err
		}
	}
	if r.Bad() || !r.Done() {
		return f.Damaged("section " + Sources + " is wrong")
	}
	return nil
}

// Unchanged reports, as an error that names the first, when a file is not as it
// was. Equal prints are enough; where they differ, as after a checkout or a copy,
// the content decides.
func (f *File) Unchanged() error {
	return f.sources(func(s *Source) error {
		if how := s.differs(); how != "" {
			return changed(s.Path, how)
		}
		return nil
	})
}

// Changes lists the files and folders that are not as they were.
func (f *File) Changes() ([]Source, error) {
	var out []Source
	err := f.sources(func(s *Source) error {
		if s.differs() != "" {
			out = append(out, *s)
		}
		return nil
	})
	return out, err
}

// differs says how a file is not as it was, "" when it is.
func (s *Source) differs() string {
	now := look(s.Path)
	if now == s.Print && !s.Unsure {
		return ""
	}
	was := &s.Print
	switch {
	case now.Found == was.Found && now.Bad == was.Bad && !now.Found:
		return ""
	case was.Found && !now.Found:
		return "is missing now"
	case !was.Found && now.Found:
		return "is there now"
	case now.Bad || was.Bad || now.Folder != was.Folder || (now.Mode^was.Mode)&^rights != 0,
		!now.Folder && now.Size != was.Size: // without reading it, however large it is
		return "has changed"
	}
	if got, err := sum(s.Path, now); err != nil || got != s.Sum || got == [sha256.Size]byte{} {
		return "has changed"
	}
	return ""
}

// LastChange is when a file, or what a path leads to, was last changed; of one
// that is not there, when the folder was that it would be in. False where that
// cannot be told.
func LastChange(path string) (time.Time, bool) {
	at := look(path)
	for !at.Found && !at.Bad {
		above := filepath.Dir(path)
		if above == path {
			return time.Time{}, false
		}
		path = above
		at = look(path)
	}
	return time.Unix(at.Sec, at.Nsec), at.Found && !at.Bad
}

func changed(path, how string) *Error {
	return &Error{Changed, path, plain("the compiled policy is stale: " + path + " " + how + ": compile it again")}
}
