package source

import "github.com/hookc/hookc/policy/diag"

var codeDropped = diag.Define("HK042", diag.Error, "file that its agent drops whole")
var codeReplaced = diag.Define("HK043", diag.Warning, "hooks that another file replaces or turns off").Guarding()
var codeNeverFires = diag.Define("HK044", diag.Warning, "event that its agent never fires").Guarding()
var codeUnset = diag.Define("HK045", diag.Warning, "variable that its agent never sets")
var codeLiteral = diag.Define("HK046", diag.Warning, "matcher that means something else than it looks").Guarding()
var codeUnread = diag.Define("HK047", diag.Warning, "key that its agent does not read")

// dropped is the finding that an agent drops a file: an error, unless the agent
// is followed faithfully.
//
//go:noinline
func (l *Loader) dropped(at diag.Span, format string, args ...any) diag.Diagnostic {
	d := codeDropped.Report(at, format, args...)
	if l.faithful {
		d.Severity = diag.Warning
	}
	return d
}
