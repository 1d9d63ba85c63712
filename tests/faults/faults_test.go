package faults

import (
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
	"github.com/hookc/hookc/internal/host"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
	"github.com/hookc/hookc/tests/depth"
	"github.com/hookc/hookc/tests/processes"
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

// faultRows are the rows of one fault. A late one is tried under every pair of
// postures; one that on_timeout must not touch under every on_error and three
// of the on_timeouts, others for the next fault, so that each kind of hook
// sees every pair. The first column goes through the serial interpreter too,
// and has a process after the faulty hook.
func faultRows(f *fault, p *faultProvider, turn int) []*faultRow {
	var out []*faultRow
	add := func(onError, onTimeout string, retry int) {
		r := &faultRow{fault: f, provider: p, onError: onError, onTimeout: onTimeout, retry: retry, calls: new(atomic.Int64)}
		r.id = fmt.Sprintf("%d", rowCount.Add(1))
		r.serial = onTimeout == "" && retry < 0
		r.follow = r.serial && f.struck == "" && !f.unstarted
		out = append(out, r)
	}
	for i, onError := range faultPostures {
		for k, onTimeout := range faultPostures {
			if f.late || onTimeout == "" || (i+k+turn)%2 == 0 {
				add(onError, onTimeout, -1)
			}
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
	if f.reply != nil {
		address = s.route(r.id, r.calls, f.reply(*r.provider))
	}
	m, err := provider.open(address)
	return append(options, hookc.Model(m)), err
}

// quickly leaves validation out: the plans are small and alike, and there are
// thousands of them.
func quickly() hookc.Option {
	return host.Compiler[hookc.Option](func(c *compiler.Config) { c.Without = []string{"verify"} })
}

func (r *faultRow) input(e *faultEvent) *policy.Context {
	in := e.in().Set(policy.FieldSessionID, e.name).Set(policy.FieldCwd, r.dir).Set(policy.FieldRaw, map[string]any{"number": 5})
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
	refusing := slices.ContainsFunc([]string{r.onError, r.onTimeout}, func(p string) bool { return p == "deny" || p == "ask" })
	reported := slices.ContainsFunc(eng.Diagnostics(), func(d diag.Diagnostic) bool { return d.Code.ID == "HK129" })
	assert.Equal(t, refusing, reported, "a posture that notify masks is reported, once for all events: %s", r.name())
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
	assert.Empty(t, processes.LeftBehind(r.mark()), "processes outlive their engine: %s", r.name())
	r.checkCalls(t)
}

func (r *faultRow) fire(t *testing.T, eng *hookc.Engine, e *faultEvent) {
	d, err := r.decide(eng.Fire, e)
	r.check(t, e, "scheduled", d, err)
	if r.serial {
		for r.fault.late && len(processes.With("FAULT_COUNT", r.path("count", e))) > 0 {
			// A caller is told when the time is up; what is deaf to SIGTERM is killed after
			// that, and would count in the next run.
		}
		d, err = r.decide(eng.FireSerial, e)
		r.check(t, e, "serial", d, err)
	}
}

// decide fires an event. On a machine that stands still for so long that a
// rule's budget is spent before the rule gets to its own failure, again.
func (r *faultRow) decide(fire fireFunc, e *faultEvent) (d *policy.Decision, err error) {
	for range 10 {
		for _, file := range []string{"count", "followed"} {
			if err := os.RemoveAll(r.path(file, e)); err != nil {
				return nil, err
			}
		}
		d, err = fire(context.Background(), policy.Event(e.name), r.input(e))
		if err != nil || r.fault.rule == nil || len(d.Failed) == 0 || d.Failed[0].Kind != policy.ErrBudget || r.fault.fails == "budget" {
			break
		}
	}
	return d, err
}

type fireFunc func(context.Context, policy.Event, *policy.Context) (*policy.Decision, error)

// faultCase is a fault of one provider of models, or of none, and its rows.
type faultCase struct {
	fault    fault
	provider *faultProvider
	rows     []*faultRow
}

func (c *faultCase) name() string {
	if c.provider == nil {
		return c.fault.kind + "/" + c.fault.name
	}
	return c.fault.kind + "/" + c.provider.name + "/" + c.fault.name
}

// faultCases are all faults. Every on_error meets every on_timeout at every
// kind of hook, among the late faults and among the others.
func faultCases(t *testing.T) []*faultCase {
	var out []*faultCase
	for _, f := range slices.Concat(scriptFaults(), ruleFaults()) {
		out = append(out, &faultCase{fault: f})
	}
	for _, f := range modelFaults() {
		out = append(out, &faultCase{fault: f, provider: &faultProviders[0]}, &faultCase{fault: f, provider: &faultProviders[1]})
	}
	for _, f := range modelFaultsAlone() {
		out = append(out, &faultCase{fault: f, provider: &faultProviders[0]})
	}
	pairs := map[string]map[[2]string]bool{}
	for turn, c := range out {
		c.rows = faultRows(&c.fault, c.provider, turn)
		group := fmt.Sprint(c.fault.kind, ", late ", c.fault.late)
		if pairs[group] == nil {
			pairs[group] = map[[2]string]bool{}
		}
		for _, r := range c.rows {
			pairs[group][[2]string{r.onError, r.onTimeout}] = true
		}
	}
	require.Len(t, pairs, 10, "bash, llm, rego, expr and builtin, late and not")
	for group, seen := range pairs {
		require.Len(t, seen, 25, group)
	}
	for turn, c := range out {
		c.rows = partOf(c.rows, turn)
	}
	return out
}

// partOf leaves as many rows of a fault as the depth says, others for the next
// fault.
func partOf(rows []*faultRow, turn int) []*faultRow {
	var out []*faultRow
	for i := range depth.Of(len(rows)) {
		out = append(out, rows[(i*len(rows)/depth.Of(len(rows))+turn)%len(rows)])
	}
	return out
}

// TestFaults runs every row that faultCases leaves: those that mostly sleep beside those that do not.
func TestFaults(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	server := newFaultServer(t)
	defer server.close()
	cases, root := faultCases(t), t.TempDir()
	t.Run("rows", func(t *testing.T) {
		for name, width := range map[string]int{"busy": 3, "asleep": 12} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				for _, c := range cases {
					if c.fault.sleeps == (name == "asleep") {
						t.Run(c.name(), func(t *testing.T) { c.run(t, server, root, width) })
					}
				}
			})
		}
	})
	assert.Empty(t, processes.Children(), "processes that nobody has waited for")
}

