package decisionlog

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sort"

	"github.com/gofrs/flock"

	"github.com/hookc/hookc/internal/fault"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/internal/spell"
)

// maxWriters bounds the processes that write at one time.
const maxWriters = 256

// maxLine bounds one entry, in bytes.
const maxLine = 80 << 20

// segment is one file of the log: the n-th of a writer.
type segment struct {
	writer, n int
	name      string
	zipped    bool
	// from is where to begin to read, in bytes; a file that is compressed is read whole.
	from int64
}

//go:noinline
func segmentName(writer, n int) string { return fmt.Sprintf("w%d-%08d.jsonl", writer, n) }

// segments lists the files of the log in the order of writers and numbers. Of a
// segment whose compression did not end both files are there: the first counts.
func segments(dir string) ([]segment, error) {
	list, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var out []segment
	for _, f := range list {
		s := segment{name: f.Name()}
		plain, zipped := spell.CutSuffix(s.name, ".gz")
		if _, err := fmt.Sscanf(plain, "w%d-%d.jsonl", &s.writer, &s.n); err != nil || plain != segmentName(s.writer, s.n) || !f.Type().IsRegular() {
			continue
		}
		s.zipped = zipped
		out = append(out, s)
	}
	sort.Slice(out, func(i, j int) bool {
		a, b := out[i], out[j]
		if a.writer != b.writer {
			return a.writer < b.writer
		}
		return a.n < b.n || a.n == b.n && !a.zipped && b.zipped
	})
	return lists.CompactFunc(out, func(a, b segment) bool { return a.writer == b.writer && a.n == b.n }), nil
}

// open opens a segment to be read.
func (s segment) open(dir string) (io.ReadCloser, error) {
	f, err := os.Open(filepath.Join(dir, s.name))
	if err != nil {
		return nil, err
	}
	if !s.zipped {
		_, err := f.Seek(s.from, io.SeekStart)
		return f, err
	}
	z, err := gzip.NewReader(bufio.NewReaderSize(f, 1<<16))
	if err != nil {
		return nil, errors.Join(fault.Errorf("%s: %w", s.name, err), f.Close())
	}
	return &unzipped{z, f}, nil
}

type unzipped struct {
	*gzip.Reader
	file *os.File
}

func (u *unzipped) Close() error { return errors.Join(u.Reader.Close(), u.file.Close()) }

