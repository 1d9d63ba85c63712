package print

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy/source/tree"
	"gopkg.in/yaml.v3"
)

// This file writes YAML. It does not use the library's encoder, whose choice
// of quotes and line breaks is not the same in every version, and which keeps
// no comment where it was meant to be. What it writes, ParseYAML reads back
// byte for byte; a fuzz test holds it to that.

// block is a map or a list that is written over several lines.
type block struct {
	entries []blockEntry
	// list is true for a list: its entries have no keys.
	list bool
	// apart puts an empty line between the entries.
	apart bool
}

// blockEntry is one entry with the comments above it.
type blockEntry struct {
	key      string
	value    any // block, flow, word or string
	comments []string
}

// word is a scalar that is written as it stands: a number or a boolean.
type word string

// flow is a list of texts on one line.
type flow []string

// put adds an entry to a map.
//
//go:noinline
func (b *block) put(key string, value any) {
	b.entries = append(b.entries, blockEntry{key: key, value: value})
}

// some is put of what is not empty: a block with entries, a text, a list that is not nil.
func (b *block) some(key string, value any) {
	list, isFlow := value.(flow)
	inner, isBlock := value.(block)
	if value != "" && (!isFlow || list != nil) && (!isBlock || len(inner.entries) > 0) {
		b.put(key, value)
	}
}

// write writes a block whose entries are indented by indent columns. The first
// line is not indented when the block continues one that has been begun.
func (b *block) write(w *strings.Builder, indent int, begun bool) {
	for i, e := range b.entries {
		if b.apart && i > 0 {
			w.WriteByte('\n')
		}
		for _, c := range e.comments {
			writeComment(w, indent, c, begun)
			begun = false
		}
		if !begun {
			w.WriteString(strings.Repeat(" ", indent))
		}
		begun = false
		if b.list {
			w.WriteByte('-')
		} else {
			w.WriteString(flowText(e.key))
			w.WriteByte(':')
		}
		writeValue(w, e.value, indent, b.list)
	}
}

// writeValue writes what follows a key or a dash, to the end of the line.
func writeValue(w *strings.Builder, v any, indent int, item bool) {
	switch v := v.(type) {
	case block:
		switch {
		case len(v.entries) == 0 && v.list:
			w.WriteString(" []\n")
		case len(v.entries) == 0:
			w.WriteString(" {}\n")
		case item && (v.list || len(v.entries[0].comments) == 0):
			w.WriteByte(' ')
			v.write(w, indent+2, true)
		default:
			w.WriteByte('\n')
			v.write(w, indent+2, false)
		}
	case flow:
		fmt.Fprintf(w, " [%s]\n", strings.Join(lists.Each(v, flowText), ", "))
	case word:
		fmt.Fprintf(w, " %s\n", v)
	case string:
		if literal(v) {
			writeLiteral(w, v, indent+2)
			return
		}
		fmt.Fprintf(w, " %s\n", blockText(v))
	default:
		panic(fmt.Sprintf("print: a %T cannot be printed", v))
	}
}

// writeComment writes a comment of one or more lines. What a line cannot hold
// is escaped: a comment must not end early and leave its rest as YAML.
func writeComment(w *strings.Builder, indent int, text string, begun bool) {
	for _, line := range strings.Split(text, "\n") {
		if !begun {
			w.WriteString(strings.Repeat(" ", indent))
		}
		begun = false
		w.WriteString(strings.TrimRight("# "+commentText(line), " "))
		w.WriteByte('\n')
	}
}

// commentText is a text with what cannot be seen as escapes.
func commentText(s string) string {
	var b strings.Builder
	for _, r := range s {
		if visible(r) {
			b.WriteRune(r)
		} else {
			b.WriteString(escape(r))
		}
	}
	return b.String()
}

// visible reports whether a character means itself in every context.
//
//go:noinline
func visible(r rune) bool { return r == ' ' || unicode.IsPrint(r) && r != utf8.RuneError }

