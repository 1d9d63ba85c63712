package faults

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/hookc/hookc"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/tests/processes"
	"github.com/hookc/hookc/tests/programs"
)

// The entry point of a HOOK.md folder cannot be started. The format has no word
// for on_error; HOOKC_DEFAULTS_ON_ERROR has.
func TestFaultEntryOfHookMD(t *testing.T) {
	triggers := map[string]string{"pre_tool_execution": "pre-tool-call", "pre_send_message": "pre-agent-turn",
		"post_tool_execution": "post-tool-call", "stop": "pre-agent-turn-stop"}
	faults := map[string]func(script string) error{
		"missing": os.Remove,
		"not executable": func(script string) error {
			return os.Chmod(script, 0o644)
		},
		"a folder": func(script string) error {
			if err := os.Remove(script); err != nil {
				return err
			}
			return os.Mkdir(script, 0o755)
		},
		"without its interpreter": func(script string) error {
			return programs.Write(script, []byte("#!/no/such/interpreter\n"))
		},
	}
	for name, fails := range faults {
		for _, before := range []bool{false, true} {
			for _, posture := range faultPostures {
				t.Run(fmt.Sprintf("%s, found out early %v, on_error %q", name, before, posture), func(t *testing.T) {
					row := &faultRow{fault: &fault{kind: "bash", fails: "spawn", unstarted: true}, onError: posture, retry: -1, dir: t.TempDir()}
					options, witnesses := []hookc.Option{quickly()}, map[string]any{}
					for event, trigger := range triggers {
						script := hookFolder(t, filepath.Join(row.dir, event), trigger)
						if before {
							require.NoError(t, fails(script))
						} else {
							defer func() { require.NoError(t, os.RemoveAll(script)) }()
						}
						options = append(options, hookc.Files(filepath.Join(row.dir, event, "faulty")))
						witnesses[event] = []any{faultWitness()}
					}
					text, err := json.Marshal(witnesses)
					require.NoError(t, err)
					options = append(options, hookc.Text("hooks.yaml", string(text)))
					if posture != "" {
						options = append(options, hookc.Overrides(map[string]string{"ON_ERROR": posture}))
						row.warnings = []wireWarning{{Code: "HK181"}}
					}
					eng, err := hookc.Open(t.Context(), options...)
					require.NoError(t, err)
					for i := range faultEvents {
						e := &faultEvents[i]
						if triggers[e.name] == "" {
							continue
						}
						if !before {
							require.NoError(t, fails(filepath.Join(row.dir, e.name, "faulty", "scripts", "run")))
						}
						d, err := eng.Fire(t.Context(), policy.Event(e.name), row.input(e))
						row.check(t, e, name, d, err)
					}
					require.NoError(t, eng.Close())
				})
			}
		}
	}
}

// hookFolder makes the HOOK.md folder `faulty` and returns its entry point.
func hookFolder(t *testing.T, dir, trigger string) string {
	scripts := filepath.Join(dir, "faulty", "scripts")
	require.NoError(t, os.MkdirAll(scripts, 0o755))
	head := "---\nname: faulty\ndescription: cannot be started\ntrigger: " + trigger + "\n---\n"
	require.NoError(t, os.WriteFile(filepath.Join(dir, "faulty", "HOOK.md"), []byte(head), 0o644))
	script := filepath.Join(scripts, "run")
	require.NoError(t, programs.Write(script, []byte("#!/bin/sh\nexit 0\n")))
	return script
}

// The failure of an async hook is nobody's business, whatever it is: nobody
// waits for it, and nothing of it is left.
func TestFaultsOfAsyncHooks(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	server := newFaultServer(t)
	defer server.close()
	var rows []*faultRow
	add := func(f fault, p *faultProvider) {
		if f.struck != "" || f.flaky { // async hooks are outside the deadline, and make one attempt
			return
		}
		f = f.with(func(f *fault) { f.hook["async"] = true; delete(f.hook, "retry") })
		id := fmt.Sprint("async", rowCount.Add(1))
		rows = append(rows, &faultRow{fault: &f, provider: p, id: id, retry: -1, dir: filepath.Join(t.TempDir(), id), calls: new(atomic.Int64)})
	}
	for _, f := range scriptFaults() {
		add(f, nil)
	}
	for _, f := range modelFaults() {
		add(f, &faultProviders[0])
	}
	bounded(4, len(rows), func(i int) {
		r := rows[i]
		name := r.fault.kind + "/" + r.fault.name
		if !assert.NoError(t, os.Mkdir(r.dir, 0o755)) {
			return
		}
		options, err := r.options(server)
		assert.NoError(t, err)
		eng, err := hookc.Open(t.Context(), options...)
		if !assert.NoError(t, err, name) {
			return
		}
		for k := range faultEvents {
			e := &faultEvents[k]
			d, err := eng.Fire(t.Context(), policy.Event(e.name), r.input(e))
			if !assert.NoError(t, err, name) {
				return
			}
			got, err := wireOf(d)
			assert.NoError(t, err, name)
			assert.Equal(t, wireDecision{Action: "proceed", Verdict: "none", Control: "go", System: []string{"a later hook ran"}, Hooks: []wireHook{
				{Name: "faulty", Status: "async", Attempts: 1}, {Name: "witness", Status: "ran", Attempts: 1}}}, got, "%s %s", name, e.name)
		}
		assert.NoError(t, eng.Close())
		assert.Empty(t, processes.LeftBehind(r.mark()), name)
		made, failed := int64(0), int64(0)
		for _, m := range eng.Metrics().List() {
			if m.Hook == "faulty" {
				made, failed = made+m.Runs, failed+m.Failed
			}
		}
		want := int64(len(faultEvents))
		if r.fault.fails == "" {
			want = 0
		}
		assert.EqualValues(t, []int64{int64(len(faultEvents)), want}, []int64{made, failed}, "%s: runs and failures are counted", name)
	})
	assert.Empty(t, processes.Children())
}

