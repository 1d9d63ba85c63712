package dag

import "slices"

// Index answers which nodes of a plan can match a tool name. It errs only
// towards yes: a node is listed wherever its filter may hold.
type Index struct {
	// Exact maps a tool name to the nodes whose filter names it.
	Exact map[string][]int
	// Prefixes and Suffixes map texts that the name begins, or ends, with to the
	// nodes whose filter demands one of them, by the length of the text.
	Prefixes, Suffixes map[int]map[string][]int
	// Always lists the nodes whose filter does not settle it so. All lists
	// ascend.
	Always []int
}

// Empty reports whether nothing is known: a plan that was made without an
// index.
func (x *Index) Empty() bool {
	return len(x.Exact) == 0 && len(x.Prefixes) == 0 && len(x.Suffixes) == 0 && len(x.Always) == 0
}

// Nodes lists the nodes that can match a tool, ascending.
func (x *Index) Nodes(tool string) []int {
	out := slices.Concat(x.Always, x.Exact[tool])
	for n, texts := range x.Prefixes {
		if n <= len(tool) {
			out = append(out, texts[tool[:n]]...)
		}
	}
	for n, texts := range x.Suffixes {
		if n <= len(tool) {
			out = append(out, texts[tool[len(tool)-n:]]...)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Any reports whether some node can match the tool.
func (x *Index) Any(tool string) bool { return len(x.Always) > 0 || len(x.Nodes(tool)) > 0 }

// Begin notes that node id demands a name that begins with text.
func (x *Index) Begin(text string, id int) { x.Prefixes = file(x.Prefixes, text, id) }

// End notes that node id demands a name that ends with text.
func (x *Index) End(text string, id int) { x.Suffixes = file(x.Suffixes, text, id) }

func file(all map[int]map[string][]int, text string, id int) map[int]map[string][]int {
	if all == nil {
		all = map[int]map[string][]int{}
	}
	if all[len(text)] == nil {
		all[len(text)] = map[string][]int{}
	}
	all[len(text)][text] = append(all[len(text)][text], id)
	return all
}
