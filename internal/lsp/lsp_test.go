package lsp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc"
	"github.com/hookc/hookc/internal/covered"
	"github.com/hookc/hookc/policy/diag"
)

func TestPositions(t *testing.T) {
	text := newText("aä😀b\r\nc\rd\n")
	for offset, want := range map[int]position{0: {0, 0}, 1: {0, 1}, 3: {0, 2}, 7: {0, 4}, 8: {0, 5}, 10: {1, 0}, 12: {2, 0}, 14: {3, 0}} {
		assert.Equal(t, want, text.position(offset), offset)
		assert.Equal(t, offset, text.offset(want), want)
	}
	assert.Equal(t, 3, text.offset(position{0, 3}), "the middle of a pair")
	assert.Equal(t, 8, text.offset(position{0, 99}))
	assert.Equal(t, 14, text.offset(position{99, 0}))
	assert.Equal(t, 0, text.offset(position{-1, -1}))
}

func TestPathOf(t *testing.T) {
	for uri, want := range map[string]string{"file:///a/b%20c": "/a/b c", "file://localhost/a": "/a", "file:///a/../b": "/b", "untitled:a": "", "file://host/a": "", "file:///a%00b": "", "file:a": "", ":": ""} {
		path, ok := pathOf(uri)
		assert.Equal(t, want != "", ok, uri)
		if ok {
			assert.Equal(t, want, path)
		}
	}
	path, _ := pathOf(uriOf("/a b/ä#?%"))
	assert.Equal(t, "/a b/ä#?%", path)
}

// TestSpot: | is the cursor; the map and the key it is in, also where the text is no
// YAML.
func TestSpot(t *testing.T) {
	const event = "pre_tool_execution:\n"
	for text, want := range map[string][2]string{
		"|":                                 {"file", ""},
		"pre|":                              {"file", ""},
		"version: |":                        {"file", "version"},
		"defaults:\n  on|":                  {"defaults", ""},
		"defaults: {on|":                    {"defaults", ""},
		event + "  - |":                     {"hook", ""},
		event + "- na|":                     {"hook", ""},
		event + "  - name: a\n    de|":      {"hook", ""},
		event + "  - name: a\n    deny: c|": {"hook", "deny"},
		event + "  - {name: a, de|":         {"hook", ""},
		event + "  - {name: a, deny: 'x|":   {"hook", "deny"},
		event + "  - name: a\n    filter:\n      tool_n|":             {"filter", ""},
		event + "  - {name: a, filter: {tool_name: B|":                {"filter", "tool_name"},
		event + "  - name: a\n    rules:\n      - de|":                {"rule", ""},
		event + "  - name: a\n    source: |2\n      deny if inp|":     {"hook", "source"},
		event + "  - parallel:\n      - na|":                          {"hook", ""},
		event + "  strategy: ch|":                                     {"event", "strategy"},
		event + "  hooks:\n    - na|":                                 {"hook", ""},
		event + "  - name: [\n  - na|":                                {"hook", ""},
		"rego:\n  pa|\n" + event + "  - name: a":                      {"rego", ""},
		event + "  - name: a\n    set:\n      tool_input.x: comm|and": {"", "tool_input.x"},
	} {
		at := strings.LastIndex(text, "|")
		plain := strings.Replace(text[:at], "|2", "|", 1)
		c := contextAt(newText(plain+text[at+1:]), len(plain))
		assert.Equal(t, want, [2]string{string(c.in), c.key}, text)
	}
}

// editor is a client that a test drives.
type editor struct {
	t    testing.TB
	out  io.Writer
	in   *bufio.Reader
	next int
	end  chan error
}

func edit(t testing.TB, dir string) *editor {
	fromEditor, toServer := io.Pipe()
	fromServer, toEditor := io.Pipe()
	e := &editor{t: t, out: toServer, in: bufio.NewReader(fromServer), end: make(chan error, 1)}
	go func() {
		err := Serve(t.Context(), fromEditor, toEditor, "v0")
		toEditor.Close()
		e.end <- err
	}()
	e.ask("initialize", obj("rootUri", uriOf(dir)))
	e.tell("initialized", obj())
	return e
}

func (e *editor) send(m object) {
	body, err := json.Marshal(m)
	require.NoError(e.t, err)
	_, err = fmt.Fprintf(e.out, "Content-Length: %d\r\n\r\n%s", len(body), body)
	require.NoError(e.t, err)
}

func (e *editor) tell(method string, params any) {
	e.send(obj("jsonrpc", "2.0", "method", method, "params", params))
}

type answer struct {
	ID     any             `json:"id"`
	Method string          `json:"method"`
	Result json.RawMessage `json:"result"`
	Error  *failure        `json:"error"`
	Params struct {
		URI         string `json:"uri"`
		Version     int    `json:"version"`
		Diagnostics []struct {
			Range    span
			Code     string
			Severity int
		} `json:"diagnostics"`
	} `json:"params"`
}

