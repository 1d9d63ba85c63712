package compiler

import "github.com/hookc/hookc/compiler/lint"

// posture lists, at events that guard something, the hooks through which a
// failure lets it happen (semantics.md §5.4).
func posture(u *unit) {
	for _, plan := range u.plans {
		plan.Open = lint.Opens(plan)
	}
}
