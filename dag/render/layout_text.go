package render

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/width"
)

// textWidth is how many columns a terminal gives s: two for a wide East Asian
// character or an emoji, none for a combining mark.
//
//go:noinline
func textWidth(s string) int {
	n := 0
	for _, r := range s {
		n += runeWidth(r)
	}
	return n
}

func runeWidth(r rune) int {
	switch {
	case r < 0x300:
		return 1
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		return 0
	}
	if k := width.LookupRune(r).Kind(); k == width.EastAsianWide || k == width.EastAsianFullwidth {
		return 2
	}
	return 1
}

// plain makes a text that authors wrote safe to print on one line: control
// and invisible formatting characters, with which a policy could steer the
// terminal or reorder the line, become escapes.
func plain(s string) string {
	clean := func(r rune) bool { return unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp) }
	if strings.IndexFunc(s, clean) < 0 {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case clean(r):
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// prefix is how many bytes of s fit into n columns.
func prefix(s string, n int) int {
	used := 0
	for i, r := range s {
		if used += runeWidth(r); used > n {
			return i
		}
	}
	return len(s)
}

// cut shortens s to n columns, the last of them an ellipsis.
func cut(s string, n int) string {
	if n <= 0 {
		return ""
	}
	if prefix(s, n) == len(s) {
		return s
	}
	return s[:prefix(s, n-1)] + "…"
}

// pad fills s up to n columns.
func pad(s string, n int) string { return s + strings.Repeat(" ", max(0, n-textWidth(s))) }

// wrap breaks words, joined by sep, into lines of at most n columns; 0 is
// unlimited. The first line is shorter by first columns and may stay empty. A
// word that is longer than a line is broken, at a space if it has one.
func wrap(words []string, sep string, first, n int) []string {
	if n <= 0 {
		return []string{strings.Join(words, sep)}
	}
	var lines []string
	line, used := "", first
	flush := func() { lines, line, used = append(lines, line), "", 0 }
	for _, w := range words {
		lead := ""
		if line != "" {
			lead = sep
		}
		if used+textWidth(lead+w) > n && used > 0 {
			flush()
			lead = ""
		}
		for textWidth(w) > n {
			_, size := utf8.DecodeRuneInString(w)
			size = max(prefix(w, n), size)
			if at := strings.LastIndexByte(w[:size], ' '); at > 0 {
				size = at
			}
			line, w = w[:size], strings.TrimPrefix(w[size:], " ")
			flush()
		}
		line += lead + w
		used += textWidth(lead + w)
	}
	return append(lines, line)
}

// cell is a text in a table and the role that colours it.
type cell struct{ text, role string }

// row is a line of a table. A spanning row gives the columns from `from` up to
// `to` to one text.
type row struct {
	cells    []cell
	span     string
	from, to int
}

// column is how far a column may shrink when the table does not fit: down to
// least, 0 for not at all. A right column is aligned right.
type column struct {
	least int
	right bool
}

// table lays rows out in aligned columns.
type table struct {
	columns []column
	rows    []row
	// grow is the column that makes room for spanning texts.
	grow int
	// gap is the space between columns, fitted their widths, both set by
	// lines.
	gap    int
	fitted []int
}

// tight is the width below which columns stand one space apart, not two.
const tight = 110

// lines renders the table; no line is wider than style.Width.
func (t *table) lines(indent int, style *Style) []string {
	t.gap = 2
	if style.Width > 0 && style.Width < tight {
		t.gap = 1
	}
	widths := t.widths()
	t.shrink(widths, style.Width-indent)
	t.fitted = widths
	out := make([]string, len(t.rows))
	for i, r := range t.rows {
		out[i] = t.line(&r, widths, indent, style)
	}
	return out
}

// cuts reports whether lines had to shorten a text in a column.
func (t *table) cuts(column int, text string) bool { return textWidth(text) > t.fitted[column] }

func (t *table) widths() []int {
	widths := make([]int, len(t.columns))
	for _, r := range t.rows {
		for i, c := range r.cells {
			if r.span == "" || i < r.from || i >= r.to {
				widths[i] = max(widths[i], textWidth(c.text))
			}
		}
	}
	for _, r := range t.rows {
		if r.span == "" || r.to >= len(t.columns) {
			continue
		}
		room := -t.gap
		for i := r.from; i < r.to; i++ {
			room += t.taken(widths, i)
		}
		widths[t.grow] += max(0, textWidth(r.span)-room)
	}
	return widths
}

// taken is the width of a column and the gap after it; empty columns vanish.
//
//go:noinline
func (t *table) taken(widths []int, i int) int {
	if widths[i] == 0 {
		return 0
	}
	return widths[i] + t.gap
}

// shrink narrows the columns with most to spare until the table fits into
// limit.
func (t *table) shrink(widths []int, limit int) {
	total := -t.gap
	for i := range widths {
		total += t.taken(widths, i)
	}
	for limit > 0 && total > limit {
		at, spare := -1, 0
		for i, c := range t.columns {
			if c.least > 0 && widths[i]-c.least > spare {
				at, spare = i, widths[i]-c.least
			}
		}
		if at < 0 {
			return
		}
		widths[at]--
		total--
	}
}

func (t *table) line(r *row, widths []int, indent int, style *Style) string {
	var b strings.Builder
	b.WriteString(strings.Repeat(" ", indent))
	used, owed := indent, 0 // owed: spaces due before the next text
	put := func(text, role string, columns int, right bool) {
		room := columns
		if style.Width > 0 {
			room = min(room, style.Width-used-owed)
		}
		text = cut(text, room)
		lead := owed
		if right {
			lead += max(0, min(columns, room)-textWidth(text))
		}
		if text != "" {
			b.WriteString(strings.Repeat(" ", lead))
			b.WriteString(style.Palette.paint(role, text))
			used += lead + textWidth(text)
			owed = columns + owed - lead - textWidth(text) + t.gap
			return
		}
		owed += columns + t.gap
	}
	for i := 0; i < len(widths); i++ {
		if r.span != "" && i == r.from {
			room := -t.gap
			for ; i < r.to; i++ {
				room += t.taken(widths, i)
			}
			if r.to >= len(widths) {
				room = max(room, textWidth(r.span))
			}
			put(r.span, style.Palette.Faint, room, false)
			i--
			continue
		}
		if widths[i] > 0 && i < len(r.cells) {
			put(r.cells[i].text, r.cells[i].role, widths[i], t.columns[i].right)
		} else if widths[i] > 0 {
			owed += widths[i] + t.gap
		}
	}
	return b.String()
}
