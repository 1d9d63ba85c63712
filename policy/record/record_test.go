package record

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/policy/diag"
)

// setting is one at random.
func setting(r *rand.Rand, rank int) Setting {
	pick := func(of ...string) string { return of[r.IntN(len(of))] }
	s := Setting{Tier: "t", Rank: rank, By: "x", Enabled: pick("", "on", "off"), OnError: pick("", "deny", "warn"), Durable: r.IntN(2) == 0,
		KeepDays: []int{0, 1, 40}[r.IntN(3)], KeepMB: []int{0, 1, 4000}[r.IntN(3)], Checkpoints: pick("", "/a", "/b")}
	for range r.IntN(3) {
		s.Mask = append(s.Mask, When{What: pick("/input/prompt", "/input/tool_name", "/result/action", "/answers/x", "/input/*")})
	}
	if r.IntN(2) == 0 {
		s.Drop = []When{{What: pick("stop", "session_start")}}
	}
	if r.IntN(3) == 0 {
		s.Rego = []diag.Text{diag.Literal("package x")}
	}
	return s
}

// TestProjectsTakeNothingBack: whatever a less trusted tier says besides, what the more
// trusted ones set stays, is as strict or stricter, and goes nowhere else.
func TestProjectsTakeNothingBack(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 20000 {
		var trusted, all []Setting
		for range r.IntN(3) {
			trusted = append(trusted, setting(r, 1+r.IntN(2)))
		}
		all = append(all, trusted...)
		for range 1 + r.IntN(2) {
			all = append(all, setting(r, User+1+r.IntN(4)))
		}
		r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		before, after := Settle(trusted), Settle(all)
		said := slices.ContainsFunc(trusted, func(s Setting) bool { return s.Enabled != "" })
		if said {
			require.Equal(t, before.Enabled, after.Enabled)
		}
		if !before.Enabled {
			continue
		}
		require.True(t, after.Durable || !before.Durable)
		require.True(t, after.OnError == "deny" || before.OnError != "deny")
		require.GreaterOrEqual(t, after.KeepDays, before.KeepDays)
		require.GreaterOrEqual(t, after.KeepMB, before.KeepMB)
		if before.KeepDays > 0 {
			require.Equal(t, before.KeepDays, after.KeepDays)
		}
		require.ElementsMatch(t, before.Checkpoints, after.Checkpoints)
		require.ElementsMatch(t, before.Drop, after.Drop, "what is dropped is no project's to say where the user has a log")
		for _, m := range before.Mask {
			require.Contains(t, after.Mask, m)
		}
		for _, m := range after.Mask {
			require.True(t, !m.Narrow || Narrow(m.What))
		}
		for _, m := range after.Rego {
			require.Equal(t, m.Drops, !m.Narrow && m.Drops)
		}
	}
}

// TestManagedOverUser: what the administrator set is not taken back by the user.
func TestManagedOverUser(t *testing.T) {
	managed := Setting{Tier: "managed", Rank: 1, By: "managed", Enabled: "on", OnError: "deny", KeepDays: 90, Checkpoints: "/far"}
	user := Setting{Tier: "user", Rank: User, By: "user", Enabled: "off", OnError: "warn", KeepDays: 1, Drop: []When{{What: "stop"}}, Checkpoints: "/near"}
	s := Settle([]Setting{user, managed})
	require.True(t, s.Enabled)
	require.Equal(t, "deny", s.OnError)
	require.Equal(t, 90, s.KeepDays)
	require.Empty(t, s.Drop)
	require.Equal(t, []string{"/far", "/near"}, s.Checkpoints)
	require.Len(t, s.Unused, 4)
	user.Enabled, managed.Enabled = "on", "off"
	require.False(t, Settle([]Setting{user, managed}).Enabled)
	require.False(t, Settle(nil).Enabled)
}
