package render

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"

	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/internal/packed"
	"github.com/hookc/hookc/policy"
)

var update = flag.Bool("update", false, "rewrite the goldens")

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		require.NoError(t, os.MkdirAll("testdata", 0o755))
		require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, string(want), got)
}

func draw(t *testing.T, name string, m *Model, style Style) string {
	t.Helper()
	r, ok := FindRenderer(name)
	require.True(t, ok)
	var b bytes.Buffer
	require.NoError(t, r.Render(&b, m, style))
	return b.String()
}

func TestGoldens(t *testing.T) {
	for _, r := range Renderers() {
		t.Run(r.Name, func(t *testing.T) {
			golden(t, "mock."+r.Ext, draw(t, r.Name, Explain(mockProgram(), ExplainOptions{}), Style{}))
			golden(t, "nasty."+r.Ext, draw(t, r.Name, Explain(nastyProgram(), ExplainOptions{}), Style{}))
		})
	}
	bash := Explain(mockProgram(), ExplainOptions{Event: policy.PreToolExecution, Tool: "Read"})
	golden(t, "mock-read.txt", draw(t, "text", bash, Style{}))
	golden(t, "mock-narrow.txt", draw(t, "text", Explain(mockProgram(), ExplainOptions{}), Style{Width: 80}))
	golden(t, "mock-colour.txt", draw(t, "text", bash, Style{Palette: ANSI()}))
}

func TestNothingToShow(t *testing.T) {
	empty := &dag.Program{}
	empty.Seal()
	noHooks := Explain(mockProgram(), ExplainOptions{Event: policy.Notify})
	onlyDead := &dag.Program{Hooks: mockProgram().Hooks[10:]}
	for _, e := range mockProgram().Hooks {
		if e.Status == dag.Disabled {
			onlyDead.Hooks = []dag.Entry{e}
		}
	}
	onlyDead.Seal()
	assert.Equal(t, "no hooks: every event proceeds\n", draw(t, "text", Explain(empty, ExplainOptions{}), Style{}))
	assert.Equal(t, "EVENT pre_tool_execution\n no hook runs here: the event proceeds\n NOT IN FORCE\n   later  project  disabled   enabled: false\n",
		draw(t, "text", Explain(onlyDead, ExplainOptions{}), Style{}))
	assert.Contains(t, draw(t, "text", noHooks, Style{}), "EVENT notify\n no hook runs here: the event proceeds\n")
	for _, r := range Renderers() {
		for _, m := range []*Model{Explain(empty, ExplainOptions{}), noHooks, Explain(onlyDead, ExplainOptions{})} {
			out := draw(t, r.Name, m, Style{Width: 20})
			assert.NotEmpty(t, out)
			if r.Name == "svg" {
				wellFormed(t, out)
			}
		}
	}
}

// Every line fits, whatever the width; a width of nothing is no width.
func TestNarrow(t *testing.T) {
	for _, p := range []*dag.Program{mockProgram(), nastyProgram()} {
		m := Explain(p, ExplainOptions{})
		for width := 24; width < 200; width += 7 {
			for line := range strings.Lines(draw(t, "text", m, Style{Width: width})) {
				assert.LessOrEqual(t, textWidth(strings.TrimSuffix(line, "\n")), width, "width %d: %q", width, line)
			}
		}
	}
}

var escapes = regexp.MustCompile("\x1b\\[[0-9]*m")

// Colour adds escape sequences and nothing else, and no author can.
func TestColour(t *testing.T) {
	for _, width := range []int{0, 60, 120} {
		m := Explain(nastyProgram(), ExplainOptions{})
		plainText := draw(t, "text", m, Style{Width: width})
		assert.NotContains(t, plainText, "\x1b")
		assert.NotContains(t, plainText, "\u202e")
		coloured := draw(t, "text", m, Style{Width: width, Palette: ANSI()})
		assert.Contains(t, coloured, "\x1b[1m")
		assert.Equal(t, plainText, escapes.ReplaceAllString(coloured, ""))
	}
}

