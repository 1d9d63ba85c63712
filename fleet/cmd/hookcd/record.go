package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/hookc/hookc/fleet/health"
	"github.com/hookc/hookc/fleet/ship"
	"github.com/hookc/hookc/policy/source"
)

// lastRound is how long the end of hookcd waits for what is left of the record.
const lastRound = 5 * time.Second

// shipping ships the records of this machine, to each sink at its own pace.
type shipping struct {
	// own is the record of the policy server, or "".
	own   string
	names []string
	all   []*ship.Shipper
}

// add ships to one more sink.
func (s *shipping) add(name string, to ship.Sink, delay func() (least, most time.Duration), say func(format string, args ...any)) {
	s.names = append(s.names, name)
	s.all = append(s.all, &ship.Shipper{Sink: to, Logs: s.logs, Delay: delay, Say: say, Cursor: filepath.Join(cursors(), "shipped."+name+".json")})
}

// soon is the pace of a sink that has no configuration of its own.
func soon() (least, most time.Duration) { return time.Second, 5 * time.Second }

// saying says what goes wrong, a line each.
func saying(to io.Writer) func(format string, args ...any) {
	return func(format string, args ...any) { fmt.Fprintf(to, "hookcd: "+format+"\n", args...) }
}

func (s *shipping) logs() []ship.Log {
	out := health.Records()
	if s.own != "" {
		out = append(out, ship.Log{User: "policy server", Dir: s.own})
	}
	return out
}

// start ships until the end is called: what is decided while hookcd ends is shipped too.
func (s *shipping) start(ctx context.Context) (end func()) {
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	var running sync.WaitGroup
	for _, each := range s.all {
		running.Go(func() { each.Run(ctx, lastRound) })
	}
	return func() { stop(); running.Wait() }
}

// counts are what became of the record, by sink.
func (s *shipping) counts() any {
	out := map[string]ship.Counts{}
	for i, each := range s.all {
		out[s.names[i]] = each.Counts()
	}
	return out
}

// cursors is where it is kept how far the records were shipped: the folder of the
// managed tier, or that of this user's state where hookcd may not write there.
func cursors() string {
	dir := source.ManagedDir()
	if f, err := os.CreateTemp(dir, ".may-*"); err == nil {
		f.Close()
		os.Remove(f.Name())
		return dir
	}
	return health.State()
}
