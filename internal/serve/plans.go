//go:build unix

package serve

import (
	"cmp"
	"container/list"
	"context"
	"errors"
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"weak"

	"github.com/spf13/cobra"

	"github.com/hookc/hookc"
	"github.com/hookc/hookc/internal/decide"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/internal/memory"
	"github.com/hookc/hookc/internal/spell"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/source/variables"
	"github.com/hookc/hookc/rego"
)

const (
	// maxPlans bounds the plans held; the one used longest ago goes first.
	maxPlans = 256
	// renewAfter is the age at which a plan is built again although no file it
	// is known to depend on has changed: in the background from renewAfter on,
	// before the next event from mustRenew on. It bounds how long anything
	// serve does not see can go unnoticed.
	renewAfter = 10 * time.Second
	mustRenew  = 60 * time.Second
	// retryAfter is how long a policy that does not compile is left alone when
	// none of its files changes.
	retryAfter = time.Second
)

// wanted is what a plan is looked for by.
type wanted struct {
	who     peer
	from    *decide.Caller
	words   *wording
	event   policy.Event
	project string
	// around are further folders whose projects count.
	around []string
	// path is serve's own PATH, on which programs are looked for.
	path string
	// eyes look at native code, in all plans.
	eyes *rego.Eyes
}

// key tells plans apart. What processes inherit is no part of it: each event
// brings its own (runner.WithEnviron).
func (w *wanted) key() string {
	var b strings.Builder
	for _, part := range append([]string{string(w.event), w.project, strings.Join(w.around, "\n"), w.from.Dir, w.words.src.Format, w.words.src.User, strconv.FormatBool(w.words.src.Verify), strconv.FormatBool(w.words.src.AllowStale), strings.Join(w.words.src.Without, ","),
		strconv.FormatUint(digest(w.from.Environ), 36)}, w.words.src.Files...) {
		b.WriteString(part)
		b.WriteByte(0)
	}
	return b.String()
}

// plans keeps compiled policies, by what was asked for. It is safe for
// concurrent use.
type plans struct {
	mu      sync.Mutex
	byKey   map[string]*list.Element // of *slot
	order   *list.List               // used last comes first
	closing sync.WaitGroup
	read    map[string]weak.Pointer[hookc.Readings]
	builds  atomic.Int64
	failed  atomic.Int64
}

func newPlans() *plans {
	return &plans{byKey: map[string]*list.Element{}, order: list.New(), read: map[string]weak.Pointer[hookc.Readings]{}}
}

// slot is the place of one plan and of its successors.
type slot struct {
	key  string
	want wanted
	live atomic.Pointer[resident]
	// mu is held while a plan is built, so that one is built at a time.
	mu sync.Mutex
	// err is why the policy as it is now does not compile, tried when and with
	// which files; nil when it does.
	err     error
	tried   time.Time
	against prints
	// renewing is set while a successor is built in the background.
	renewing atomic.Bool
	dropped  bool
}

// resident is a plan in force.
type resident struct {
	eng    *hookc.Engine
	memory *memory.Memory
	done   func()
	// readings is what it shares with the plans of other events, built when its
	// engine was made.
	readings *hookc.Readings
	built    time.Time
	*tally
	// processes is true when the plan has hooks that are not in-process rules.
	processes bool
	// sources are the files that the plan was made of, for the variables in their texts.
	sources  []policy.SourceFile
	policy   string
	hooks    int
	warnings int
	since    time.Time
	files    prints
}

// fired counts an event. The first one is written down at once, so that its
// answer says what is wrong with the state folder, as hookc run's would.
func (r *resident) fired() {
	r.events.Add(1)
	if r.saved.Swap(true) {
		r.dirty.Store(true)
		return
	}
	r.memory.Save(r.eng.Metrics().Take())
}

// fresh reports whether nothing the plan depends on has changed.
func (r *resident) fresh() bool {
	return r.memory.Trouble() == nil && time.Since(r.since) < mustRenew && r.files.same()
}

// of is the plan for an event, built or brought up to date if need be; note is
// what the caller is to be told beside the answer.
func (p *plans) of(ctx context.Context, w *wanted) (r *resident, note string, err error) {
	r, note, err = p.slot(w).get(ctx, p, w)
	if err == nil && !variables.Same(r.sources, w.from.Env()) {
		return nil, "", decide.HandBack("the caller has other values of the variables in the settings")
	}
	if err != nil || !r.processes {
		return r, note, err
	}
	if err := w.who.unprivileged(); err != nil {
		return nil, "", err
	}
	if w.from.Getenv("PATH") != w.path {
		return nil, "", decide.HandBack("the caller has another PATH, and the policy starts programs")
	}
	return r, note, nil
}

// slot finds or makes the place of a plan.
func (p *plans) slot(w *wanted) *slot {
	key := w.key()
	p.mu.Lock()
	defer p.mu.Unlock()
	if at := p.byKey[key]; at != nil {
		p.order.MoveToFront(at)
		return at.Value.(*slot)
	}
	s := &slot{key: key, want: *w}
	p.byKey[key] = p.order.PushFront(s)
	if p.order.Len() > maxPlans {
		p.drop(p.order.Back())
	}
	return s
}

// drop gives a plan up; events under way on it finish. The caller holds mu.
func (p *plans) drop(at *list.Element) {
	s := p.order.Remove(at).(*slot)
	delete(p.byKey, s.key)
	p.closing.Go(func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.dropped = true
		s.live.Load().close()
	})
}

// close ends a plan once its events have.
func (r *resident) close() {
	if r == nil {
		return
	}
	if err := r.eng.Close(); err != nil && !errors.Is(err, hookc.ErrClosed) {
		return
	}
	r.memory.Save(r.eng.Metrics().Take())
	r.done()
}

