package guard

import (
	"bufio"
	"encoding/json"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/tests/guard/interval"
)

// heldCase is a line of held.jsonl: as one of cases.jsonl, and the shell that the
// call says it is for: powershell or cmd. Cases with "core": true are counted
// apart as well.
type heldCase struct {
	labelled
	Shell string
	Core  bool
}

func readHeld(t testing.TB, name string) []heldCase {
	t.Helper()
	f, err := os.Open(name)
	require.NoError(t, err)
	defer f.Close()
	var out []heldCase
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var c heldCase
		require.NoError(t, json.Unmarshal(lines.Bytes(), &c), lines.Text())
		require.Contains(t, []string{"deny", "allow"}, c.Expect, c.ID)
		out = append(out, c)
	}
	require.NoError(t, lines.Err())
	require.NotEmpty(t, out)
	return out
}

// mendedWith are the files of cases with which the guards are mended: a command
// that stands in one of them says nothing of what is new.
func mendedWith(t testing.TB) string {
	t.Helper()
	var out strings.Builder
	for _, name := range []string{"windows.txt", "classes.txt"} {
		data, err := os.ReadFile(name)
		require.NoError(t, err)
		out.Write(data)
	}
	for _, c := range readCases(t) {
		out.WriteString(c.Command + "\n")
	}
	return "\n" + out.String()
}

// decideHeld is the verdict on a case. A case of Windows has a project there.
func decideHeld(t testing.TB, g policy.Runner, c heldCase) policy.Result {
	shell, cwd, at := c.Shell, strings.ReplaceAll(c.Cwd, `\`, "/"), root
	if shell == "" {
		shell = "bash"
	}
	if len(cwd) > 1 && cwd[1] == ':' {
		at = "C:/Users/dev/project"
	}
	in := policy.NewContext(policy.PreToolExecution).Set(policy.FieldToolName, shell).
		Set(policy.FieldToolInput, map[string]any{"command": c.Command}).
		Set(policy.FieldCwd, cwd).Set(policy.FieldProjectRoot, at)
	r, err := g.Run(t.Context(), in, 0)
	require.NoError(t, err)
	return r
}

// TestHeld: the score on cases that nobody looks at while mending, each class by
// itself. An ask stops a command that destroys, and interrupts one that does not.
func TestHeld(t *testing.T) { scoreHeld(t, "held.jsonl", 0.93) }

// TestHeldHalf: the score on the half of their own cases that those who mended put
// aside unread.
func TestHeldHalf(t *testing.T) { scoreHeld(t, "held_half.jsonl", 0.9) }

// TestHeldFresh: the score on the half of a set of 26 classes that was written before
// the guards' code was read, split by lot within each class.
func TestHeldFresh(t *testing.T) { scoreHeld(t, "held_fresh.jsonl", 0.88) }

// TestHeldBlind: the score on the half of a set of 25 classes whose author saw nothing of
// the guards, of their tests and of their documents, split by lot within each class.
func TestHeldBlind(t *testing.T) { scoreHeld(t, "held_blind.jsonl", 0.85) }

// TestHeldLot: the score on the half, by lot within each class, of a set of 27 classes by
// another such author.
func TestHeldLot(t *testing.T) { scoreHeld(t, "held_lot.jsonl", 0.9) }

// TestHeldWhole: the score on a set of 25 classes by a third such author, of which nothing was used to mend.
func TestHeldWhole(t *testing.T) { scoreHeld(t, "held_whole.jsonl", 0.95) }

// TestHeldGeneral: the score on a third of the classes of a set of cases that was
// written before any of it was run.
func TestHeldGeneral(t *testing.T) { scoreHeld(t, "held_general.jsonl", 0.9) }

// TestHeldStrangers: the score on halves of three sets whose authors were asked in other words
// than those of the sets above: one runs machines, one writes what agents type, one attacks. It
// is far below the goals, and says what somebody else's commands meet.
func TestHeldStrangers(t *testing.T) { scoreWithin(t, "held_strangers.jsonl", 0.83, 0.04) }

// TestHeldTrades: the score on halves of seven more such sets, by authors of seven trades: data, web
// and mobile applications, incidents with agents, platforms, backends (annoyed by false alarms),
// attackers, and people's own laptops.
func TestHeldTrades(t *testing.T) { scoreWithin(t, "held_trades.jsonl", 0.86, 0.05) }

// TestHeldAsked: the score on whole sets by nine authors who had seen nothing and were told what the
// goals of the guards tell: half of what they wrote is harmless and looks alarming.
func TestHeldAsked(t *testing.T) { scoreWithin(t, "held_asked.jsonl", 0.98, 0.008) }

// TestHeldRoads: roads of the shell's own language by an author who had seen nothing, each run by
// bash. Half of the other half of them, with which the guards were mended, was asked about though it
// is harmless: what is written to mislead may be.
func TestHeldRoads(t *testing.T) { scoreWithin(t, "held_roads.jsonl", 0.90, 0.65) }

// scoreHeld is scoreWithin where false alarms are as the goal has them.
func scoreHeld(t *testing.T, name string, least float64) { scoreWithin(t, name, least, 0.01) }

// scoreWithin prints the score on a file of cases. It is at least the recall, and at most the
// share of false alarms, as far as so few cases can tell.
func scoreWithin(t *testing.T, name string, least, most float64) {
	g := guard(t, "shell-guard", option("packs", "all"))
	all, core, by := &score{}, &score{}, map[string]*score{}
	var times []time.Duration
	mended, known := mendedWith(t), 0
	for _, c := range readHeld(t, name) {
		if strings.Contains(mended, " "+c.Command+"\n") || strings.Contains(mended, "\n"+c.Command+"\n") {
			known++
			continue
		}
		start := time.Now()
		verdict := decideHeld(t, g, c).Verdict
		times = append(times, time.Since(start))
		if by[c.Category] == nil {
			by[c.Category] = &score{}
		}
		counts := []*score{all, by[c.Category]}
		if c.Core {
			counts = append(counts, core)
		}
		for _, s := range counts {
			s.add(c.Expect == "deny", verdict)
		}
		if os.Getenv("HOOKC_TEST_HELD") == "names" && (c.Expect == "deny") == (verdict == policy.None) {
			t.Logf("wrong: %s", c.ID)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(by)) {
		t.Logf("%-28s %s", name, by[name].intervals())
	}
	t.Logf("%-28s %s; %d more stand among the cases for mending", "all", all.intervals(), known)
	if core.hit+core.miss+core.right > 0 {
		t.Logf("%-28s %s", "core", core.intervals())
	}
	slices.Sort(times)
	t.Logf("latency p50 %s, p99.9 %s, max %s", times[len(times)/2], times[min(len(times)*999/1000, len(times)-1)], times[len(times)-1])
	_, recall := interval.Wilson(all.hit, all.hit+all.miss)
	alarms, _ := interval.Wilson(all.wrong+all.asked, all.right+all.wrong+all.asked)
	assert.GreaterOrEqual(t, recall, least, "what was caught is surely less")
	assert.LessOrEqual(t, alarms, most, "false alarms are surely more")
}
