package reload

import (
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc"
	"github.com/hookc/hookc/compiler"
	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/dag/render"
	"github.com/hookc/hookc/internal/host"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/tests/depth"
)

var reloads = flag.Uint64("reloads", 0, "policies that TestReloadIsOpen edits; 0 is 16 or the part of them that the depth says")

// edited is a policy in files, which edits change at random: hooks with Rego in
// files of their own and inline, expr and bash, a library of which some see a
// part, and data.
type edited struct {
	t     *testing.T
	rng   *rand.Rand
	dir   string
	rules []editedRule
	// parts, library and data are what those files hold.
	parts, library, data map[string]string
	next                 int
	// without is the pass that is left out, "" for none.
	without string
	// broken are the files that do not parse now, and what they held.
	broken map[string]string
}

// editedRule is a hook of the policy.
type editedRule struct {
	name, event, filter, kind, text string
	locked                          bool
}

var editedTools = []string{"Bash", "Edit", "Read"}

func newEdited(t *testing.T, seed uint64) *edited {
	e := &edited{t: t, rng: rand.New(rand.NewPCG(seed, 77)), dir: t.TempDir(), broken: map[string]string{},
		parts: map[string]string{}, library: map[string]string{}, data: map[string]string{}}
	e.library["names.rego"] = e.names()
	e.library["deep/words.rego"] = e.words()
	e.library["unused.rego"] = "package lib.unused\nnothing := 0\n"
	e.data["limits.json"] = e.limits()
	for range 5 + e.rng.IntN(5) {
		e.rules = append(e.rules, e.rule())
	}
	e.writeAll()
	return e
}

func (e *edited) pick(list ...string) string { return list[e.rng.IntN(len(list))] }

// word is one of few texts of one length, so that hooks hit and files keep
// their sizes.
func (e *edited) word() string { return e.pick("rm", "ls", "cp", "mv") }

func (e *edited) names() string {
	return fmt.Sprintf("package lib.names\n\nimport data.lib.words\n\nbad(c) if contains(c, %q)\nbad(c) if words.hit(c)\n", e.word())
}

func (e *edited) words() string {
	return fmt.Sprintf("package lib.words\n\nhit(c) if startswith(c, %q)\n", e.word())
}

func (e *edited) limits() string {
	return fmt.Sprintf("{\"limits\": {\"word\": %q}}\n", e.word())
}

func (e *edited) rule() editedRule {
	e.next++
	r := editedRule{name: fmt.Sprintf("r%d", e.next), event: e.pick("pre_tool_execution", "pre_tool_execution", "turn_end"),
		filter: e.pick("", "{tool_name: Bash}", "{tool_matcher: \"Bash|Edit\"}", "{tool_pattern: \"^(Ba|Re)\"}"),
		kind:   e.pick("file", "file", "file", "inline", "expr", "bash")}
	if r.event == "turn_end" {
		r.filter = ""
	}
	r.text = e.body(r)
	return r
}

// body is what a rule says; most say something of one event in two.
func (e *edited) body(r editedRule) string {
	if r.event == "turn_end" {
		switch r.kind {
		case "expr":
			return fmt.Sprintf("deny: 'cwd contains %q', reason: %s", e.word(), r.name)
		case "bash":
			return "command: \"true\", on_error: skip"
		}
		return fmt.Sprintf("package hooks.own\n\ndeny contains %q if contains(input.cwd, %q)\n", r.name, e.word())
	}
	switch r.kind {
	case "expr":
		return e.pick(
			fmt.Sprintf("deny: 'command contains %q', reason: %s", e.word(), r.name),
			fmt.Sprintf("ask: 'cwd contains %q', reason: %s", e.word(), r.name),
			fmt.Sprintf("deny: 'tool_input.n > 1 and command contains %q', reason: %s", e.word(), r.name))
	case "bash":
		return "command: \"true\", writes: [], on_error: skip"
	}
	return e.pick(
		fmt.Sprintf("package hooks.own\n\ndeny contains %q if contains(input.tool_input.command, %q)\n", r.name, e.word()),
		fmt.Sprintf("package hooks.own\n\nask contains %q if contains(input.tool_input.command, %q)\n", r.name, e.word()),
		fmt.Sprintf("package hooks.own\n\ndeny contains %q if startswith(input.cwd, \"/\")\ncontext := %q\n", r.name, e.word()),
		fmt.Sprintf("package hooks.own\n\nimport data.lib.names\n\ndeny contains %q if names.bad(input.tool_input.command)\n", r.name),
		fmt.Sprintf("package hooks.own\n\ndeny contains %q if data.lib.words.hit(input.tool_input.command)\n", r.name),
		fmt.Sprintf("package hooks.own\n\ndeny contains %q if input.tool_input.command == data.limits.word\n", r.name),
		fmt.Sprintf("package hooks.own\n\ndeny contains %q if count(data.lib[_]) > 1\n", r.name),
		fmt.Sprintf("package hooks.own\n\ndeny contains %q if to_number(input.tool_input.command) == 1\n", r.name),
		fmt.Sprintf("package hooks.own\n\npatch := {\"tool_input\": {\"command\": %q}} if input.tool_name == \"Edit\"\n", e.word()),
		fmt.Sprintf("package hooks.own\n\ndeny contains %q if lower(input.tool_name) == \"bash\"\n", r.name))
}