func (e *editor) read() (a answer) {
	w := wire{in: e.in}
	length := 0
	for {
		line, err := w.in.ReadString('\n')
		require.NoError(e.t, err)
		if line == "\r\n" {
			break
		}
		fmt.Sscanf(line, "Content-Length: %d", &length)
	}
	body := make([]byte, length)
	_, err := io.ReadFull(w.in, body)
	require.NoError(e.t, err)
	require.NoError(e.t, json.Unmarshal(body, &a), "%s", body)
	return a
}

// ask asks and passes over what else is said.
func (e *editor) ask(method string, params any) answer {
	e.next++
	e.send(obj("jsonrpc", "2.0", "id", e.next, "method", method, "params", params))
	for {
		if a := e.read(); a.Method == "" && a.ID == float64(e.next) {
			return a
		}
	}
}

// found waits for the findings of a version of a file.
func (e *editor) found(path string, version int) answer {
	for {
		if a := e.read(); a.Method == "textDocument/publishDiagnostics" && a.Params.URI == uriOf(path) && a.Params.Version == version {
			return a
		}
	}
}

func (e *editor) open(path, text string) {
	e.tell("textDocument/didOpen", obj("textDocument", obj("uri", uriOf(path), "version", 1, "text", text)))
}

func (e *editor) write(path string, version int, text string) {
	e.tell("textDocument/didChange", obj("textDocument", obj("uri", uriOf(path), "version", version), "contentChanges", []any{obj("text", text)}))
}

func (e *editor) close() {
	e.ask("shutdown", nil)
	e.tell("exit", nil)
	for {
		if _, err := e.in.ReadByte(); err != nil {
			break
		}
	}
	require.NoError(e.t, <-e.end)
}

// TestCodesAsCheck: the findings of each code's example are those of check, with the
// same places, read from the editor: the disk has an empty text.
func TestCodesAsCheck(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	for _, code := range diag.Codes() {
		if code.Bad == "" || strings.Contains(code.Bad, "-- env --") || strings.Contains(code.Bad, "-- event.json --") || !strings.HasSuffix(code.ID, "1") && testing.Short() {
			continue
		}
		dir := written(t, code.Bad)
		path := filepath.Join(dir, "hooks.yaml")
		text, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		want := findings(t, dir)
		program, _ := hookc.Compile(hookc.Discover(dir), hookc.ShownFrom(dir), hookc.AsFound(), hookc.SkipVerify())
		if !want.HasErrors() || program != nil && testing.Short() {
			continue
		}
		var all []string
		for _, d := range want {
			if d.Span.File() == "hooks.yaml" {
				all = append(all, fmt.Sprint(d.Code.ID, rangeOf(d.Span)))
			}
		}
		require.NoError(t, os.WriteFile(path, []byte("{}\n"), 0o644))
		e := edit(t, dir)
		e.open(path, string(text))
		var got []string
		if program != nil {
			e.found(path, 1) // what is quick; the rest is told when nobody types
		}
		for _, d := range e.found(path, 1).Params.Diagnostics {
			got = append(got, fmt.Sprint(d.Code, d.Range))
		}
		assert.ElementsMatch(t, all, got, "%s: %s", code.ID, code.Bad)
		e.close()
	}
}

// TestWire: what is no message, is too large or is cut off.
func TestWire(t *testing.T) {
	for in, want := range map[string]string{
		"Content-Length: 2\r\n\r\n{}":                           "{}",
		"content-length:2\n\n{}":                                "{}",
		"Content-Length: 1\r\n\r\n{Content-Length: 2\r\n\r\n{}": "{}", // answered, and passed over
		"Content-Length: -1\r\n\r\n":                            "framed",
		"Content-Length: 99999999999\r\n\r\n":                   "framed",
		"Content-Type: x\r\n\r\n{}":                             "framed",
		"{}\n":                                                  "framed",
		"Content-Length: 9\r\n\r\n{}":                           "EOF",
		"":                                                      "EOF",
		strings.Repeat("a", 1<<20):                              "framed",
	} {
		var out bytes.Buffer
		w := wire{in: bufio.NewReader(strings.NewReader(in)), out: &out}
		_, err := w.read()
		if want == "{}" {
			assert.NoError(t, err, in)
			continue
		}
		assert.ErrorContains(t, err, want)
	}
}

// TestCancelled: a request that is cancelled before it is begun is not answered.
func TestCancelled(t *testing.T) {
	e := edit(t, t.TempDir())
	e.tell("$/cancelRequest", obj("id", 2))
	e.tell("$/cancelRequest", obj("id", 2))
	a := e.ask("textDocument/hover", obj())
	require.NotNil(t, a.Error)
	assert.Equal(t, codeCancelled, a.Error.Code)
	e.close()
}

