package source

import (
	"maps"
	"os"
	"path/filepath"
	"strings"

	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/agent"
	"github.com/hookc/hookc/policy/diag"
	"github.com/hookc/hookc/policy/source/tree"
	"github.com/hookc/hookc/policy/source/variables"
)

// counted are the keys of settings whose texts count for hooks.
var counted = []string{"hooks", "hooksConfig", "security", "experimental"}

// replaced is a file as the agent reads it: with the values of the variables that stand
// in its texts, as far as these count for hooks. What the rest has, a token of an MCP
// server, is not read.
func (r *settingsReader) replaced(root *tree.Node) *tree.Node {
	if r.Reading.References == agent.NoReferences {
		return root
	}
	of, counts := r.environment, func(key string) bool { return lists.Has(counted, key) }
	if r.in.Tier == policy.TierExtension {
		of, counts = r.ofExtension, func(key string) bool { return key != "mcpServers" }
		if r.Reading.References == agent.NamedReferences {
			of = r.ofQwen
		}
	}
	out := *root
	out.Entries = lists.Copy(root.Entries)
	for i, e := range out.Entries {
		if counts(e.Key.Text.Value) {
			out.Entries[i].Value = e.Value.Rewrite(of)
		}
	}
	return &out
}

// ofQwen is a text of an extension of Qwen Code: the environment counts in its manifest
// alone.
func (r *settingsReader) ofQwen(text diag.Text) string {
	if filepath.Base(r.in.Path) == r.Reading.Extension {
		text.Value = r.ofExtension(text)
		text.Value = r.environment(text)
	}
	return strings.ReplaceAll(text.Value, "${CLAUDE_PLUGIN_ROOT}", r.extensionRoot())
}

func (r *settingsReader) extensionRoot() string {
	if x := r.in.Extension; x != nil {
		return x.Root
	}
	return filepath.Dir(filepath.Dir(r.in.Path))
}

// ofExtension replaces the names of the folders of an extension, and for what its user
// set of it.
func (r *settingsReader) ofExtension(text diag.Text) string {
	values := map[string]string{"extensionPath": r.extensionRoot(), "workspacePath": Absolute("", r.l.workspace)}
	if r.Reading.References == agent.NamedReferences {
		values["CLAUDE_PLUGIN_ROOT"] = r.extensionRoot()
	}
	if x := r.in.Extension; x != nil {
		maps.Copy(values, x.Variables)
		r.in.source.Private = r.in.source.Private || len(x.Variables) > 0
	}
	return variables.Fill(text.Value, values)
}

// environment replaces the names of variables of the environment.
func (r *settingsReader) environment(text diag.Text) string {
	out := variables.Expand(text.Value, r.Reading.References == agent.DefaultReferences, func(name string) (string, bool) { return r.variable(name, text.Span) })
	if out != text.Value {
		if r.changed == nil {
			r.changed = map[diag.Span]string{}
		}
		r.changed[text.Span] = text.Value
	}
	return out
}

// variable is a variable of the environment that the file is read with, and notes that it
// counted.
func (r *settingsReader) variable(name string, at diag.Span) (value string, set bool) {
	if lists.Has(r.Reading.Own, name) || name == "" {
		return "", false
	}
	if r.l.environ == nil {
		r.l.environ = os.Environ()
	}
	value, set = variables.Lookup(r.l.environ, name)
	v, source := policy.EnvVar{Name: name, Value: value}, r.in.source
	switch {
	case !set:
		source.Unset = lists.Add(source.Unset, []string{name})
	case !lists.Among(source.Variables, v):
		source.Variables, source.Private = append(source.Variables, v), true
		r.report(codeFromEnvironment.Report(at, "the value of $%s stands here: %s reads it from its environment when it starts, hookc for each event", name, lists.First(r.Reading.Called, r.id)))
	}
	return value, set
}

var codeFromEnvironment = diag.Define("HK066", diag.Hint, "variable of the environment in an agent's settings")
