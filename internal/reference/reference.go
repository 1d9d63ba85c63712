// Package reference writes the pages of the documentation that hookc knows on its own:
// each key of hooks.yaml, event, field and function, and each diagnostic code.
package reference

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/hookc/hookc/builtins"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
	"github.com/hookc/hookc/policy/source"
)

// places say where each kind of map stands in hooks.yaml.
var places = map[source.Place]string{
	source.InFile:     "The top of the file. Every other key is an event, by any of its names or as `ext.NAME`; its value is a list of hooks, or a map with the keys of an event.",
	source.InDefaults: "The value of `defaults`. `on_error`, `model` and `timeout` hold for the hooks of this file, the others for the whole policy.",
	source.InRego:     "The value of `rego`.",
	source.InTools:    "The value of `tools`.",
	source.InLog:      "The value of `log`. What the user or the managed tier set is not taken back by a project: on stays on, deny stays deny, masks add up.",
	source.InApproval: "The value of `approval` ([approvals.md](../guide/approvals.md)). What is stricter holds: a file can add people who must agree and shorten times, and never the other way round.",
	source.InRequire:  "An entry of `approval.require`.",
	source.InWebhook:  "The value of `approval.webhook`, in the user's own and the managed policy.",
	source.InEvent:    "The value of an event that is not simply a list of hooks. Settings hold for the event in every file; the most trusted tier that sets one decides.",
	source.InGroup:    "An entry of an event's list that holds several hooks: one step of the chain, whose members see one snapshot and all run.",
	source.InHook:     "An entry of an event's list, or a member of a group.",
	source.InFilter:   "The value of `filter`. All conditions that are written must hold; one on a field that is absent does not.",
	source.InRule:     "An entry of `rules`: exactly one of the verdict keys, and a reason.",
}

// Schema is docs/reference/schema.md.
func Schema() string {
	p := newPage("hooks.yaml, key by key", `
What the keys mean together is in [semantics.md](../semantics.md); a commented file that uses each of them is
[hooks.example.yaml](../../hooks.example.yaml). `+"`hookc schema`"+` prints the JSON Schema for editors. Unknown keys, and keys written twice,
are errors with a place and a suggestion.`)
	for _, place := range source.Places() {
		p.say("## " + strings.ToUpper(string(place)[:1]) + string(place)[1:])
		p.say(places[place])
		if place == source.InHook {
			p.hookKeys()
			continue
		}
		p.keys(keysOf(place, ""))
	}
	p.say("## Durations")
	p.say("A number is seconds, and may be a fraction: `5`, `0.5`. A text has a unit: `\"500ms\"`, `\"2m\"`, `\"1h30m\"`. Greater than nothing, at most a day.")
	p.events()
	p.strategies()
	p.fields()
	p.answers()
	p.functions()
	p.rules()
	return p.text()
}

// keysOf are the keys of a place that all kinds of hook take or, with a kind, that
// not all take and this one does.
func keysOf(place source.Place, kind policy.Kind) []source.Key {
	return lists.Without(source.Schema(), func(k *source.Key) bool {
		return k.Place != place || lists.Among(k.Kinds, kind) != (kind != "") || kind == "" && len(k.Kinds) > 0
	})
}

func (p *page) keys(keys []source.Key) {
	var rows [][]string
	for _, k := range keys {
		kind := string(k.Type)
		if len(k.Words) > 0 {
			kind += ": " + codeList(k.Words)
		}
		rows = append(rows, []string{code(k.Name), kind, fallback(k.Default), plain(k.Note)})
	}
	p.table([]string{"key", "type", "default", "meaning"}, rows)
}

// fallback is a default: code when it could stand in the file, else words.
func fallback(text string) string {
	if text == "" || strings.Contains(text, " ") {
		return text
	}
	return code(text)
}

// hookKeys are the keys every hook takes, then those of each kind.
func (p *page) hookKeys() {
	p.keys(keysOf(source.InHook, ""))
	for _, kind := range policy.KindNames() {
		keys := keysOf(source.InHook, policy.Kind(kind))
		var infers []string
		for _, k := range keys {
			if k.Infers && string(k.Kinds[0]) == kind {
				infers = append(infers, k.Name)
			}
		}
		p.say(fmt.Sprintf("### type: %s", kind))
		p.say("Told by " + codeList(infers) + ", when `type` is not written.")
		p.keys(keys)
	}
}

func (p *page) events() {
	p.say("## Events")
	p.say("G guards an action · T transforms a value · Q guards ending: a deny keeps the agent working · O observes. " +
		"A verdict, control or change outside an event's row has no effect and is reported. Any of the other names, and the CamelCase and kebab-case forms of all (`PreSendMessage`, `before-model`), is the same event.")
	var rows [][]string
	for _, e := range policy.Events() {
		s := e.Spec()
		rows = append(rows, []string{code(string(e)), s.Class.String(), strings.Join(s.Powers.Names(), " "), codeList(names(s.Writes)),
			codeList(outputs(s)), string(s.Strategy), strings.Join(s.Aliases, ", ")})
	}
	p.table([]string{"event", "class", "obeys", "may change", "may add", "strategy", "other names"}, rows)
}

func outputs(s *policy.EventSpec) []string {
	var out []string
	if s.Context {
		out = append(out, "additional_context")
	}
	if s.Inject {
		out = append(out, "inject_messages")
	}
	if s.Feedback {
		out = append(out, "retry_feedback")
	}
	return out
}

