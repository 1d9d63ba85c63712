// Package keep writes what a process decides to the decision log of its user, where
// there is one.
package keep

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/hookc/hookc/internal/decisionlog"
	"github.com/hookc/hookc/internal/release"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
	"github.com/hookc/hookc/policy/state"
)

var codeUnlogged = diag.Define(diag.Code{
	ID: "HK183", Severity: diag.Warning,
	Title: "a decision is not in the decision log",
	Help: `The decision log is on ("hookc log enable") and could not be written: the disk is full,
or its folder is not writable. Enabled with --on-error deny, a guarded action is refused
then; with warn it goes on, and the answer says that it is not in the log. Make room, or
make the folder writable.`,
	Bad: `-- hooks.yaml --
stop:
  - {name: gate, deny: 'assistant_output contains "failed"', reason: the tests fail}
-- event.json --
{"event": "stop", "session_id": "s", "assistant_output": "done"}
-- .state/hookc/log.json --
{"enabled": true, "on_error": "warn"}
-- .state/hookc/log --
a file where the folder of the log should be
`,
	Good: `-- hooks.yaml --
stop:
  - {name: gate, deny: 'assistant_output contains "failed"', reason: the tests fail}
-- event.json --
{"event": "stop", "session_id": "s", "assistant_output": "done"}
-- .state/hookc/log.json --
{"enabled": true, "on_error": "warn"}
`,
})

// Log is the decision log as one process writes to it. The zero Log is ready; it is
// safe for concurrent use.
type Log struct {
	// Brief is for a process that decides one event.
	Brief bool

	mu       sync.Mutex
	looked   time.Time
	settings decisionlog.Settings
	stamp    string
	writer   *decisionlog.Writer
	err      error
}

// lookEvery is how long a resident process takes to see other settings.
const lookEvery = time.Second

// open is the writer in force, nil where nothing is logged.
func (l *Log) open() (*decisionlog.Writer, decisionlog.Settings, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if now := time.Now(); l.looked.IsZero() || now.Sub(l.looked) >= lookEvery {
		l.looked = now
		l.look()
	}
	return l.writer, l.settings, l.err
}

// look reads the settings if they are not those in force.
func (l *Log) look() {
	home, err := state.Home()
	if err != nil { // there is nowhere to enable a log either
		return
	}
	stamp := ""
	if info, err := os.Stat(decisionlog.SettingsFile(home)); err == nil {
		stamp = fmt.Sprint(info.ModTime().UnixNano(), info.Size())
	}
	if stamp == l.stamp && l.err == nil {
		return
	}
	l.stop()
	l.stamp = stamp
	if l.settings, l.err = decisionlog.ReadSettings(home); l.err != nil || !l.settings.Enabled {
		return
	}
	dir := decisionlog.Folder(home)
	var options decisionlog.Options
	if options, l.err = l.settings.Options(dir, release.Current().Version, l.Brief); l.err == nil {
		l.writer, l.err = decisionlog.Open(dir, options)
	}
}

func (l *Log) stop() {
	if l.writer != nil {
		if err := l.writer.Close(); err != nil {
			fmt.Fprintf(os.Stderr, "hookc: the decision log: %v\n", err)
		}
		l.writer = nil
	}
}

// Close ends the log of a process.
func (l *Log) Close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stop()
}

// On reports whether decisions are logged.
func (l *Log) On() bool {
	w, _, _ := l.open()
	return w != nil
}

// Decided logs a decision, or why there is none, and gives what to answer: where
// a guarded event cannot be logged and must be, that is a refusal.
func (l *Log) Decided(ctx context.Context, entry decisionlog.Decided) *policy.Decision {
	d := entry.Decision
	w, settings, err := l.open()
	if w == nil && err == nil || settings.Drops(entry.Event) {
		return d
	}
	ctx = context.WithoutCancel(ctx)
	if err == nil {
		if err = w.Add(ctx, entry); errors.Is(err, os.ErrClosed) { // other settings are in force
			if w, settings, err = l.open(); w != nil {
				err = w.Add(ctx, entry)
			}
		}
		if err == nil && w != nil && l.Brief {
			err = w.Written(ctx)
		}
	}
	if err == nil || d == nil {
		return d
	}
	why := fmt.Sprintf("the decision is not in the log: %v", err)
	if settings.OnError == "deny" && entry.Event.Spec().Class == policy.Guard {
		d = &policy.Decision{Event: entry.Event, Action: policy.Block, Verdict: policy.Deny, By: "hookc-log", Reasons: []string{why}, Policy: d.Policy, Hooks: d.Hooks, Final: d.Final}
	}
	d.Warnings = append(d.Warnings, policy.Warning{Code: codeUnlogged, Text: why})
	return d
}
