package policy

import "slices"

// joinNative is x followed by y under a profile's fold, which does more than
// combine verdicts. It is associative too: each part looks only at what is
// later.
func joinNative(fold Fold, x, y Result) Result {
	if fold.Has(FoldReplace) && (y.Verdict >= Ask || y.Control > Go || y.EndChain) {
		x = Result{Failed: x.Failed, Warnings: x.Warnings, Void: x.Void}
	}
	if fold.Has(FoldLastPatch) {
		x.Patch = x.Patch.without(y.Patch)
	}
	if fold.Has(FoldLastText) {
		x.Context = unless(y.Context, x.Context)
		x.Feedback = unless(y.Feedback, x.Feedback)
		x.System = unless(y.System, x.System)
	}
	if fold.Has(FoldLastReason) {
		x.Reasons = unless(y.Reasons, x.Reasons)
	}
	z := Join(fold.Verdict(), x, y)
	if fold.Has(FoldReasons) && x.Verdict != y.Verdict {
		z.Reasons = x.Reasons
		if z.Verdict == y.Verdict {
			z.Reasons = y.Reasons
		}
	}
	return z
}

// unless is earlier, or nothing where there is something later.
func unless[T any](later, earlier []T) []T {
	if len(later) > 0 {
		return nil
	}
	return earlier
}

// without is p less its edits of the fields that q changes.
func (p Patch) without(q Patch) Patch {
	var out Patch
	for _, e := range p.edits {
		if !slices.ContainsFunc(q.edits, func(l Edit) bool { return l.Path.Field == e.Path.Field }) {
			out.edits = append(out.edits, e)
		}
	}
	return out
}