// A host that cancels gets `cancelled` and no Decision, whatever the postures
// say, and nothing is left of what ran.
func TestFaultCancelled(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	server := newFaultServer(t)
	defer server.close()
	blocks := func(ctx context.Context, _ int) (policy.Result, error) {
		<-ctx.Done()
		return policy.Result{}, ctx.Err()
	}
	long := func(f fault) fault { // a rule that would run for seconds
		rule := f.rule
		f.rule = func(refuses bool) map[string]any {
			out := rule(refuses)
			out["timeout"] = "20s"
			return out
		}
		return f
	}
	endless := func(name, command string) fault {
		return script(name, "", "", command).with(func(f *fault) { f.hook["retry"] = 3 })
	}
	faults := []fault{
		endless("script", "sleep 30"), endless("deaf script", "trap '' TERM; sleep 30"),
		endless("family", "sleep 30 & sleep 30 & wait"), endless("quick script", "exit 3"),
		modelFault("model", "", "", func(p faultProvider) http.HandlerFunc { return drip(p.says("{}")) }),
		long(regoFault("rego", "", "", regoLoop, "")), long(exprFault("expr", "", "", exprLoop)),
		goFault("go", "", "", blocks).with(func(f *fault) { f.hook["timeout"] = "20s" }),
	}
	var rows []*faultRow
	for i := range faults {
		for _, posture := range faultPostures {
			for _, follow := range []bool{false, true} {
				id := fmt.Sprint("cancel", rowCount.Add(1))
				rows = append(rows, &faultRow{fault: &faults[i], provider: &faultProviders[0], id: id, onError: posture, onTimeout: posture,
					retry: -1, follow: follow, dir: filepath.Join(t.TempDir(), id), calls: new(atomic.Int64)})
			}
		}
	}
	bounded(8, len(rows), func(i int) { rows[i].cancel(t, server) })
	assert.Empty(t, processes.Children())
}

func (r *faultRow) cancel(t *testing.T, s *faultServer) {
	if !assert.NoError(t, os.Mkdir(r.dir, 0o755)) {
		return
	}
	options, err := r.options(s)
	assert.NoError(t, err)
	eng, err := hookc.Open(context.Background(), options...)
	if !assert.NoError(t, err) {
		return
	}
	fires := map[string]fireFunc{"scheduled": eng.Fire, "serial": eng.FireSerial}
	for _, how := range slices.Sorted(maps.Keys(fires)) {
		for k := range faultEvents {
			e := &faultEvents[k]
			place := fmt.Sprintf("%s, %s, %s, %s", r.fault.name, e.name, r.name(), how)
			d, took, err := r.cut(fires[how], e)
			if !assert.NoError(t, err, place) {
				return
			}
			assert.Equal(t, policy.Cancelled, d.Action, place)
			assert.False(t, d.Permits(), place)
			assert.Less(t, took, 10*time.Second, place)
			assert.Empty(t, d.By, place)
			assert.Empty(t, d.Reasons, place)
			assert.Empty(t, d.Failed, place)
			assert.Empty(t, d.SystemMessages, place)
			_, err = os.Stat(r.path("followed", e))
			if e.class != "O" || r.fault.kind != "llm" { // a script need not wait for a model that can neither change nor end anything
				assert.ErrorIs(t, err, os.ErrNotExist, place)
			}
		}
	}
	assert.NoError(t, eng.Close())
	assert.Empty(t, processes.LeftBehind(r.mark()), r.fault.name)
}

// cut fires an event and cancels it. A rule's budget may be spent before a busy
// machine gets round to cancelling; then there was nothing to cancel.
func (r *faultRow) cut(fire fireFunc, e *faultEvent) (d *policy.Decision, took time.Duration, err error) {
	for range 10 {
		if err := os.RemoveAll(r.path("followed", e)); err != nil {
			return nil, 0, err
		}
		ctx, cancel := context.WithTimeout(context.Background(), 25*time.Millisecond)
		if r.fault.name == "quick script" { // cancelled before it begins
			cancel()
		}
		began := time.Now()
		d, err = fire(ctx, policy.Event(e.name), r.input(e))
		took = time.Since(began)
		cancel()
		if err != nil || len(d.Failed) == 0 || d.Failed[0].Kind != policy.ErrBudget {
			break
		}
	}
	return d, took, err
}
