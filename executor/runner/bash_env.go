package runner

import (
	"context"
	"os"
	"strings"

	"github.com/hookc/hookc/internal/spell"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/observe"
)

// maxEnv bounds one variable. What is longer is on stdin only: the system
// refuses to start a process with too long a one, and a call with a huge path
// must not switch its guard off.
const maxEnv = 32 << 10

// commonEnv are the variables every hook gets (semantics.md §10).
var commonEnv = []struct {
	name  string
	field policy.Field
}{
	{"JCLI_CWD", policy.FieldCwd},
	{"TOOL_NAME", policy.FieldToolName},
	{"FILE_PATH", policy.FieldPath},
	{"EDITED_FILE", policy.FieldPath},
	{"CLAUDE_PROJECT_DIR", policy.FieldProjectRoot},
	{"HOOKC_PROJECT_ROOT", policy.FieldProjectRoot},
}

// env is the environment of one run: hookc's own, what the event says as far
// as the hook may read it, and the hook's own. A variable the event has no
// value for is absent, whatever hookc's own environment says, so that a hook
// never takes another event's value for this one's.
func (b *bash) env(ctx context.Context, in *policy.Context) []string {
	set := map[string]string{}
	var order []string
	put := func(name, value string) {
		if _, seen := set[name]; !seen {
			order = append(order, name)
		}
		set[name] = value
	}
	put("JCLI_HOOK_EVENT", string(b.hook.Event))
	put("HOOK_EVENT", b.agent.EventName(b.hook.Event))
	native := b.body.Agent.Event != ""
	vars, alone := b.agent.Env(in, native)
	for _, k := range commonEnv {
		if !alone {
			put(k.name, commonValue(in, k.field))
		}
	}
	for _, v := range vars {
		put(v.Name, v.Value)
	}
	put("HOOKC_POLICY_DIR", b.hook.Dir)
	hookDir := b.body.WorkDir
	if len(b.body.Args) == 0 {
		hookDir = ""
	}
	put("AGENT_HOOK_DIR", hookDir)
	if t := observe.TraceOf(ctx); t.Parent != "" {
		put("TRACEPARENT", t.Parent)
		put("TRACESTATE", t.State)
	}
	for _, v := range b.body.Env {
		put(v.Name, v.Value)
	}
	var out []string
	host := b.hosts(ctx)
	reach := b.reach(in, host)
	for _, kv := range host {
		name, _, _ := spell.Cut(kv, "=")
		if _, ours := set[name]; ours || native && b.agent.Hides(name) {
			continue
		}
		if kv, keep := reach.hosted(kv); keep {
			out = append(out, kv)
		}
	}
	for _, name := range order {
		if v := set[name]; b.passes(name, v) {
			out = append(out, name+"="+v)
		}
	}
	return reach.settled(out, b.body.Imports)
}

// commonValue is the text of a field. The file that a call names is told whatever
// the tool, also where the kind of tool is not known to be about a file.
func commonValue(in *policy.Context, f policy.Field) string {
	if text := in.Text(f); text != "" || f != policy.FieldPath {
		return text
	}
	v, _ := in.At(policy.Path{Field: policy.FieldToolInput, Keys: []string{"file_path"}})
	text, _ := v.(string)
	return text
}

type environKey struct{}

// WithEnviron has the bash hooks of a firing inherit an environment instead of
// that of Options: it is the agent's whose event it is.
func WithEnviron(ctx context.Context, environ []string) context.Context {
	ctx = observe.WithTrace(ctx, observe.InEnviron(environ))
	return context.WithValue(ctx, environKey{}, environ)
}

// hosts is the environment of the agent.
func (b *bash) hosts(ctx context.Context) []string {
	if environ, ok := ctx.Value(environKey{}).([]string); ok {
		return environ
	}
	if b.environ == nil {
		return os.Environ()
	}
	return b.environ
}

// passes reports whether a variable can be given to a process. An empty one
// is absent unless the author wrote it.
func (b *bash) passes(name, value string) bool {
	if len(value) > maxEnv || strings.ContainsRune(value, 0) {
		return false
	}
	if value != "" {
		return true
	}
	for _, v := range b.body.Env {
		if v.Name == name {
			return true
		}
	}
	return false
}
