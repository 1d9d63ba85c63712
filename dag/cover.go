package dag

import "github.com/hookc/hookc/policy/diag"

// PartKind is what a part of a hook is, for Cover.
type PartKind string

// The parts: one of the bodies of a rule; an expression of a body, or one that
// makes a value; a condition and the filter of a hook, which are to be seen true
// and false; a hook.
const (
	PartBody      PartKind = "body"
	PartLine      PartKind = "line"
	PartCondition PartKind = "condition"
	PartHook      PartKind = "hook"
	PartFilter    PartKind = "filter"
)

// Part is a part of a hook that a test can reach.
type Part struct {
	Kind PartKind
	// Name is that of the rule, the key or the hook; Module where the module of a
	// rule begins.
	Name   string
	Module diag.Span
	At     diag.Span
}

// Cover is told which parts the rules of a program have, when they are made ready,
// and which of them are evaluated. It is for tests, and safe for concurrent use.
type Cover interface {
	Part(Part)
	// Seen says that what is written there was evaluated, and whether it held.
	Seen(at diag.Span, held bool)
}
