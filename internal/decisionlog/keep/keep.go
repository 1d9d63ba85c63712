// Package keep writes what a process decides to the decision log of its user, where
// there is one.
package keep

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/executor/runner"
	"github.com/hookc/hookc/internal/decisionlog"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/internal/logrules"
	"github.com/hookc/hookc/internal/paths"
	"github.com/hookc/hookc/internal/release"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
	"github.com/hookc/hookc/policy/record"
	"github.com/hookc/hookc/policy/state"
)

var codeUnlogged = diag.Define("HK183", diag.Warning, "a decision is not in the decision log")

// Log is the decision log as one process writes to it. The zero Log is ready; it is
// safe for concurrent use.
type Log struct {
	// Brief is for a process that decides one event.
	Brief bool
	// Dir is the folder of the log; "" is the user's, whose settings `hookc log enable`
	// writes. Own are what is said of the log besides the policy and those settings.
	Dir string
	Own []record.Setting

	mu      sync.Mutex
	looked  time.Time
	stamp   string
	file    []record.Setting
	unread  error
	writer  *decisionlog.Writer
	failed  error
	settled map[underKey]*inForce
	// lost is what the writers before this one lost.
	lost int64
}

// Under is what a decision is logged under: `log:` of its policy, and --log.
type Under struct {
	Policy []record.Setting
	// Flag turns the log on, as the user would.
	Flag bool
	// Unread is set where the policy could not be read: what it says is not known.
	Unread bool
}

type underKey struct {
	first *record.Setting
	flag  bool
}

// One is how one event is logged, from before it is decided on.
type One struct {
	Log *Log
	Under
	// Answers is what scripts and models answered.
	Answers *runner.Answers
	began   time.Time
}

// Begin begins the log of an event whose policy is not read yet.
func (l *Log) Begin(flag bool, before *runner.Answers) *One {
	return &One{Log: l, Under: Under{Flag: flag, Unread: true}, Answers: before, began: time.Now()}
}

// Decides says which policy decides, and gives what is to keep the answers of scripts
// and models: they are kept where the decision is logged.
func (o *One) Decides(program *dag.Program, before *runner.Answers) *runner.Answers {
	o.Under.Policy, o.Unread = program.Log, false
	if o.Answers = before; o.Log.On(o.Under) {
		o.Answers = runner.Keeping(before)
	}
	return o.Answers
}

// Decided is Log.Decided of the event.
func (o *One) Decided(ctx context.Context, entry decisionlog.Decided, err error) *policy.Decision {
	entry.Took = time.Since(o.began)
	if o.Answers != nil {
		entry.Answers = o.Answers.Bytes()
	}
	if err != nil {
		entry.Err = err.Error()
	}
	return o.Log.Decided(ctx, o.Under, entry)
}

// flag is what --log says.
var flag = record.Setting{Tier: "user", Rank: record.User, By: "--log", Enabled: "on"}

// inForce is how the decisions of one policy are logged.
type inForce struct {
	on, deny bool
	options  decisionlog.Options
	terms    *decisionlog.Terms
	drop     []record.Masking
}

// lookEvery is how long a resident process takes to see other settings, or to try a
// log again that could not be opened.
const lookEvery = time.Second

// under is what holds for a decision.
func (l *Log) under(policy Under) (*inForce, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if now := time.Now(); l.looked.IsZero() || now.Sub(l.looked) >= lookEvery {
		l.looked = now
		l.look()
	}
	if l.unread != nil {
		return &inForce{on: true, deny: true}, l.unread
	}
	key := underKey{flag: policy.Flag}
	if len(policy.Policy) > 0 {
		key.first = &policy.Policy[0]
	}
	f := l.settled[key]
	if f == nil {
		if len(l.settled) > 64 || l.settled == nil {
			l.settled = map[underKey]*inForce{}
		}
		f = l.settle(policy)
		l.settled[key] = f
	}
	return f, nil
}

// settle finds what holds of all that is said.
func (l *Log) settle(policy Under) *inForce {
	s := record.Settle(l.all(policy))
	f := &inForce{on: s.Enabled, deny: s.OnError == "deny"}
	if !f.on {
		return f
	}
	f.terms = &decisionlog.Terms{Durable: s.Durable, Wait: f.deny, Checkpoints: s.Checkpoints,
		KeepAge: time.Duration(s.KeepDays) * 24 * time.Hour, KeepSize: int64(s.KeepMB) << 20}
	f.options = decisionlog.Options{Version: release.Current().Version, KeepAge: f.terms.KeepAge, KeepSize: f.terms.KeepSize}
	if l.Brief {
		f.options.Buffer, f.options.MaxSize = 4, 4<<20
	}
	for _, m := range s.Mask {
		if m.If.IsZero() {
			f.terms.Mask = append(f.terms.Mask, m.What)
		}
	}
	for _, d := range s.Drop {
		if d.If.IsZero() {
			f.drop = append(f.drop, d)
		}
	}
	rules, found := logrules.Compile(s)
	if found.HasErrors() { // check and Open say so as well
		f.terms.Whole, f.terms.Why = true, "a rule of log: cannot be used"
	} else if rules != nil {
		f.terms.Rules = rules
	}
	return f
}

