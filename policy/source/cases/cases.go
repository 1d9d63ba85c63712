// Package cases reads files of test cases: events, and what is expected of their
// Decisions.
package cases

import (
	"path/filepath"
	"time"

	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/internal/spell"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
	"github.com/hookc/hookc/policy/source"
	"github.com/hookc/hookc/policy/source/tree"
	"github.com/hookc/hookc/policy/trust"
)

var codeBadCase = diag.Define("HK021", diag.Error, "a test case cannot be read")

// Case is one test of a policy: an event and what its Decision must hold.
type Case struct {
	Name string
	Span diag.Span
	// Event is what is fired, Native the event's name as written.
	Event  *policy.Context
	Native string
	// Answers are the HookResults that hooks give instead of being run.
	Answers map[string]map[string]any
	// Now is the time that rules are told, zero for the real one; Env are variables
	// of bash hooks, as NAME=value.
	Now time.Time
	Env []string
	// Expect is a part of the Decision's JSON; Hooks is what single hooks did, by
	// name.
	Expect map[string]any
	Hooks  map[string]map[string]any
	// Snapshot compares what is said with what is kept beside the file.
	Snapshot bool
}

// File is a file of test cases.
type File struct {
	Name string
	// Policies are the files under test, absolute; none are named when empty.
	Policies []string
	Cases    []Case
	// Properties is a list of what holds of every event, nil if there is none.
	Properties *tree.Node
}

// caseReader reads one file of cases.
type caseReader struct {
	dir   string
	found diag.List
	// in is the file itself, which says what may not be read for it.
	in source.File
}

// Read reads a file of test cases. Findings are complete; cases that
// could not be read are left out. For a file of a project that is not trusted
// nothing outside that project is read.
func Read(path string) (*File, diag.List) {
	file := &File{Name: path}
	r := &caseReader{dir: filepath.Dir(path), in: source.File{Within: caseBoundary(path)}}
	content, err := r.in.Text(source.Absolute("", path))
	if err != nil {
		return file, diag.List{codeBadCase.Report(diag.Span{Source: diag.NewSource(path, "")}, "%s: %v", path, err)}
	}
	src := diag.NewSource(path, content)
	root, found := tree.ParseYAML(src, 0, len(src.Content))
	r.found = found
	if root == nil || root.Shape != tree.Map {
		r.report(diag.Span{Source: src}, "the file holds no cases")
		return file, r.found
	}
	for _, e := range root.Entries {
		switch e.Key.Text.Value {
		case "policy":
			file.Policies = r.policies(e.Value)
		case "cases":
			file.Cases = r.cases(e.Value)
		case "properties":
			file.Properties = e.Value
		default:
			r.unknown(e.Key, "policy", "cases", "properties")
		}
	}
	r.found.Sort()
	return file, r.found
}

// caseBoundary is the folder that reading a file of cases may not leave: the root
// of its project unless what is there now is what somebody trusted.
func caseBoundary(path string) string {
	path = source.Absolute("", path)
	if root := source.Boundary(source.Input{Path: path, Tier: policy.TierProject}); root != "" {
		return root
	}
	root := policy.ProjectRoot(filepath.Dir(path))
	if st := trust.Open(root).Consult("", nil); trust.IsProject(root) && !st.Holds() {
		return root
	}
	return ""
}

//go:noinline
func (r *caseReader) report(at diag.Span, format string, args ...any) {
	r.found.Add(codeBadCase.Report(at, format, args...))
}

func (r *caseReader) unknown(key *tree.Node, known ...string) {
	name := key.Text.Value
	r.found.Add(codeBadCase.Report(key.Span, "unknown key %q", name).
		WithHint("%s", diag.DidYouMean(name, known, "`hookc help HK021` shows a case")))
}

