package builtins

import "slices"

// ToolsOf lists every name whose ToolKind is kind; nil for the kinds that have
// no list of names, mcp and other, and for a kind there is none of. The caller
// may change the list.
func ToolsOf(kind string) []string {
	for _, k := range kindTools {
		if k.kind == kind {
			return slices.Clone(k.tools)
		}
	}
	return nil
}
