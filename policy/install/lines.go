package install

import (
	"bytes"
	"strings"

	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy/agent"
)

// The marks between which hookc's lines stand where a file cannot be edited
// value by value.
const (
	beginMark = "# >>> hookc"
	beginLine = beginMark + ": written by hookc install, taken away by hookc uninstall >>>"
	endMark   = "# <<< hookc"
	endLine   = endMark + " <<<"
)

// editLines replaces the marked lines of a file. Entries that are right stay
// where they are.
func (t *Target) editLines(content []byte, want []Entry) ([]byte, []Change, error) {
	old, _, err := t.Read(content)
	if err != nil {
		return nil, nil, err
	}
	rest, err := t.unmarked(content, false)
	if err != nil {
		return nil, nil, err
	}
	blanked, err := t.unmarked(content, true) // every other line keeps its number
	if err != nil {
		return nil, nil, err
	}
	stray, _, err := t.Read(blanked)
	if err != nil {
		return nil, nil, err
	}
	for _, f := range stray {
		if f.Own {
			return nil, nil, t.problem(content, lineStart(content, f.Line), "a hook of hookc for %s stands outside the marked lines: take it out by hand", f.Event)
		}
	}
	changes, same := t.compare(old, want)
	switch {
	case same:
		return content, changes, nil
	case len(want) == 0:
		return rest, changes, nil
	case t.Layout == agent.EventLists:
		out, err := t.writeYAML(rest, want)
		return out, changes, err
	}
	return addLines(rest, len(rest), t.writeTOML(want)), changes, nil
}

// compare says what becomes of each event's entry; same is true when nothing
// does.
func (t *Target) compare(old []Found, want []Entry) (out []Change, same bool) {
	same = true
	note := func(event, what string) {
		out = append(out, Change{event, what})
		same = same && what == "kept"
	}
	for _, e := range want {
		mine := lists.Without(old, func(f *Found) bool { return !f.Own || f.Event != e.Event })
		for i := range mine {
			mine[i].Line = 0
		}
		switch {
		case len(mine) == 0:
			note(e.Event, "added")
		case len(mine) == 1 && mine[0] == t.found(e):
			note(e.Event, "kept")
		default:
			note(e.Event, "updated")
		}
	}
	for _, f := range old {
		gone := f.Own && !lists.Some(want, func(e *Entry) bool { return e.Event == f.Event })
		if gone && !lists.Among(out, Change{f.Event, "removed"}) {
			note(f.Event, "removed")
		}
	}
	return out, same
}

// lineStart is the byte at which a line, from 1, begins.
func lineStart(content []byte, line int) int {
	at := 0
	for ; line > 1; line-- {
		n := bytes.IndexByte(content[at:], '\n')
		if n < 0 {
			break
		}
		at += n + 1
	}
	return at
}

// addLines puts whole lines at the beginning of a line, or after the last one.
// Taking the marked lines out again gives the same bytes.
func addLines(content []byte, at int, lines []string) []byte {
	nl := lineEnd(content)
	text := strings.Join(lines, nl)
	if at > 0 && content[at-1] != '\n' {
		text = nl + text
	} else {
		text += nl
	}
	return lists.Concat(content[:at], []byte(text), content[at:])
}

// unmarked is a file without the marked lines, or with empty ones for them.
func (t *Target) unmarked(content []byte, empty bool) ([]byte, error) {
	var out []byte
	begun := -1
	var ended []byte // how the first marked line ends
	for at := 0; at < len(content); {
		next := len(content)
		if n := bytes.IndexByte(content[at:], '\n'); n >= 0 {
			next = at + n + 1
		}
		line := strings.TrimSpace(string(content[at:next]))
		switch {
		case strings.HasPrefix(line, beginMark) && begun >= 0, strings.HasPrefix(line, endMark) && begun < 0:
			return nil, t.problem(content, at, "the marks of hookc's lines do not pair")
		case strings.HasPrefix(line, beginMark):
			begun, ended = at, []byte(lineEnd(content[at:next]))
		case strings.HasPrefix(line, endMark):
			begun = -1
			if content[next-1] != '\n' { // hookc ended the line before
				out = bytes.TrimSuffix(out, ended)
			}
		case begun < 0:
			out = append(out, content[at:next]...)
		}
		if marked := begun >= 0 || strings.HasPrefix(line, endMark); marked && empty {
			out = append(out, '\n')
		}
		at = next
	}
	if begun >= 0 {
		return nil, t.problem(content, begun, "the marks of hookc's lines do not pair")
	}
	return out, nil
}
