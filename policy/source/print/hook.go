package print

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/agent"
	"github.com/hookc/hookc/policy/diag"
	"github.com/hookc/hookc/policy/rollout"
	"github.com/hookc/hookc/policy/source"
)

// items are the hooks and groups of an event as a list.
func (pr *printer) items(e policy.Event) block {
	out := block{list: true, apart: true}
	var hooks []*policy.Hook
	for _, h := range pr.hooks {
		if h.Event == e {
			hooks = append(hooks, h)
		}
	}
	for i := 0; i < len(hooks); {
		to := i + 1
		for to < len(hooks) && hooks[i].Group != nil && hooks[to].Group == hooks[i].Group {
			to++
		}
		if g := hooks[i].Group; g != nil {
			out.entries = append(out.entries, blockEntry{value: pr.group(g, hooks[i:to], i)})
		} else {
			out.entries = append(out.entries, pr.item(hooks[i], i))
		}
		i = to
	}
	return out
}

// group is a parallel group; place is that of its first member.
func (pr *printer) group(g *policy.Group, hooks []*policy.Hook, place int) block {
	out := block{}
	if first := hooks[0]; g.Name != fmt.Sprintf("%s..%d", source.DefaultName(pr.options.Tier, first.Event, place), place+len(hooks)) {
		pr.text(&out, first, "name", g.Name)
	}
	if g.Priority != policy.DefaultPriority {
		out.put("priority", word(strconv.Itoa(g.Priority)))
	}
	switch g.Fold {
	case policy.FoldMax:
	case policy.FoldLast:
		out.put("fold", "last")
	default:
		pr.lost(hooks[0], g.Span, "a parallel group folds by max or last, not %s", g.Fold)
	}
	members := block{list: true}
	for i, h := range hooks {
		members.entries = append(members.entries, pr.item(h, place+i))
	}
	out.put("parallel", members)
	return out
}

// item is one hook with its comments, of which some say what could not be
// written; place is its place among the printed
// hooks of its event.
func (pr *printer) item(h *policy.Hook, place int) blockEntry {
	out := blockEntry{value: pr.hook(h, place)}
	if pr.options.Hook != nil {
		out.comments = pr.options.Hook(h)
	}
	for _, d := range pr.found {
		if d.Hook == h.Name {
			out.comments = append(out.comments, NotTheSame+d.Text)
		}
	}
	return out
}

func (pr *printer) hook(h *policy.Hook, place int) block {
	out := &block{}
	if h.Untrusted != "" {
		pr.lost(h, h.Span, "the hook is not trusted, so it does not run; written down again it would: %s", h.Untrusted)
	}
	if h.Name != source.DefaultName(pr.options.Tier, h.Event, place) {
		pr.text(out, h, "name", h.Name)
	}
	pr.text(out, h, "description", h.Description)
	if h.Priority != policy.DefaultPriority && h.Group == nil {
		out.put("priority", word(strconv.Itoa(h.Priority)))
	}
	for _, b := range []struct {
		key   string
		is    bool
		value word
	}{{"enabled", h.Disabled || h.Off, "false"}, {"locked", h.Locked, "true"}, {"async", h.Async, "true"}, {"durable", h.Durable, "true"}, {"recheck", h.Recheck, "true"}} {
		if b.is {
			out.put(b.key, b.value)
		}
	}
	if h.Off {
		return *out
	}
	out.some("enforcement", string(h.Enforcement))
	if h.Spared > 0 {
		out.put("rollout", rollout.Share(h.Spared))
	}
	out.some("filter", pr.filter(h))
	pr.body(out, h)
	pr.declared(out, h)
	if h.Timeout != 0 {
		out.put("timeout", pr.duration(h, "timeout", h.Timeout))
	}
	if h.Retry >= 0 {
		out.put("retry", word(strconv.Itoa(h.Retry)))
	}
	if posture := pr.posture(h); posture != policy.PostureUnset {
		out.put("on_error", posture.String())
	}
	if h.OnTimeout != policy.PostureUnset {
		out.put("on_timeout", h.OnTimeout.String())
	}
	return *out
}

// posture is the hook's on_error, or its file's default where the printed file
// does not have it and it means something.
func (pr *printer) posture(h *policy.Hook) policy.Posture {
	own := config(h).OnError[h.Kind]
	refuses := own == policy.OnErrorDeny || own == policy.OnErrorAsk
	switch {
	case h.OnError != policy.PostureUnset || own == pr.onError[h.Kind]:
		return h.OnError
	case h.Async && own != policy.OnErrorSkip, refuses && !h.Event.Spec().PowersFor(h.Body.Protocol).Has(policy.MayDeny|policy.MayAsk):
		return policy.PostureUnset
	}
	return own
}

