// Package ship hands the record of decisions on to whoever collects it. The record on the
// disk is the buffer: a cursor says how far it was taken, and moves on only when a sink has
// what was sent. So a crash or a dead network loses nothing, and may send an entry again:
// its decision_id tells. What the record's own bounds take away before it was sent is
// counted.
package ship

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"sync"
	"time"

	"github.com/hookc/hookc/internal/decisionlog"
)

// The bounds of what is in memory at a time.
const (
	maxEntries = 2000
	maxBytes   = 8 << 20
)

// Log is the record of one user.
type Log struct{ User, Dir string }

// Decision is one entry of a user's record.
type Decision struct {
	User string
	*decisionlog.Entry
}

// CutNote says what [Decision.Cut] took away.
const CutNote = "input, answers, grant and most of result: the entry is larger than the sink takes"

// Cut is an entry without what makes it large: what the call and its hooks said.
func (d Decision) Cut() Decision {
	small := *d.Entry
	small.Input = map[string]any{"event": d.Path, "tool_name": d.Input["tool_name"]}
	small.Result = map[string]any{"action": d.Result["action"], "by": d.Result["by"], "verdict": d.Result["verdict"]}
	small.Answers, small.Grant, small.Masked, small.Erased = nil, nil, nil, nil
	return Decision{d.User, &small}
}

// Sink takes decisions. An error has the same list handed over again later.
type Sink interface {
	Ship(ctx context.Context, list []Decision) error
}

// Counts are what became of the record.
type Counts struct {
	// Shipped are entries that the sink has, Failed how often it did not take them.
	Shipped uint64 `json:"shipped"`
	Failed  uint64 `json:"failed,omitempty"`
	// Missing are entries that were taken away or damaged before they were shipped, Lost
	// decisions for which the record had no room, Refused entries that the sink's own
	// rules did not let out.
	Missing uint64 `json:"missing,omitempty"`
	Lost    uint64 `json:"lost,omitempty"`
	Refused uint64 `json:"refused,omitempty"`
	// Error is why the last try failed, "" when it did not.
	Error string `json:"error,omitempty"`
}

// Shipper ships the records of a machine to one sink.
type Shipper struct {
	Sink Sink
	// Logs are the records there are now.
	Logs func() []Log
	// Cursor is the file that keeps how far they were shipped.
	Cursor string
	// Delay is how long to wait after all was shipped, between least and most. Both 0
	// say that nothing is shipped now.
	Delay func() (least, most time.Duration)
	// Say is told what goes wrong.
	Say func(format string, args ...any)

	mu      sync.Mutex
	counts  Counts
	cursor  map[string]map[int]decisionlog.Position
	pending []batch
}

// batch is what was read of one record and not shipped yet.
type batch struct {
	dir  string
	list []Decision
	to   map[int]decisionlog.Position
	lost uint64
	size int
}

var errFull = errors.New("enough for one batch")

// Counts are what became of the record until now.
func (s *Shipper) Counts() Counts {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.counts
}

// Run ships until ctx ends, and then once more what is there, for at most last.
func (s *Shipper) Run(ctx context.Context, last time.Duration) {
	s.open()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for tries := 0; ; {
		select {
		case <-ctx.Done():
			final, cancel := context.WithTimeout(context.WithoutCancel(ctx), last)
			defer cancel()
			for more := true; more && final.Err() == nil; {
				var err error
				if more, err = s.round(final); err != nil {
					return
				}
			}
			return
		case <-timer.C:
		}
		more, err := s.round(ctx)
		least, most := s.Delay()
		wait := least + time.Duration(rand.Float64()*float64(most-least))
		switch {
		case err != nil:
			tries++
			wait = min(100*time.Millisecond<<min(tries, 16), max(most, time.Second))
			wait = wait/2 + time.Duration(rand.Float64()*float64(wait/2))
		case more:
			tries, wait = 0, 0
		case most == 0:
			wait = time.Second
		default:
			tries = 0
		}
		timer.Reset(wait)
	}
}

// open reads the cursor. Without one the record is shipped from its beginning.
func (s *Shipper) open() {
	s.cursor = map[string]map[int]decisionlog.Position{}
	text, err := os.ReadFile(s.Cursor)
	if err == nil {
		err = json.Unmarshal(text, &s.cursor)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		s.cursor = map[string]map[int]decisionlog.Position{}
		s.Say("the record is shipped from its beginning again: %s: %v", s.Cursor, err)
	}
}

// round ships one batch of each record; more is whether there may be more at once.
func (s *Shipper) round(ctx context.Context) (more bool, err error) {
	if _, most := s.Delay(); most == 0 {
		return false, nil
	}
	if len(s.pending) == 0 {
		more = s.read()
	} else {
		more = true
	}
	for len(s.pending) > 0 {
		b := s.pending[0]
		if len(b.list) > 0 {
			err = s.Sink.Ship(ctx, b.list)
		}
		s.note(b, err)
		if err != nil {
			s.Say("decisions were not shipped, and stay in the record: %v", err)
			return true, err
		}
		s.pending = s.pending[1:]
		if s.cursor[b.dir] == nil {
			s.cursor[b.dir] = map[int]decisionlog.Position{}
		}
		maps.Copy(s.cursor[b.dir], b.to)
		if err := s.keep(); err != nil {
			s.Say("how far the record was shipped is not kept, so it may be sent again: %v", err)
		}
	}
	return more, nil
}

func (s *Shipper) note(b batch, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		s.counts.Failed++
		s.counts.Error = err.Error()
		return
	}
	s.counts.Error = ""
	s.counts.Shipped += uint64(len(b.list))
	s.counts.Lost += b.lost
	if r, ok := s.Sink.(interface{ Refused() uint64 }); ok {
		all := r.Refused()
		s.counts.Shipped, s.counts.Refused = s.counts.Shipped-(all-s.counts.Refused), all
	}
}

// read reads what comes next in each record; full is whether one has more.
func (s *Shipper) read() (full bool) {
	for _, l := range s.Logs() {
		b := batch{dir: l.Dir, to: map[int]decisionlog.Position{}}
		missing, err := decisionlog.After(l.Dir, s.cursor[l.Dir], func(writer int, at decisionlog.Position, e *decisionlog.Entry) error {
			if len(b.list) >= maxEntries || b.size >= maxBytes {
				return errFull
			}
			if before, ok := b.to[writer]; ok && before.Segment == at.Segment && at.At > before.At {
				b.size += int(at.At - before.At)
			}
			switch e.Type {
			case "decision":
				b.list = append(b.list, Decision{l.User, e})
			case "lost":
				b.lost += uint64(e.Count)
			}
			b.to[writer] = at
			return nil
		})
		if missing > 0 {
			s.Say("%s: %d entries were taken away or damaged before they were shipped", l.Dir, missing)
			s.mu.Lock()
			s.counts.Missing += missing
			s.mu.Unlock()
		}
		if errors.Is(err, errFull) {
			full = true
		} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
			s.Say("%s: %v", l.Dir, err)
		}
		if len(b.to) > 0 {
			s.pending = append(s.pending, b)
		}
	}
	return full
}

// keep writes the cursor, in one step that survives a loss of power.
func (s *Shipper) keep() (err error) {
	text, err := json.Marshal(s.cursor)
	if err != nil {
		return err
	}
	at := s.Cursor + ".new"
	f, err := os.OpenFile(at, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("%w", errors.Join(err, os.Remove(at)))
	}
	return os.Rename(at, s.Cursor)
}
