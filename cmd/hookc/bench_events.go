package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/executor"
	"github.com/hookc/hookc/internal/casetest"
	"github.com/hookc/hookc/internal/decide"
	"github.com/hookc/hookc/internal/fault"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/agent"
	"github.com/hookc/hookc/policy/source/cases"
	"github.com/hookc/hookc/policy/trust"
)

// benchEvent is one event that is decided over and over.
type benchEvent struct {
	// name tells it from others of its event, "" for the one that was made up;
	// from says where it comes from.
	name, from string
	event      policy.Event
	// data is what is sent, in the words of the bencher's dialect; in is what
	// it says.
	data []byte
	in   *policy.Context
	// madeUp is true when bench made it up.
	madeUp bool
	// answers are those of the hooks that are left out; why says why.
	answers map[string]map[string]any
	why     map[string]string
	engine  *benchEngine
	// want is the Decision, wire the answer in the agent's words under --dialect,
	// nil before there is one.
	want *policy.Decision
	same map[string]any
	wire *agent.Wire
	// hooks is what is measured of each hook, nil before anything is.
	hooks []*hookBench
	notes []string
}

// title names the event for people.
//
//go:noinline
func (e *benchEvent) title() string { return strings.TrimSpace(string(e.event) + " " + e.name) }

func (e *benchEvent) note(format string, args ...any) {
	e.notes = append(e.notes, fmt.Sprintf(format, args...))
}

// project is the root of what the event is about.
//
//go:noinline
func (e *benchEvent) project() string { return e.in.Text(policy.FieldProjectRoot) }

// around are the further folders whose projects count: each event is the first
// of its session.
func (e *benchEvent) around() []string {
	if cwd := e.in.Text(policy.FieldCwd); filepath.IsAbs(cwd) {
		return []string{filepath.Clean(cwd)}
	}
	return nil
}

// openEvents finds the events and an engine for each, and decides each once.
func (b *bencher) openEvents() error {
	base, err := b.engine(policy.ProjectRoot(b.dir), nil, nil)
	if err != nil {
		return err
	}
	for _, s := range base.program.Sources {
		if s.Untrusted != "" {
			return cannot("the hooks of %s would not run: %s\nor name what to measure: hookc bench %s", s.Name, s.Untrusted, s.Name)
		}
	}
	found, err := b.findEvents(base)
	if err != nil {
		return err
	}
	left := 0
	for _, e := range found {
		if b.event != "" && string(e.event) != b.event || b.tool != "" && e.in.Text(policy.FieldToolName) != b.tool {
			left++
			continue
		}
		if err := b.first(e); err != nil {
			return err
		}
		b.events = append(b.events, e)
	}
	switch {
	case len(found) == 0:
		return exitError{Code: exitFindings, Text: "hookc: no events: the policy has no hooks; name events with --input"}
	case len(b.events) == 0:
		return exitError{Code: exitFindings, Text: "hookc: no events: --event and --tool leave out every one"}
	case left > 0:
		b.note("%s left out by --event or --tool", count(left, "event"))
	}
	b.distinguish()
	return nil
}

// distinguish gives events of one name different ones.
func (b *bencher) distinguish() {
	seen := map[string]int{}
	for _, e := range b.events {
		seen[e.title()]++
		if n := seen[e.title()]; n > 1 {
			e.name = strings.TrimSpace(fmt.Sprintf("%s #%d", e.name, n))
		}
	}
}

// findEvents are those of --input, or those of the YAML cases beside the
// policy, or one made up for each event of the policy.
func (b *bencher) findEvents(base *benchEngine) ([]*benchEvent, error) {
	if len(b.inputs) > 0 {
		return b.inputEvents()
	}
	cases, err := b.caseEvents(base.program)
	if err != nil || len(cases) > 0 {
		return cases, err
	}
	return b.mockEvents(base)
}

