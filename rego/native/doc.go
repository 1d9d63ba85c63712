// Package native evaluates compiled Rego without OPA: a Program is plain data
// that the resident engine makes of OPA's plan, Link makes closures of it, and
// Eval runs them over the event's slots (performance.md §2.3, §11.6).
//
// It answers exactly what OPA's topdown answers, or it does not answer:
// whatever is unusual (a builtin's error, a conflict, a type that surprises, a
// budget that is spent, a number no OPA could compare) is ErrBail, and the
// caller evaluates by topdown, which knows the error, its message and its
// place.
//
// The package imports the smaller parts of the standard library alone: the
// gate links it.
package native
