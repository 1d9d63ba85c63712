package decide

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"

	"github.com/spf13/cobra"

	"github.com/hookc/hookc"
	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/executor"
	"github.com/hookc/hookc/executor/runner"
	"github.com/hookc/hookc/internal/exit"
	"github.com/hookc/hookc/internal/host"
	"github.com/hookc/hookc/internal/memory"
	"github.com/hookc/hookc/policy"
)

// HandOver is an async hook that a one-shot process leaves to its supervisor:
// which hook of which policy, and what it reads.
type HandOver struct {
	Files  []string     `json:"files"`
	Format string       `json:"format,omitempty"`
	Dir    string       `json:"dir"`
	Event  policy.Event `json:"event"`
	Hook   string       `json:"hook"`
	// Around are further folders whose projects count.
	Around []string        `json:"around,omitempty"`
	Input  json.RawMessage `json:"input"`
	// Profile and Faithful are those of the policy.
	Profile  string `json:"profile,omitempty"`
	Faithful bool   `json:"faithful,omitempty"`
	// User is the user's policy where its path was given.
	User string `json:"user,omitempty"`
	// AllowStale uses a compiled policy although its sources differ.
	AllowStale bool `json:"allow_stale,omitempty"`
	// Without are passes that are left out.
	Without []string `json:"without,omitempty"`
}

// detached hands async hooks to a supervisor process of their own, which
// outlives this one: run never waits for them. Dir is where the policy is
// discovered from.
func detached(s *Sources, from *Caller, dir string, around []string) hookc.Option {
	return host.Execution[hookc.Option](func(o *executor.Options) {
		o.Async = func(ctx context.Context, n *dag.Node, in *policy.Context) error {
			if runner.Waits(ctx) {
				return nil
			}
			from := cmp.Or(CallerOf(ctx), from) // serve's plans are many callers'
			input, err := json.Marshal(in)
			if err != nil {
				return err
			}
			return startSupervisor(s.Program, from, HandOver{Files: s.Files, Format: s.Format, Dir: dir, Around: around, Event: n.Hook.Event, Hook: n.Hook.Name, Input: input,
				Profile: s.Profile, Faithful: s.Faithful, AllowStale: s.AllowStale, Without: s.Without, User: s.User})
		}
	})
}

// Program is a program that is named, or this one.
func Program(name string) (string, error) {
	if name != "" {
		return name, nil
	}
	return os.Executable()
}

// startSupervisor starts hookc again, in a session of its own. The
// request goes through a file that is gone once it is read, so that nothing
// waits on a pipe.
func startSupervisor(program string, from *Caller, h HandOver) error {
	self, err := Program(program)
	if err != nil {
		return err
	}
	request, err := os.CreateTemp("", "hookc-async-*")
	if err != nil {
		return err
	}
	defer request.Close()
	defer os.Remove(request.Name())
	if err := json.NewEncoder(request).Encode(h); err != nil {
		return err
	}
	if _, err := request.Seek(0, 0); err != nil {
		return err
	}
	cmd := exec.Command(self, "supervise")
	cmd.Stdin = request
	cmd.Env = from.Env()
	if from != nil {
		cmd.Dir = from.Dir
	}
	detach(cmd)
	if err := cmd.Start(); err != nil {
		return err
	}
	return cmd.Process.Release()
}

// Run evaluates the hook under its own timeout and counts the outcome.
func (h HandOver) Run(cmd *cobra.Command) error {
	in, _, err := policy.DecodeContext(h.Input)
	if err != nil {
		return exit.Cannot("%v", err)
	}
	s := Sources{Files: h.Files, Format: h.Format, Profile: h.Profile, Faithful: h.Faithful, AllowStale: h.AllowStale, Without: h.Without, live: true, User: h.User}
	options, done, err := s.Options(cmd, nil, h.Dir)
	if err != nil {
		return err
	}
	defer done()
	eng, err := Open(cmd.Context(), append(options, hookc.SkipVerify(), OneEvent(h.Event), hookc.Around(h.Around...)))
	if err != nil {
		return err
	}
	if err := eng.RunAsync(context.WithoutCancel(cmd.Context()), h.Event, h.Hook, in); err != nil {
		fmt.Fprintln(cmd.ErrOrStderr(), err)
	}
	memory.Open(policy.ProjectRoot(h.Dir)).Save(eng.Metrics())
	if err := eng.Close(); err != nil {
		return exit.Cannot("%v", err)
	}
	return nil
}