// get is the plan of a slot.
func (s *slot) get(ctx context.Context, p *plans, w *wanted) (*resident, string, error) {
	r := s.live.Load()
	if r != nil && r.fresh() {
		if time.Since(r.since) > renewAfter && !s.renewing.Swap(true) {
			p.closing.Go(func() {
				defer s.renewing.Store(false)
				s.renew(context.WithoutCancel(ctx), p, r)
			})
		}
		return r, "", nil
	}
	// Whatever is read for a plan, and said about it, is only for who may read
	// it himself.
	if err := w.who.unprivileged(); err != nil {
		return nil, "", err
	}
	return s.renew(ctx, p, r)
}

// renew builds a plan in the place of old, unless another one is there
// already. When the policy does not compile the old plan stays in force, and
// the note says so.
func (s *slot) renew(ctx context.Context, p *plans, old *resident) (*resident, string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.live.Load()
	switch {
	case s.dropped:
		return nil, "", decide.HandBack("too many plans are in use")
	case now != old && now.fresh():
		return now, "", nil
	case now != nil && s.err != nil && time.Since(s.tried) < retryAfter && s.against.same():
		return now, s.note(now), nil
	case now != nil && !s.compiled() && now.files.writing(time.Now(), s.want.consented()):
		return now, fmt.Sprintf("hookc: the policy is being written, and the plan of %s is in force\n", now.since.Format(time.TimeOnly)), nil
	}
	var against prints
	if now != nil {
		against = now.files.again()
	}
	p.builds.Add(1)
	next, err := s.next(ctx, p, now)
	if err == nil {
		return s.put(p, next), "", nil
	}
	p.failed.Add(1)
	var b decide.HandBack
	var refused decide.CompiledRefused
	if now == nil || errors.As(err, &b) || errors.As(err, &refused) || ctx.Err() != nil {
		return nil, "", err // a compiled policy that is stale is no broken edit: consent may have been withdrawn
	}
	s.err, s.tried, s.against = err, time.Now(), against
	return now, s.note(now), nil
}

// put puts a plan in force; mu is held.
func (s *slot) put(p *plans, next *resident) *resident {
	s.err, s.against = nil, prints{}
	if now := s.live.Swap(next); now != nil && now.eng != next.eng {
		p.closing.Go(now.close)
	}
	return next
}

// note tells the caller's user that an edit is not in force.
func (s *slot) note(r *resident) string {
	first, _, _ := spell.Cut(strings.TrimSpace(s.err.Error()), "\n")
	return fmt.Sprintf("hookc: the policy does not compile any more, and the plan of %s is in force: %s\n", r.since.Format(time.TimeOnly), first)
}

// build compiles what is wanted.
func (w *wanted) build(ctx context.Context, readings *hookc.Readings) (*resident, error) {
	began := time.Now()
	src := w.words.src
	if err := src.TakeProfile(w.from); err != nil {
		return nil, err
	}
	switch {
	case src.Profile != "":
		return nil, decide.HandBack("--profile")
	case src.Paranoid:
		return nil, decide.HandBack("--paranoid")
	}
	src.Eyes = w.eyes
	cmd := &cobra.Command{}
	cmd.SetContext(decide.WithCaller(ctx, w.from))
	eng, m, done, err := src.Ready(cmd, decide.EveryEvent(w.event), w.project, w.around, hookc.Reading(readings))
	if err != nil {
		return nil, err
	}
	r := &resident{tally: &tally{}, eng: eng, memory: m, done: done, readings: readings, built: began}
	r.describe(w, began)
	return r, nil
}

// list describes every plan, by project, event and command line.
func (p *plans) list() []planStatus {
	out := []planStatus{}
	for _, s := range p.slots() {
		r := s.live.Load()
		if r == nil {
			continue
		}
		at := planStatus{Project: s.want.project, Event: string(s.want.event), Args: s.want.words.src.Files, Policy: r.policy,
			Hooks: r.hooks, Warnings: r.warnings, Since: r.since, Events: r.events.Load(), Fusing: r.eng.Settling()}
		s.mu.Lock()
		if s.err != nil {
			at.Error = s.err.Error()
		}
		s.mu.Unlock()
		out = append(out, at)
	}
	sort.SliceStable(out, func(i, j int) bool {
		a, b := &out[i], &out[j]
		return lists.First(cmp.Compare(a.Project, b.Project), policy.Event(a.Event).Compare(policy.Event(b.Event)), slices.Compare(a.Args, b.Args)) < 0
	})
	return out
}

func (p *plans) slots() []*slot {
	p.mu.Lock()
	defer p.mu.Unlock()
	var out []*slot
	for at := p.order.Front(); at != nil; at = at.Next() {
		out = append(out, at.Value.(*slot))
	}
	return out
}

// reload builds every plan again.
func (p *plans) reload(ctx context.Context) {
	for _, s := range p.slots() {
		s.mu.Lock()
		s.tried = time.Time{}
		s.mu.Unlock()
		s.renew(ctx, p, s.live.Load())
	}
}

// flush writes the counters down.
func (p *plans) flush() {
	for _, s := range p.slots() {
		if r := s.live.Load(); r != nil && r.dirty.Swap(false) {
			r.memory.Save(r.eng.Metrics().Take())
		}
	}
}

// close ends every plan.
func (p *plans) close() {
	p.mu.Lock()
	for p.order.Len() > 0 {
		p.drop(p.order.Back())
	}
	p.mu.Unlock()
	p.closing.Wait()
}
