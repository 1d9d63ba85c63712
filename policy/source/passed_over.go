package source

import (
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
)

// mild are findings about an agent's configuration that leave its hooks as they
// are written.
var mild = []*diag.Code{codeTimeout, codeTogether, codeHookValue, codeHookKey, codeHookFolder, codeByteOrderMark}

// passedOver notes what an agent would leave out of its own configuration, for
// every Decision to say: the agent itself says nothing, and its user believes
// that the hook is there.
func (l *Loader) passedOver(in *File, d diag.Diagnostic) {
	if l.dialect == nil || in.Untrusted != "" || d.Severity != diag.Warning || lists.Among(mild, d.Code) {
		return
	}
	l.policy.Warnings = append(l.policy.Warnings, policy.Warning{Code: d.Code, Text: d.Span.String() + ": " + d.Text})
}
