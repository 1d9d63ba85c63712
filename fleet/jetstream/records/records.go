// Package records sends the record of decisions to a stream of the fleet's NATS: one
// message an entry, for whoever reads the stream.
package records

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/hookc/hookc/fleet/jetstream/link"
	"github.com/hookc/hookc/fleet/ship"
)

// The stream. One of this name that is there already is used as it is.
const (
	Stream  = "HOOKC_LOG"
	subject = "hookc.log."
)

// The headers of a message, beside the id by which JetStream knows it again.
const (
	HeaderMachine = "Hookc-Machine"
	HeaderUser    = "Hookc-User"
	// HeaderCut says what an entry was sent without, since it was too large.
	HeaderCut = "Hookc-Cut"
)

const (
	// keep and maxBytes bound the stream where this package makes it. What finds no room
	// is refused, and waits on the disk of its machine.
	keep     = 7 * 24 * time.Hour
	maxBytes = 1 << 30
	// dedupeFor is how long JetStream knows an entry again that is sent twice.
	dedupeFor = 10 * time.Minute
	// callTime bounds one list.
	callTime = 10 * time.Second
	// frame is what a message has beside its entry at most, in bytes: subject and headers.
	frame = 2048
	// tooLarge is JetStream's code for a message above the bound of its stream.
	tooLarge jetstream.ErrorCode = 10054
)

// Sink is a [ship.Sink]. A list is on the disk of most servers when Ship returns nil.
type Sink struct {
	link    *link.Link
	machine string
	known   bool
	refused uint64
}

// New sends what is shipped by a connection; machine is what this machine is called.
func New(l *link.Link, machine string) *Sink { return &Sink{link: l, machine: machine} }

// Refused is how many entries the stream did not take, not even without their input.
func (s *Sink) Refused() uint64 { return s.refused }

// Ship sends a list. An entry above what NATS or the stream takes goes without what the
// call and its hooks said.
func (s *Sink) Ship(ctx context.Context, list []ship.Decision) error {
	if err := s.link.Away(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	if err := s.open(ctx); err != nil {
		return err
	}
	large, err := s.publish(ctx, list, s.whole)
	if err == nil && len(large) > 0 {
		large, err = s.publish(ctx, large, s.cut)
	}
	if err != nil {
		s.known = false // the stream may be gone
		return err
	}
	s.refused += uint64(len(large))
	return nil
}

// open makes the stream where there is none.
func (s *Sink) open(ctx context.Context) error {
	if s.known {
		return nil
	}
	_, err := s.link.JS.Stream(ctx, Stream)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		_, err = s.link.JS.CreateStream(ctx, jetstream.StreamConfig{Name: Stream, Subjects: []string{subject + ">"}, Storage: jetstream.FileStorage,
			Replicas: s.link.Replicas, Discard: jetstream.DiscardNew, MaxAge: keep, MaxBytes: maxBytes, Duplicates: dedupeFor})
		if errors.Is(err, jetstream.ErrStreamNameAlreadyInUse) { // another machine was faster
			err = nil
		}
	}
	if err != nil {
		return fmt.Errorf("the stream %s: %w", Stream, err)
	}
	s.known = true
	return nil
}

// publish sends all of a list and waits until all are kept; large are those that are not,
// because they are too large.
func (s *Sink) publish(ctx context.Context, list []ship.Decision, as func(ship.Decision) (*nats.Msg, error)) (large []ship.Decision, err error) {
	type sent struct {
		d  ship.Decision
		is jetstream.PubAckFuture
	}
	var under []sent
	for _, d := range list {
		m, err := as(d)
		if err != nil {
			return nil, err
		}
		if int64(len(m.Data)) > s.link.Conn.MaxPayload()-frame {
			large = append(large, d)
			continue
		}
		f, err := s.link.JS.PublishMsgAsync(m, jetstream.WithMsgID(d.ID))
		if err != nil {
			return nil, err
		}
		under = append(under, sent{d, f})
	}
	for _, each := range under {
		select {
		case <-ctx.Done():
			return nil, errors.New("the fleet's NATS does not answer, or has lost most of its servers")
		case <-each.is.Ok():
		case err := <-each.is.Err():
			var answer *jetstream.APIError
			if !errors.As(err, &answer) || answer.ErrorCode != tooLarge {
				return nil, fmt.Errorf("the stream %s: %w", Stream, err)
			}
			large = append(large, each.d)
		}
	}
	return large, nil
}

// whole is an entry as the record has it.
func (s *Sink) whole(d ship.Decision) (*nats.Msg, error) {
	data, err := json.Marshal(d.Entry)
	action, _ := d.Result["action"].(string)
	m := nats.NewMsg(subject + token(d.Path) + "." + token(action))
	m.Data = data
	m.Header.Set(HeaderMachine, s.machine)
	m.Header.Set(HeaderUser, d.User)
	return m, err
}

// cut is an entry without what makes it large.
func (s *Sink) cut(d ship.Decision) (*nats.Msg, error) {
	m, err := s.whole(d.Cut())
	m.Header.Set(HeaderCut, ship.CutNote)
	return m, err
}

// token is a text as one part of a subject.
func token(text string) string {
	if text == "" {
		return "none"
	}
	return strings.Map(func(r rune) rune {
		if r == '-' || r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '_'
	}, text)
}
