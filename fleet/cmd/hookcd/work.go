package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/pflag"

	"github.com/hookc/hookc/fleet/jetstream/kv"
	"github.com/hookc/hookc/fleet/jetstream/link"
	"github.com/hookc/hookc/fleet/jetstream/queue"
	"github.com/hookc/hookc/fleet/jetstream/records"
	"github.com/hookc/hookc/internal/decide"
	"github.com/hookc/hookc/internal/share"
	"github.com/hookc/hookc/policy/state"
)

// endTime is how long a hook that is broken off has to end.
const endTime = 5 * time.Second

// workFlags say what this machine shares with others, and keep its queue.
type workFlags struct {
	fleet   link.Fleet
	program string
	putOnly bool
	log     bool
	posture string
	say     io.Writer

	mu     sync.Mutex
	remote *link.Link
	shared *kv.Shared
	queue  *queue.Queue
	ended  bool
}

func (w *workFlags) flags(set *pflag.FlagSet) {
	set.StringVar(&w.fleet.URL, "nats", "", "share approvals, and counts and durable hooks of the managed tier, by the NATS servers at `URL`,URL")
	set.StringVar(&w.posture, "on-partition", share.Deny, "what holds for approvals and counts while NATS cannot be reached: `deny`, or local for those of this machine")
	set.StringVar(&w.fleet.Credentials, "nats-creds", "", "the credentials for NATS are in `FILE`")
	set.StringVar(&w.fleet.Authority, "nats-ca", "", "the authorities in `FILE` vouch for NATS")
	set.StringVar(&w.fleet.Cert, "nats-cert", "", "the certificate for NATS, a PEM `FILE`")
	set.StringVar(&w.fleet.Key, "nats-key", "", "its key, a PEM `FILE`")
	set.StringVar(&w.fleet.Domain, "nats-domain", "", "the `DOMAIN` of the fleet's JetStream, where a leaf node is between")
	set.BoolVar(&w.putOnly, "nats-put-only", false, "leave the durable hooks that are shared to other machines")
	set.BoolVar(&w.log, "nats-log", false, "send the record of decisions to NATS, to its stream "+records.Stream)
	set.IntVar(&w.fleet.Replicas, "nats-replicas", 3, "how many servers of NATS keep each item")
}

// ship has the record sent to NATS, where that is asked for, by a connection of its own.
func (w *workFlags) ship(to *shipping, say io.Writer) (end func(), err error) {
	if !w.log {
		return func() {}, nil
	}
	if w.fleet.URL == "" {
		return nil, errors.New("--nats-log: --nats URL says where NATS is")
	}
	machine, err := os.Hostname()
	if err != nil {
		return nil, err
	}
	by, err := w.fleet.Connect("hookcd " + machine + " record")
	if err != nil {
		return nil, err
	}
	to.add("jetstream", records.New(by, machine), soon, saying(say))
	return by.Close, nil
}

// start goes on with what is in the queue. Without a fleet, and where no hook was ever
// durable, there is none: put makes it.
func (w *workFlags) start(socket string, say io.Writer) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.say = say
	if w.posture != share.Local && w.posture != share.Deny {
		return fmt.Errorf("--on-partition: %q is neither %s nor %s", w.posture, share.Deny, share.Local)
	}
	home, err := state.Home()
	if err != nil {
		return err
	}
	var part *share.Fleet
	if w.fleet.URL != "" {
		machine, err := os.Hostname()
		if err != nil {
			return err
		}
		part = &share.Fleet{Socket: socket, Machine: machine, OnPartition: w.posture}
	}
	if err := share.Join(home, part); err != nil {
		return err
	}
	if w.fleet.URL == "" {
		if _, err := os.Stat(decide.WorkFolder(home)); errors.Is(err, os.ErrNotExist) {
			return nil
		}
	}
	return w.open(home)
}

// open opens the queue; mu is held.
func (w *workFlags) open(home string) error {
	machine, err := os.Hostname()
	if err != nil {
		return err
	}
	if w.fleet.URL != "" {
		if w.remote, err = w.fleet.Connect("hookcd " + machine); err != nil {
			return err
		}
		w.shared = kv.Open(w.remote)
	}
	w.queue, err = queue.Open(queue.Options{Dir: decide.WorkFolder(home), Machine: machine, Fleet: w.remote, PutOnly: w.putOnly, Run: w.run, Say: saying(w.say)})
	if err != nil && w.remote != nil {
		w.shared.Close()
		w.remote.Close()
	}
	return err
}

// share carries out what a process of this machine asks of what the fleet shares.
func (w *workFlags) share(ctx context.Context, r *share.Request) *share.Reply {
	w.mu.Lock()
	shared := w.shared
	w.mu.Unlock()
	if shared == nil {
		return &share.Reply{Away: "hookcd serve runs without --nats"}
	}
	return shared.Do(ctx, r)
}

// put keeps a durable hook until it has run.
func (w *workFlags) put(ctx context.Context, h *decide.HandOver) error {
	w.mu.Lock()
	home, err := state.Home()
	switch {
	case w.ended:
		err = errors.New("hookcd is ending")
	case err == nil && w.queue == nil:
		err = w.open(home)
	}
	q := w.queue
	w.mu.Unlock()
	if err != nil {
		return err
	}
	return q.Put(ctx, h)
}

func (w *workFlags) end() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ended = true
	if w.queue != nil {
		w.queue.Close()
	}
	if w.remote != nil {
		w.shared.Close()
		w.remote.Close()
	}
}

// run has hookc run a hook to its end, in a process of its own.
func (w *workFlags) run(ctx context.Context, h *decide.HandOver) error {
	request, err := json.Marshal(h)
	if err != nil {
		return err
	}
	var stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, w.program, "supervise")
	cmd.Stderr = &stderr
	in, err := cmd.StdinPipe() // open as long as this process lives
	if err != nil {
		return err
	}
	cmd.Env = append(os.Environ(), decide.WorkVariable+"="+h.ID)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = endTime
	if err := cmd.Start(); err != nil {
		return err
	}
	_, unsent := in.Write(request)
	if err := errors.Join(cmd.Wait(), unsent); err != nil {
		text := strings.TrimSpace(stderr.String())
		return errors.New(cmp.Or(text[max(0, len(text)-maxError):], err.Error()))
	}
	return nil
}

// maxError bounds what is kept of why a hook failed, in bytes.
const maxError = 2000
