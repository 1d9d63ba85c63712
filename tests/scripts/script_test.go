package scripts

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc"
	"github.com/hookc/hookc/policy/artifact"
	"github.com/hookc/hookc/tests/programs"
)

// TestScripts runs tests/testdata/script/*.txtar: what a user can see, through
// the real binary.
func TestScripts(t *testing.T) {
	bin, cache := programs.Dir(t), goCache(t)
	outputs := keep(t, bin)
	testscript.Run(t, testscript.Params{
		Dir:                 "../testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		UpdateScripts:       os.Getenv("UPDATE_SCRIPTS") != "",
		Setup: func(env *testscript.Env) error {
			root, err := filepath.Abs("../..")
			if err != nil {
				return err
			}
			first, err := outputs.path(bin, env.WorkDir)
			if err != nil {
				return err
			}
			env.Setenv("PATH", first+string(os.PathListSeparator)+os.Getenv("PATH"))
			env.Setenv("REPO", root)
			env.Setenv("GOCACHE", cache) // in an empty one a script's go compiles the standard library
			env.Setenv("HOME", filepath.Join(env.WorkDir, "home"))
			env.Setenv("XDG_CONFIG_HOME", filepath.Join(env.WorkDir, "config"))
			env.Setenv("XDG_STATE_HOME", filepath.Join(env.WorkDir, "state"))
			env.Setenv("NO_COLOR", "1")
			return nil
		},
		Condition: func(name string) (bool, error) {
			if name != "native" {
				return false, fmt.Errorf("no condition is called %s", name)
			}
			return programs.Native, nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"exits":   exits,
			"json":    jsonValue,
			"library": library,
			"quiet":   quiet,
		},
	})
}

// goCache is Go's build cache.
func goCache(t *testing.T) string {
	t.Helper()
	out, err := exec.Command("go", "env", "GOCACHE").Output()
	require.NoError(t, err)
	return strings.TrimSpace(string(out))
}

// library decides an event as a program does that embeds hookc: from a policy and
// from a compiled one, which another hookc than the one that reads it may not
// have written. It writes the Decisions to standard output:
// `library levels.yaml bare.json`.
func library(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: library POLICY EVENT")
	}
	sources := []hookc.Option{hookc.Dir(ts.MkAbs(".")), hookc.Files(ts.MkAbs(args[0]))}
	made, found, err := hookc.NewArtifact(sources...)
	ts.Check(err)
	ts.Check(found.Err())
	compiled := ts.MkAbs(args[0]) + ".compiled"
	ts.Check(made.WriteFile(compiled, nil))
	data := []byte(ts.ReadFile(args[1]))
	for _, from := range [][]hookc.Option{sources, {hookc.Artifact(compiled)}} {
		eng, err := hookc.Open(context.Background(), from...)
		ts.Check(err)
		for range 3 { // what is decided while OPA is asked beside it, and afterwards
			d, err := eng.FireJSON(context.Background(), "", data)
			ts.Check(err)
			fmt.Fprintf(ts.Stdout(), "%s by %s: %s\n", d.Action, d.By, strings.Join(d.Reasons, ", "))
		}
		ts.Check(eng.Close())
	}
}

// quiet waits until a file was left alone for so long that it counts as whole,
// whoever reads it (semantics.md "Broken, not empty").
func quiet(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: quiet FILE")
	}
	at, known := artifact.LastChange(ts.MkAbs(args[0]))
	if !known {
		ts.Fatalf("%s cannot be looked at", args[0])
	}
	time.Sleep(time.Until(at.Add(1100 * time.Millisecond)))
}

// exits runs a command whose exit code must be the first argument, with
// standard input from a file if the second names one:
// `exits 2 <event.json hookc run -f hooks.yaml`.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE [<FILE] COMMAND [ARG…]")
	}
	command := args[1:]
	if file, ok := strings.CutPrefix(args[1], "<"); ok {
		command = append([]string{"sh", "-c", `in=$1; shift; exec "$@" <"$in"`, "sh", file}, args[2:]...)
	}
	err := ts.Exec(command[0], command[1:]...)
	code := "0"
	var exit *exec.ExitError
	switch {
	case err == nil:
	case asExit(err, &exit):
		code = regexp.MustCompile(`\d+`).FindString(exit.String())
	default:
		ts.Fatalf("%v", err)
	}
	if code != args[0] {
		ts.Fatalf("exit code %s, want %s", code, args[0])
	}
}

// jsonValue compares a value of the JSON in a file, `stdout` for one:
// `json stdout hooks.0.status ran`. Numbers are indexes into lists, `len` is a
// length, `keys` the keys of an object. A text is compared as it is, anything
// else as compact JSON; `! json FILE PATH` says that there is no such value.
func jsonValue(ts *testscript.TestScript, neg bool, args []string) {
	if neg && len(args) != 2 || !neg && len(args) != 3 {
		ts.Fatalf("usage: [!] json FILE PATH [VALUE]")
	}
	dec := json.NewDecoder(strings.NewReader(ts.ReadFile(args[0])))
	dec.UseNumber()
	var v any
	ts.Check(dec.Decode(&v))
	v, found := valueAt(v, strings.Split(args[1], "."))
	switch {
	case neg && found:
		ts.Fatalf("%s has %s: %v", args[0], args[1], v)
	case neg:
		return
	case !found:
		ts.Fatalf("%s has no %s", args[0], args[1])
	}
	got, isText := v.(string)
	if !isText {
		text, err := json.Marshal(v)
		ts.Check(err)
		got = string(text)
	}
	if got != args[2] {
		ts.Fatalf("%s: got %s, want %s", args[1], got, args[2])
	}
}

func valueAt(v any, path []string) (any, bool) {
	for _, part := range path {
		switch x := v.(type) {
		case map[string]any:
			next, ok := x[part]
			if part == "keys" && !ok {
				next = slices.Sorted(maps.Keys(x))
			} else if !ok {
				return nil, false
			}
			v = next
		case []any:
			i, err := strconv.Atoi(part)
			switch {
			case part == "len":
				v = json.Number(strconv.Itoa(len(x)))
			case err != nil || i >= len(x):
				return nil, false
			default:
				v = x[i]
			}
		default:
			return nil, false
		}
	}
	return v, true
}

func asExit(err error, target **exec.ExitError) bool {
	e, ok := err.(*exec.ExitError)
	*target = e
	return ok
}
