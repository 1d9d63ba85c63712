package report_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/internal/report"
	"github.com/hookc/hookc/internal/spell"
	"github.com/hookc/hookc/policy/diag"
)

// other is a second code.
var other = diag.Define("HK001", diag.Warning, "other").Unprovoked("It is of this test.").Explained("other", "", "")

func find(t *testing.T, src *diag.Source, code, part, text string) diag.Diagnostic {
	t.Helper()
	c := diag.Lookup(code)
	require.NotNil(t, c)
	at := strings.Index(src.Content, part)
	require.GreaterOrEqual(t, at, 0)
	return c.Report(diag.Span{Source: src, Start: at, End: at + len(part)}, "%s", text)
}

func written(t *testing.T, format string, r *report.Report) string {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, report.Write(&b, format, r))
	return b.String()
}

// hostile are texts that a repository may have put into names and reasons.
var hostile = []string{"plain", "a\n::error::b", "a%0A::set-output name=x::y", "]]><x>&\"'", "\x1b[2J\x00\x07", "| a | b |\n|--|", "# SKIP not ok", "ok 2 - x\nnot ok", "\u202e\ufffe", "\xff\xfe", "@everyone [x](http://y)"}

func TestHostileTextsStayTexts(t *testing.T) {
	src := diag.NewSource("a,b:c%/hooks \"x\".yaml", "one\ntwo\n")
	for _, text := range hostile {
		r := &report.Report{Command: "lint", Version: "v1", Findings: diag.List{{Code: diag.Lookup("HK039"), Severity: diag.Warning, Span: diag.Span{Source: src, Start: 4, End: 7}, Text: text, Hint: text}},
			Results: []report.Result{{Name: text, File: "x", Status: report.Failed, Text: text}, {Name: text, File: text, Status: report.Skipped, Text: text}}}
		for _, line := range strings.Split(strings.TrimSuffix(written(t, "github", r), "\n"), "\n") {
			assert.Regexp(t, `^::(warning|error) [^\x00-\x1f]*$`, line, "%q", text)
			assert.False(t, strings.ContainsFunc(line, spell.Hidden), "%q", text)
		}
		assert.Equal(t, 2, strings.Count(written(t, "github", r), "\n"), "%q", text)
		for _, format := range []string{"sarif", "gitlab"} {
			assert.True(t, json.Valid([]byte(written(t, format, r))), "%s of %q", format, text)
		}
		d := xml.NewDecoder(strings.NewReader(written(t, "junit", r)))
		cases := 0
		for {
			token, err := d.Token()
			if err == io.EOF {
				break
			}
			require.NoError(t, err, "%q", text)
			if e, ok := token.(xml.StartElement); ok && e.Name.Local == "testcase" {
				cases++
			}
		}
		assert.Equal(t, 3, cases, "%q", text)
		tap := written(t, "tap", r)
		assert.Len(t, regexp.MustCompile(`(?m)^(not )?ok `).FindAllString(tap, -1), 3, "%q: %s", text, tap)
		rows := 0
		for line := range strings.Lines(written(t, "markdown", r)) {
			if strings.HasPrefix(line, "| ") {
				rows++
				assert.Equal(t, 4, strings.Count(line, "|"), line)
				assert.NotContains(t, line, "<x>")
			}
		}
		assert.Equal(t, 5, rows, "two heads and three rows")
	}
}

func TestOneReportIsTheSameBytes(t *testing.T) {
	src := diag.NewSource("hooks.yaml", "one\ntwo\n")
	r := &report.Report{Command: "check", Findings: diag.List{find(t, src, "HK039", "one", "a"), find(t, src, "HK039", "two", "a")}}
	for _, format := range report.Formats() {
		assert.Equal(t, written(t, format, r), written(t, format, r))
	}
	var log struct {
		Runs []struct {
			Results []struct {
				PartialFingerprints map[string]string
				Locations           []struct {
					PhysicalLocation struct {
						Region struct{ StartLine, StartColumn, EndColumn int }
					}
				}
			}
		}
	}
	require.NoError(t, json.Unmarshal([]byte(written(t, "sarif", r)), &log))
	results := log.Runs[0].Results
	assert.NotEqual(t, results[0].PartialFingerprints, results[1].PartialFingerprints)
	assert.Equal(t, 2, results[1].Locations[0].PhysicalLocation.Region.StartLine)
	assert.Equal(t, 4, results[1].Locations[0].PhysicalLocation.Region.EndColumn)
	// A line above moves no fingerprint.
	moved := diag.NewSource("hooks.yaml", "zero\n"+src.Content)
	before := log.Runs[0].Results[0].PartialFingerprints
	require.NoError(t, json.Unmarshal([]byte(written(t, "sarif", &report.Report{Findings: diag.List{find(t, moved, "HK039", "one", "a")}})), &log))
	assert.Equal(t, before, log.Runs[0].Results[0].PartialFingerprints)

	assert.ErrorContains(t, report.Write(io.Discard, "csv", r), "unknown format")
}

