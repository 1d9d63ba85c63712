package casetest

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hookc/hookc"
	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/dag/render"
	"github.com/hookc/hookc/executor/runner"
	"github.com/hookc/hookc/internal/fault"
	"github.com/hookc/hookc/internal/host"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/internal/prove"
	"github.com/hookc/hookc/internal/spell"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
	"github.com/hookc/hookc/policy/source/cases"
	"github.com/hookc/hookc/policy/source/tree"
)

// Test is a case of a file.
type Test struct{ cases.Case }

// bench is a policy that was compiled for tests.
type bench struct {
	// key says which policy it is, whatever the cases answer for.
	key     string
	options []hookc.Option
	environ []string
	engine  *hookc.Engine
	// names are the hooks of the policy, rules those evaluated in process.
	names []string
	rules map[string]bool
}

// cases runs the cases of one file.
func (t *tester) cases(ctx context.Context, path string) error {
	file, found := cases.Read(path)
	t.report.Findings.Add(found...)
	options, key := t.Options, ""
	if len(file.Policies) > 0 {
		named, done, err := t.Named(file.Policies, filepath.Dir(path))
		if err != nil {
			return err
		}
		t.closing = append(t.closing, done)
		options, key = named, path
	}
	kept := readSnapshots(path)
	if !t.Update {
		t.report.Findings.Add(kept.found...)
	}
	for _, c := range file.Cases {
		c := Test{c}
		if !t.wants(c.Name) {
			kept.leave(c.Name)
			continue
		}
		begun, before := time.Now(), len(t.asked)
		o := Outcome{Name: c.Name, File: path, At: c.Span.String()}
		lines, err := t.one(ctx, &c, &o, key, options, kept)
		if err != nil {
			return err
		}
		o.Text, o.Pass = strings.Join(lines, "\n"), len(lines) == 0
		o.Micros = time.Since(begun).Microseconds()
		t.report.add(o)
		if n := len(t.asked); n > before {
			t.asked[n-1].passed = o.Pass
		}
	}
	if err := t.properties(ctx, path, file.Properties, key, options); err != nil {
		return err
	}
	return kept.settle(t)
}

// property reads what is to hold of every event. unknown says that nobody has to know.
func property(n *tree.Node) (p prove.Property, name string, unknown bool, err error) {
	p.Event = policy.PreToolExecution
	for _, e := range n.Entries {
		known, text := true, e.Value.Text.Value
		switch e.Key.Text.Value {
		case "name":
			name = spell.Name(text)
		case "never":
			p.Never = text
		case "always":
			p.Always = text
		case "unknown":
			unknown, known = true, text == "pass"
		case "event":
			p.Event, known = policy.ParseEvent(text)
		default:
			known = false
		}
		if !known {
			return p, name, false, fault.Errorf("%s: %s means nothing here", e.Key.Text.Value, spell.Name(text))
		}
	}
	if (p.Never == "") == (p.Always == "") {
		err = errors.New("a property needs never: or always:, and not both")
	}
	return p, lists.First(name, p.String()), unknown, err
}

// properties decides what is to hold of every event.
func (t *tester) properties(ctx context.Context, path string, list *tree.Node, key string, options []hookc.Option) error {
	if list == nil {
		return nil
	}
	for _, n := range list.Items {
		want, name, mayNot, err := property(n)
		o := Outcome{Name: name, File: path, At: n.Span.String()}
		if !t.wants(o.Name) {
			continue
		}
		begun := time.Now()
		var r *prove.Result
		if err == nil {
			b, failed := t.bench(ctx, key, options, nil)
			if failed != nil {
				return failed
			}
			r, err = prove.Decide(ctx, b.engine.Program(), want)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			o.Text = "the property: " + err.Error()
		} else if o.Pass = r.Status == prove.Proved || r.Status == prove.Unknown && mayNot; !o.Pass {
			o.Text = strings.TrimSpace(r.Text())
		}
		o.Micros = time.Since(begun).Microseconds()
		t.report.add(o)
	}
	return nil
}

