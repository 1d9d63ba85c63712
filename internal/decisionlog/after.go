package decisionlog

import (
	"errors"
	"io/fs"
	"slices"
)

// Position is how far the entries of a writer were read: the line of the last one
// begins At bytes into a segment, and Seq and Chain are those of its entry.
type Position struct {
	Segment int    `json:"segment"`
	At      int64  `json:"at"`
	Seq     uint64 `json:"seq"`
	Chain   string `json:"chain"`
}

// errOther is that a position was taken in another file than the one that is there now.
var errOther = errors.New("it is another log")

// After gives the entries that follow the known positions, those of a writer in order,
// each with its own position. A writer is given from its first entry where nothing is
// known, and where its files are not those that the position was taken in. missing is how
// many entries were taken away or damaged before they were given. An error of give ends
// it; files that cannot be read are passed over, and the error says which.
func After(dir string, known map[int]Position, give func(writer int, at Position, e *Entry) error) (missing uint64, err error) {
	list, err := segments(dir)
	if err != nil {
		return 0, err
	}
	var unread []error
	for len(list) > 0 {
		end := slices.IndexFunc(list, func(s segment) bool { return s.writer != list[0].writer })
		if end < 0 {
			end = len(list)
		}
		r := follower{dir: dir, give: give}
		r.last, r.known = known[list[0].writer]
		err := r.read(list[:end])
		if errors.Is(err, errOther) {
			r = follower{dir: dir, give: give}
			err = r.read(list[:end])
		}
		missing += r.missing
		if r.stopped != nil {
			return missing, r.stopped
		}
		if err != nil {
			unread = append(unread, err)
		}
		list = list[end:]
	}
	return missing, errors.Join(unread...)
}

// follower reads the segments of one writer behind a position.
type follower struct {
	dir     string
	give    func(writer int, at Position, e *Entry) error
	last    Position
	known   bool
	missing uint64
	stopped error
}

func (r *follower) read(list []segment) error {
	begin := 0
	if r.known {
		begin = slices.IndexFunc(list, func(s segment) bool { return s.n >= r.last.Segment })
		if begin < 0 {
			return errOther
		}
	}
	var unread []error
	for _, s := range list[begin:] {
		err := r.segment(s)
		if errors.Is(err, fs.ErrNotExist) && !s.zipped { // it was compressed just now
			s.name, s.zipped = s.name+".gz", true
			err = r.segment(s)
		}
		switch {
		case errors.Is(err, errOther), r.stopped != nil:
			return err
		case err != nil && !errors.Is(err, fs.ErrNotExist): // it was taken away just now
			unread = append(unread, err)
		}
	}
	return errors.Join(unread...)
}

// segment gives what follows the position in one segment. The line at the position
// must be the one that was read.
func (r *follower) segment(s segment) error {
	from, offset := int64(0), int64(0)
	resumed := r.known && s.n == r.last.Segment
	if resumed {
		from = r.last.At
		if !s.zipped {
			s.from, offset = from, from
		}
	}
	found := !resumed
	_, _, err := s.lines(r.dir, func(_ int, line []byte) error {
		at := offset
		offset += int64(len(line)) + 1
		if at < from {
			return nil
		}
		e, err := parse(line)
		if !found {
			if err != nil || at != from || e.Seq != r.last.Seq || e.Chain != r.last.Chain {
				return errOther
			}
			found = true
			return nil
		}
		if err != nil {
			return nil // the number of the next one says that one is missing
		}
		next := Position{s.n, at, e.Seq, e.Chain}
		if r.known && e.Seq > r.last.Seq+1 {
			r.missing += e.Seq - r.last.Seq - 1
		}
		if r.stopped = r.give(s.writer, next, e); r.stopped != nil {
			return r.stopped
		}
		r.last, r.known = next, true
		return nil
	})
	if err == nil && !found {
		return errOther
	}
	return err
}