func wellFormed(t *testing.T, text string) {
	t.Helper()
	dec := xml.NewDecoder(strings.NewReader(text))
	for {
		if _, err := dec.Token(); errors.Is(err, io.EOF) {
			return
		} else if !assert.NoError(t, err) {
			return
		}
	}
}

func TestSVGIsWellFormed(t *testing.T) {
	for _, p := range []*dag.Program{mockProgram(), nastyProgram()} {
		out := draw(t, "svg", Explain(p, ExplainOptions{}), Style{})
		wellFormed(t, out)
		assert.NotContains(t, out, "<script")
	}
}

// The page's elements are what hookc wrote: no name becomes one, the model
// comes back from the script as it went in, and nothing is loaded.
func TestHTML(t *testing.T) {
	for _, p := range []*dag.Program{mockProgram(), nastyProgram()} {
		m := Explain(p, ExplainOptions{})
		out := draw(t, "html", m, Style{})
		doc, err := html.Parse(strings.NewReader(out))
		require.NoError(t, err)
		var scripts []string
		for n := range doc.Descendants() {
			if n.Type != html.ElementNode {
				continue
			}
			assert.NotContains(t, []string{"b", "img", "link", "iframe"}, n.Data)
			if n.Data == "script" {
				scripts = append(scripts, n.FirstChild.Data)
			}
			for _, a := range n.Attr {
				assert.NotContains(t, []string{"src", "onclick", "onload"}, a.Key)
				assert.False(t, a.Key == "href" && !strings.HasPrefix(a.Val, "#"), a.Val)
			}
		}
		require.Len(t, scripts, 2)
		want, err := json.Marshal(m)
		require.NoError(t, err)
		assert.JSONEq(t, string(want), scripts[0])
		assert.Equal(t, "\n"+packed.Text(htmlViewer), scripts[1])
	}
}

// Outside of labels a Mermaid drawing holds only what hookc wrote.
func TestMermaidLabels(t *testing.T) {
	out := draw(t, "mermaid", Explain(nastyProgram(), ExplainOptions{}), Style{})
	assert.Equal(t, "flowchart LR", strings.SplitN(out, "\n", 2)[0])
	label := regexp.MustCompile(`"[^"]*"`)
	for line := range strings.Lines(out) {
		assert.Equal(t, 0, strings.Count(line, `"`)%2, line)
		assert.NotContains(t, line, "%%")
		for _, text := range label.FindAllString(line, -1) {
			bare := strings.ReplaceAll(text, "<br/>", "")
			assert.NotRegexp(t, "[<>`|&\\\\]", bare)
		}
		assert.NotContains(t, label.ReplaceAllString(line, ""), "script")
	}
}

// Every DOT string ends where hookc ended it.
func TestDOTStrings(t *testing.T) {
	out := draw(t, "dot", Explain(nastyProgram(), ExplainOptions{}), Style{})
	bare := regexp.MustCompile(`"(\\.|[^"\\])*"`).ReplaceAllString(out, "")
	assert.NotContains(t, bare, `"`)
	assert.NotContains(t, bare, "script")
	assert.NotContains(t, bare, "init")
	assert.Equal(t, strings.Count(bare, "{"), strings.Count(bare, "}"))
	assert.NotContains(t, out, `"\N`)
}

// Two runs over two equal programs give the same bytes.
func TestStable(t *testing.T) {
	for _, r := range Renderers() {
		first := draw(t, r.Name, Explain(mockProgram(), ExplainOptions{}), Style{Width: 100})
		for range 5 {
			require.Equal(t, first, draw(t, r.Name, Explain(mockProgram(), ExplainOptions{}), Style{Width: 100}))
		}
	}
}

func TestRendererRegistry(t *testing.T) {
	assert.Equal(t, []string{"text", "json", "mermaid", "dot", "svg", "html"}, RendererNames())
	_, ok := FindRenderer("png")
	assert.False(t, ok)
	for _, r := range Renderers() {
		found, ok := FindRenderer(r.Name)
		assert.True(t, ok)
		assert.Equal(t, r.Doc, found.Doc)
	}
}
