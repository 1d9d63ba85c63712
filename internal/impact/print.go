package impact

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"text/template"
	"time"
	"unicode/utf8"

	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/internal/spell"
)

// Formats are what Print writes besides JSON, which is the Report.
var Formats = []string{"text", "markdown", "html", "json"}

var columns = []string{"hook", "event", "state", "blocked", "asked", "rewritten", "failed", "sessions", "agents", "already"}

// row are the cells of a hook.
func (h *Hook) row() []string {
	out := []string{short(h.Name), string(h.Event), h.State}
	for _, n := range []int{h.Blocked, h.Asked, h.Rewritten, h.Failed, h.Sessions, h.Agents, h.Already} {
		out = append(out, fmt.Sprint(n))
	}
	return out
}

// Print writes the report in one of Formats.
func (r *Report) Print(w io.Writer, format string) error {
	var b strings.Builder
	switch format {
	case "markdown":
		r.markdown(&b)
	case "html":
		r.html(&b)
	default:
		r.text(&b)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// summary says in a sentence what was looked at.
func (r *Report) summary() string {
	if r.Calls == 0 {
		return "the record has no decision of that time"
	}
	return fmt.Sprintf("%d of %s, of %s and %s, from %s to %s, would have gone otherwise",
		r.Changed, spell.Count(r.Calls, "recorded call"), spell.Count(r.Sessions, "session"), spell.Count(r.Agents, "agent"), r.From.UTC().Format(time.DateOnly), r.To.UTC().Format(time.DateOnly))
}

// Remarks are the sentences after the table.
func (r *Report) Remarks() []string {
	var out []string
	if n := len(r.Quiet); n > 0 {
		out = append(out, fmt.Sprintf("would have done nothing: %s", strings.Join(r.Quiet, ", ")))
	}
	for _, h := range r.Hooks {
		for _, why := range []string{unseen, noAnswer} {
			if h.NotReplayed[why] == 0 {
				continue
			}
			out = append(out, fmt.Sprintf("not replayed: %s on %s: %s", short(h.Name), spell.Count(h.NotReplayed[why], "call"), why))
		}
	}
	if r.Unreadable > 0 {
		out = append(out, fmt.Sprintf("not replayed: %s that this hookc cannot read", spell.Count(r.Unreadable, "event")))
	}
	return append(out, r.Notes...)
}

// line is a sample in a line.
func (s *Sample) line() string {
	parts := []string{s.Time.UTC().Format("2006-01-02 15:04:05"), short(s.Agent), short(s.Tool), short(s.Call), "→ " + string(s.Action), short(string(s.Patch))}
	if len(s.Reasons) > 0 {
		parts = append(parts, "("+short(strings.Join(s.Reasons, "; "))+")")
	}
	return strings.Join(lists.DeleteFunc(parts, func(p string) bool { return p == "" }), " ")
}

// short is a text that fits a line and shows no control character.
//
//go:noinline
func short(text string) string {
	const most = 120
	text = strings.Map(func(c rune) rune {
		if c < ' ' || c == 0x7f || c >= 0x80 && c < 0xa0 || c >= 0x2028 && c <= 0x202e || c >= 0x2066 && c <= 0x2069 {
			return ' '
		}
		return c
	}, text)
	if utf8.RuneCountInString(text) > most {
		text = string([]rune(text)[:most]) + "…"
	}
	return text
}

func (r *Report) text(b *strings.Builder) {
	fmt.Fprintln(b, r.summary())
	if len(r.Hooks) > 0 {
		fmt.Fprintln(b)
		w := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
		fmt.Fprintln(w, strings.ToUpper(strings.Join(columns, "\t")))
		for _, h := range r.Hooks {
			fmt.Fprintln(w, strings.Join(h.row(), "\t"))
		}
		w.Flush()
	}
	for _, h := range r.Hooks {
		if len(h.Samples) > 0 {
			fmt.Fprintf(b, "\n%s\n", short(h.Name))
		}
		for _, s := range h.Samples {
			fmt.Fprintf(b, "  %s  %s\n", s.ID, s.line())
		}
	}
	fmt.Fprintln(b)
	for _, line := range r.Remarks() {
		fmt.Fprintln(b, line)
	}
}

// cell is a text in a table of Markdown.
//
//go:noinline
func cell(text string) string {
	return strings.NewReplacer("|", `\|`, "<", "&lt;", "`", "'", "[", `\[`, "*", `\*`, "_", `\_`).Replace(text)
}

func (r *Report) markdown(b *strings.Builder) {
	fmt.Fprintf(b, "## Impact\n\n%s.\n", r.summary())
	if len(r.Hooks) > 0 {
		fmt.Fprintf(b, "\n| %s |\n|%s\n", strings.Join(columns, " | "), strings.Repeat("---|", 3)+strings.Repeat("--:|", len(columns)-3))
		for _, h := range r.Hooks {
			cells := h.row()
			for i := range cells {
				cells[i] = cell(cells[i])
			}
			fmt.Fprintf(b, "| %s |\n", strings.Join(cells, " | "))
		}
	}
	for _, h := range r.Hooks {
		if len(h.Samples) > 0 {
			fmt.Fprintf(b, "\n### %s\n\n", cell(short(h.Name)))
		}
		for _, s := range h.Samples {
			fmt.Fprintf(b, "- %s\n", cell(s.line()))
		}
	}
	fmt.Fprintln(b)
	for _, line := range r.Remarks() {
		fmt.Fprintf(b, "- %s\n", cell(line))
	}
}

//go:noinline
func escaped(text string) string { return template.HTMLEscapeString(text) }

const style = `body{font:16px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:70rem;padding:0 1rem;color:#1b1b1b;background:#fff}
table{border-collapse:collapse;width:100%}td,th{padding:.3rem .6rem;border-bottom:1px solid #8886;text-align:left}td.n{text-align:right}
div{overflow-x:auto}svg{max-width:100%;height:auto}text{fill:currentColor;font:12px system-ui,sans-serif}code{overflow-wrap:anywhere}
.blocked{fill:#c62828}.asked{fill:#b26a00}.rewritten{fill:#1a56b0}
@media(prefers-color-scheme:dark){body{color:#eee;background:#161616}.blocked{fill:#ef6c6c}.asked{fill:#f0ad4e}.rewritten{fill:#7fb0ff}}`

// html is a page that needs nothing beside itself.
func (r *Report) html(b *strings.Builder) {
	fmt.Fprintf(b, "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">\n<title>Impact</title>\n<style>%s</style>\n<h1>Impact</h1>\n<p>%s.\n", style, escaped(r.summary()))
	if len(r.Hooks) > 0 {
		r.bars(b)
		r.days(b)
		fmt.Fprintf(b, "<div><table><tr><th>%s</tr>\n", strings.Join(columns, "<th>"))
		for _, h := range r.Hooks {
			fmt.Fprint(b, "<tr>")
			for i, c := range h.row() {
				class := ""
				if i > 2 {
					class = " class=\"n\""
				}
				fmt.Fprintf(b, "<td%s>%s", class, escaped(c))
			}
			fmt.Fprintln(b, "</tr>")
		}
		fmt.Fprintln(b, "</table></div>")
	}
	for _, h := range r.Hooks {
		if len(h.Samples) == 0 {
			continue
		}
		fmt.Fprintf(b, "<h2>%s</h2>\n<ul>\n", escaped(short(h.Name)))
		for _, s := range h.Samples {
			fmt.Fprintf(b, "<li><code>%s</code>\n", escaped(s.line()))
		}
		fmt.Fprintln(b, "</ul>")
	}
	fmt.Fprintln(b, "<h2>What this does not say</h2>\n<ul>")
	for _, line := range r.Remarks() {
		fmt.Fprintf(b, "<li>%s\n", escaped(line))
	}
	fmt.Fprintln(b, "</ul></html>")
}

// bars draws what each hook would have done.
func (r *Report) bars(b *strings.Builder) {
	const left, width, height = 200, 600, 22
	most := max(1, r.Hooks[0].Noise())
	fmt.Fprintf(b, "<svg role=\"img\" aria-label=\"calls by hook\" viewBox=\"0 0 %d %d\">\n", left+width+60, height*len(r.Hooks))
	for i, h := range r.Hooks {
		y, x := i*height, left
		fmt.Fprintf(b, "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">%s</text>", left-8, y+15, escaped(short(h.Name)))
		for _, part := range []struct {
			class string
			n     int
		}{{"blocked", h.Blocked}, {"asked", h.Asked}, {"rewritten", h.Rewritten}} {
			if part.n > 0 {
				wide := max(1, part.n*width/most)
				fmt.Fprintf(b, "<rect class=\"%s\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"><title>%s: %d</title></rect>", part.class, x, y+3, wide, height-6, part.class, part.n)
				x += wide
			}
		}
		fmt.Fprintf(b, "<text x=\"%d\" y=\"%d\">%d</text>\n", x+6, y+15, h.Noise())
	}
	fmt.Fprintln(b, "</svg>")
}

// days draws how many calls of each day would have gone otherwise.
func (r *Report) days(b *strings.Builder) {
	const width, height, mostDays = 800, 120, 366
	from := r.From.UTC().Truncate(24 * time.Hour)
	n := int(r.To.UTC().Sub(from)/(24*time.Hour)) + 1
	if n < 2 || n > mostDays {
		return
	}
	sums, most := make([]int, n), 1
	for i := range sums {
		for _, h := range r.Hooks {
			sums[i] += h.Days[from.AddDate(0, 0, i).Format(time.DateOnly)]
		}
		most = max(most, sums[i])
	}
	fmt.Fprintf(b, "<svg role=\"img\" aria-label=\"changes by day\" viewBox=\"0 0 %d %d\">\n", width, height+20)
	for i, sum := range sums {
		tall := sum * height / most
		fmt.Fprintf(b, "<rect class=\"blocked\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"><title>%s: %d</title></rect>\n", i*width/n, height-tall, max(1, width/n-2), tall, from.AddDate(0, 0, i).Format(time.DateOnly), sum)
	}
	fmt.Fprintf(b, "<text x=\"0\" y=\"%d\">%s</text><text x=\"%d\" y=\"%d\" text-anchor=\"end\">%s</text>\n</svg>\n", height+15, from.Format(time.DateOnly), width, height+15, r.To.UTC().Format(time.DateOnly))
}
