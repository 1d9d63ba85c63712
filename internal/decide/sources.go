package decide

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/hookc/hookc"
	"github.com/hookc/hookc/cmd/hookc/model"
	"github.com/hookc/hookc/compiler"
	"github.com/hookc/hookc/executor"
	"github.com/hookc/hookc/executor/runner"
	"github.com/hookc/hookc/internal/exit"
	"github.com/hookc/hookc/internal/host"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/internal/memory"
	"github.com/hookc/hookc/internal/remote"
	"github.com/hookc/hookc/internal/spell"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/agent"
	"github.com/hookc/hookc/policy/artifact"
	"github.com/hookc/hookc/policy/diag"
	"github.com/hookc/hookc/policy/source"
	"github.com/hookc/hookc/rego"
)

// Sources are the flags of every command that needs a policy.
type Sources struct {
	Files  []string
	Format string
	// Output is the format that a command reports in, "" for text.
	Output string
	Debug  bool
	// Profile is the agent whose rules hold, "" for hookc's own.
	Profile  string
	Faithful bool
	// AllowStale uses a compiled policy although its sources differ.
	AllowStale bool
	// live is set when an event is decided for an agent: the managed tier then
	// counts whatever is named. managed does the same for other commands.
	live, Managed bool
	// User is the user's policy where its path was given.
	User string
	// ignored are the variables that may not choose what decides.
	ignored []string
	// Verify is whether a one-shot command validates its plan.
	Verify bool
	// Program is the hookc that runs an async hook to its end, "" for this program.
	Program string
	// Queue keeps a durable hook until it has run, nil where this process has no queue.
	Queue func(context.Context, *HandOver) error
	// onlyManaged leaves out all tiers but the managed one.
	onlyManaged bool
	// Without are optional passes that are left out, of the commands that have
	// the flag.
	Without []string
	// Paranoid has both native code and OPA evaluate Rego; eyes are a resident
	// engine's.
	Paranoid bool
	Eyes     *rego.Eyes
	// Log is --log.
	Log bool
	// Server decides too, where one is named.
	Server *remote.Server
}

func (s *Sources) Flags(cmd *cobra.Command) {
	cmd.Flags().StringArrayVarP(&s.Files, "file", "f", nil, "policy `PATH`: a file or folder, or TIER=PATH (repeatable; default: discover every tier)")
	cmd.Flags().BoolVar(&s.Debug, "debug", false, "one JSON line for each hook that ran on stderr (or in the file HOOKC_DEBUG names)")
	cmd.Flags().StringVar(&s.Profile, "profile", "", "discover what `AGENT` would, and let it mean what it means there: see hookc list dialect")
	cmd.Flags().BoolVar(&s.Faithful, "faithful", false, "with --profile: follow the agent also where it lets something through in silence")
	cmd.Flags().BoolVar(&s.AllowStale, "allow-stale", false, "use a compiled policy (.hookc) although its sources, the environment or hookc differ")
	if cmd.Name() != "run" { // which never goes without it
		cmd.Flags().BoolVar(&s.Managed, "managed", false, "with -f: the machine's managed policy as well, as run has it")
	}
}

// ReadAs is --format where it names what is read.
func (s *Sources) ReadAs(cmd *cobra.Command) {
	cmd.Flags().StringVar(&s.Format, "format", "", "read the files as `NAME` instead of detecting the format")
}

// CompleteSources offers the words of --format and --profile.
func CompleteSources(cmd *cobra.Command) {
	Complete(cmd, "format", source.Names())
	Complete(cmd, "profile", agent.Profiles())
}

// Passes is the flag that leaves passes out.
func (s *Sources) Passes(cmd *cobra.Command) {
	cmd.Flags().StringSliceVar(&s.Without, "without", nil, "switch optional `PASSES` off: "+strings.Join(optionalPasses(), ", "))
	Complete(cmd, "without", optionalPasses())
}

