//go:build unix

package bench

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// coldRows are hookgate without a server: the policy, and an event that no hook
// of it concerns.
var coldRows = []struct{ unit, policy, event string }{
	{"nohook", "pre_tool_execution:\n  - {name: guard, deny: 'command contains \"rm\"', reason: \"no\"}\n", `{"hook_event_name":"Notification","session_id":"s","message":"m"}`},
	{"filtered", "pre_tool_execution:\n  - {name: guard, filter: {tool_matcher: Write|Edit}, deny: 'path contains \"x\"', reason: \"no\"}\n",
		`{"hook_event_name":"PreToolUse","session_id":"s","tool_name":"Bash","tool_input":{"command":"ls"}}`},
	{"command", "pre_tool_execution:\n  - {name: guard, filter: {tool_name: Bash, command: '^git push'}, deny: \"true\", reason: \"no\"}\n",
		`{"hook_event_name":"PreToolUse","session_id":"s","tool_name":"Bash","tool_input":{"command":"ls"}}`},
	{"1000hooks", thousandFiltered(), `{"hook_event_name":"PreToolUse","session_id":"s","tool_name":"Bash","tool_input":{"command":"ls"}}`},
}

func thousandFiltered() string {
	var b strings.Builder
	b.WriteString("pre_tool_execution:\n")
	for i := range 1000 {
		filter := []string{"tool_name: tool_%d", "tool_matcher: \"a_%d|b_%[1]d\"", "tool_pattern: \"^mcp__s%d__\""}[i%3]
		fmt.Fprintf(&b, "  - {name: h%d, filter: {"+filter+"}, deny: \"true\", reason: \"no\"}\n", i, i)
	}
	return b.String()
}

// BenchmarkRatioGateCold is the whole process, an event on stdin and the answer
// read: hookgate with a compiled policy and no server, at events that no hook
// concerns, against a Go hello and /bin/true, turn by turn. The ratios are of
// medians.
func BenchmarkRatioGateCold(b *testing.B) {
	r := newGateRig(b)
	type row struct {
		unit, event string
		args        []string
		took        []time.Duration
	}
	rows := []*row{{unit: "hello", args: []string{filepath.Join(r.dir, "hello.bin")}}, {unit: "true", args: []string{"/bin/true"}}}
	for _, c := range coldRows {
		source, artifact := filepath.Join(r.dir, c.unit+".yaml"), filepath.Join(r.dir, c.unit+".hookc")
		r.write(b, c.unit+".yaml", c.policy)
		if text, err := r.command(filepath.Join(r.dir, "hookc"), "compile", "-f", source, "-o", artifact).CombinedOutput(); err != nil {
			b.Fatalf("%v\n%s", err, text)
		}
		rows = append(rows, &row{unit: c.unit, event: c.event, args: []string{filepath.Join(r.dir, "hookgate"), "--dialect", "claude", "--artifact", artifact}})
		// The first event of a project is hookc's: it makes the state folder.
		first := r.command(filepath.Join(r.dir, "hookc"), "run", "--dialect", "claude", "-f", artifact)
		first.Stdin = strings.NewReader(c.event)
		if text, err := first.CombinedOutput(); err != nil {
			b.Fatalf("%v\n%s", err, text)
		}
	}
	for b.Loop() {
		for _, row := range rows {
			cmd := r.command(row.args[0], row.args[1:]...)
			var out bytes.Buffer
			cmd.Stdin, cmd.Stdout = strings.NewReader(row.event), &out
			start := time.Now()
			if err := cmd.Run(); err != nil {
				b.Fatal(row.unit, err)
			}
			row.took = append(row.took, time.Since(start))
		}
	}
	hello := float64(0)
	for _, row := range rows {
		slices.Sort(row.took)
		median := float64(row.took[len(row.took)/2])
		if row.unit == "hello" {
			hello = median
			b.ReportMetric(hello/1000, "hello-µs")
			continue
		}
		b.ReportMetric(median/hello, row.unit+"/hello")
	}
}