func (r *caseReader) policies(n *tree.Node) []string {
	items := []*tree.Node{n}
	if n.Shape == tree.List {
		items = n.Items
	}
	var out []string
	for _, item := range items {
		if !item.IsText() {
			r.report(item.Span, "policy must be a path")
			continue
		}
		path := source.Absolute(r.dir, item.Text.Value)
		if err := r.in.Outside(path); err != nil {
			r.report(item.Span, "%s: %v", item.Text.Value, err)
			continue
		}
		out = append(out, path)
	}
	return out
}

func (r *caseReader) cases(n *tree.Node) []Case {
	if n.Shape != tree.List {
		r.report(n.Span, "cases must be a list")
		return nil
	}
	var out []Case
	for _, item := range n.Items {
		for _, item := range r.rows(item) {
			before := len(r.found)
			c := r.one(item)
			if len(r.found) == before {
				out = append(out, c)
			}
		}
	}
	return out
}

func (r *caseReader) one(n *tree.Node) Case {
	c := Case{Span: n.Span, Answers: map[string]map[string]any{}}
	if n.Shape != tree.Map {
		r.report(n.Span, "a case must be a map")
		return c
	}
	for _, e := range n.Entries {
		switch e.Key.Text.Value {
		case "name":
			c.Name = spell.Name(e.Value.Text.Value)
			c.Span = e.Value.Span
		case "event":
			c.Event, c.Native = r.event(e.Value)
		case "input":
			c.Event, c.Native = r.input(e.Value)
		case "answers":
			r.answers(e.Value, c.Answers)
		case "now":
			c.Now = r.time(e.Value)
		case "env":
			c.Env = r.environ(e.Value)
		case "expect":
			c.Expect, c.Hooks = r.expect(e.Value)
		case "snapshot":
			c.Snapshot = r.yes(e.Value)
		default:
			r.unknown(e.Key, "name", "event", "input", "answers", "now", "env", "rows", "expect", "snapshot")
		}
	}
	switch {
	case c.Event == nil:
		r.report(n.Span, "a case needs an event, or an input file that holds one")
	case len(c.Expect)+len(c.Hooks) == 0 && !c.Snapshot:
		r.report(n.Span, "a case needs expect: without it nothing is tested")
	}
	return c
}

func (r *caseReader) object(n *tree.Node) map[string]any {
	m, ok := n.Value().(map[string]any)
	if !ok {
		r.report(n.Span, "must be a map")
	}
	return m
}

func (r *caseReader) expect(n *tree.Node) (decision map[string]any, hooks map[string]map[string]any) {
	decision = r.object(n)
	known := policy.DecisionKeys()
	for _, e := range n.Entries {
		switch key := e.Key.Text.Value; {
		case !lists.Has(known, key):
			r.unknown(e.Key, known...)
		case key == "hooks" && e.Value.Shape == tree.Map:
			delete(decision, key)
			hooks = r.hooks(e.Value)
		}
	}
	return decision, hooks
}

func (r *caseReader) event(n *tree.Node) (*policy.Context, string) {
	m := r.object(n)
	if m == nil {
		return nil, ""
	}
	c, name, err := policy.ContextFromMap(m)
	if err != nil {
		r.report(n.Span, "the event is not valid: %v", err)
	}
	return c, name
}

func (r *caseReader) input(n *tree.Node) (*policy.Context, string) {
	data, err := r.in.Text(source.Absolute(r.dir, n.Text.Value))
	if err != nil {
		r.report(n.Span, "%s: %v", n.Text.Value, err)
		return nil, ""
	}
	c, name, err := policy.DecodeContext([]byte(data))
	if err != nil {
		r.report(n.Span, "the event is not valid: %v", err)
	}
	return c, name
}

func (r *caseReader) answers(n *tree.Node, into map[string]map[string]any) {
	if n.Shape != tree.Map {
		r.report(n.Span, "answers must be a map from hook to HookResult")
		return
	}
	for _, e := range n.Entries {
		into[e.Key.Text.Value] = r.object(e.Value)
	}
}
