//go:build unix

package serve

import (
	"hash/maphash"
	"os"
	"slices"
	"strings"

	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/internal/paths"
	"github.com/hookc/hookc/internal/spell"
	"github.com/hookc/hookc/policy/agent"
)

// fixedEnv are the variables that hookc reads where a caller cannot be told
// apart, or that Go reads when it starts: a caller for whom one is different
// is handed back. All others are taken from the caller (caller.getenv, and
// hookc.Environ for what hooks inherit). The agents' own variables are fixed as well: they
// say which settings are protected. TestEnvironmentReads holds the list of
// the places that read.
var fixedEnv = []string{
	"HOME", "USER", "LOGNAME", "TMPDIR", "TZ", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR", "HOOKC_TRUST", "GEMINI_PLANS_DIR",
	"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy", "SSL_CERT_FILE", "SSL_CERT_DIR", "GODEBUG",
}

// planEnv are the variables that a plan depends on.
var planEnv = []string{"HOOKC_", "OPENAI_", "ANTHROPIC_"}

// environment is this process's, as it was at the start.
type environment struct {
	fixed map[string]string
	path  string
}

func ownEnvironment() *environment {
	e := &environment{fixed: map[string]string{}, path: os.Getenv("PATH")}
	for _, name := range lists.Concat(agent.Variables(), paths.GitVariables, fixedEnv) {
		e.fixed[name] = os.Getenv(name)
	}
	return e
}

func (e *environment) get(name string) string {
	if name == "PATH" {
		return e.path
	}
	return e.fixed[name]
}

// differs names a variable that is another one for the caller, "" when none
// is.
func (e *environment) differs(environ []string) string {
	set := 0
	for _, kv := range environ {
		name, value, _ := spell.Cut(kv, "=")
		own, fixed := e.fixed[name]
		switch {
		case !fixed:
		case own != value:
			return "the caller has another " + name
		case value != "":
			set++
		}
	}
	own := 0
	for _, value := range e.fixed {
		if value != "" {
			own++
		}
	}
	if set != own {
		return "the caller lacks a variable that serve has, or has one twice"
	}
	return ""
}

var environSeed = maphash.MakeSeed()

// digest is a number for what plans depend on in an environment. The order of
// variables does not count.
func digest(environ []string) uint64 {
	var sum uint64
	for _, kv := range environ {
		if slices.ContainsFunc(planEnv, func(p string) bool { return strings.HasPrefix(kv, p) }) {
			sum += maphash.String(environSeed, kv)
		}
	}
	return sum
}
