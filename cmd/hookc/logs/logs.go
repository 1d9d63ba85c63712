// Package logs has the commands of `hookc log`: they turn the decision log on and
// off, show it, count it, and verify it.
package logs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/hookc/hookc/internal/decisionlog"
	"github.com/hookc/hookc/internal/exit"
	"github.com/hookc/hookc/internal/spell"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
	"github.com/hookc/hookc/policy/state"
)

// Host is the command line that the commands are part of.
type Host struct {
	// Complete has a shell complete the words of a flag.
	Complete func(cmd *cobra.Command, flag string, words []string)
	// Progress says on a terminal what takes long, until it is stopped.
	Progress func(w io.Writer, what string) (stop func())
	Colour   func(w io.Writer) bool
	// Exact writes bytes as they are.
	Exact func(w io.Writer) io.Writer
	// Path is a path as whoever called means it.
	Path func(ctx context.Context, path string) string
}

// New is `hookc log`.
func (h *Host) New() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "log",
		Short: "The record of what was decided",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(h.enable(), h.disable(), h.tail(), h.show(), h.stats(), h.grep(), h.export(), h.verify(), h.prune(), h.key())
	return cmd
}

// home is hookc's state folder.
func (h *Host) home() (string, error) {
	home, err := state.Home()
	if err != nil {
		return "", exit.Cannot("%v", err)
	}
	return home, nil
}

func (h *Host) enable() *cobra.Command {
	s := decisionlog.Settings{Enabled: true}
	cmd := &cobra.Command{
		Use:   "enable",
		Short: "Log every decision from now on",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return h.writeSettings(cmd, s) },
	}
	cmd.Flags().BoolVar(&s.Durable, "durable", false, "answer only when the entry is on the disk")
	cmd.Flags().StringVar(&s.OnError, "on-error", "warn", "what becomes of a decision that cannot be logged: `warn` or deny, at events that guard something")
	cmd.Flags().IntVar(&s.KeepDays, "keep-days", 30, "take away what is older")
	cmd.Flags().IntVar(&s.KeepMB, "keep-mb", 1024, "take away the oldest of what is more")
	cmd.Flags().StringSliceVar(&s.Mask, "mask", nil, "mask what stands at these JSON `POINTERS` too, such as /input/tool_input/content; * is any member")
	cmd.Flags().StringSliceVar(&s.Drop, "drop", nil, "do not log these `EVENTS`")
	cmd.Flags().StringVar(&s.Checkpoints, "checkpoints", "", "append each signed checkpoint to `FILE` too: an absolute path")
	h.Complete(cmd, "on-error", []string{"warn", "deny"})
	return cmd
}

func (h *Host) disable() *cobra.Command {
	return &cobra.Command{
		Use: "disable", Short: "Log nothing more; what is logged stays", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return h.writeSettings(cmd, decisionlog.Settings{OnError: "warn"})
		},
	}
}

func (h *Host) writeSettings(cmd *cobra.Command, s decisionlog.Settings) error {
	home, err := h.home()
	if err != nil {
		return err
	}
	if err := s.Write(home); err != nil {
		return exit.Cannot("%v", err)
	}
	if !s.Enabled {
		fmt.Fprintln(cmd.OutOrStdout(), "nothing is logged any more")
		return nil
	}
	if _, err := decisionlog.NewSigner(decisionlog.Folder(home)); err != nil {
		return exit.Cannot("%v", err)
	}
	fmt.Fprintf(cmd.OutOrStdout(), "decisions are logged in %s\n", decisionlog.Folder(home))
	return nil
}

// filter chooses entries.
type filter struct {
	*Host
	event, tool, agent, session, action, since string
	from                                       time.Time
	// newest has the newest entries come first.
	newest bool
}

func (f *filter) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.event, "event", "", "only this `EVENT`")
	cmd.Flags().StringVar(&f.tool, "tool", "", "only calls of `TOOL`")
	cmd.Flags().StringVar(&f.agent, "agent", "", "only what `AGENT` asked")
	cmd.Flags().StringVar(&f.session, "session", "", "only this session `ID`")
	cmd.Flags().StringVar(&f.action, "action", "", "only decisions of this `ACTION`, such as block")
	cmd.Flags().StringVar(&f.since, "since", "", "only since so long ago (`7d`, 12h) or a time (2026-01-31T08:00:00Z)")
	f.Complete(cmd, "event", policy.EventNames())
}

