package render

import (
	"slices"
	"strings"
	"time"

	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
)

// builder makes plans by hand, as the compiler would.
type builder struct {
	plan *dag.Plan
	at   map[string]int
	src  *diag.Source
}

func newBuilder(e policy.Event) *builder {
	spec := e.Spec()
	return &builder{plan: &dag.Plan{Event: e, Spec: spec, Strategy: spec.Strategy.Spec(), Deadline: 30 * time.Second,
		MaxConcurrent: 8, MaxModels: 4, Inline: true, Index: dag.Index{Exact: map[string][]int{}}}, at: map[string]int{},
		src: diag.NewSource("hooks.yaml", strings.Repeat("line\n", 100))}
}

// decl is one hook, shortly.
type decl struct {
	name          string
	kind          policy.Kind
	tier          policy.Tier
	tools         string // A|B
	extra         []policy.Condition
	reads, writes string // separated by spaces
	may           policy.Powers
	world         policy.World
	spec, locked  bool
	async         bool
	cost          time.Duration
	slot          int
	onError       policy.Posture
	recheckOf     string
	group         *policy.Group
	priority      int
}

func paths(text string) policy.Paths {
	var out []policy.Path
	for f := range strings.FieldsSeq(text) {
		p, err := policy.ParsePath(f)
		if err != nil {
			panic(err)
		}
		out = append(out, p)
	}
	return policy.NewPaths(out...)
}

func (b *builder) hook(d decl) *policy.Hook {
	start := b.src.Offset(10+len(b.plan.Nodes), 3)
	h := &policy.Hook{Name: d.name, Event: b.plan.Event, Kind: d.kind, Tier: d.tier, Priority: max(d.priority, 100), Locked: d.locked,
		Async: d.async, Group: d.group, Span: diag.Span{Source: b.src, Start: start, End: start + 4}}
	if d.tools != "" {
		h.Filter.Conditions = append(h.Filter.Conditions, policy.Condition{Key: policy.FilterToolMatcher, Value: diag.Literal(d.tools)})
	}
	h.Filter.Conditions = append(h.Filter.Conditions, d.extra...)
	return h
}

// add appends a node as an item of its own, or to the item of its group.
func (b *builder) add(d decl) int {
	p, id := b.plan, len(b.plan.Nodes)
	n := dag.Node{Hook: b.hook(d), Item: len(p.Items), RecheckOf: -1, Slot: d.slot, Gate: -1, Cost: d.cost, Matcher: &policy.Matcher{},
		OnError: d.onError, OnTimeout: d.onError, Timeout: 10 * time.Second,
		Effects: policy.Effects{Reads: paths(strings.TrimPrefix(d.reads, "*")), Writes: paths(d.writes), May: d.may, World: d.world, Spec: d.spec,
			MayFail: d.kind != policy.KindBuiltin}}
	if d.reads == "*" {
		n.Effects.Reads = p.Spec.Readable()
	}
	if !d.kind.InProcess() {
		n.Slot, p.Inline = -1, false
	} else {
		p.Slots = max(p.Slots, n.Slot+1)
	}
	b.match(&n, id, d)
	n.Reads = n.Effects.Reads.Union(n.Matcher.Reads())
	n.MayHalt = (d.may | failing(d.onError)).Has(p.Strategy.Halt.Powers()) && !d.async
	if d.recheckOf != "" {
		n.RecheckOf = b.at[d.recheckOf]
		n.Hook = p.Nodes[n.RecheckOf].Hook
	} else {
		b.at[d.name] = id
	}
	if last := len(p.Items) - 1; d.group != nil && last >= 0 && p.Items[last].Group == d.group.Name {
		n.Item = last
		p.Items[last].Members = append(p.Items[last].Members, id)
		p.Items[last].MayHalt = p.Items[last].MayHalt || n.MayHalt
	} else {
		item := dag.Item{Members: []int{id}, MayHalt: n.MayHalt, Fold: p.Strategy.Fold}
		if d.group != nil {
			item.Group, item.Parallel, item.Fold = d.group.Name, true, d.group.Fold
		}
		p.Items = append(p.Items, item)
	}
	p.Nodes = append(p.Nodes, n)
	return id
}

