package source

import (
	"fmt"
	"math"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hookc/hookc/internal/lazy"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/agent"
	"github.com/hookc/hookc/policy/diag"
	"github.com/hookc/hookc/policy/source/commandline"
	"github.com/hookc/hookc/policy/source/permission"
	"github.com/hookc/hookc/policy/source/tree"
)

// one reads a hook; nil when it cannot run, which has been reported.
func (r *settingsReader) one(event policy.Event, native string, group, n *tree.Node) *policy.Hook {
	if n.Shape != tree.Map {
		r.passed(n.Span, "a hook is a map with a command; this is %s: it is passed over", n.What())
		return nil
	}
	h := &policy.Hook{
		Event: event, Kind: policy.KindBash, Priority: policy.DefaultPriority, Retry: 0, Span: itemSpan(n), Dir: r.config.Dir,
		File: r.config, Timeout: r.Standard, OnError: policy.OnErrorSkip, OnTimeout: policy.OnErrorSkip,
		Body: policy.Body{Protocol: policy.Protocol(r.dialect.ID), Agent: policy.AgentBody{Emulate: r.faithful(), Event: native}},
	}
	if !r.body(native, n, h) {
		return nil
	}
	if written, ok := r.changed[h.Body.Command.Span]; ok { // another value names another program
		r.in.uncovered(h, written, true)
	}
	for i, named := range []*tree.Node{n, group} {
		if i > 0 && r.Handler.Name != "" {
			break // the agent calls hooks by names, ClawdCode groups
		}
		if name := named.Get("name"); name != nil && name.IsText() && strings.TrimSpace(name.Text.Value) != "" {
			r.l.call(h, name.Text.Value)
			break
		}
	}
	if about := n.Get("description"); about != nil && about.IsText() {
		h.Description = about.Text.Value
	}
	r.timeout(n, h)
	if !r.rule(native, n, h) {
		return nil
	}
	r.async(native, n, h)
	r.failure(native, n, h)
	r.surroundings(n, h)
	r.loops(n, h)
	if r.hook != nil && !r.hook(r, native, group, n, h) {
		return nil
	}
	r.identity(n, h)
	return h
}

// body reads what a hook does; false when that is nothing, which has been reported.
func (r *settingsReader) body(native string, n *tree.Node, h *policy.Hook) bool {
	how, kind := &r.Reading.Hook, n.Get("type")
	first, word := r.Handler.Type, ""
	types := how.Types
	if len(types) > 0 {
		first = types[0]
	} else if first != "" {
		types = []string{first}
	}
	told := kind != nil && kind.IsText()
	if told {
		word = kind.Text.Value
	}
	say := strings.NewReplacer("TYPE", word).Replace
	switch {
	case len(types) == 0, kind == nil && !how.Typed, word == first:
		return r.command(n, h)
	case !told && how.Typed:
		r.report(codeNative.Report(itemSpan(n), "the hook has no type: it is passed over").WithHint("write %s", r.written("type", first)))
		return false
	case !lists.Has(types, word) && !how.FailsOther:
		r.otherType(kind, word, first)
		return false
	case lists.Has(r.at.NoTypes, word):
		r.passed(kind.Span, "%s takes no hooks of type %s: it is passed over", native, word)
		return false
	case word == how.Prompt && word != "":
		return r.prompt(n, h)
	case !how.FailsOther && !lists.Has(how.Fails, word):
		return r.command(n, h)
	}
	d := codeUnrun.Report(kind.Span, "%s", say(how.Failing))
	if how.FailHint != "" {
		d = d.WithHint("%s", how.FailHint)
	}
	r.report(d)
	h.Body.Command = diag.Literal("echo '" + say(how.Failure) + "' >&2; exit 1")
	return true
}

// written is a key with its value as the file's language has it.
func (r *settingsReader) written(key, value string) string {
	if strings.EqualFold(filepath.Ext(r.in.Path), ".toml") {
		return key + " = " + strconv.Quote(value)
	}
	return strconv.Quote(key) + ": " + strconv.Quote(value)
}

