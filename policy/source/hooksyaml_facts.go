package source

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/hookc/hookc/internal/fault"
	"github.com/hookc/hookc/internal/lazy"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/internal/spell"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
	"github.com/hookc/hookc/policy/facts"
	"github.com/hookc/hookc/policy/source/tree"
)

var codeFact = diag.Define("HK062", diag.Error, "fact that cannot be used")

var factName = lazy.Value(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z_][a-z0-9_]*$`) })

// facts reads the declarations of a file.
func (r *yamlReader) facts(n *tree.Node) {
	for _, e := range n.Entries {
		name := e.Key.Text.Value
		if !factName().MatchString(name) {
			r.report(codeFact.Report(e.Key.Span, "%q is no name of a fact", name).WithHint("small letters, digits and _"))
			continue
		}
		f := policy.Fact{Name: name, Type: "string", Tier: r.in.Tier, Span: e.Key.Span}
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
			return func(w string) bool { return lists.Has(FindKey(InFact, k).Words, w) }
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
		if command := keys.text("command"); command.Value != "" {
			f.Command = &policy.Hook{Name: "facts." + name, Kind: policy.KindBash, Tier: f.Tier, Untrusted: r.in.Untrusted, Dir: r.config.Dir, Span: f.Span,
				Body: policy.Body{Command: command, Protocol: policy.JCLIProtocol}}
			r.l.added = append(r.l.added, addedHook{r.in, f.Command})
		}
		if r.in.Untrusted == "" {
			r.fact(f)
		}
	}
}

// fact adds a declaration, unless a more trusted tier has one.
func (r *yamlReader) fact(f policy.Fact) {
	all := &r.l.policy.Facts
	i := lists.At(*all, func(o *policy.Fact) bool { return o.Name == f.Name })
	if i < 0 {
		*all = append(*all, f)
		return
	}
	kept, other := &(*all)[i], f
	if f.Tier < kept.Tier {
		*kept, other = f, *kept
	}
	if other.Type == kept.Type && lists.Equal(other.Words, kept.Words) && other.Command == nil {
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

// maxFactsEnv bounds the machine's facts.env, in bytes.
const maxFactsEnv = 1 << 20

// machineFile reads the machine's facts.env. It says who calls, so one that others
// than root and this user may have written is refused.
func machineFile(path string) (string, error) {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return "", lists.First(err, errors.New("it is no regular file"))
	}
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	info, err := f.Stat()
	if err == nil {
		err = writtenByOthers(info)
	}
	if err != nil {
		return "", err
	}
	data, err := io.ReadAll(io.LimitReader(f, maxFactsEnv+1))
	if len(data) > maxFactsEnv {
		return "", fault.Errorf("it is larger than %d KiB", maxFactsEnv>>10)
	}
	return string(data), err
}

// MachineFacts gives the declared facts the values that the machine's facts.env
// has: lines NAME=value, where # begins a comment. A name that no policy
// declares is left alone.
func MachineFacts(p *policy.Policy) diag.List {
	if len(p.Facts) == 0 {
		return nil
	}
	path := factsEnv()
	data, err := machineFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	src := diag.NewSource(path, data)
	if err != nil {
		return diag.List{codeFact.Report(diag.Span{Source: src}, "%s", plainError(err)).
			WithHint("it must be a file of root's that nobody else may write: chown root %[1]s; chmod 644 %[1]s", path)}
	}
	p.Facts = lists.Copy(p.Facts)
	var found diag.List
	at := 0
	for line := range strings.Lines(data) {
		span := diag.Span{Source: src, Start: at, End: at + len(strings.TrimRight(line, "\r\n"))}
		at += len(line)
		text := strings.TrimSpace(line)
		if text == "" || text[0] == '#' {
			continue
		}
		name, value, ok := spell.Cut(text, "=")
		if !ok {
			found.Add(codeFact.Report(span, "a line is NAME=value"))
			continue
		}
		i := lists.At(p.Facts, func(f *policy.Fact) bool { return f.Name == strings.TrimSpace(name) })
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
