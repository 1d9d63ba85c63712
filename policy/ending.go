package policy

import (
	"slices"

	"github.com/hookc/hookc/policy/diag"
)

var codeEnding = diag.Define("HK112", diag.Warning, "stop without feedback ends the turn")

// ending warns of a gate that a stop has left without feedback (semantics.md
// §12, 5). A failure that means abort is told as a failure.
func ending(spec *EventSpec, r *Result) []Warning {
	if spec.Class != Quality || r.Control != Stop || len(r.Feedback) > 0 {
		return nil
	}
	by := r.ControlBy.Name
	if slices.ContainsFunc(r.Failed, func(f Failure) bool { return f.Hook == by && f.OnError == OnErrorAbort }) {
		return nil
	}
	return []Warning{{Code: codeEnding, Hook: by, Text: by + ": stop without retry_feedback ends the turn at " + string(spec.Event)}}
}
