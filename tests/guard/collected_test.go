package guard

import (
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/tests/guard/interval"
)

// corpusLines reads a file of Go strings without their quotes, one a line.
func corpusLines(t testing.TB, name string) []string {
	t.Helper()
	data, err := os.ReadFile(name)
	require.NoError(t, err)
	var out []string
	for line := range strings.Lines(string(data)) {
		line = strings.TrimRight(line, "\n")
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		c, err := strconv.Unquote(`"` + line + `"`)
		require.NoError(t, err, line)
		out = append(out, c)
	}
	return out
}

// reviewed are the collected commands that were looked at and are no everyday
// commands: `dangerous.txt` has them with the reason, a tab between.
func reviewed(t testing.TB) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, line := range corpusLines(t, "dangerous.txt") {
		reason, command, ok := strings.Cut(line, "\t")
		require.True(t, ok, line)
		out[command] = reason
	}
	return out
}

// TestCollected: of 5,000 commands that people wrote down for each other, none
// of them chosen for this test, at most 0.05 % are denied wrongly and 1.5 % asked
// about.
func TestCollected(t *testing.T) {
	g := guard(t, "shell-guard", option("packs", "all"))
	commands, dangerous := corpusLines(t, "collected.txt"), reviewed(t)
	require.GreaterOrEqual(t, len(commands), 5000)
	for command := range dangerous {
		assert.Contains(t, commands, command, "reviewed and not in the corpus")
	}
	var denied, asked, harmless int
	var times []time.Duration
	for _, c := range commands {
		var r policy.Result
		fastest := time.Hour
		for range 3 {
			start := time.Now()
			r = decide(t, g, c, root)
			fastest = min(fastest, time.Since(start))
		}
		times = append(times, fastest)
		if dangerous[c] != "" {
			continue
		}
		harmless++
		switch r.Verdict {
		case policy.Deny:
			denied++
			t.Logf("denied %q: %s", c, told(r))
		case policy.Ask:
			asked++
			t.Logf("asked about %q: %s", c, told(r))
		}
	}
	slices.Sort(times)
	at := func(part float64) time.Duration { return times[min(int(part*float64(len(times))), len(times)-1)] }
	t.Logf("%d harmless commands: denied %s, asked about %s; latency, each by its fastest of three, p50 %s, p99.9 %s, max %s", harmless, interval.Share(denied, harmless), interval.Share(asked, harmless), at(.5), at(.999), at(1))
	assert.LessOrEqual(t, float64(denied), 0.0005*float64(harmless))
	assert.LessOrEqual(t, float64(asked), 0.015*float64(harmless))
}
