// Package severity is how bad a policy finds what a diagnostic code reports.
package severity

import "github.com/hookc/hookc/policy/diag"

// Off is what a policy makes of a code that is not to be reported; no finding has it.
const Off = diag.Hint + 1

// Words are what a policy may write; Parse reads them.
func Words() []string { return []string{"error", "warning", "info", "off"} }

// Parse is the severity of a word; hint and info are one.
func Parse(word string) (s diag.Severity, ok bool) {
	for s, name := range [...]string{"error", "warning", "hint", "off"} {
		if word == name || word == "info" && diag.Severity(s) == diag.Hint {
			return diag.Severity(s), true
		}
	}
	return diag.Error, false
}

// Firm reports whether a policy may not lower a code: an error says that the
// policy does not mean what it says, and a code of Security that what somebody
// guards gets through.
func Firm(c *diag.Code) bool { return c.Severity == diag.Error || c.Security }

// Apply gives findings the severities of a policy, by code, and leaves out those
// that are off. It is the same when it is done twice. What is an error by its code
// stays what its reporter made of it.
//
//go:noinline
func Apply(set map[string]diag.Severity, found diag.List) diag.List {
	if len(set) == 0 {
		return found
	}
	var out diag.List
	for _, d := range found {
		if to, is := set[d.Code.ID]; is && d.Code.Severity != diag.Error {
			if to == Off {
				continue
			}
			d.Severity = to
		}
		out = append(out, d)
	}
	return out
}
