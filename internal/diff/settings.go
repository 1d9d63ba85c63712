package diff

import (
	"fmt"
	"strings"

	"github.com/hookc/hookc/builtins/toolcall"
	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/callmatch"
)

// SettingChange is something that is set besides the hooks, for one lifecycle
// point or, when Event is "", for all.
type SettingChange struct {
	Event policy.Event `json:"event,omitempty"`
	Key   string       `json:"key"`
	Old   string       `json:"old"`
	New   string       `json:"new"`
	Known
}

// settingChanges lists what differs besides hooks.
func settingChanges(old, new *dag.Program, o *Options) []SettingChange {
	out := []SettingChange{}
	add := func(event policy.Event, key, was, is string) {
		if was != is {
			out = append(out, SettingChange{Event: event, Key: key, Old: was, New: is})
		}
	}
	tools := func(c policy.Catalogue) string {
		return strings.Join(lists.Concat(c.Known, c.Open), ", ")
	}
	add("", "tools", tools(old.Tools), tools(new.Tools))
	add("", "notes", strings.Join(old.Notes, "; "), strings.Join(new.Notes, "; "))
	for _, event := range policy.Events() {
		was, is := old.Plan(event), new.Plan(event)
		if was == nil || is == nil || !o.wants(event) {
			continue // the hooks say so
		}
		add(event, "strategy", string(was.Strategy.Strategy), string(is.Strategy.Strategy))
		add(event, "order", orderOf(was), orderOf(is))
		add(event, "chain_timeout", was.Deadline.String(), is.Deadline.String())
		add(event, "max_concurrent", fmt.Sprint(was.MaxConcurrent), fmt.Sprint(is.MaxConcurrent))
	}
	return out
}

func orderOf(p *dag.Plan) string {
	if p.ByPriority {
		return "priority"
	}
	return "tier"
}

// DeniedTool is a tool whose every call a plan denies, and the hook that does.
type DeniedTool struct {
	Event policy.Event
	Tool  string
	By    string
}

// DeniedChange is a tool that either policy always denies; Old and New name the
// hook, "" where the policy does not.
type DeniedChange struct {
	Event policy.Event `json:"event"`
	Tool  string       `json:"tool"`
	Old   string       `json:"old,omitempty"`
	New   string       `json:"new,omitempty"`
}

// deniedChanges lists what either policy always denies.
func deniedChanges(old, new *dag.Program, o *Options) []DeniedChange {
	out := []DeniedChange{}
	tools := lists.Concat(toolsNamed(old), toolsNamed(new))
	tools = lists.Distinct(tools)
	if o.Tool != "" {
		tools = []string{o.Tool}
	}
	was, is := AlwaysDenied(old, tools), AlwaysDenied(new, tools)
	by := func(list []DeniedTool, d DeniedTool) string {
		for _, x := range list {
			if x.Event == d.Event && x.Tool == d.Tool {
				return x.By
			}
		}
		return ""
	}
	for _, d := range was {
		out = append(out, DeniedChange{d.Event, d.Tool, d.By, by(is, d)})
	}
	for _, d := range is {
		if by(was, d) == "" {
			out = append(out, DeniedChange{d.Event, d.Tool, "", d.By})
		}
	}
	return lists.Without(out, func(d *DeniedChange) bool { return !o.wants(d.Event) })
}

// AlwaysDenied lists, of the named tools, those whose every call is refused
// whatever else the event says (HK152 in semantics.md §9): a rule that denies
// without a condition applies to the tool by its name alone, cannot fail, and
// nothing before it can end the chain with less than a refusal. It errs only
// towards leaving a tool out.
func AlwaysDenied(p *dag.Program, tools []string) []DeniedTool {
	var out []DeniedTool
	for _, plan := range p.Plans {
		if plan.Spec.Class != policy.Guard || !plan.Spec.CanRead(policy.FieldToolName) || plan.Strategy.Rules.Conclude != nil {
			continue
		}
		for _, tool := range tools {
			if by := denier(plan, tool); by != "" {
				out = append(out, DeniedTool{plan.Event, tool, by})
			}
		}
	}
	return out
}

// refuses is what leaves the guarded call undone.
const refuses = policy.MayDeny | policy.MaySkip | policy.MayStop | policy.MayHalt

// denier is the first node that refuses every call of a tool, "" if there is none.
func denier(plan *dag.Plan, tool string) string {
	if plan.Strategy.Fold != policy.FoldMax {
		return ""
	}
	for i := range plan.Nodes {
		n := &plan.Nodes[i]
		item := &plan.Items[n.Item]
		if endsShort(plan, n.Item) {
			return ""
		}
		plain := n.Exempt() && !n.Effects.MayFail && !n.Hook.Async && n.RecheckOf < 0 && (len(item.Members) == 1 || item.Fold == policy.FoldMax)
		if plain && n.Always&n.Effects.May&plan.Spec.Powers&refuses != 0 && always(plan, n.Matcher, tool) {
			return n.Hook.Name
		}
	}
	return ""
}

// endsShort reports whether an item before the given one can end the chain with
// something that is no refusal, or take back what is said.
func endsShort(plan *dag.Plan, before int) bool {
	if plan.Strategy.Halt != policy.HaltAsk && plan.Strategy.Halt != policy.HaltExplicit {
		return false // what halts is a deny or a control
	}
	for i := range before {
		if plan.Items[i].MayHalt {
			return true
		}
	}
	return false
}

// always reports whether a filter holds for every call of a tool.
func always(plan *dag.Plan, m *policy.Matcher, tool string) bool {
	if m == nil {
		return true
	}
	if plan.Spec.CanWrite(policy.FieldToolName) {
		return false
	}
	for i := range m.Atoms {
		if !callmatch.ByName(&m.Atoms[i]) {
			return false
		}
	}
	return mayMatch(plan.Event, m, tool)
}

// toolsNamed are the tools a program's filters name, those it says there are,
// and some that agents have.
func toolsNamed(p *dag.Program) []string {
	out := lists.Concat(p.Tools.Known, usualTools)
	for _, plan := range p.Plans {
		for i := range plan.Nodes {
			if m := plan.Nodes[i].Matcher; m != nil {
				out = append(out, toolsIn(m)...)
			}
		}
	}
	return lists.Distinct(out)
}

// toolsIn are the names of tools in a filter.
func toolsIn(m *policy.Matcher) []string {
	var out []string
	for i := range m.Atoms {
		a := &m.Atoms[i]
		switch {
		case a.Op == policy.AtomIn && a.Field == policy.FieldToolName:
			out = append(out, a.Values...)
		case a.Op == policy.AtomIn && a.Field == policy.FieldToolKind:
			for _, kind := range a.Values {
				out = append(out, first(toolcall.OfKind(kind), 3)...)
			}
		case a.Field == policy.FieldToolName:
			out = append(out, a.Literals.Exact...)
		}
	}
	return out
}

func first(list []string, n int) []string { return list[:min(n, len(list))] }
