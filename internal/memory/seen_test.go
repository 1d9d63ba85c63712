package memory

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/internal/gate/table"
)

// TestSightingsOfTheGate: what hookgate answered by itself counts as seen, the
// later of the two records holding.
func TestSightingsOfTheGate(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	m := Open(t.TempDir())
	m.Saw("claude", "Stop")
	before := m.recorded()["claude"]["Stop"]
	at := time.Unix(before+100, 0)
	for name, when := range map[string]time.Time{"claude.PreToolUse": at, "claude.Stop": at.Add(-time.Hour), "nodot": at} {
		path := filepath.Join(m.Path(), table.Marker+name)
		require.NoError(t, os.WriteFile(path, nil, 0o600))
		require.NoError(t, os.Chtimes(path, when, when))
	}
	assert.Equal(t, Sightings{"claude": {"PreToolUse": at.Unix(), "Stop": before}}, m.Sightings())
}
