package rego

import "github.com/hookc/hookc/policy"

// Digest identifies the shared modules and documents that a hook's policy
// file names, by content. What cannot be read counts by its error, which
// Compile reports.
func (c *Compiler) Digest(h *policy.Hook) string {
	if h.File == nil || len(h.File.Rego.Paths)+len(h.File.Rego.Data) == 0 {
		return ""
	}
	return c.libraryOf(h).digest()
}
