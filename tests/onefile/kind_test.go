package onefile_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const call = `{"event": "pre_tool_execution", "tool_name": "Bash", "tool_input": {"command": "sudo ls"}}`

// service answers the hooks of kind post, by path. Hooks of /a and /b are answered
// when both have asked.
func service(t *testing.T) string {
	var both sync.WaitGroup
	both.Add(2)
	gone, end := context.WithCancel(context.Background())
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		event, err := io.ReadAll(r.Body)
		assert.NoError(t, err)
		switch r.URL.Path {
		case "/judge":
			if strings.Contains(string(event), "sudo") {
				_, _ = io.WriteString(w, `{"decision": "deny", "reason": "the service says no"}`)
			}
		case "/broken":
			w.WriteHeader(http.StatusTeapot)
		case "/hangs":
			select {
			case <-r.Context().Done():
			case <-gone.Done():
			}
		case "/a", "/b":
			both.Done()
			both.Wait()
			_, _ = io.WriteString(w, `{"decision": "ask", "reason": "`+r.URL.Path+`"}`)
		}
	}))
	t.Cleanup(func() { end(); s.Close() })
	return s.URL
}

type decision struct {
	Action  string
	Reasons []string
	Failed  []struct{ Hook, Kind string }
}

func (p *place) decide(files ...string) (d decision) {
	p.t.Helper()
	args := []string{"run", "--json"}
	for _, f := range files {
		args = append(args, "-f", f)
	}
	out, stderr, _ := p.end(call, args...)
	require.NoError(p.t, json.Unmarshal([]byte(out), &d), "%s%s", out, stderr)
	return d
}

// TestKindListed: what there is and what hooks may say is told by the kind's file.
func TestKindListed(t *testing.T) {
	p := open(t, nil)
	list := p.run(0, "", "list")
	for _, kind := range []string{"post", "words"} {
		assert.Regexp(t, `(?m)^hook kind +`+kind+` `, list)
		assert.Contains(t, p.run(0, "", "schema", "--markdown"), "### type: "+kind)
	}
	var schema struct {
		Defs map[string]struct {
			Properties map[string]struct{ Description string }
			Else       struct{ PropertyNames struct{ Enum []string } }
		} `json:"$defs"`
	}
	require.NoError(t, json.Unmarshal([]byte(p.run(0, "", "schema")), &schema))
	hook := schema.Defs["hook"]
	assert.Equal(t, "the service that is sent the event", hook.Properties["url"].Description)
	assert.Subset(t, hook.Else.PropertyNames.Enum, []string{"url", "strict", "forbidden"})
}

// TestKindChecked: mistakes in its hooks are found at their place.
func TestKindChecked(t *testing.T) {
	p := open(t, map[string]string{"bodies.yaml": `
pre_tool_execution:
  - {name: a, url: nowhere}
  - {name: b, forbidden: [x], timeout: 5s}
`, "policy.yaml": `
pre_tool_execution:
  - {name: a, type: post}
  - {name: c, url: "http://x/", strict: maybe}
  - {name: d, url: "http://x/", command: "true"}
  - {name: e, forbiden: [x]}
  - {name: g, type: pots, url: "http://x/"}
  - {name: h, forbidden: {x: y}}
`})
	for file, want := range map[string][]string{
		"bodies.yaml": {
			`3:20 HK398 "nowhere" is no address`,
			"4:40 HK142 b is a rule, with a step budget of 100ms: a timeout of 5s has no effect",
		},
		"policy.yaml": {
			"3:12 HK010 a hook of type post needs url",
			"4:41 HK007 strict takes true or false; this is text",
			`5:33 HK011 "command" is a key of bash hooks; this one is post`,
			`6:15 HK006 unknown key "forbiden" in a hook`,
			`7:21 HK008 type: "pots" is not one of its words`,
			"8:26 HK007 forbidden takes a list; this is a map",
		},
	} {
		var report struct {
			Findings []struct {
				Code, Text   string
				Line, Column int
			} `json:"findings"`
		}
		require.NoError(t, json.Unmarshal([]byte(p.run(1, "", "check", "-f", file, "--json")), &report))
		var got []string
		for _, f := range report.Findings {
			got = append(got, fmt.Sprintf("%d:%d %s %s", f.Line, f.Column, f.Code, f.Text))
		}
		assert.Equal(t, want, got)
	}
}

