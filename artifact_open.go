package hookc

import (
	"errors"
	"time"

	"github.com/hookc/hookc/compiler"
	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/dag/codec"
	"github.com/hookc/hookc/internal/binary"
	"github.com/hookc/hookc/internal/fault"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/internal/severity"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/agent"
	"github.com/hookc/hookc/policy/artifact"
	"github.com/hookc/hookc/policy/diag"
	"github.com/hookc/hookc/policy/source"
	"github.com/hookc/hookc/rego"
)

// fromArtifact is an artifact that was read.
type fromArtifact struct {
	head   *codec.Head
	policy *policy.Policy
	codes  map[policy.Event][][]byte
}

// Restore is Compile of the Artifact that options name: it compiles nothing, and
// gives what compiling the sources gave. The error says why the artifact is
// refused.
func Restore(options ...Option) (*dag.Program, diag.List, error) {
	c := configured(options)
	p, program, found, err := c.restore(false)
	if err != nil {
		return nil, nil, err
	}
	if found.HasErrors() || program == nil {
		return nil, severity.Apply(p.Severities, found), nil
	}
	program.Diagnostics = severity.Apply(p.Severities, found)
	return program, program.Diagnostics, nil
}

// restored is the artifact as a policy that runs.
func (c config) restored(m *Metrics) (*live, error) {
	p, program, found, err := c.restore(true)
	if err != nil {
		return nil, err
	}
	return c.ready(p, program, found, m)
}

// restore makes of the artifact what compiling its sources would give.
func (c *config) restore(runtime bool) (p *policy.Policy, program *dag.Program, found diag.List, err error) {
	began := time.Now()
	f, err := c.openArtifact()
	if err != nil {
		return nil, nil, nil, err
	}
	defer f.Close()
	fast := compiler.Restorable(c.compile) && len(c.answers) == 0
	r, err := c.readArtifact(f, fast)
	if err != nil {
		return nil, nil, nil, err
	}
	c.artifact.shared.Store(&rego.Shared{Roots: r.head.Roots, Files: r.head.Shared})
	if !fast {
		program, found, err = c.compileWith(r.policy, runtime)
		found = append(lists.Copy(r.head.Read), found...)
		found.Sort()
		return r.policy, program, found, err
	}
	program = r.head.Program
	if lists.Some(program.Hooks, func(e *dag.Entry) bool { return Own(e.Hook) }) {
		c.protect(program.Sources, program.Approvals)
	}
	if c.artifact.note != "" {
		program.Notes = append(program.Notes, c.artifact.note)
		r.policy.Notes = append(r.policy.Notes, c.artifact.note)
	}
	cc := c.compile
	cc.Kinds = c.hookKinds()
	defer func() { // a program that nobody compiled, with the hash of one
		if bug := recover(); bug != nil {
			p, program, found, err = nil, nil, nil, fault.Errorf("hookc: internal error: %v", bug)
		}
	}()
	if err := compiler.Restore(r.policy, program, r.codes, cc); err != nil {
		return nil, nil, nil, damagedArtifact(f, err)
	}
	found = append(lists.Copy(r.head.Read), r.head.Findings...)
	found.Add(c.degrade(program)...)
	if cc.Hints {
		found = append(found, compiler.Lint(r.policy, program, true)...)
	} else {
		found = append(found, r.head.Lints...)
	}
	found.Sort()
	program.Compiled = time.Since(began)
	return r.policy, program, found, nil
}

