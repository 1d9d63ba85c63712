package runner

import (
	"regexp"
	"strings"

	"github.com/hookc/hookc/internal/lazy"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/agent"
	"github.com/hookc/hookc/policy/diag"
)

var codeVariable = diag.Define("HK092", diag.Warning, "template variable means nothing here")

// template is a prompt cut into literal text and variables.
type template struct{ parts []part }

// part is literal text, or the field to put there.
type part struct {
	text  string
	path  policy.Path
	field bool
}

// variable is a name, with dotted parts, in double braces.
var variable = lazy.Value(func() *regexp.Regexp { return regexp.MustCompile(`\{\{[ \t]*([A-Za-z_][A-Za-z0-9_.-]*)[ \t]*\}\}`) })

// parseTemplate cuts a hook's prompt at its variables and reports those that
// mean nothing.
func parseTemplate(h *policy.Hook) (template, diag.List) {
	var t template
	var found diag.List
	prompt, at := h.Body.Prompt.Value, 0
	for _, m := range variable().FindAllStringSubmatchIndex(prompt, -1) {
		name := prompt[m[2]:m[3]]
		path, ok := resolve(name)
		if h.Body.Agent.Event != "" {
			ok = ok && lists.Has(jcliVariables, name) && prompt[m[0]:m[1]] == "{{"+name+"}}"
		}
		switch {
		case !ok:
			d := codeVariable.Report(h.Body.Prompt.At(m[0], m[1]), "no field is called %q; {{%s}} stays as it is written", name, name)
			found.Add(d.WithHook(h.Name).WithHint("%s", diag.DidYouMean(name, readableNames(h.Event), "")))
			continue
		case !h.Event.Spec().CanRead(path.Field):
			d := codeVariable.Report(h.Body.Prompt.At(m[0], m[1]), "%s never carries %s: {{%s}} is always empty", h.Event, path.Field, name)
			found.Add(d.WithHook(h.Name))
		}
		t.parts = append(t.parts, part{text: prompt[at:m[0]]}, part{path: path, field: true})
		at = m[1]
	}
	t.parts = append(t.parts, part{text: prompt[at:]})
	return t, found
}

// jcliVariables are those of a prompt in jcli's own configuration, which are
// written without spaces.
var jcliVariables = []string{"event", "cwd", "user_input", "assistant_output", "tool_name", "tool_arguments", "tool_result", "model"}

// resolve is the path a variable names. Only fields that hold objects have
// parts.
func resolve(name string) (policy.Path, bool) {
	path, err := policy.ParsePath(name)
	if err != nil {
		return policy.Path{}, false
	}
	kind := path.Field.Spec().Type
	return path, len(path.Keys) == 0 || kind == policy.ObjectType || kind == policy.AnyType
}

// readableNames are the names of the fields an event carries.
func readableNames(e policy.Event) []string {
	var out []string
	for _, f := range policy.Fields() {
		if e.Spec().CanRead(f) {
			out = append(out, f.String())
		}
	}
	return out
}

// reads are the fields the template shows to the model.
func (t template) reads() policy.Paths {
	var paths []policy.Path
	for _, p := range t.parts {
		if p.field {
			paths = append(paths, p.path)
		}
	}
	return policy.NewPaths(paths...)
}

// render puts the values of a context in, in one pass: a value is never
// looked at for variables. What is absent is empty; what is not a string is
// its JSON.
func (t template) render(in *policy.Context) string {
	var b strings.Builder
	for _, p := range t.parts {
		if !p.field {
			b.WriteString(p.text)
			continue
		}
		if v, ok := in.At(p.path); ok && v != nil {
			b.WriteString(agent.JSONText(v))
		}
	}
	return b.String()
}
