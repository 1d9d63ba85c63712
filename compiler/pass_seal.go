package compiler

import (
	"cmp"
	"sort"

	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/internal/lists"
)

// seal gathers the program.
func seal(u *unit) {
	sources := lists.Copy(u.policy.Sources)
	sort.SliceStable(sources, func(i, j int) bool {
		return lists.First(cmp.Compare(sources[i].Tier, sources[j].Tier), cmp.Compare(sources[i].Path, sources[j].Path)) < 0
	})
	u.program = &dag.Program{Hash: u.hash, Plans: u.plans, Hooks: u.entries, Pipelines: u.pipelines, Sources: sources,
		Tools: u.policy.Tools, Facts: u.policy.Facts, Approvals: len(u.policy.Approvals) > 0, Severities: u.policy.Severities, Log: u.policy.Log, Notes: u.policy.Notes, Warnings: lists.Concat(u.policy.Warnings, u.warnings)}
	u.program.Seal()
}
