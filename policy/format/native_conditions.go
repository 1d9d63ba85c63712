package format

import (
	"slices"

	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
)

// noneOf is the condition that none of several filters matches, each the
// conditions of one group. What a field's absence means is theirs to say.
func noneOf(written diag.Text, filters [][]policy.Condition) policy.Condition {
	var reads []policy.Field
	for _, all := range filters {
		for _, c := range all {
			reads = append(reads, c.Atom.Reads...)
		}
	}
	slices.Sort(reads)
	reads = slices.Compact(reads)
	field := policy.FieldEvent
	if len(reads) > 0 {
		field = reads[0]
	}
	return policy.Condition{Key: policy.FilterNative, Value: written, Atom: &policy.Atom{
		Op: policy.AtomMatch, Field: field, Values: []string{written.Value}, Reads: reads,
		Test: func(in *policy.Context) bool {
			return !slices.ContainsFunc(filters, func(all []policy.Condition) bool {
				return !slices.ContainsFunc(all, func(c policy.Condition) bool { return !c.Atom.Test(in) })
			})
		},
	}}
}

// where is a text about a place, for a condition nobody wrote.
func where(text string, at diag.Span) diag.Text { return diag.Text{Value: text, Span: at} }
