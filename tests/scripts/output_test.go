package scripts

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/open-policy-agent/opa/v1/rego"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/tests/programs"
)

// reports are the outputs that `hookc schema --output` names, by how they are asked for.
var reports = map[string]string{"check": "check", "compile": "compile", "lint": "lint", "test": "test", "diff": "diff", "test --witnesses": "witnesses"}

// always is a field of each that is never absent.
var always = map[string]string{"check": "rules", "compile": "findings", "lint": "codes", "test": "passed", "diff": "decisions", "witnesses": "counts"}

// kept keeps what scripts have hookc write as JSON: a folder for each script, with a
// hookc in it that is the real one and keeps a copy. When all have ended, each copy
// must be what the schema says.
type kept struct{ dir, real string }

func keep(t *testing.T, bin string) *kept {
	k := &kept{t.TempDir(), filepath.Join(bin, "hookc")}
	t.Cleanup(func() {
		seen := map[string]int{}
		var docs []document
		all, err := filepath.Glob(filepath.Join(k.dir, "*", "*.json"))
		require.NoError(t, err)
		for _, path := range all {
			text, err := os.ReadFile(path)
			require.NoError(t, err)
			name, _, _ := strings.Cut(filepath.Base(path), ".")
			if len(text) > 0 { // it could not run
				seen[name]++
				docs = append(docs, document{name, filepath.Base(filepath.Dir(path)), text})
			}
		}
		for _, wrong := range invalid(t, docs) {
			t.Error(wrong)
		}
		if flag.Lookup("test.run").Value.String() == "" && runtime.GOOS != "windows" {
			for _, name := range reports {
				assert.NotZero(t, seen[name], "no script has hookc write %s", name)
			}
		}
	})
	return k
}

// asks finds the scripts in which a report is written as JSON.
var asks = regexp.MustCompile(`hookc (check|compile|lint|test|diff) .*(--json|json)`)

// path is the PATH's first folder for a script: bin, or the one that keeps copies.
func (k *kept) path(bin, work string) (string, error) {
	name := strings.TrimPrefix(filepath.Base(work), "script-")
	script, err := os.ReadFile(filepath.Join("..", "testdata", "script", name+".txtar"))
	if err != nil || !asks.Match(script) || runtime.GOOS == "windows" {
		return bin, err
	}
	dir := filepath.Join(k.dir, name)
	if err := os.Mkdir(dir, 0o755); err != nil {
		return "", err
	}
	const program = `#!/bin/sh
case " $* " in
*" --watch "* | *" --explain"*) ;;
" check "*" --json "* | " compile "*" --json "* | " lint "*" --json "* | " test "*" --json "* | " diff "*" --json "* | *" --format json "*)
	name=$1
	case " $* " in *" --witnesses "*) name=witnesses ;; esac
	copy='%[1]s'/$name.$$.json
	'%[2]s' "$@" >"$copy"
	code=$?
	cat "$copy"
	exit $code ;;
esac
exec '%[2]s' "$@"
`
	return dir + string(os.PathListSeparator) + bin, programs.Write(filepath.Join(dir, "hookc"), fmt.Appendf(nil, program, dir, k.real))
}

// document is an output as JSON, and who wrote it.
type document struct {
	name, from string
	text       []byte
}

// invalid says of documents what the schema of their outputs does not allow.
func invalid(t *testing.T, docs []document) (out []string) {
	t.Helper()
	text, err := exec.Command(programs.Hookc(t), "schema", "--output").Output()
	require.NoError(t, err)
	var schema map[string]any
	require.NoError(t, json.Unmarshal(text, &schema))
	delete(schema, "$schema") // OPA reads an older draft, which says the same of these words
	delete(schema, "anyOf")
	// The test may have ended: then its own context is done.
	query, err := rego.New(rego.Query("x := json.match_schema(input.document, input.schema)")).PrepareForEval(context.Background())
	require.NoError(t, err)
	for _, d := range docs {
		var v any
		require.NoError(t, json.Unmarshal(d.text, &v), "%s: %s", d.from, d.text)
		schema["$ref"] = "#/$defs/" + d.name
		found, err := query.Eval(context.Background(), rego.EvalInput(map[string]any{"document": v, "schema": schema}))
		require.NoError(t, err)
		if answer := found[0].Bindings["x"].([]any); answer[0] != true {
			out = append(out, fmt.Sprintf("%s: %s: %v\n%s", d.from, d.name, answer[1], d.text))
		}
	}
	return out
}

// TestOutputSchema: the schema refuses a field that is not known, at every depth, and
// a document that lacks one that is always written.
func TestOutputSchema(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"a.yaml":      "version: 1\npre_tool_execution:\n  # hookc:ignore HK114 for reasons\n  - {name: a, deny: 'command contains \"x\"'}\n  - {name: b, deny: 'command contains \"y\"'}\n  - {name: c, command: 'true'}\n",
		"b.yaml":      "version: 1\npre_tool_execution:\n  - {name: a, deny: 'command contains \"xy\"'}\nstop:\n  - {name: c, command: 'true'}\n",
		"a_test.yaml": "cases:\n  - name: one\n    event: {event: pre_tool_execution, tool_name: Bash, tool_input: {command: x}}\n    answers: {c: {}}\n    expect: {action: block}\n  - name: two\n    event: {event: pre_tool_execution, tool_name: Bash, tool_input: {command: ls}}\n    answers: {c: {}}\n    expect: {action: block}\n",
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	for asked, name := range reports {
		args := append(strings.Fields(asked), "--json", "a.yaml")
		switch name {
		case "diff":
			args = append(args, "b.yaml")
		case "test":
			args = append(args, "--coverage")
		}
		cmd := exec.Command(programs.Hookc(t), args...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "XDG_STATE_HOME="+t.TempDir(), "XDG_CONFIG_HOME="+dir)
		text, _ := cmd.Output() // findings are an exit code too
		require.Empty(t, invalid(t, []document{{name, asked, text}}))
		var whole any
		require.NoError(t, json.Unmarshal(text, &whole))
		var docs []document
		objects := 0
		each(whole, func(o map[string]any) {
			o["unheard_of"] = 1.5
			changed, err := json.Marshal(whole)
			require.NoError(t, err)
			delete(o, "unheard_of")
			docs = append(docs, document{name, asked, changed})
			objects++
		})
		delete(whole.(map[string]any), always[name])
		less, err := json.Marshal(whole)
		require.NoError(t, err)
		docs = append(docs, document{name, asked, less})
		assert.Greater(t, objects, 1, asked)
		for _, d := range docs {
			assert.Len(t, invalid(t, []document{d}), 1, "%s", d.text)
		}
	}
}

// each calls do with every object of a document that the schema describes: in an event
// anything may be.
func each(v any, do func(map[string]any)) {
	switch v := v.(type) {
	case map[string]any:
		do(v)
		for key, one := range v {
			if key != "witness" && key != "answers" && key != "patch" {
				each(one, do)
			}
		}
	case []any:
		for _, one := range v {
			each(one, do)
		}
	}
}
