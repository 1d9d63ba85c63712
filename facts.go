package hookc

import (
	"context"
	"fmt"
	"maps"
	"sync"

	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/executor"
	"github.com/hookc/hookc/executor/runner"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
	"github.com/hookc/hookc/policy/facts"
)

var codeFactUnknown = diag.Define("HK182", diag.Warning, "fact that could not be found out").Guarding()

// maxFacts bounds what is remembered of facts that commands print, and longestFact
// what is kept of one beyond this process, in bytes.
const (
	maxFacts    = 4096
	longestFact = 4096
)

// printed are facts that commands printed, by what the commands were given.
type printed struct {
	mu        sync.Mutex
	delivered map[string]string
}

func (p *printed) get(key string) (string, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	v, ok := p.delivered[key]
	return v, ok
}

func (p *printed) put(key, v string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.delivered == nil || len(p.delivered) >= maxFacts {
		p.delivered = map[string]string{}
	}
	p.delivered[key] = v
}

// factsOf are the declared facts that the hooks of each event read.
func factsOf(p *policy.Policy, program *dag.Program) map[policy.Event][]policy.Fact {
	if len(p.Facts) == 0 {
		return nil
	}
	out := map[policy.Event][]policy.Fact{}
	for _, plan := range program.Plans {
		for _, f := range p.Facts {
			if lists.Some(plan.Nodes, func(n *dag.Node) bool { return readsFact(n, f.Name) }) {
				out[plan.Event] = append(out[plan.Event], f)
			}
		}
	}
	return out
}

func readsFact(n *dag.Node, name string) bool {
	return lists.Some(n.Reads.All(), func(p *policy.Path) bool {
		return p.Field == policy.FieldFacts && (len(p.Keys) == 0 || p.Keys[0] == name)
	})
}

// unknown are facts that could not be found out, by name.
type unknown map[string]error

// fails is why a node cannot be evaluated: it reads one of the facts. A script that
// declares nothing may read any or none; to leave it out could leave a guard out.
func (u unknown) fails(n *dag.Node) error {
	if n.Hook.Kind == policy.KindBash && n.Hook.Declared.Reads == nil {
		return nil
	}
	for _, name := range lists.Keys(u) {
		if err := u[name]; readsFact(n, name) {
			return policy.Failf(policy.KindOf(err), "facts.%s is not known: %w", name, err)
		}
	}
	return nil
}

// informed is in with the facts that the event's hooks read: those of facts.env
// before those that commands print, and both before what the host says. The
// error says which of the host's is not of its type.
func (e *Engine) informed(ctx context.Context, l *live, event policy.Event, in *policy.Context) (*policy.Context, unknown, error) {
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
	var missing unknown
	for i := range declared {
		f := &declared[i]
		switch {
		case f.Env != nil:
			v, err := facts.Parse(f, *f.Env)
			if err != nil {
				return in, nil, &UnfitError{err}
			}
			out[f.Name] = v
		case f.Command != nil:
			delete(out, f.Name) // which only the command may say
			v, err := e.printed(ctx, f, in)
			if err != nil {
				if missing == nil {
					missing = unknown{}
				}
				missing[f.Name] = err
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
	return in.With(policy.Replace(policy.Path{Field: policy.FieldFacts}, out)).Frozen(event), missing, nil
}

// printed is what the command of a fact prints, asked once for all that the
// command is given.
func (e *Engine) printed(ctx context.Context, f *policy.Fact, in *policy.Context) (any, error) {
	command, err := runner.NewFact(ctx, e.config.kinds, f, in)
	if err != nil {
		return nil, err
	}
	key := command.Key()
	text, known := e.recall(f, key)
	if !known {
		if text, err = command.Print(ctx); err != nil {
			return nil, err
		}
	}
	v, err := facts.Parse(f, text)
	if err == nil && !known && key != "" {
		e.delivered.put(key, text)
		if m := e.kept(f); m != nil && len(text) <= longestFact {
			m.Save(key, []byte(text))
		}
	}
	return v, err
}

// recall is what the command of a fact printed before.
func (e *Engine) recall(f *policy.Fact, key string) (string, bool) {
	if key == "" {
		return "", false
	}
	if text, ok := e.delivered.get(key); ok {
		return text, true
	}
	m := e.kept(f)
	if m == nil {
		return "", false
	}
	text, ok := m.Load(key)
	if ok {
		e.delivered.put(key, string(text))
	}
	return string(text), ok
}

// kept is where the fact outlasts this process, nil for nowhere. Whoever can write
// there can say the fact, and that is the user, who does not speak for the machine.
func (e *Engine) kept(f *policy.Fact) executor.Memo {
	if f.Tier <= policy.TierManaged {
		return nil
	}
	return e.config.execute.Memo
}

// decide fires an event of which facts are unknown.
func (u unknown) decide(ctx context.Context, l *live, event policy.Event, in *policy.Context) *policy.Decision {
	d := l.exec.FireFailing(ctx, event, in, u.fails)
	for _, name := range lists.Keys(u) {
		d.Warnings = append(d.Warnings, policy.Warning{Code: codeFactUnknown, Text: fmt.Sprintf("facts.%s is not known: %v", name, u[name])})
	}
	return d
}