// otherType reports a type of hook that the agent does not run.
func (r *settingsReader) otherType(kind *tree.Node, word, first string) {
	how := &r.Reading.Hook
	if how.NotRun == "" {
		r.report(codeNative.Report(kind.Span, "%s has no hooks of this type: it is passed over", r.id).WithHint(`write "type": %q`, first))
		return
	}
	d := codeNative.Report(kind.Span, "%s", strings.ReplaceAll(how.NotRun, "TYPE", strconv.Quote(word)))
	switch {
	case strings.HasPrefix(how.NotRunHint, "types: "):
		d = d.WithHint("%s", diag.DidYouMean(word, how.Types, how.NotRunHint))
	case how.NotRunHint != "":
		d = d.WithHint("%s", how.NotRunHint)
	}
	r.report(d)
}

// prompt reads a question to a model.
func (r *settingsReader) prompt(n *tree.Node, h *policy.Hook) bool {
	prompt := n.Get("prompt")
	if prompt == nil || !prompt.IsText() || strings.TrimSpace(prompt.Text.Value) == "" {
		r.passed(itemSpan(n), "the hook has no prompt: it is passed over")
		return false
	}
	h.Kind, h.Body.Prompt = policy.KindLLM, prompt.Text
	if model := n.Get("model"); model != nil && model.IsText() {
		h.Body.Model = model.Text.Value
	}
	h.Body.Agent.ContinueTurn = isTrue(n.Get("continueOnBlock"))
	return true
}

// command reads the command of a hook, for this system. One that starts hookc
// itself is none.
func (r *settingsReader) command(n *tree.Node, h *policy.Hook) bool {
	how := &r.Reading.Hook
	keys := append([]string{r.Handler.Command}, r.Handler.Also...)
	if runtime.GOOS == "windows" {
		slices.Reverse(keys) // powershell before what is for every system
	}
	for _, key := range keys {
		c := n.Get(key)
		if c == nil || !c.IsText() || strings.TrimSpace(c.Text.Value) == "" || (key == "bash" || key == "powershell") && (key == "bash") == (runtime.GOOS == "windows") {
			continue
		}
		h.Body.Command = c.Text
		if key == "powershell" {
			h.Body.Args = []string{"pwsh", "-NoProfile", "-Command", c.Text.Value}
		}
		if commandline.Starts(c.Text.Value) {
			return false
		}
		if args := n.Get(how.Args); how.Args != "" && how.Exec == "" && args != nil && !args.IsNull() {
			return r.program(c, args, h)
		}
		return r.shell(n, h)
	}
	if exec := n.Get(how.Exec); how.Exec != "" && exec != nil && exec.IsText() && exec.Text.Value != "" {
		return r.program(exec, n.Get(how.Args), h)
	}
	what := ""
	if how.Exec != "" {
		what = " for this system"
	}
	r.passed(itemSpan(n), "the hook has no command%s: it is passed over", what)
	return false
}

// program reads a program with its arguments, which no shell reads: it is written
// for one so that it means the same.
func (r *settingsReader) program(program, args *tree.Node, h *policy.Hook) bool {
	words := []string{placedWord(program.Text.Value)}
	if args != nil {
		bad := args.Shape != tree.List
		for _, a := range args.Items {
			bad = bad || !a.IsText()
			words = append(words, placedWord(a.Text.Value))
		}
		if bad {
			r.passed(args.Span, "args is a list of texts: the hook is passed over")
			return false
		}
	}
	h.Body.Command = diag.NewText("exec "+strings.Join(words, " "), program.Text.Span, nil)
	return !commandline.Starts(strings.Join(words, " "))
}

// placeholders are the texts that mean a folder in a command without a shell.
var placeholders = lazy.Value(func() *regexp.Regexp {
	return regexp.MustCompile(`\$\{(?:CLAUDE_PROJECT_DIR|CLAUDE_PLUGIN_ROOT|CLAUDE_PLUGIN_DATA)\}`)
})

// placedWord is a word as a shell would read it back, the placeholders filled in.
func placedWord(text string) string {
	var b strings.Builder
	quote := func(s string) {
		if s != "" {
			b.WriteString("'" + strings.ReplaceAll(s, "'", `'\''`) + "'")
		}
	}
	done := 0
	for _, at := range placeholders().FindAllStringIndex(text, -1) {
		quote(text[done:at[0]])
		b.WriteString(`"` + text[at[0]:at[1]] + `"`)
		done = at[1]
	}
	if quote(text[done:]); b.Len() == 0 {
		return "''"
	}
	return b.String()
}

