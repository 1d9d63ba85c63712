// Package rollout says in which sessions a hook is in force.
package rollout

import (
	"crypto/sha256"
	"encoding/binary"
	"os"
	"os/user"
	"strconv"
	"strings"

	"github.com/hookc/hookc/internal/lazy"
	"github.com/hookc/hookc/internal/spell"
	"github.com/hookc/hookc/policy"
)

// sessions is of how many sessions Hook.Spared is a part.
const sessions = 10_000

// In is what holds for the hook in the event of c. Which sessions are spared
// depends on their ids, else on the user, and on the hook's name: a session in
// which the hook decides is one also when fewer are spared, and another hook spares
// others. Where there is neither id nor user, none is spared.
func In(h *policy.Hook, c *policy.Context) policy.Enforcement {
	if h.Spared == 0 || h.Enforcement == policy.EnforceDryRun {
		return h.Enforcement
	}
	who := caller()
	if id := c.Text(policy.FieldSessionID); id != "" {
		who = "session " + id
	}
	if who == "" {
		return h.Enforcement
	}
	sum := sha256.Sum256([]byte(h.Name + "\x00" + who))
	if binary.BigEndian.Uint64(sum[:])%sessions >= sessions-uint64(h.Spared) {
		return policy.EnforceDryRun
	}
	return h.Enforcement
}

// caller is the user that the process belongs to. No variable says who that is.
var caller = lazy.Value(func() string {
	if id := os.Getuid(); id >= 0 {
		return "user " + strconv.Itoa(id)
	}
	if u, err := user.Current(); err == nil { // Windows
		return "user " + u.Uid
	}
	return ""
})

// Parse reads a share of the sessions, such as 25% or 0.5%, as how many of 10,000 are
// spared.
func Parse(text string) (spared uint16, ok bool) {
	number, ok := spell.CutSuffix(text, "%")
	whole, part, dotted := spell.Cut(number, ".")
	digits := func(s string, most int) bool { return s != "" && len(s) <= most && strings.Trim(s, "0123456789") == "" }
	if !ok || !digits(whole, 3) || dotted && !digits(part, 2) {
		return 0, false
	}
	n, _ := strconv.Atoi(whole + (part + "00")[:2])
	return uint16(max(sessions-n, 0)), n <= sessions
}

// Share is what Parse reads, "" where no session is spared.
func Share(spared uint16) string {
	if spared == 0 {
		return ""
	}
	return strconv.FormatFloat(float64(sessions-int(spared))/100, 'f', -1, 64) + "%"
}

// Text says of a hook whether it is in force, "" where it always is.
func Text(h *policy.Hook) string {
	return strings.TrimPrefix(strings.TrimSuffix(string(h.Enforcement)+" in "+Share(h.Spared), " in "), " in ")
}
