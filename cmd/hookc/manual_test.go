package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestManual: each text of help.txt is of a command, or of a topic, and is the one that is shown.
func TestManual(t *testing.T) {
	require.NotEmpty(t, manual())
	for heading, text := range manual() {
		if topic, ok := strings.CutPrefix(heading, "topic "); ok {
			assert.Contains(t, topicNames(), topic)
			continue
		}
		words := strings.Fields(heading)
		kind := words[len(words)-1]
		assert.Contains(t, []string{"long", "example"}, kind, heading)
		root := newRoot()
		cmd, rest, err := root.Find(words[1 : len(words)-1])
		require.NoError(t, err, heading)
		assert.Empty(t, rest, "%s: there is no such command", heading)
		var out strings.Builder
		root.SetOut(&out)
		require.NoError(t, cmd.Help())
		assert.Contains(t, out.String(), strings.TrimSpace(text), heading)
	}
}
