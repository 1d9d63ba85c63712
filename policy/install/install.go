// Package install writes hookc into agents' own settings and takes it out
// again. It knows how each layout of package dialect is edited: what is not
// hookc's stays byte for byte as it was, comments, indentation, line ends and
// other people's hooks included. It works on texts; Rewrite puts one on the
// disk. hookc's own entries are known by their command, never by their place.
package install

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"sort"
	"time"

	"github.com/hookc/hookc/internal/fault"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy/agent"
)

// Entry is one hook that hookc wants in an agent's settings.
type Entry struct {
	// Event is the agent's own name.
	Event string
	// Matcher is the condition on the tool's name, "" if there is none.
	Matcher string
	Command string
	Timeout time.Duration
	// Guard is true where an action is guarded: if the hook itself fails the
	// agent is to refuse, where it can be told so.
	Guard bool
}

// Target is a file's place in an agent's settings, as far as editing goes.
type Target struct {
	// Name is what messages call the file.
	Name    string
	Layout  agent.Layout
	Handler agent.Handler
	// Key is where a matcher's text stands when a matcher is an object.
	Key  string
	Unit time.Duration
	// Own reports whether a command is hookc itself.
	Own func(command string) bool
}

// Found is one hook that stands in a file.
type Found struct {
	Event, Matcher, Command string
	// Odd is true for a matcher that is not of the form the agent reads.
	Odd bool
	// Timeout is 0 when none is written.
	Timeout time.Duration
	Own     bool
	Line    int
}

// Change is what becomes of hookc's entry for an event.
type Change struct {
	Event string `json:"event"`
	// What is added, updated, removed or kept.
	What string `json:"change"`
}

// Problem says where a file is not what can be edited. Nothing is written
// then.
type Problem struct {
	Name      string
	Line, Col int
	Text      string
}

func (p *Problem) Error() string { return fmt.Sprintf("%s:%d:%d: %s", p.Name, p.Line, p.Col, p.Text) }

// Memo is what uninstalling must know of a file that the file does not say.
type Memo struct {
	// Kept are the containers, by their keys, that were there and empty before
	// hookc wrote into them.
	Kept []string `json:"kept,omitempty"`
	// Version is true when hookc added the file's version.
	Version bool `json:"version,omitempty"`
}

// Read lists the hooks of a file, and its settings as plain values.
func (t *Target) Read(content []byte) ([]Found, map[string]any, error) {
	if blank(content) {
		return nil, nil, nil
	}
	switch t.Layout {
	case agent.Groups, agent.Flat:
		return t.readJSON(content)
	case agent.GroupTables, agent.FlatTables:
		return t.readTOML(content)
	case agent.EventLists:
		return t.readYAML(content)
	}
	panic("install: a folder is not a file")
}

// Edit makes want hookc's entries in a file and returns the new content: the
// old one when they stand there already. An empty want takes all of them out,
// and the containers made for them. memo is read and, for containers that are
// there already, written.
func (t *Target) Edit(content []byte, want []Entry, memo *Memo) ([]byte, []Change, error) {
	var out []byte
	var changes []Change
	var err error
	switch t.Layout {
	case agent.Groups, agent.Flat:
		out, changes, err = t.editJSON(content, want, memo)
	case agent.GroupTables, agent.FlatTables, agent.EventLists:
		out, changes, err = t.editLines(content, want)
	default:
		panic("install: a folder is not a file")
	}
	if err != nil {
		return nil, nil, err
	}
	sort.SliceStable(changes, func(i, j int) bool { return changes[i].Event < changes[j].Event })
	return out, changes, t.verify(content, out, want)
}

// verify reads both contents as the agent would: hookc's entries are the
// wanted ones, and nobody else's hook has changed.
func (t *Target) verify(before, after []byte, want []Entry) error {
	old, _, err := t.Read(before)
	if err != nil {
		return err
	}
	now, _, err := t.Read(after)
	if err != nil {
		return fault.Errorf("hookc would make it invalid, so nothing is written: %w", err)
	}
	others := func(list []Found) []Found {
		out := lists.Without(list, func(f *Found) bool { return f.Own })
		for i := range out {
			out[i].Line = 0
		}
		return out
	}
	if !lists.Equal(others(old), others(now)) {
		return errors.New("other hooks would not stay as they are, so nothing is written")
	}
	var own []Found
	for _, f := range now {
		if f.Own {
			f.Line = 0
			own = append(own, f)
		}
	}
	if len(own) != len(want) {
		return fault.Errorf("%s would hold %d entries of hookc in place of %d, so nothing is written", t.Name, len(own), len(want))
	}
	for _, e := range want {
		if !lists.Among(own, t.found(e)) {
			return fault.Errorf("%s cannot hold the entry for %s, so nothing is written", t.Name, e.Event)
		}
	}
	return nil
}

// found is an entry as Read gives it.
func (t *Target) found(e Entry) Found {
	return Found{Event: e.Event, Matcher: e.Matcher, Command: e.Command, Timeout: time.Duration(t.count(e.Timeout)) * t.Unit, Own: true}
}

// count is a timeout in the agent's unit, rounded up.
//
//go:noinline
func (t *Target) count(d time.Duration) int64 { return int64(math.Ceil(float64(d) / float64(t.Unit))) }

// duration is a number of the agent's unit; what overflows is the longest.
//
//go:noinline
func (t *Target) duration(n float64) time.Duration {
	if d := n * float64(t.Unit); d < math.MaxInt64 {
		return time.Duration(d)
	}
	return math.MaxInt64
}

// mark is the byte order mark.
var mark = []byte("\xef\xbb\xbf")

func blank(content []byte) bool { return len(bytes.TrimSpace(bytes.TrimPrefix(content, mark))) == 0 }

// lineEnd is how the lines of a text end.
func lineEnd(content []byte) string {
	if i := bytes.IndexByte(content, '\n'); i > 0 && content[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}

// position is a byte's line and column, both from 1.
func position(content []byte, at int) (line, col int) {
	at = min(max(at, 0), len(content))
	line = 1 + bytes.Count(content[:at], []byte("\n"))
	return line, at - bytes.LastIndexByte(content[:at], '\n')
}

// problem is what is wrong at a byte of a file.
func (t *Target) problem(content []byte, at int, format string, args ...any) error {
	line, col := position(content, at)
	return &Problem{t.Name, line, col, fmt.Sprintf(format, args...)}
}
