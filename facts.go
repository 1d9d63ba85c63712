package hookc

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/executor/runner"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
	"github.com/hookc/hookc/policy/facts"
)

var codeFactUnknown = diag.Define(diag.Code{
	ID: "HK182", Severity: diag.Warning,
	Title: "fact that could not be found out",
	Help: `The command of a fact failed, or printed what is not of its type. The fact is absent:
what a rule says of it is undefined, so a deny that rests on it does not fire.`,
	Bad: `-- hooks.yaml --
facts:
  branch: {command: exit 3}
pre_tool_execution:
  - {name: main, deny: 'facts.branch == "main"', reason: "no"}
-- event.json --
{"event": "pre_tool_execution", "tool_name": "Bash", "tool_input": {"command": "ls"}}
`,
	Good: `-- hooks.yaml --
facts:
  branch: {command: echo dev}
pre_tool_execution:
  - {name: main, deny: 'facts.branch == "main"', reason: "no"}
-- event.json --
{"event": "pre_tool_execution", "tool_name": "Bash", "tool_input": {"command": "ls"}}
`,
})

// maxFacts bounds what is remembered of facts that commands print.
const maxFacts = 4096

// printed are facts that commands printed, each once a session.
type printed struct {
	mu   sync.Mutex
	told map[printedKey]any
}

type printedKey struct{ session, root, name, command string }

func (p *printed) get(k printedKey) (any, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	v, ok := p.told[k]
	return v, ok
}

func (p *printed) put(k printedKey, v any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.told == nil || len(p.told) >= maxFacts {
		p.told = map[printedKey]any{}
	}
	p.told[k] = v
}

// factsOf are the declared facts that the hooks of each event read.
func factsOf(p *policy.Policy, program *dag.Program) map[policy.Event][]policy.Fact {
	if len(p.Facts) == 0 {
		return nil
	}
	out := map[policy.Event][]policy.Fact{}
	for _, plan := range program.Plans {
		for _, f := range p.Facts {
			at := policy.FieldPaths(policy.FieldFacts)
			if slices.ContainsFunc(plan.Nodes, func(n dag.Node) bool {
				return slices.ContainsFunc(n.Reads.Overlap(at).All(), func(p policy.Path) bool { return len(p.Keys) == 0 || p.Keys[0] == f.Name })
			}) {
				out[plan.Event] = append(out[plan.Event], f)
			}
		}
	}
	return out
}

// informed is in with the facts that the event's hooks read: those of facts.env
// before those that commands print, and both before what the host says. The
// error says which of the host's is not of its type.
func (e *Engine) informed(ctx context.Context, l *live, event policy.Event, in *policy.Context) (*policy.Context, []policy.Warning, error) {
	declared := l.facts[event]
	if len(declared) == 0 {
		return in, nil, nil
	}
	sent, _ := in.Get(policy.FieldFacts)
	said, _ := sent.(map[string]any)
	out := maps.Clone(said)
	if out == nil {
		out = map[string]any{}
	}
	var warnings []policy.Warning
	for i := range declared {
		f := &declared[i]
		switch {
		case f.Env != nil:
			v, err := facts.Parse(f, *f.Env)
			if err != nil {
				return in, nil, &UnfitError{err}
			}
			out[f.Name] = v
		case f.Command.Value != "":
			delete(out, f.Name) // which only the command may say
			v, err := e.printed(ctx, f, in)
			if err != nil {
				warnings = append(warnings, policy.Warning{Code: codeFactUnknown, Text: fmt.Sprintf("facts.%s is not known: %v", f.Name, err)})
				continue
			}
			out[f.Name] = v
		case out[f.Name] == nil:
			delete(out, f.Name)
		default:
			if err := facts.Check(f, out[f.Name]); err != nil {
				return in, nil, &UnfitError{err}
			}
		}
	}
	return in.With(policy.Replace(policy.Path{Field: policy.FieldFacts}, out)).Frozen(event), warnings, nil
}

// printed is what the command of a fact prints, asked once a session.
func (e *Engine) printed(ctx context.Context, f *policy.Fact, in *policy.Context) (any, error) {
	k := printedKey{in.Text(policy.FieldSessionID), in.Text(policy.FieldProjectRoot), f.Name, f.Command.Value}
	if v, ok := e.told.get(k); ok && k.session != "" {
		return v, nil
	}
	text, err := runner.Fact(ctx, e.config.kinds, f, in)
	if err != nil {
		return nil, err
	}
	v, err := facts.Parse(f, text)
	if err != nil {
		return nil, err
	}
	if k.session != "" {
		e.told.put(k, v)
	}
	return v, nil
}

// decided adds warnings to a Decision.
func decided(d *policy.Decision, warnings []policy.Warning) *policy.Decision {
	if len(warnings) > 0 {
		d.Warnings = slices.Concat(d.Warnings, warnings)
	}
	return d
}
