package rego

import (
	"bytes"
	"regexp"
	"strconv"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/hookc/hookc/internal/lazy"
	"github.com/hookc/hookc/policy/diag"
)

// ownFile is the name under which OPA knows the hook's own text; shared files
// go by their absolute paths.
const ownFile = "hook"

// positions turns OPA's locations into spans: the texts of the modules by the
// name OPA knows them by.
type positions map[string]diag.Text

// span is where a location was written; of several lines it is the first. The
// end of a text is its last character: what follows a body in the policy file
// is none of its business.
func (p positions) span(loc *ast.Location) diag.Span {
	if loc == nil {
		return diag.Span{}
	}
	text, ok := p[loc.File]
	if !ok {
		return diag.Span{}
	}
	first, _, _ := bytes.Cut(loc.Text, []byte("\n"))
	if len(first) > 0 && loc.Offset <= len(text.Value) && strings.HasPrefix(text.Value[loc.Offset:], string(first)) {
		return text.At(loc.Offset, loc.Offset+len(bytes.TrimRight(first, " \t\r")))
	}
	body := strings.TrimRight(text.Value, " \t\r\n")
	if end := len(body); end > 0 && loc.Row > strings.Count(body, "\n")+1 {
		return text.At(end-1, end)
	}
	return text.AtLineCol(loc.Row, loc.Col)
}

var conflictLine = lazy.Value(func() *regexp.Regexp { return regexp.MustCompile(`\n *(.*) at (.+):([0-9]+)`) })

// inPlace puts a message on one line. OPA lists the rules of a conflict by
// the line of the text it was given; they become lines of the author's file.
func (p positions) inPlace(message string) string {
	lines := conflictLine().ReplaceAllStringFunc(message, func(line string) string {
		part := conflictLine().FindStringSubmatch(line)
		row, err := strconv.Atoi(part[3])
		text, known := p[part[2]]
		if err != nil || !known {
			return " " + part[1] + ";"
		}
		return " " + part[1] + " at " + text.AtLineCol(row, 1).String() + ";"
	})
	return strings.TrimSuffix(lines, ";")
}

// renaming is how a hook's package is called inside and to people.
type renaming struct {
	private, original ast.Ref
}

// restore puts the author's package name back into a message of OPA.
func (r renaming) restore(message string) string {
	if r.private == nil {
		return message
	}
	return strings.ReplaceAll(message, r.private.String(), r.original.String())
}
