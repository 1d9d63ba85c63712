package tests

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// timesOfDay are the only files that reckon with the time of day, which jumps,
// and what a jump does there. All else measures with the monotonic clock that
// time.Now, context and timers carry (executor's TestClockJump).
var timesOfDay = map[string]string{
	"internal/memory/began.go":          "which session is forgotten first; one from the future stays longer, and no more are kept",
	"internal/decide/doubts.go":         "what a report shows; nothing is reckoned with it",
	"policy/install/disk.go":            "files are compared by their times, which are the disk's; what is left over and seems newer than now stays longer",
	"internal/memory/memory.go":         "forward: records older than a day are forgotten; back: one from the future counts from now",
	"internal/memory/last_seen.go":      "a sighting from the future is written again",
	"cmd/hookc/doctor_checks.go":        "what is shown is never less than no time ago",
	"builtins/guard/budget.go":          "which day of UTC it is: a clock that is put to another day begins that day's budget",
	"internal/serve/run.go":             "cuts a file short; no time at all",
	"cmd/hookgate/cold_unix.go":         "a sighting from the future is written again",
	"cmd/hookgate/start_unix.go":        "a start that seems to lie in the future does not keep another from happening",
	"internal/wire/build.go":            "what build a program is of, not when",
	"last.go":                           "files are compared by their times, which are the disk's",
	"policy/artifact/look_other.go":     "files are compared by their times, which are the disk's",
	"policy/artifact/sources.go":        "files are compared by their times, which are the disk's; one that seems newer than now is read again",
	"policy/source/cases/rows.go":       "the time that a test says it is",
	"policy/disk/print.go":              "files are compared by their times, which are the disk's; one that seems newer than now is read again",
	"policy/agent/copilot.go":           "the agent's own timestamp in another form",
	"rego/bridge.go":                    "what time.now_ns answers is the time of day, as in OPA",
	"rego/plan_prune.go":                "locals of a plan; no time at all",
	"cmd/hookc/logs/logs.go":            "--since of a log that others wrote; nothing is decided by it",
	"cmd/hookc/logs/show.go":            "what is shown",
	"cmd/hookc/ui/pages.go":             "what is shown",
	"internal/decisionlog/entry.go":     "when a decision was made, which is the time of day; entries are chained by numbers and hashes",
	"internal/decisionlog/keep/keep.go": "files are compared by their times, which are the disk's",
	"internal/decisionlog/lines.go":     "entries are chosen by the time of day that they hold",
	"internal/decisionlog/newest.go":    "entries are found by the time of day that they hold",
	"internal/decisionlog/ocsf.go":      "when a decision was made, as another format has it",
	"internal/decisionlog/prune.go":     "forward: what is older than is to be kept goes early; back: it stays longer; the newest file of a writer stays always",
	"internal/decisionlog/writer.go":    "the key for masked values is compared by its time, which is the disk's",
	"internal/impact/impact.go":         "days of what a log holds, as they are counted",
	"internal/impact/print.go":          "days of what a log holds, as they are shown",
	"cmd/hookc/approvals/approvals.go":  "until when a question is open is shown to people",
	"internal/approval/resolve.go":      "until when a question is open is shown to people",
	"internal/approval/store.go":        "how long a grant counts outlives the process that wrote it",
	"internal/approval/webhook.go":      "the time of a message is signed with it",
	"fleet/server/listen.go":            "a certificate is read again when the time of its file is another",
	"rego/native/builtins_numbers.go":   "times that a rule names; no time of an event",
	"internal/decide/durable.go":        "people read since when hooks wait",
	"fleet/jetstream/queue/queue.go":    "when a hook failed for the last time; no other machine's clock is compared",
	"fleet/health/health.go":            "a report says when doctor tried an agent's hook",
	"fleet/plane/activate.go":           "files are compared by their times, which are the disk's; what seems newer than now stays longer",
	"tests/programs/programs.go":        "folders that no run used for days are deleted",
}

// TestTimeOfDayIsNowhereElse looks for what takes the monotonic reading off a
// time or makes a time without one.
func TestTimeOfDayIsNowhereElse(t *testing.T) {
	found := map[string]bool{}
	require.NoError(t, filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok && dropsMonotonic(call) {
				found[strings.TrimPrefix(filepath.ToSlash(path), "../")] = true
			}
			return true
		})
		return nil
	}))
	assert.Equal(t, slices.Sorted(maps.Keys(timesOfDay)), slices.Sorted(maps.Keys(found)))
}

func dropsMonotonic(call *ast.CallExpr) bool {
	f, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	switch f.Sel.Name {
	case "Unix", "UnixMilli", "UnixMicro", "UnixNano", "ModTime", "AddDate", "UTC", "Local":
		return true
	case "Date", "Parse", "ParseInLocation":
		pkg, ok := f.X.(*ast.Ident)
		return ok && pkg.Name == "time"
	case "Round", "Truncate":
		zero, ok := call.Args[0].(*ast.BasicLit)
		return ok && zero.Value == "0"
	}
	return false
}
