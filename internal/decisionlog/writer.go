package decisionlog

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gofrs/flock"

	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy"
)

// Options are how a log is kept. The zero Options are usable.
type Options struct {
	// Version is the version of hookc, for the labels.
	Version string
	// Durable has Add return when the entry is on the disk (fsync); without it
	// an entry is given to the system soon, which a crash of the process does
	// not lose once it is.
	Durable bool
	// Buffer is how many decisions may wait for the writer; 0 is 4096.
	Buffer int
	// MaxSize is how large a segment grows, in bytes, before the next begins; 0
	// is 64 MiB. MaxAge is how old; 0 is a day.
	MaxSize int64
	MaxAge  time.Duration
	// Keep bounds what is kept of all writers, in bytes and by age; 0 is 1 GiB
	// and 30 days. What is older is taken away at a rotation.
	KeepSize int64
	KeepAge  time.Duration
	// Sign signs checkpoints; nil makes none. Every is how
	// many entries lie between two; 0 is 1024.
	Sign  *Signer
	Every uint64
	// Mask are JSON pointers of what is masked in every entry; * is any member.
	Mask []string
	// Now is the clock; nil is time.Now.
	Now func() time.Time
	// rotated is the hand-over of keys that the log is to tell of.
	rotated string
}

func (o Options) filled() Options {
	fill(&o.Buffer, 4096)
	fill(&o.MaxSize, 64<<20)
	fill(&o.MaxAge, 24*time.Hour)
	fill(&o.KeepSize, 1<<30)
	fill(&o.KeepAge, 30*24*time.Hour)
	fill(&o.Every, 1024)
	if o.Now == nil {
		o.Now = time.Now
	}
	return o
}

func fill[T int | int64 | uint64 | time.Duration](v *T, otherwise T) {
	if *v <= 0 {
		*v = otherwise
	}
}

// Writer writes decisions to the log of a folder. It is safe for concurrent use;
// each process has one, and they write to files of their own.
type Writer struct {
	dir     string
	options Options
	key     []byte
	keyed   os.FileInfo

	free, full chan *waiting
	lost       atomic.Int64
	failure    atomic.Pointer[error]
	// adding counts the calls under way, so that Close loses none of them.
	adding  atomic.Int64
	closed  atomic.Bool
	closing chan struct{}
	done    chan struct{}
	once    sync.Once

	// What follows is the writing goroutine's.
	slot   int
	lock   *flock.Flock
	file   *os.File
	at     tail
	began  time.Time
	buf    []byte
	masker masker
	hooks  []policy.HookTrace
	// exports are the files that terms name for checkpoints.
	exports []string
	zipping sync.WaitGroup
	pending []*waiting
}

// waiting is a decision on its way to the file.
type waiting struct {
	Decided
	// written is told when it is in the file, where somebody waits for that: on
	// the disk with sync. flush is nothing but that.
	written     chan error
	sync, flush bool
	// decision is what Decided has, as it was when it was added: whoever answers with it
	// goes on to say in it what the answer could not.
	decision policy.Decision
}

// hold takes a decision in.
func (w *waiting) hold(d Decided) {
	w.Decided = d
	if d.Decision != nil {
		w.decision = *d.Decision
		w.Decision = &w.decision
	}
}

// Open begins to write to the log in a folder, which is made when it is not
// there. A line that a writer before did not write whole is taken away, and the
// log says so.
func Open(dir string, options Options) (w *Writer, err error) {
	w = &Writer{dir: dir, options: options.filled(), closing: make(chan struct{}), done: make(chan struct{})}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	if err = w.rekey(); err != nil {
		return nil, err
	}
	// Files whose end cannot be read are left as they are, for verify to name: what is
	// decided goes to the next writer's.
	for damaged := error(nil); ; damaged = err {
		from := 0
		if damaged != nil {
			from = w.slot + 1
		}
		if w.slot, w.lock, err = claim(dir, from); err != nil {
			return nil, errors.Join(err, damaged)
		}
		if w.at, err = tailOf(dir, w.slot); err == nil {
			break
		}
		err = errors.Join(err, w.lock.Unlock())
	}
	if err = w.resume(); err == nil && w.options.rotated != "" {
		w.note("key", string(appendString([]byte(`,"note":`), w.options.rotated)))
		err = w.write()
	}
	if err != nil {
		return nil, errors.Join(err, w.lock.Unlock())
	}
	w.free, w.full = make(chan *waiting, w.options.Buffer), make(chan *waiting, w.options.Buffer)
	for _, d := range make([]waiting, w.options.Buffer) {
		w.free <- &d
	}
	go w.run()
	return w, nil
}

// Add gives a decision to the log. Of a durable log it returns when the entry is
// on the disk or ctx ended; of any other at once: when too many wait, the
// decision is counted as lost and the log says so. The error is that of this
// entry, or of an earlier one that could not be written.
func (w *Writer) Add(ctx context.Context, d Decided) error {
	if w.adding.Add(1); w.closed.Load() {
		w.adding.Add(-1)
		return os.ErrClosed
	}
	defer w.adding.Add(-1)
	if d.At.IsZero() {
		d.At = w.options.Now()
	}
	if w.options.Durable || d.Terms != nil && d.Terms.Durable {
		slot := &waiting{written: make(chan error, 1), sync: true}
		slot.hold(d)
		return w.await(ctx, slot)
	}
	select {
	case slot := <-w.free:
		slot.hold(d)
		w.full <- slot
	default:
		if d.Terms == nil || !d.Terms.Wait {
			w.lost.Add(1)
			return ErrFull
		}
		select {
		case slot := <-w.free:
			slot.hold(d)
			w.full <- slot
		case <-w.closing:
			return os.ErrClosed
		}
	}
	return w.Err()
}

