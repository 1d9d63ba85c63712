// Package ahead has the lines of files and of the decision log looked at on all cores,
// ahead of their turn, and then taken in their order, in bounded memory.
package ahead

import (
	"bytes"
	"context"
	"errors"
	"io"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/hookc/hookc/internal/decide"
	"github.com/hookc/hookc/internal/decisionlog"
	"github.com/hookc/hookc/internal/fault"
	"github.com/hookc/hookc/internal/lists"
)

// Batch is some lines of a file, with their ends.
type Batch struct {
	// Name is that of the file.
	Name string
	// Done is what was found ahead.
	Done any

	text []byte
	// again says that text may be used for others.
	again bool
	// ends are where the lines end in text, numbers which lines of the file they are.
	ends, numbers []int
	ready         chan struct{}
}

// spare are batches whose memory is used again.
var spare = sync.Pool{New: func() any { return new(Batch) }}

// size is how much of a file goes together, in bytes.
const size = 128 << 10

// Len is how many lines there are.
func (b *Batch) Len() int { return len(b.ends) }

// Number is which line of the file one is, from 1.
func (b *Batch) Number(i int) int { return b.numbers[i] }

// Line is one of the lines; it must not be kept or changed.
func (b *Batch) Line(i int) []byte {
	from := 0
	if i > 0 {
		from = b.ends[i-1]
	}
	return b.text[from:b.ends[i]]
}

func (b *Batch) add(end, number int) {
	b.ends, b.numbers = append(b.ends, end), append(b.numbers, number)
}

// Emit takes a batch; false ends the source.
type Emit func(*Batch) bool

// Read is the source of a stream: it gives lines as they come.
func Read(name string, in io.Reader, emit Emit) error {
	var buf []byte
	for number := 1; ; {
		at, end := len(buf), 0
		buf = slices.Grow(buf, size)
		n, err := in.Read(buf[at:cap(buf)])
		buf = buf[:at+n]
		b := &Batch{Name: name, text: buf}
		for i := bytes.IndexByte(buf[at:], '\n'); i >= 0; i = bytes.IndexByte(buf[at:], '\n') {
			at += i + 1
			end = at
			b.add(end, number)
			number++
		}
		if err != nil && end < len(buf) {
			end = len(buf)
			b.add(end, number)
		}
		if len(buf)-end > decide.MaxInput {
			return fault.Errorf("a line is larger than %d MiB", decide.MaxInput>>20)
		}
		if end > 0 {
			if buf = lists.Copy(buf[end:]); !emit(b) {
				return nil
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// Log is the source of the decisions in a decision log since a time. lost is how many
// are not there because there was no room.
func Log(dir string, since time.Time, emit Emit) (lost int64, err error) {
	b := &Batch{}
	stopped := errors.New("stopped")
	lost, err = decisionlog.Lines(dir, since, func(file string, number int, line []byte) error {
		if b.Name != file || len(b.text) > size {
			if b.Len() > 0 && !emit(b) {
				return stopped
			}
			b = spare.Get().(*Batch)
			*b = Batch{Name: file, again: true, text: slices.Grow(b.text[:0], size+len(line)+4096), ends: b.ends[:0], numbers: b.numbers[:0]}
		}
		b.text = append(append(b.text, line...), '\n')
		b.add(len(b.text), number)
		return nil
	})
	if errors.Is(err, stopped) {
		return lost, nil
	}
	if b.Len() > 0 {
		emit(b)
	}
	return lost, err
}

// Pass has look see the batches of a source on all cores, in any order, and take get
// each in its turn. It returns the error of take, that of the source, or that of ctx.
// A source that waits for a terminal is left behind when ctx ends.
func Pass(ctx context.Context, source func(Emit) error, look func(*Batch), take func(*Batch) error) error {
	outer := ctx
	ctx, cancel := context.WithCancel(ctx)
	var wait sync.WaitGroup
	defer wait.Wait()
	defer cancel()
	const waiting = 8 // bounds what is in memory at a time
	order, work, failed := make(chan *Batch, waiting), make(chan *Batch, waiting), make(chan error, 1)
	go func() {
		failed <- source(func(b *Batch) bool {
			b.ready = make(chan struct{})
			for _, to := range []chan *Batch{order, work} {
				select {
				case to <- b:
				case <-ctx.Done():
					return false
				}
			}
			return true
		})
		close(order)
		close(work)
	}()
	for range runtime.GOMAXPROCS(0) {
		wait.Go(func() {
			for {
				select {
				case <-ctx.Done():
					return
				case b, more := <-work:
					if !more {
						return
					}
					look(b)
					close(b.ready)
				}
			}
		})
	}
	for {
		select {
		case <-outer.Done():
			return outer.Err()
		case b, more := <-order:
			if !more {
				return <-failed
			}
			select {
			case <-outer.Done():
				return outer.Err()
			case <-b.ready:
			}
			if err := take(b); err != nil {
				return err
			}
			if b.again {
				spare.Put(b)
			}
		}
	}
}
