// Command hookcd takes a machine's policy from a fleet: it fetches signed bundles,
// proves them, puts them in force as the managed tier, and reports.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/hookc/hookc/fleet/server"
	"github.com/hookc/hookc/internal/exit"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := newRoot().ExecuteContext(ctx)
	var ended exit.Error
	switch {
	case errors.As(err, &ended): // of what hookc serve does too
		if ended.Text != "" {
			fmt.Fprintln(os.Stderr, ended.Text)
		}
		os.Exit(ended.Code)
	case err != nil:
		fmt.Fprintln(os.Stderr, "hookcd:", err)
		os.Exit(3)
	}
}

func newRoot() *cobra.Command {
	var f fleetFlags
	var o server.Options
	root := &cobra.Command{
		Use:   "hookcd",
		Short: "Take this machine's policy from a fleet",
		Long: `hookcd reads a configuration in the words of OPA (services, keys, bundles, discovery,
labels, status), fetches the bundles it names, and puts the policy of each in force as
the managed tier: once its signature is right, it compiles, and its own tests pass. Until
then, and when anything is wrong, the last good one stays in force. It is kept below the
folder of the managed tier, so that hookc run decides by it without hookcd.

With --listen it decides events of agents on other machines over HTTP, by the policies
that --policy names (docs/fleet.md); without --config it does nothing else.

hookcd serve does the same and answers hookgate on this user's socket too, as hookc serve
does.

Exit codes: 0 ended as asked · 1 serve: another one is running · 3 could not run.`,
		Example:       "  hookcd --config /etc/hookc/hookcd.yaml\n  hookcd --listen 127.0.0.1:8443 --policy hooks.yaml",
		Args:          cobra.NoArgs,
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if f.config == "" && o.Address == "" {
				return errors.New("--config FILE says where the policy comes from, --listen ADDRESS where events do")
			}
			end, err := beside(cmd.Context(), &f, &o, &shipping{}, cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			<-cmd.Context().Done()
			end()
			return nil
		},
	}
	f.flags(root.Flags())
	listenFlags(root.Flags(), &o)
	root.AddCommand(newBundle())
	root.AddCommand(newServe())
	return root
}
