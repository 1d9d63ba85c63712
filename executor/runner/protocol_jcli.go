package runner

import (
	"strings"

	"github.com/hookc/hookc/policy"
)

// jcliProtocol is the canonical one: the context under its own names, and the
// canonical HookResult back. There is no special status: 2 is a failure like
// any other.
var jcliProtocol = &protocol{id: policy.JCLIProtocol, read: readJCLI}

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
