package decide

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/hookc/hookc/executor/runner"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/internal/memory"
	"github.com/hookc/hookc/internal/spell"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/agent"
)

// Speaker answers one event in an agent's own protocol: `run --dialect`. It
// stands around the whole command, so that whatever goes wrong, a bad flag, a
// policy that does not compile, a bug, is an answer in that protocol too and
// never one of hookc's own exit codes.
type Speaker struct {
	Call     *agent.Call
	Decision *policy.Decision
}

// dialectFlag adds --dialect to run.
func dialectFlag(cmd *cobra.Command) {
	cmd.Flags().String("dialect", "", "answer in the own protocol of `AGENT`, as its hook: see hookc list dialect")
	cmd.MarkFlagsMutuallyExclusive("dialect", "json")
	Complete(cmd, "dialect", agent.Names())
}

// DialectOf finds the dialect a command line asks for, before anything else is
// looked at.
func DialectOf(args []string) (name string, ok bool) {
	if len(args) == 0 || args[0] != "run" {
		return "", false
	}
	for i, arg := range args[1:] {
		value, joined := spell.CutPrefix(arg, "--dialect=")
		switch {
		case arg == "-h", arg == "--help":
			return "", false
		case arg == "--":
			return name, ok
		case joined:
			name, ok = value, true
		case arg == "--dialect":
			name, ok = "", true
			if i+2 < len(args) {
				name = args[i+2]
			}
		}
	}
	return name, ok
}

// Framed is the flag with which the answer is one frame on stdout.
const Framed = "--framed"

// framedFlag adds --framed to run: hookgate tells by it whether what a process
// leaves behind is an answer.
func framedFlag(cmd *cobra.Command) {
	cmd.Flags().Bool(Framed[2:], false, "with --dialect: write the answer as one frame on stdout, for hookgate")
	if err := cmd.Flags().MarkHidden(Framed[2:]); err != nil {
		panic("hookc: " + err.Error())
	}
}

// Answer decodes an event, has it decided and puts the answer in the
// dialect's words. unread says why data is not the event, or is nil; event is
// what the command line calls it.
func Answer(d *agent.Agent, data []byte, unread error, event string, env func(string) string,
	decide func(*Speaker) (log string, err error)) (w agent.Wire) {
	s := &Speaker{Call: d.Unread()}
	defer func() {
		if p := recover(); p != nil {
			w = s.Call.Fail(fmt.Sprintf("internal error: %v", p))
		}
	}()
	call, wrong := d.Decode(data, event, env)
	s.Call = call
	if unread != nil {
		wrong = unread
	}
	if wrong != nil {
		return call.Fail(wrong.Error())
	}
	log, err := decide(s)
	if err != nil {
		return call.Fail(err.Error())
	}
	w = call.Encode(s.Decision)
	if w.Exit == 0 && w.Stderr == "" {
		w.Stderr = call.Log(log)
	}
	return w
}

// WithAhead decides a call, and what it begins where the agent lets nobody refuse
// that when it comes.
func WithAhead(call *agent.Call, decide func(Subject) (*policy.Decision, error)) (*policy.Decision, error) {
	own := subjectOf(call.Context, call.Event(), call)
	if call.DecidedAhead() {
		own.answers = runner.AnswersBefore(memory.Open(own.Project).Began(own.In))
	}
	d, err := decide(own)
	ahead := call.Ahead()
	if err != nil || ahead == nil || d.Action != policy.Proceed && d.Action != policy.AskUser && d.Action != policy.DeferCall {
		return d, err
	}
	next := subjectOf(ahead, policy.SubagentStart, call)
	next.answers = runner.AnswersAhead()
	begun, err := decide(next)
	if err != nil {
		return nil, err
	}
	if begun.Action == policy.Proceed {
		memory.Open(next.Project).Begins(next.In, next.answers.Bytes())
		for _, w := range begun.Warnings {
			if !lists.Among(d.Warnings, w) {
				d.Warnings = append(d.Warnings, w)
			}
		}
		return d, nil
	}
	if begun.Action == policy.Abort { // what is left is the subagent alone
		begun.Action = policy.Block
	}
	begun.Event = call.Event()
	return begun, nil
}

// EventArgument is the event a command line names, as far as it can be read.
func EventArgument(args []string) string {
	cmd, rest, err := RunRoot(NewRun(nil)).Find(args)
	if err != nil {
		return ""
	}
	// A bad flag is reported when the command is carried out; what stands
	// before it counts.
	_ = cmd.ParseFlags(rest)
	return cmd.Flags().Arg(0)
}

// CanaryEnv is the variable by which doctor tries an agent's hook: when it is
// set, `run --dialect` refuses whatever is guarded, with the variable's value
// in the reason, once a policy with hooks in force is found and compiled and
// before any hook runs. Whoever sets it can make hookc stricter and nothing else.
const CanaryEnv = "HOOKC_CANARY"