// shell reads which shell a command is for.
func (r *settingsReader) shell(n *tree.Node, h *policy.Hook) bool {
	shell := n.Get(r.Reading.Hook.Shell)
	switch {
	case r.Reading.Hook.Shell == "" || shell == nil || shell.IsNull():
	case shell.IsText() && shell.Text.Value == "bash":
		h.Body.Args = []string{"bash", "-c", h.Body.Command.Value}
	case shell.IsText() && shell.Text.Value == "powershell":
		h.Body.Args = []string{"pwsh", "-NoProfile", "-NonInteractive", "-Command", h.Body.Command.Value}
	default:
		r.passed(shell.Span, "shell is bash or powershell: the hook is passed over")
		return false
	}
	return true
}

// timeout settles the time a hook has, whether it is written or not.
func (r *settingsReader) timeout(n *tree.Node, h *policy.Hook) {
	t := n.Get(r.Handler.Timeout)
	switch {
	case t == nil && r.at.Standard > 0:
		h.Timeout = r.at.Standard
	case t == nil && h.Kind == policy.KindLLM:
		h.Timeout = r.Reading.Hook.PromptTimeout
	}
	if other := n.Get("timeout"); t == nil && other != nil {
		r.passed(other.Span, "the time is called %s: timeout is passed over", r.Handler.Timeout)
	}
	if t != nil {
		r.writtenTimeout(t, h)
	}
	if r.at.Most > 0 {
		h.Timeout = min(h.Timeout, r.at.Most)
	}
	if r.at.LateRefuses {
		h.OnTimeout = policy.OnErrorDeny
	}
}

func (r *settingsReader) writtenTimeout(t *tree.Node, h *policy.Hook) {
	h.TimeoutSpan = t.Span
	v, ok := t.Float()
	if ok && v > 0 && v*float64(r.Unit) < float64(MaxDuration) {
		h.Timeout = time.Duration(v * float64(r.Unit))
	}
	switch how := r.Reading.Hook.Timeouts; {
	case how == agent.TimeoutsJavaScript:
		r.timer(t, h)
	case how == agent.TimeoutsAtOnce && !ok:
		h.TimeoutSpan = diag.Span{}
	case how == agent.TimeoutsAtOnce && v <= 0:
		h.Timeout = time.Nanosecond
		r.report(codeTimeout.Report(t.Span, "a timeout of %s ends the hook at once", t.Text.Value))
	case how == agent.TimeoutsAtOnce && v >= 1000:
		r.report(codeTimeout.Report(t.Span, "the timeout is %s seconds: %s counts seconds, not milliseconds", t.Text.Value, r.Reading.Called))
	case how == agent.TimeoutsSeconds && h.Timeout >= tooLong:
		r.report(codeTimeout.Report(h.TimeoutSpan, "%s counts seconds: this is %v", r.id, h.Timeout.Round(time.Second)).
			WithHint("write %g for %v", h.Timeout.Seconds()/1000, h.Timeout/1000))
	case r.Most > 0 && (h.Timeout > r.Most || h.Timeout < r.Unit):
		r.passed(h.TimeoutSpan, "a timeout is 1 to %d seconds: %s does not take the file", int(r.Most.Seconds()), r.Reading.Called)
		h.Timeout = min(max(h.Timeout, r.Unit), r.Most)
	}
}

// tooLong is a timeout that was rather meant in milliseconds.
const tooLong = 1000 * time.Second

