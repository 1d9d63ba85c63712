// Package durable says of a hook that nobody waits for what does not become of it: that
// it is dropped, or what of a durable hook's promise does not hold.
package durable

import (
	"errors"

	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
)

var codeAsync = diag.Define("HK172", diag.Warning, "async hook was not started")
var codeNotKept = diag.Define("HK173", diag.Warning, "durable hook is not kept as its policy wants")

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
