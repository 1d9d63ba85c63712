package decide

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/hookc/hookc"
	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/executor"
	"github.com/hookc/hookc/executor/durable"
	"github.com/hookc/hookc/executor/runner"
	"github.com/hookc/hookc/internal/exit"
	"github.com/hookc/hookc/internal/host"
	"github.com/hookc/hookc/internal/lists"
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
	// Durable is true of a hook that a queue keeps, ID what names its run there. Managed
	// says that the hook is of the managed tier, and that nothing else is looked at: any
	// machine with that policy can run it.
	Durable bool   `json:"durable,omitempty"`
	ID      string `json:"id,omitempty"`
	Managed bool   `json:"managed,omitempty"`
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
			from := lists.First(CallerOf(ctx), from) // serve's plans are many callers'
			input, err := json.Marshal(in)
			if err != nil {
				return err
			}
			h := HandOver{Files: s.Files, Format: s.Format, Dir: dir, Around: around, Event: n.Hook.Event, Hook: n.Hook.Name, Input: input,
				Profile: s.Profile, Faithful: s.Faithful, AllowStale: s.AllowStale, Without: s.Without, User: s.User}
			if !n.Hook.Durable {
				return startSupervisor(s.Program, from, h)
			}
			kept := h
			kept.Durable, kept.ID, kept.Managed = true, workID(n, in, input), n.Hook.Tier == policy.TierManaged
			err = s.keep(ctx, from, &kept)
			var loose *durable.NotKeptError
			if err == nil || errors.As(err, &loose) {
				return err
			}
			if failed := startSupervisor(s.Program, from, h); failed != nil {
				return failed
			}
			return &durable.NotKeptError{Why: "it is started once, without a queue: " + err.Error()}
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

// Run evaluates the hook under its own timeout and counts the outcome. The failure of a
// durable hook is an error: it is run again.
func (h HandOver) Run(cmd *cobra.Command) error {
	in, _, err := policy.DecodeContext(h.Input)
	if err != nil {
		return exit.Cannot("%v", err)
	}
	if h.Managed { // of the machine that decided, nothing but the event counts
		h = HandOver{Event: h.Event, Hook: h.Hook, Dir: h.Dir, Durable: h.Durable, Managed: true}
		if info, err := os.Stat(in.Text(policy.FieldCwd)); err != nil || !info.IsDir() {
			in.Set(policy.FieldCwd, string(filepath.Separator))
		}
	}
	s := Sources{Files: h.Files, Format: h.Format, Profile: h.Profile, Faithful: h.Faithful, AllowStale: h.AllowStale, Without: h.Without, live: true, User: h.User, onlyManaged: h.Managed}
	options, done, err := s.Options(cmd, nil, h.Dir)
	if err != nil {
		return err
	}
	defer done()
	eng, err := Open(cmd.Context(), append(options, hookc.SkipVerify(), OneEvent(h.Event), hookc.Around(h.Around...)))
	if err != nil {
		return err
	}
	ctx := context.WithoutCancel(cmd.Context())
	if h.Durable { // the queue that ends, however it does, breaks off what is run again
		var end context.CancelFunc
		ctx, end = context.WithCancel(cmd.Context())
		defer end()
		go func() {
			_, _ = io.Copy(io.Discard, cmd.InOrStdin()) // its end is what counts
			end()
		}()
	}
	failed := eng.RunAsync(ctx, h.Event, h.Hook, in)
	if failed != nil && !h.Durable {
		fmt.Fprintln(cmd.ErrOrStderr(), failed)
	}
	memory.Open(policy.ProjectRoot(h.Dir)).Save(eng.Metrics())
	if err := eng.Close(); err != nil {
		return exit.Cannot("%v", err)
	}
	if failed != nil && h.Durable {
		return exit.Error{Code: exit.Findings, Text: failed.Error()}
	}
	return nil
}
