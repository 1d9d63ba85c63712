package approval

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/hookc/hookc/internal/fault"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/internal/share"
	"github.com/hookc/hookc/internal/spell"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/approval"
	"github.com/hookc/hookc/policy/state"
)

const (
	// folder is where approvals are, in hookc's state folder.
	folder = "approvals"
	suffix = ".json"
	// maxKept is how many there may be, keepEnded how long one stays that has ended,
	// and pruneFrom from how many on it is looked for such.
	maxKept   = 4096
	keepEnded = 7 * 24 * time.Hour
	pruneFrom = 16
)

// ErrNone: there is no approval of that id.
var ErrNone = errors.New("there is no such approval")

// AnsweredError is told to who answers what is answered, or has ended, already.
type AnsweredError struct{ Approval *Approval }

func (e *AnsweredError) Error() string {
	a := e.Approval
	switch {
	case a.State == Expired:
		return fmt.Sprintf("%s has expired: the call must be made again", a.ID)
	case a.Spent():
		return fmt.Sprintf("%s was granted already, by %s, and has been used", a.ID, strings.Join(a.By(), " and "))
	}
	return fmt.Sprintf("%s was %s already, by %s", a.ID, a.State, strings.Join(a.By(), " and "))
}

// Store is the approvals of one user. It is safe for concurrent use, by goroutines and
// by processes.
type Store struct {
	dir  *state.Dir
	home string
	// alone is true of a store that does without the fleet.
	alone bool
	// Now is the clock; nil is the machine's.
	Now func() time.Time
}

// Open returns the store in hookc's state folder (state.Home), without touching the disk.
//
//go:noinline
func Open(home string) *Store { return &Store{dir: state.Within(home, folder), home: home} }

// fleet is who has the approvals, nil where this machine has.
func (s *Store) fleet() (*share.Fleet, error) {
	if s.alone {
		return nil, nil
	}
	return share.Open(s.home)
}

// Reach is the store with which this machine goes on where err says that its fleet cannot
// be reached, nil where it must not go on.
func (s *Store) Reach(err error) *Store {
	if fleet, _ := s.fleet(); !fleet.Alone(err) {
		return nil
	}
	return &Store{dir: s.dir, home: s.home, alone: true, Now: s.Now}
}

// keys is what the keys of approvals begin with.
const keys = "approval."

// key is that of an id, which is well formed.
func key(id string) string { return keys + strings.Replace(id, "-", ".", 1) }

func (s *Store) now() time.Time {
	if s.Now != nil {
		return s.Now().UTC()
	}
	return time.Now().UTC().Round(0) // the clock of the wall: files outlive a process
}

// Path is the folder of the store. It need not exist.
func (s *Store) Path() string { return s.dir.Path() }

// Secrets are the folder, and the file in it with which answers are signed: an agent
// must not read them.
func (s *Store) Secrets() []string { return []string{s.Path(), filepath.Join(s.Path(), keyFile)} }

// look finds the ids of all approvals, sorted, or those of a slot, and how each is read.
func (s *Store) look(slot string) (ids []string, read func(id string) ([]byte, error), err error) {
	fleet, err := s.fleet()
	if err != nil {
		return nil, nil, err
	}
	if fleet == nil {
		entries, err := os.ReadDir(s.dir.Path())
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, nil, err
		}
		for _, e := range entries {
			if id, ok := spell.CutSuffix(e.Name(), suffix); ok && strings.HasPrefix(id, slot) {
				ids = append(ids, id)
			}
		}
		return ids, s.read, nil
	}
	prefix := keys
	if slot != "" {
		prefix += strings.TrimSuffix(slot, "-") + "."
	}
	found, err := fleet.Do(context.Background(), &share.Request{Do: share.All, Key: prefix})
	if err != nil {
		return nil, nil, err
	}
	for k := range found.Values {
		ids = append(ids, strings.Replace(strings.TrimPrefix(k, keys), ".", "-", 1))
	}
	lists.Sort(ids)
	return ids, func(id string) ([]byte, error) { return found.Values[key(id)], nil }, nil
}

// read is the text of one approval.
func (s *Store) read(id string) ([]byte, error) {
	fleet, err := s.fleet()
	if err != nil {
		return nil, err
	}
	if fleet == nil {
		return s.dir.Read(id + suffix)
	}
	found, err := fleet.Do(context.Background(), &share.Request{Do: share.Get, Key: key(id)})
	if err != nil {
		return nil, err
	}
	if len(found.Value) == 0 {
		return nil, fs.ErrNotExist
	}
	return found.Value, nil
}

// List returns all approvals, the newest first. With an error, which names what cannot
// be read, those that can be are returned too.
func (s *Store) List() ([]*Approval, error) {
	ids, read, failed := s.look("")
	var out []*Approval
	for _, id := range ids {
		a, err := s.get(id, read)
		switch {
		case errors.Is(err, ErrNone): // it was taken away meanwhile
		case err != nil:
			failed = errors.Join(failed, err)
		default:
			out = append(out, a)
		}
	}
	sort.SliceStable(out, func(i, j int) bool { return out[i].Created.After(out[j].Created) })
	return out, failed
}

