package bundled

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// TestStale: a clock that jumps does not make a policy that nobody confirms count for
// ever, and a small correction of it makes none too old.
func TestStale(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	b := Bundle{Name: "main", Revision: "v1", MaxAge: 3600}
	for since, stale := range map[time.Duration]bool{
		0: false, 59 * time.Minute: false, 61 * time.Minute: true, // ago
		-59 * time.Minute: false, -61 * time.Minute: true, -100 * 365 * 24 * time.Hour: true, // not yet
	} {
		assert.Equal(t, stale, b.Stale(Contact{Confirmed: now.Add(-since)}, now) != "", since)
	}
	assert.NotEmpty(t, b.Stale(Contact{}, now), "never confirmed")
	b.MaxAge = 0
	assert.Empty(t, b.Stale(Contact{}, now))
}
