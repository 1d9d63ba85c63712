// Package report writes findings and results of tests in the formats that other
// programs read: SARIF for code scanning, JUnit and TAP for test reports, the
// commands of GitHub's workflow log and GitLab's code quality list, and Markdown for
// a comment on a change. What people read, and hookc's own JSON, is written by the commands themselves.
package report

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/hookc/hookc/internal/fault"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/internal/spell"
	"github.com/hookc/hookc/policy/diag"
)

// Status is how a test ended.
type Status int

// The ways in which a test ends.
const (
	Passed Status = iota
	Failed
	Skipped
)

// Result is one test.
type Result struct {
	// Name says which, File and Line where it is written; Line is 0 where that is
	// not known.
	Name, File string
	Line       int
	Status     Status
	// Text says why it failed or was skipped.
	Text string
	Took time.Duration
}

// Report is what one command found.
type Report struct {
	// Command is the command's name, such as check; Version is hookc's.
	Command, Version string
	Findings         diag.List
	Suppressed       []Suppressed
	Results          []Result
}

// writers has what writes each format.
var writers = []struct {
	name  string
	write func(*Report) (string, error)
}{
	{"sarif", sarif},
	{"junit", junit},
	{"github", github},
	{"gitlab", gitlab},
	{"tap", tap},
	{"markdown", markdown},
}

// Formats are the names of the formats.
//
//go:noinline
func Formats() []string {
	var out []string
	for _, w := range writers {
		out = append(out, w.name)
	}
	return out
}

// Write writes a report in a format. The same report is the same bytes. An error
// is of the writer, or an unknown format. It is safe for concurrent use.
func Write(out io.Writer, format string, r *Report) error {
	for _, w := range writers {
		if w.name != format {
			continue
		}
		text, err := w.write(r)
		if err == nil {
			_, err = io.WriteString(out, text)
		}
		return err
	}
	return fault.Errorf("unknown format %q: there are %s", format, strings.Join(Formats(), ", "))
}

// whole is a finding's text and its hint.
//
//go:noinline
func whole(d diag.Diagnostic) string {
	if d.Hint == "" {
		return d.Text
	}
	return d.Text + "\nhint: " + d.Hint
}

// place is where a finding begins and ends, from 1; lines are 0 for nowhere.
func place(d diag.Diagnostic) (line, col, endLine, endCol int) {
	if d.Span.IsZero() {
		return 0, 0, 0, 0
	}
	line, col = d.Span.Position()
	endLine, endCol = d.Span.Source.LineCol(d.Span.End)
	if endLine < line || endLine == line && endCol <= col {
		endLine, endCol = line, col+1
	}
	return line, col, endLine, endCol
}

// fingerprints names each finding by what it says and not by its line, so that
// it is the same finding after an edit above it.
func fingerprints(l diag.List) []string {
	seen := map[string]int{}
	out := make([]string, len(l))
	for i, d := range l {
		about := strings.Join([]string{d.Code.ID, d.Span.File(), d.Hook, d.Text}, "\x00")
		seen[about]++
		sum := sha256.Sum256([]byte(about + "\x00" + strconv.Itoa(seen[about])))
		out[i] = hex.EncodeToString(sum[:16])
	}
	return out
}

// indented is a value as JSON for people's tools.
func indented(v any) (string, error) {
	data, err := json.MarshalIndent(v, "", "  ")
	return string(data) + "\n", err
}

// github writes the commands by which a step of a GitHub workflow annotates
// lines ("Workflow commands for GitHub Actions").
func github(r *Report) (string, error) {
	var b strings.Builder
	level := map[diag.Severity]string{diag.Error: "error", diag.Warning: "warning", diag.Hint: "notice"}
	for _, d := range r.Findings {
		var at []string
		if line, col, endLine, endCol := place(d); line > 0 {
			at = append(at, "file="+property(d.Span.File()), "line="+strconv.Itoa(line), "endLine="+strconv.Itoa(endLine))
			if line == endLine { // columns are of one line there
				at = append(at, "col="+strconv.Itoa(col), "endColumn="+strconv.Itoa(endCol-1))
			}
		}
		at = append(at, "title="+property(d.Code.ID+" "+d.Code.Title))
		fmt.Fprintf(&b, "::%s %s::%s\n", level[d.Severity], strings.Join(at, ","), data(whole(d)))
	}
	for _, t := range r.Results {
		if t.Status != Failed {
			continue
		}
		at := "file=" + property(t.File)
		if t.Line > 0 {
			at += ",line=" + strconv.Itoa(t.Line)
		}
		fmt.Fprintf(&b, "::error %s,title=%s::%s\n", at, property(t.Name+" failed"), data(t.Text))
	}
	return b.String(), nil
}

