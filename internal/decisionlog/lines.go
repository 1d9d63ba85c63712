package decisionlog

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/hookc/hookc/policy/scan"
)

// decisionLine is how the writer begins the line of a decision.
const decisionLine = `{"type":"decision","decision_id":"`

// Lines gives the lines of a log that hold decisions made at a time or later, as they
// are written, a writer's in order; what it gives holds until the next. So are those
// given that cannot be read: whoever decodes them says so. A file that cannot be read
// is passed over, and the error says which; that of give ends it. lost is how many
// decisions are not there because there was no room.
func Lines(dir string, since time.Time, give func(file string, number int, line []byte) error) (lost int64, err error) {
	list, err := segments(dir)
	if err != nil {
		return 0, err
	}
	from := string(appendTime(nil, since))
	var unread []error
	for _, s := range list {
		var stopped error
		each := func(number int, line []byte) error {
			if !bytes.HasPrefix(line, []byte(decisionLine)) {
				e, err := parse(line)
				if err == nil && e.Type != "decision" {
					if e.Type == "lost" && !e.Timestamp.Before(since) {
						lost += e.Count
					}
					return nil
				}
			} else if at, whole := timeOf(line); whole && string(at) < from {
				return nil
			}
			stopped = give(s.name, number, line)
			return stopped
		}
		if info, err := os.Stat(filepath.Join(dir, s.name)); err == nil && info.ModTime().Before(since.Truncate(time.Second)) {
			continue
		}
		_, _, err := s.lines(dir, each)
		if errors.Is(err, fs.ErrNotExist) && !s.zipped { // it was compressed just now
			s.name, s.zipped = s.name+".gz", true
			_, _, err = s.lines(dir, each)
		}
		switch {
		case stopped != nil:
			return lost, stopped
		case err == nil, errors.Is(err, fs.ErrNotExist): // it was taken away just now
		case errors.Is(err, io.ErrUnexpectedEOF) || !errors.Is(err, io.EOF):
			unread = append(unread, err)
		}
	}
	return lost, errors.Join(unread...)
}

// timeOf is when a decision was made, by its line: times of one form are ordered as
// their texts are.
func timeOf(line []byte) ([]byte, bool) {
	const key, form = `","timestamp":"`, "2006-01-02T15:04:05.000000Z"
	rest := line[len(decisionLine):]
	at := bytes.IndexByte(rest, '"')
	if at < 0 || !bytes.HasPrefix(rest[at:], []byte(key)) || len(rest) < at+len(key)+len(form) {
		return nil, false
	}
	text := rest[at+len(key):][:len(form)]
	return text, text[len(form)-1] == 'Z'
}

// Raw is a decision's entry of which only these members are told apart; nil is that
// there is none.
type Raw struct{ Type, ID, Path, Input, Result, Answers, Chain []byte }

// others are the members of an entry that Raw does not have.
var others = [...]string{"timestamp", "labels", "session_id", "error", "grant", "revision", "masked", "erased", "mask_error", "us", "writer", "seq"}

// Split tells the members of an entry apart; false is for text that is no entry, or is
// written as no Writer writes it. Results that known has were read before: they are not
// read again. Nor is an Input that seems to end before the result: the entry is one only
// if that is an object, which whoever decodes it sees.
func Split(line []byte, known [][]byte) (r Raw, ok bool) {
	seen := uint(0)
	pass := func(key, follows []byte) int {
		switch string(key) {
		case "result":
			for _, k := range known { // none is the beginning of another
				if bytes.HasPrefix(follows, k) {
					return len(k)
				}
			}
		case "input":
			// What is shorter is not nested too deep for a part of an entry.
			if n := bytes.Index(follows[:min(len(follows), 2*scan.MaxDepth)], []byte(`},"result":{"`)); n > 0 {
				return n + 1
			}
		}
		return 0
	}
	ok = scan.MembersPassing(line, pass, func(key, value []byte) bool {
		bit := uint(0)
		switch string(key) {
		case "type":
			r.Type, bit = value, 1<<0
		case "decision_id":
			r.ID, bit = value, 1<<1
		case "path":
			r.Path, bit = value, 1<<2
		case "input":
			r.Input, bit = value, 1<<3
		case "result":
			r.Result, bit = value, 1<<4
		case "answers":
			r.Answers, bit = value, 1<<5
		case "chain":
			r.Chain, bit = value, 1<<6
		default:
			for i, name := range others {
				if string(key) == name {
					bit = 1 << (7 + i)
				}
			}
		}
		is := seen&bit == 0 && bit != 0
		seen |= bit
		return is
	})
	return r, ok && string(r.Type) == `"decision"` && r.Chain != nil
}
