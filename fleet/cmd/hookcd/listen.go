package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/pflag"

	"github.com/hookc/hookc/fleet/server"
	"github.com/hookc/hookc/internal/pace"
)

// listenFlags are those of the policy server.
func listenFlags(f *pflag.FlagSet, o *server.Options) {
	o.Limits = server.Standard
	f.StringVar(&o.Address, "listen", "", "also decide events over HTTP on `ADDRESS`, for agents that are not on this machine")
	f.StringArrayVar(&o.Policies, "policy", nil, "a policy of --listen: `LABEL=PATH` for the clients of a label, PATH for those without one (repeatable)")
	f.BoolVar(&o.SameDisk, "same-disk", false, "the paths in events may be looked for on this disk: guards of paths and shells need that")
	f.StringVar(&o.Cert, "tls-cert", "", "the server's certificate, a PEM `FILE`; TLS 1.3 alone")
	f.StringVar(&o.Key, "tls-key", "", "its key, a PEM `FILE`")
	f.StringVar(&o.Clients, "client-ca", "", "take clients' certificates of the authorities in `FILE`")
	f.StringVar(&o.Auth.Tokens, "tokens", "", "take the bearer tokens whose hashes are in `FILE`: lines LABEL sha256:HEX")
	f.StringVar(&o.Auth.Keys, "jwks", "", "take JWTs signed by the keys of a `FILE` or https address")
	f.StringVar(&o.Auth.KeysAuthority, "jwks-ca", "", "the authorities in `FILE`, and no others, vouch for that address")
	f.StringVar(&o.Auth.Issuer, "jwt-issuer", "", "the `ISSUER` of the JWTs")
	f.StringVar(&o.Auth.Audience, "jwt-audience", "", "the `AUDIENCE` of the JWTs")
	f.StringVar(&o.Auth.Claim, "jwt-claim", "sub", "the `CLAIM` of a JWT that is the label")
	f.Int64Var(&o.Limits.Event, "max-event", o.Limits.Event, "the largest event, in `BYTES`")
	f.StringVar(&o.Record, "record", "", "keep a record of the decisions of --listen in the `FOLDER`, as hookc log does")
	f.DurationVar(&o.Grace, "grace", 0, "how long readiness is withdrawn before connections are, for a balancer to see it")
	o.Drain = 30 * time.Second
}

// listen starts the policy server, paces its collections of garbage, and has SIGHUP compile its
// policies again.
func listen(ctx context.Context, o server.Options, say io.Writer) (end func(), err error) {
	r, err := o.Listen(ctx)
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(say, "hookcd: deciding events on %s\n", r.Address)
	again, done := make(chan os.Signal, 1), make(chan struct{})
	signal.Notify(again, syscall.SIGHUP)
	go func() {
		memory, builds := pace.New(pace.Machine), int64(1)
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-tick.C:
				memory.Tidy(builds)
				continue
			case <-again:
				builds++
				memory.Building()
			}
			if err := r.Reload(context.WithoutCancel(ctx)); err != nil {
				fmt.Fprintf(say, "hookcd: %v\n", err)
			}
		}
	}()
	return func() {
		signal.Stop(again)
		close(done)
		if err := r.End(); err != nil {
			fmt.Fprintf(say, "hookcd: events under way were broken off: %v\n", err)
		}
	}, nil
}
