package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/spf13/cobra"

	hookclib "github.com/hookc/hookc"
	"github.com/hookc/hookc/fleet/server"
	"github.com/hookc/hookc/fleet/telemetry"
	"github.com/hookc/hookc/internal/release"
	"github.com/hookc/hookc/internal/serve"
)

// newServe is what hookc serve does, beside what hookcd does: the socket of this user
// is answered by the policy that the fleet put in force.
func newServe() *cobra.Command {
	var f fleetFlags
	var o server.Options
	var w workFlags
	program, err := hookc()
	if err != nil {
		program = "hookc" // which is not there: serve says so, and all else works without
	}
	w.program = program
	cmd := serve.New(serve.Options{Program: program, Queue: w.put, Share: w.share, Beside: func(ctx context.Context, socket string, say io.Writer) (func(), error) {
		to := &shipping{}
		apart, err := w.ship(to, say)
		if err != nil {
			return nil, err
		}
		end, err := beside(ctx, &f, &o, to, say)
		if err != nil {
			apart()
			return nil, err
		}
		if err := w.start(socket, say); err != nil {
			end()
			apart()
			return nil, err
		}
		return func() { w.end(); end(); apart() }, nil
	}})
	cmd.PersistentPreRunE = func(*cobra.Command, []string) error { return err }
	cmd.Short = "Answer hookgate as hookc serve does, and take part in a fleet"
	idle := cmd.Flags().Lookup("idle") // what serves a fleet does not end because nobody asks
	if err := idle.Value.Set("0"); err != nil {
		panic("hookcd: " + err.Error())
	}
	idle.DefValue = "0s"
	f.flags(cmd.Flags())
	listenFlags(cmd.Flags(), &o)
	w.flags(cmd.Flags())
	return cmd
}

// beside starts what the flags ask for, and ships the records to what is in records and
// to what else they name. What can be wrong from the start ends hookcd.
func beside(ctx context.Context, f *fleetFlags, o *server.Options, records *shipping, say io.Writer) (end func(), err error) {
	tel, err := telemetry.Open(ctx, release.Current().Version, say)
	if err != nil {
		return nil, err
	}
	told := func() {
		if err := tel.Close(); err != nil {
			fmt.Fprintf(say, "hookcd: telemetry: %v\n", err)
		}
	}
	if tel != nil {
		o.More, o.Exposition = append(o.More, hookclib.Observe(tel)), tel.Exposition
	}
	records.own = o.Record
	logs, err := telemetry.OpenLogs(ctx, release.Current().Version)
	if err != nil {
		told()
		return nil, err
	}
	if logs != nil {
		records.add("otlp", logs, soon, saying(say))
		spans := told
		told = func() { spans(); logs.Close() }
	}
	silent := func() {}
	if o.Address != "" {
		if silent, err = listen(ctx, *o, say); err != nil {
			told()
			return nil, err
		}
	}
	stop, err := f.start(ctx, records, say)
	if err != nil {
		silent()
		told()
		return nil, err
	}
	return func() { silent(); stop(); told() }, nil
}

// hookc is the program that hooks outlast an event by, and that gates run where nobody
// answers: the one beside this program, else the one in PATH.
func hookc() (string, error) {
	if self, err := os.Executable(); err == nil {
		if beside := filepath.Join(filepath.Dir(self), "hookc"); isFile(beside) {
			return beside, nil
		}
	}
	path, err := exec.LookPath("hookc")
	if err == nil {
		path, err = filepath.Abs(path)
	}
	if err != nil {
		return "", errors.New("serve needs hookc, which is not beside hookcd and not in PATH")
	}
	return path, nil
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}
