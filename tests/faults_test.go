package tests

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/hookc/hookc"
	"github.com/hookc/hookc/compiler"
	"github.com/hookc/hookc/policy"
)

// Fault injection: every way for a hook to fail, under every on_error and
// on_timeout, at every class of event, through real processes, a real HTTP
// model server and the real engines. The rows are generated; what they must
// come to is in faults_expect_test.go, and comes from the specification.

var faultPostures = []string{"", "skip", "abort", "deny", "ask"}

// faultRow is one policy: a fault under one pair of postures, on every event.
type faultRow struct {
	fault    *fault
	provider *faultProvider
	id       string

	onError, onTimeout string
	// retry is -1 for what the kind does by itself.
	retry int
	// serial fires through the definition too. It starts no process where the
	// chain is halted, nor does the scheduler; a process follows the faulty
	// hook in rows with follow.
	serial, follow bool

	dir   string
	calls *atomic.Int64
	// warnings go with every Decision of the row.
	warnings []wireWarning
	// early counts the hooks struck before they were started.
	early atomic.Int64
}

// faultRows are the rows of one fault: every posture under every other. The
// first column goes through the serial interpreter too, and has a process
// after the faulty hook.
func faultRows(f *fault, p *faultProvider) []*faultRow {
	var out []*faultRow
	add := func(onError, onTimeout string, retry int) {
		r := &faultRow{fault: f, provider: p, onError: onError, onTimeout: onTimeout, retry: retry, calls: new(atomic.Int64)}
		r.id = fmt.Sprintf("%d", rowCount.Add(1))
		r.serial = onTimeout == "" && retry < 0
		r.follow = r.serial && f.struck == "" && !f.unstarted
		out = append(out, r)
	}
	for _, onError := range faultPostures {
		for _, onTimeout := range faultPostures {
			add(onError, onTimeout, -1)
		}
	}
	if _, written := f.hook["retry"]; !written {
		for _, posture := range []string{"", "deny"} {
			add(posture, posture, 2)
		}
	}
	return out
}

var rowCount atomic.Int64

func (r *faultRow) name() string {
	return fmt.Sprintf("on_error %q, on_timeout %q, retry %d", r.onError, r.onTimeout, r.retry)
}

// path names a file of the row's hook on an event.
func (r *faultRow) path(what string, e *faultEvent) string {
	return filepath.Join(r.dir, what+"-"+e.name)
}

