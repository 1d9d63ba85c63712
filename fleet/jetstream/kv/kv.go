// Package kv keeps what the machines of a fleet share, approvals and counts, in a
// key-value bucket of the fleet's NATS. A value is read from the leader of the bucket, and
// written only where its revision is still the one that was read.
package kv

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/hookc/hookc/fleet/jetstream/link"
	"github.com/hookc/hookc/internal/share"
)

const (
	bucket = "hookc_shared"
	// keep is how long a value stays that nobody writes.
	keep = 30 * 24 * time.Hour
	// callTime bounds one request to NATS: a posture holds after it.
	callTime = 1500 * time.Millisecond
	// againAfter is when a watch that failed is begun again.
	againAfter = 250 * time.Millisecond
	// maxBytes bounds the bucket; what finds no room is refused.
	maxBytes = 256 << 20
)

// Shared carries out requests. It is safe for concurrent use.
type Shared struct {
	link    *link.Link
	stop    context.CancelFunc
	running sync.WaitGroup

	opening sync.Mutex
	bucket  jetstream.KeyValue

	mu     sync.Mutex
	latest uint64        // the revision of the last change seen
	news   chan struct{} // is closed by the next
}

// Open begins to watch what others change.
func Open(l *link.Link) *Shared {
	ctx, stop := context.WithCancel(context.Background())
	s := &Shared{link: l, stop: stop, news: make(chan struct{})}
	s.running.Go(func() { s.watch(ctx) })
	return s
}

// Close ends the watch.
func (s *Shared) Close() {
	s.stop()
	s.running.Wait()
}

// ready is the bucket, made where there is none.
func (s *Shared) ready(ctx context.Context) (jetstream.KeyValue, error) {
	if err := s.link.Away(); err != nil {
		return nil, err
	}
	s.opening.Lock()
	defer s.opening.Unlock()
	if s.bucket != nil {
		return s.bucket, nil
	}
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	b, err := s.link.Bucket(ctx, bucket, keep, maxBytes)
	if err == nil {
		s.bucket = b
	}
	return b, err
}

// watch notes each change, until ctx ends.
func (s *Shared) watch(ctx context.Context) {
	for ctx.Err() == nil {
		if b, err := s.ready(ctx); err == nil {
			if w, err := b.WatchAll(ctx, jetstream.MetaOnly()); err == nil {
				s.follow(ctx, w)
				_ = w.Stop() // what follows begins another
			}
		}
		select {
		case <-ctx.Done():
		case <-time.After(againAfter):
		}
	}
}

// follow notes what a watch says, until the connection is lost.
func (s *Shared) follow(ctx context.Context, w jetstream.KeyWatcher) {
	look := time.NewTicker(againAfter)
	defer look.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-look.C:
			if s.link.Away() != nil {
				return
			}
		case e, ok := <-w.Updates():
			if !ok {
				return
			}
			if e != nil {
				s.note(e.Revision())
			}
		}
	}
}

func (s *Shared) note(revision uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if revision > s.latest {
		s.latest = revision
		close(s.news)
		s.news = make(chan struct{})
	}
}

// Do carries out one request.
func (s *Shared) Do(ctx context.Context, r *share.Request) *share.Reply {
	if r.Do == share.Wait {
		return s.wait(ctx, r.Revision)
	}
	out, err := s.do(ctx, r)
	if err != nil { // the bucket may be gone
		s.opening.Lock()
		s.bucket = nil
		s.opening.Unlock()
	}
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return &share.Reply{Away: "the fleet's NATS does not answer, or has lost most of its servers"}
	case err != nil:
		return &share.Reply{Away: err.Error()}
	}
	return out
}

func (s *Shared) do(ctx context.Context, r *share.Request) (*share.Reply, error) {
	b, err := s.ready(ctx)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	switch r.Do {
	case share.Get:
		e, err := b.Get(ctx, r.Key)
		switch {
		case errors.Is(err, jetstream.ErrKeyNotFound):
			return &share.Reply{}, nil
		case err != nil:
			return nil, err
		}
		return &share.Reply{Value: e.Value(), Revision: e.Revision()}, nil
	case share.Put:
		revision, err := b.Update(ctx, r.Key, r.Value, r.Revision)
		if errors.Is(err, jetstream.ErrKeyRevisionMismatch) {
			return &share.Reply{Changed: true}, nil
		}
		return &share.Reply{Revision: revision}, err
	case share.All:
		return all(ctx, b, r.Key)
	}
	return nil, errors.New("unknown request " + r.Do)
}

// all are the values below a prefix that ends in a dot.
func all(ctx context.Context, b jetstream.KeyValue, prefix string) (*share.Reply, error) {
	w, err := b.Watch(ctx, prefix+">", jetstream.IgnoreDeletes())
	if err != nil {
		return nil, err
	}
	defer func() { _ = w.Stop() }() // it has told what was asked
	out := &share.Reply{Values: map[string][]byte{}}
	for {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case e, ok := <-w.Updates():
			switch {
			case !ok:
				return nil, errors.New("the fleet's NATS broke off")
			case e == nil:
				return out, nil
			}
			out.Values[e.Key()] = e.Value()
		}
	}
}

// wait answers as soon as anything is newer than a revision, or share.WaitTime is over.
func (s *Shared) wait(ctx context.Context, revision uint64) *share.Reply {
	ctx, cancel := context.WithTimeout(ctx, share.WaitTime)
	defer cancel()
	for {
		s.mu.Lock()
		latest, news := s.latest, s.news
		s.mu.Unlock()
		if latest != revision {
			return &share.Reply{Revision: latest}
		}
		select {
		case <-ctx.Done():
			return &share.Reply{Revision: latest}
		case <-news:
		}
	}
}