//go:noinline
func names(fields []policy.Field) []string { return lists.Each(fields, policy.Field.String) }

func (p *page) strategies() {
	p.say("## Strategies")
	var rows [][]string
	for _, name := range policy.StrategyNames() {
		s, _ := policy.ParseStrategy(name)
		rows = append(rows, []string{code(name), s.Spec().Doc})
	}
	p.table([]string{"strategy", "meaning"}, rows)
}

func (p *page) fields() {
	p.say("## Fields")
	p.say("The names are the same in filters, `{{templates}}`, expr, Rego's `input`, `reads` and `writes`, and a script's stdin. A field the agent did not send is absent, which is not empty.")
	var rows [][]string
	for _, f := range policy.Fields() {
		spec := f.Spec()
		holds := plain(spec.Doc)
		if f.Derived() {
			holds += "; computed from " + codeList(names(spec.From))
		}
		rows = append(rows, []string{code(spec.Name), spec.Type.String(), readableAt(f), holds})
	}
	p.table([]string{"field", "type", "at", "holds"}, rows)
}

// readableAt are the events that may carry a field, in as few words as
// possible.
func readableAt(f policy.Field) string {
	var with, without []string
	for _, e := range policy.Events() {
		if e.Spec().CanRead(f) {
			with = append(with, string(e))
		} else {
			without = append(without, string(e))
		}
	}
	switch {
	case len(without) == 0:
		return "every event"
	case len(without) <= 3:
		return "every event but " + codeList(without)
	}
	return codeList(with)
}

func (p *page) answers() {
	p.say("## HookResult")
	p.say("What a bash hook under the default protocol prints, an llm hook answers and Rego's `result` holds: a JSON object with any of these keys. Nothing, or `{}`, is no opinion.")
	p.say(codeList(policy.HookResultKeys()))
}

func (p *page) functions() {
	p.say("## Functions")
	p.say("One name in expr and in Rego. A call whose arguments have no answer is undefined: a rule with it does not fire.")
	var rows [][]string
	for _, f := range builtins.Funcs() {
		params := make([]string, len(f.Params))
		for i, param := range f.Params {
			params[i] = param.Name + " " + param.Type.String()
		}
		doc := f.Doc
		if f.World == policy.WorldRead {
			doc += "; looks at the disk"
		}
		rows = append(rows, []string{code(f.Name + "(" + strings.Join(params, ", ") + ")"), f.Result.String(), doc, code(exampleOf(f))})
	}
	p.table([]string{"function", "gives", "what", "example"}, rows)
}

// exampleOf is the first example with a value, on one line.
func exampleOf(f *builtins.Func) string {
	for _, e := range f.Examples {
		if text, err := json.Marshal(e.Want); err == nil && e.Want != nil {
			return e.Call + " = " + string(text)
		}
	}
	return f.Examples[0].Call
}

func (p *page) rules() {
	p.say("## Builtin rules")
	p.say("What `use` names; the options are further keys of the hook. An embedding host can add its own.")
	for _, r := range builtins.Rules() {
		p.say("### use: " + r.Name)
		p.say(strings.ToUpper(r.Doc[:1]) + r.Doc[1:] + ".")
		var rows [][]string
		for _, o := range r.Options {
			kind := o.Type.String()
			if o.Texts {
				kind = "text, or list of text"
			}
			need := ""
			if o.Required {
				need = "required"
			}
			rows = append(rows, []string{code(o.Name), kind, need, o.Doc})
		}
		p.table([]string{"option", "type", "", "meaning"}, rows)
	}
}

// Codes is docs/reference/diagnostics.md.
func Codes() string {
	p := newPage("Diagnostics", `
Every finding has a code, a place and, where the fix can be named, a hint. `+"`hookc help CODE`"+` prints the same text. An error stops
compilation; a warning is a finding under `+"`check --strict`"+`; a hint never fails anything. A policy can set how bad it finds what a code reports ([`+"`severity`"+`](schema.md#file)), but lowers no error,
and none of which the table says that it is firm: what somebody guards gets through there. Both examples of every code are run by the tests:
the first reports exactly that code, the second nothing. `+"`-- name --`"+` begins a file; `+"`event.json`"+` is an event that is decided, `+"`env`"+` the
environment.`)
	var rows [][]string
	for _, c := range diag.Codes() {
		rows = append(rows, []string{fmt.Sprintf("[%s](#%s)", c.ID, strings.ToLower(c.ID)), severity(c), plain(c.Title)})
	}
	p.table([]string{"code", "severity", "finding"}, rows)
	for _, c := range diag.Codes() {
		p.say("## " + c.ID)
		p.say(fmt.Sprintf("**%s** (%s)", plain(c.Title), severity(c)))
		p.say(plain(c.Help))
		if c.Bad == "" {
			p.say(c.NoExample)
			continue
		}
		p.say("Reported for:")
		p.example(language(c.Bad), c.Bad)
		p.say("Not reported for:")
		p.example(language(c.Good), c.Good)
	}
	return p.text()
}

// severity is how bad a code is, and whether it stays so.
func severity(c *diag.Code) string {
	if c.Security {
		return c.Severity.String() + ", firm"
	}
	return c.Severity.String()
}

// plain is text that Markdown leaves as it is.
func plain(text string) string { return strings.NewReplacer("<", `\<`, "*", `\*`).Replace(text) }

// language is how an example is highlighted.
func language(text string) string {
	if strings.HasPrefix(text, "-- ") || strings.Contains(text, "\n-- ") {
		return "text"
	}
	return "yaml"
}