// data and property escape what the runner's commands are made of, and leave out
// what moves, hides or reorders text.
func data(s string) string {
	s = strings.Map(func(r rune) rune {
		if r != '\r' && spell.Hidden(r) {
			return 0xFFFD
		}
		return r
	}, s)
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(s)
}

func property(s string) string { return strings.NewReplacer(":", "%3A", ",", "%2C").Replace(data(s)) }

// quality is one issue of GitLab's code quality report.
type quality struct {
	Description string `json:"description"`
	CheckName   string `json:"check_name"`
	Fingerprint string `json:"fingerprint"`
	Severity    string `json:"severity"`
	Location    struct {
		Path  string `json:"path"`
		Lines struct {
			Begin int `json:"begin"`
		} `json:"lines"`
	} `json:"location"`
}

// gitlab writes the list that GitLab shows beside a merge request ("Code
// Quality report format").
func gitlab(r *Report) (string, error) {
	out := []quality{}
	level := map[diag.Severity]string{diag.Error: "critical", diag.Warning: "major", diag.Hint: "info"}
	names := fingerprints(r.Findings)
	for i, d := range r.Findings {
		line, _, _, _ := place(d)
		q := quality{Description: whole(d), CheckName: d.Code.ID, Fingerprint: names[i], Severity: level[d.Severity]}
		q.Location.Path, q.Location.Lines.Begin = lists.First(d.Span.File(), "."), max(line, 1)
		out = append(out, q)
	}
	for _, t := range r.Results {
		if t.Status != Failed {
			continue
		}
		sum := sha256.Sum256([]byte(t.File + "\x00" + t.Name))
		q := quality{Description: t.Name + " failed: " + t.Text, CheckName: "test", Fingerprint: hex.EncodeToString(sum[:16]), Severity: "critical"}
		q.Location.Path, q.Location.Lines.Begin = t.File, max(t.Line, 1)
		out = append(out, q)
	}
	return indented(out)
}

// asResults makes findings the results of tests, for the formats that know no
// other: an error fails, and so does a warning; a hint is skipped. Where nothing
// was found the command itself passed.
func (r *Report) asResults() []Result {
	var out []Result
	for _, d := range r.Findings {
		line, _, _, _ := place(d)
		t := Result{Name: d.Code.ID + " " + d.Text, File: d.Span.File(), Line: line, Status: Failed, Text: whole(d)}
		if d.Severity == diag.Hint {
			t.Status = Skipped
		}
		out = append(out, t)
	}
	for _, s := range r.Suppressed {
		line, _, _, _ := place(s.Finding)
		out = append(out, Result{Name: s.Finding.Code.ID + " " + s.Finding.Text, File: s.Finding.Span.File(), Line: line, Status: Skipped, Text: "suppressed: " + s.Reason})
	}
	out = append(out, r.Results...)
	if len(out) == 0 {
		out = append(out, Result{Name: r.Command})
	}
	return out
}