func (e *edited) write(path, text string) {
	path = filepath.Join(e.dir, filepath.FromSlash(path))
	require.NoError(e.t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(e.t, os.WriteFile(path, []byte(text), 0o644))
}

func (e *edited) writeAll() {
	e.writePolicy()
	for _, r := range e.rules {
		if r.kind == "file" {
			e.write("rules/"+r.name+".rego", r.text)
		}
	}
	for name, text := range e.library {
		e.write("lib/"+name, text)
	}
	for name, text := range e.data {
		e.write("data/"+name, text)
	}
}

// writePolicy writes hooks.yaml, and one file that it includes.
func (e *edited) writePolicy() {
	text, more := "rego: {paths: [lib], data: [data]}\ninclude: [more/*.yaml]\n", ""
	for _, event := range []string{"pre_tool_execution", "turn_end"} {
		text += event + ":\n  - {name: base, deny: 'cwd contains \"never\"', reason: base}\n"
		more += event + ":\n  - {name: more, ask: 'cwd contains \"never\"', reason: more}\n"
		for i, r := range e.rules {
			switch {
			case r.event != event:
			case i%4 == 3 && r.kind != "file":
				more += r.yaml()
			default:
				text += r.yaml()
			}
		}
	}
	e.write("hooks.yaml", text)
	e.write("more/all.yaml", more)
}

func (r editedRule) yaml() string {
	head := fmt.Sprintf("  - {name: %s, ", r.name)
	if r.filter != "" {
		head += "filter: " + r.filter + ", "
	}
	if r.locked {
		head += "locked: true, "
	}
	switch r.kind {
	case "file":
		return head + "file: rules/" + r.name + ".rego}\n"
	case "inline":
		quoted, _ := json.Marshal(r.text)
		return head + "source: " + string(quoted) + "}\n"
	}
	return head + r.text + "}\n"
}

func (e *edited) options() []hookc.Option {
	return []hookc.Option{hookc.Files(filepath.Join(e.dir, "hooks.yaml")), hookc.ShownFrom(e.dir),
		host.Compiler[hookc.Option](func(c *compiler.Config) {
			if c.Hints = true; e.without != "" {
				c.Without = []string{e.without}
			}
		})}
}

// events are what decisions are compared on.
func (e *edited) events() []*policy.Context {
	var out []*policy.Context
	for range 6 {
		command := e.word()
		if e.rng.IntN(2) == 0 {
			command += " " + e.word()
		}
		out = append(out, policy.NewContext("").
			Set(policy.FieldSessionID, "s").
			Set(policy.FieldCwd, e.pick("/repo", "/rm", "/cp")).
			Set(policy.FieldProjectRoot, "/repo").
			Set(policy.FieldToolName, e.pick(editedTools...)).
			Set(policy.FieldToolInput, map[string]any{"command": command, "n": e.rng.IntN(3)}))
	}
	return out
}

// programText is a program as people and machines see it. settled is false while
// a fusion may be pending, which is then left out.
func programText(t *testing.T, p *dag.Program, settled bool) string {
	m := render.Explain(p, render.ExplainOptions{Tools: editedTools})
	for i := range m.Events {
		for j := range m.Events[i].Slots {
			s := &m.Events[i].Slots[j]
			if !settled {
				s.Holds = strings.ReplaceAll(s.Holds, " soon", "")
			}
			for k := range s.Fused {
				s.Fused[k].Pending = s.Fused[k].Pending && settled
			}
		}
	}
	text, err := json.MarshalIndent(m, "", " ")
	require.NoError(t, err)
	findings, err := json.MarshalIndent(p.Diagnostics, "", " ")
	require.NoError(t, err)
	sources, err := json.Marshal(p.Sources)
	require.NoError(t, err)
	return p.Hash + string(text) + string(findings) + string(sources) + p.Diagnostics.Render()
}

// decided is what an engine says of an event, but for how long it took.
func decided(t *testing.T, eng *hookc.Engine, event policy.Event, in *policy.Context) string {
	d, err := eng.Fire(context.Background(), event, in)
	require.NoError(t, err)
	for i := range d.Hooks {
		d.Hooks[i].Micros = 0
	}
	text, err := d.MarshalJSON()
	require.NoError(t, err)
	return fmt.Sprintf("%s %+v", text, d.Reasons)
}

// TestReloadIsOpen: a plan that is brought up to date is the plan that would be
// made of nothing, before and after its fusions are made, whatever was edited.
func TestReloadIsOpen(t *testing.T) {
	for seed := range cmp.Or(*reloads, depth.Of(uint64(16))) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { reloading(t, seed, 12) })
	}
}