// openArtifact opens the artifact and checks that it is one to use here.
func (c *config) openArtifact() (f *artifact.File, err error) {
	if c.artifact.kept != nil {
		return c.artifact.kept, nil
	}
	if f, err = artifact.Open(c.artifact.path); err != nil {
		return nil, err
	}
	conditions, err := f.Conditions()
	if err == nil {
		err = f.MadeBy(ownBuild(), release())
	}
	if err == nil {
		err = f.Fresh(c.environ())
	}
	c.artifact.note = ""
	if c.artifact.stale && artifact.Stale(err) {
		c.artifact.note, err = err.Error()+" (it is used as it was, since that was allowed)", nil
	}
	if err == nil {
		err = c.agrees(f, &conditions)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// agrees takes what the artifact was compiled as for what options leave open,
// and refuses options that say otherwise.
func (c *config) agrees(f *artifact.File, was *artifact.Conditions) error {
	if name := was.Flag("profile"); c.profile == nil && name != "" {
		d, err := agent.FindProfile(name)
		if err != nil {
			return fault.Errorf("hookc: %w", err)
		}
		c.profile, c.faithful = d, was.Flag("faithful") != ""
	}
	if c.artifact.stale {
		return nil
	}
	for _, now := range c.compiledAs() {
		if was.Flag(now[0]) != now[1] {
			return f.Other(now[0] + " is another one")
		}
	}
	return nil
}

// readArtifact reads the head and the chains that are wanted: the one of the
// event that is decided, or all. The passes need all of the policy.
func (c *config) readArtifact(f *artifact.File, fast bool) (*fromArtifact, error) {
	data, err := f.Section(artifact.Program)
	if err != nil {
		return nil, err
	}
	in := binary.NewReader(data)
	types := in.Bytes()
	if f.Build != ownBuild() && string(types) != codec.Fingerprint() {
		return nil, f.Refuse(artifact.OtherVersion, "another hookc compiled this policy, which this one cannot read: compile it again")
	}
	head, base, err := codec.ReadHead(in.Rest())
	if err != nil || head.Program == nil || head.Policy == nil {
		return nil, damagedArtifact(f, err)
	}
	r := &fromArtifact{head: head, policy: head.Policy, codes: map[policy.Event][][]byte{}}
	if head.Profile != "" {
		d, err := agent.FindProfile(head.Profile)
		if err == nil {
			r.policy.Profile, err = d.Under(head.Faithful)
		}
		if err != nil {
			return nil, damagedArtifact(f, err)
		}
	}
	places := make([]int, 0, head.Hooks)
	for _, event := range head.Events {
		if only := c.compile.Event; fast && only != "" && only != event {
			continue
		}
		data, err := f.Section(chainPrefix + string(event))
		if err != nil {
			return nil, err
		}
		chain, err := codec.ReadChain(data, base)
		if err != nil || !r.add(event, chain, &places) {
			return nil, damagedArtifact(f, err)
		}
	}
	if err := r.inOrder(places); err != nil {
		return nil, damagedArtifact(f, err)
	}
	if head.Native {
		return r, c.rebind(f, r, places)
	}
	return r, nil
}

func damagedArtifact(f *artifact.File, err error) error {
	if err == nil {
		err = errors.New("its program does not fit together")
	}
	return f.Damaged(err.Error())
}

// add takes the chain of an event in.
func (r *fromArtifact) add(event policy.Event, c *codec.Chain, places *[]int) bool {
	if c.Plan == nil || c.Plan.Event != event || len(c.Places) != len(c.Hooks) ||
		lists.Among(c.Hooks, nil) || lists.Some(c.Entries, func(e *dag.Entry) bool { return e.Hook == nil }) {
		return false
	}
	for _, l := range c.Loads {
		if l.Hook < 0 || l.Hook >= len(c.Hooks) {
			return false
		}
		c.Hooks[l.Hook].Body.Load = func() (policy.Body, diag.List) { return l.Body, lists.Copy(l.Found) }
	}
	r.head.Program.Plans = append(r.head.Program.Plans, c.Plan)
	r.head.Program.Hooks = append(r.head.Program.Hooks, c.Entries...)
	r.policy.Hooks = append(r.policy.Hooks, c.Hooks...)
	*places = append(*places, c.Places...)
	r.codes[event] = c.Codes
	return true
}

// inOrder puts the hooks in the order they were declared in, and their places
// with them.
func (r *fromArtifact) inOrder(places []int) error {
	hooks := r.policy.Hooks
	order := make([]*policy.Hook, r.head.Hooks)
	for i, at := range places {
		if at < 0 || at >= len(order) || order[at] != nil {
			return errors.New("its hooks are out of order")
		}
		order[at] = hooks[i]
	}
	r.policy.Hooks = lists.DeleteFunc(order, func(h *policy.Hook) bool { return h == nil })
	lists.Sort(places)
	return nil
}

// rebind gives the filters that are in an agent's own words their tests, which
// only the readers of its configuration make: the sources are read again, and
// nothing is compiled. They are what they were, or the artifact would be refused.
func (c *config) rebind(f *artifact.File, r *fromArtifact, places []int) error {
	from := *c
	from.artifact, from.discover, from.shown, from.dir, from.inputs = artifactConfig{}, r.head.Discover, r.head.Shown, "", nil
	for _, in := range r.head.Inputs {
		from.inputs = append(from.inputs, source.Input{Path: in.Path, Format: in.Format, Tier: in.Tier, Content: in.Content})
	}
	p, _ := from.load()
	differs := f.Refuse(artifact.Changed, "filters in an agent's own words are made from its configuration, which has changed: compile it again")
	if len(p.Hooks) != r.head.Hooks || len(places) != len(r.policy.Hooks) {
		return differs
	}
	for i, h := range r.policy.Hooks {
		now := p.Hooks[places[i]]
		if now.Name != h.Name || now.Event != h.Event || len(now.Filter.Conditions) != len(h.Filter.Conditions) {
			return differs
		}
		for j := range h.Filter.Conditions {
			was, is := h.Filter.Conditions[j].Atom, now.Filter.Conditions[j].Atom
			switch {
			case was == nil && is == nil:
				continue
			case was == nil || is == nil || !lists.Equal(was.Values, is.Values) || was.Field != is.Field:
				return differs
			}
			was.Test = is.Test
		}
	}
	return nil
}
