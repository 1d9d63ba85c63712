package hookc

import (
	"errors"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/hookc/hookc/compiler"
	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/dag/codec"
	"github.com/hookc/hookc/internal/fault"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/internal/severity"
	"github.com/hookc/hookc/internal/wire"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/artifact"
	"github.com/hookc/hookc/policy/diag"
	"github.com/hookc/hookc/policy/source"
	"github.com/hookc/hookc/policy/trust"
	"github.com/hookc/hookc/rego"
)

// Artifact takes a policy that was compiled before, with `hookc compile -o` or
// NewArtifact, instead of compiling sources: what it decides is the same, and
// opening it neither parses nor compiles anything until a rule first runs. It
// goes with no other source. It is refused when another hookc compiled it, when it
// is damaged, and when a file it was compiled from, or the environment, is not as
// it was. Reload reads it again.
func Artifact(path string) Option {
	return func(c *config) { c.artifact.path, c.artifact.shared = path, new(atomic.Pointer[rego.Shared]) }
}

// AllowStale accepts an artifact whose sources, environment or hookc differ: it
// is used as it was compiled. One that is damaged, or that this hookc cannot
// read, is refused all the same.
func AllowStale() Option {
	return func(c *config) { c.artifact.stale = true }
}

// artifactConfig is what options say of an artifact.
type artifactConfig struct {
	path  string
	stale bool
	// kept is the artifact itself where it is not read from path.
	kept *artifact.File
	// note says that the artifact in force is stale, "" when it is not.
	note string
	// shared are the shared files that the artifact in force carries, for whoever
	// compiles a hook of its policy: a session, explain.
	shared *atomic.Pointer[rego.Shared]
}

// chainPrefix begins the names of the sections that each hold one event.
const chainPrefix = "event/"

// Compiled is a policy that can be written as an artifact.
type Compiled struct {
	program    *dag.Program
	writer     artifact.Writer
	sources    []artifact.Source
	conditions artifact.Conditions
	// sections are the program's, added those of others.
	sections, added []section
}

type section struct {
	name string
	data []byte
}

// NewArtifact compiles the policies that options name, as Compile does, and
// makes them ready to be written. Where Compile gives no program the artifact is nil,
// and the findings say why. The error is one of I/O, or of a policy that no artifact can
// hold. Where a source was changed a moment ago it waits, up to two seconds,
// until a further change would show.
func NewArtifact(options ...Option) (*Compiled, diag.List, error) {
	c := configured(options)
	if c.artifact.path != "" {
		return nil, nil, errors.New("hookc: an artifact is compiled from sources, not from another one")
	}
	for tries := 0; ; tries++ {
		x, found, settled, err := c.artifactOf(time.Now())
		if err != nil || x == nil || settled || tries == 2 {
			return x, found, err
		}
		artifact.Settle(x.sources)
	}
}

// Program is the compiled program.
func (x *Compiled) Program() *dag.Program { return x.program }

// AddSection adds a section that this package does not look at, before its own.
func (x *Compiled) AddSection(name string, data []byte) {
	x.added = append(x.added, section{name, data})
}

// WriteFile writes the artifact in one step. gate is what hookgate decides by
// without hookc, or empty.
func (x *Compiled) WriteFile(path string, gate []byte) error { return x.filled(gate).WriteFile(path) }

// bytes is the artifact, without anything for hookgate.
func (x *Compiled) bytes() []byte { return x.filled(nil).Bytes() }

func (x *Compiled) filled(gate []byte) *artifact.Writer {
	w := x.writer
	w.AddEnvironment(x.conditions)
	w.AddSources(x.sources)
	w.Add(artifact.Gate, gate)
	for _, s := range lists.Concat(x.added, x.sections) {
		w.Add(s.name, s.data)
	}
	return &w
}

