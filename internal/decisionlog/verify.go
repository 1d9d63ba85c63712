package decisionlog

import (
	"errors"
	"fmt"

	"github.com/hookc/hookc/internal/fault"
)

// Verified is what a log was found to be.
type Verified struct {
	// Entries, Segments and Writers were read; Lost decisions are said to be
	// missing by the log itself.
	Entries, Segments, Writers int
	Lost                       int64
	// Checkpoints were signed by the key that was asked for.
	Checkpoints int
	// Torn are files whose last line was not written whole, which the next
	// writer repairs.
	Torn []string
	// From are, for each writer whose oldest segments were pruned, the first
	// segment that is left.
	From []string
}

// Wrong is the first entry of a log that is not as it was written.
type Wrong struct {
	File string
	// Line is counted from 1; Seq is the number the entry should have.
	Line int
	Seq  uint64
	Why  string
}

func (w *Wrong) Error() string {
	return fmt.Sprintf("%s:%d:1: entry %d: %s", w.File, w.Line, w.Seq, w.Why)
}

func (s segment) wrong(line int, err error) error {
	return &Wrong{File: s.name, Line: line, Why: err.Error()}
}

// Verify reads a whole log: every entry must be there, as it was written and in
// its place. The error is a *Wrong for the first that is not. checked verifies
// the note of a checkpoint against the chain so far; nil passes over them.
func Verify(dir string, check func(e *Entry, chain string) error) (*Verified, error) {
	list, err := segments(dir)
	if err != nil {
		return nil, err
	}
	v := &Verified{}
	var c chain
	for i, s := range list {
		if i == 0 || list[i-1].writer != s.writer {
			v.Writers++
			c = chain{check: check, seen: v}
			if s.n > 1 {
				v.From = append(v.From, s.name)
			}
		} else if s.n != list[i-1].n+1 {
			return v, &Wrong{File: s.name, Line: 1, Seq: c.seq + 1, Why: fmt.Sprintf("the segments between %s and this one are missing", list[i-1].name)}
		}
		v.Segments++
		last := i+1 == len(list) || list[i+1].writer != s.writer
		whole, all, err := s.lines(dir, func(number int, line []byte) error { return c.line(s, number, line) })
		if err != nil {
			return v, err
		}
		if whole == 0 && !last {
			return v, &Wrong{File: s.name, Line: 1, Seq: c.seq + 1, Why: "the file is empty"}
		}
		switch {
		case whole == all:
		case last:
			v.Torn = append(v.Torn, s.name)
		default:
			return v, &Wrong{File: s.name, Line: c.at + 1, Seq: c.seq + 1, Why: "the line is not whole"}
		}
	}
	return v, nil
}

// chain follows the entries of one writer.
type chain struct {
	check func(e *Entry, chain string) error
	seen  *Verified
	seq   uint64
	link  link
	at    int
	begun bool
}

// line verifies one line of a segment.
func (c *chain) line(s segment, number int, line []byte) error {
	c.at = number
	wrong := func(why error) error { return &Wrong{s.name, number, c.seq + 1, why.Error()} }
	body, l, err := split(line)
	if err != nil {
		return wrong(err)
	}
	e, err := parse(line)
	if err != nil {
		return wrong(err)
	}
	if number == 1 {
		if err := c.header(s, e); err != nil {
			return wrong(err)
		}
	}
	if e.Seq != c.seq+1 || e.Writer != s.writer {
		return wrong(fault.Errorf("here is entry %d of writer %d: entries are missing or out of order", e.Seq, e.Writer))
	}
	if c.link.next(body) != l {
		return wrong(errors.New("it was changed, or one before it: its hash is another"))
	}
	if e.Type == "checkpoint" && c.check != nil {
		if err := c.check(e, c.link.String()); err != nil {
			return wrong(err)
		}
		c.seen.Checkpoints++
	}
	if e.Type == "lost" {
		c.seen.Lost += e.Count
	}
	c.seq, c.link = e.Seq, l
	c.seen.Entries++
	return nil
}

// header verifies the first line of a segment. What was before the first that is
// left was pruned: it cannot be verified.
func (c *chain) header(s segment, e *Entry) error {
	previous, err := parseLink(e.Previous)
	if e.Type != "segment" || err != nil || e.Segment != s.n {
		return errors.New("the file does not begin with the line that says which segment it is")
	}
	if !c.begun && s.n > 1 {
		c.seq, c.link = e.Seq-1, previous
	}
	c.begun = true
	if previous != c.link {
		return errors.New("the segment does not follow the one before it")
	}
	return nil
}