// TestHostileProject: what is opened is read, and nothing of it runs.
func TestHostileProject(t *testing.T) {
	dir := t.TempDir()
	mark := filepath.Join(dir, "ran")
	text := "facts:\n  who: {type: string, command: 'touch " + mark + "'}\nrego: {forbid: [], data: [/etc/passwd]}\ninclude: [../../../../../../../../etc/*.conf]\n" +
		"session_start:\n  - command: touch " + mark + "\npre_tool_execution:\n  - {name: a, type: rego, source: \"package a\\ndeny contains x if x := http.send({\\\"method\\\": \\\"get\\\", \\\"url\\\": \\\"http://127.0.0.1:1\\\"}).status\"}\n" +
		"  - {name: b, prompt: hello}\n"
	require.NoError(t, os.MkdirAll(filepath.Join(dir, ".git"), 0o755))
	path := filepath.Join(dir, "hooks.yaml")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	e := edit(t, dir)
	e.open(path, text)
	assert.NotEmpty(t, e.found(path, 1).Params.Diagnostics)
	for _, method := range []string{"hover", "completion", "definition", "references", "rename", "formatting", "codeAction", "codeLens"} {
		e.ask("textDocument/"+method, obj("textDocument", obj("uri", uriOf(path)), "position", obj("line", 3, "character", 12), "newName", "x"))
	}
	e.close()
	assert.NoFileExists(t, mark)
}

// TestCoverageInLenses: a lens says what the tests reached of a hook's lines, while the
// text is the one they ran on.
func TestCoverageInLenses(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, ".git"), 0o755))
	path := filepath.Join(dir, "hooks.yaml")
	text := "pre_tool_execution:\n  - {name: a, deny: 'command == \"a\"', reason: no}\n  - name: b\n    rules:\n      - {deny: 'command == \"b\"', reason: no}\n      - {deny: 'command == \"c\"', reason: no}\n"
	require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	require.NoError(t, covered.Keep(path, text, covered.Lines{2: true, 3: true, 5: true, 6: false}))
	e := edit(t, dir)
	e.open(path, text)
	e.found(path, 1)
	titles := func() string {
		a := e.ask("textDocument/codeLens", obj("textDocument", obj("uri", uriOf(path))))
		require.Nil(t, a.Error)
		return string(a.Result)
	}
	assert.Contains(t, titles(), "tests reach 1 of 1 lines")
	assert.Contains(t, titles(), "tests reach 2 of 3 lines")
	e.write(path, 2, text+"# more\n")
	e.found(path, 2)
	assert.NotContains(t, titles(), "tests reach")
	e.close()
}

// policyOf is a policy of a thousand rules: in one file, as Rego within it, as files of
// Rego, or as one module.
func policyOf(t testing.TB, kind, dir string) (path, text string) {
	const n = 1000
	var yaml, rego strings.Builder
	yaml.WriteString("version: 1\npre_tool_execution:\n")
	rego.WriteString("package h\n")
	put := func(name, text string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
		return path
	}
	rule := func(i int) string {
		return fmt.Sprintf("deny contains \"no %d\" if contains(input.command, \"deploy %d\")\n", i, i)
	}
	for i := range n {
		switch kind {
		case "expr":
			fmt.Fprintf(&yaml, "  - {name: h%d, deny: 'command contains \"deploy %d\"', reason: \"no %d\"}\n", i, i, i)
		case "inline":
			fmt.Fprintf(&yaml, "  - name: h%d\n    type: rego\n    source: |\n      package h%d\n      %s", i, i, rule(i))
		case "files":
			fmt.Fprintf(&yaml, "  - {name: h%d, file: r/h%d.rego}\n", i, i)
			text = fmt.Sprintf("package h%d\n%s", i, rule(i))
			path = put(fmt.Sprintf("r/h%d.rego", i), text)
		case "module":
			rego.WriteString(rule(i))
		}
	}
	switch kind {
	case "files":
		put("hooks.yaml", yaml.String())
		return path, text
	case "module":
		put("hooks.yaml", yaml.String()+"  - {name: h, file: h.rego}\n")
		return put("h.rego", rego.String()), rego.String()
	}
	return put("hooks.yaml", yaml.String()), yaml.String()
}

// BenchmarkKeystroke types a letter into a policy of a thousand rules, and waits for
// its findings; with error, every second letter makes the text none that can be read,
// and the next mends it.
func BenchmarkKeystroke(b *testing.B) {
	for _, name := range []string{"expr", "inline", "files", "module", "expr/error", "inline/error", "files/error", "module/error"} {
		kind, wrong := strings.CutSuffix(name, "/error")
		b.Run(name, func(b *testing.B) {
			dir := b.TempDir()
			require.NoError(b, os.Mkdir(filepath.Join(dir, ".git"), 0o755))
			path, text := policyOf(b, kind, dir)
			e := edit(b, dir)
			e.open(path, text)
			e.found(path, 1)
			var took []time.Duration
			version := 1
			for b.Loop() {
				version++
				typed := strings.Replace(text, "deploy ", "deploy "+strings.Repeat("x", version%7), 1)
				if wrong && version%2 == 0 {
					typed += "  - {name: [\n"
				}
				began := time.Now()
				e.write(path, version, typed)
				e.found(path, version)
				took = append(took, time.Since(began))
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)*95/100].Microseconds())/1000, "ms-p95")
			e.close()
		})
	}
}