// artifactOf compiles and encodes a policy. settled is false when a source was
// changed so shortly before that it may not be what was read.
func (c *config) artifactOf(began time.Time) (x *Compiled, found diag.List, settled bool, err error) {
	p, read := c.load()
	read.Sort()
	if read.HasErrors() {
		return nil, severity.Apply(p.Severities, read), false, nil
	}
	cc := *c
	cc.compile.Costs, cc.compile.Event, cc.compile.Hints = nil, "", false
	cc.compile.Without = append(lists.Copy(c.compile.Without), "lint")
	p = cc.guarded(p)
	program, more, err := cc.compileWith(p, false)
	if err != nil {
		return nil, nil, false, err
	}
	head := &codec.Head{Program: program, Read: lists.Copy(read), Findings: lists.Copy(more)}
	found = append(lists.Copy(read), more...)
	if program != nil {
		head.Lints = compiler.Lint(p, program, false)
		found = append(found, head.Lints...)
	}
	found.Sort()
	if found.HasErrors() || program == nil {
		return nil, severity.Apply(p.Severities, found), false, nil
	}
	found = severity.Apply(p.Severities, found)
	program.Diagnostics = found
	x = &Compiled{program: program, conditions: c.conditions(p.Sources)}
	x.writer.Build, x.writer.Release = ownBuild(), release()
	x.writer.Private = lists.Some(p.Sources, func(s *policy.SourceFile) bool { return s.Private })
	if x.sections, err = c.encode(head, p); err != nil {
		return nil, nil, false, fault.Errorf("hookc: this policy cannot be written as an artifact: %w", err)
	}
	if x.sources, settled, err = artifact.Snapshot(c.depends(p), began); err != nil {
		return nil, nil, false, fault.Errorf("hookc: %w", err)
	}
	return x, found, settled, nil
}

// ownBuild is the build of this program (internal/wire), "" when its file
// cannot be looked at.
func ownBuild() string {
	build, err := wire.OwnBuild()
	if err != nil {
		return ""
	}
	return build
}

// release identifies the source of this program as far as it decides what an
// artifact means, "" for one that is not a released or committed state: then
// only the same file is the same.
func release() string {
	build, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	const path = "github.com/hookc/hookc"
	own := ""
	var rest []string
	for _, m := range append([]*debug.Module{&build.Main}, build.Deps...) {
		switch {
		case m.Path == path && m.Replace == nil && m.Version != "(devel)" && !strings.Contains(m.Version, "+dirty"):
			own = m.Version
		case m.Path == "github.com/open-policy-agent/opa" || m.Path == "github.com/expr-lang/expr":
			rest = append(rest, m.Path+"@"+m.Version)
		}
	}
	if own == "" {
		return ""
	}
	return strings.Join(append([]string{own, build.GoVersion}, rest...), " ")
}

// conditions are the circumstances that decide what the sources compile to.
func (c *config) conditions(sources []policy.SourceFile) artifact.Conditions {
	var names []string
	if c.discover != "" {
		names = append(source.DiscoverVariables(c.discovery()), "HOOKC_TRUST", "XDG_STATE_HOME")
	}
	out := artifact.Take(c.environ(), append(names, "HOOKC_ENABLED"), []string{"HOOKC_DEFAULTS_"})
	for _, src := range sources {
		for _, v := range src.Variables {
			out.Vars = append(out.Vars, artifact.Condition{Name: v.Name, Value: v.Value, Set: true, Exact: true})
		}
		for _, name := range src.Unset {
			out.Vars = append(out.Vars, artifact.Condition{Name: name, Exact: true})
		}
	}
	for _, f := range c.compiledAs() {
		out.Flags = append(out.Flags, artifact.Condition{Name: f[0], Value: f[1], Set: f[1] != ""})
	}
	return out
}

func (c *config) environ() []string {
	if c.kinds.Environ != nil {
		return c.kinds.Environ
	}
	return os.Environ()
}

func (c *config) discovery() source.DiscoverOptions {
	o := source.DiscoverOptions{Dir: c.discover, Profile: c.profile, User: c.user, Roots: c.roots()}
	switch {
	case c.asFound:
		o.Trust = source.Static
	case c.inspect || !c.decides:
		o.Trust = source.Inspect
	}
	return o
}

// roots are those of the projects whose policies count.
func (c *config) roots() []string {
	dirs := append([]string{absolutePath(c.discover)}, c.around...)
	if n := len(dirs); n > 1 { // the session's beginning comes first
		dirs = append(dirs[1:], dirs[0])
	}
	return append([]string{}, trust.Projects(dirs...)...)
}

// compiledAs are the options that decide what the sources compile to, by name.
func (c *config) compiledAs() [][2]string {
	profile, overrides := "", []string{}
	if c.profile != nil {
		profile = c.profile.ID
	}
	for _, key := range lists.Keys(c.overrides) {
		overrides = append(overrides, key+"="+strconv.Quote(c.overrides[key]))
	}
	on := func(b bool) string {
		if b {
			return "true"
		}
		return ""
	}
	budget := ""
	if c.kinds.Budget != 0 {
		budget = c.kinds.Budget.String()
	}
	return [][2]string{{"profile", profile}, {"faithful", on(c.faithful)}, {"enabled: false", on(c.disabled)},
		{"defaults", strings.Join(overrides, " ")}, {"budget", budget}}
}