// Complete offers fixed words for a flag's value.
func Complete(cmd *cobra.Command, flag string, words []string) {
	err := cmd.RegisterFlagCompletionFunc(flag, func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return words, cobra.ShellCompDirectiveNoFileComp
	})
	if err != nil {
		panic("hookc: " + err.Error())
	}
}

// Options turns the flags, further paths given as arguments and the
// environment into what hookc.Open takes. Project is the folder discovery
// starts from.
func (s *Sources) Options(cmd *cobra.Command, args []string, project string) ([]hookc.Option, func(), error) {
	var out []hookc.Option
	from := CallerOf(cmd.Context())
	if dir, err := from.WorkDir(); err == nil {
		out = append(out, hookc.ShownFrom(dir))
	}
	if s.Faithful && s.Profile == "" {
		return nil, nil, exit.Cannot("--faithful goes with --profile AGENT")
	}
	if s.Profile != "" {
		if _, err := agent.FindProfile(s.Profile); err != nil {
			return nil, nil, exit.Cannot("%v", err)
		}
		out = append(out, hookc.Profile(s.Profile, s.Faithful))
	}
	if names := source.Names(); s.Format != "" && !lists.Has(names, s.Format) {
		return nil, nil, exit.Cannot("unknown format %q: %s", s.Format, diag.DidYouMean(s.Format, names, "there are "+strings.Join(names, ", ")))
	}
	if err := compiler.CheckWithout(s.Without); err != nil {
		return nil, nil, exit.Cannot("--without: %v", err)
	}
	if len(s.Without) > 0 {
		out = append(out, host.Compiler[hookc.Option](func(c *compiler.Config) { c.Without = s.Without }))
	}
	out = append(out, s.look()...)
	compiled, err := s.CompiledPolicy(from, args)
	if err != nil {
		return nil, nil, err
	}
	if compiled != "" {
		out = append(out, hookc.Artifact(from.Path(compiled)))
	}
	if s.AllowStale {
		out = append(out, hookc.AllowStale())
	}
	for _, path := range append(append([]string{}, s.Files...), args...) {
		if compiled != "" {
			break
		}
		in, err := source.ParseInput(path)
		if err != nil {
			return nil, nil, exit.Cannot("%v", err)
		}
		if _, err := os.Lstat(from.Path(in.Path)); err != nil {
			var failed *fs.PathError
			if errors.As(err, &failed) {
				err = failed.Err
			}
			return nil, nil, exit.Cannot("%s: %v", in.Path, err) // the path as it was given
		}
		in.Path, in.Format = from.Path(in.Path), s.Format
		out = append(out, host.Input[hookc.Option](in))
	}
	if (s.live || s.Managed) && compiled == "" {
		out = append(out, hookc.Managed())
	}
	if from != nil {
		out = append(out, hookc.Environ(from.Environ))
	}
	if len(s.Files)+len(args) == 0 && !s.onlyManaged {
		out = append(out, hookc.Discover(project), hookc.UserPolicy(s.User))
	}
	if from.Getenv("HOOKC_ENABLED") == "0" {
		out = append(out, hookc.SwitchOff())
	}
	if o := overrides(from.Env()); len(o) > 0 {
		out = append(out, hookc.Overrides(o))
	}
	m, name, err := model.FromEnv(from.Getenv)
	switch {
	case err != nil && s.live: // a variable is no reason to leave out the hooks that ask no model
		m = noModel(err)
	case err != nil:
		return nil, nil, exit.Cannot("%v", err)
	}
	out = append(out, hookc.Model(m), hookc.DefaultModel(name))
	record, done, err := s.debugger(cmd)
	if err != nil {
		return nil, nil, err
	}
	if record != nil {
		out = append(out, host.Debug[hookc.Option](record), host.Execution[hookc.Option](func(o *executor.Options) { o.Observe = inProcess(record) }))
	}
	return out, done, nil
}

