package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hookc/hookc"
	"github.com/hookc/hookc/compiler"
	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/dag/render"
	"github.com/hookc/hookc/internal/decide"
	"github.com/hookc/hookc/internal/host"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/internal/memory"
	"github.com/hookc/hookc/internal/report"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/agent"
	"github.com/hookc/hookc/policy/artifact"
	"github.com/hookc/hookc/policy/diag"
	"github.com/hookc/hookc/policy/source"
)

func newCompile() *cobra.Command {
	var s sources
	var c compileFlags
	cmd := &cobra.Command{
		Use:   "compile [PATH…]",
		Short: "Compile everything, report every finding, show the chains",
		RunE:  func(cmd *cobra.Command, args []string) error { return c.run(cmd, &s, args) },
	}
	s.flags(cmd)
	s.Passes(cmd)
	c.flags(cmd)
	return cmd
}

type compileFlags struct {
	explain       string
	event, tool   string
	output        string
	tracePasses   bool
	requireClosed bool
	asJSON        bool
	agent         string
}

func (c *compileFlags) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&c.explain, "explain", "", "show the chains as `FORMAT`: "+strings.Join(render.RendererNames(), ", "))
	cmd.Flags().Lookup("explain").NoOptDefVal = "text"
	cmd.Flags().StringVar(&c.event, "event", "", "only this `EVENT`")
	cmd.Flags().StringVar(&c.tool, "tool", "", "only the hooks that can match `TOOL`")
	cmd.Flags().StringVarP(&c.output, "output", "o", "", "write the explanation to `FILE`, or with the ending .hookc the compiled policy")
	cmd.Flags().BoolVar(&c.tracePasses, "trace-passes", false, "print the program after each pass, on stderr")
	cmd.Flags().BoolVar(&c.requireClosed, "require-closed", false, "fail when a hook's failure lets a guarded action pass")
	cmd.Flags().BoolVar(&c.asJSON, "json", false, "findings as JSON on stdout (with --explain: the model)")
	cmd.Flags().StringVar(&c.agent, "dialect", "", "show what the hooks may say that `AGENT` cannot be told, and what becomes of it")
	decide.Complete(cmd, "dialect", agent.Names())
	decide.Complete(cmd, "explain", render.RendererNames())
	decide.Complete(cmd, "event", policy.EventNames())
}

func (c *compileFlags) run(cmd *cobra.Command, s *sources, args []string) error {
	event, err := parseEvent(c.event)
	if err != nil {
		return err
	}
	if artifact.Named(c.output) {
		if c.explain != "" {
			return cannot("%s is a compiled policy: --explain writes elsewhere, and can draw it afterwards", c.output)
		}
		s.Managed = true // it is for deciding, which never goes without
		return c.artifact(cmd, s, args)
	}
	change := func(cc *compiler.Config) {
		cc.Event, cc.Hints = event, c.explain != "" || c.asJSON
		if c.tracePasses {
			cc.Trace = cmd.ErrOrStderr()
		}
	}
	if err := c.checkAgent(); err != nil {
		return err
	}
	program, found, err := s.compile(cmd, args, c.options(change)...)
	if err != nil {
		return err
	}
	found, suppressed := report.Suppress(found, policyTexts(program))
	if c.asJSON && c.explain == "" {
		return writeFindings(cmd.OutOrStdout(), found, suppressed)
	}
	if c.explain == "" || program == nil {
		fmt.Fprint(cmd.ErrOrStderr(), found.Render())
	}
	if program == nil {
		return errors.Join(c.showHeld(cmd, s, args, change), exitError{Code: exitFindings, Text: summary(found)})
	}
	if c.explain != "" {
		if err := c.show(cmd, program); err != nil {
			return err
		}
	}
	if found.HasErrors() { // by the policy's own severity:
		return exitError{Code: exitFindings, Text: summary(found)}
	}
	if c.explain == "" {
		fmt.Fprintf(cmd.OutOrStdout(), "%s\n", compiled(program))
	}
	if c.requireClosed {
		return closed(program)
	}
	return nil
}

// checkAgent reports an agent nobody knows.
func (c *compileFlags) checkAgent() error {
	if c.agent == "" {
		return nil
	}
	if _, err := agent.Find(c.agent); err != nil {
		return cannot("--dialect: %v", err)
	}
	return nil
}

// options are those of the command's own flags.
func (c *compileFlags) options(change func(*compiler.Config)) []hookc.Option {
	out := []hookc.Option{host.Compiler[hookc.Option](change), hookc.AsFound()}
	if c.agent != "" {
		out = append(out, hookc.Agent(c.agent))
	}
	return out
}

// showHeld explains what run would hold on to although compile refuses it: the
// chain without the overrides that locked hooks reject.
func (c *compileFlags) showHeld(cmd *cobra.Command, s *sources, args []string, change func(*compiler.Config)) error {
	if c.explain == "" {
		return nil
	}
	held, _, err := s.compile(cmd, args, c.options(func(cc *compiler.Config) {
		change(cc)
		cc.Runtime = true
	})...)
	if err != nil || held == nil {
		return err
	}
	return c.show(cmd, held)
}

func parseEvent(name string) (policy.Event, error) {
	event, ok := policy.ParseEvent(name)
	if !ok && name != "" {
		return "", cannot("unknown event %q: %s", name, diag.DidYouMean(name, policy.EventNames(), "`hookc help events` lists them"))
	}
	return event, nil
}

