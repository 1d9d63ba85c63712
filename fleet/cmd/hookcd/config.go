package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"

	"github.com/open-policy-agent/opa/v1/logging"
	"github.com/spf13/pflag"

	"github.com/hookc/hookc/fleet/health"
	"github.com/hookc/hookc/fleet/plane"
	"github.com/hookc/hookc/fleet/ship"
	"github.com/hookc/hookc/policy/source"
)

// fleetFlags say where this machine's policy comes from.
type fleetFlags struct{ config, id, level string }

func (f *fleetFlags) flags(set *pflag.FlagSet) {
	set.StringVar(&f.config, "config", "", "take this machine's policy from the bundles that the configuration in `FILE` names")
	set.StringVar(&f.id, "id", "", "what this machine is called in reports (default: the name of the host)")
	set.StringVar(&f.level, "log-level", "info", "say `LEVEL` and what is worse: debug, info, warn, error")
}

// start begins to take policy from the fleet, and to ship the records, beside whatever
// else hookcd does. It ends with ctx or when end is called.
func (f *fleetFlags) start(ctx context.Context, records *shipping, say io.Writer) (end func(), err error) {
	if f.config == "" {
		return records.start(ctx), nil
	}
	text, err := os.ReadFile(f.config)
	if err != nil {
		return nil, err
	}
	log, err := logTo(say, f.level)
	if err != nil {
		return nil, err
	}
	refused := new(atomic.Int64)
	p, err := plane.New(plane.Options{Config: text, Dir: source.Absolute("", source.ManagedDir()), ID: f.id, Log: ship.Counting(log, refused), Health: health.Of, Record: records.counts})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.config, err)
	}
	by := ship.NewOPA(p.Manager(), refused)
	records.add("decision_logs", by, by.Delay, log.Warn)
	ctx, stop := context.WithCancel(ctx)
	var running sync.WaitGroup
	running.Go(func() {
		if err := p.Run(ctx); err != nil {
			log.Error("the fleet's policy is not looked at any more: %v", err)
		}
	})
	ship := records.start(ctx)
	return func() { stop(); ship(); running.Wait() }, nil
}

// logTo logs as text.
func logTo(say io.Writer, level string) (logging.Logger, error) {
	log := logging.New()
	log.SetOutput(say)
	switch level {
	case "debug":
		log.SetLevel(logging.Debug)
	case "info":
		log.SetLevel(logging.Info)
	case "warn":
		log.SetLevel(logging.Warn)
	case "error":
		log.SetLevel(logging.Error)
	default:
		return nil, fmt.Errorf("--log-level: %q is none of debug, info, warn, error", level)
	}
	return log, nil
}
