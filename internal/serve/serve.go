// Package serve answers hookgate from a resident engine: the plans it keeps, when
// they are made again, and the commands that speak to it. Its binaries are hookc and
// hookcd.
package serve

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/hookc/hookc/internal/decide"
	"github.com/hookc/hookc/internal/share"
)

// Options are what another program than hookc says of itself.
type Options struct {
	// Program is the file of the hookc that gates would run otherwise; "" is this
	// program. It starts what outlasts an event.
	Program string
	// Beside is started before the socket is answered, and ended when the server
	// has; nil for nothing.
	Beside func(ctx context.Context, socket string, say io.Writer) (end func(), err error)
	// Share carries out what a process asks of what the fleet shares; nil where it shares
	// nothing.
	Share func(context.Context, *share.Request) *share.Reply
	// Queue keeps a durable hook until it has run; nil where there is no queue.
	Queue func(context.Context, *decide.HandOver) error
}

// queue is where durable hooks go.
func (o *Options) queue() func(context.Context, *decide.HandOver) error {
	if o.Queue != nil {
		return o.Queue
	}
	return func(context.Context, *decide.HandOver) error {
		return errors.New("hookc serve has no queue: hookcd serve has")
	}
}

// serveFlags are those of serve and of the commands that speak to it.
type serveFlags struct {
	Options
	socket  string
	metrics string
	idle    time.Duration
	drain   time.Duration
	asJSON  bool
	// paranoid has both native code and OPA evaluate Rego.
	paranoid bool
	log      bool
}

// hookcd is a flag that hookcd carries out, with the flags that come after it.
type hookcd struct{ on *cobra.Command }

func (h *hookcd) String() string { return "" }

// Type is the name of the value in the help.
func (h *hookcd) Type() string { return "string" }

// Set has the flags that come after, of which hookc knows nothing, read by hookcd.
func (h *hookcd) Set(string) error {
	h.on.Flags().ParseErrorsAllowlist.UnknownFlags = true
	return nil
}

// New is the command, with those that speak to a running server.
func New(o Options) *cobra.Command {
	f := serveFlags{Options: o}
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Answer hookgate from a resident engine",
		Long: `serve holds compiled policies and answers hookgate on a unix socket. It answers
exactly what hookc run --dialect AGENT would answer with the caller's folder, flags
and environment. One serve is for every project of a user. hookgate --start, a service
manager or you start it. It ends on its own when it is idle.

serve compares the policy's files with every event, so an edit decides the next event.
What it cannot compare is read again after a minute at the latest. An edit that does
not compile leaves the old plan in force; serve status and the caller's stderr say so.
Some callers cannot be answered as hookc run would (another home, another umask, a
confined caller, --profile, --debug). serve hands these back, and hookgate runs hookc run.

The socket is $XDG_RUNTIME_DIR/hookc/p1-BUILD.sock, or in the state folder. BUILD
identifies this program file. So a gate of another hookc finds no server, and works
without one until a new one takes over. SIGTERM lets events under way finish.

Exit codes: 0 ended as asked or idle · 1 another serve of this build is running ·
3 could not run.`,
		Example: `  hookc serve                                       # until idle for 30 minutes
  hookc serve --idle 0 --metrics 127.0.0.1:9464
  hookc serve status
  hookc serve stop
  systemd-socket-activate -l "$XDG_RUNTIME_DIR/hookc.sock" hookc serve`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if cmd.Flags().ParseErrorsAllowlist.UnknownFlags {
				return f.fleet(cmd)
			}
			return f.serve(cmd)
		},
	}
	if o.Program == "" {
		cmd.Flags().Var(&hookcd{cmd}, "config", "start hookcd serve in its place, which takes this machine's policy from the fleet that `FILE` describes")
		cmd.Flags().Var(&hookcd{cmd}, "listen", "start hookcd serve in its place, which also decides events over HTTP on `ADDRESS`; its flags follow")
	}
	cmd.PersistentFlags().StringVar(&f.socket, "socket", "", "the socket's `PATH`, in a folder of your own (default: by build, see above)")
	cmd.Flags().StringVar(&f.metrics, "metrics", "", "also answer GET /metrics and /healthz on `ADDRESS`, a loopback one such as 127.0.0.1:9464")
	cmd.Flags().DurationVar(&f.idle, "idle", 30*time.Minute, "end after this time without an event; 0 is never")
	cmd.Flags().DurationVar(&f.drain, "drain", 30*time.Second, "how long events under way may take to finish when serve ends")
	decide.LogFlag(cmd, &f.log)
	cmd.Flags().BoolVar(&f.paranoid, "paranoid", false, "have both native code and OPA evaluate Rego; where they differ the stricter counts")
	cmd.AddCommand(f.commands()...)
	return cmd
}

// commands are those that speak to a running serve.
func (f *serveFlags) commands() []*cobra.Command {
	status := &cobra.Command{
		Use:   "status",
		Short: "Say what a running serve holds and whether a policy is broken",
		Long: `status lists the plans in force, and each policy that no longer compiles with what
is wrong. Exit codes: 0 all is well · 1 a policy is broken · 3 no serve is running.`,
		Example: "  hookc serve status\n  hookc serve status --json",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return f.status(cmd) },
	}
	status.Flags().BoolVar(&f.asJSON, "json", false, "as JSON")
	metrics := &cobra.Command{
		Use:     "metrics",
		Short:   "Print a running serve's counters as Prometheus text",
		Long:    `metrics prints what GET /metrics gives, over the socket.`,
		Example: "  hookc serve metrics",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return f.printMetrics(cmd) },
	}
	stop := &cobra.Command{
		Use:     "stop",
		Short:   "Let a running serve finish its events and end",
		Long:    `stop returns when serve has ended. Exit codes: 0 it has · 3 none is running, or it does not end.`,
		Example: "  hookc serve stop",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return f.stop(cmd) },
	}
	reload := &cobra.Command{
		Use:   "reload",
		Short: "Have a running serve read every policy again",
		Long: `reload is never needed after an edit, which serve sees; it is for what it cannot see.
Exit codes: 0 every policy compiles · 1 one does not · 3 no serve is running.`,
		Example: "  hookc serve reload",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return f.reload(cmd) },
	}
	return []*cobra.Command{status, metrics, stop, reload}
}