// timer reads a timeout as setTimeout does: what is no number, or out of range,
// fires at once. A guard would then never speak, so that counts only for
// --faithful.
func (r *settingsReader) timer(n *tree.Node, h *policy.Hook) {
	if n.IsNull() {
		return
	}
	ms, ok := n.Float()
	if !ok && n.IsText() {
		var err error
		ms, err = strconv.ParseFloat(strings.TrimSpace(n.Text.Value), 64)
		ok = err == nil
	}
	switch {
	case !ok || ms < 1 || ms > math.MaxInt32:
		what := "the standard timeout holds instead"
		if h.Timeout = r.Standard; r.faithful() {
			h.Timeout, what = time.Nanosecond, "so does --faithful"
		}
		r.report(codeTimeout.Report(n.Span, "a timeout is a number of milliseconds up to %d; %s ends this hook before it can speak, %s", math.MaxInt32, r.id, what).
			WithHint("write a number such as %d", r.Standard.Milliseconds()))
		return
	case ms < 150:
		r.report(codeTimeout.Report(n.Span, "the hook has %s ms: few commands can answer in that time", n.Text.Value).
			WithHint("a timeout of %s counts milliseconds: did you mean %s000?", r.id, n.Text.Value))
	}
	h.Timeout = min(time.Duration(ms*float64(time.Millisecond)), MaxDuration)
}

// rule reads a permission rule; false drops the hook, which has been reported.
func (r *settingsReader) rule(native string, n *tree.Node, h *policy.Hook) bool {
	key := r.Reading.Hook.If
	v := n.Get(key)
	switch {
	case key == "" || v == nil || v.IsNull():
		return true
	case !v.IsText():
		r.passed(v.Span, "%s is a permission rule; this is %s: the hook is passed over", key, v.What())
		return false
	case !lists.Has(r.Reading.Hook.IfAt, native):
		r.report(codeNative.Report(v.Span, "a hook with %s never runs at %s, which is about no tool", key, native).
			WithHint("take %s: out; it works at %s", key, strings.Join(r.Reading.Hook.IfAt, ", ")))
		return false
	}
	c, ok := permission.Condition(v.Text, r.faithful())
	if !ok {
		r.passed(v.Span, "%q is no permission rule such as Bash(git *): the condition is passed over and the hook runs", v.Text.Value)
		return true
	}
	h.Filter.Conditions = append(h.Filter.Conditions, c)
	return true
}

// async: a hook that is not waited for. What one says later, and the waking of the
// agent, do not pass through hookc.
func (r *settingsReader) async(native string, n *tree.Node, h *policy.Hook) {
	how := &r.Reading.Hook
	h.Async = r.at.Async
	if once := n.Get("once"); once != nil && how.If != "" {
		if on, ok := once.Bool(); !ok || on {
			r.passed(once.Span, "once counts in a skill alone, and hookc does not count there: the hook runs every time")
		}
	}
	if v := n.Get(how.Async); how.Async != "" && isTrue(v) {
		h.Async = true
		if h.Event.Spec().Guarded() && !how.AsyncQuiet {
			r.passed(v.Span, "an async hook decides nothing at %s: the action does not wait for it", native)
		}
		if how.AsyncUnbounded {
			h.Timeout = MaxDuration // its timeout is not enforced
		}
	}
	if v := n.Get("asyncRewake"); how.If != "" && isTrue(v) {
		h.Async = true
		r.report(codeUnrun.Report(v.Span, "the hook runs, but cannot wake Claude Code through hookc"))
	}
}

// isTrue reports whether a key is there and true.
func isTrue(n *tree.Node) bool {
	if n == nil {
		return false
	}
	on, ok := n.Bool()
	return ok && on
}

// failure settles what a failure of the hook means.
func (r *settingsReader) failure(native string, n *tree.Node, h *policy.Hook) {
	if r.at.FailureRefuses {
		h.OnError = policy.OnErrorDeny
	}
	key, word := r.Handler.Closed, fmt.Sprint(r.Handler.ClosedValue)
	v := n.Get(key)
	if key == "" || v == nil {
		return
	}
	_, isBool := r.Handler.ClosedValue.(bool)
	switch {
	case r.Reading.Hook.OpenOnly != "":
		r.passed(v.Span, "%s", r.Reading.Hook.OpenOnly)
	case isBool && !reflect.DeepEqual(v.Value(), r.Handler.ClosedValue):
	case !isBool && (!v.IsText() || v.Text.Value != word && v.Text.Value != "continue"):
		r.passed(v.Span, "%s is continue or %s: it is passed over", key, word)
	case !isBool && v.Text.Value != word:
	case h.Async && !isBool || r.at.Ungated:
		r.passed(v.Span, "%s has no effect here", key)
	default:
		h.OnError, h.OnTimeout, h.Body.Agent.Strict = policy.OnErrorDeny, policy.OnErrorDeny, true
	}
}