// tap writes the Test Anything Protocol, version 14.
func tap(r *Report) (string, error) {
	results := r.asResults()
	var b strings.Builder
	fmt.Fprintf(&b, "TAP version 14\n1..%d\n", len(results))
	escape := strings.NewReplacer(`\`, `\\`, "#", `\#`, "\n", " ", "\r", " ")
	for i, t := range results {
		word := map[Status]string{Passed: "ok", Failed: "not ok", Skipped: "ok"}[t.Status]
		fmt.Fprintf(&b, "%s %d - %s", word, i+1, escape.Replace(t.Name))
		if t.Status == Skipped {
			b.WriteString(" # SKIP " + escape.Replace(t.Text))
		}
		b.WriteByte('\n')
		if t.Status == Failed {
			text, err := json.Marshal(t.Text) // a text in quotes is YAML as well
			if err != nil {
				return "", err
			}
			file, err := json.Marshal(t.File)
			if err != nil {
				return "", err
			}
			fmt.Fprintf(&b, "  ---\n  message: %s\n  at: {file: %s, line: %d}\n  ...\n", text, file, t.Line)
		}
	}
	return b.String(), nil
}

// junit writes the XML that test reports are read from, a suite a file.
func junit(r *Report) (string, error) {
	results := r.asResults()
	var files []string
	count := map[string]*[4]int{} // all, failed, skipped, milliseconds
	var total [4]int
	for _, t := range results {
		if count[t.File] == nil {
			files = append(files, t.File)
			count[t.File] = new([4]int)
		}
		for _, n := range []*[4]int{count[t.File], &total} {
			n[0]++
			n[3] += int(t.Took.Milliseconds())
			if t.Status != Passed {
				n[t.Status]++
			}
		}
	}
	lists.Sort(files)
	var b strings.Builder
	counted := func(n *[4]int) string {
		return fmt.Sprintf(`tests="%d" failures="%d" errors="0" skipped="%d" time="%.3f"`, n[0], n[1], n[2], float64(n[3])/1000)
	}
	fmt.Fprintf(&b, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"hookc %s\" %s>\n", attribute(r.Command), counted(&total))
	for _, file := range files {
		fmt.Fprintf(&b, "  <testsuite name=\"%s\" %s>\n", attribute(file), counted(count[file]))
		for _, t := range results {
			if t.File != file {
				continue
			}
			fmt.Fprintf(&b, `    <testcase name="%s" classname="%s" file="%s" time="%.3f"`, attribute(t.Name), attribute(file), attribute(file), t.Took.Seconds())
			if t.Line > 0 {
				fmt.Fprintf(&b, ` line="%d"`, t.Line)
			}
			first, _, _ := spell.Cut(t.Text, "\n")
			switch t.Status {
			case Passed:
				b.WriteString("/>\n")
			case Failed:
				fmt.Fprintf(&b, ">\n      <failure message=\"%s\">%s</failure>\n    </testcase>\n", attribute(first), attribute(t.Text))
			case Skipped:
				fmt.Fprintf(&b, ">\n      <skipped message=\"%s\"/>\n    </testcase>\n", attribute(first))
			}
		}
		b.WriteString("  </testsuite>\n")
	}
	b.WriteString("</testsuites>\n")
	return b.String(), nil
}

// attribute is a text as XML holds it; characters that XML has no way to write
// become U+FFFD.
func attribute(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t' || r >= 0x20 && r <= 0xD7FF || r >= 0xE000 && r <= 0xFFFD || r >= 0x10000:
			return r
		}
		return 0xFFFD
	}, s)
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&#34;", "'", "&#39;", "\n", "&#10;", "\t", "&#9;").Replace(s)
}

// markdown writes a comment for a pull request: what failed, in a table.
func markdown(r *Report) (string, error) {
	var b strings.Builder
	var counts [3]int
	results := r.asResults()
	for _, t := range results {
		counts[t.Status]++
	}
	fmt.Fprintf(&b, "### hookc %s: %d failed, %d passed, %d skipped\n", r.Command, counts[Failed], counts[Passed], counts[Skipped])
	cell := strings.NewReplacer("|", "&#124;", "\n", "<br>", "\r", "", "<", "&lt;", ">", "&gt;", "`", "&#96;", "@", "&#64;", "[", "&#91;", "]", "&#93;", "*", "&#42;", "_", "&#95;")
	for _, status := range []Status{Failed, Skipped} {
		if counts[status] == 0 {
			continue
		}
		fmt.Fprintf(&b, "\n| %s | where | what |\n|---|---|---|\n", map[Status]string{Failed: "failed", Skipped: "skipped"}[status])
		for _, t := range results {
			if t.Status == status {
				at := t.File
				if t.Line > 0 {
					at += ":" + strconv.Itoa(t.Line)
				}
				fmt.Fprintf(&b, "| %s | %s | %s |\n", cell.Replace(t.Name), cell.Replace(at), cell.Replace(t.Text))
			}
		}
	}
	return b.String(), nil
}
