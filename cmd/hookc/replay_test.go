package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc"
	"github.com/hookc/hookc/internal/decisionlog"
	"github.com/hookc/hookc/internal/replay"
	"github.com/hookc/hookc/policy"
)

const roadsPolicy = `pre_tool_execution:
  - {name: command, filter: {tool_name: Bash}, deny: 'tool_input.command contains "forbidden"', reason: no}
  - {name: derived, deny: 'command contains "shutdown"', reason: off}
  - {name: odd, deny: 'raw.odd == 1', reason: odd}
  - {name: folder, ask: 'project_root startsWith "/secret"', reason: folder}
stop:
  - {name: more, deny: 'stop_reason == "early"', reason: go on}
`

// roadsLog has the lines of a log of all kinds of events.
func roadsLog(t *testing.T, home string) (lines [][]byte) {
	t.Helper()
	dir := decisionlog.Folder(filepath.Join(home, "hookc"))
	eng, err := hookc.Open(t.Context(), hookc.Text("hooks.yaml", roadsPolicy), hookc.Log(dir, hookc.LogOptions{Deny: true}))
	require.NoError(t, err)
	for i := range 60 {
		in := policy.NewContext("").Set(policy.FieldSessionID, fmt.Sprint("s", i/7)).Set(policy.FieldCwd, []string{"/a", "/secret/b"}[i/5%2])
		event := hookc.PreToolExecution
		command := []string{"ls", "shutdown -h", "echo \"},\\\"result\\\":{\\\"\"", "forbidden\nü\u2028", strings.Repeat("long ", 400)}[i%5]
		switch i % 4 {
		case 0, 1:
			in.Set(policy.FieldToolName, "Bash").Set(policy.FieldToolInput, map[string]any{"command": command, "result": map[string]any{"a": 1}})
		case 2:
			in.Set(policy.FieldToolName, "Read").Set(policy.FieldToolInput, map[string]any{"file_path": "x"}).Set(policy.FieldRaw, map[string]any{"odd": i / 4 % 3})
		default:
			event = policy.StopEvent
			in.Set(policy.FieldStopReason, []string{"early", "late"}[i/4%2]).Set(policy.FieldToolName, "Bash")
		}
		_, err := eng.Fire(t.Context(), event, in)
		require.NoError(t, err)
	}
	require.NoError(t, eng.Close())
	text, err := os.ReadFile(filepath.Join(dir, "w0-00000001.jsonl"))
	require.NoError(t, err)
	return bytes.Split(bytes.TrimSpace(text), []byte("\n"))
}

// otherwise are ways to write an entry otherwise, or one that is none.
var otherwise = []func(r *rand.Rand, line []byte) []byte{
	func(_ *rand.Rand, line []byte) []byte { return line },
	func(r *rand.Rand, line []byte) []byte { return line[:r.IntN(len(line))] }, // torn
	func(r *rand.Rand, line []byte) []byte { // another byte
		line[r.IntN(len(line))] = []byte("\"{}[],:\\ 0a\x00\xff")[r.IntN(13)]
		return line
	},
	func(r *rand.Rand, line []byte) []byte { // one byte less
		at := r.IntN(len(line))
		return append(line[:at], line[at+1:]...)
	},
	func(r *rand.Rand, line []byte) []byte { // spaces
		return bytes.ReplaceAll(line, []byte(`,"`), []byte([]string{", \"", ",\t\"", " ,\""}[r.IntN(3)]))
	},
	func(_ *rand.Rand, line []byte) []byte { // keys in another order, and other spaces
		var v map[string]json.RawMessage
		if json.Unmarshal(line, &v) != nil {
			return line
		}
		out, err := json.MarshalIndent(v, "", " ")
		if err != nil {
			return line
		}
		return bytes.ReplaceAll(out, []byte("\n"), nil)
	},
	put(`,"result":{`, `,"input":{"tool_name":"Bash"},"result":{`),
	put(`,"writer":`, `,"unknown":1,"writer":`),
	put(`"path":"`, `"p\u0061th":"`),
	put(`"command":"`, `"comm\u0061nd":"forbidden `),
	put(`"command":"`, `"command":"forbidden`),
	put(`"command":"ls"`, `"command":null`),
	put(`"command":"`, "\"\xff\":1,\"command\":\""),
	put(`"command":"`, `"x":{"result":{"y":{}},"command":"`),
	put(`"command":"`, `"x":{"z":{},"result":{"y":{}}},"command":"`),
	put(`"command":"ls"`, `"command":"\ud800\u0000"`),
	put(`"command":"`, `"deep":`+strings.Repeat("[", 510)+strings.Repeat("]", 510)+`,"command":"`),
	put(`"command":"`, `"deep":`+strings.Repeat("[", 511)+strings.Repeat("]", 511)+`,"command":"`),
	put(`"command":"`, `"deep":`+strings.Repeat("[", 512)+strings.Repeat("]", 512)+`,"command":"`),
	put(`"session_id":"`, `"session_id":null,"was":"`),
	put(`"cwd":"/a"`, `"cwd":"/secret"`),
	put(`"project_root":"/a",`, ``),
	put(`"action":"proceed"`, `"action":"block"`),
	put(`"verdict":"none"`, `"verdict":"deny"`),
	put(`"control":"go"`, `"control":"go"}`),
	put(`},"result":{"`, `},,"result":{"`),
	put(`},"result":{"`, `}},"result":{"`),
	put(`},"result":{"`, `},"x":},"result":{"`),
	put(`"reasons":["`, `"reasons":["really `),
	put(`"path":"pre_tool_execution"`, `"path":"pre-tool-execution"`),
	put(`"path":"stop"`, `"path":"pre_tool_execution"`), // which ends the replay, where it has no tool
	put(`"stop_reason":"`, `"stop_reason":"early","x":"`),
	// A key repeated in what --event or --tool leaves out is not seen by who is quick.
	put(`"tool_name":"`, `"tool_name":"Bash","tool_name":"`),
	put(`"command":"`, `"command":"ls","command":"`),
}

