package hookc

import (
	"context"
	"errors"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hookc/hookc/builtins/guard"
	"github.com/hookc/hookc/builtins/rule"
	"github.com/hookc/hookc/compiler"
	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/executor"
	"github.com/hookc/hookc/executor/runner"
	"github.com/hookc/hookc/internal/decisionlog/keep"
	"github.com/hookc/hookc/internal/fault"
	"github.com/hookc/hookc/internal/host"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/internal/logrules"
	"github.com/hookc/hookc/internal/severity"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/agent"
	"github.com/hookc/hookc/policy/bundled"
	"github.com/hookc/hookc/policy/diag"
	"github.com/hookc/hookc/policy/observe"
	"github.com/hookc/hookc/policy/source"
	"github.com/hookc/hookc/rego"
)

// Option says what Open loads and how it runs.
type Option func(*config)

type config struct {
	// misuse is what Open reports of options that make no sense.
	misuse    error
	inputs    []source.Input
	discover  string
	artifact  artifactConfig
	dir       string
	shown     string
	overrides map[string]string
	disabled  bool
	approvals bool
	// fit says what is wrong with a program that is to come into force; nil is nothing.
	fit func(*dag.Program) error
	// profile is the agent whose rules hold, or nil.
	profile *agent.Agent
	// agent is who is told what is decided; nil is the profile's.
	agent    *agent.Agent
	faithful bool
	answers  map[string]map[string]any
	// trials has hooks ask the dag.Trial of their firing before they are run;
	// given are the rules among them.
	trials bool
	given  []string
	// managed adds the managed tier to named files; user is the user's policy
	// where its path is known for certain.
	managed bool
	user    string
	// decides is set when the policy is to decide events; inspect when it is to
	// show what does not run as well.
	decides, inspect, asFound bool
	// withhold, if not nil, is told what is not started without consent.
	withhold func(*policy.Hook)
	// around are further folders whose projects count.
	around []string
	// skipVerify leaves translation validation out.
	skipVerify bool
	// cache is what an engine keeps for its next reload, or nil; borrow takes
	// from it without keeping.
	cache    *cache
	borrow   bool
	readings *Readings
	// last is where the last plan that compiled is kept, if anywhere.
	last  lastPlans
	kinds runner.Options
	// log is the decision log of Log, or nil; agentName is who asks, for its entries.
	log       *keep.Log
	agentName string
	observer  observe.Observer
	// self is what the guard of hookc itself protects.
	self    *guard.Self
	compile compiler.Config
	execute executor.Options
}

func init() {
	host.Option = func(change func(host.Config)) any {
		return Option(func(c *config) {
			change(host.Config{Compile: &c.compile, Execute: &c.execute, Kinds: &c.kinds, Inputs: &c.inputs, Last: c.keepLast,
				Trials: func(rules []string) { c.trials, c.given = true, rules }, Drafts: c.drafts, Fit: &c.fit})
		})
	}
}

// Files adds policy files or folders. They form the project tier in the order
// given; `user=PATH` places one in another tier. What is named is trusted.
func Files(paths ...string) Option {
	return func(c *config) {
		for _, p := range paths {
			in, err := source.ParseInput(p)
			if err != nil {
				c.misuse = errors.Join(c.misuse, fault.Errorf("hookc: %w", err))
				continue
			}
			c.inputs = append(c.inputs, in)
		}
	}
}

// Text adds a policy that is not in a file. Name is what diagnostics call it.
func Text(name, content string) Option {
	return func(c *config) {
		c.inputs = append(c.inputs, source.Input{Path: name, Tier: policy.TierProject, Content: []byte(content)})
	}
}

// Dir is the folder that relative paths of Files start from.
func Dir(project string) Option {
	return func(c *config) { c.dir = project }
}

// ShownFrom is the absolute folder that file names in findings are relative
// to; by default names are shown as they are given.
func ShownFrom(dir string) Option {
	return func(c *config) { c.shown = dir }
}

// Model answers llm hooks. Without one they fail, and on_error decides.
func Model(m policy.Model) Option {
	return func(c *config) { c.kinds.Model = m }
}

// DefaultModel names the model of llm hooks that name none.
func DefaultModel(name string) Option {
	return func(c *config) { c.kinds.DefaultModel = name }
}

// Environ is the environment bash hooks are given beside their own variables,
// instead of this process's: for a host that decides for others. Each entry is
// NAME=value.
func Environ(environ []string) Option {
	return func(c *config) { c.kinds.Environ = lists.Copy(environ) }
}

// Rules adds Go rules that `type: builtin` hooks can use by name. What is wrong
// with a rule itself, not with a policy that uses it, is a rule.Misuse,
// which Open returns.
func Rules(rules ...rule.Rule) Option {
	return func(c *config) { c.kinds.Rules = append(c.kinds.Rules, rules...) }
}

