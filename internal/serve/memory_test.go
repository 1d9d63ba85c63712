//go:build linux

package serve

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const servedScript = "pre_tool_execution:\n  - {name: guard, command: 'echo \"{\\\"decision\\\":\\\"deny\\\",\\\"reason\\\":\\\"%s\\\"}\"'}\n"

// TestServerHoldsOnePlan: a plan is built once for each edit and held once,
// whatever else is in the environments of those who ask.
func TestServerHoldsOnePlan(t *testing.T) {
	v, project := servedHouse(t)
	require.NoError(t, os.MkdirAll(project, 0o755))
	write := func(text string) {
		require.NoError(t, os.WriteFile(filepath.Join(project, "new"), []byte(text), 0o644))
		require.NoError(t, os.Rename(filepath.Join(project, "new"), filepath.Join(project, "hooks.yaml")))
	}
	ask := func(who string) string {
		t.Helper()
		reply, err := v.reply(context.Background(), self, served(project, "WHO="+who))
		require.NoError(t, err)
		return string(reply.Stderr)
	}
	engines := func() (n int) {
		for _, s := range v.plans.slots() {
			if r := s.live.Load(); r != nil && r.eng != nil {
				n++
			}
		}
		return n
	}
	settled(t, v, func() { write(fmt.Sprintf(servedScript, "first")) }, func() { ask("anna") })
	assert.Equal(t, []string{"first", "first", "first"}, []string{ask("anna"), ask("bert"), ask("anna")})
	assert.Equal(t, 1, engines(), "none more for another environment")

	write(fmt.Sprintf(servedScript, "second"))
	time.Sleep(300 * time.Millisecond) // until what was written is too old for a further edit to carry the same time
	before := v.plans.builds.Load()
	assert.Equal(t, "second", ask("anna"))
	assert.Equal(t, int64(1), v.plans.builds.Load()-before, "to find out is to build it")
	assert.Equal(t, []string{"second", "second"}, []string{ask("bert"), ask("anna")})
	assert.Equal(t, 1, engines())

	before = v.plans.builds.Load()
	v.plans.reload(context.Background())
	assert.Equal(t, int64(1), v.plans.builds.Load()-before, "what was asked for is built, and nothing else")

	settled(t, v, func() { writePolicy(t, project, "a rule") }, func() { ask("anna") })
	assert.Equal(t, []string{"a rule", "a rule"}, []string{ask("anna"), ask("carl")})
	settled(t, v, func() { write(fmt.Sprintf(servedScript, "third")) }, func() { ask("anna") })
	assert.Equal(t, []string{"third", "third"}, []string{ask("anna"), ask("bert")})
	assert.Len(t, v.plans.list(), 1)
}

// settled makes an edit and asks until the plan that answers is of it, and it is
// too old for another one to carry the same time. Until it may be whole the
// plan before it decides, and then every event is decided by a plan built for it.
func settled(t *testing.T, v *server, edit, ask func()) {
	t.Helper()
	edit()
	require.Eventually(t, func() bool {
		ask()
		slots := v.plans.slots()
		for _, s := range slots {
			if r := s.live.Load(); r != nil && r.files.open {
				return false
			}
		}
		used := slots[0].live.Load() // used last comes first
		return used != nil && used.files.same()
	}, time.Minute, 20*time.Millisecond)
}