// begin reads the flags.
func (f *filter) begin(now time.Time) (err error) {
	if f.event != "" {
		event, ok := policy.ParseEvent(f.event)
		if !ok {
			return exit.Cannot("unknown event %q: %s", f.event, diag.DidYouMean(f.event, policy.EventNames(), "`hookc help events` lists them"))
		}
		f.event = string(event)
	}
	if f.since == "" {
		return nil
	}
	if days, ok := spell.CutSuffix(f.since, "d"); ok {
		var n int
		if _, err := fmt.Sscan(days, &n); err == nil && n > 0 {
			f.from = now.Add(-time.Duration(n) * 24 * time.Hour)
			return nil
		}
	}
	if ago, err := time.ParseDuration(f.since); err == nil && ago > 0 {
		f.from = now.Add(-ago)
		return nil
	}
	if f.from, err = time.Parse(time.RFC3339, f.since); err != nil {
		return exit.Cannot("--since %s is neither a time such as 2026-01-31T08:00:00Z nor how long ago, such as 7d or 12h", f.since)
	}
	return nil
}

// takes reports whether an entry is a decision that is chosen.
func (f *filter) takes(e *decisionlog.Entry) bool {
	said := func(want string, is any) bool { return want == "" || is == want }
	return e.Type == "decision" && !e.Timestamp.Before(f.from) && said(f.event, e.Path) && said(f.tool, e.Input["tool_name"]) &&
		said(f.agent, e.Labels["agent"]) && said(f.session, e.Session) && said(f.action, actionOf(e))
}

// actionOf is what was decided; "failed" where hookc could not decide.
//
//go:noinline
func actionOf(e *decisionlog.Entry) string {
	if e.Error != "" {
		return "failed"
	}
	action, _ := e.Result["action"].(string)
	return action
}

// Recorded is the folder of the log, and the time that --since means.
func (h *Host) Recorded(since string) (dir string, from time.Time, err error) {
	f := filter{Host: h, since: since}
	dir, err = f.folder()
	return dir, f.from, err
}

// folder is where the log is; the flags are read.
func (f *filter) folder() (string, error) {
	home, err := f.home()
	if err != nil {
		return "", err
	}
	dir := decisionlog.Folder(home)
	if _, err := os.Stat(dir); err != nil {
		return "", exit.Cannot("there is no log: `hookc log enable` begins one")
	}
	return dir, f.begin(time.Now())
}

// entries are the chosen entries of the log, in order. What cannot be read is
// given as an error that names its line.
func (f *filter) entries() (iter.Seq2[*decisionlog.Entry, error], error) {
	dir, err := f.folder()
	if err != nil {
		return nil, err
	}
	all := decisionlog.Entries(dir)
	if f.newest {
		all = decisionlog.Newest(dir, decisionlog.Range{From: f.from})
	}
	return func(yield func(*decisionlog.Entry, error) bool) {
		for e, err := range all {
			if (err != nil || f.takes(e)) && !yield(e, err) {
				return
			}
		}
	}, nil
}

// each does something with every chosen entry; lines that cannot be read are
// reported at the end.
func (f *filter) each(cmd *cobra.Command, do func(*decisionlog.Entry) error) error {
	all, err := f.entries()
	if err != nil {
		return err
	}
	defer f.Progress(cmd.ErrOrStderr(), "reading the log")()
	var unread []error
	for e, err := range all {
		switch {
		case cmd.Context().Err() != nil:
			return exit.Error{Code: 130}
		case err != nil:
			unread = append(unread, err)
			continue
		}
		if err := do(e); err != nil {
			return err
		}
	}
	if len(unread) > 0 {
		return exit.Cannot("%v\nhookc: `hookc log verify` says more", errors.Join(unread...))
	}
	return nil
}

