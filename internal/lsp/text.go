package lsp

import (
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"sort"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/hookc/hookc/policy/diag"
)

// position is a place as the protocol counts: lines and UTF-16 units, from 0.
type position struct {
	Line      int `json:"line"`
	Character int `json:"character"`
}

type span struct {
	Start position `json:"start"`
	End   position `json:"end"`
}

type location struct {
	URI   string `json:"uri"`
	Range span   `json:"range"`
}

// text is a document and where its lines begin. A line ends with \n, \r\n or \r.
type text struct {
	s      string
	starts []int
}

//go:noinline
func newText(s string) *text {
	t := &text{s: s, starts: []int{0}}
	for i := range len(s) {
		if s[i] == '\n' || s[i] == '\r' && (i+1 == len(s) || s[i+1] != '\n') {
			t.starts = append(t.starts, i+1)
		}
	}
	return t
}

// line is a line without its end; its number is from 0.
func (t *text) line(n int) string {
	end := len(t.s)
	if n+1 < len(t.starts) {
		end = t.starts[n+1]
	}
	return strings.TrimRight(t.s[t.starts[n]:end], "\r\n")
}

// offset is the byte at a position; one that is not there is the nearest before it.
func (t *text) offset(p position) int {
	if p.Line < 0 {
		return 0
	}
	if p.Line >= len(t.starts) {
		return len(t.s)
	}
	at, line := t.starts[p.Line], t.line(p.Line)
	for i, r := range line {
		if p.Character <= 0 {
			return at + i
		}
		if p.Character -= utf16.RuneLen(r); p.Character < 0 { // the middle of a pair
			return at + i
		}
	}
	return at + len(line)
}

// position is where a byte is.
func (t *text) position(offset int) position {
	offset = min(max(offset, 0), len(t.s))
	n := sort.Search(len(t.starts), func(i int) bool { return t.starts[i] > offset }) - 1
	units := 0
	for i := t.starts[n]; i < offset; {
		r, size := utf8.DecodeRuneInString(t.s[i:])
		units, i = units+utf16.RuneLen(r), i+size
	}
	return position{n, units}
}

func (t *text) span(start, end int) span { return span{t.position(start), t.position(end)} }

// word is the name around a byte: letters, digits, _, - and the dots within. start is
// where it begins.
func (t *text) word(offset int) (word string, start int) {
	is := func(i int) bool {
		c := t.s[i]
		return c == '_' || c == '.' || c == '-' || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z'
	}
	start, end := offset, offset
	for start > 0 && is(start-1) {
		start--
	}
	for end < len(t.s) && is(end) {
		end++
	}
	return strings.Trim(t.s[start:end], ".-"), start
}

// rangeOf is where a span of a policy is.
func rangeOf(s diag.Span) span {
	if s.Source == nil {
		return span{}
	}
	return newText(s.Source.Content).span(s.Start, s.End)
}

// pathOf is the file that a URI names; false for one that is none of this machine.
func pathOf(uri string) (string, bool) {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" || u.Host != "" && u.Host != "localhost" || strings.ContainsRune(u.Path, 0) {
		return "", false
	}
	path := u.Path
	if runtime.GOOS == "windows" { // /c:/a
		path = strings.TrimPrefix(path, "/")
	}
	path = filepath.FromSlash(path)
	return filepath.Clean(path), filepath.IsAbs(path)
}

func uriOf(path string) string {
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	return (&url.URL{Scheme: "file", Path: path}).String()
}

// textOf is what a file holds: in the editor, or else on the disk, if it is one of the
// editor's.
func (s *Server) textOf(path string) (string, bool) {
	if text, ok := s.draft(path); ok {
		return text, true
	}
	if !s.inside(path) || !regular(path) {
		return "", false
	}
	text, err := os.ReadFile(path)
	return string(text), err == nil
}

// regular reports whether a path is a file that is one: a pipe may never end.
func regular(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Size() <= maxMessage
}