func failing(p policy.Posture) policy.Powers {
	switch p {
	case policy.OnErrorDeny:
		return policy.MayDeny
	case policy.OnErrorAbort:
		return policy.MaySkip
	}
	return 0
}

func (b *builder) match(n *dag.Node, id int, d decl) {
	if d.tools == "" {
		b.plan.Index.Always = append(b.plan.Index.Always, id)
	} else {
		names := strings.Split(d.tools, "|")
		for _, tool := range names {
			b.plan.Index.Exact[tool] = append(b.plan.Index.Exact[tool], id)
		}
		n.Matcher.Atoms = append(n.Matcher.Atoms, policy.Atom{Key: policy.FilterToolMatcher, Op: policy.AtomIn,
			Field: policy.FieldToolName, Values: names, Reads: []policy.Field{policy.FieldToolName},
			Test: func(c *policy.Context) bool { return slices.Contains(names, c.Text(policy.FieldToolName)) }})
	}
	for _, c := range d.extra {
		want := c.Value.Value
		n.Matcher.Atoms = append(n.Matcher.Atoms, policy.Atom{Key: c.Key, Op: policy.AtomPrefix, Field: policy.FieldModel,
			Values: []string{want}, Reads: []policy.Field{policy.FieldModel},
			Test: func(c *policy.Context) bool { return strings.HasPrefix(c.Text(policy.FieldModel), want) }})
	}
}

// edge joins two nodes and keeps Wait, Started, Data and Gate in step.
func (b *builder) edge(from, to int, kind dag.EdgeKind, why string) {
	n := &b.plan.Nodes[to]
	e := dag.Edge{From: from, To: to, Kind: kind, Why: why}
	switch {
	case kind == dag.GateEdge:
		n.Gate = max(n.Gate, b.plan.Nodes[from].Item)
	case b.plan.Nodes[from].Hook.Async:
		e.Start = true
		n.Started = append(n.Started, from)
	default:
		n.Wait = ascending(append(n.Wait, from))
	}
	if kind == dag.DataEdge {
		n.Data = ascending(append(n.Data, from))
	}
	b.plan.Edges = append(b.plan.Edges, e)
	slices.SortStableFunc(b.plan.Edges, dag.CompareEdges)
}

func (b *builder) done() *dag.Plan {
	b.plan.Estimate = b.plan.Estimated(nil)
	return b.plan
}

const (
	us = time.Microsecond
	ms = time.Millisecond
)

// guardPlan is the chain of semantics.md §8's mock-up.
func guardPlan() *dag.Plan {
	b := newBuilder(policy.PreToolExecution)
	review := &policy.Group{Name: "review"}
	b.add(decl{name: "path-jail", kind: policy.KindExpr, tier: policy.TierUser, locked: true, tools: "Write|Edit",
		reads: "tool_input.file_path cwd", may: policy.MayDeny, spec: true, cost: 100, onError: policy.OnErrorDeny})
	guard := b.add(decl{name: "guard-shell", kind: policy.KindRego, tier: policy.TierUser, tools: "Bash|Shell", reads: "tool_input.command",
		may: policy.MayDeny | policy.MayAsk, spec: true, cost: 13 * us, onError: policy.OnErrorDeny})
	b.add(decl{name: "secret-files", kind: policy.KindExpr, tier: policy.TierUser, reads: "tool_name tool_input.file_path",
		may: policy.MayDeny | policy.MayAsk, spec: true, cost: 100, onError: policy.OnErrorDeny})
	audit := b.add(decl{name: "audit", kind: policy.KindBash, tier: policy.TierUser, reads: "*", world: policy.WorldWrite, async: true,
		cost: 3 * ms, onError: policy.OnErrorSkip})
	pnpm := b.add(decl{name: "pnpm-rewrite", kind: policy.KindBash, tier: policy.TierProject, tools: "Bash", reads: "tool_input.command",
		writes: "tool_input.command", spec: true, cost: 6 * ms, onError: policy.OnErrorSkip})
	again := b.add(decl{name: "guard-shell", kind: policy.KindRego, tier: policy.TierUser, tools: "Bash|Shell", reads: "tool_input.command",
		may: policy.MayDeny | policy.MayAsk, spec: true, cost: 13 * us, slot: 1, recheckOf: "guard-shell", onError: policy.OnErrorDeny})
	llm := b.add(decl{name: "llm-review", kind: policy.KindLLM, tier: policy.TierProject, tools: "Bash|Shell", reads: "tool_name tool_input",
		may: policy.PreToolExecution.Spec().Powers, cost: 1400 * ms, group: review, onError: policy.OnErrorSkip})
	scan := b.add(decl{name: "secret-scan", kind: policy.KindBash, tier: policy.TierProject, reads: "*", world: policy.WorldRead,
		may: policy.PreToolExecution.Spec().Powers, cost: 40 * ms, group: review, onError: policy.OnErrorDeny})
	confirm := b.add(decl{name: "confirm-prod", kind: policy.KindExpr, tier: policy.TierProject, tools: "Bash", reads: "tool_input.command",
		may: policy.MayAsk, spec: true, cost: 100, slot: 1, onError: policy.OnErrorDeny})
	b.edge(guard, audit, dag.GateEdge, "audit has side effects; guard-shell may deny")
	for _, to := range []int{again, llm, scan, confirm} {
		b.edge(pnpm, to, dag.DataEdge, "reads what pnpm-rewrite may write")
	}
	b.edge(again, llm, dag.GateEdge, "not started while a deny is possible")
	b.edge(again, scan, dag.GateEdge, "not started while a deny is possible")
	b.edge(audit, scan, dag.OrderEdge, "audit writes the world, secret-scan reads it")
	b.plan.Nodes[audit].Gate = 2
	b.plan.Open = []dag.OpenHook{{Hook: "llm-review", Why: "on_error skip lets a timeout through"}}
	return b.done()
}

