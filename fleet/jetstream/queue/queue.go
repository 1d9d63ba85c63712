// Package queue keeps durable hooks in JetStream until they have run: on this machine's
// disk, or, those that any machine of a fleet can run, in the fleet's NATS. What is
// acknowledged is run at least once; whoever ran it marks that, so that it is run twice
// only where a machine dies between the two.
package queue

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/hookc/hookc/executor/durable"
	"github.com/hookc/hookc/fleet/jetstream/link"
	"github.com/hookc/hookc/internal/decide"
)

// Options are how a queue is kept. Dir and Run are required.
type Options struct {
	// Dir is the folder of this machine's queue.
	Dir string
	// Machine names this machine to people.
	Machine string
	// Fleet is the NATS of the fleet; it may be nil.
	Fleet *link.Link
	// Run runs one hook to its end; the error says why it failed. It ends with ctx.
	Run func(ctx context.Context, h *decide.HandOver) error
	// PutOnly has this machine run nothing of what the fleet shares.
	PutOnly bool
	// Workers is how many run at a time, 0 for 4.
	Workers int
	// AckWait is after how long without a sign of life work is given to another machine,
	// 0 for 30 seconds.
	AckWait time.Duration
	// Backoff is how long work that failed waits: after the last it is a dead letter. nil is
	// the standard.
	Backoff []time.Duration
	// Say is told what a person must know; nil is nobody.
	Say func(format string, args ...any)
}

var standardBackoff = []time.Duration{time.Second, 10 * time.Second, time.Minute, 10 * time.Minute, time.Hour}

// remoteTime is how long the fleet's NATS may take to keep an item before it is kept here.
const remoteTime = 1500 * time.Millisecond

// statusEvery is how often the file that people read is written.
const statusEvery = time.Second

// Queue keeps durable hooks. It is safe for concurrent use.
type Queue struct {
	o       Options
	local   *place
	fleet   *place // nil without a fleet
	stop    context.CancelFunc
	running sync.WaitGroup
	// unmarked are the ids of what has run here while JetStream took no mark of it: it
	// comes again, and is marked then.
	unmarked sync.Map
}

// Open opens the queue, and begins to run what is in it.
func Open(o Options) (*Queue, error) {
	if o.Workers <= 0 {
		o.Workers = 4
	}
	if o.AckWait <= 0 {
		o.AckWait = 30 * time.Second
	}
	if o.Backoff == nil {
		o.Backoff = standardBackoff
	}
	if o.Say == nil {
		o.Say = func(string, ...any) {}
	}
	inside, err := link.Embedded(filepath.Join(o.Dir, "jetstream"))
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(context.Background())
	q := &Queue{o: o, local: &place{Link: inside, ackWait: o.AckWait}, stop: stop}
	// What is under way here is of a hookcd that has ended: it is taken over at once.
	if err := inside.JS.DeleteConsumer(ctx, workStream, consumer); err != nil && !errors.Is(err, jetstream.ErrConsumerNotFound) && !errors.Is(err, jetstream.ErrStreamNotFound) {
		q.Close()
		return nil, err
	}
	if err := q.local.ready(ctx); err != nil {
		q.Close()
		return nil, err
	}
	q.running.Go(func() { q.work(ctx, q.local, q.here) })
	if o.Fleet != nil {
		q.fleet = &place{Link: o.Fleet, ackWait: o.AckWait}
		if !o.PutOnly {
			q.running.Go(func() { q.work(ctx, q.fleet, q.run) })
		}
	}
	q.running.Go(func() { q.report(ctx) })
	return q, nil
}

// Close ends it. What is being run is broken off, and run again.
func (q *Queue) Close() {
	q.stop()
	q.running.Wait()
	q.local.Close()
}

// Put keeps a hook until it has run. A NotKeptError says that it waits on this machine for
// a fleet that cannot be reached.
func (q *Queue) Put(ctx context.Context, h *decide.HandOver) error {
	if h.ID == "" || strings.Trim(h.ID, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz") != "" {
		return fmt.Errorf("%q cannot name work", h.ID)
	}
	data, err := json.Marshal(h)
	if err != nil {
		return err
	}
	if !q.shared(h) {
		return q.local.put(ctx, h.ID, data)
	}
	limited, cancel := context.WithTimeout(ctx, remoteTime)
	defer cancel()
	away := q.fleet.put(limited, h.ID, data)
	if away == nil {
		return nil
	}
	if err := q.local.put(ctx, h.ID, data); err != nil {
		return err
	}
	return &durable.NotKeptError{Why: fmt.Sprintf("it waits on this machine until the fleet's NATS keeps it: %v", away)}
}

