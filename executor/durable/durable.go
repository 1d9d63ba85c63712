// Package durable says of a hook that nobody waits for what does not become of it: that
// it is dropped, or what of a durable hook's promise does not hold.
package durable

import (
	"errors"

	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
)

var codeAsync = diag.Define(diag.Code{
	ID: "HK172", Severity: diag.Warning,
	Title: "async hook was not started",
	Help: `An async hook is started and not waited for. It could not be: sixteen were running
already, or the process that should have taken it over could not be started. It is
dropped, counted and reported; no later event runs it. Make the hook faster, give it a
filter so that fewer events start it, or do not declare it async.`,
	Bad: `-- hooks.yaml --
notify:
  - {command: sleep 0.1, async: true}
-- env --
TMPDIR=/does/not/exist
-- event.json --
{"event": "notify", "message": "hi"}
`,
	Good: `-- hooks.yaml --
notify:
  - {command: sleep 0.1, async: true}
-- event.json --
{"event": "notify", "message": "hi"}
`,
})

var codeNotKept = diag.Define(diag.Code{
	ID: "HK173", Severity: diag.Warning,
	Title: "durable hook is not kept as its policy wants",
	Help: `durable: true has an async hook kept in a queue until it has run. Only hookcd serve has
that queue. Where it cannot be reached the hook is started once all the same, as any
async hook is: when it fails, or the machine does, it is not run again. Where hookcd
cannot reach the NATS of its fleet the hook waits on this machine until it can. Start
hookcd serve, or take out durable: true.`,
	Bad: `-- hooks.yaml --
notify:
  - {command: "true", async: true, durable: true}
-- event.json --
{"event": "notify", "message": "hi"}
`,
	Good: `-- hooks.yaml --
notify:
  - {command: "true", async: true}
-- event.json --
{"event": "notify", "message": "hi"}
`,
})

// NotKeptError says that a durable hook was started, or will be, and what of its
// durability does not hold.
type NotKeptError struct{ Why string }

func (e *NotKeptError) Error() string { return e.Why }

// NoQueue is why a process that has no queue does not keep a hook.
var NoQueue = &NotKeptError{Why: "it is started once: this process has no queue"}

// Dropped is what a Decision says of a hook that is not started.
func Dropped(h *policy.Hook, why string) *policy.Warning {
	return &policy.Warning{Code: codeAsync, Hook: h.Name, Text: h.Name + ": dropped: " + why}
}

// Warning is what a Decision says of a durable hook that is not kept as its policy wants,
// nil where err does not say so or the hook is not durable.
func Warning(h *policy.Hook, err error) *policy.Warning {
	var loose *NotKeptError
	if !h.Durable || !errors.As(err, &loose) {
		return nil
	}
	return &policy.Warning{Code: codeNotKept, Hook: h.Name, Text: h.Name + " is durable, and " + loose.Why}
}