// policy is the hooks.yaml of the row.
func (r *faultRow) policy() string {
	out := map[string]any{"defaults": map[string]any{"max_models": 1}}
	for i := range faultEvents {
		e := &faultEvents[i]
		var hooks []any
		if r.fault.first != nil {
			hooks = append(hooks, r.marked(r.fault.first))
		}
		hooks = append(hooks, r.faulty(e))
		if r.follow {
			hooks = append(hooks, r.marked(map[string]any{"name": "follower", "command": ": >'" + r.path("followed", e) + "'"}))
		}
		hooks = append(hooks, faultWitness())
		event := map[string]any{"hooks": hooks}
		if r.fault.chain != "" {
			event["chain_timeout"] = r.fault.chain
		}
		out[e.name] = event
	}
	text, err := json.Marshal(out)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// faultWitness is the hook that tells whether later hooks run.
func faultWitness() map[string]any {
	return map[string]any{"name": "witness", "type": "expr", "set": map[string]any{"system_message": `"a later hook ran"`}}
}

// marked lets the processes of a hook be found.
func (r *faultRow) marked(hook map[string]any) map[string]any {
	if _, script := hook["command"]; !script {
		return hook
	}
	hook = maps.Clone(hook)
	hook["env"] = map[string]any{"FAULT_MARK": r.mark()}
	return hook
}

func (r *faultRow) mark() string { return fmt.Sprintf("%d.%s", os.Getpid(), r.id) }

func (r *faultRow) faulty(e *faultEvent) map[string]any {
	f := r.fault
	hook := maps.Clone(f.hook)
	if f.rule != nil {
		hook = f.rule(len(e.can) > 0)
	}
	hook["name"] = "faulty"
	if f.kind == "bash" {
		hook["command"] = `echo called >>"$FAULT_COUNT"; ` + hook["command"].(string)
		hook["env"] = map[string]any{"FAULT_MARK": r.mark(), "FAULT_COUNT": r.path("count", e)}
	}
	for key, posture := range map[string]string{"on_error": r.onError, "on_timeout": r.onTimeout} {
		if posture != "" {
			hook[key] = posture
		}
	}
	if r.retry >= 0 {
		hook["retry"] = r.retry
	}
	return hook
}

// options are what the row's engine is opened with, beside its policy.
func (r *faultRow) options(s *faultServer) ([]hookc.Option, error) {
	f := r.fault
	options := []hookc.Option{hookc.Text("hooks.yaml", r.policy()), quickly()}
	if f.run != nil {
		options = append(options, hookc.Rules(faultyRule(f, r.calls)))
	}
	if f.kind != "llm" || f.model == noProvider {
		return options, nil
	}
	provider, address := r.provider, s.refusing
	if f.model == noModelNamed {
		provider = &faultProvider{name: "openai", address: "OPENAI_BASE_URL"}
	}
	if f.reply != nil {
		address = s.route(r.id, r.calls, f.reply(*r.provider))
	}
	m, err := provider.open(address)
	return append(options, hookc.Model(m)), err
}

// quickly leaves validation out: the plans are small and alike, and there are
// thousands of them.
func quickly() hookc.Option {
	return hookc.Compiler(func(c *compiler.Config) { c.Without = []string{"verify"} })
}

func (r *faultRow) input(e *faultEvent) *policy.Context {
	in := e.in()
	in.SessionID, in.Cwd, in.Raw = e.name, r.dir, map[string]any{"number": 5}
	if r.fault.event != nil {
		r.fault.event(in, r.dir)
	}
	return in
}

// run opens the row's engine, fires every event and looks for what is left.
func (r *faultRow) run(t *testing.T, s *faultServer) {
	options, err := r.options(s)
	if !assert.NoError(t, err) {
		return
	}
	eng, err := hookc.Open(context.Background(), options...)
	if !assert.NoError(t, err, r.policy()) {
		return
	}
	var events sync.WaitGroup
	for i := range faultEvents {
		fire := func() { r.fire(t, eng, &faultEvents[i]) }
		if r.fault.sleeps {
			events.Go(fire)
		} else {
			fire()
		}
	}
	events.Wait()
	assert.NoError(t, eng.Close())
	assert.Empty(t, leftBehind(r.mark()), "processes outlive their engine: %s", r.name())
	r.checkCalls(t)
}

func (r *faultRow) fire(t *testing.T, eng *hookc.Engine, e *faultEvent) {
	d, err := eng.Fire(context.Background(), policy.Event(e.name), r.input(e))
	r.check(t, e, "scheduled", d, err)
	if !r.serial {
		return
	}
	for _, file := range []string{"count", "followed"} {
		if err := os.RemoveAll(r.path(file, e)); !assert.NoError(t, err) {
			return
		}
	}
	d, err = eng.FireSerial(context.Background(), policy.Event(e.name), r.input(e))
	r.check(t, e, "serial", d, err)
}

// check compares a Decision with the specification.
func (r *faultRow) check(t *testing.T, e *faultEvent, how string, d *policy.Decision, err error) {
	place := fmt.Sprintf("%s, %s, %s", e.name, r.name(), how)
	if !assert.NoError(t, err, place) {
		return
	}
	got, err := wireOf(d)
	if !assert.NoError(t, err, place) {
		return
	}
	text := ""
	for i := range got.Failed {
		if got.Failed[i].Hook == "faulty" {
			text = got.Failed[i].Error
			assert.Contains(t, text, r.fault.text, place)
		}
		got.Failed[i].Error = ""
	}
	want := r.expect(e, text)
	if r.fault.struck == struckRunning {
		r.forgive(&want, &got)
	}
	assert.Equal(t, want, got, place)
	_, err = os.Stat(r.path("followed", e))
	assert.Equal(t, r.follow && want.Hooks[len(want.Hooks)-1].Status == "ran", err == nil, "%s: a process was started behind", place)
	r.checkCount(t, e, place, want)
}

// forgive takes a hook that the chain deadline struck before it was started for
// one that it struck in its first attempt: on a machine so busy that a process
// is not started in time, both are what the specification allows (§5.2, T2).
func (r *faultRow) forgive(want, got *wireDecision) {
	for i := range got.Hooks {
		if h := &got.Hooks[i]; h.Name == "faulty" && h.Attempts == 0 && want.Hooks[i].Name == h.Name {
			h.Attempts = 1
			r.early.Add(1)
		}
	}
}

// expect is the whole Decision that the specification demands; text is what
// the failure says.
func (r *faultRow) expect(e *faultEvent, text string) wireDecision {
	f := r.fault
	out := wireDecision{Warnings: r.warnings}
	if f.first != nil {
		out.Failed = append(out.Failed, wireFailure{Hook: "first", Kind: "deadline", OnError: "skip"})
		out.Hooks = append(out.Hooks, wireHook{Name: "first", Status: "failed", Attempts: 1})
	}
	o := e.outcome("skip")
	faulty := wireHook{Name: "faulty", Status: "ran", Attempts: f.attempts(r.tries())}
	if f.fails != "" {
		posture := e.posture(f, r.onError, r.onTimeout)
		o = e.outcome(posture)
		faulty.Status = "failed"
		out.Failed = append(out.Failed, wireFailure{Hook: "faulty", Kind: f.fails, OnError: posture})
	}
	out.Action, out.Verdict, out.Control, out.Scope = o.action, o.verdict, o.control, o.scope
	if o.decides {
		out.By = "faulty"
	}
	if o.reasons {
		out.Reasons = []string{"faulty: " + text}
	}
	if o.verdict != "none" {
		faulty.Verdict = o.verdict
	}
	if o.control != "go" {
		faulty.Control = o.control
	}
	out.Hooks = append(out.Hooks, faulty)
	later := wireHook{Status: "ran", Attempts: 1}
	if o.ends {
		later = wireHook{Status: "not_started"}
	} else {
		out.System = []string{"a later hook ran"}
	}
	names := []string{"follower", "witness"}
	if !r.follow {
		names = names[1:]
	}
	for _, later.Name = range names {
		out.Hooks = append(out.Hooks, later)
	}
	return out
}

// tries is the hook's retry as written, -1 if it is not.
func (r *faultRow) tries() int {
	if written, ok := r.fault.hook["retry"].(int); ok {
		return written
	}
	return r.retry
}

// checkCount compares the calls a script counted itself. One whose time is up
// may not have got to counting.
func (r *faultRow) checkCount(t *testing.T, e *faultEvent, place string, want wireDecision) {
	f := r.fault
	if f.kind != "bash" {
		return
	}
	text, err := os.ReadFile(r.path("count", e))
	if err != nil {
		assert.ErrorIs(t, err, os.ErrNotExist)
	}
	made, attempts := bytes.Count(text, []byte("called\n")), f.attempts(r.tries())
	switch {
	case f.unstarted:
		assert.Zero(t, made, place)
	case f.late:
		assert.LessOrEqual(t, made, attempts, place)
	default:
		assert.Equal(t, attempts, made, place)
	}
}

// checkCalls compares the calls that a rule or the model server counted.
func (r *faultRow) checkCalls(t *testing.T) {
	if r.fault.run == nil && r.fault.reply == nil {
		return
	}
	fired := len(faultEvents)
	if r.serial {
		fired *= 2
	}
	each := r.fault.attempts(r.tries())
	if r.fault.first != nil {
		each++
	}
	want, made := int64(fired*each), r.calls.Load()
	if r.fault.late { // a request whose time is up may never have been heard
		assert.LessOrEqual(t, made, want, "calls counted: %s", r.name())
		return
	}
	assert.Equal(t, want, made, "calls counted: %s", r.name())
}

// TestFaults runs every row.
func TestFaults(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	server := newFaultServer(t)
	defer server.close()
	root := t.TempDir()
	run := func(t *testing.T, f fault, p *faultProvider) {
		name := f.kind + "/" + f.name
		if p != nil {
			name = f.kind + "/" + p.name + "/" + f.name
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rows := faultRows(&f, p)
			for _, r := range rows {
				r.dir = filepath.Join(root, r.id)
				require.NoError(t, os.Mkdir(r.dir, 0o755))
			}
			width := 2
			if f.sleeps {
				width = 8
			}
			bounded(width, len(rows), func(i int) { rows[i].run(t, server) })
			var early int64
			for _, r := range rows {
				early += r.early.Load()
			}
			assert.Less(t, early, int64(len(rows)*len(faultEvents)/2), "most must be struck while they run")
		})
	}
	t.Run("rows", func(t *testing.T) {
		for _, f := range slices.Concat(scriptFaults(), ruleFaults()) {
			run(t, f, nil)
		}
		for _, f := range modelFaults() {
			for i := range faultProviders {
				run(t, f, &faultProviders[i])
			}
		}
		for _, f := range modelFaultsAlone() {
			run(t, f, &faultProviders[0])
		}
	})
	assert.Empty(t, children(), "processes that nobody has waited for")
}

// bounded calls f with 0 to n-1, at most width calls at a time.
func bounded(width, n int, f func(i int)) {
	var all sync.WaitGroup
	room := make(chan struct{}, width)
	for i := range n {
		room <- struct{}{}
		all.Go(func() {
			defer func() { <-room }()
			f(i)
		})
	}
	all.Wait()
}
