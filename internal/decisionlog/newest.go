package decisionlog

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/hookc/hookc/internal/fault"
)

// Range bounds entries by their times: From is in it, To is not; a zero Time is no
// bound.
type Range struct{ From, To time.Time }

func (r Range) has(at time.Time) bool {
	return !at.Before(r.From) && (r.To.IsZero() || at.Before(r.To))
}

// Newest gives the entries of all writers within a range, the newest first; those of
// one writer are in the reverse of their order. Files are read from their ends, and
// those that were last written before the range are not opened: who wants the last
// hundred entries reads little more. A line that cannot be read is given as an error.
func Newest(dir string, within Range) iter.Seq2[*Entry, error] {
	return merged(dir, false, func(list []segment) iter.Seq2[*Entry, error] {
		return func(yield func(*Entry, error) bool) {
			for _, s := range slices.Backward(list) {
				if info, err := os.Stat(filepath.Join(dir, s.name)); err == nil && info.ModTime().Before(within.From.Truncate(time.Second)) {
					return
				}
				for e, err := range s.backward(dir) {
					if (err != nil || within.has(e.Timestamp)) && !yield(e, err) {
						return
					}
				}
			}
		}
	})
}

// Since gives what each writer wrote until known knows an entry of it, the last first,
// whatever the times of the entries. Files that were last written before at are not opened.
func Since(dir string, at time.Time, known func(*Entry) bool) iter.Seq2[*Entry, error] {
	return func(yield func(*Entry, error) bool) {
		list, err := segments(dir)
		if err != nil {
			yield(nil, err)
			return
		}
		done := -1
		for _, s := range slices.Backward(list) {
			info, err := os.Stat(filepath.Join(dir, s.name))
			if s.writer == done || err == nil && info.ModTime().Before(at.Truncate(time.Second)) {
				continue
			}
			for e, err := range s.backward(dir) {
				if err == nil && known(e) {
					done = s.writer
					break
				}
				if !yield(e, err) {
					return
				}
			}
		}
	}
}

// backward gives the entries of a segment from its end.
func (s segment) backward(dir string) iter.Seq2[*Entry, error] {
	return func(yield func(*Entry, error) bool) {
		text, size, done, err := s.random(dir)
		if errors.Is(err, fs.ErrNotExist) { // it was taken away just now
			return
		}
		if err != nil {
			yield(nil, err)
			return
		}
		defer done()
		if err := backward(text, size, func(line []byte) bool {
			e, err := parse(line)
			if err != nil {
				e, err = nil, fault.Errorf("%s: %w", s.name, err)
			}
			return yield(e, err)
		}); err != nil {
			yield(nil, fault.Errorf("%s: %w", s.name, err))
		}
	}
}

// random opens a segment to be read from anywhere. One that is compressed is kept in
// memory: how large a segment grows bounds that.
func (s segment) random(dir string) (text io.ReaderAt, size int64, done func(), err error) {
	if !s.zipped {
		f, err := os.Open(filepath.Join(dir, s.name))
		if errors.Is(err, fs.ErrNotExist) { // it was compressed just now
			s.name, s.zipped = s.name+".gz", true
			return s.random(dir)
		}
		if err != nil {
			return nil, 0, nil, err
		}
		size, err := f.Seek(0, io.SeekEnd)
		return f, size, func() { f.Close() }, err
	}
	f, err := s.open(dir)
	if err != nil {
		return nil, 0, nil, err
	}
	whole, err := io.ReadAll(f)
	return bytes.NewReader(whole), int64(len(whole)), func() {}, errors.Join(err, f.Close())
}

// backward gives the whole lines of a text from its end, without their newlines, until
// give says false. What is behind the last newline is being written.
func backward(text io.ReaderAt, size int64, give func(line []byte) bool) error {
	var buf []byte // what was read of the text and not given yet: it begins at from
	from, whole := size, false
	for chunk := int64(1 << 16); ; {
		for {
			end := bytes.LastIndexByte(buf, '\n')
			if end < 0 {
				break
			}
			begin := bytes.LastIndexByte(buf[:end], '\n')
			if !whole {
				whole, buf = true, buf[:end+1]
			}
			if begin < 0 && from > 0 {
				break
			}
			if !give(buf[begin+1 : end]) {
				return nil
			}
			buf = buf[:begin+1]
		}
		if from == 0 {
			return nil
		}
		if len(buf) >= maxLine {
			return fault.Errorf("a line is longer than %d bytes", maxLine)
		}
		n := min(chunk, from)
		more := make([]byte, n, n+int64(len(buf)))
		if _, err := text.ReadAt(more, from-n); err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		buf, from = append(more, buf...), from-n
		chunk = max(1<<16, int64(len(buf)))
	}
}

// ErrNoEntry is that the log has no entry of an id.
var ErrNoEntry = errors.New("the log has no such entry")

// Find is the decision of an id. The id says where it is, so that one writer's files
// are looked at, and of these one is read.
func Find(dir, id string) (*Entry, error) {
	b, err := hex.DecodeString(id)
	if err != nil || len(b) != 12 {
		return nil, fault.Errorf("%q is no decision id: it has 24 hexadecimal digits", id)
	}
	writer, seq := int(b[7]), binary.BigEndian.Uint32(b[8:])
	list, err := segments(dir)
	if err != nil {
		return nil, err
	}
	for _, s := range slices.Backward(list) {
		if s.writer != writer {
			continue
		}
		var found *Entry
		before := false
		stop := errors.New("found")
		_, _, err := s.lines(dir, func(number int, line []byte) error {
			if number > 1 && (before || found != nil) {
				return stop
			}
			e, err := parse(line)
			switch {
			case err != nil:
				return nil
			case number == 1:
				before = uint32(e.Seq) > seq
			case e.ID == id:
				found = e
			}
			return nil
		})
		if found != nil {
			return found, nil
		}
		if err != nil && !errors.Is(err, stop) {
			return nil, err
		}
		if !before {
			break
		}
	}
	return nil, ErrNoEntry
}