// zip compresses a segment that is written no more. Whatever interrupts it, one
// whole file remains.
func (s segment) zip(dir string) error {
	from, err := s.open(dir)
	if err != nil {
		return err
	}
	defer from.Close()
	to := filepath.Join(dir, s.name+".gz")
	f, err := os.OpenFile(to+".part", os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	z, err := gzip.NewWriterLevel(f, gzip.BestSpeed)
	if err != nil {
		return errors.Join(err, f.Close())
	}
	_, err = io.Copy(z, from)
	err = errors.Join(err, z.Close(), f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(to+".part", to)
	}
	if err != nil {
		return errors.Join(err, os.Remove(to+".part"))
	}
	return os.Remove(filepath.Join(dir, s.name))
}

// claim takes the first writer from one on that no other process is.
func claim(dir string, from int) (int, *flock.Flock, error) {
	for i := from; i < maxWriters; i++ {
		l := flock.New(filepath.Join(dir, fmt.Sprintf("w%d.lock", i)), flock.SetFlag(os.O_CREATE|os.O_RDWR), flock.SetPermissions(0o600))
		ok, err := l.TryLock()
		if err != nil {
			return 0, nil, err
		}
		if ok {
			return i, l, nil
		}
	}
	return 0, nil, fault.Errorf("no more than %d processes write to %s at a time", maxWriters, dir)
}

// Key is the secret key of a folder: for the hashes that mean masked
// values. It is made when it is not there yet.
func Key(dir string) ([]byte, error) {
	path := filepath.Join(dir, "mask.key")
	for {
		key, err := readSmall(path)
		if err == nil && len(key) == 32 {
			return key, nil
		}
		if err == nil {
			return nil, fault.Errorf("%s is damaged: it does not hold 32 bytes; without it equal masked values cannot be told: take it away to begin again", path)
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		key = make([]byte, 32)
		if _, err := rand.Read(key); err != nil {
			return nil, err
		}
		if _, err := place(path, key); err != nil {
			return nil, err
		}
	}
}

// place makes a file at once and whole, private to the user, unless it is there:
// of many processes one does.
func place(path string, content []byte) (made bool, err error) {
	part, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*")
	if err != nil {
		return false, err
	}
	_, err = part.Write(content)
	err = errors.Join(err, part.Sync(), part.Close())
	if err == nil {
		if err = os.Link(part.Name(), path); errors.Is(err, fs.ErrExist) {
			return false, os.Remove(part.Name())
		}
	}
	return err == nil, errors.Join(err, os.Remove(part.Name()))
}

// tail is what the end of a writer's files says: its last segment, the entry it
// ends with, and how many bytes of a line are behind it that was not written
// whole.
type tail struct {
	segment int
	seq     uint64
	chain   link
	size    int64
	torn    int64
	zipped  bool
	// counted is how many of the lost decisions of this process the log tells of.
	counted int64
}

// tailOf reads the last segment of a writer.
func tailOf(dir string, writer int) (tail, error) {
	list, err := segments(dir)
	if err != nil {
		return tail{}, err
	}
	var t tail
	for _, s := range slices.Backward(list) {
		if s.writer == writer {
			t.segment, t.zipped = s.n, s.zipped
			return t, t.read(dir, s)
		}
	}
	return t, nil
}

func (t *tail) read(dir string, s segment) error {
	last, err := t.last(dir, s)
	if err != nil {
		return err
	}
	if last == nil { // its first line was not written whole
		prev, err := priorTail(dir, s)
		t.seq, t.chain = prev.seq, prev.chain
		return err
	}
	_, chain, err := split(last)
	if err != nil {
		return fault.Errorf("%s: the last line: %w", s.name, err)
	}
	e, err := parse(last)
	if err != nil {
		return fault.Errorf("%s: the last line: %w", s.name, err)
	}
	t.chain, t.seq = chain, e.Seq
	return nil
}

// last is the last whole line of a segment, nil if there is none. Of a file that is not
// compressed only the end is read.
func (t *tail) last(dir string, s segment) (last []byte, err error) {
	if s.zipped {
		t.size, _, err = s.lines(dir, func(_ int, line []byte) error {
			last = append(last[:0], line...)
			return nil
		})
		return last, err
	}
	f, err := os.Open(filepath.Join(dir, s.name))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	all, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return nil, err
	}
	for n := int64(1 << 14); ; n *= 4 {
		buf := make([]byte, min(n, all))
		if _, err := f.ReadAt(buf, all-int64(len(buf))); err != nil {
			return nil, err
		}
		end := bytes.LastIndexByte(buf, '\n')
		if end < 0 && int64(len(buf)) < all {
			continue
		}
		begin := bytes.LastIndexByte(buf[:max(end, 0)], '\n')
		if begin < 0 && int64(len(buf)) < all {
			continue
		}
		t.torn = int64(len(buf) - end - 1)
		t.size = all - t.torn
		if end < 0 {
			return nil, nil
		}
		return buf[begin+1 : end], nil
	}
}

// priorTail is the end of the segment before s.
func priorTail(dir string, s segment) (t tail, err error) {
	list, err := segments(dir)
	for _, p := range list {
		if p.writer == s.writer && p.n == s.n-1 {
			return t, t.read(dir, p)
		}
	}
	return t, err
}

// lines gives the whole lines of a segment, numbered from 1 and without their
// newlines; what it gives holds until the next. It says how many bytes whole
// lines have, and how many there are.
func (s segment) lines(dir string, give func(number int, line []byte) error) (whole, all int64, err error) {
	f, err := s.open(dir)
	if err != nil {
		return 0, 0, err
	}
	defer f.Close()
	buf, from := make([]byte, 0, 1<<18), 0
	for number := 1; ; {
		if from > 0 {
			buf, from = buf[:copy(buf, buf[from:])], 0
		}
		if len(buf) == cap(buf) {
			if len(buf) >= maxLine {
				return whole, all, fault.Errorf("%s: a line is longer than %d bytes", s.name, maxLine)
			}
			buf = slices.Grow(buf, len(buf))
		}
		n, err := f.Read(buf[len(buf):cap(buf)])
		searched := len(buf)
		buf, all = buf[:len(buf)+n], all+int64(n)
		for {
			i := bytes.IndexByte(buf[searched:], '\n')
			if i < 0 {
				break
			}
			end := searched + i
			if err := give(number, buf[from:end]); err != nil {
				return whole, all, err
			}
			whole += int64(end + 1 - from)
			number++
			from, searched = end+1, end+1
		}
		if errors.Is(err, io.EOF) {
			return whole, all, nil
		}
		if err != nil {
			return whole, all, fault.Errorf("%s: %w", s.name, err)
		}
	}
}
