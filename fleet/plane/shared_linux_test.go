package plane_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/fleet/jetstream/natstest"
	"github.com/hookc/hookc/internal/share"
)

// TestSharedWithoutLeave: where the certificate of NATS is too old or not due yet, or NATS
// does not let this machine in, what needs the fleet is refused and says why, until
// that is mended.
func TestSharedWithoutLeave(t *testing.T) {
	c, dir := natstest.Start(t), t.TempDir()
	secured := func(from, to time.Duration, more string) {
		dated(t, dir, "127.0.0.1", time.Now().Add(from), time.Now().Add(to))
		c.Again(fmt.Sprintf("tls { cert_file: %q, key_file: %q }\n%s", filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem"), more))
	}
	secured(-time.Hour, time.Hour, "")
	policy := filepath.Join(t.TempDir(), "hooks.yaml")
	require.NoError(t, os.WriteFile(policy, []byte("pre_tool_execution:\n  - {name: many, type: builtin, use: budget-guard, max_calls: 5000}\n"), 0o600))
	n := newSharerBy(t, policy, "--nats", c.URL(), "--nats-ca", filepath.Join(dir, "ca.pem"), "--on-partition", share.Deny)
	counts := func() bool { d := n.run("Bash", "ls"); return d.Action == "proceed" && d.Warnings == nil }
	n.until("the fleet counts", counts)
	for _, bad := range []struct {
		from, to  time.Duration
		more, why string
	}{
		{-2 * time.Hour, -time.Hour, "", "certificate has expired or is not yet valid"},
		{time.Hour, 2 * time.Hour, "", "certificate has expired or is not yet valid"},
		{-time.Hour, time.Hour, `authorization { token: "of others" }`, "Authorization Violation"},
	} {
		secured(bad.from, bad.to, bad.more)
		var d *decision
		n.until("it says why", func() bool {
			d = n.run("Bash", "ls")
			return len(d.Warnings) == 1 && d.Warnings[0].Code == "HK174" && strings.Contains(d.Warnings[0].Text, bad.why)
		})
		assert.Equal(t, "block", d.Action)
		if bad.more != "" { // the client gives up after some refusals, unless it is told not to
			time.Sleep(2 * time.Second)
		}
		secured(-time.Hour, time.Hour, "")
		n.until("the fleet counts again", counts)
	}
}