func put(old, now string) func(*rand.Rand, []byte) []byte {
	return func(_ *rand.Rand, line []byte) []byte { return bytes.Replace(line, []byte(old), []byte(now), 1) }
}

// TestReplayRoads: what replay decides ahead, of lines of which it reads as little as it
// can, in memory that it uses again, is what it decides of each line in its turn. With
// --scripts nothing is decided ahead, and the policy has none.
func TestReplayRoads(t *testing.T) {
	home := t.TempDir()
	t.Setenv("XDG_STATE_HOME", home)
	t.Setenv("HOOKC_TRUST", "all")
	lines := roadsLog(t, home)
	hooks := filepath.Join(home, "hooks.yaml")
	require.NoError(t, os.WriteFile(hooks, []byte(roadsPolicy), 0o600))
	said := func(args ...string) string {
		var out bytes.Buffer
		root := newRoot()
		root.SetArgs(append([]string{"replay", "-f", hooks}, args...))
		root.SetOut(&out)
		root.SetErr(&out)
		err := root.Execute()
		return fmt.Sprintf("%s\n%v", &out, err)
	}
	file := filepath.Join(home, "lines.jsonl")
	assert.Contains(t, said("--recorded"), "60 as recorded, 0 changed, 0 unsure")
	changed := 0
	for seed := range 150 {
		r := rand.New(rand.NewPCG(uint64(seed), 1))
		flags, ways, most := [][]string{nil, nil, {"--tool", "Bash"}, {"--event", "stop"}}[seed%4], len(otherwise), 3
		if flags != nil {
			ways, most = ways-2, 2
		}
		var text []byte
		for range 50 {
			line := bytes.Clone(lines[r.IntN(len(lines))])
			for range r.IntN(most) {
				if len(line) > 0 {
					line = otherwise[r.IntN(ways)](r, line)
				}
			}
			text = append(append(text, line...), '\n')
		}
		require.NoError(t, os.WriteFile(file, text, 0o600))
		ahead := said(append(flags, file)...)
		require.Equal(t, said(append(flags, "--scripts", file)...), ahead, "seed %d %v", seed, flags)
		changed += strings.Count(ahead, "CHANGED")
	}
	assert.Greater(t, changed, 100)
}

// replayed replays a text and returns the report.
func replayed(t *testing.T, text string) (out replay.Report) {
	t.Helper()
	home := t.TempDir()
	t.Setenv("XDG_STATE_HOME", home)
	hooks, file := filepath.Join(home, "hooks.yaml"), filepath.Join(home, "lines.jsonl")
	require.NoError(t, os.WriteFile(hooks, []byte(roadsPolicy), 0o600))
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	var said, wrong bytes.Buffer
	root := newRoot()
	root.SetArgs([]string{"replay", "-f", hooks, "--json", file})
	root.SetOut(&said)
	root.SetErr(&wrong)
	_ = root.Execute() // what cannot be read is a finding
	require.NoError(t, json.Unmarshal(said.Bytes(), &out), "%s%s", &said, &wrong)
	return out
}

// TestReplayBroken: a value that is broken takes no record with it that stands on lines of
// its own behind it, whatever it is broken by, and it is said each time.
func TestReplayBroken(t *testing.T) {
	const record = `{"event":"stop","stop_reason":"late","cwd":"/a"}`
	const printed = "{\n  \"event\": \"stop\",\n  \"stop_reason\": \"late\",\n  \"cwd\": \"/a\"\n}"
	for _, broken := range []string{"{", "[", "[[[", `{"event":`, `{"event":"stop"`, `{"event":"stop",`, `{"event":"stop","raw":{"a":[`, "{\n\"event\":\n", `{"event":"st`, "[\n[\n[", "x", "}", `{"event":"stop"]`, "{\n  \"event\": \"stop\"\n]", strings.Repeat("[\n", 12000)} {
		for _, behind := range []int{0, 1, 2, 5} {
			text := record + "\n" + broken + "\n" + strings.Repeat(record+"\n", behind)
			got := replayed(t, text)
			assert.Equal(t, 1+behind, got.Events, "%.40q %d", broken, behind)
			assert.Positive(t, got.Unread, "%.40q", broken)
			got = replayed(t, record+"\n"+printed+"\n"+broken+"\n"+record+"\n"+printed+"\n"+printed+"\n"+record)
			if !strings.HasPrefix(broken, "[") { // a list may go on with what looks like a record
				assert.Equal(t, 6, got.Events, "%.40q before records of several lines", broken)
			}
		}
	}
}

// TestReplayLines: how long a value takes to be read grows with its length, not with the
// square of its lines.
func TestReplayLines(t *testing.T) {
	for _, text := range []string{
		strings.Repeat("[\n", 400_000),
		"{\"event\":\"stop\",\"cwd\":\"/a\",\"raw\":{\"a\":[1" + strings.Repeat(",\n1", 400_000) + "]}}\n",
	} {
		replayed(t, text) // else it is not done before the tests are over
	}
}
