// Package disk tells whether a file was changed, without reading it: what is
// read once need not be read again. It trusts the time of the last change of
// a file's content or attributes, which no program can set, and nothing that
// was changed so shortly before it was looked at that a further change could
// carry the same time.
package disk

import "time"

// Print is what tells that a file was changed. Two equal Prints, of which the
// first is Settled, are of one content. The zero Print is of a file that was
// never looked at, and equals none that Look returns.
type Print struct {
	dev, ino  uint64
	size      int64
	sec, nsec int64
	mode      uint32
	state     state
}

type state uint8

const (
	unseen state = iota
	there
	missing
	// bad is a file that cannot be looked at, or on a system whose files do not
	// say when they were changed.
	bad
)

// SameKind reports whether two files are both there and of one kind, or both
// missing, whatever they hold.
func (p Print) SameKind(q Print) bool {
	const kinds = 0o170000
	return p.state == q.state && p.state != bad && p.mode&kinds == q.mode&kinds
}

// Missing reports whether there is no such file.
func (p Print) Missing() bool { return p.state == missing }

// Bad reports whether it cannot be looked at.
func (p Print) Bad() bool { return p.state == bad }

// Folder reports whether it is a folder.
func (p Print) Folder() bool { return p.mode&0o170000 == 0o040000 }

// Changed is when the file was changed.
func (p Print) Changed() time.Time { return time.Unix(p.sec, p.nsec) }

// Since reports whether a file may have been changed since a time. Clocks of
// file systems have ticks: some of milliseconds, some of two seconds.
func (p Print) Since(t time.Time) bool {
	tick := 100 * time.Millisecond
	if p.nsec == 0 {
		tick = 2 * time.Second
	}
	return p.state != missing && p.Changed().After(t.Add(-tick))
}

// Settled reports whether a change made after the file was looked at, at a
// time, would show.
func (p Print) Settled(at time.Time) bool {
	return p.state == missing || p.state == there && !p.Since(at)
}
