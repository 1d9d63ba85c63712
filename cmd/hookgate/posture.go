package main

import (
	_ "embed"
	"slices"
	"strconv"
	"strings"
)

// exitRefused is what every agent reads as deny.
const exitRefused = 2

// refusals is what each agent is told when nothing can answer: a line for
// each answer, with the posture, whether the event is guarded, the exit code,
// stdout and stderr as Go strings, and the events it is for. Package
// policy/agent says the same and would cost the gate a third of its start;
// TestRefusals keeps the two equal.
//
//go:embed refusals.txt
var refusals string

// reasonMark means the reason in refusals.
const reasonMark = "@REASON@"

func isPosture(s string) bool { return s == "deny" || s == "ask" || s == "proceed" }

// refusal is a line of refusals.
type refusal struct {
	guard          bool
	exit           int
	stdout, stderr string
}

// known reports whether refusals has a dialect.
func known(dialect string) bool {
	_, ok := section(dialect)
	return ok
}

// section is the part of refusals about a dialect: it begins with a line of
// its names. A version of its own is answered as the newest one is.
func section(dialect string) (lines string, ok bool) {
	if dialect == "" {
		return "", false
	}
	base, _, _ := strings.Cut(dialect, "@")
	for _, name := range []string{dialect, base} {
		for part := range strings.SplitSeq(refusals, "\n\n") {
			names, lines, _ := strings.Cut(part, "\n")
			if hasWord(names, name) {
				return lines, true
			}
		}
	}
	return "", false
}

func hasWord(line, word string) bool {
	return word != "" && slices.Contains(strings.Split(line, " "), word)
}

// find is the answer for an event; "-" is for an event that is not known.
func find(lines, posture, event string) (r refusal, ok bool) {
	for line := range strings.SplitSeq(lines, "\n") {
		parts := strings.Split(line, "\t")
		if len(parts) != 6 || parts[0] != posture || !hasWord(parts[5], event) {
			continue
		}
		var errs [3]error
		r.guard = parts[1] == "guard"
		r.exit, errs[0] = strconv.Atoi(parts[2])
		r.stdout, errs[1] = strconv.Unquote(parts[3])
		r.stderr, errs[2] = strconv.Unquote(parts[4])
		return r, errs == [3]error{}
	}
	return r, false
}

// posture answers what was declared for when nothing else can.
func (c *call) posture(why string) int {
	lines, _ := section(c.dialect)
	r, ok := find(lines, c.unavailable, c.eventFor(lines))
	if !ok {
		r = refusal{exit: exitRefused, stderr: reasonMark}
	}
	return c.say([]byte(strings.ReplaceAll(r.stdout, reasonMark, why)), []byte(strings.ReplaceAll(r.stderr, reasonMark, why)), r.exit)
}

// eventFor is the event to answer for: the one the agent wrote, unless the
// command line's guards something or the agent's is not known.
func (c *call) eventFor(lines string) string {
	sent := ""
	if input := c.sent.Load(); input != nil {
		sent = sentEvent(*input)
	}
	theirs, hasTheirs := find(lines, "deny", sent)
	ours, hasOurs := find(lines, "deny", c.event)
	switch {
	case hasTheirs && (theirs.guard || !hasOurs || !ours.guard):
		return sent
	case hasOurs:
		return c.event
	}
	return "-"
}

// sentEvent is the event that the input names itself, as far as it can be
// read: the text under one of the keys agents use, in the outermost object.
func sentEvent(input []byte) string {
	depth, key, value := 0, "", false
	for i := 0; i < len(input); i++ {
		switch input[i] {
		case '{', '[':
			depth++
			key, value = "", false
		case '}', ']':
			depth--
		case ',':
			key, value = "", false
		case ':':
			value = true
		case '"':
			text, end := stringAt(input, i)
			i = end
			if depth != 1 {
				continue
			}
			if value && isEventKey(key) && text != "" {
				return text
			}
			if !value {
				key = text
			}
		}
	}
	return ""
}

// stringAt is the text of the string that begins at i and where it ends. One
// with an escape is no name of an event.
func stringAt(b []byte, i int) (text string, end int) {
	plain := true
	for j := i + 1; j < len(b); j++ {
		switch b[j] {
		case '\\':
			plain = false
			j++
		case '"':
			if !plain {
				return "", j
			}
			return string(b[i+1 : j]), j
		}
	}
	return "", len(b)
}

func isEventKey(key string) bool {
	switch key {
	case "hook_event_name", "hookEventName", "event_type", "event":
		return true
	}
	return false
}