// Get returns one approval as it is now.
func (s *Store) Get(id string) (*Approval, error) { return s.get(id, s.read) }

func (s *Store) get(id string, read func(id string) ([]byte, error)) (*Approval, error) {
	if !wellFormed(id) {
		return nil, fault.Errorf("%q: %w", id, ErrNone)
	}
	data, err := read(id)
	var away *share.AwayError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fault.Errorf("%s: %w", id, ErrNone)
	case errors.As(err, &away):
		return nil, err
	case err != nil:
		return nil, s.unreadable(id, err)
	}
	a, err := decode(id, data)
	if err != nil {
		return nil, s.unreadable(id, err)
	}
	a.settle(s.now())
	return a, nil
}

// wellFormed reports whether a text is an id.
func wellFormed(id string) bool {
	slot, n, ok := spell.Cut(id, "-")
	number, err := strconv.Atoi(n)
	return ok && len(slot) == 12 && strings.Trim(slot, "0123456789abcdef") == "" && err == nil && number > 0 && strconv.Itoa(number) == n
}

func (s *Store) unreadable(id string, err error) error {
	return fault.Errorf("the approval %s cannot be read, and nothing goes ahead by it: %w (remove %s to ask again)", id, err, filepath.Join(s.dir.Path(), id+suffix))
}

