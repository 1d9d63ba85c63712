package guard

import (
	"context"
	"fmt"
	"time"

	"github.com/hookc/hookc/builtins/rule"
	"github.com/hookc/hookc/builtins/secret"
	"github.com/hookc/hookc/builtins/shell"
	"github.com/hookc/hookc/builtins/toolcall"
	"github.com/hookc/hookc/builtins/toolfiles"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
)

var secretGuardRule = rule.Rule{
	Name: "secret-guard",
	Cost: 6 * time.Microsecond,
	Doc:  "denies keys and tokens in prompts, tool calls, written files and outgoing commands, and takes them out of tool results",
	Options: []rule.OptionSpec{
		{Name: "allow", Texts: true, Doc: "values that are no secret, `*` being any text, or rules that are not applied: jwt"},
		{Name: "allow_paths", Texts: true, Doc: "files into which secrets may be written: tests/fixtures"},
		{Name: "otherwise", Type: policy.StringType, Doc: "ask or deny where a secret is found; not written: deny"},
		unknownOption,
	},
	New: newSecretGuard,
}

// secretFields are what the guard looks at, of what an event carries.
var secretFields = []policy.Field{policy.FieldUserInput, policy.FieldToolInput, policy.FieldToolResult}

// secretGuard looks for secrets.
type secretGuard struct {
	by             policy.By
	fields         []policy.Field
	found, unknown policy.Verdict
	allow          []string
	free           pathSet
}

func newSecretGuard(h *policy.Hook, opts rule.Options) (rule.Made, diag.List) {
	s := guardSetup{hook: h, opts: opts}
	g := &secretGuard{by: policy.By{Name: h.Name, At: h.Span}, found: s.verdict("otherwise", policy.Deny), unknown: s.unknown(), allow: s.exceptions("allow")}
	g.free = s.paths("allow_paths", s.exceptions("allow_paths"))
	spec := h.Event.Spec()
	for _, f := range secretFields {
		if spec.CanRead(f) {
			g.fields = append(g.fields, f)
		}
	}
	if spec.CanRead(policy.FieldToolResult) {
		g.fields = []policy.Field{policy.FieldToolResult} // what was called has happened
	}
	s.needs(secretFields...)
	effects := policy.Effects{Reads: policy.FieldPaths(g.fields...), World: policy.WorldNone, Spec: true, May: powersFor(g.found, g.unknown)}
	if spec.CanWrite(policy.FieldToolResult) {
		effects.Writes = policy.FieldPaths(policy.FieldToolResult)
	}
	if lists.Among(g.fields, policy.FieldToolInput) {
		effects.Reads = effects.Reads.Union(policy.FieldPaths(policy.FieldShell, policy.FieldPath))
	}
	return rule.Made{Runner: g, Effects: effects}, s.found
}

// Run looks at the fields of the event. What a tool has returned is already
// there: its secrets are replaced, and the rest goes on.
func (g *secretGuard) Run(_ context.Context, in *policy.Context, _ int) (policy.Result, error) {
	says := guardSays{by: g.by}
	var patch policy.Patch
	for _, f := range g.fields {
		value, ok := in.Get(f)
		switch {
		case !ok:
		case f == policy.FieldToolResult:
			out, n, err := secret.Redact(value)
			if err != nil {
				says.add(g.unknown, func() string { return tooMuchText(f) })
			} else if n > 0 {
				patch = policy.Replace(policy.Path{Field: f}, out)
			}
		case g.mayHold(in, f):
		default:
			g.value(&says, f.String(), value, 0)
		}
	}
	if lists.Among(g.fields, policy.FieldToolInput) {
		g.sent(&says, in)
	}
	r := says.result()
	r.Patch = patch
	return r, nil
}

// mayHold reports whether the call writes into a file that may hold secrets.
func (g *secretGuard) mayHold(in *policy.Context, f policy.Field) bool {
	if len(g.free) == 0 || f != policy.FieldToolInput {
		return false
	}
	at := shell.Here(in.Text(policy.FieldCwd), in.Text(policy.FieldProjectRoot))
	files := toolfiles.Of(in, toolcall.KindOf(in.Text(policy.FieldToolName)))
	for _, file := range files {
		p, ok := toolfiles.At(file.Path, at)
		if _, free := g.free.match(p, &at); !ok || !free {
			return false
		}
	}
	return len(files) > 0
}

// maxSecretDepth bounds how deep lists and objects are looked into.
const maxSecretDepth = 64

// value looks for secrets in a text, or in each text inside a list or object,
// keys included.
func (g *secretGuard) value(says *guardSays, where string, v any, depth int) {
	if depth > maxSecretDepth {
		says.add(g.unknown, func() string {
			return where + " is nested too deeply to be searched for secrets; instead: send less at a time"
		})
		return
	}
	switch v := v.(type) {
	case string:
		g.text(says, where, v)
	case []any:
		for _, e := range v {
			g.value(says, where, e, depth+1)
		}
	case map[string]any:
		for _, k := range lists.Keys(v) {
			g.value(says, where+"."+k, v[k], depth+1)
			g.text(says, where, k)
		}
	}
}

func (g *secretGuard) text(says *guardSays, where, text string) {
	found, err := secret.Find(text)
	if err != nil {
		says.add(g.unknown, func() string { return where + ": " + err.Error() + "; instead: send less text at a time" })
		return
	}
	for _, f := range found {
		if lists.Has(g.allow, f.Rule) || wildcardAny(g.allow, text[f.From:f.To]) {
			continue
		}
		says.add(g.found, func() string {
			return fmt.Sprintf("%s holds what looks like a secret (%s, %s); instead: keep it in the environment or a secret store and use it by name (`curl -H \"Authorization: Bearer $API_TOKEN\" https://example.com/api`), and write a placeholder into files (`echo 'API_TOKEN=' >> .env.example`)",
				where, f.Rule, f.Preview)
		})
	}
}

func tooMuchText(f policy.Field) string {
	return f.String() + " cannot be searched for secrets within bounds; instead: ask for less at a time (`head -100 build.log`)"
}

// sent judges what a command line sends to another machine.
func (g *secretGuard) sent(says *guardSays, in *policy.Context) {
	s, ok := toolcall.Shell(in)
	if !ok {
		return
	}
	if len(s.Unknown) > 0 && toolcall.KindOf(in.Text(policy.FieldToolName)) == toolcall.KindShell {
		says.add(g.unknown, func() string { return unreadable(s.Unknown[0]) })
	}
	for i := range s.Effects {
		e := &s.Effects[i]
		if e.Kind == shell.EffectConnect && e.Secret != "" {
			says.add(g.found, func() string { return adviceSendSecret.reason(s, e) })
		}
	}
}