// ErrFull is that too many decisions wait to be written.
var ErrFull = errors.New("more is decided than can be written: it is counted as lost")

// Flush returns when what was added before is on the disk.
func (w *Writer) Flush(ctx context.Context) error {
	return w.await(ctx, &waiting{written: make(chan error, 1), flush: true, sync: true})
}

// Written returns when what was added before is in the file.
func (w *Writer) Written(ctx context.Context) error {
	return w.await(ctx, &waiting{written: make(chan error, 1), flush: true})
}

func (w *Writer) await(ctx context.Context, d *waiting) error {
	select {
	case w.full <- d:
	case <-w.closing:
		return os.ErrClosed
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case err := <-d.written:
		return err
	case <-w.done:
		select {
		case err := <-d.written:
			return err
		default:
			return os.ErrClosed
		}
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Err is why the log could not be written the last time, nil when it could.
func (w *Writer) Err() error {
	if p := w.failure.Load(); p != nil {
		return *p
	}
	return nil
}

// Lost is how many decisions found no room to wait and are not in the log.
func (w *Writer) Lost() int64 { return w.lost.Load() }

// Close writes what waits, ends the log and returns what went wrong.
func (w *Writer) Close() error {
	w.once.Do(func() {
		w.closed.Store(true)
		for w.adding.Load() > 0 {
			time.Sleep(10 * time.Microsecond)
		}
		close(w.closing)
	})
	<-w.done
	return w.Err()
}

// run writes what is added until the Writer is closed.
func (w *Writer) run() {
	defer close(w.done)
	for {
		select {
		case d := <-w.full:
			w.batch(d)
		case <-w.closing:
			for len(w.full) > 0 {
				w.batch(<-w.full)
			}
			w.end()
			return
		}
	}
}

// batch writes a decision and those that wait behind it, up to a bound, at once.
func (w *Writer) batch(d *waiting) {
	const bound = 256 << 10
	before := w.at
	if err := w.rekey(); err != nil {
		w.pending = append(w.pending, d)
		w.settle(err, before)
		return
	}
	w.take(d)
	for len(w.buf) < bound {
		select {
		case d := <-w.full:
			w.take(d)
			continue
		default:
		}
		break
	}
	w.settle(w.flush(before), before)
}

// rekey reads the key for masked values where it is another: it was rotated.
func (w *Writer) rekey() error {
	is, err := os.Stat(filepath.Join(w.dir, "mask.key"))
	if err == nil && w.keyed != nil && os.SameFile(is, w.keyed) && is.ModTime().Equal(w.keyed.ModTime()) {
		return nil
	}
	if w.keyed != nil && errors.Is(err, fs.ErrNotExist) { // it was taken away: this log goes on with what it has
		return nil
	}
	if w.key, err = Key(w.dir); err == nil {
		w.keyed, err = os.Stat(filepath.Join(w.dir, "mask.key"))
	}
	return err
}

// take encodes one decision behind those of its batch.
func (w *Writer) take(d *waiting) {
	w.pending = append(w.pending, d)
	if d.flush {
		return
	}
	if n := w.reported(); n > 0 {
		w.note("lost", `,"count":`+strconv.FormatInt(n, 10))
	}
	w.heed(d.Terms)
	w.concerned(&d.decision)
	from := len(w.buf)
	body, err := w.appendDecided(append(w.buf, '{'), &d.Decided, w.at.seq+1)
	if errors.Is(err, errDropped) {
		w.buf = body[:from]
		return
	}
	if err != nil { // no JSON: it cannot come about with a Context that was decided
		w.buf = body[:from]
		w.note("lost", `,"count":1`)
		return
	}
	w.buf = w.seal(body, from)
}

// concerned leaves of a decision's hooks those that their filters let see the event. The
// others said nothing, and which they are the policy tells, whose hash is there: with
// them an entry is several times as large.
func (w *Writer) concerned(d *policy.Decision) {
	w.hooks = w.hooks[:0]
	for i := range d.Hooks {
		if d.Hooks[i].Status != policy.StatusFiltered {
			w.hooks = append(w.hooks, d.Hooks[i])
		}
	}
	d.Hooks = w.hooks
}

// heed does what terms say for the whole log.
func (w *Writer) heed(t *Terms) {
	if t == nil {
		return
	}
	w.options.KeepSize, w.options.KeepAge = max(w.options.KeepSize, t.KeepSize), max(w.options.KeepAge, t.KeepAge)
	for _, file := range t.Checkpoints {
		if !lists.Has(w.exports, file) {
			w.exports = append(w.exports, file)
		}
	}
}

// reported takes the count of decisions lost that the log has not told yet.
func (w *Writer) reported() int64 {
	n := w.lost.Load() - w.at.counted
	w.at.counted += n
	return n
}

// note appends an entry in which the log says something of itself.
func (w *Writer) note(kind, members string) {
	from := len(w.buf)
	b := appendTime(append(w.buf, `{"type":"`+kind+`","timestamp":"`...), w.options.Now())
	w.buf = w.seal(append(append(b, '"'), members...), from)
}

// seal ends a line: its place and its chain.
func (w *Writer) seal(b []byte, from int) []byte {
	w.at.seq++
	b = strconv.AppendInt(append(b, `,"writer":`...), int64(w.slot), 10)
	b = strconv.AppendUint(append(b, `,"seq":`...), w.at.seq, 10)
	b, w.at.chain = w.at.chain.appendChain(b, from)
	return b
}