// surroundings reads the variables and the folder of a hook, and looks for a
// variable that it uses in vain.
func (r *settingsReader) surroundings(n *tree.Node, h *policy.Hook) {
	how := &r.Reading.Hook
	if env := n.Get(how.Env); how.Env != "" && env != nil && env.Shape == tree.Map {
		for _, e := range env.Entries {
			if e.Value.Shape == tree.Scalar {
				h.Body.Env = append(h.Body.Env, policy.EnvVar{Name: e.Key.Text.Value, Value: e.Value.Text.Value})
			}
		}
	}
	if dir := n.Get(how.Dir); how.Dir != "" && dir != nil && dir.IsText() && dir.Text.Value != "" {
		base := r.config.Dir // or what holds the folder of a project's settings
		if parent := filepath.Dir(base); filepath.Base(parent) == ".github" {
			base = filepath.Dir(parent)
		}
		h.Body.WorkDir = Absolute(base, dir.Text.Value)
	}
	if how.Unset != "" {
		use := regexp.MustCompile(`\$(\{` + how.Unset + `\b|` + how.Unset + `\b)`)
		if at := use.FindStringIndex(h.Body.Command.Value); at != nil {
			r.report(codeUnset.Report(h.Body.Command.At(at[0], at[1]), "%s never sets $%s: it is empty", r.id, how.Unset).
				WithHint("read the event from stdin: its tool_input names the file"))
		}
	}
}

// loops bounds how often a hook keeps the agent going.
func (r *settingsReader) loops(n *tree.Node, h *policy.Hook) {
	if r.at.Loops == "" {
		return
	}
	limit := r.at.MaxLoops
	if v := n.Get(r.at.Loops); v != nil {
		if v.IsNull() {
			return
		}
		if at, ok := v.Int(); ok && at >= 0 {
			limit = at
		}
	}
	count := r.at.LoopCount
	written := diag.NewText(fmt.Sprintf("%s < %d", count, limit), itemSpan(n), nil)
	h.Filter.Conditions = append(h.Filter.Conditions, rawTest(written, written.Value, func(sent map[string]any) bool {
		n, _ := sent[count].(int)
		return n < limit
	}))
}

// identity notes which hook the agent would take for the same. What a plugin
// brings is never the same as another's.
func (r *settingsReader) identity(n *tree.Node, h *policy.Hook) {
	if r.Reading.Once != agent.OnceEach {
		return
	}
	parts := []string{string(h.Event), h.Body.Agent.Event, string(h.Kind), h.Body.Command.Value, h.Body.Prompt.Value, strings.Join(h.Body.Args, "\x00")}
	for _, key := range []string{"url", "server", "tool", r.Reading.Hook.If} {
		if v := n.Get(key); v != nil {
			parts = append(parts, key, v.Text.Value)
		}
	}
	if r.scope != nil { // a skill's or an agent's is its own
		parts = append(parts, r.in.Path)
	}
	if root := r.plugin(r.in); root != "" {
		h.Body.Env = append(h.Body.Env, policy.EnvVar{Name: r.Reading.PluginEnv, Value: root})
		if r.in.PluginData != "" {
			h.Body.Env = append(h.Body.Env, policy.EnvVar{Name: "CLAUDE_PLUGIN_DATA", Value: r.in.PluginData})
			filled := strings.NewReplacer("${CLAUDE_PLUGIN_ROOT}", root, "${CLAUDE_PLUGIN_DATA}", r.in.PluginData).Replace(h.Body.Command.Value)
			h.Body.Command = diag.NewText(filled, h.Body.Command.Span, nil)
		}
		parts = append(parts, root)
	}
	if r.l.handlers == nil {
		r.l.handlers = map[*policy.Hook]string{}
	}
	r.l.handlers[h] = strings.Join(parts, "\x00")
}

var codeTimeout = diag.Define("HK034", diag.Warning, "timeout in another unit")
var codeUnrun = diag.Define("HK036", diag.Warning, "hook that hookc cannot run as its agent does")
