package compiler

import (
	"cmp"
	"slices"

	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/policy"
)

// seal gathers the program.
func seal(u *unit) {
	sources := slices.Clone(u.policy.Sources)
	slices.SortStableFunc(sources, func(a, b policy.SourceFile) int {
		return cmp.Or(cmp.Compare(a.Tier, b.Tier), cmp.Compare(a.Path, b.Path))
	})
	u.program = &dag.Program{Hash: u.hash, Plans: u.plans, Hooks: u.entries, Pipelines: u.pipelines, Sources: sources,
		Tools: u.policy.Tools, Notes: u.policy.Notes, Warnings: slices.Concat(u.policy.Warnings, u.warnings)}
	u.program.Seal()
}