// bench is the policy that a case is about, compiled: with the answers of the case
// in the place of rules that it answers for.
func (t *tester) bench(ctx context.Context, key string, options []hookc.Option, answers map[string]map[string]any) (*bench, error) {
	b, err := t.open(ctx, key, options, nil)
	if err != nil {
		return nil, err
	}
	var given []string
	for _, name := range lists.Keys(answers) {
		if b.rules[name] {
			given = append(given, name)
		}
	}
	if len(given) == 0 {
		return b, nil
	}
	return t.open(ctx, key, options, given)
}

func (t *tester) open(ctx context.Context, key string, options []hookc.Option, given []string) (*bench, error) {
	policy := key
	key = strings.Join(append([]string{key}, given...), "\x00")
	if b := t.benches[key]; b != nil {
		return b, nil
	}
	options = append(lists.Copy(options), hookc.AsFound(), hookc.Withhold(t.held.add), host.Trials[hookc.Option](given...), hookc.SkipVerify())
	eng, err := hookc.Open(ctx, append(lists.Copy(options), host.Eyes[hookc.Option](t.Eyes(t.differs.add)))...)
	if err != nil {
		return nil, err
	}
	b := &bench{key: policy, options: options, environ: t.Environ, engine: eng, rules: map[string]bool{}}
	for _, h := range eng.Policy().Hooks {
		b.names = append(b.names, h.Name)
		b.rules[h.Name] = h.Kind.InProcess()
	}
	t.benches[key] = b
	return b, nil
}

// one fires one case and says in what the Decision differs, or both engines of
// Rego do; nothing says that it passed.
func (t *tester) one(ctx context.Context, c *Test, o *Outcome, key string, options []hookc.Option, kept *snapshots) ([]string, error) {
	event, ok := policy.ParseEvent(c.Native)
	if !ok {
		return []string{fmt.Sprintf("unknown event %q: %s", c.Native, diag.DidYouMean(c.Native, policy.EventNames(), "name it in the field \"event\""))}, nil
	}
	b, err := t.bench(ctx, key, options, c.Answers)
	if err != nil {
		return nil, err
	}
	if lines := b.strays(c); lines != nil {
		return lines, nil
	}
	a := &asked{Test: *c, event: event, bench: b}
	t.asked = append(t.asked, a)
	eng, err := b.engine.Variant(nil)
	if err != nil {
		return nil, err
	}
	d, err := eng.Fire(a.trial(ctx), event, c.Event)
	if closed := eng.Close(); err == nil {
		err = closed
	}
	var unfit *hookc.UnfitError
	if errors.As(err, &unfit) { // whatever the case expects: no rule of the policy was asked
		return []string{"the event cannot be decided: " + unfit.Err.Error()}, nil
	}
	if err != nil {
		return nil, err
	}
	p := eng.Program()
	o.Engine = render.Trace(p, p.Plan(d.Event), d, c.Event, render.TraceOptions{}).Engines()
	lines := append(t.held.take(), t.differs.take()...)
	lines = append(lines, missed(c, d)...)
	if c.Snapshot {
		lines = append(lines, kept.compare(c.Name, d, t.Update)...)
	}
	return lines, nil
}

// trial has a firing see the clock, the environment and the answers of a case.
func (a *asked) trial(ctx context.Context) context.Context {
	if len(a.Env) > 0 {
		ctx = runner.WithEnviron(ctx, environ(a.bench.environ, a.Env))
	}
	return dag.WithTrial(ctx, &dag.Trial{Now: a.Now, Received: a.hear, Say: a.Test.say})
}

// say is what a case answers for a hook.
func (c *Test) say(h *policy.Hook) (policy.Result, error, bool) {
	answer, ok := c.Answers[h.Name]
	if !ok {
		return policy.Result{}, nil, false
	}
	r, err := policy.ParseHookResult(answer, policy.By{Name: h.Name, At: h.Span})
	return r, err, true
}

