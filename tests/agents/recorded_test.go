package agents_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write what the agents send to tests/testdata/sent")

// recording is one conversation in which an agent is listened to.
type recording struct {
	prompt string
	turns  func(a *realAgent, s *session) []turn
}

// recordings are the conversations by agent, such that many of its events and
// tools occur.
var recordings = map[string][]recording{
	"claude": {{"go", func(a *realAgent, s *session) []turn {
		return []turn{
			a.shell("echo fine"), a.shell("echo bad; exit 3"), a.write(s.project, "notes.txt", "fine"),
			{tool: "Read", args: map[string]any{"file_path": "notes.txt"}},
			{tool: "mcp__desk__look_up", args: map[string]any{"what": "time"}},
			{tool: "Agent", args: map[string]any{"description": "look around", "prompt": "look", "subagent_type": "general-purpose", "run_in_background": false}},
			a.shell("echo within"), {text: "looked"},
			{tool: "Glob", args: map[string]any{"pattern": "*.txt"}},
			{tool: "WebFetch", args: map[string]any{"url": "http://127.0.0.1:9/", "prompt": "read"}}, {text: "done"},
		}
	}}, {"go", func(*realAgent, *session) []turn { return slices.Repeat([]turn{{fail: 400}}, 9) }},
		{"/compact", func(*realAgent, *session) []turn { return []turn{{text: "summary"}} }},
		{"/greet all", func(*realAgent, *session) []turn { return []turn{{text: "hello"}} }}},
	"gemini": {{"go", func(a *realAgent, s *session) []turn {
		return []turn{a.shell("echo fine"), a.shell("echo bad; exit 3"), a.write(s.project, "notes.txt", "fine"),
			{tool: "read_file", args: map[string]any{"file_path": "absent.txt"}},
			{tool: "mcp_desk_look_up", args: map[string]any{"what": "time"}}, {text: "done"}}
	}}},
	"codex": {{"go", func(a *realAgent, s *session) []turn {
		return []turn{a.shell("echo fine"), a.shell("echo bad; exit 3"), a.write(s.project, "notes.txt", "fine"),
			{tool: "mcp__desk__look_up", args: map[string]any{"what": "time"}}, {text: "done"}}
	}}},
	"qwen": {{"go", func(a *realAgent, s *session) []turn {
		return []turn{a.shell("echo fine"), a.shell("echo bad; exit 3"), a.write(s.project, "notes.txt", "fine"),
			{tool: "read_file", args: map[string]any{"absolute_path": filepath.Join(s.project, "absent.txt")}},
			{tool: "mcp__desk__look_up", args: map[string]any{"what": "time"}}, {text: "done"}}
	}}},
}

// TestAgentsSendWhatIsRecorded: the events in tests/testdata/sent are what the
// programs send: the same events, of the same tools, with values of the same
// shape. Other tests hold hookc against them without the programs.
func TestAgentsSendWhatIsRecorded(t *testing.T) {
	each(t, func(t *testing.T, a *realAgent) {
		var lines []string
		for _, r := range recordings[a.id] {
			s := begin(t, a)
			s.prompt, s.recorder = r.prompt, filepath.Join(filepath.Dir(s.project), "sent")
			s.play(t, func(s *session) []turn { return r.turns(a, s) })
			lines = append(lines, s.recorded(t)...)
		}
		path := filepath.Join("..", "testdata", "sent", a.id+".jsonl")
		if *update {
			var distinct []string
			seen := map[string]bool{}
			for _, line := range lines {
				if key, _ := shapeOf(t, line); !seen[key] {
					seen[key] = true
					distinct = append(distinct, line)
				}
			}
			put(t, path, strings.Join(distinct, "\n")+"\n")
		}
		data, err := os.ReadFile(path)
		require.NoError(t, err)
		shapes := func(lines []string) map[string]any {
			out := map[string]any{}
			for _, line := range lines {
				if key, shape := shapeOf(t, line); out[key] == nil {
					out[key] = shape
				}
			}
			return out
		}
		assert.Equal(t, shapes(strings.Split(strings.TrimSpace(string(data)), "\n")), shapes(lines))
	})
}

// recorded are the events that were sent in the session, without what differs
// from one run to the next.
func (s *session) recorded(t *testing.T) []string {
	t.Helper()
	data, err := os.ReadFile(s.recorder)
	require.NoError(t, err)
	text := strings.NewReplacer(s.project, "/project", s.home, "/home/user", filepath.Dir(s.project), "/tmp").Replace(string(data))
	for _, r := range []struct{ pattern, with string }{
		{`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`, "00000000-0000-0000-0000-000000000000"},
		{`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z`, "2026-01-02T03:04:05Z"},
		{`-tmp-Test[A-Za-z0-9-]*-project`, "-project"},
	} {
		text = regexp.MustCompile(r.pattern).ReplaceAllString(text, r.with)
	}
	var out []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			out = append(out, line)
		}
	}
	return out
}

// shapeOf is the shape of an event's values, by the event and its tool.
func shapeOf(t *testing.T, line string) (key string, shape any) {
	t.Helper()
	var sent map[string]any
	require.NoError(t, json.Unmarshal([]byte(line), &sent), line)
	name, _ := sent["hook_event_name"].(string)
	tool, _ := sent["tool_name"].(string)
	if _, within := sent["agent_id"]; within {
		tool += " in an agent"
	}
	return name + " " + tool, typesOf(sent)
}

// typesOf is a value with the type of each part in its place.
func typesOf(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for k, inner := range v {
			out[k] = typesOf(inner)
		}
		return out
	case []any:
		if len(v) == 0 {
			return "empty list"
		}
		return []any{typesOf(v[0])}
	}
	return fmt.Sprintf("%T", v)
}
