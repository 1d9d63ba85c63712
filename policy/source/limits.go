package source

import (
	"time"

	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
)

// limits are how much one load reads: more than any policy of people has, and
// so little that an agent does not wait for it.
type limits struct {
	// rules are hooks, those of an expr hook each on its own.
	rules, files, bytes int
	time                time.Duration
	// looked is how many files and folders one glob under include may look at.
	looked int
}

// usual are the limits of a load. The texts of the codes below name them.
var usual = limits{rules: 20_000, files: 2_000, bytes: 64 << 20, time: 15 * time.Second, looked: 20_000}

var (
	codeManyRules = diag.Define("HK024", diag.Error, "policy with too many rules").Unprovoked("An example would be too long for this page.")
	codeManyFiles = diag.Define("HK025", diag.Error, "policy of too many files").Unprovoked("An example would be too long for this page.")
	codeManyBytes = diag.Define("HK026", diag.Error, "policy of too many bytes").Unprovoked("An example would be too long for this page.")
	codeSlowLoad  = diag.Define("HK027", diag.Error, "policy that takes too long to read").Unprovoked("It depends on the machine, so there is no example.")
)

// spent is how much of the limits a load has used.
type spent struct {
	rules, files, bytes int
	began               time.Time
	// over is set at the first limit that is reached: nothing more is read.
	over bool
}

// exceeds reports a limit that was reached, once for a load, and that nothing
// more is read from then on.
//
//go:noinline
func (l *Loader) exceeds(in *File, d diag.Diagnostic) bool {
	if !l.spent.over {
		l.spent.over = true
		l.Report(in, d)
	}
	return true
}

// full reports whether a file more is too much.
func (l *Loader) full(in *File) bool {
	l.spent.files++
	switch {
	case l.spent.over:
		return true
	case l.spent.files > l.limits.files:
		return l.exceeds(in, codeManyFiles.Report(fileSpan(in.Name), "the policy has more than %d files", l.limits.files).
			WithHint("put the hooks of several files into one"))
	case time.Since(l.spent.began) > l.limits.time:
		return l.exceeds(in, codeSlowLoad.Report(fileSpan(in.Name), "the policy is not read after %s", l.limits.time).
			WithHint("look at the disk and at what else the machine does"))
	}
	return false
}

// heavy reports whether the text of a file is too much.
func (l *Loader) heavy(in *File, content string) bool {
	l.spent.bytes += len(content)
	return l.spent.over || l.spent.bytes > l.limits.bytes &&
		l.exceeds(in, codeManyBytes.Report(fileSpan(in.Name), "the files of the policy have more than %d bytes", l.limits.bytes).
			WithHint("move tables to the data of Rego"))
}

// crowded reports whether a hook more is too much.
func (l *Loader) crowded(in *File, h *policy.Hook) bool {
	l.spent.rules += max(1, len(h.Body.Rules))
	return l.spent.over || l.spent.rules > l.limits.rules &&
		l.exceeds(in, codeManyRules.Report(h.Span, "the policy has more than %d hooks and rules", l.limits.rules).
			WithHint("write one rule over a list, or a table as data of Rego"))
}
