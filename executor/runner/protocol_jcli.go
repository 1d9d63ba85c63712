package runner

import (
	"strings"

	"github.com/hookc/hookc/policy"
)

// jcliProtocol is the canonical one: the context under its own names, and the
// canonical HookResult back. There is no special status: 2 is a failure like
// any other.
// jcli's own hooks are sent what jcli sends.
var jcliProtocol = &protocol{id: policy.JCLIProtocol, eventKey: "event", names: jcliNames, read: readJCLI, native: nativeJCLI, nativeKeys: jcliKeys,
	shape: jcliShape, nativeEnv: []envKey{{"JCLI_CWD", policy.FieldCwd}}}

func readJCLI(a answer) (policy.Result, error) {
	if a.exit != 0 {
		return policy.Result{}, a.failure()
	}
	text := strings.TrimSpace(a.stdout)
	if text == "" {
		return policy.Result{}, nil
	}
	return policy.ParseHookResultText([]byte(text), a.by)
}
