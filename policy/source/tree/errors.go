package tree

import (
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/hookc/hookc/internal/lazy"
	"github.com/hookc/hookc/policy/diag"
)

// CodeSyntax reports a text that cannot be read.
var CodeSyntax = diag.Define("HK002", diag.Error, "not YAML or JSON")

// CodeTooLarge reports a text beyond the bounds of this package.
var CodeTooLarge = diag.Define("HK004", diag.Error, "file too large, too deep or expanding without end")
var codeFeature = diag.Define("HK016", diag.Error, "YAML that means nothing here")

// CheckText reports the first byte that no text file may hold.
func CheckText(src *diag.Source, start, end int) diag.List {
	if end-start > MaxBytes {
		return diag.List{CodeTooLarge.Report(diag.Span{Source: src}, "the file has %d bytes; %d is the most", end-start, MaxBytes)}
	}
	for i := start; i < end; {
		r, w := utf8.DecodeRuneInString(src.Content[i:end])
		if r == utf8.RuneError && w == 1 {
			return diag.List{codeFeature.Report(diag.Span{Source: src, Start: i, End: i + 1}, "byte 0x%02x is not UTF-8", src.Content[i]).
				WithHint("save the file as UTF-8")}
		}
		if !printable(r) {
			return diag.List{codeFeature.Report(diag.Span{Source: src, Start: i, End: i + w}, "the character U+%04X may not stand in a text file", r).
				WithHint(`write it as an escape in double quotes`)}
		}
		i += w
	}
	return nil
}

// printable reports whether YAML allows the character unescaped.
func printable(r rune) bool {
	switch {
	case r == '\t' || r == '\n' || r == '\r' || r == 0x85:
		return true
	case r < 0x20 || r >= 0x7f && r < 0xa0 || r == 0xfeff || r == 0xfffe || r == 0xffff:
		return false
	}
	return true
}

var yamlErrorLine = lazy.Value(func() *regexp.Regexp { return regexp.MustCompile(`^yaml: (?:line ([0-9]+): )?`) })

// syntaxHints name the fix for what the YAML reader complains about.
var syntaxHints = []struct{ part, hint string }{
	{errSecondDocument.Error(), "one file holds one policy: put the second into its own file and include it"},
	{"mapping values are not allowed", `put a value that holds ": " in quotes`},
	{"cannot start any token", "put a value that begins with @, ` or % in quotes"},
	{"could not find expected ':'", "a key is followed by a colon and a space; a text of several lines needs | or quotes"},
	{"did not find expected key", "check the indentation, and the quotes of the line above"},
	{"did not find expected '-' indicator", "check the indentation: the items of one list begin in one column"},
	{"did not find expected ',' or", "a comma, a quote or a closing bracket is missing, or a value with special characters needs quotes"},
	{"unexpected end of stream", "a quote is not closed"},
	{"unknown anchor", "define the anchor with & before it is used; a value that begins with * needs quotes"},
	{"unknown escape character", `in double quotes a backslash is written \\; single quotes take it as it is`},
	{"block sequence entries are not allowed", "put the list on its own lines"},
	{"did not find expected alphabetic or numeric", "a value that begins with * or & needs quotes"},
}

// syntaxError turns the YAML reader's error into a finding with the best
// place that can be told.
func syntaxError(src *diag.Source, start int, text string, err error) diag.Diagnostic {
	message := err.Error()
	line := 0
	if m := yamlErrorLine().FindStringSubmatch(message); m != nil {
		message = message[len(m[0]):]
		line, _ = strconv.Atoi(m[1])
	}
	lines := yamlLines(text, 0)
	if at, ok := tabIndent(text, lines, max(line-2, 0)); ok {
		return CodeSyntax.Report(diag.Span{Source: src, Start: start + at, End: start + at + 1}, "a tab in the indentation").
			WithHint("indent with spaces: YAML takes no tabs")
	}
	if parserError(message) {
		line = brokenLine(text, lines)
	}
	at := 0
	if line > 0 && line <= len(lines) {
		at = lines[line-1]
	}
	for at < len(text) && blank(text, at) {
		at++
	}
	end := at
	for w := 0; w == 0 && end < len(text); w, _ = breakAt(text, end) {
		end++
	}
	code := CodeSyntax
	if strings.Contains(message, errSecondDocument.Error()) {
		code = codeFeature
	}
	d := code.Report(diag.Span{Source: src, Start: start + at, End: start + end}, "%s", message)
	for _, h := range syntaxHints {
		if strings.Contains(message, h.part) {
			return d.WithHint("%s", h.hint)
		}
	}
	return d
}

// parserError reports whether the reader names the line where the enclosing
// collection begins rather than the one it stumbled over.
func parserError(message string) bool {
	return strings.HasPrefix(message, "did not find expected") && !strings.Contains(message, "hexdecimal") &&
		!strings.Contains(message, "comment or line break")
}

// tabIndent finds the first tab in the indentation of a line, from line
// number from on (from 0).
func tabIndent(text string, lines []int, from int) (int, bool) {
	for _, at := range lines[min(from, len(lines)-1):] {
		for i := at; blank(text, i); i++ {
			if text[i] == '\t' {
				return i, true
			}
		}
		if len(lines) > 0 && at > lines[min(from+3, len(lines)-1)] {
			break
		}
	}
	return 0, false
}

// brokenLine finds the line (from 1) that the reader stumbled over: the first
// after the longest run of whole lines that can be read. It gives up on very
// long files and returns 0.
func brokenLine(text string, lines []int) int {
	if len(text) > 1<<18 {
		return 0
	}
	attempts := 0
	reads := func(n int) bool {
		if attempts++; n >= len(lines) || attempts > 300 {
			return false
		}
		_, err := Document(text[:lines[n]])
		return err == nil
	}
	good := 0
	for {
		bad := len(lines)
		for bad-good > 1 {
			if mid := (good + bad) / 2; reads(mid) {
				good = mid
			} else {
				bad = mid
			}
		}
		// Lines inside quotes or brackets do not read on their own although
		// nothing is wrong with them: look a little further.
		further := 0
		for n := good + 2; n <= good+40 && n < len(lines); n++ {
			if reads(n) {
				further = n
			}
		}
		if further == 0 {
			break
		}
		good = further
	}
	for n := good; n < len(lines); n++ {
		rest := strings.TrimLeft(text[lines[n]:], " \t")
		if w, _ := breakAt(rest, 0); w == 0 && rest != "" && rest[0] != '#' {
			return n + 1
		}
	}
	return good + 1
}

// CodeType reports a value of the wrong type.
var CodeType = diag.Define("HK007", diag.Error, "value of the wrong type")