// inputEvents are the events that --input names.
func (b *bencher) inputEvents() ([]*benchEvent, error) {
	var out []*benchEvent
	add := func(name, from string, data []byte) error {
		e, err := b.decode(data)
		if err != nil {
			return cannot("%s: %s", from, strings.TrimPrefix(err.Error(), "hookc: "))
		}
		e.name, e.from = name, from
		out = append(out, e)
		return nil
	}
	for _, path := range b.inputs {
		if path == "-" {
			data, err := readWhole(b.ctx, b.cmd.InOrStdin())
			if err != nil {
				return nil, cannot("the event cannot be read: %v", err)
			}
			if err := add("stdin", "stdin", data); err != nil {
				return nil, err
			}
			continue
		}
		files, err := eventFiles(path)
		if err != nil {
			return nil, err
		}
		for _, file := range files {
			data, err := readEventFile(file)
			if err != nil {
				return nil, err
			}
			if err := add(strings.TrimSuffix(filepath.Base(file), ".json"), shownFrom(b.dir, file), data); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

// eventFiles are the files an --input names: itself, or the *.json files of a
// folder, by name.
func eventFiles(path string) ([]string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, cannot("%v", err)
	}
	if !info.IsDir() {
		return []string{path}, nil
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, cannot("%v", err)
	}
	var out []string
	for _, e := range entries {
		if !e.IsDir() && filepath.Ext(e.Name()) == ".json" {
			out = append(out, filepath.Join(path, e.Name()))
		}
	}
	if len(out) == 0 {
		return nil, cannot("%s holds no *.json", path)
	}
	return out, nil
}

func readEventFile(path string) ([]byte, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, cannot("%v", err)
	case info.Size() > decide.MaxInput:
		return nil, cannot("%s is larger than %d MiB", path, decide.MaxInput>>20)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, cannot("%v", err)
	}
	return data, nil
}

// decode reads an event as it will be sent. One that names no folder is given
// this one, without a change to the rest of its text.
func (b *bencher) decode(data []byte) (*benchEvent, error) {
	if len(data) > decide.MaxInput {
		return nil, fault.Errorf("the event is larger than %d MiB", decide.MaxInput>>20)
	}
	if len(bytes.TrimSpace(data)) == 0 {
		return nil, errors.New("there is no event: it is empty")
	}
	in, event, err := b.read(data)
	if err != nil {
		return nil, err
	}
	if !in.Has(policy.FieldCwd) {
		if data, err = withFolder(data, b.dir); err != nil {
			return nil, err
		}
		if in, event, err = b.read(data); err != nil {
			return nil, err
		}
	}
	return &benchEvent{event: event, data: data, in: in.Frozen(event)}, nil
}

// read is what an event says in the words it is in.
func (b *bencher) read(data []byte) (*policy.Context, policy.Event, error) {
	if b.speaks != nil {
		call, err := b.speaks.Decode(data, b.event, b.getenv)
		if err != nil {
			return nil, "", err
		}
		return call.Context, call.Event(), nil
	}
	in, event, err := namedEvent(data, nil)
	if err != nil && b.event != "" && policy.Peek(data, policy.FieldEvent) == "" {
		return namedEvent(data, []string{b.event})
	}
	return in, event, err
}

func (b *bencher) getenv(name string) string { return decide.CallerOf(b.ctx).Getenv(name) }

// withFolder writes a folder into the text of an object.
func withFolder(data []byte, dir string) ([]byte, error) {
	key, err := policy.EncodeJSON(map[string]any{policy.FieldCwd.String(): dir})
	if err != nil {
		return nil, err
	}
	at := bytes.IndexByte(data, '{') + 1
	rest := data[at:]
	member := lists.Copy(key[1 : len(key)-1])
	if trimmed := bytes.TrimSpace(rest); len(trimmed) > 0 && trimmed[0] != '}' {
		member = append(member, ',')
	}
	return lists.Concat(data[:at], member, rest), nil
}

// caseEvents are the events of the YAML cases beside the policy, with the
// answers that they give for hooks.
func (b *bencher) caseEvents(program *dag.Program) ([]*benchEvent, error) {
	var out []*benchEvent
	files, _, err := casetest.Files(&policy.Policy{Sources: program.Sources})
	if err != nil {
		return nil, cannot("%v", err)
	}
	for _, file := range files {
		cases, found := cases.Read(shownFrom(b.dir, file))
		if found.HasErrors() {
			return nil, exitError{Code: exitFindings, Text: found.Render() + summary(found)}
		}
		for _, c := range cases.Cases {
			e, err := b.caseEvent(&c)
			if err != nil {
				return nil, cannot("%s: %s", c.Span, strings.TrimPrefix(err.Error(), "hookc: "))
			}
			out = append(out, e)
		}
	}
	return out, nil
}

func (b *bencher) caseEvent(c *cases.Case) (*benchEvent, error) {
	data, err := c.Event.MarshalJSON()
	if err != nil {
		return nil, err
	}
	e, err := b.decode(data)
	if err != nil {
		return nil, err
	}
	e.name, e.from = c.Name, c.Span.String()
	e.answers = c.Answers
	return e, nil
}

// mockSeeds is of how many events that are made up the one is taken on which
// most hooks run; of a plan with more than mockNodes / mockSeeds nodes, fewer.
const (
	mockSeeds = 64
	mockNodes = 32 << 10
)

// mockEvents makes up one event for each event of the policy: the one of
// up to mockSeeds on which most of its hooks would run, by their filters.
func (b *bencher) mockEvents(base *benchEngine) ([]*benchEvent, error) {
	var out []*benchEvent
	for _, plan := range base.program.Plans {
		if b.event != "" && string(plan.Event) != b.event {
			continue
		}
		e, err := b.mockEvent(plan)
		if err != nil {
			return nil, err
		}
		out = append(out, e)
	}
	return out, nil
}

func (b *bencher) mockEvent(plan *dag.Plan) (best *benchEvent, err error) {
	most, refused := -1, errors.New("it is not readable")
	for seed := range uint64(max(1, min(mockSeeds, mockNodes/len(plan.Nodes)))) {
		in := executor.MockEvent(plan, seed)
		in.Set(policy.FieldCwd, b.dir).Set(policy.FieldProjectRoot, policy.ProjectRoot(b.dir))
		for _, f := range []policy.Field{policy.FieldToolName, policy.FieldToolInput} {
			b.complete(plan, in, f)
		}
		data, err := in.MarshalJSON()
		if err != nil {
			return nil, cannot("%v", err)
		}
		e, err := b.decode(data)
		if err != nil {
			refused = err
			continue
		}
		chosen := 0
		for i := range plan.Nodes {
			if n := &plan.Nodes[i]; n.Matcher == nil || n.Matcher.Match(e.in) {
				chosen++
			}
		}
		if chosen > most {
			best, most = e, chosen
			best.madeUp, best.from = true, fmt.Sprintf("made up (%d of %d hooks)", chosen, len(plan.Nodes))
		}
	}
	if best == nil {
		return nil, cannot("no event can be made up for %s: %v", plan.Event, refused)
	}
	return best, nil
}

// complete gives a made-up event a tool, which agents always name: that of
// --tool, or any.
func (b *bencher) complete(plan *dag.Plan, in *policy.Context, f policy.Field) {
	switch {
	case !plan.Spec.CanRead(f):
	case f == policy.FieldToolName && (b.tool != "" || in.Text(f) == ""):
		in.Set(f, lists.First(b.tool, "Bash"))
	case f == policy.FieldToolInput && !in.Has(f):
		in.Set(f, map[string]any{"command": "true"})
	}
}

// consent gives the state folder of the benchmark the consent that the user
// has given to the projects of the events, with the copies that it keeps.
func (b *bencher) consent() error {
	var dirs []string
	for _, e := range b.events {
		dirs = append(append(dirs, e.project()), e.around()...)
	}
	for _, root := range trust.Projects(dirs...) {
		if err := trust.Open(root).CopyTo(b.home); err != nil {
			return cannot("%v", err)
		}
	}
	return nil
}