// TestKindDecides: its hooks decide, fail and run out of time by their posture,
// from sources and compiled.
func TestKindDecides(t *testing.T) {
	at := service(t)
	policies := map[string]string{
		"judge":  `{name: h, url: "` + at + `/judge"}`,
		"broken": `{name: h, url: "` + at + `/broken"}`,
		"skips":  `{name: h, url: "` + at + `/broken", on_error: skip}`,
		"hangs":  `{name: h, url: "` + at + `/hangs", timeout: 300ms, on_error: skip, on_timeout: ask}`,
		"words":  `{name: h, forbidden: [rm, sudo], filter: {tool_kind: shell}}`,
		"burns":  `{name: h, forbidden: sudo, endless: true, on_timeout: ask}`,
	}
	files := map[string]string{}
	for name, hook := range policies {
		files[name+".yaml"] = "pre_tool_execution:\n  - " + hook + "\n"
	}
	p := open(t, files)
	for name, want := range map[string]string{
		"judge":  "block [the service says no] []",
		"broken": "block [h: 418 I'm a teapot] [{h network}]",
		"skips":  "proceed [] [{h network}]",
		"hangs":  "ask [h: timed out after 300ms] [{h timeout}]",
		"words":  "block [no sudo] []",
		"burns":  "ask [h: used up its budget of 100ms] [{h budget}]",
	} {
		p.run(0, "", "compile", "-f", name+".yaml", "-o", name+".hookc")
		for _, file := range []string{name + ".yaml", name + ".hookc"} {
			d := p.decide(file)
			assert.Equal(t, want, fmt.Sprint(d.Action, " ", d.Reasons, " ", d.Failed), file)
		}
	}
}

// TestKindScheduled: hooks outside of hookc run side by side.
func TestKindScheduled(t *testing.T) {
	at := service(t)
	p := open(t, map[string]string{"policy.yaml": "pre_tool_execution:\n  - parallel:\n      - {url: \"" + at + "/a\"}\n      - {url: \"" + at + "/b\"}\n"})
	d := p.decide("policy.yaml")
	assert.Equal(t, []string{"/a", "/b"}, d.Reasons)
}

// TestKindExplained: explain says where its hooks run and what they may do; convert
// and fmt write them, and diff finds what a change of them changes.
func TestKindExplained(t *testing.T) {
	p := open(t, map[string]string{
		"policy.yaml": "pre_tool_execution:\n  - {name: guard, forbidden: [rm, sudo]}\n  - {name: judge, url: \"http://localhost/\", strict: true}\n",
		"other.yaml":  "pre_tool_execution:\n  - {name: guard, forbidden: [rm]}\n  - {name: judge, url: \"http://localhost/\", strict: true}\n"})
	p.run(0, "", "convert", "policy.yaml", "--to", filepath.Join(p.project, "out.yaml"))
	written, err := os.ReadFile(filepath.Join(p.project, "out.yaml"))
	require.NoError(t, err)
	assert.Equal(t, "version: 1\n\npre_tool_execution:\n  - name: guard\n    forbidden: [rm, sudo]\n\n  - name: judge\n    url: http://localhost/\n    strict: true\n", string(written))
	text := p.run(0, "", "compile", "-f", "policy.yaml", "--explain")
	assert.Regexp(t, `guard +project +words .* deny +– +inline s0 +1µs`, text)
	assert.Regexp(t, `judge +project +post .* process +20ms`, text)
	assert.Contains(t, text, "t=0: slot0 (1 words, inline)")
	assert.Contains(t, text, "guard ─gate─► judge")
	out, _, _ := p.end("", "diff", "policy.yaml", "other.yaml")
	assert.Contains(t, out, "~ guard (words) changed")
	assert.Regexp(t, `(?m)^  block → proceed  pre_tool_execution .*loosened`, out)
}

// TestFormat: a file of an added format is found by its name, and read.
func TestFormat(t *testing.T) {
	p := open(t, map[string]string{"guard.lines": "true\n\ngrep -q sudo && echo '{\"decision\": \"deny\", \"reason\": \"no\"}'\n"})
	assert.Regexp(t, `(?m)^format +lines `, p.run(0, "", "list"))
	d := p.decide("guard.lines")
	assert.Equal(t, decision{Action: "block", Reasons: []string{"no"}}, d)
}