// compile loads and compiles what the flags name; a policy with errors is a
// nil program and its findings, and no policy at all is an error, unless findings say
// why there is none.
func (s *sources) compile(cmd *cobra.Command, args []string, more ...hookc.Option) (*dag.Program, diag.List, error) {
	program, found, err := s.compileAny(cmd, args, more...)
	if program != nil && len(program.Sources) == 0 && len(found) == 0 && len(s.Files)+len(args) == 0 {
		return nil, nil, s.nothing()
	}
	return program, found, err
}

// compileAny is compile where no policy is one without hooks.
func (s *sources) compileAny(cmd *cobra.Command, args []string, more ...hookc.Option) (*dag.Program, diag.List, error) {
	dir, err := decide.WorkDir()
	if err != nil {
		return nil, nil, err
	}
	options, done, err := s.Options(cmd, args, dir)
	if err != nil {
		return nil, nil, err
	}
	defer done()
	stop := progress(cmd.ErrOrStderr(), "compiling")
	defer stop()
	options = append(options, memory.Open(policy.ProjectRoot(dir)).Estimates())
	options = append(options, more...)
	path, err := s.CompiledPolicy(decide.CallerOf(cmd.Context()), args)
	if err != nil {
		return nil, nil, err
	}
	if path != "" {
		program, found, err := hookc.Restore(options...)
		if err != nil {
			return nil, nil, cannot("%v", err)
		}
		return program, found, cmd.Context().Err()
	}
	program, found := hookc.Compile(options...)
	return program, found, cmd.Context().Err()
}

// nothing is the failure of a command that found no policy at all: that is not
// the same as one without mistakes.
func (s *sources) nothing() error {
	dir, err := decide.WorkDir()
	if err != nil {
		return err
	}
	o := source.DiscoverOptions{Dir: dir}
	if s.Profile != "" {
		if d, err := agent.FindProfile(s.Profile); err == nil {
			o.Profile = d
		}
	}
	files, trees := source.DiscoverPlaces(o)
	var looked []string
	for _, f := range append(files, trees...) {
		if ext := filepath.Ext(f); ext == ".yaml" || ext == ".json" || ext == ".toml" || lists.Has(trees, f) {
			looked = append(looked, "  "+shownFrom(dir, f))
		}
	}
	return cannot("no policy was found; looked for\n%s\nName one with -f, or write one with hookc init.", strings.Join(looked, "\n"))
}

func (c *compileFlags) show(cmd *cobra.Command, program *dag.Program) (err error) {
	out := cmd.OutOrStdout()
	if c.output != "" {
		f, err := os.Create(c.output)
		if err != nil {
			return cannot("%v", err)
		}
		defer func() {
			if closeErr := f.Close(); err == nil && closeErr != nil {
				err = cannot("%v", closeErr)
			}
		}()
		out = f
	}
	event, err := parseEvent(c.event)
	if err != nil {
		return err
	}
	format := c.explain
	if c.asJSON {
		format = "json"
	}
	return draw(out, format, explained(program, event, c.tool))
}

// draw draws a model in the named format.
func draw(w io.Writer, format string, m *render.Model) error {
	r, ok := render.FindRenderer(format)
	if !ok {
		return cannot("unknown format %q: %s", format, diag.DidYouMean(format, render.RendererNames(), strings.Join(render.RendererNames(), ", ")))
	}
	return written("explanation", r.Render(w, m, style(w)))
}

// compiled is one line about a clean policy.
func compiled(p *dag.Program) string {
	hooks, nodes := len(p.Hooks), 0
	for _, plan := range p.Plans {
		nodes += len(plan.Nodes)
	}
	return fmt.Sprintf("%s on %s, %s, compiled in %s: %s", count(hooks, "hook"), count(len(p.Plans), "event"), count(nodes, "node"),
		p.Compiled.Round(time.Millisecond/10), p.Hash)
}

// closed fails when some guarded event is open.
func closed(p *dag.Program) error {
	var lines []string
	for _, plan := range p.Plans {
		for _, o := range plan.Open {
			lines = append(lines, fmt.Sprintf("%s is open: %s: %s", plan.Event, o.Hook, o.Why))
		}
	}
	if len(lines) == 0 {
		return nil
	}
	return exitError{Code: exitFindings, Text: strings.Join(lines, "\n")}
}

// summary counts findings by severity.
func summary(found diag.List) string {
	var n [3]int
	for _, d := range found {
		n[d.Severity]++
	}
	var parts []string
	for severity, found := range n {
		if found > 0 {
			parts = append(parts, count(found, diag.Severity(severity).String()))
		}
	}
	return "hookc: " + strings.Join(parts, ", ")
}

// writeFindings is the findings as one JSON list; errors are exit 1.
func writeFindings(w io.Writer, found diag.List, suppressed []report.Suppressed) error {
	if err := writeJSON(w, newFindings(found, suppressed...)); err != nil {
		return err
	}
	if found.HasErrors() {
		return exitError{Code: exitFindings, Text: ""}
	}
	return nil
}

type findingsJSON struct {
	Findings   diag.List           `json:"findings"`
	Suppressed []report.Suppressed `json:"suppressed,omitempty"`
}

// newFindings makes an empty list a list in JSON too.
//
//go:noinline
func newFindings(found diag.List, suppressed ...report.Suppressed) findingsJSON {
	if found == nil {
		found = diag.List{}
	}
	return findingsJSON{found, suppressed}
}
