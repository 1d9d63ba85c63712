package agents_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// nativeCase is one configuration of an agent and one event.
type nativeCase struct {
	ID      int    `json:"id"`
	Cwd     string `json:"cwd"`
	Session string `json:"session"`
	// Hooks is what the agent's settings have under "hooks", Disabled and
	// Enabled what they say elsewhere.
	Hooks    map[string]any `json:"hooks"`
	Disabled []string       `json:"disabled"`
	Enabled  bool           `json:"enabled"`
	Event    string         `json:"event"`
	Input    map[string]any `json:"input"`
}

// nativeAnswer is what the agent's own code made of a case.
type nativeAnswer struct {
	ID         int    `json:"id"`
	Sequential bool   `json:"sequential"`
	Broken     string `json:"broken"`
	// GaveUp is true when its code threw before it merged the answers.
	GaveUp bool `json:"gave_up"`
	// None is true when there is no output at all.
	None    bool           `json:"none"`
	Action  string         `json:"action"`
	Blocked bool           `json:"blocked"`
	Reason  string         `json:"reason"`
	Context string         `json:"context"`
	System  string         `json:"system"`
	Input   map[string]any `json:"tool_input"`
	Request map[string]any `json:"llm_request"`
	Tools   map[string]any `json:"tool_config"`
	Text    *string        `json:"text"`
}

// bareEnv is the environment of both sides.
func bareEnv(home string) []string {
	return []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "GEMINI_CLI_HOME=" + home, "TMPDIR=" + home, "LANG=C.UTF-8", "CI=1", "NO_COLOR=1", "GITHUB_SHA=", "SURFACE="}
}

// drive has an agent's own code, started once, decide every case, and calls
// each with what it made of them: on several goroutines, as the answers come.
func drive(t *testing.T, driver *exec.Cmd, cases []*nativeCase, each func(*nativeCase, *nativeAnswer)) {
	t.Helper()
	stdin, err := driver.StdinPipe()
	require.NoError(t, err)
	stdout, err := driver.StdoutPipe()
	require.NoError(t, err)
	var stderr bytes.Buffer
	driver.Stderr = &stderr
	require.NoError(t, driver.Start())
	byID := map[int]*nativeCase{}
	for _, c := range cases {
		byID[c.ID] = c
	}
	go func() {
		w := bufio.NewWriter(stdin)
		for _, c := range cases {
			fmt.Fprintln(w, jsonText(c))
		}
		w.Flush()
		stdin.Close()
	}()
	answers := make(chan *nativeAnswer, 64)
	var workers sync.WaitGroup
	for range 2 {
		workers.Go(func() {
			for a := range answers {
				each(byID[a.ID], a)
			}
		})
	}
	answered := 0
	lines := bufio.NewReaderSize(stdout, 1<<20)
	for line, err := lines.ReadBytes('\n'); err == nil; line, err = lines.ReadBytes('\n') {
		a := &nativeAnswer{}
		if err := json.Unmarshal(line, a); err != nil || byID[a.ID] == nil || a.Broken != "" {
			t.Errorf("the driver said %s: %v", line, err)
			continue
		}
		answered++
		answers <- a
	}
	close(answers)
	workers.Wait()
	require.NoError(t, driver.Wait(), "the driver: %s", stderr.String())
	require.Equal(t, len(cases), answered, "the driver: %s", stderr.String())
}
