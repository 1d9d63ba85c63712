package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hookc/hookc/internal/decide"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/agent"
)

// benchRounds is how many times each thing is measured, turn by turn with the
// others; what is reported is the median of the rounds. benchstat wants six.
const benchRounds = 6

// howInProcess names the way in which bench decides, in figures and by --how.
const howInProcess = "in-process"

// benchOutputs are the forms of the report, as -f names them.
var benchOutputs = []string{"text", "json", "gobench"}

func newBench() *cobra.Command {
	var f benchFlags
	cmd := &cobra.Command{
		Use:   "bench [PATH…]",
		Short: "Measure a policy in process, per plan and per hook",
		RunE:  func(cmd *cobra.Command, args []string) error { return f.run(cmd, args) },
	}
	f.flags(cmd)
	return cmd
}

// benchFlags are the command line of bench.
type benchFlags struct {
	sources
	inputs                      []string
	event, tool, dialect        string
	how                         string
	time, warmup                time.Duration
	count, parallel             int
	asJSON, rules, effects, llm bool
	output                      string
	warmupGiven                 bool
}

func (f *benchFlags) flags(cmd *cobra.Command) {
	f.sources.flags(cmd)
	f.Passes(cmd)
	cmd.Flags().Lookup("file").Usage = "policy `PATH`, or TIER=PATH (repeatable; default: discover every tier); or how to print: " + strings.Join(benchOutputs, ", ")
	err := cmd.RegisterFlagCompletionFunc("file", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return benchOutputs, cobra.ShellCompDirectiveDefault // and files
	})
	if err != nil {
		panic("hookc: " + err.Error())
	}
	if err := cmd.Flags().MarkHidden("debug"); err != nil { // it would be measured
		panic("hookc: " + err.Error())
	}
	cmd.Flags().StringArrayVarP(&f.inputs, "input", "i", nil, "events: a JSON `FILE`, a folder of *.json, or - (repeatable)")
	cmd.Flags().StringVar(&f.event, "event", "", "only this `EVENT`; the event of inputs that name none")
	cmd.Flags().StringVar(&f.tool, "tool", "", "only events of `TOOL`; events that are made up have it")
	cmd.Flags().StringVar(&f.dialect, "dialect", "", "the events are in the words of `AGENT`, and so are the answers")
	cmd.Flags().StringVar(&f.how, "how", howInProcess, "measure this `WAY`; there is one")
	cmd.Flags().DurationVar(&f.time, "time", time.Second, "how long to measure each event")
	cmd.Flags().IntVar(&f.count, "count", 0, "decide each event `N` times, instead of --time")
	cmd.Flags().DurationVar(&f.warmup, "warmup", 100*time.Millisecond, "how long to decide each event unmeasured first (0 with --count)")
	cmd.Flags().IntVar(&f.parallel, "parallel", 1, "decide `N` events at a time")
	cmd.Flags().BoolVar(&f.rules, "rules-only", false, "leave out hooks that are not in-process rules")
	cmd.Flags().BoolVar(&f.effects, "effects", false, "run hooks that may change something also on events that are made up")
	cmd.Flags().BoolVar(&f.llm, "llm", false, "call the models of llm hooks")
	cmd.Flags().BoolVar(&f.asJSON, "json", false, "as JSON")
	decide.Complete(cmd, "event", policy.EventNames())
	decide.Complete(cmd, "dialect", agent.Names())
	if err := cmd.Flags().MarkHidden("how"); err != nil {
		panic("hookc: " + err.Error())
	}
}

// check reads the flags.
func (f *benchFlags) check(cmd *cobra.Command) error {
	if err := f.checkOutput(cmd); err != nil {
		return err
	}
	f.warmupGiven = cmd.Flags().Changed("warmup")
	switch {
	case f.how != howInProcess:
		return cannot("--how: unknown way %q: bench measures %s", f.how, howInProcess)
	case f.count < 0 || f.parallel < 1 || f.warmup < 0 || f.time <= 0:
		return cannot("--time and --parallel are greater than nothing, --count and --warmup not negative")
	case cmd.Flags().Changed("count") && cmd.Flags().Changed("time"):
		return cannot("--count and --time do not go together")
	case f.Debug:
		return cannot("--debug does not go with bench: it would be measured")
	}
	event, err := parseEvent(f.event)
	f.event = string(event)
	return err
}