// Profile makes a policy mean what it means to an agent: its own places are
// discovered, and its own order, matchers and ways of combining answers hold.
// faithful follows the agent also where its rules let something through in
// silence; otherwise hookc takes the safe side there and says so. name is an id
// of `hookc list dialect`, which may end in @version.
func Profile(name string, faithful bool) Option {
	return func(c *config) {
		d, err := agent.FindProfile(name)
		if err != nil {
			c.misuse = errors.Join(c.misuse, fault.Errorf("hookc: %w", err))
			return
		}
		c.profile, c.faithful = d, faithful
	}
}

// Overrides replaces `defaults` of the policy files, as the variables
// HOOKC_DEFAULTS_<KEY> do; managed files and locked hooks are not touched.
func Overrides(defaults map[string]string) Option {
	return func(c *config) { c.overrides = maps.Clone(defaults) }
}

// SwitchOff disables every hook that is neither managed nor locked, as
// HOOKC_ENABLED=0 does. Every Decision says so.
func SwitchOff() Option {
	return func(c *config) { c.disabled = true }
}

// AsWritten leaves out what the environment lays over policies: Overrides and
// SwitchOff given before it.
func AsWritten() Option {
	return func(c *config) { c.overrides, c.disabled = nil, false }
}

// check reports options that make no sense: a policy that was named and is not
// looked at would be a guard that is silently missing.
func (c *config) check() error {
	if c.artifact.path != "" && (c.discover != "" || len(c.inputs) > 0) {
		return errors.Join(c.misuse, errors.New("hookc: Artifact goes with no other source"))
	}
	if c.discover != "" && len(c.inputs) > 0 {
		return errors.Join(c.misuse, errors.New("hookc: Discover does not go with Files or Text"))
	}
	return c.misuse
}

// NoPolicy says that the engine begins without a policy, for a host whose hooks
// are all registered at run time.
func NoPolicy() Option {
	return func(c *config) {
		c.inputs = append(c.inputs, source.Input{Path: "no policy", Format: "hooksyaml", Tier: policy.TierProject, Content: []byte("{}")})
	}
}

// sourced refuses an engine that nobody gave a policy: a source that was
// forgotten would be a guard that is silently missing.
func (c *config) sourced() error {
	if len(c.inputs) == 0 && c.discover == "" && c.artifact.path == "" && !c.managed {
		return errors.New("hookc: no policy is named: give Files, Text, Discover or Artifact, or say NoPolicy()")
	}
	return nil
}

// Load reads the policies that options name, without compiling them. Findings
// are complete; the policy is never nil. Options that Open refuses panic.
func Load(options ...Option) (*policy.Policy, diag.List) {
	c := configured(options)
	return c.load()
}

// configured applies options where there is no error to return.
func configured(options []Option) *config {
	c := &config{self: &guard.Self{}}
	for _, o := range options {
		o(c)
	}
	if err := c.check(); err != nil {
		panic(err)
	}
	return c
}

// Answers gives hooks, by name, a fixed HookResult instead of running them:
// for tests of policies. A hook that the policy does not have is ignored.
func Answers(answers map[string]map[string]any) Option {
	return func(c *config) { c.answers = answers }
}

// Paranoid has both native code and OPA evaluate Rego at every event: where they
// differ the stricter counts.
func Paranoid() Option {
	return func(c *config) { c.kinds.Eyes = rego.NewEyes(true, nil, nil) }
}

// SkipVerify leaves out translation validation: by default every plan is run
// on mock events, with mock bodies, and compared with the serial definition
// before it is used. A process that decides one event skips it.
func SkipVerify() Option {
	return func(c *config) { c.skipVerify = true }
}

// compileWith compiles a policy as configured. A plan that differs from the
// serial definition, or breaks an invariant of the compiler, is a bug of
// hookc; it becomes an error, so that a host keeps what it has.
func (c *config) compileWith(p *policy.Policy, runtime bool) (program *dag.Program, found diag.List, err error) {
	defer func() {
		switch bug := recover().(type) {
		case nil:
		case rule.Misuse:
			program, err = nil, fault.Errorf("hookc: %w", bug)
		default:
			program, err = nil, fault.Errorf("hookc: internal error: %v", bug)
		}
	}()
	p = c.guarded(p)
	cc := c.compile
	c.reused(&cc)
	cc.Runtime = cc.Runtime || runtime
	if !c.skipVerify {
		cc.Validate = executor.Validate
	}
	program, found = compiler.Compile(p, cc)
	found.Add(logrules.Check(p.Log)...)
	found.Add(runner.CheckApprovals(p.Approvals, c.kinds)...)
	found.Add(c.degrade(program)...)
	return program, found, nil
}

