package decisionlog

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"iter"
	"time"
)

// Entries gives the entries of all writers of a log in the order of their times;
// those of one writer stay in theirs. A line that cannot be read is given as an
// error, and what follows it is read.
func Entries(dir string) iter.Seq2[*Entry, error] {
	return merged(dir, true, func(list []segment) iter.Seq2[*Entry, error] { return written(dir, list) })
}

// merged gives what is read of each writer's segments in the order of times, or in its
// reverse.
//
//go:noinline
func merged(dir string, ascending bool, of func([]segment) iter.Seq2[*Entry, error]) iter.Seq2[*Entry, error] {
	return func(yield func(*Entry, error) bool) {
		list, err := segments(dir)
		if err != nil {
			yield(nil, err)
			return
		}
		var streams []*stream
		defer func() {
			for _, s := range streams {
				s.stop()
			}
		}()
		for len(list) > 0 {
			n := 1
			for n < len(list) && list[n].writer == list[0].writer {
				n++
			}
			s := new(stream)
			s.next, s.stop = iter.Pull2(of(list[:n]))
			streams = append(streams, s)
			s.advance()
			list = list[n:]
		}
		for {
			var first *stream
			for _, s := range streams {
				if s.more && (first == nil || s.err != nil || first.err == nil && s.entry.Timestamp.Before(first.entry.Timestamp) == ascending) {
					first = s
				}
			}
			if first == nil || !yield(first.entry, first.err) {
				return
			}
			first.advance()
		}
	}
}

// stream is the entries of one writer.
type stream struct {
	next  func() (*Entry, error, bool)
	stop  func()
	entry *Entry
	err   error
	more  bool
}

func (s *stream) advance() { s.entry, s.err, s.more = s.next() }

// written gives the entries of one writer's segments.
func written(dir string, list []segment) iter.Seq2[*Entry, error] {
	return func(yield func(*Entry, error) bool) {
		stopped := errors.New("enough")
		for _, s := range list {
			_, _, err := s.lines(dir, func(number int, line []byte) error {
				e, err := parse(line)
				if err != nil {
					err = s.wrong(number, err)
				}
				if !yield(e, err) {
					return stopped
				}
				return nil
			})
			if errors.Is(err, stopped) {
				return
			}
			if err != nil && !errors.Is(err, io.EOF) && !yield(nil, err) {
				return
			}
		}
	}
}

// followEvery is how often Follow looks for more.
const followEvery = 200 * time.Millisecond

// Follow gives the entries that are written from now on, until ctx ends or give
// fails. Those of one writer come in order.
func Follow(ctx context.Context, dir string, give func(*Entry) error) error {
	seen := map[int]segment{}
	tick := time.NewTicker(followEvery)
	defer tick.Stop()
	for first := true; ; first = false {
		list, err := segments(dir)
		if err != nil {
			return err
		}
		for _, s := range list {
			at := seen[s.writer]
			switch {
			case s.n < at.n:
				continue
			case s.n == at.n && s.zipped: // its writer is in the next
				continue
			case s.n == at.n:
				s.from = at.from
			}
			whole, _, err := s.lines(dir, func(_ int, line []byte) error {
				if first {
					return nil
				}
				e, err := parse(line)
				if err != nil {
					return err
				}
				return give(e)
			})
			if errors.Is(err, fs.ErrNotExist) { // it was compressed just now
				continue
			}
			if err != nil {
				return err
			}
			s.from += whole
			seen[s.writer] = s
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}
