package builtins

import (
	"slices"

	"github.com/hookc/hookc/policy"
)

// Part is how a derived field is found in a call's arguments, for a reader
// elsewhere that must see exactly what rules do (cmd/hookc/gatetable).
type Part struct {
	// Kinds are the kinds of tool that have the part; tools of kind mcp and other
	// may have any.
	Kinds []string
	// Keys are those of the input under which it is looked for, in order: the first
	// that holds a text, or a list of texts, which are the words of a command line.
	Keys []string
	// Edits is the key of a list of edits that is looked at after all of them, ""
	// for none.
	Edits string
}

// FindPart is how a derived field is found; false for a field that is found in
// another way.
func FindPart(f policy.Field) (Part, bool) {
	for _, p := range callParts {
		if p.field != f {
			continue
		}
		out := Part{Kinds: slices.Clone(p.kinds), Keys: slices.Clone(p.keys)}
		if f == policy.FieldContent {
			out.Edits = "edits"
		}
		return out, true
	}
	return Part{}, false
}

// MCPPrefixes begin the names of tools of kind mcp that ToolNames does not list.
func MCPPrefixes() []string { return slices.Clone(mcpPrefixes) }