func (h *Host) verify() *cobra.Command {
	var key string
	cmd := &cobra.Command{
		Use:   "verify",
		Short: "Whether the log is as it was written",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			home, err := h.home()
			if err != nil {
				return err
			}
			dir := decisionlog.Folder(home)
			if key == "" {
				if key, err = decisionlog.VerifierKey(dir); err != nil {
					return exit.Cannot("there is no log, or no key that verifies it: %v", err)
				}
			}
			check, err := decisionlog.Checker(dir, key)
			if err != nil {
				return exit.Cannot("--key: %v", err)
			}
			stop := h.Progress(cmd.ErrOrStderr(), "verifying the log")
			v, err := decisionlog.Verify(dir, check)
			stop()
			var wrong *decisionlog.Wrong
			switch {
			case errors.As(err, &wrong):
				return exit.Error{Code: 1, Text: fmt.Sprintf("%s\nhookc: the log is not as it was written", err)}
			case err != nil:
				return exit.Cannot("%v", err)
			}
			return h.sayVerified(cmd, v)
		},
	}
	cmd.Flags().StringVar(&key, "key", "", "verify checkpoints by this `KEY`, as hookc log key prints it, and not by the one in the folder")
	return cmd
}

func (h *Host) sayVerified(cmd *cobra.Command, v *decisionlog.Verified) error {
	w := cmd.OutOrStdout()
	fmt.Fprintf(w, "%s of %s in %s, as they were written; %s\n", spell.Count(v.Entries, "line"), spell.Count(v.Writers, "writer"), spell.Count(v.Segments, "file"), spell.Count(v.Checkpoints, "signed checkpoint"))
	if v.Lost > 0 {
		fmt.Fprintf(w, "%s found no room to wait, or no room on the disk, and are not in it\n", spell.Count(int(v.Lost), "decision"))
	}
	for _, name := range v.From {
		fmt.Fprintf(w, "what was before %s was taken away\n", name)
	}
	for _, name := range v.Torn {
		fmt.Fprintf(w, "%s ends with a line that was not written whole; the next decision repairs it\n", name)
	}
	return nil
}

func (h *Host) prune() *cobra.Command {
	var days, mb int
	cmd := &cobra.Command{
		Use: "prune", Short: "Take old entries away now", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			home, err := h.home()
			if err != nil {
				return err
			}
			s, err := decisionlog.ReadSettings(home)
			if err != nil {
				return exit.Cannot("%v", err)
			}
			if cmd.Flags().Changed("keep-days") {
				s.KeepDays = days
			}
			if cmd.Flags().Changed("keep-mb") {
				s.KeepMB = mb
			}
			options := decisionlog.Options{KeepAge: time.Duration(s.KeepDays) * 24 * time.Hour, KeepSize: int64(s.KeepMB) << 20}
			if err := decisionlog.Prune(decisionlog.Folder(home), options); err != nil {
				return exit.Cannot("%v", err)
			}
			return nil
		},
	}
	cmd.Flags().IntVar(&days, "keep-days", 30, "take away what is older; the standard is what enable said")
	cmd.Flags().IntVar(&mb, "keep-mb", 1024, "take away the oldest of what is more")
	return cmd
}

func (h *Host) key() *cobra.Command {
	cmd := &cobra.Command{
		Use: "key", Short: "The key that verifies the checkpoints of this log", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			home, err := h.home()
			if err != nil {
				return err
			}
			key, err := decisionlog.VerifierKey(decisionlog.Folder(home))
			if err != nil {
				return exit.Cannot("there is no key yet: `hookc log enable` makes one")
			}
			fmt.Fprintln(cmd.OutOrStdout(), key)
			return nil
		},
	}
	cmd.AddCommand(&cobra.Command{
		Use: "rotate", Short: "Make new keys; checkpoints by the old one still verify", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			home, err := h.home()
			if err == nil {
				_, err = decisionlog.VerifierKey(decisionlog.Folder(home))
			}
			if err != nil {
				return exit.Cannot("there is no key yet: `hookc log enable` makes one")
			}
			if err := decisionlog.Rotate(decisionlog.Folder(home), decisionlog.Options{}); err != nil {
				return exit.Cannot("%v", err)
			}
			return nil
		},
	})
	return cmd
}
