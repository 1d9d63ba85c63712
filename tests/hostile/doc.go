// Package hostile attacks hookc as a hostile repository, a gated agent, the
// environment and half-saved files do. Each file holds one property of
// SECURITY.md; repos.go makes the corpus of repositories that they share. The
// tests drive the built programs, with a home, a state folder and a managed
// folder of their own.
package hostile
