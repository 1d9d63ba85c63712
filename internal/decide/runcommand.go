package decide

import (
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/hookc/hookc/internal/exit"
	"github.com/hookc/hookc/internal/remote"
	"github.com/hookc/hookc/policy"
)

// RunFlags are those of run.
type RunFlags struct {
	Sources
	AsJSON, Serial bool
}

// NewRun is run, carried out by do once its flags are read.
func NewRun(do func(cmd *cobra.Command, args []string, f *RunFlags) error) *cobra.Command {
	s := &RunFlags{}
	s.Server = &remote.Server{}
	cmd := &cobra.Command{
		Use:   "run [EVENT]",
		Short: "Decide one event read from stdin",
		Long: `run reads one event as a JSON object from stdin and writes the Decision to
stdout as JSON. EVENT is any canonical or native name of an event; without it
the object names its own (event, hook_event_name or event_type).

Exit codes: 0 proceed · 2 blocked, the reason on stderr · 4 ask or defer ·
3 could not run, a diagnostic on stderr · 130 interrupted.

With --dialect AGENT it reads that agent's own input and answers as its hook:
stdout, stderr and exit code are what the agent understands, and a failure of
hookc itself is an answer that does not let the action through.

With --server URL a policy server (hookcd --listen) decides too, what the policies of
this machine let through. Where it does not answer, guarded actions are refused, unless
--on-unreachable says otherwise; the answer says so (HK394). Variables of the environment
change none of that.`,
		Example: `  echo '{"event":"pre_tool_execution","tool_name":"Bash","tool_input":{"command":"rm -rf /"}}' |
    hookc run -f hooks.yaml
  hookc run PreToolUse --serial < event.json
  hookc run PreToolUse --dialect claude -f hooks.yaml   # the command of a hook`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: EventArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkDeadline(cmd); err != nil {
				return err
			}
			s.live, s.ignored = true, ignoredVariables(cmd)
			if s.User != "" && !filepath.IsAbs(s.User) {
				return exit.Cannot("--user-policy takes an absolute path")
			}
			if err := s.Server.Check(); err != nil {
				return err
			}
			return do(cmd, args, s)
		},
	}
	s.Flags(cmd)
	s.ReadAs(cmd)
	CompleteSources(cmd)
	s.Passes(cmd)
	cmd.Flags().BoolVar(&s.AsJSON, "json", false, "one line of JSON, also on a terminal")
	cmd.Flags().BoolVar(&s.Verify, "verify", false, "first compare the plan with the serial definition on mock events, as compile does")
	LogFlag(cmd, &s.Log)
	cmd.Flags().BoolVar(&s.Paranoid, "paranoid", false, "have both native code and OPA evaluate Rego; where they differ the stricter counts")
	dialectFlag(cmd)
	deadlineFlag(cmd)
	cmd.Flags().StringVar(&s.User, "user-policy", "", "the user's policy is `FILE`, whatever HOME and XDG_CONFIG_HOME say: an absolute path, as install writes it")
	s.Server.Flags(cmd.Flags())
	framedFlag(cmd)
	cmd.Flags().BoolVar(&s.Serial, "serial", false, "decide with the serial interpreter, the definition")
	return cmd
}

// EventArgs completes event names.
func EventArgs(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return policy.EventNames(), cobra.ShellCompDirectiveNoFileComp
}

const DeadlineName = "deadline"

// deadlineFlag adds --deadline to run.
func deadlineFlag(cmd *cobra.Command) {
	cmd.Flags().Duration(DeadlineName, 0, "answer with the posture at the latest after this `TIME`; keep it below the agent's own limit (default: 20s, or less where the agent waits for less, until the policy is compiled, then its own deadline)")
}

// checkDeadline refuses a deadline that is none.
func checkDeadline(cmd *cobra.Command) error {
	if d, err := cmd.Flags().GetDuration(DeadlineName); err == nil && cmd.Flags().Changed(DeadlineName) && d <= 0 {
		return exit.Cannot("--%s is a time above zero, such as 30s", DeadlineName)
	}
	return nil
}

// PlainRoot is hookc without a command.
func PlainRoot() *cobra.Command {
	root := &cobra.Command{Use: "hookc", SilenceErrors: true, SilenceUsage: true,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error { return bindEnv(cmd) }}
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return exit.Cannot("%v\nSee '%s --help'.", err, cmd.CommandPath())
	})
	return root
}

// RunRoot is hookc with nothing but run.
func RunRoot(run *cobra.Command) *cobra.Command {
	root := PlainRoot()
	root.CompletionOptions.DisableDefaultCmd = true
	root.AddCommand(run)
	return root
}

// LogFlag is --log of what decides.
func LogFlag(cmd *cobra.Command, on *bool) {
	cmd.Flags().BoolVar(on, "log", false, "keep a record of every decision, as hookc log enable has it; it turns nothing off")
}
