//go:build unix

package serve

import (
	"context"
	"encoding/json"

	"github.com/spf13/cobra"

	"github.com/hookc/hookc/internal/exit"
	"github.com/hookc/hookc/internal/share"
	"github.com/hookc/hookc/internal/wire"
)

// ask sends a request to the running server.
func (f *serveFlags) ask(kind wire.Kind) (*wire.Reply, error) {
	path, _, err := f.place()
	if err != nil {
		return nil, err
	}
	reply, err := share.Send(context.Background(), path, &wire.Request{Kind: kind}, takeOver)
	if err != nil {
		return nil, exit.Cannot("no serve answers on %s: %v", path, err)
	}
	if reply.Refused != "" {
		return nil, exit.Cannot("serve: %s", reply.Refused)
	}
	return reply, nil
}

func (f *serveFlags) status(cmd *cobra.Command) error {
	reply, err := f.ask(wire.Status)
	if err != nil {
		return err
	}
	var s serveStatus
	if err := json.Unmarshal(reply.Stdout, &s); err != nil {
		return exit.Cannot("the status is not understood: %v", err)
	}
	if f.asJSON {
		if err := exit.JSON(cmd.OutOrStdout(), &s); err != nil {
			return err
		}
	} else {
		s.write(cmd.OutOrStdout())
	}
	return s.verdict()
}

func (f *serveFlags) reload(cmd *cobra.Command) error {
	reply, err := f.ask(wire.Reload)
	if err != nil {
		return err
	}
	var s serveStatus
	if err := json.Unmarshal(reply.Stdout, &s); err != nil {
		return exit.Cannot("the status is not understood: %v", err)
	}
	s.write(cmd.OutOrStdout())
	return s.verdict()
}

func (f *serveFlags) printMetrics(cmd *cobra.Command) error {
	reply, err := f.ask(wire.Metrics)
	if err != nil {
		return err
	}
	if _, err := cmd.OutOrStdout().Write(reply.Stdout); err != nil {
		return exit.Cannot("the counters cannot be written: %v", err)
	}
	return nil
}

// stop waits for the end of the connection, which is that of the server.
func (f *serveFlags) stop(*cobra.Command) error {
	_, err := f.ask(wire.Stop)
	return err
}
