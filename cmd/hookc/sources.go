package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/hookc/hookc"
	"github.com/hookc/hookc/cmd/hookc/model"
	"github.com/hookc/hookc/compiler"
	"github.com/hookc/hookc/executor"
	"github.com/hookc/hookc/executor/runner"
	"github.com/hookc/hookc/internal/host"
	"github.com/hookc/hookc/internal/paths"
	"github.com/hookc/hookc/internal/sites"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/agent"
	"github.com/hookc/hookc/policy/diag"
	"github.com/hookc/hookc/policy/source"
	"github.com/hookc/hookc/rego"
)

// sources are the flags of every command that needs a policy.
type sources struct {
	files  []string
	format string
	// output is the format that a command reports in, "" for text.
	output string
	debug  bool
	// profile is the agent whose rules hold, "" for hookc's own.
	profile  string
	faithful bool
	// allowStale uses a compiled policy although its sources differ.
	allowStale bool
	// live is set when an event is decided for an agent: the managed tier then
	// counts whatever is named. managed does the same for other commands.
	live, managed bool
	// user is the user's policy where its path was given.
	user string
	// ignored are the variables that may not choose what decides.
	ignored []string
	// verify is whether a one-shot command validates its plan.
	verify bool
	// without are optional passes that are left out, of the commands that have
	// the flag.
	without []string
	// paranoid has both native code and OPA evaluate Rego; eyes are a resident
	// engine's.
	paranoid bool
	eyes     *rego.Eyes
}

func (s *sources) flags(cmd *cobra.Command) {
	cmd.Flags().StringArrayVarP(&s.files, "file", "f", nil, "policy `PATH`: a file or folder, or TIER=PATH (repeatable; default: discover every tier)")
	s.formats(cmd)
	cmd.Flags().BoolVar(&s.debug, "debug", false, "one JSON line for each hook that ran on stderr (or in the file HOOKC_DEBUG names)")
	cmd.Flags().StringVar(&s.profile, "profile", "", "discover what `AGENT` would, and let it mean what it means there: see hookc list dialect")
	cmd.Flags().BoolVar(&s.faithful, "faithful", false, "with --profile: follow the agent also where it lets something through in silence")
	cmd.Flags().BoolVar(&s.allowStale, "allow-stale", false, "use a compiled policy (.hookc) although its sources, the environment or hookc differ")
	if cmd.Name() != "run" { // which never goes without it
		cmd.Flags().BoolVar(&s.managed, "managed", false, "with -f: the machine's managed policy as well, as run has it")
	}
	completeSources(cmd)
}

// completeSources offers the words of --format and --profile.
func completeSources(cmd *cobra.Command) {
	complete(cmd, "format", source.Names())
	complete(cmd, "profile", agent.Profiles())
}

// passes is the flag that leaves passes out.
func (s *sources) passes(cmd *cobra.Command) {
	cmd.Flags().StringSliceVar(&s.without, "without", nil, "switch optional `PASSES` off: "+strings.Join(optionalPasses(), ", "))
	complete(cmd, "without", optionalPasses())
}

// complete offers fixed words for a flag's value.
func complete(cmd *cobra.Command, flag string, words []string) {
	err := cmd.RegisterFlagCompletionFunc(flag, func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return words, cobra.ShellCompDirectiveNoFileComp
	})
	if err != nil {
		panic("hookc: " + err.Error())
	}
}

