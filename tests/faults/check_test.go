package faults

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/hookc/hookc/policy"
)

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
	r.forgive(&want, &got)
	assert.Equal(t, want, got, place)
	_, err = os.Stat(r.path("followed", e))
	assert.Equal(t, r.follow && want.Hooks[len(want.Hooks)-1].Status == "ran", err == nil, "%s: a process was started behind", place)
	r.checkCount(t, e, place, want)
}

// forgive takes a hook that the chain deadline struck before it was started for
// one that it struck in its first attempt: on a machine so busy that a process
// is not started in time, both are what the specification allows (§5.2, T2).
func (r *faultRow) forgive(want, got *wireDecision) {
	for i := range min(len(got.Hooks), len(want.Hooks)) {
		h, w := &got.Hooks[i], &want.Hooks[i]
		if r.fault.struck != "" && h.Status == "failed" && h.Attempts == 0 && w.Attempts == 1 {
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
	if f.unheard {
		out.Warnings = append(slices.Clone(out.Warnings), wireWarning{Code: "HK096", Hook: "faulty"})
	}
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
