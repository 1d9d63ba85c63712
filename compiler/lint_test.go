package compiler

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/hookc/hookc/compiler/lint"
	"github.com/hookc/hookc/policy"
)

func hints(c *Config) { c.Hints = true }

// found compiles and lists what was reported.
func found(t *testing.T, b *bench, change ...func(*Config)) []string {
	t.Helper()
	return codes(b.compile(t, change...).Diagnostics)
}

func TestLintTable(t *testing.T) {
	last := ""
	for _, l := range lint.Lints() {
		assert.NotEmpty(t, l.Name)
		for _, c := range l.Codes {
			assert.Greater(t, c.ID, last, "by code")
			last = c.ID
			assert.Equal(t, l.Hint, c.ID >= "HK200", "latency hints run only when asked for")
		}
	}
}

func TestDeadlineLint(t *testing.T) {
	closed := onError(policy.OnErrorDeny)
	timeout := func(d time.Duration) with { return flag(func(h *policy.Hook) { h.Timeout = d }) }
	chain := policy.Setting{Event: policy.PreToolExecution, Tier: policy.TierUser, ChainTimeout: 15 * time.Second}

	b := newBench()
	b.add("model", llm, closed)
	assert.Equal(t, []string{}, found(t, b), "60 s of attempts in 30 s, but nobody wrote a number")
	b.policy.Settings = []policy.Setting{chain}
	assert.Equal(t, []string{"HK140 warning model"}, found(t, b), "its timeout alone is too long")

	b = newBench()
	b.policy.Settings = []policy.Setting{chain}
	b.add("a", bash, closed)
	assert.Equal(t, []string{}, found(t, b))
	b.add("b", bash, closed, timeout(6*time.Second))
	p := b.compile(t)
	assert.Equal(t, []string{"HK140 warning "}, codes(p.Diagnostics))
	assert.Equal(t, "the hooks of pre_tool_execution may take 16s together, the chain only 15s", p.Diagnostics[0].Text)

	g := &policy.Group{Name: "g", Priority: policy.DefaultPriority}
	b.policy.Hooks[0].Group, b.policy.Hooks[1].Group = g, g
	assert.Equal(t, []string{}, found(t, b), "members run together")
	b.add("audit", bash, async, timeout(time.Hour))
	assert.Equal(t, []string{}, found(t, b), "nobody waits for an async hook")
}

func TestFailOpenLint(t *testing.T) {
	b := newBench()
	b.add("open", bash)
	b.add("closed", bash, onError(policy.OnErrorAbort))
	b.add("meant", bash, onError(policy.OnErrorSkip))
	b.add("observer", bash, may())
	b.add("gate", bash, event(policy.StopEvent))
	b.add("rule", expr, says(policy.MayDeny))
	assert.Equal(t, []string{"HK141 hint meant", "HK141 warning open"}, found(t, b))
}

func TestCatalogueLint(t *testing.T) {
	b := newBench()
	b.policy.Tools = policy.Catalogue{Known: []string{"Bash", "NotebookEdit"}, Open: []string{"mcp__*"}}
	b.add("typo", expr, filter(policy.FilterToolMatcher, "Bash|NotebookEditt|mcp__x__y"))
	p := b.compile(t)
	assert.Equal(t, []string{"HK150 warning typo"}, codes(p.Diagnostics))
	assert.Equal(t, `typo: no known tool is called "NotebookEditt"`, p.Diagnostics[0].Text)
	assert.Equal(t, `did you mean "NotebookEdit"?`, p.Diagnostics[0].Hint)
	assert.Len(t, p.Plans[0].Nodes, 1, "the world is open: it stays")
	b.policy.Tools.Known = nil
	assert.Equal(t, []string{}, found(t, b), "no catalogue, nothing to compare with")
}

func TestToolContradiction(t *testing.T) {
	b := newBench()
	b.add("confused", expr, filter(policy.FilterToolName, "Bash"), filter(policy.FilterToolKind, "write"))
	b.add("regexp", expr, filter(policy.FilterToolMatcher, "Bash|Write"), filter(policy.FilterToolRegexp, "^Edit$"))
	b.add("unknown", expr, filter(policy.FilterToolName, "Mystery"), filter(policy.FilterToolKind, "write"))
	b.add("fine", expr, filter(policy.FilterToolMatcher, "Bash|Write"), filter(policy.FilterToolKind, "write"))
	assert.Equal(t, []string{"HK150 warning confused", "HK150 warning regexp"}, found(t, b))
}

func TestWideMatcherLint(t *testing.T) {
	b := newBench()
	b.policy.Tools = policy.Catalogue{Known: []string{"Write", "NotebookWrite"}}
	b.add("word", expr, filter(policy.FilterToolRegexp, "Write"))
	b.add("anchored", expr, filter(policy.FilterToolRegexp, "^Write$"))
	b.add("longer", expr, filter(policy.FilterToolRegexp, "NotebookWrite"))
	assert.Equal(t, []string{"HK155 warning word"}, found(t, b))
}