// longDeadlines are tried in turn where the machine is so busy that the deadline
// of a fault is over before its hook runs.
var longDeadlines = []string{"3s", "30s"}

// run runs the rows of a fault. Most hooks that the deadline strikes must run by
// then: on a slow machine they get a longer one.
func (c *faultCase) run(t *testing.T, s *faultServer, root string, width int) {
	early := c.once(t, s, filepath.Join(root, c.rows[0].id), width)
	for _, deadline := range longDeadlines {
		if _, timed := c.fault.hook["retry"]; timed || early < c.most() {
			break // its own script counts on the short deadline
		}
		c.fault.chain = deadline
		early = c.once(t, s, filepath.Join(root, c.rows[0].id+"-"+deadline), width)
	}
	if _, timed := c.fault.hook["retry"]; !timed {
		assert.Less(t, early, c.most(), "most must be struck while they run")
	}
}

// most is half of what the rows fire.
func (c *faultCase) most() int64 { return int64(max(1, len(c.rows)*len(faultEvents)/2)) }

// once runs the rows and counts the hooks struck before they were started.
func (c *faultCase) once(t *testing.T, s *faultServer, root string, width int) (early int64) {
	for _, r := range c.rows {
		r.dir = filepath.Join(root, r.id)
		require.NoError(t, os.MkdirAll(r.dir, 0o755))
		r.calls.Store(0)
		r.early.Store(0)
	}
	bounded(width, len(c.rows), func(i int) { c.rows[i].run(t, s) })
	for _, r := range c.rows {
		early += r.early.Load()
	}
	return early
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