// blockText is a text on one line after a key or a dash.
func blockText(s string) string {
	if bare(s) && !strings.Contains(s, ": ") && !strings.Contains(s, " #") && !strings.HasSuffix(s, ":") {
		return s
	}
	return quoted(s)
}

// flowText is a text inside brackets, or a key.
func flowText(s string) string {
	harmless := func(r rune) bool {
		return unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune(" _-./*+~$^()", r)
	}
	if bare(s) && !strings.ContainsFunc(s, func(r rune) bool { return !harmless(r) }) {
		return s
	}
	return quoted(s)
}

// bare reports whether a text may do without quotes: it begins harmlessly,
// holds nothing unseen, and no reader takes it for anything but text, those of
// YAML 1.1 included.
func bare(s string) bool {
	first, _ := utf8.DecodeRuneInString(s)
	if s == "" || !unicode.IsLetter(first) && !unicode.IsDigit(first) && !strings.ContainsRune("_/.$^(~", first) ||
		strings.HasSuffix(s, " ") || strings.HasPrefix(s, "...") || strings.ContainsFunc(s, func(r rune) bool { return !visible(r) }) {
		return false
	}
	switch strings.ToLower(s) {
	case "y", "n", "yes", "no", "on", "off":
		return false
	}
	n := yaml.Node{Kind: yaml.ScalarNode, Value: s}
	return n.ShortTag() == tree.TagText && !numeric(s)
}

// numeric reports whether a text could be a number, or a time in sixties, to
// some reader.
func numeric(s string) bool {
	return strings.Trim(s, "0123456789+-_.:eE") == "" && strings.ContainsAny(s, "0123456789")
}

// quoted is a text in quotes: single ones where it holds double quotes or
// backslashes and nothing that needs an escape.
func quoted(s string) string {
	if strings.ContainsAny(s, `"\`) && !strings.Contains(s, "'") && !strings.ContainsFunc(s, func(r rune) bool { return !visible(r) }) {
		return "'" + s + "'"
	}
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r == '\r':
			b.WriteString(`\r`)
		case visible(r):
			b.WriteRune(r)
		default:
			b.WriteString(escape(r))
		}
	}
	b.WriteByte('"')
	return b.String()
}

// escape is a character as an escape of a double-quoted text.
func escape(r rune) string {
	switch {
	case r <= 0xFF:
		return fmt.Sprintf(`\x%02x`, r)
	case r <= 0xFFFF:
		return fmt.Sprintf(`\u%04x`, r)
	}
	return fmt.Sprintf(`\U%08x`, r)
}

// literal reports whether a text is written as a literal block: it has several
// lines, or one that ends, and every character means itself there. More
// than one line break at the end is left to quotes: in a block it would take
// the empty line before the next hook for its own.
func literal(s string) bool {
	if !strings.Contains(s, "\n") || strings.HasSuffix(s, "\n\n") || strings.Trim(s, " \t\n") == "" {
		return false
	}
	return !strings.ContainsFunc(s, func(r rune) bool { return r != '\n' && r != '\t' && !visible(r) })
}

// writeLiteral writes a literal block whose lines are indented by indent
// columns, two more than the map or list it stands in.
func writeLiteral(w *strings.Builder, s string, indent int) {
	w.WriteString(" |")
	if begin := strings.TrimLeft(s, "\n"); begin[0] == ' ' || begin[0] == '\t' {
		w.WriteByte('2')
	}
	if !strings.HasSuffix(s, "\n") {
		w.WriteByte('-')
	}
	w.WriteByte('\n')
	for _, line := range strings.Split(strings.TrimSuffix(s, "\n"), "\n") {
		if line != "" {
			w.WriteString(strings.Repeat(" ", indent))
			w.WriteString(line)
		}
		w.WriteByte('\n')
	}
}

// number is a finite float as YAML and JSON write it.
func number(f float64) word {
	s := strconv.FormatFloat(f, 'g', -1, 64)
	if !strings.ContainsAny(s, ".e") {
		s += ".0"
	}
	return word(s)
}