// environ is an environment with variables of a case in it.
func environ(all, own []string) []string {
	out := lists.DeleteFunc(lists.Copy(all), func(kv string) bool {
		name, _, _ := spell.Cut(kv, "=")
		return slices.ContainsFunc(own, func(o string) bool { return strings.HasPrefix(o, name+"=") })
	})
	return append(out, own...)
}

// strays say which names of a case are no hook's.
func (b *bench) strays(c *Test) []string {
	var lines []string
	check := func(what, name string) {
		if !lists.Has(b.names, name) {
			lines = append(lines, fmt.Sprintf("%s: no hook is called %q: %s", what, name, diag.DidYouMean(name, b.names, "`hookc hooks list` lists them")))
		}
	}
	for _, name := range lists.Keys(c.Answers) {
		check("answers", name)
	}
	for _, name := range lists.Keys(c.Hooks) {
		check("hooks", name)
	}
	return lines
}

// missed lists where a Decision is not what was expected of it.
func missed(c *Test, d *policy.Decision) []string {
	lines := Unlike("", c.Expect, Object(d))
	for _, name := range lists.Keys(c.Hooks) {
		lines = append(lines, Unlike("hooks."+name+".", c.Hooks[name], did(d, name))...)
	}
	return lines
}

// Object is a Decision as its JSON has it, whose caller may change it.
func Object(d *policy.Decision) map[string]any {
	text, err := d.MarshalJSON()
	if err != nil {
		panic("casetest: a Decision has no JSON: " + err.Error())
	}
	v, err := policy.DecodeJSON(text)
	if err != nil {
		panic("casetest: the JSON of a Decision is none: " + err.Error())
	}
	return v.(map[string]any)
}

// Unlike lists which of the values that are wanted are others.
func Unlike(prefix string, want, got map[string]any) []string {
	var out []string
	for _, key := range lists.Keys(want) {
		if want[key] == nil && got[key] == nil || policy.SameValue(want[key], got[key]) {
			continue
		}
		expected, err1 := policy.EncodeJSON(want[key])
		actual, err2 := policy.EncodeJSON(got[key])
		if err1 != nil || err2 != nil {
			panic("casetest: a value of a test cannot be written as JSON")
		}
		out = append(out, fmt.Sprintf("%s%s: want %s, got %s", prefix, key, expected, actual))
	}
	return out
}

// did is what a hook did: of one that is evaluated twice the last time counts. A
// hook that the event does not concern is not in the plan.
func did(d *policy.Decision, name string) map[string]any {
	out := map[string]any{"status": "absent"}
	for _, h := range d.Hooks {
		if h.TracedHook == nil || h.Name != name {
			continue
		}
		reasons := []any{}
		for _, r := range h.Reasons {
			reasons = append(reasons, r)
		}
		out = map[string]any{"status": string(h.Status), "verdict": h.Verdict.String(), "control": h.Control.String(), "reasons": reasons,
			"attempts": h.Attempts, "at": h.At.String()}
	}
	return out
}

// Beside are the events of the tests beside a policy.
func Beside(p *dag.Program) []*policy.Context {
	var out []*policy.Context
	folders := map[string]bool{}
	for _, s := range p.Sources {
		folder := filepath.Dir(s.Path)
		if folders[folder] {
			continue
		}
		folders[folder] = true
		files, err := filepath.Glob(filepath.Join(folder, "*_test.yaml"))
		if err != nil {
			continue // a folder whose name is no pattern has none
		}
		for _, path := range files {
			file, _ := cases.Read(path)
			for i := range file.Cases {
				c := &file.Cases[i]
				if event, ok := policy.ParseEvent(c.Native); ok && c.Event != nil {
					out = append(out, c.Event.Frozen(event))
				}
			}
		}
	}
	return out
}
