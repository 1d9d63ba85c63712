package diag

import (
	"cmp"
	"encoding/json"
	"fmt"
	"sort"
	"strings"

	"github.com/hookc/hookc/internal/finding"
	"github.com/hookc/hookc/internal/lists"
)

// Diagnostic is one finding about what an author wrote.
type Diagnostic struct {
	Code *Code
	// Severity is the code's unless the reporter lowered it.
	Severity Severity
	Span     Span
	// Hook names the hook concerned, if it is one.
	Hook string
	Text string
	// Hint names the fix where one can be named.
	Hint string
	// Contained is true of an error that makes one hook fail, which takes the
	// hook's place: what decides events goes on with the others.
	Contained bool
}

// Report makes a diagnostic of code c at span. What args hold takes one line: a name
// in a repository begins none of its own.
//
//go:noinline
func (c *Code) Report(span Span, format string, args ...any) Diagnostic {
	return Diagnostic{Code: c, Severity: c.Severity, Span: span, Text: sentence(format, args)}
}

// sentence is a text of one line, but for the line breaks of the format itself.
func sentence(format string, args []any) string {
	text := fmt.Sprintf(format, args...)
	if strings.Contains(format, "\n") || !strings.Contains(text, "\n") {
		return text
	}
	return strings.ReplaceAll(text, "\n", `\n`)
}

// WithHint returns d with a hint.
//
//go:noinline
func (d Diagnostic) WithHint(format string, args ...any) Diagnostic {
	d.Hint = sentence(format, args)
	return d
}

// Containing returns the list for what decides events: errors that one hook has
// taken over are warnings there.
func (l List) Containing() List {
	out := lists.Copy(l)
	for i := range out {
		if out[i].Contained {
			out[i].Severity = max(out[i].Severity, Warning)
		}
	}
	return out
}

// WithHook returns d naming the hook it is about.
//
//go:noinline
func (d Diagnostic) WithHook(name string) Diagnostic {
	d.Hook = name
	return d
}

// Error is the finding on one line: file:line:col: severity[code]: text.
func (d Diagnostic) Error() string {
	where := d.Span.String()
	if where != "" {
		where += ": "
	}
	return fmt.Sprintf("%s%s[%s]: %s", where, d.Severity, d.Code.ID, d.Text)
}

// Render is the finding as people read it: the line, the source with a caret
// under it, the hint.
func (d Diagnostic) Render() string {
	var b strings.Builder
	b.WriteString(d.Error())
	b.WriteByte('\n')
	if line, col := d.Span.Position(); line > 0 {
		text := d.Span.Source.Line(line)
		number := fmt.Sprintf("%5d", line)
		fmt.Fprintf(&b, "%s | %s\n", number, text)
		runes := []rune(text)
		pad := make([]rune, 0, col)
		for i := 0; i < col-1 && i < len(runes); i++ {
			if runes[i] == '\t' {
				pad = append(pad, '\t')
			} else {
				pad = append(pad, ' ')
			}
		}
		width := 1
		if endLine, endCol := d.Span.Source.LineCol(d.Span.End); endLine == line && endCol > col {
			width = endCol - col
		} else if endLine > line {
			width = max(len(runes)-(col-1), 1)
		}
		fmt.Fprintf(&b, "%s | %s%s\n", strings.Repeat(" ", len(number)), string(pad), strings.Repeat("^", width))
	}
	if d.Hint != "" {
		fmt.Fprintf(&b, "  hint: %s\n", d.Hint)
	}
	return b.String()
}

// MarshalJSON is the finding for machines; absent parts are omitted.
func (d Diagnostic) MarshalJSON() ([]byte, error) {
	line, col := d.Span.Position()
	return json.Marshal(finding.JSON{Code: d.Code.ID, Column: col, File: d.Span.File(), Hint: d.Hint, Hook: d.Hook, Line: line, Severity: d.Severity, Text: d.Text})
}

// List is the findings of a run.
type List []Diagnostic

// Add appends findings.
//
//go:noinline
func (l *List) Add(d ...Diagnostic) { *l = append(*l, d...) }

// HasErrors reports whether any finding is an error.
//
//go:noinline
func (l List) HasErrors() bool {
	return lists.Some(l, func(d *Diagnostic) bool { return d.Severity == Error })
}

// Sort orders the findings by file, offset, code and text, and drops exact
// repeats.
func (l *List) Sort() {
	all := *l
	sort.SliceStable(all, func(i, j int) bool {
		a, b := &all[i], &all[j]
		return lists.First(
			cmp.Compare(a.Span.File(), b.Span.File()),
			cmp.Compare(a.Span.Start, b.Span.Start),
			cmp.Compare(a.Code.ID, b.Code.ID),
			cmp.Compare(a.Text, b.Text),
			cmp.Compare(a.Hook, b.Hook)) < 0
	})
	*l = lists.CompactFunc(*l, func(a, b Diagnostic) bool { return a == b })
}

// Render is every finding as people read it.
func (l List) Render() string {
	var b strings.Builder
	for _, d := range l {
		b.WriteString(d.Render())
	}
	return b.String()
}

// Err is nil without errors, else an error whose text is the rendered list.
//
//go:noinline
func (l List) Err() error {
	if !l.HasErrors() {
		return nil
	}
	return ListError{l}
}

// ListError carries the findings that made an operation fail.
type ListError struct{ List List }

func (e ListError) Error() string { return strings.TrimRight(e.List.Render(), "\n") }