// shared reports whether a hook is for any machine of the fleet.
func (q *Queue) shared(h *decide.HandOver) bool { return q.fleet != nil && h.Managed }

// here is what becomes of work on this machine: what the fleet shares goes there.
func (q *Queue) here(ctx context.Context, h *decide.HandOver) error {
	if !q.shared(h) {
		return q.run(ctx, h)
	}
	data, err := json.Marshal(h)
	if err != nil {
		return err
	}
	limited, cancel := context.WithTimeout(ctx, remoteTime)
	defer cancel()
	err = q.fleet.put(limited, h.ID, data)
	switch {
	case errors.Is(err, nats.ErrMaxPayload): // it will never keep that
		return q.run(ctx, h)
	case err != nil:
		return &laterError{err}
	}
	return nil
}

func (q *Queue) run(ctx context.Context, h *decide.HandOver) error {
	if q.shared(h) { // of another machine only the event and the name of the hook count
		h = &decide.HandOver{Event: h.Event, Hook: h.Hook, Input: h.Input, Dir: string(filepath.Separator), Durable: true, ID: h.ID, Managed: true}
	}
	return q.o.Run(ctx, h)
}

// laterError is work that has not failed, and is to be tried again.
type laterError struct{ error }

// laterAfter is when.
const laterAfter = time.Second

// work runs what a place gives, until ctx ends.
func (q *Queue) work(ctx context.Context, p *place, do func(context.Context, *decide.HandOver) error) {
	free := make(chan struct{}, q.o.Workers)
	var workers sync.WaitGroup
	defer workers.Wait()
	told := ""
	for ctx.Err() == nil {
		err := p.ready(ctx)
		if err == nil {
			err = q.take(ctx, p, free, &workers, do)
		}
		if err == nil || ctx.Err() != nil {
			told = ""
			continue
		}
		if told != err.Error() {
			told = err.Error()
			q.o.Say("the queue: %s", told)
		}
		sleep(ctx, laterAfter)
	}
}

// take runs one more item, once there is one and somebody is free.
func (q *Queue) take(ctx context.Context, p *place, free chan struct{}, workers *sync.WaitGroup, do func(context.Context, *decide.HandOver) error) error {
	select {
	case <-ctx.Done():
		return nil
	case free <- struct{}{}:
	}
	got, err := p.work.Fetch(1, jetstream.FetchMaxWait(2*time.Second))
	var m jetstream.Msg
	if err == nil {
		m = <-got.Messages()
		err = got.Error()
	}
	if m == nil {
		<-free
		if errors.Is(err, jetstream.ErrConsumerNotFound) || errors.Is(err, jetstream.ErrConsumerDeleted) {
			p.forget()
		}
		return err
	}
	workers.Go(func() {
		defer func() { <-free }()
		if err := q.one(ctx, p, m, do); err != nil && ctx.Err() == nil {
			q.o.Say("the queue: %v", err)
		}
	})
	return nil
}

func (p *place) forget() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.work = nil
}

// one runs one item. An error is of JetStream: the item comes again.
func (q *Queue) one(ctx context.Context, p *place, m jetstream.Msg, do func(context.Context, *decide.HandOver) error) error {
	meta, err := m.Metadata()
	if err != nil {
		return err
	}
	attempt := int(meta.NumDelivered)
	var h decide.HandOver
	if err := json.Unmarshal(m.Data(), &h); err != nil || h.ID == "" || p != q.local && !h.Managed {
		q.o.Say("the queue: an item that hookcd did not write is taken out (%v)", err)
		return m.Term()
	}
	if _, ran := q.unmarked.Load(h.ID); ran {
		return q.ended(ctx, p, m, h.ID)
	}
	if ran, err := p.ran(ctx, h.ID); ran || err != nil {
		if err == nil {
			err = m.DoubleAck(ctx)
		}
		return err
	}
	failed := errors.New("whoever ran it ended before it did")
	if attempt <= len(q.o.Backoff)+1 || p == q.local && q.shared(&h) {
		failed = q.held(ctx, p, m, func(ctx context.Context) error { return do(ctx, &h) })
	}
	var later *laterError
	switch {
	case failed == nil:
		return q.ended(ctx, p, m, h.ID)
	case ctx.Err() != nil: // hookcd ends: another one, or the next, takes it over at once
		return m.Nak()
	case errors.As(failed, &later):
		return m.NakWithDelay(laterAfter)
	case attempt <= len(q.o.Backoff):
		return m.NakWithDelay(q.o.Backoff[attempt-1])
	}
	l := &decide.DeadLetter{ID: h.ID, Event: h.Event, Hook: h.Hook, Machine: q.o.Machine, Attempts: min(attempt, len(q.o.Backoff)+1), Error: failed.Error(), At: time.Now().UTC()}
	if err := p.bury(ctx, l); err != nil {
		return err
	}
	q.o.Say("the queue: %s on %s failed %d times and is a dead letter: %v", h.Hook, h.Event, l.Attempts, failed)
	return m.DoubleAck(ctx)
}

