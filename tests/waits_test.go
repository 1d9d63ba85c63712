package tests

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// clockTests are the tests, as file and function, that say how fast something is
// or wait a fixed time, each with the reason why it holds on any machine.
var clockTests = map[string]string{
	"cmd/hookc/model/wait_test.go TestWaitOverTheWire":     "what a server's Retry-After comes to; nothing is waited for",
	"internal/serve/memory_test.go TestServerHoldsOnePlan": "older than the file system's clock tells, at least; no later than now",
	"executor/plan_test.go stubborn":                       "a hook that works for so long",
	"executor/runner/bash_test.go TestBashCancelled":       "cancels a hook that sleeps for a minute, whether it has started or not",
	"policy/disk/disk_test.go TestPrintsTellFilesApart":    "a tick of the file system's clock, at least",
	"fleet/server/files_linux_test.go TestOpenFiles":       "long enough for the server to try; where it did not, the test shows less",
	"rego/eval_test.go TestContextEnds":                    "cancels an evaluation that lasts for minutes, whether it has started or not",
	"reload_test.go TestEventsInFlightFinishOnTheOldPlan":  "gives a mistake time to happen: what is right is right at once",
	"tests/bombs_linux_test.go TestBombsEnd":               "the process's own time, which other processes do not use up",
	"tests/faults/edges_test.go cancel":                    "what is cancelled after 25 ms would last for 30 s",
	"tests/gate/gate_test.go rewrite":                      "older than what may be half written, at least",
	"tests/gate/gate_test.go settle":                       "older than what a server leaves out, at least",
	"tests/gate/serve_chaos_test.go TestServeConfined":     "older than what may be half written, at least",
	"tests/guard/bash/run_test.go runLine":                 "in the jail, where a line that lasts is cut off and its run not judged by time",
	"tests/scripts/testing_docs_test.go rewrite":           "until a file is old enough, at least",
	"tests/scripts/script_test.go quiet":                   "until a file is old enough, at least",
}

// leastBound is what a bound is at least that ends only a test that hangs.
const leastBound = time.Minute

// TestNoTestNeedsAnIdleMachine finds in tests what depends on how fast the
// machine is: a wait or an assertion with a bound of less than a minute, and a
// sleep that is not one look of a loop. Files of synctest have a clock of their
// own, and tests/bench is there to measure.
func TestNoTestNeedsAnIdleMachine(t *testing.T) {
	found := map[string]bool{}
	require.NoError(t, filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		name := strings.TrimPrefix(filepath.ToSlash(path), "../")
		if err != nil || d.IsDir() || !strings.HasSuffix(path, "_test.go") || strings.HasPrefix(name, "tests/bench/") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		if slices.ContainsFunc(file.Imports, func(i *ast.ImportSpec) bool { return i.Path.Value == `"testing/synctest"` }) {
			return nil
		}
		for _, decl := range file.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok && f.Body != nil && looksAtClock(f.Body) {
				found[name+" "+f.Name.Name] = true
			}
		}
		return nil
	}))
	assert.Equal(t, slices.Sorted(maps.Keys(clockTests)), slices.Sorted(maps.Keys(found)))
}

// looksAtClock reports whether a function has such a place.
func looksAtClock(body ast.Node) bool {
	bad := false
	var inspect func(n ast.Node, loop bool)
	inspect = func(root ast.Node, loop bool) {
		ast.Inspect(root, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.ForStmt, *ast.RangeStmt:
				if !loop {
					inspect(n, true)
					return false
				}
			case *ast.CallExpr:
				bad = bad || shortWait(n, loop)
			}
			return true
		})
	}
	inspect(body, false)
	return bad
}

func shortWait(call *ast.CallExpr, loop bool) bool {
	f, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	switch f.Sel.Name {
	case "Sleep":
		pkg, ok := f.X.(*ast.Ident)
		return ok && pkg.Name == "time" && !loop
	case "Never", "WithinDuration":
		return true
	case "Eventually", "EventuallyWithT":
		return len(call.Args) > 2 && short(call.Args[2])
	case "Less", "LessOrEqual":
		return len(call.Args) > 2 && short(call.Args[2])
	case "After", "AfterFunc":
		pkg, ok := f.X.(*ast.Ident)
		return ok && pkg.Name == "time" && short(call.Args[0])
	}
	return false
}

// short reports whether an expression is a written duration below leastBound.
func short(e ast.Expr) bool {
	units := map[string]time.Duration{"Nanosecond": 1, "Microsecond": time.Microsecond, "Millisecond": time.Millisecond, "Second": time.Second}
	factor := time.Duration(1)
	if product, ok := e.(*ast.BinaryExpr); ok && product.Op == token.MUL {
		n, ok := product.X.(*ast.BasicLit)
		if !ok {
			return false
		}
		count, err := strconv.Atoi(n.Value)
		if err != nil {
			return false
		}
		factor, e = time.Duration(count), product.Y
	}
	unit, ok := e.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	length, ok := units[unit.Sel.Name]
	return ok && factor*length < leastBound
}