// filter is the conditions in the order written, which is that of matching.
func (pr *printer) filter(h *policy.Hook) block {
	out := block{}
	seen := map[policy.FilterKey]bool{}
	for _, c := range h.Filter.Conditions {
		switch {
		case source.FindKey(source.InFilter, string(c.Key)) == nil:
			pr.lost(h, c.Value.Span, "the matcher %q cannot be said in a hooks.yaml", c.Value.Value)
		case seen[c.Key]:
			pr.lost(h, c.Value.Span, "a filter has one %s, this one several", c.Key)
		default:
			pr.text(&out, h, string(c.Key), c.Value.Value)
		}
		seen[c.Key] = true
	}
	return out
}

// declared writes effects; an empty list is not the same as none.
func (pr *printer) declared(out *block, h *policy.Hook) {
	d := &h.Declared
	for _, l := range []struct {
		key   string
		texts []diag.Text
	}{{"reads", d.Reads}, {"writes", d.Writes}, {"may", d.May}} {
		if l.texts == nil {
			continue
		}
		for _, t := range l.texts {
			pr.checkText(h, l.key, t.Value)
		}
		out.put(l.key, flow(source.Values(l.texts)))
	}
	if d.World != policy.WorldUnset {
		out.put("world", d.World.String())
	}
	if d.Speculative != nil {
		out.put("speculative", word(strconv.FormatBool(*d.Speculative)))
	}
	if d.Pure {
		out.put("pure", word("true"))
	}
}

// body writes the part that the hook's kind has. The keys tell the kind.
func (pr *printer) body(out *block, h *policy.Hook) {
	b := h.Body
	if b.Load != nil {
		b, _ = b.Load() // what is wrong with it the compiler says
	}
	before := len(out.entries)
	switch h.Kind {
	case policy.KindBash:
		pr.bash(out, h, &b)
	case policy.KindLLM:
		pr.text(out, h, "prompt", b.Prompt.Value)
		model := b.Model
		if own := config(h).Model; model == "" && own != pr.model {
			model = own
		}
		pr.text(out, h, "model", model)
	case policy.KindRego:
		if b.AllowIsOpinion {
			out.put("allow", source.Opinion)
		}
		if b.File != "" {
			pr.text(out, h, "file", pr.path(b.File))
			break
		}
		pr.text(out, h, "source", b.Source.Value)
	case policy.KindExpr:
		pr.expr(out, h, &b)
	case policy.KindBuiltin:
		pr.text(out, h, "use", b.Use.Value)
		pr.given(out, h, b.Options)
	default:
		pr.given(out, h, b.Options)
	}
	if len(out.entries) == before {
		pr.lost(h, h.Span, "the hook has no body")
	}
}

func (pr *printer) bash(out *block, h *policy.Hook, b *policy.Body) {
	switch {
	case len(b.Args) > 0:
		pr.text(out, h, "command", "exec "+shellWords(b.Args))
	default:
		pr.text(out, h, "command", b.Command.Value)
	}
	if b.Agent.Emulate {
		pr.lost(h, h.Span, "the hook's answers are read as %s reads them, also where that lets something through; a hooks.yaml is hardened", b.Protocol)
	}
	if p, ok := agent.ParseProtocol(string(b.Protocol)); b.Protocol != "" {
		if !ok || p != b.Protocol {
			pr.lost(h, h.Span, "protocol %s has no name in a hooks.yaml", b.Protocol)
		}
		out.put("protocol", string(b.Protocol))
	}
	pr.text(out, h, "native_event", b.Agent.Event)
	if b.Agent.Sequential {
		pr.lost(h, h.Span, "%s shows the hook's answer to the next hook; a hooks.yaml cannot ask for that", b.Protocol)
	}
	if b.Agent.Strict {
		pr.lost(h, h.Span, "every exit status but 0 and 2 is a failure of this hook, whatever it printed; a hooks.yaml cannot ask for that")
	}
	if b.WorkDir != "" {
		pr.text(out, h, "cwd", pr.path(b.WorkDir))
	}
	env := block{}
	for _, v := range pr.env(h, b) {
		if !utf8.ValidString(v.Name) || !utf8.ValidString(v.Value) {
			pr.lost(h, h.Span, "the variable %q is not UTF-8", v.Name)
		}
		pr.checkKey(h, v.Name)
		env.put(v.Name, v.Value)
	}
	out.some("env", env)
}