// hookKinds are the kinds in force, with the answered hooks replaced.
func (c *config) hookKinds() []dag.Kind {
	o := c.kinds
	o.Self = c.self
	if s := c.artifact.shared; s != nil {
		o.Shared = s.Load()
	}
	kinds := runner.Kinds(o)
	if len(c.answers) == 0 && c.withhold == nil && !c.trials {
		return kinds
	}
	for i := range kinds {
		prepare := kinds[i].Prepare
		kinds[i].Prepare = func(h *policy.Hook) (dag.Body, diag.List) {
			body, found := prepare(h)
			body = c.tried(h, c.withheld(h, body))
			if answer, ok := c.answers[h.Name]; ok {
				body.Runner = policy.RunnerFunc(func(context.Context, *policy.Context, int) (policy.Result, error) {
					return policy.ParseHookResult(answer, policy.By{Name: h.Name, At: h.Span})
				})
			}
			return body, found
		}
	}
	return kinds
}

// Compile reads and compiles the policies that options name, without running
// anything. With errors the program is nil, but not with those that are errors only
// by the policy's own severity:; the findings are complete and sorted. It panics when a plan does not mean what the policy says, which is a
// bug of hookc. Options that Open refuses, a rule that is misused among them,
// panic.
func Compile(options ...Option) (*dag.Program, diag.List) {
	c := configured(options)
	if c.artifact.path != "" {
		panic("hookc: an artifact is compiled already: Restore reads it")
	}
	p, found := c.load()
	if found.HasErrors() {
		found.Sort()
		return nil, severity.Apply(p.Severities, found)
	}
	program, more, err := c.compileWith(p, false)
	if err != nil {
		panic(err)
	}
	found.Add(more...)
	found.Sort()
	if found.HasErrors() {
		return nil, severity.Apply(p.Severities, found)
	}
	program.Diagnostics = severity.Apply(program.Severities, found)
	return program, program.Diagnostics
}

// load reads the named or discovered sources, checks trust and lays the
// environment over them.
func (c *config) load() (*policy.Policy, diag.List) {
	o := source.Options{Overrides: c.overrides, Dir: c.shown, Profile: c.profile, Faithful: c.faithful, Environ: c.environ()}
	if c.cache != nil {
		o.Cache = c.cache.read
	}
	var p *policy.Policy
	var found diag.List
	if c.discover != "" {
		p, found = source.LoadDiscovered(c.discovery(), o)
	} else {
		if c.managed {
			o.Inputs, found = source.Managed("")
		}
		for _, in := range c.inputs {
			if c.dir != "" && in.Content == nil && !filepath.IsAbs(in.Path) {
				in.Path = filepath.Join(c.dir, in.Path)
			}
			if c.asFound {
				in.Within = source.Boundary(in)
			}
			o.Inputs = append(o.Inputs, in)
		}
		var more diag.List
		p, more = source.Load(o)
		found.Add(more...)
	}
	if c.managed || c.discover != "" {
		own := *p // which the cache may hold
		own.Warnings = append(slices.Clip(own.Warnings), bundled.NotCurrent(found)...)
		found.Add(source.MachineFacts(&own)...)
		p = &own
	}
	c.confine(p)
	if c.disabled {
		p = copied(p)
		switchOff(p)
	}
	return p, found
}

// envPrefix begins a note about a variable that overrides the policy.
const envPrefix = "HOOKC_"

var codeEnvironment = diag.Define("HK181", diag.Warning, "the environment overrides the policy").Guarding()

// switchOff disables what HOOKC_ENABLED=0 may disable.
func switchOff(p *policy.Policy) {
	for _, h := range p.Hooks {
		if h.Tier > policy.TierManaged && !h.Locked {
			h.Disabled = true
		}
	}
	p.Notes = append(p.Notes, "HOOKC_ENABLED=0: only managed and locked hooks run")
}

func (c *config) compiled(p *policy.Policy, found diag.List, m *Metrics) (*live, error) {
	found = found.Containing()
	if err := found.Err(); err != nil {
		found.Sort()
		return nil, diag.ListError{List: severity.Apply(p.Severities, found)}
	}
	program, more, err := c.compileWith(p, true)
	if err != nil {
		return nil, err
	}
	found.Add(more...)
	return c.ready(p, program, found, m)
}

// ready makes a compiled policy one that runs.
func (c *config) ready(p *policy.Policy, program *dag.Program, found diag.List, m *Metrics) (*live, error) {
	found.Sort()
	if found.HasErrors() || program == nil {
		return nil, diag.ListError{List: severity.Apply(p.Severities, found)}
	}
	if c.fit != nil {
		if err := c.fit(program); err != nil {
			return nil, err
		}
	}
	program.Diagnostics = severity.Apply(program.Severities, found)
	for _, note := range program.Notes {
		if strings.HasPrefix(note, envPrefix) {
			program.Warnings = append(program.Warnings, policy.Warning{Code: codeEnvironment, Text: note})
		}
	}
	return c.begun(c.kept(p), program, m), nil
}

// begun runs a program that is ready.
func (c *config) begun(p *policy.Policy, program *dag.Program, m *Metrics) *live {
	eo := c.execute
	if eo.Count == nil {
		eo.Count, eo.Filtered, eo.Together = m.count, m.filtered, m.together
	}
	return &live{policy: p, program: program, exec: executor.New(program, eo), idle: make(chan struct{}), facts: factsOf(p, program)}
}
