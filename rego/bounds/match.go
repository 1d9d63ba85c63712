package bounds

import (
	"io"
	"regexp"
	"unicode/utf8"
)

// LongSubject reports whether a text is so long that a pattern is looked for in
// it by Match.
func LongSubject(s string) bool { return len(s) > longSubject }

// Match tells whether a pattern matches a text, as re.MatchString does. It asks
// stop on the way, and gives up when that says so.
func Match(re *regexp.Regexp, s string, stop func() bool) (matched, stopped bool) {
	r := subject{rest: s, stop: stop}
	matched = re.MatchReader(&r)
	return matched && !r.stopped, r.stopped
}

// between is how many characters are read between two questions.
const between = 1 << 12

// subject is a text that ends when its reader must stop.
type subject struct {
	rest    string
	read    int
	stop    func() bool
	stopped bool
}

// ReadRune is an io.RuneReader's.
func (s *subject) ReadRune() (r rune, size int, err error) {
	if s.read++; s.read%between == 0 && !s.stopped {
		s.stopped = s.stop()
	}
	if s.stopped || s.rest == "" {
		return 0, 0, io.EOF
	}
	r, size = rune(s.rest[0]), 1
	if r >= utf8.RuneSelf {
		r, size = utf8.DecodeRuneInString(s.rest)
	}
	s.rest = s.rest[size:]
	return r, size, nil
}
