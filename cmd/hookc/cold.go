package main

import (
	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/dag/render"
	"github.com/hookc/hookc/internal/decisionlog/keep"
	"github.com/hookc/hookc/internal/gate/build"
	"github.com/hookc/hookc/policy"
)

// explained is the model of a program, with what hookgate decides itself where
// there is no server.
func explained(p *dag.Program, event policy.Event, tool string) *render.Model {
	m := render.Explain(p, render.ExplainOptions{Event: event, Tool: tool, Cold: func(plan *dag.Plan) []string { return build.Cold(p, plan) }})
	m.Notes = append(m.Notes, new(keep.Log).Explain(keep.Under{Policy: p.Log})...)
	return m
}