// env is the hook's variables, and the folder of its file where the printed
// one lies elsewhere. A script of an agent's own knows nothing of that variable.
func (pr *printer) env(h *policy.Hook, b *policy.Body) []policy.EnvVar {
	const name = "HOOKC_POLICY_DIR"
	moved := h.Dir != "" && pr.options.Dir != "" && h.Dir != pr.options.Dir
	if !moved || b.Agent.Event != "" || slices.ContainsFunc(b.Env, func(v policy.EnvVar) bool { return v.Name == name }) {
		return b.Env
	}
	return append(lists.Copy(b.Env), policy.EnvVar{Name: name, Value: h.Dir})
}

// maxKey is how many bytes YAML takes for a key on one line.
const maxKey = 1000

func (pr *printer) checkKey(h *policy.Hook, name string) {
	if len(flowText(name)) > maxKey {
		pr.lost(h, h.Span, "the key %.20q… is longer than YAML takes", name)
	}
}

// shellWords is a command line that sh splits into the words again.
func shellWords(args []string) string {
	out := make([]string, len(args))
	for i, a := range args {
		out[i] = a
		if a == "" || strings.Trim(a, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./,:@%+") != "" {
			out[i] = "'" + strings.ReplaceAll(a, "'", `'\''`) + "'"
		}
	}
	return strings.Join(out, " ")
}

// expr writes rules: one beside the hook's other keys, several as a list.
func (pr *printer) expr(out *block, h *policy.Hook, b *policy.Body) {
	pr.text(out, h, "when", b.When.Value)
	rules := block{list: true}
	for _, r := range b.Rules {
		rule := block{}
		for _, name := range r.Says.Names() {
			pr.text(&rule, h, name, r.Condition.Value)
		}
		pr.text(&rule, h, "reason", r.Reason.Value)
		rules.entries = append(rules.entries, blockEntry{value: rule})
	}
	if len(b.Rules) == 1 {
		out.entries = append(out.entries, rules.entries[0].value.(block).entries...)
	} else if len(b.Rules) > 1 {
		out.put("rules", rules)
	}
	set := block{}
	for _, a := range b.Set {
		pr.checkKey(h, a.Path.Value)
		pr.text(&set, h, a.Path.Value, a.Value.Value)
	}
	out.some("set", set)
	pr.text(out, h, "context", b.Context.Value)
}

// given writes what a builtin, or a hook of an added kind, was given, in the
// order written.
func (pr *printer) given(out *block, h *policy.Hook, options []policy.Option) {
	for _, o := range options {
		pr.checkKey(h, o.Key.Value)
		out.put(o.Key.Value, pr.value(h, o.Key.Value, o.Value))
	}
}

// value is a JSON value as YAML; the keys of a map are sorted, since nothing
// remembers their order.
func (pr *printer) value(h *policy.Hook, key string, v any) any {
	switch v := v.(type) {
	case nil:
		return word("null")
	case bool:
		return word(strconv.FormatBool(v))
	case int:
		return word(strconv.Itoa(v))
	case float64:
		if math.IsInf(v, 0) || math.IsNaN(v) {
			break
		}
		return number(v)
	case json.Number:
		return word(v)
	case string:
		if !utf8.ValidString(v) {
			pr.lost(h, h.Span, "%s is not UTF-8", key)
		}
		return v
	case []any:
		if texts, ok := onOneLine(v); ok {
			return texts
		}
		out := block{list: true}
		for _, item := range v {
			out.entries = append(out.entries, blockEntry{value: pr.value(h, key, item)})
		}
		return out
	case map[string]any:
		out := block{}
		for _, k := range lists.Keys(v) {
			pr.checkKey(h, k)
			out.put(k, pr.value(h, key, v[k]))
		}
		return out
	}
	pr.lost(h, h.Span, "%s: a %T cannot be written as YAML", key, v)
	return word("null")
}

// onOneLine is a list of short texts.
func onOneLine(list []any) (flow, bool) {
	out, width := flow{}, 0
	for _, item := range list {
		s, ok := item.(string)
		if width += len(s) + 2; !ok || width > 100 || !utf8.ValidString(s) {
			return nil, false
		}
		out = append(out, s)
	}
	return out, true
}
