package dag

import (
	"maps"
	"slices"

	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy"
)

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
func (x *Index) Nodes(tool string) []int { return x.Finder().Nodes(tool) }

// Finder is an Index made ready to be asked often. It is immutable.
type Finder struct {
	always []int
	exact  map[string][]int
	// lengths has a bit for each length that exact names have, the last for all
	// from there on: a name of another length is not looked up among thousands.
	lengths    uint64
	begin, end []texts
}

// texts are the beginnings, or the ends, of one length. All of them have the
// byte is at a place, if at is not negative: few names get as far as being
// hashed.
type texts struct {
	length int
	at     int
	is     byte
	nodes  map[string][]int
}

// Finder returns what finds the nodes of x as it is now.
func (x *Index) Finder() *Finder {
	f := &Finder{always: x.Always, exact: x.Exact, begin: byLength(x.Prefixes), end: byLength(x.Suffixes)}
	for name := range x.Exact {
		f.lengths |= lengthBit(name)
	}
	return f
}

func lengthBit(name string) uint64 { return 1 << min(len(name), 63) }

func byLength(all map[int]map[string][]int) []texts {
	var out []texts
	for _, n := range slices.Sorted(maps.Keys(all)) {
		t := texts{length: n, at: -1, nodes: all[n]}
		names := slices.Sorted(maps.Keys(all[n]))
		// Sorted texts begin together with what the first and the last do; the end
		// of that tells most names apart.
		for first, last := names[0], names[len(names)-1]; t.at+1 < n && first[t.at+1] == last[t.at+1]; {
			t.at++
			t.is = first[t.at]
		}
		out = append(out, t)
	}
	return out
}

// Nodes lists the nodes that can match a tool, ascending; nil if there is none.
func (f *Finder) Nodes(tool string) []int {
	out := lists.Copy(f.always)
	if f.lengths&lengthBit(tool) != 0 {
		out = append(out, f.exact[tool]...)
	}
	for i := range f.begin {
		t := &f.begin[i]
		if t.length > len(tool) {
			break
		}
		if t.at < 0 || tool[t.at] == t.is {
			out = append(out, t.nodes[tool[:t.length]]...)
		}
	}
	for i := range f.end {
		t := &f.end[i]
		if t.length > len(tool) {
			break
		}
		if end := tool[len(tool)-t.length:]; t.at < 0 || end[t.at] == t.is {
			out = append(out, t.nodes[end]...)
		}
	}
	if len(out) < 2 {
		return out
	}
	lists.Sort(out)
	return lists.Compact(out)
}

// Any reports whether some node can match the tool.
func (x *Index) Any(tool string) bool { return len(x.Always) > 0 || len(x.Nodes(tool)) > 0 }

// Begin notes that node id demands a name that begins with text.
func (x *Index) Begin(text string, id int) { x.Prefixes = file(x.Prefixes, text, id) }

// End notes that node id demands a name that ends with text.
func (x *Index) End(text string, id int) { x.Suffixes = file(x.Suffixes, text, id) }

//go:noinline
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

// AboutTools reports whether the plan's event is about a call of a tool.
func (p *Plan) AboutTools() bool { return p.Spec.CanRead(policy.FieldToolName) }

// Matching returns which nodes can match a call of a tool: those its index
// names for it, less those whose conditions on the tool's name or kind fail.
// It errs only towards yes. At an event that is about no tool, and for "", it
// is every node.
func (p *Plan) Matching(tool string) func(node int) bool {
	if tool == "" || !p.AboutTools() {
		return func(int) bool { return true }
	}
	in := policy.NewContext(p.Event).Set(policy.FieldToolName, tool)
	settled := func(a *policy.Atom) bool {
		return !slices.ContainsFunc(a.Reads, func(f policy.Field) bool {
			return f != policy.FieldToolName && f != policy.FieldToolKind || !in.Has(f)
		})
	}
	indexed, listed := !p.Index.Empty(), p.Index.Nodes(tool)
	match := make([]bool, len(p.Nodes))
	for v := range match {
		_, found := slices.BinarySearch(listed, v)
		match[v] = !indexed || found
		if p.Nodes[v].Matcher == nil {
			continue
		}
		for i := range p.Nodes[v].Matcher.Atoms {
			if a := &p.Nodes[v].Matcher.Atoms[i]; len(a.Reads) > 0 && settled(a) && !a.Test(in) {
				match[v] = false
			}
		}
	}
	return func(node int) bool { return match[node] }
}