func TestConflictLint(t *testing.T) {
	b := newBench()
	b.add("a", expr, sets("tool_input.x"), filter(policy.FilterToolName, "A"))
	b.add("other", expr, sets("tool_input.y"))
	b.add("apart", expr, sets("tool_input.x"), filter(policy.FilterToolName, "B"))
	b.add("builds", expr, sees("tool_input.x"), sets("tool_input.x"), filter(policy.FilterToolName, "A"))
	b.add("opaque", bash, may())
	assert.Equal(t, []string{}, found(t, b))
	b.add("late", expr, sets("tool_input.x"), filter(policy.FilterToolName, "A"))
	p := b.compile(t)
	assert.Equal(t, []string{"HK160 warning late"}, codes(p.Diagnostics))
	assert.Equal(t, "builds and late both change tool_input.x; late, the later, wins", p.Diagnostics[0].Text)
}

func TestRewriteLint(t *testing.T) {
	b := newBench()
	b.add("guard", expr, guards...)
	b.add("audit", bash, onError(policy.OnErrorDeny))
	assert.Equal(t, []string{}, found(t, b))
	assert.Contains(t, found(t, b, hints), "HK161 hint guard", "an undeclared hook may, most do not")
	b.add("w", expr, rewriter...)
	assert.Equal(t, []string{"HK161 warning audit", "HK161 warning guard"}, found(t, b))
	b.policy.Hooks[0].Recheck = true
	b.policy.Hooks[1].Declared.May = words(nil)
	assert.Equal(t, []string{}, found(t, b))
}

func TestFoldLint(t *testing.T) {
	last := &policy.Group{Name: "g", Priority: policy.DefaultPriority, Fold: policy.FoldLast}
	b := newBench()
	b.add("yes", expr, says(policy.MayAllow), group(last))
	b.add("no", expr, says(policy.MayDeny), group(last))
	assert.Equal(t, []string{"HK162 warning no"}, found(t, b))
	last.Fold = policy.FoldMax
	assert.Equal(t, []string{}, found(t, b))

	b = newBench()
	b.add("yes", expr, says(policy.MayAllow), event(policy.PermissionRequest))
	b.add("no", expr, says(policy.MayDeny), event(policy.PermissionRequest))
	b.add("opaque", bash, event(policy.PermissionRequest), onError(policy.OnErrorDeny))
	assert.Equal(t, []string{"HK162 warning no"}, found(t, b))
}

func TestMixedLint(t *testing.T) {
	b := newBench()
	b.add("guard", expr, user, says(policy.MayDeny))
	b.add("p", expr, project)
	b.policy.Settings = []policy.Setting{{Event: policy.PreToolExecution, Tier: policy.TierProject, Strategy: policy.ChainAll}}
	assert.Equal(t, []string{"HK163 warning guard"}, found(t, b))
	b.policy.Settings[0].Tier = policy.TierUser
	assert.Equal(t, []string{}, found(t, b))
}

func TestLatencyHints(t *testing.T) {
	post := event(policy.PostToolExecution)
	b := newBench()
	b.add("audit", bash, post, filter(policy.FilterToolName, "Bash"))
	b.add("scan", bash, post, writes(), world(policy.WorldRead))
	b.add("guard", expr, post, sees("tool_name"), says(policy.MayDeny))
	assert.Equal(t, []string{}, found(t, b))
	p := b.compile(t, hints)
	assert.Equal(t, []string{"HK210 hint audit", "HK211 hint guard", "HK212 hint scan"}, codes(p.Diagnostics))
	assert.Equal(t, "declaring `writes: [], may: [], world: read` on audit, if it is true, takes 3ms off the critical path of post_tool_execution",
		p.Diagnostics[0].Text)
}

// TestAllObservers: five undeclared hooks are serial; what would let them run
// together is said (issue 3).
func TestAllObservers(t *testing.T) {
	texts := func(changes ...with) []string {
		b := newBench()
		for _, name := range []string{"a", "b", "c", "d", "e"} {
			b.add(name, bash, append(changes, filter(policy.FilterToolName, "Bash"))...)
		}
		out := []string{}
		for _, d := range b.compile(t, hints).Diagnostics {
			if d.Code.ID == "HK210" {
				out = append(out, d.Text)
			}
		}
		return out
	}
	assert.Equal(t, []string{"declaring `writes: [], may: [], world: read` on each of a, b, c and 2 others, if it is true, takes 12ms off the critical path of pre_tool_execution"},
		texts(onError(policy.OnErrorSkip)))
	assert.Equal(t, []string{"declaring `writes: [], world: read, speculative: true` on each of a, b, c and 2 others, if it is true, takes 12ms off the critical path of pre_tool_execution"},
		texts(onError(policy.OnErrorDeny)), "a guard that fails closed stays one")
	assert.Equal(t, []string{}, texts(writes(), may(), world(policy.WorldRead)))
}