// ended marks an item as run, and has it taken out. Servers may change their leader
// meanwhile: the mark is tried until the item would be given to others anyway.
func (q *Queue) ended(ctx context.Context, p *place, m jetstream.Msg, id string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), q.o.AckWait)
	defer cancel()
	q.unmarked.Store(id, true)
	for {
		try, cancel := context.WithTimeout(ctx, q.o.AckWait/6) // who hangs answers nothing, and another one leads meanwhile
		_, err := p.done.Put(try, id, []byte(q.o.Machine))
		cancel()
		if err == nil {
			q.unmarked.Delete(id)
			return m.DoubleAck(ctx)
		}
		if ctx.Err() != nil {
			return fmt.Errorf("%s has run and cannot be marked as run: %w", id, err)
		}
		_ = m.InProgress() // the next mark says whether JetStream is there
		sleep(ctx, q.o.AckWait/100)
	}
}

// held runs an item and keeps it from being given to others. Where JetStream does not
// answer for so long that it will be, the run is broken off.
func (q *Queue) held(ctx context.Context, p *place, m jetstream.Msg, run func(context.Context) error) error {
	ctx, broken := context.WithCancelCause(ctx)
	ended := make(chan struct{})
	var beat sync.WaitGroup
	beat.Go(func() {
		last := time.Now()
		tick := time.NewTicker(q.o.AckWait / 6)
		defer tick.Stop()
		for {
			select {
			case <-ended:
				return
			case <-tick.C:
			}
			err := m.InProgress()
			if err == nil {
				err = p.Conn.FlushTimeout(q.o.AckWait / 6)
			}
			if err == nil {
				last = time.Now()
			} else if time.Since(last) > q.o.AckWait/2 {
				broken(fmt.Errorf("JetStream does not answer, and another machine takes the work over: %w", err))
				return
			}
		}
	})
	err := run(ctx)
	close(ended)
	beat.Wait()
	if why := context.Cause(ctx); why != nil && err != nil {
		err = why
	}
	broken(nil)
	return err
}

// report writes what people read, when it is another.
func (q *Queue) report(ctx context.Context) {
	before := ""
	for ; ctx.Err() == nil; sleep(ctx, statusEvery) {
		w := q.Status(ctx)
		w.At = time.Time{}
		now, err := json.Marshal(w)
		if err != nil || string(now) == before {
			continue
		}
		w.At = time.Now().UTC()
		if err := q.write(w); err != nil {
			q.o.Say("the queue: its status cannot be written: %v", err)
			continue
		}
		before = string(now)
	}
}

func (q *Queue) write(w *decide.Work) error {
	data, err := json.Marshal(w)
	if err != nil {
		return err
	}
	path := filepath.Join(q.o.Dir, "status.json")
	if err := os.WriteFile(path+".new", data, 0o600); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

// Status is what is in the queue.
func (q *Queue) Status(ctx context.Context) *decide.Work {
	w := &decide.Work{At: time.Now().UTC()}
	var err error
	if w.Waiting, w.Dead, err = q.local.status(ctx); err != nil {
		w.Trouble = err.Error()
	}
	if q.fleet != nil {
		n, dead, err := q.fleet.status(ctx)
		if err != nil {
			w.Trouble = err.Error()
		}
		w.Elsewhere, w.Dead = n, append(w.Dead, dead...)
	}
	slices.SortFunc(w.Dead, lastFirst)
	w.Dead = w.Dead[:min(len(w.Dead), showDead)]
	return w
}

func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