func TestSuppress(t *testing.T) {
	hint := diag.Lookup("HK039")
	for _, c := range []struct {
		name, text string
		severity   diag.Severity
		accepted   int
		says       string
	}{
		{"on the line", "x: 1 # hookc:ignore HK039 we know", diag.Warning, 1, ""},
		{"above", "# hookc:ignore HK039 we know\nx: 1", diag.Warning, 1, ""},
		{"in Go's way", "x: 1 // hookc:ignore HK039 we know", diag.Warning, 1, ""},
		{"in Markdown's way", "<!-- hookc:ignore HK039 we know -->\nx: 1", diag.Warning, 1, ""},
		{"several codes", "x: 1 # hookc:ignore " + other.ID + ", HK039 we know", diag.Warning, 1, ""},
		{"CRLF", "# hookc:ignore HK039 we know\r\nx: 1\r\n", diag.Hint, 1, ""},
		{"another code", "x: 1 # hookc:ignore HK001 we know", diag.Warning, 0, "nothing that may be suppressed is found of HK001 on line 1"},
		{"an error", "x: 1 # hookc:ignore HK039 we know", diag.Error, 0, "nothing that may be suppressed is found of HK039 on line 1"},
		{"two lines above", "# hookc:ignore HK039 we know\n\nx: 1", diag.Warning, 0, "nothing that may be suppressed"},
		{"no reason", "x: 1 # hookc:ignore HK039", diag.Warning, 0, "gives no reason"},
		{"no code", "x: 1 # hookc:ignore we know", diag.Warning, 0, "names no code"},
		{"no such code", "x: 1 # hookc:ignore HK998 we know", diag.Warning, 0, "there is no code HK998"},
		{"no comment", "x: 1 hookc:ignore HK039 we know", diag.Warning, 0, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			src := diag.NewSource("hooks.yaml", c.text)
			d := find(t, src, hint.ID, "x: 1", "found")
			d.Severity = c.severity
			rest, accepted := report.Suppress(diag.List{d}, nil)
			require.Len(t, accepted, c.accepted)
			if c.accepted > 0 {
				assert.Equal(t, "we know", accepted[0].Reason)
			} else {
				assert.Contains(t, rest, d)
			}
			var says []string
			for _, r := range rest {
				if r.Text != "found" {
					says = append(says, r.Text)
				}
			}
			if c.says == "" {
				assert.Empty(t, says)
			} else {
				assert.Contains(t, strings.Join(says, "\n"), c.says)
			}
		})
	}
	// A comment in a file without findings is looked at too.
	rest, _ := report.Suppress(nil, []*diag.Source{diag.NewSource("a", "x # hookc:ignore HK001 gone")})
	require.Len(t, rest, 1)
}

func TestBaseline(t *testing.T) {
	src := diag.NewSource("hooks.yaml", "one\ntwo\nthree\n")
	old := diag.List{find(t, src, "HK039", "one", "a"), find(t, src, "HK039", "two", "b")}
	path := filepath.Join(t.TempDir(), "baseline.json")
	text, err := json.Marshal(report.NewBaseline(old))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, text, 0o600))
	b, err := report.ReadBaseline(path)
	require.NoError(t, err)

	moved := diag.NewSource("hooks.yaml", "\n\none\ntwo\nthree\n")
	again := find(t, moved, "HK039", "three", "a") // once more than the baseline has it
	bad := find(t, moved, "HK039", "two", "b")
	bad.Severity = diag.Error
	rest, accepted, gone := b.Accept(diag.List{find(t, moved, "HK039", "one", "a"), again, bad})
	assert.Equal(t, diag.List{again, bad}, rest)
	require.Len(t, accepted, 1)
	assert.Contains(t, accepted[0].Reason, "baseline")
	assert.Equal(t, 1, gone)

	for _, wrong := range []string{"", "[]", `{"version": 2}`} {
		require.NoError(t, os.WriteFile(path, []byte(wrong), 0o600))
		_, err := report.ReadBaseline(path)
		assert.ErrorContains(t, err, path)
	}
}