// options turns the flags, further paths given as arguments and the
// environment into what hookc.Open takes. Project is the folder discovery
// starts from.
func (s *sources) options(cmd *cobra.Command, args []string, project string) ([]hookc.Option, func(), error) {
	var out []hookc.Option
	from := callerOf(cmd.Context())
	if dir, err := from.workDir(); err == nil {
		out = append(out, hookc.ShownFrom(dir))
	}
	if s.faithful && s.profile == "" {
		return nil, nil, cannot("--faithful goes with --profile AGENT")
	}
	if s.profile != "" {
		if _, err := agent.FindProfile(s.profile); err != nil {
			return nil, nil, cannot("%v", err)
		}
		out = append(out, hookc.Profile(s.profile, s.faithful))
	}
	if names := source.Names(); s.format != "" && !slices.Contains(names, s.format) {
		return nil, nil, cannot("unknown format %q: %s", s.format, diag.DidYouMean(s.format, names, "there are "+strings.Join(names, ", ")))
	}
	if err := compiler.CheckWithout(s.without); err != nil {
		return nil, nil, cannot("--without: %v", err)
	}
	if len(s.without) > 0 {
		out = append(out, host.Compiler[hookc.Option](func(c *compiler.Config) { c.Without = s.without }))
	}
	out = append(out, s.look()...)
	compiled, err := s.compiledPolicy(from, args)
	if err != nil {
		return nil, nil, err
	}
	if compiled != "" {
		out = append(out, hookc.Artifact(from.path(compiled)))
	}
	if s.allowStale {
		out = append(out, hookc.AllowStale())
	}
	for _, path := range append(append([]string{}, s.files...), args...) {
		if compiled != "" {
			break
		}
		in, err := source.ParseInput(path)
		if err != nil {
			return nil, nil, cannot("%v", err)
		}
		if _, err := os.Lstat(from.path(in.Path)); err != nil {
			var failed *fs.PathError
			if errors.As(err, &failed) {
				err = failed.Err
			}
			return nil, nil, cannot("%s: %v", in.Path, err) // the path as it was given
		}
		in.Path, in.Format = from.path(in.Path), s.format
		out = append(out, host.Input[hookc.Option](in))
	}
	if (s.live || s.managed) && compiled == "" {
		out = append(out, hookc.Managed())
	}
	if from != nil {
		out = append(out, hookc.Environ(from.environ))
	}
	if len(s.files)+len(args) == 0 {
		out = append(out, hookc.Discover(project), hookc.UserPolicy(s.user))
	}
	if from.getenv("HOOKC_ENABLED") == "0" {
		out = append(out, hookc.SwitchOff())
	}
	if o := overrides(from.env()); len(o) > 0 {
		out = append(out, hookc.Overrides(o))
	}
	m, name, err := model.FromEnv(from.getenv)
	switch {
	case err != nil && s.live: // a variable is no reason to leave out the hooks that ask no model
		m = noModel(err)
	case err != nil:
		return nil, nil, cannot("%v", err)
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
		if rest, ok := strings.CutPrefix(kv, "HOOKC_DEFAULTS_"); ok {
			if key, value, _ := strings.Cut(rest, "="); value != "" {
				out[strings.ToLower(key)] = value
			}
		}
	}
	return out
}

// debugger is where --debug or HOOKC_DEBUG=FILE writes; nil when neither asks.
func (s *sources) debugger(cmd *cobra.Command) (func(runner.DebugRecord), func(), error) {
	out := cmd.ErrOrStderr()
	done := func() {}
	if path := callerOf(cmd.Context()).getenv("HOOKC_DEBUG"); path != "" {
		f, err := openDebug(path)
		switch {
		case err != nil && s.live:
			s.note("HOOKC_DEBUG is ignored: " + err.Error())
			return nil, done, nil
		case err != nil:
			return nil, nil, cannot("HOOKC_DEBUG: %v", err)
		}
		out, done = f, func() { f.Close() }
	} else if !s.debug {
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

// workDir is the folder hookc was started in.
func workDir() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", cannot("the working directory cannot be found: %v", err)
	}
	return dir, nil
}

var shownFrom = paths.ShownFrom

// openAgent finds the settings of an agent from the folder hookc was started in.
func openAgent(name string) (*sites.Agent, error) {
	dir, err := workDir()
	if err != nil {
		return nil, err
	}
	return sites.Open(name, dir)
}