// inProcess records the hooks that bash and llm runners do not: rules, which
// have no command and no exit status.
func inProcess(record func(runner.DebugRecord)) func(executor.Run) {
	return func(r executor.Run) {
		h := r.Node.Hook
		if !h.Kind.InProcess() || r.Status != policy.StatusRan && r.Status != policy.StatusFailed {
			return
		}
		line := runner.DebugRecord{Hook: h.Name, Event: r.Event, Kind: h.Kind, Exit: -1, Micros: r.Took.Microseconds()}
		if r.Err != nil {
			line.Error = r.Err.Error()
		}
		record(line)
	}
}

// overrides reads HOOKC_DEFAULTS_<KEY>; an empty variable is none.
func overrides(environ []string) map[string]string {
	out := map[string]string{}
	for _, kv := range environ {
		if rest, ok := spell.CutPrefix(kv, "HOOKC_DEFAULTS_"); ok {
			if key, value, _ := spell.Cut(rest, "="); value != "" {
				out[strings.ToLower(key)] = value
			}
		}
	}
	return out
}

// debugger is where --debug or HOOKC_DEBUG=FILE writes; nil when neither asks.
func (s *Sources) debugger(cmd *cobra.Command) (func(runner.DebugRecord), func(), error) {
	out := cmd.ErrOrStderr()
	done := func() {}
	if path := CallerOf(cmd.Context()).Getenv("HOOKC_DEBUG"); path != "" {
		f, err := openDebug(path)
		switch {
		case err != nil && s.live:
			s.note("HOOKC_DEBUG is ignored: " + err.Error())
			return nil, done, nil
		case err != nil:
			return nil, nil, exit.Cannot("HOOKC_DEBUG: %v", err)
		}
		out, done = f, func() { f.Close() }
	} else if !s.Debug {
		return nil, done, nil
	}
	var mu sync.Mutex
	return func(r runner.DebugRecord) {
		line, err := json.Marshal(r)
		if err != nil {
			panic("hookc: a debug record cannot be written as JSON: " + err.Error())
		}
		mu.Lock()
		defer mu.Unlock()
		fmt.Fprintf(out, "%s\n", line)
	}, done, nil
}

// WorkDir is the folder hookc was started in.
func WorkDir() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", exit.Cannot("the working directory cannot be found: %v", err)
	}
	return dir, nil
}

// Ready opens the policy of a project for the events that one of oneEvent and
// everyEvent says, with what outlasts a process. The caller calls done after closing the engine.
func (s *Sources) Ready(cmd *cobra.Command, events hookc.Option, project string, around []string, more ...hookc.Option) (eng *hookc.Engine, m *memory.Memory, done func(), err error) {
	options, done, err := s.Options(cmd, nil, project)
	if err != nil {
		return nil, nil, nil, err
	}
	m = memory.Open(project)
	options = append(append(options, m.Options()...), more...)
	options = append(options, detached(s, CallerOf(cmd.Context()), project, around), events, hookc.Around(around...), hookc.Approvals())
	if !s.Verify {
		options = append(options, hookc.SkipVerify())
	}
	if eng, err = Open(cmd.Context(), options); err != nil {
		done()
		return nil, nil, nil, err
	}
	return eng, m, done, nil
}

// Open compiles a policy; its findings become the text of an exit 3.
func Open(ctx context.Context, options []hookc.Option) (*hookc.Engine, error) {
	eng, err := hookc.Open(ctx, options...)
	if err := OpenError(ctx, err); err != nil {
		return nil, err
	}
	return eng, nil
}

// OpenError is the exit for what came of compiling a policy, nil when it did.
func OpenError(ctx context.Context, err error) error {
	var list diag.ListError
	var refused *artifact.Error
	switch {
	case errors.As(err, &refused):
		return CompiledRefused{exit.Cannot("%v", refused)}
	case errors.As(err, &list):
		return exit.Error{Code: exit.Failed, Text: list.List.Render() + "hookc: the policy does not compile"}
	case ctx.Err() != nil:
		return exit.Error{Code: exit.Interrupted, Text: ""}
	case err != nil:
		return exit.Cannot("%v", err)
	}
	return nil
}

//go:noinline
func optionalPasses() []string {
	var out []string
	for _, p := range compiler.Passes() {
		if !p.Required {
			out = append(out, p.Name)
		}
	}
	return out
}
