package decisionlog

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/hookc/hookc/policy"
)

// resume opens the writer's last segment, or begins the next.
func (w *Writer) resume() error {
	t := w.at
	if t.segment == 0 || t.zipped {
		return w.begin()
	}
	var err error
	if w.file, err = os.OpenFile(filepath.Join(w.dir, segmentName(w.slot, t.segment)), os.O_RDWR, 0o600); err != nil {
		return err
	}
	if err := w.back(t.size); err != nil {
		return err
	}
	if w.began, err = w.first(); err != nil { // not even its first line is whole
		return w.header()
	}
	if t.torn > 0 {
		w.note("repaired", `,"count":`+strconv.FormatInt(t.torn, 10))
		return w.write()
	}
	return nil
}

// first is when the segment was begun, by its first line.
func (w *Writer) first() (time.Time, error) {
	buf := make([]byte, 1<<12)
	n, err := w.file.ReadAt(buf, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return time.Time{}, err
	}
	line, _, whole := bytes.Cut(buf[:n], []byte{'\n'})
	if !whole {
		return time.Time{}, io.ErrUnexpectedEOF
	}
	e, err := parse(line)
	if err != nil {
		return time.Time{}, err
	}
	return e.Timestamp, nil
}

// back takes away what is behind the first size bytes, and writes from there.
func (w *Writer) back(size int64) error {
	_, err := w.file.Seek(size, io.SeekStart)
	return errors.Join(err, w.file.Truncate(size))
}

// begin begins the next segment.
func (w *Writer) begin() error {
	name := filepath.Join(w.dir, segmentName(w.slot, w.at.segment+1))
	f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	w.file = f
	w.at.segment, w.at.size, w.at.zipped = w.at.segment+1, 0, false
	return w.header()
}

// header writes the first line of a segment, which says what was before it.
func (w *Writer) header() error {
	w.began = w.options.Now()
	previous := w.at.chain.String()
	w.note("segment", fmt.Sprintf(`,"schema":%d,"segment":%d,"previous":%q`, Schema, w.at.segment, previous))
	return w.write()
}

// write writes what is encoded. Of what cannot be written as a whole nothing
// stays: not in the file, and not in the chain.
func (w *Writer) write() error {
	n, err := w.file.Write(w.buf)
	if err != nil {
		return errors.Join(err, w.back(w.at.size))
	}
	w.at.size += int64(n)
	w.buf = w.buf[:0]
	return nil
}

// flush writes a batch, and syncs it where somebody waits for that.
func (w *Writer) flush(before tail) error {
	if w.options.Sign != nil && before.seq/w.options.Every != w.at.seq/w.options.Every {
		if err := w.checkpoint(); err != nil {
			return err
		}
	}
	if err := w.write(); err != nil {
		return err
	}
	for _, d := range w.pending {
		if d.sync {
			if err := w.file.Sync(); err != nil {
				return err
			}
			break
		}
	}
	return nil
}

// due reports whether the next segment is due.
func (w *Writer) due() bool {
	return w.at.size >= w.options.MaxSize || w.options.Now().Sub(w.began) >= w.options.MaxAge
}

// settle ends a batch: it tells who waits, and takes the waiting back. What could
// not be written is lost, and counted.
func (w *Writer) settle(err error, before tail) {
	if err != nil {
		w.at, w.buf = before, w.buf[:0]
		w.failure.Store(&err)
	} else {
		w.failure.Store(nil)
		if w.due() {
			if err := w.rotate(); err != nil { // what was written stays written
				w.failure.Store(&err)
			}
		}
	}
	for _, d := range w.pending {
		if err != nil && !d.flush {
			w.lost.Add(1)
		}
		if d.written != nil {
			d.written <- err
			continue
		}
		d.Decided, d.decision = Decided{}, policy.Decision{}
		w.free <- d
	}
	clear(w.pending)
	w.pending = w.pending[:0]
}

// rotate begins the next segment and ends the one before. When it cannot, that
// one goes on.
func (w *Writer) rotate() error {
	file, before := w.file, w.at
	if err := w.begin(); err != nil {
		if w.file != file {
			err = errors.Join(err, w.file.Close(), os.Remove(w.file.Name()))
		}
		w.file, w.at, w.buf = file, before, w.buf[:0]
		return err
	}
	if err := errors.Join(file.Sync(), file.Close()); err != nil {
		return err
	}
	options := w.options
	old := segment{writer: w.slot, n: before.segment, name: segmentName(w.slot, before.segment)}
	w.zipping.Go(func() {
		if err := errors.Join(old.zip(w.dir), Prune(w.dir, options)); err != nil {
			w.failure.Store(&err)
		}
	})
	return nil
}

// end closes the files of a Writer that writes no more.
func (w *Writer) end() {
	w.zipping.Wait()
	if n := w.reported(); n > 0 {
		w.note("lost", `,"count":`+strconv.FormatInt(n, 10))
	}
	err := errors.Join(w.write(), w.file.Close(), w.lock.Unlock())
	if err != nil {
		w.failure.Store(&err)
	}
}
