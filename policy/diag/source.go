// Package diag says where a thing was written and what is wrong with it:
// sources, spans, texts that remember their lines, codes and diagnostics.
// It is a low layer: beside the standard library it imports internal/finding and internal/spell alone.
package diag

import (
	"sort"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/hookc/hookc/internal/spell"
)

// Source is one file hookc read. It is immutable and safe for concurrent use.
type Source struct {
	// Name is the path shown to people, as given or relative to the folder
	// hookc was started in.
	Name string
	// Content is the file, byte for byte.
	Content string

	once  sync.Once
	lines []int
}

// NewSource returns the source called name with the given content.
//
//go:noinline
func NewSource(name, content string) *Source {
	return &Source{Name: name, Content: content}
}

// index holds the byte offset at which each line starts.
func (s *Source) index() []int {
	s.once.Do(func() {
		s.lines = append(s.lines, 0)
		for i := range len(s.Content) {
			if s.Content[i] == '\n' {
				s.lines = append(s.lines, i+1)
			}
		}
	})
	return s.lines
}

// LineCol turns a byte offset into a line and a column, both from 1. The
// column counts characters, not bytes; an offset past the end is the end.
func (s *Source) LineCol(offset int) (line, col int) {
	offset = min(max(offset, 0), len(s.Content))
	lines := s.index()
	line = sort.Search(len(lines), func(i int) bool { return lines[i] > offset })
	return line, utf8.RuneCountInString(s.Content[lines[line-1]:offset]) + 1
}

// Line returns the text of line n (from 1) without its line break, or "" when
// there is no such line.
func (s *Source) Line(n int) string {
	lines := s.index()
	if n < 1 || n > len(lines) {
		return ""
	}
	text := s.Content[lines[n-1]:]
	if i := strings.IndexByte(text, '\n'); i >= 0 {
		text = text[:i]
	}
	return strings.TrimSuffix(text, "\r")
}

// Offset returns the byte offset of a line and a column, both from 1, where
// the column counts characters. Out of range values are clamped.
func (s *Source) Offset(line, col int) int {
	lines := s.index()
	if line < 1 {
		return 0
	}
	if line > len(lines) {
		return len(s.Content)
	}
	at := lines[line-1]
	for ; col > 1 && at < len(s.Content) && s.Content[at] != '\n'; col-- {
		_, n := utf8.DecodeRuneInString(s.Content[at:])
		at += n
	}
	return at
}

// Span is a byte range of a Source. The zero Span is nowhere.
type Span struct {
	Source     *Source
	Start, End int
}

// IsZero reports whether the span is nowhere.
//
//go:noinline
func (p Span) IsZero() bool { return p.Source == nil }

// Position returns the line and column, from 1, at which the span starts.
//
//go:noinline
func (p Span) Position() (line, col int) {
	if p.Source == nil {
		return 0, 0
	}
	return p.Source.LineCol(p.Start)
}

// File returns the name of the span's source, "" for nowhere.
//
//go:noinline
func (p Span) File() string {
	if p.Source == nil {
		return ""
	}
	return p.Source.Name
}

// String is file:line:col, or "" for nowhere.
func (p Span) String() string {
	if p.Source == nil {
		return ""
	}
	line, col := p.Position()
	return spell.Line(p.Source.Name) + ":" + strconv.Itoa(line) + ":" + strconv.Itoa(col)
}

// Text is a string lifted out of a Source that still knows where each of its
// bytes was written, whatever quoting or folding stood between.
type Text struct {
	Value string
	Span  Span
	marks []Mark
}

// Mark says that from byte Body of a text on, byte i of the text was written
// at byte Source+(i-Body) of the source, up to the next mark.
type Mark struct{ Body, Source int }

// NewText returns a text with the given value, written at span. Marks are in
// ascending order of Body; without marks the whole text maps to the start of
// the span.
//
//go:noinline
func NewText(value string, span Span, marks []Mark) Text {
	return Text{Value: value, Span: span, marks: marks}
}

// Literal is a text that was not read from a file.
func Literal(value string) Text { return Text{Value: value} }

// IsZero reports whether the text was never set.
//
//go:noinline
func (t Text) IsZero() bool { return t.Value == "" && t.Span.IsZero() }

// String is the text's value.
func (t Text) String() string { return t.Value }

// At returns where the bytes [start,end) of the text were written.
func (t Text) At(start, end int) Span {
	if t.Span.Source == nil || len(t.marks) == 0 {
		return t.Span
	}
	start = min(max(start, 0), len(t.Value))
	end = min(max(end, start), len(t.Value))
	from := t.source(start)
	to := from
	if end > start {
		to = t.source(end-1) + 1
	}
	return Span{Source: t.Span.Source, Start: from, End: max(to, from)}
}

// AtLineCol returns where the character at a line and a column of the text
// was written. Both count from 1, the column in bytes, as OPA reports them.
func (t Text) AtLineCol(line, col int) Span {
	at := 0
	for ; line > 1; line-- {
		i := strings.IndexByte(t.Value[at:], '\n')
		if i < 0 {
			break
		}
		at += i + 1
	}
	at = min(at+max(col-1, 0), len(t.Value))
	return t.At(at, at+1)
}

func (t Text) source(body int) int {
	i := sort.Search(len(t.marks), func(i int) bool { return t.marks[i].Body > body })
	if i == 0 {
		return t.Span.Start
	}
	m := t.marks[i-1]
	return m.Source + body - m.Body
}