var (
	codeFilter = diag.Define("HK990", diag.Warning, "test").Explained("test", "x", "x")
	codeLocked = diag.Define("HK991", diag.Error, "test").Explained("test", "x", "x")
	codeHint   = diag.Define("HK992", diag.Hint, "test").Explained("test", "x", "x")
)

// mockProgram is the program of semantics.md §8's mock-up.
func mockProgram() *dag.Program {
	guard := guardPlan()
	micro := newBuilder(policy.PreMicroCompact)
	micro.add(decl{name: "keep-short", kind: policy.KindExpr, tier: policy.TierProject, reads: "messages", may: policy.MayStop, spec: true,
		cost: 100, onError: policy.OnErrorDeny})
	pin := newBuilder(policy.PostAutoCompact)
	pin.add(decl{name: "pin-goal", kind: policy.KindBash, tier: policy.TierProject, reads: "messages", writes: "messages",
		world: policy.WorldWrite, cost: 3 * ms, onError: policy.OnErrorSkip})
	p := &dag.Program{Hash: "sha256:7f3a9c2155aa", Plans: []*dag.Plan{guard, micro.done(), pin.done()}, Compiled: 38 * ms,
		Sources: []policy.SourceFile{{Name: "~/.config/hookc/hooks.yaml", Tier: policy.TierUser, Format: "yaml"},
			{Name: "hooks.yaml", Tier: policy.TierProject, Format: "yaml", Uses: []string{"hooks/pnpm.sh"}}},
		Tools: policy.Catalogue{Known: []string{"Bash", "Shell", "Read", "Write", "Edit", "Glob"}},
		Notes: []string{"HOOKC_DEFAULTS_CHAIN_TIMEOUT=30s overrides the written default"}}
	for _, plan := range p.Plans {
		for i := range plan.Nodes {
			if plan.Nodes[i].RecheckOf < 0 {
				p.Hooks = append(p.Hooks, dag.Entry{Hook: plan.Nodes[i].Hook, Status: dag.Live})
			}
		}
	}
	b := newBuilder(policy.PreToolExecution)
	p.Hooks = append(p.Hooks,
		dag.Entry{Hook: b.hook(decl{name: "old-notebook", kind: policy.KindBash, tier: policy.TierProject, tools: "NotebookEditt"}), Status: dag.Dead,
			Reason: "filter tool_name=NotebookEditt matches no known tool (did you mean NotebookEdit?)", Code: codeFilter},
		dag.Entry{Hook: b.hook(decl{name: "path-jail", kind: policy.KindExpr, tier: policy.TierProject}), Status: dag.Rejected,
			Reason: "override rejected: user/path-jail is locked", By: "path-jail", Code: codeLocked},
		dag.Entry{Hook: b.hook(decl{name: "greet", kind: policy.KindBash, tier: policy.TierUser}), Status: dag.Overridden, Reason: "a later tier declares it again", By: "project/greet"},
		dag.Entry{Hook: b.hook(decl{name: "later", kind: policy.KindBash, tier: policy.TierProject}), Status: dag.Disabled, Reason: "enabled: false"})
	p.Pipelines = compactPipeline()
	p.Diagnostics = diag.List{
		codeFilter.Report(diag.Span{Source: b.src, Start: 55, End: 59}, "on_error=skip lets a timeout through").WithHook("llm-review").WithHint("set on_error: ask or deny"),
		codeHint.Report(diag.Span{}, "secret-scan has no filter: one process for every tool call").WithHook("secret-scan")}
	p.Seal()
	return p
}