// checkOutput finds how to print. What -f says of that is taken out of the
// policies.
func (f *benchFlags) checkOutput(cmd *cobra.Command) error {
	f.output = "text"
	if f.asJSON {
		f.output = "json"
	}
	chosen := f.asJSON
	var files []string
	for _, file := range f.Files {
		switch {
		case !lists.Has(benchOutputs, file):
			files = append(files, file)
			continue
		case chosen && f.output != file:
			return cannot("the output is %s or %s", f.output, file)
		}
		f.output, chosen = file, true
		if _, err := os.Lstat(file); err == nil {
			fmt.Fprintf(cmd.ErrOrStderr(), "hookc: -f %s says how to print; the policy of that name is ./%s\n", file, file)
		}
	}
	f.Files = files
	return nil
}

// bencher is one run of bench.
type bencher struct {
	*benchFlags
	cmd *cobra.Command
	ctx context.Context
	// args are the policies named as arguments; dir is where bench was started.
	args []string
	dir  string
	// environ is that of every hook; home is the state folder it names.
	environ []string
	home    string
	// speaks is the agent whose words the events are in, nil for canonical ones.
	speaks   *agent.Agent
	engines  map[string]*benchEngine
	events   []*benchEvent
	cases    []*benchCase
	progress *benchProgress
	notes    []string
	done     []func()
}

func (f *benchFlags) run(cmd *cobra.Command, args []string) error {
	if err := f.check(cmd); err != nil {
		return err
	}
	b := &bencher{benchFlags: f, cmd: cmd, args: args, engines: map[string]*benchEngine{}}
	defer b.close()
	if err := b.begin(); err != nil {
		return err
	}
	b.progress = newBenchProgress(cmd.ErrOrStderr())
	err := b.prepare()
	if err == nil {
		err = b.measure()
	}
	b.progress.stop()
	cut := b.ctx.Err() != nil
	switch {
	case cut && !b.measured():
		return exitError{Code: exitInterrupted, Text: "hookc: interrupted before anything was measured"}
	case err != nil && !cut:
		return err
	}
	if err := b.print(cut); err != nil {
		return err
	}
	if cut {
		return exitError{Code: exitInterrupted, Text: "hookc: interrupted; what was measured so far is above"}
	}
	return nil
}

// begin makes a place for state, and an environment that names it.
func (b *bencher) begin() (err error) {
	if b.dir, err = decide.WorkDir(); err != nil {
		return err
	}
	if b.home, err = os.MkdirTemp("", "hookc-bench-"); err != nil {
		return cannot("%v", err)
	}
	b.done = append(b.done, func() { os.RemoveAll(b.home) })
	b.environ = benchEnviron(os.Environ(), b.home)
	b.ctx = decide.WithCaller(b.cmd.Context(), &decide.Caller{Dir: b.dir, Environ: b.environ})
	b.cmd.SetContext(b.ctx)
	name, find := b.dialect, agent.Find
	if name == "" && b.Profile != "" {
		name, find = b.Profile, agent.FindProfile
	}
	if name == "" {
		return nil
	}
	if b.speaks, err = find(name); err != nil {
		return cannot("%v", err)
	}
	return nil
}

// ownVariables begin the names of variables that would change how hookc is
// run, and not what it decides, or that would be measured.
var ownVariables = []string{"HOOKC_BENCH_", "HOOKC_RUN_", "HOOKC_SERVE_", "HOOKC_DEBUG=", decide.CanaryEnv + "=", "XDG_STATE_HOME="}

// benchEnviron is an environment with a state folder of its own.
func benchEnviron(environ []string, home string) []string {
	out := lists.DeleteFunc(lists.Copy(environ), func(kv string) bool {
		return slices.ContainsFunc(ownVariables, func(p string) bool { return strings.HasPrefix(kv, p) })
	})
	return append(out, "XDG_STATE_HOME="+home)
}

// close ends what was begun, last things first.
func (b *bencher) close() {
	for _, done := range slices.Backward(b.done) {
		done()
	}
}

// prepare makes everything ready that is measured, and decides each event
// once.
func (b *bencher) prepare() error {
	b.progress.say("compiling")
	if err := b.openEvents(); err != nil {
		return err
	}
	if err := b.consent(); err != nil {
		return err
	}
	for _, e := range b.events {
		b.progress.say("trying " + e.title())
		if err := b.try(e); err != nil {
			return err
		}
	}
	return b.ctx.Err()
}

func (b *bencher) note(format string, args ...any) {
	b.notes = append(b.notes, fmt.Sprintf(format, args...))
}

// measured reports whether there is something to print.
func (b *bencher) measured() bool {
	return slices.ContainsFunc(b.cases, func(c *benchCase) bool { return len(c.rounds) > 0 })
}

// errDiffer is an answer that is not the one given before: exit 1.
func errDiffer(e *benchEvent, how, text string) error {
	return exitError{Code: exitFindings, Text: fmt.Sprintf("hookc: %s: %s does not answer as before, so two things would be measured: %s", e.title(), how, text)}
}
