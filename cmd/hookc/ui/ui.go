// Package ui is `hookc ui`: a local page that shows what was decided and why, how the
// hooks do, and what waits for an answer.
package ui

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"runtime"
	"time"

	"github.com/spf13/cobra"

	"github.com/hookc/hookc/cmd/hookc/logs"
	"github.com/hookc/hookc/internal/approval"
	"github.com/hookc/hookc/internal/decisionlog"
	"github.com/hookc/hookc/internal/exit"
	"github.com/hookc/hookc/internal/page"
	"github.com/hookc/hookc/policy/state"
)

// limit is how long a request and its answer take at most: doctor tries real hooks.
const limit = time.Minute

// New is `hookc ui`. root makes all commands of hookc: the page shows what some print.
func New(h *logs.Host, root func() *cobra.Command) *cobra.Command {
	s := &server{root: root}
	var address, folder string
	var open, remote bool
	cmd := &cobra.Command{
		Use:   "ui",
		Short: "A page to look at: decisions, hooks, impact, approvals, agents",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			home, err := state.Home()
			if err != nil {
				return exit.Cannot("%v", err)
			}
			if folder = h.Path(cmd.Context(), folder); !cmd.Flags().Changed("log") {
				folder = decisionlog.Folder(home)
			}
			s.record, s.store = newRecord(folder), approval.Open(home)
			return s.serve(cmd, address, open, remote)
		},
	}
	cmd.Flags().StringVar(&address, "addr", "127.0.0.1:0", "answer at this `ADDRESS`; port 0 is any that is free")
	cmd.Flags().BoolVar(&remote, "remote", false, "permit an address that other machines reach; nothing is encrypted")
	cmd.Flags().BoolVar(&open, "open", false, "open the page in the browser, by a link that works once")
	cmd.Flags().StringVar(&folder, "log", "", "show the decision log in this `FOLDER`, and not the user's own")
	cmd.Flags().StringVar(&s.user, "as", os.Getenv("USER"), "answer approvals under this `NAME`")
	return cmd
}

// serve answers until the command is interrupted.
func (s *server) serve(cmd *cobra.Command, address string, open, remote bool) error {
	s.ctx, s.remote = cmd.Context(), remote
	s.token, s.session, s.form = secret(), secret(), secret()
	at, err := netip.ParseAddrPort(address)
	switch {
	case err != nil:
		return exit.Cannot("--addr %s: it takes an address with a port, such as 127.0.0.1:8321", address)
	case !at.Addr().IsLoopback() && !remote:
		return exit.Cannot("--addr %s is reached by other machines, and nothing is encrypted: --remote permits it", address)
	}
	at, stop, err := page.Listener{Reply: s.reply, Anywhere: remote, Limit: limit}.Open(address)
	if err != nil {
		return exit.Cannot("--addr: %v", err)
	}
	defer stop()
	if !at.Addr().IsLoopback() {
		fmt.Fprintln(cmd.ErrOrStderr(), "hookc: warning: other machines reach this page, and who reads the network gets its token: put a tunnel in front of it")
	}
	shown := at.Addr()
	if shown.IsUnspecified() {
		shown = netip.AddrFrom4([4]byte{127, 0, 0, 1})
	}
	base := "http://" + netip.AddrPortFrom(shown, at.Port()).String() + "/?token="
	s.cookie = fmt.Sprintf("hookc-ui-%d", at.Port())
	close(s.ready())
	fmt.Fprintln(cmd.OutOrStdout(), base+s.token)
	if open {
		once := secret()
		s.once.Store(&once)
		if err := browse(base + once); err != nil {
			fmt.Fprintf(cmd.ErrOrStderr(), "hookc: the browser could not be started: %v\n", err)
		}
	}
	<-cmd.Context().Done()
	return nil
}

// secret is 256 random bits.
func secret() string {
	var b [32]byte
	_, _ = rand.Read(b[:]) // it never fails
	return hex.EncodeToString(b[:])
}

// browse shows an address in the user's browser. Other processes may read the address
// while that starts: it works once.
func browse(address string) error {
	words := []string{"xdg-open", address}
	switch runtime.GOOS {
	case "darwin":
		words[0] = "open"
	case "windows":
		words = []string{"rundll32", "url.dll,FileProtocolHandler", address}
	}
	return exec.Command(words[0], words[1:]...).Start()
}

// run is what a command of hookc prints. A command that reports findings ends with an
// error, and has printed them.
func (s *server) run(ctx context.Context, args ...string) ([]byte, error) {
	return s.runOn(ctx, nil, args...)
}

// runOn is run with something to read.
func (s *server) runOn(ctx context.Context, in []byte, args ...string) ([]byte, error) {
	var out, said bytes.Buffer
	cmd := s.root()
	cmd.SetArgs(args)
	cmd.SetIn(bytes.NewReader(in))
	cmd.SetOut(&out)
	cmd.SetErr(&said)
	if err := cmd.ExecuteContext(ctx); err != nil && out.Len() == 0 {
		if err.Error() == "" {
			return nil, errors.New(said.String())
		}
		return nil, err
	}
	return out.Bytes(), nil
}