func decode(id string, data []byte) (*Approval, error) {
	a := &Approval{}
	if _, err := policy.DecodeJSON(data); err != nil { // a key twice, or text after it
		return nil, err
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	dec.DisallowUnknownFields()
	if err := dec.Decode(a); err != nil {
		return nil, err
	}
	digest, err := a.Call.Digest()
	switch {
	case err != nil:
		return nil, err
	case a.ID != id || a.slot() != id[:12] || digest != a.Digest || !lists.Among([]State{Pending, Granted, Denied, Expired}, a.State),
		a.State == Granted && a.granted() < max(a.Terms.Quorum, 1), len(a.Rules) == 0:
		return nil, errors.New("it is not what hookc wrote")
	}
	return a, nil
}

// change has an approval changed by one process at a time. Nothing is written with an
// error of f.
func (s *Store) change(ctx context.Context, id string, f func(a *Approval, now time.Time) error) (*Approval, error) {
	if _, err := s.Get(id); err != nil { // what is damaged stays as it is
		return nil, err
	}
	var a *Approval
	err := s.update(ctx, id, func(old []byte) ([]byte, error) {
		if old == nil {
			return nil, fault.Errorf("%s: %w", id, ErrNone)
		}
		var err error
		if a, err = decode(id, old); err != nil {
			return nil, s.unreadable(id, err)
		}
		now := s.now()
		a.settle(now)
		if err := f(a, now); err != nil {
			return nil, err
		}
		if now.After(a.Last) {
			a.Last = now
		}
		return json.Marshal(a)
	})
	return a, err
}

// update is state.Dir.Update for as long as ctx lasts, as many may want one file, or
// share.Fleet.Change.
func (s *Store) update(ctx context.Context, id string, change func(old []byte) ([]byte, error)) error {
	fleet, err := s.fleet()
	if fleet != nil {
		return fleet.Change(ctx, key(id), change)
	}
	for err == nil {
		err := s.dir.Update(id+suffix, change)
		if !errors.Is(err, state.ErrLocked) || ctx.Err() != nil {
			return err
		}
	}
	return err
}

// Answer answers a question. Who is first decides; whoever comes later is told by an
// AnsweredError. A grant that needs more people leaves the question pending.
func (s *Store) Answer(ctx context.Context, id, by string, verdict Verdict, scope Scope, reason string) (*Approval, error) {
	if verdict != Grant && verdict != Deny {
		return nil, fault.Errorf("%q is no answer: it is %s or %s", verdict, Grant, Deny)
	}
	return s.change(ctx, id, func(a *Approval, now time.Time) error {
		if a.State != Pending {
			return &AnsweredError{a}
		}
		v := Vote{By: strings.TrimSpace(by), Verdict: verdict, Scope: scope, Reason: reason, At: now}
		if verdict == Deny {
			v.Scope = Scope{}
		}
		if err := a.may(ctx, v); err != nil {
			return err
		}
		a.vote(v)
		return nil
	})
}

// Question is what is asked.
type Question struct {
	Call    Call
	Session string
	Policy  string
	Rules   []string
	Reasons []string
	Agent   string
	Terms   approval.Terms
}

// Ask finds the approval of a question, or makes it; made says which. A grant that is
// there is used: its Approval has then one use more, and used is true for exactly as
// many callers as it has uses.
func (s *Store) Ask(ctx context.Context, q *Question) (a *Approval, used, made bool, err error) {
	digest, err := q.Call.Digest()
	if err != nil {
		return nil, false, false, err
	}
	b := Bound{Digest: digest, Session: q.Session, Policy: q.Policy, Rules: q.Rules}
	fleet, err := s.fleet()
	if err != nil {
		return nil, false, false, err
	}
	if fleet != nil {
		b.Machine = fleet.Machine
	}
	for ctx.Err() == nil {
		a, n, err := s.last(&b)
		if err != nil {
			return nil, false, false, err
		}
		if a != nil && !b.same(&a.Bound) {
			return nil, false, false, fault.Errorf("the approval %s is of another call", a.ID)
		}
		switch {
		case a == nil || a.State == Expired || a.Spent() || a.State == Denied && !s.now().Before(a.Until):
			a, err = s.create(ctx, fmt.Sprintf("%s-%d", b.slot(), n+1), b, q)
			if errors.Is(err, fs.ErrExist) {
				continue // another process was faster
			}
			return a, false, err == nil, err
		case a.State == Granted:
			used, err := s.use(ctx, a.ID)
			var gone *AnsweredError
			if errors.As(err, &gone) || errors.Is(err, ErrNone) {
				continue
			}
			return used, err == nil, false, err
		}
		return a, false, false, nil
	}
	return nil, false, false, ctx.Err()
}

// last is the newest approval of a Bound and its number; nil and 0 if there is none.
func (s *Store) last(b *Bound) (*Approval, int, error) {
	slot, most := b.slot()+"-", 0
	ids, read, err := s.look(slot)
	if err != nil {
		return nil, 0, err
	}
	for _, id := range ids {
		if rest, ok := spell.CutPrefix(id, slot); ok && wellFormed(id) {
			n, err := strconv.Atoi(rest)
			if err == nil {
				most = max(most, n)
			}
		}
	}
	if most == 0 {
		return nil, 0, nil
	}
	a, err := s.get(slot+strconv.Itoa(most), read)
	if errors.Is(err, ErrNone) {
		return nil, most, nil
	}
	return a, most, err
}

// use takes one use of a grant.
func (s *Store) use(ctx context.Context, id string) (*Approval, error) {
	return s.change(ctx, id, func(a *Approval, _ time.Time) error {
		if a.State != Granted || a.Spent() {
			return &AnsweredError{a}
		}
		a.Used++
		return nil
	})
}

func (s *Store) create(ctx context.Context, id string, b Bound, q *Question) (*Approval, error) {
	if err := s.prune(); err != nil {
		return nil, err
	}
	now := s.now()
	a := &Approval{ID: id, State: Pending, Bound: b, Call: q.Call, Agent: q.Agent, Reasons: q.Reasons, Terms: q.Terms,
		Created: now, Until: now.Add(q.Terms.TTL), TTL: q.Terms.TTL, Last: now}
	data, err := json.Marshal(a)
	if err != nil {
		return nil, err
	}
	if _, err := decode(id, data); err != nil { // what cannot be read back would never be answered
		return nil, err
	}
	err = s.update(ctx, id, func(old []byte) ([]byte, error) {
		if old != nil {
			return nil, fs.ErrExist
		}
		return data, nil
	})
	return a, err
}

// prune takes away what ended long ago, and refuses to keep more than there may be. A
// fleet does so itself.
func (s *Store) prune() error {
	if fleet, err := s.fleet(); fleet != nil || err != nil {
		return err
	}
	ids, _, err := s.look("")
	if err != nil || len(ids) < pruneFrom {
		return err
	}
	left, now := len(ids), s.now()
	for _, id := range ids {
		a, err := s.Get(id)
		if err != nil || a.State == Pending || now.Sub(a.Until) < keepEnded {
			continue
		}
		if err := s.dir.Update(id+suffix, func([]byte) ([]byte, error) { return nil, nil }); err != nil {
			return err
		}
		_ = os.Remove(filepath.Join(s.dir.Path(), id+suffix+".lock")) // nothing is written any more that it would guard
		left--
	}
	if left >= maxKept {
		return fault.Errorf("there are %d approvals: answer or remove some in %s", left, s.dir.Path())
	}
	return nil
}

// Wait returns an approval once it is no longer pending, or as it is when ctx ends.
func (s *Store) Wait(ctx context.Context, id string) (*Approval, error) {
	var a *Approval
	var away *share.AwayError
	err := s.follow(ctx, func() (bool, error) {
		now, err := s.Get(id)
		if away = nil; errors.As(err, &away) { // it may be back before ctx ends
			return false, nil
		}
		a = now
		return err != nil || a.State != Pending, err
	})
	if err == nil && away != nil {
		err = away
	}
	return a, err
}

// Watch gives every approval when it is new or has changed, beginning with those there
// are, until ctx ends or f returns an error.
func (s *Store) Watch(ctx context.Context, f func(*Approval) error) error {
	seen := map[string]string{}
	return s.follow(ctx, func() (bool, error) {
		all, err := s.List()
		if err != nil {
			return false, err
		}
		slices.Reverse(all)
		for _, a := range all {
			stamp := fmt.Sprint(a.State, len(a.Votes), a.Used)
			if seen[a.ID] == stamp {
				continue
			}
			seen[a.ID] = stamp
			if err := f(a); err != nil {
				return false, err
			}
		}
		return false, nil
	})
}