func compactPipeline() []*dag.Pipeline {
	micro := &dag.Pipeline{Name: "compact.micro", Label: policy.LabelCompactMicro, Steps: []dag.Step{
		{Event: policy.PreMicroCompact}, {Action: "micro_compact"}, {Event: policy.PostMicroCompact}}}
	auto := &dag.Pipeline{Name: "compact.auto", Label: policy.LabelCompactAuto, Steps: []dag.Step{
		{Event: policy.PreAutoCompact}, {Action: "auto_compact"}, {Event: policy.PostAutoCompact}}}
	tool := &dag.Pipeline{Name: "tool", Label: policy.LabelTool, Steps: []dag.Step{{Event: policy.PreToolExecution}, {Action: "tool"},
		{OK: &dag.Step{Event: policy.PostToolExecution}, Err: &dag.Step{Event: policy.PostToolExecutionFailure}}}}
	return []*dag.Pipeline{
		{Name: "compact", Label: policy.LabelCompact, Steps: []dag.Step{{Seq: micro, Needed: "micro"}, {Seq: auto, Needed: "auto"}}},
		tool,
		{Name: "tool.batch", Label: policy.LabelBatch, Each: true, Steps: []dag.Step{{Seq: tool}}},
	}
}

// nasty is what an author may call a hook to break a drawing.
const nasty = "a\"b<script>|`x`\n%%{init}%% --> \\N ]]> & 'q' #35; \x1b[31m\u202e"

// nastyProgram uses names that mean something in every language drawn.
func nastyProgram() *dag.Program {
	b := newBuilder(policy.PreToolExecution)
	group := &policy.Group{Name: nasty + "group"}
	b.add(decl{name: nasty, kind: policy.KindBash, reads: "*", writes: "tool_input", may: policy.MayDeny, cost: 3 * ms,
		tools: "</script><b>", onError: policy.OnErrorSkip})
	b.add(decl{name: "检查工具调用安全", kind: policy.KindExpr, slot: 1, reads: "tool_input", may: policy.MayDeny, spec: true, cost: 100,
		onError: policy.OnErrorDeny, group: group})
	b.add(decl{name: "second", kind: policy.KindExpr, slot: 1, reads: "tool_input", cost: 100, group: group,
		extra: []policy.Condition{{Key: policy.FilterModelPrefix, Value: diag.Literal(strings.Repeat("very-long-", 12))}}})
	b.edge(0, 1, dag.DataEdge, nasty)
	p := &dag.Program{Hash: "sha256:" + nasty, Plans: []*dag.Plan{b.done()}, Sources: []policy.SourceFile{{Name: nasty, Untrusted: nasty}},
		Notes: []string{nasty}, Pipelines: []*dag.Pipeline{{Name: nasty, Label: "tool", Steps: []dag.Step{{Event: policy.PreToolExecution}, {Action: nasty}}}},
		Diagnostics: diag.List{codeHint.Report(diag.Span{}, "%s", nasty).WithHint("%s", nasty)}}
	for i := range b.plan.Nodes {
		p.Hooks = append(p.Hooks, dag.Entry{Hook: b.plan.Nodes[i].Hook, Status: dag.Live})
	}
	p.Hooks = append(p.Hooks, dag.Entry{Hook: b.hook(decl{name: nasty + "dead", kind: policy.KindBash}), Status: dag.Dead, Reason: nasty, By: nasty})
	p.Seal()
	return p
}

func ascending(ids []int) []int {
	slices.Sort(ids)
	return slices.Compact(ids)
}
