package source

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
	"github.com/hookc/hookc/policy/facts"
	"github.com/hookc/hookc/policy/source/tree"
)

var codeFact = diag.Define(diag.Code{
	ID: "HK062", Severity: diag.Error,
	Title: "fact that cannot be used",
	Help: `A fact is declared under facts: with a type: string, int, bool, {list: string} or
{enum: [...]}, and with command: if a command prints it. It is declared once: the
declaration of the most trusted tier holds, and another one of a later tier may only
repeat it. The machine's facts.env gives values of the declared types.`,
	Bad: `facts:
  environment: {enum: [dev, prod], list: string}
notify:
  - command: cat
`,
	Good: `facts:
  environment: {enum: [dev, prod]}
  branch: {command: git branch --show-current}
notify:
  - command: cat
`,
})

var factName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z_][a-z0-9_]*$`) })

// facts reads the declarations of a file.
func (r *yamlReader) facts(n *tree.Node) {
	for _, e := range n.Entries {
		name := e.Key.Text.Value
		if !factName().MatchString(name) {
			r.report(codeFact.Report(e.Key.Span, "%q is no name of a fact", name).WithHint("small letters, digits and _"))
			continue
		}
		f := policy.Fact{Name: name, Type: "string", Dir: r.config.Dir, Tier: r.in.Tier, Span: e.Key.Span}
		body := e.Value
		if body.Shape != tree.Map { // the short form
			body = &tree.Node{Shape: tree.Map, Span: body.Span, Entries: []tree.Entry{{Key: &tree.Node{Text: diag.NewText("type", body.Span, nil), Span: body.Span}, Value: e.Value}}}
		}
		keys := r.l.fields(r.in, body, InFact, "")
		forms := 0
		for _, form := range []string{"type", "list", "enum"} {
			if keys.get(form) != nil {
				forms++
			}
		}
		if n := keys.get("enum"); forms > 1 || n != nil && n.Shape == tree.List && len(n.Items) == 0 {
			r.report(codeFact.Report(e.Key.Span, "%s has no type, or more than one", name).WithHint("write one of type, list and enum"))
		}
		is := func(k string) func(string) bool {
			return func(w string) bool { return slices.Contains(FindKey(InFact, k).Words, w) }
		}
		if w, _ := keys.word("type", is("type")); w != "" {
			f.Type = w
		}
		if w, _ := keys.word("list", is("list")); w != "" {
			f.Type = "list"
		}
		if words := keys.texts("enum"); len(words) > 0 {
			f.Type, f.Words = "enum", Values(words)
		}
		f.Command = keys.text("command")
		if f.Command.Value != "" {
			r.source.Opaque = append(r.source.Opaque, f.Command.Value)
		}
		if r.in.Untrusted == "" {
			r.fact(f)
		}
	}
}

// fact adds a declaration, unless a more trusted tier has one.
func (r *yamlReader) fact(f policy.Fact) {
	all := &r.l.policy.Facts
	i := slices.IndexFunc(*all, func(o policy.Fact) bool { return o.Name == f.Name })
	if i < 0 {
		*all = append(*all, f)
		return
	}
	kept, other := &(*all)[i], f
	if f.Tier < kept.Tier {
		*kept, other = f, *kept
	}
	if other.Type == kept.Type && slices.Equal(other.Words, kept.Words) && other.Command.Value == "" {
		return
	}
	d := codeFact.Report(other.Span, "facts.%s is declared already: the declaration of the %s tier holds", f.Name, kept.Tier).
		WithHint("the other is at %s", kept.Span)
	if other.Tier != kept.Tier {
		d.Severity = diag.Warning // a repository must not break its user's agent
	}
	r.report(d)
}

// factsEnv is the file of the machine's facts.
func factsEnv() string { return filepath.Join(ManagedDir(), "facts.env") }

// MachineFacts gives the declared facts the values that the machine's facts.env
// has: lines NAME=value, where # begins a comment. A name that no policy
// declares is left alone.
func MachineFacts(p *policy.Policy) diag.List {
	if len(p.Facts) == 0 {
		return nil
	}
	path := factsEnv()
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	src := diag.NewSource(path, string(data))
	if err != nil {
		return diag.List{codeFact.Report(diag.Span{Source: src}, "%s", plainError(err))}
	}
	p.Facts = slices.Clone(p.Facts)
	var found diag.List
	at := 0
	for line := range strings.Lines(string(data)) {
		span := diag.Span{Source: src, Start: at, End: at + len(strings.TrimRight(line, "\r\n"))}
		at += len(line)
		text := strings.TrimSpace(line)
		if text == "" || text[0] == '#' {
			continue
		}
		name, value, ok := strings.Cut(text, "=")
		if !ok {
			found.Add(codeFact.Report(span, "a line is NAME=value"))
			continue
		}
		i := slices.IndexFunc(p.Facts, func(f policy.Fact) bool { return f.Name == strings.TrimSpace(name) })
		if i < 0 {
			continue
		}
		value = strings.Trim(strings.TrimSpace(value), `"`)
		if _, err := facts.Parse(&p.Facts[i], value); err != nil {
			found.Add(codeFact.Report(span, "%v", err))
			continue
		}
		p.Facts[i].Env = &value
	}
	return found
}