func reloading(t *testing.T, seed uint64, edits int) {
	e := newEdited(t, seed)
	if seed%5 == 4 {
		e.without = e.pick("recall", "fuse", "hoist")
	}
	eng, err := hookc.Open(t.Context(), e.options()...)
	require.NoError(t, err)
	defer func() { require.NoError(t, eng.Close()) }()
	fresh, err := hookc.Open(t.Context(), e.options()...)
	require.NoError(t, err)
	defer func() { require.NoError(t, fresh.Close()) }()
	var log []string
	for range edits {
		log = append(log, e.change())
		if e.rng.IntN(4) == 0 {
			log = append(log, e.change()) // two at once
		}
		history := strings.Join(log, ", ")
		reloaded := eng.Reload(t.Context())
		next, opened := hookc.Open(t.Context(), e.options()...)
		if opened != nil {
			require.EqualError(t, reloaded, opened.Error(), history)
			continue
		}
		require.NoError(t, reloaded, history)
		require.NoError(t, fresh.Close())
		fresh = next
		events := e.events()
		require.Equal(t, programText(t, fresh.Program(), false), programText(t, eng.Program(), false), history)
		sameSaid(t, fresh, eng, events, history)
		if e.rng.IntN(3) > 0 { // else the next edit supersedes what is being made
			require.NoError(t, eng.Settle(t.Context()))
			require.Equal(t, programText(t, fresh.Program(), true), programText(t, eng.Program(), true), history)
			sameSaid(t, fresh, eng, events, history)
		}
	}
}

func sameSaid(t *testing.T, want, got *hookc.Engine, events []*policy.Context, history string) {
	for _, in := range events {
		for _, event := range []policy.Event{hookc.PreToolExecution, hookc.TurnEnd} {
			require.Equal(t, decided(t, want, event, in), decided(t, got, event, in), history)
		}
	}
}

// TestReloadUnderFire: whoever fires while plans are swapped and fused is
// answered by one that was in force.
func TestReloadUnderFire(t *testing.T) {
	e := newEdited(t, 3)
	eng, err := hookc.Open(t.Context(), e.options()...)
	require.NoError(t, err)
	own := eng.Session("s")
	_, err = own.Register(hookc.Hook{Event: "pre_tool_execution", Source: "package own\n\ndeny contains \"own\" if input.tool_input.command == \"nothing\"\n"})
	require.NoError(t, err)
	ctx, stop := context.WithCancel(t.Context())
	var fire sync.WaitGroup
	for i := range 3 {
		fire.Go(func() {
			in := policy.NewContext("").
				Set(policy.FieldSessionID, []string{"s", "other"}[i%2]).
				Set(policy.FieldCwd, "/repo").
				Set(policy.FieldProjectRoot, "/repo").
				Set(policy.FieldToolName, "Read").
				Set(policy.FieldToolInput, map[string]any{"command": "none"})
			for ctx.Err() == nil {
				d, err := eng.Fire(context.Background(), hookc.PreToolExecution, in)
				if !assert.NoError(t, err) || !assert.NotEmpty(t, d.Hooks) {
					return
				}
			}
		})
	}
	for range depth.Daily(12) {
		e.change()
		_ = eng.Reload(t.Context()) // one that does not compile leaves the old one
	}
	stop()
	fire.Wait()
	before := runs(eng)
	require.NoError(t, eng.Settle(t.Context()))
	assert.Equal(t, before, runs(eng), "counters survive")
	assert.Len(t, own.List(), 1)
	require.NoError(t, eng.Close())
	assert.ErrorIs(t, eng.Reload(t.Context()), hookc.ErrClosed)
}

func runs(eng *hookc.Engine) (n int64) {
	for _, m := range eng.Metrics().List() {
		n += m.Runs
	}
	return n
}