// all is all that is said.
func (l *Log) all(policy Under) []record.Setting {
	out := lists.Concat(l.file, l.Own, policy.Policy)
	if policy.Flag {
		out = append(out, flag)
	}
	return out
}

// Explain is what is in force for the decisions of a policy, and who said it.
func (l *Log) Explain(policy Under) []string {
	if _, err := l.under(policy); err != nil {
		return []string{err.Error()}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return record.Settle(l.all(policy)).Notes
}

// look reads the user's settings if they are not those that were read.
func (l *Log) look() {
	if l.Dir != "" {
		return
	}
	home, err := state.Home()
	if err != nil { // the environment says no place: what the account's own settings say holds
		if home = state.Place(func(string) string { return "" }, paths.Account()); home == "" {
			l.unread = err
			return
		}
	}
	stamp := ""
	if !l.Brief {
		if info, err := os.Stat(decisionlog.SettingsFile(home)); err == nil {
			stamp = fmt.Sprint(info.ModTime().UnixNano(), info.Size())
		}
	}
	if stamp == l.stamp && l.settled != nil && l.unread == nil && l.failed == nil {
		return
	}
	l.stop()
	l.stamp, l.settled, l.failed, l.file = stamp, nil, nil, nil
	if stamp == "" && !l.Brief {
		l.unread = nil
		return
	}
	settings, err := decisionlog.ReadSettings(home)
	l.unread = err
	if s := settings.Setting(); err == nil && s != nil {
		l.file = []record.Setting{*s}
	}
}

// open is the writer, opened when the first decision needs it.
func (l *Log) open(f *inForce) (*decisionlog.Writer, error) {
	l.mu.Lock()
	defer func() {
		if l.writer == nil {
			l.lost++
		}
		l.mu.Unlock()
	}()
	if l.writer != nil || l.failed != nil {
		return l.writer, l.failed
	}
	dir, o := l.Dir, f.options
	if dir == "" {
		home, err := state.Home()
		if err != nil {
			return nil, err
		}
		dir = decisionlog.Folder(home)
	}
	if o.Sign, l.failed = decisionlog.NewSigner(dir); l.failed == nil {
		l.writer, l.failed = decisionlog.Open(dir, o)
	}
	return l.writer, l.failed
}

func (l *Log) stop() {
	if l.writer != nil {
		if err := l.writer.Close(); err != nil {
			fmt.Fprintf(os.Stderr, "hookc: the decision log: %v\n", err)
		}
		l.lost += l.writer.Lost()
		l.writer = nil
	}
}

// Close ends the log of a process.
func (l *Log) Close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stop()
}

// Lost is how many decisions found no room, to wait or on the disk, and are not in the log.
func (l *Log) Lost() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.writer == nil {
		return l.lost
	}
	return l.lost + l.writer.Lost()
}

// On reports whether the decisions of a policy are logged.
func (l *Log) On(policy Under) bool {
	f, err := l.under(policy)
	return err == nil && f.on
}

// Decided logs a decision under a policy, or why there is none, and gives what to
// answer: where a guarded event cannot be logged and must be, that is a refusal.
func (l *Log) Decided(ctx context.Context, under Under, entry decisionlog.Decided) *policy.Decision {
	d := entry.Decision
	f, err := l.under(under)
	if err == nil && (!f.on || slices.ContainsFunc(f.drop, func(m record.Masking) bool { return m.What == string(entry.Event) })) {
		return d
	}
	if err == nil {
		entry.Terms = f.terms
		if under.Unread {
			terms := *f.terms
			terms.Whole, terms.Why = true, "the policy could not be read: what its log: masks is not known"
			entry.Terms = &terms
		}
		err = l.add(ctx, f, entry)
	}
	if err == nil || d == nil {
		return d
	}
	why := fmt.Sprintf("the decision is not in the log: %v", err)
	if f.deny && entry.Event.Spec().Class == policy.Guard && d.Action != policy.Block { // what is refused has its own reasons
		d = &policy.Decision{Event: entry.Event, Action: policy.Block, Verdict: policy.Deny, By: "hookc-log", Reasons: []string{why}, Policy: d.Policy, Hooks: d.Hooks, Final: d.Final}
	}
	d.Warnings = append(d.Warnings, policy.Warning{Code: codeUnlogged, Text: why})
	return d
}

func (l *Log) add(ctx context.Context, f *inForce, entry decisionlog.Decided) error {
	if l.Brief || entry.Terms.Durable { // it is waited for: also for what was cancelled
		ctx = context.WithoutCancel(ctx)
	}
	for tries := 0; ; tries++ {
		w, err := l.open(f)
		if err != nil {
			return err
		}
		err = w.Add(ctx, entry)
		if err == nil && l.Brief && !entry.Terms.Durable {
			err = w.Written(ctx)
		}
		if !errors.Is(err, os.ErrClosed) || tries > 0 { // other settings are in force
			return err
		}
	}
}
