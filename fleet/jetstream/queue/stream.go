package queue

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/hookc/hookc/fleet/jetstream/link"
	"github.com/hookc/hookc/internal/decide"
)

// The streams, of one machine or of a fleet. Work is gone from the first when it has run;
// the second keeps what failed too often; the bucket has a key for each run that ended.
const (
	workStream  = "HOOKC_WORK"
	workSubject = "hookc.work"
	deadStream  = "HOOKC_DEAD"
	deadSubject = "hookc.dead."
	doneBucket  = "hookc_done"
	consumer    = "hookcd"
)

const (
	// dedupeFor is how long JetStream refuses work of the same id; keepDone how long it
	// is known that it has run; keepDead how long a dead letter stays.
	dedupeFor = 10 * time.Minute
	keepDone  = 7 * 24 * time.Hour
	keepDead  = 30 * 24 * time.Hour
	// maxDead bounds the dead letters that are kept, showDead those that are shown.
	maxDead  = 10_000
	showDead = 20
	// maxWork bounds what waits, in bytes: what finds no room is refused.
	maxWork = 256 << 20
	// callTime bounds one request to JetStream.
	callTime = 5 * time.Second
)

// place is one JetStream with the streams of the queue, made when it is first reached.
type place struct {
	*link.Link
	ackWait time.Duration

	mu   sync.Mutex
	work jetstream.Consumer
	dead jetstream.Stream
	done jetstream.KeyValue
}

// ready makes the streams, unless they are known already.
func (p *place) ready(ctx context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.work != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	_, err := p.JS.CreateOrUpdateStream(ctx, jetstream.StreamConfig{Name: workStream, Subjects: []string{workSubject}, Retention: jetstream.WorkQueuePolicy,
		Storage: jetstream.FileStorage, Duplicates: dedupeFor, Replicas: p.Replicas, Discard: jetstream.DiscardNew, MaxBytes: maxWork})
	if err != nil {
		return err
	}
	dead, err := p.JS.CreateOrUpdateStream(ctx, jetstream.StreamConfig{Name: deadStream, Subjects: []string{deadSubject + ">"}, MaxMsgsPerSubject: 1,
		Storage: jetstream.FileStorage, Replicas: p.Replicas, MaxAge: keepDead, MaxMsgs: maxDead})
	if err != nil {
		return err
	}
	done, err := p.Bucket(ctx, doneBucket, keepDone, 0)
	if err != nil {
		return err
	}
	work, err := p.JS.CreateOrUpdateConsumer(ctx, workStream, jetstream.ConsumerConfig{Durable: consumer, AckPolicy: jetstream.AckExplicitPolicy,
		AckWait: p.ackWait, MaxDeliver: -1, MaxAckPending: 1000, Replicas: p.Replicas})
	if err != nil {
		return err
	}
	p.dead, p.done, p.work = dead, done, work
	return nil
}

// put has an item kept: it is on the disk of most servers when there is no error.
func (p *place) put(ctx context.Context, id string, data []byte) error {
	if err := p.Away(); err != nil {
		return err
	}
	if err := p.ready(ctx); err != nil {
		return err
	}
	_, err := p.JS.Publish(ctx, workSubject, data, jetstream.WithMsgID(id), jetstream.WithRetryAttempts(0))
	return err
}

// ran reports whether the run of an id has ended already.
func (p *place) ran(ctx context.Context, id string) (bool, error) {
	_, err := p.done.Get(ctx, id)
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return false, nil
	}
	return err == nil, err
}

// bury keeps a dead letter; a second one of the same id takes its place.
func (p *place) bury(ctx context.Context, l *decide.DeadLetter) error {
	data, err := json.Marshal(l)
	if err != nil {
		return err
	}
	_, err = p.JS.Publish(ctx, deadSubject+l.ID, data)
	return err
}

// letters are the last dead letters, the last first.
func (p *place) letters(ctx context.Context) ([]decide.DeadLetter, error) {
	info, err := p.dead.Info(ctx)
	if err != nil {
		return nil, err
	}
	var out []decide.DeadLetter
	for seq := info.State.LastSeq; seq >= max(info.State.FirstSeq, 1) && len(out) < showDead && info.State.Msgs > uint64(len(out)); seq-- {
		m, err := p.dead.GetMsg(ctx, seq)
		if errors.Is(err, jetstream.ErrMsgNotFound) { // one of the same id came later
			continue
		}
		if err != nil {
			return nil, err
		}
		var l decide.DeadLetter
		if err := json.Unmarshal(m.Data, &l); err != nil {
			return nil, err
		}
		out = append(out, l)
	}
	return out, nil
}

// waiting is how much work has not run yet.
func (p *place) waiting(ctx context.Context) (int, error) {
	info, err := p.work.Info(ctx)
	if err != nil {
		return 0, err
	}
	return int(info.NumPending) + info.NumAckPending, nil
}

// status adds what is known of this place.
func (p *place) status(ctx context.Context) (waiting int, dead []decide.DeadLetter, err error) {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	if err := p.Away(); err != nil {
		return 0, nil, err
	}
	if err = p.ready(ctx); err == nil {
		waiting, err = p.waiting(ctx)
	}
	if err == nil {
		dead, err = p.letters(ctx)
	}
	return waiting, dead, err
}

func lastFirst(a, b decide.DeadLetter) int {
	return cmp.Or(b.At.Compare(a.At), cmp.Compare(a.ID, b.ID))
}
