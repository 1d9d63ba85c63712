//go:build unix

package serve

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/policy/agent"
)

// worldReads are the places outside of the programs and what carries out their commands that read this process's own
// environment or folder, each with why serve may have it there. A new one is a
// decision: take it from the caller, or put its variable into fixedEnv.
var worldReads = map[string]string{
	"artifact.go os.Environ":                                "only without Options.Environ",
	"artifact_encode.go filepath.Abs":                       "hookc compile -o alone",
	"builtins/shell/shell.go os.TempDir":                    "TMPDIR is fixed",
	"builtins/shell/shell.go os.UserHomeDir":                "HOME is fixed",
	"builtins/shell/param.go os.Getenv":                     "USER and LOGNAME are fixed",
	"builtins/guard/self_git.go os.Environ":                 "what git is given to compare two trees, without its own variables; those that tell it its repository are fixed",
	"internal/paths/program.go exec.LookPath":               "of paths alone",
	"internal/paths/program.go os.Getenv":                   "git is asked what a command would change; where it is not found, the answer is the careful one",
	"internal/protected/protected.go exec.LookPath":         "programs are protected also by name",
	"internal/protected/protected.go os.Getenv":             "where the socket and the agents' settings lie is fixed",
	"internal/protected/protected.go os.UserHomeDir":        "HOME is fixed",
	"internal/paths/account.go user.Current":                "the account is that of serve",
	"internal/paths/account.go os.Getenv":                   "HOME is fixed",
	"executor/runner/bash_clean.go os.Getenv":               "HOME is fixed; a policy with commands is handed back when PATH differs",
	"executor/runner/bash_clean.go exec.LookPath":           "a policy with commands is handed back when PATH differs",
	"executor/runner/bash_env.go os.Environ":                "only without Options.Environ",
	"executor/runner/bash_lint.go os.UserHomeDir":           "HOME is fixed",
	"executor/runner/fact.go exec.LookPath":                 "asked of paths alone; the PATH searched is that of the run",
	"internal/bundle/proof/proof.go os.Environ":             "hookc bundle and hookcd alone: the environment of the tests of a bundle",
	"internal/casetest/coverage.go filepath.Abs":            "hookc test alone: where the file is whose coverage is kept",
	"internal/pace/pace.go os.Getenv":                       "how often serve itself collects memory",
	"internal/remote/remote.go os.Getenv":                   "SSL_CERT_FILE and SSL_CERT_DIR are fixed",
	"internal/witness/collect.go os.Getenv":                 "how often memory is collected, by commands that are no serve",
	"policy/agent/gemini.go os.Getenv":                      "GEMINI_PLANS_DIR is fixed",
	"policy/rollout/rollout.go user.Current":                "serve answers its own user alone",
	"policy/source/commandline/files.go exec.LookPath":      "a policy with commands is handed back when PATH differs",
	"policy/source/discover.go os.Getenv":                   "XDG_CONFIG_HOME is fixed",
	"policy/source/discover.go os.UserHomeDir":              "HOME is fixed",
	"policy/source/discover_native.go os.Getenv":            "--profile is handed back",
	"policy/source/settings_plugins.go os.Getenv":           "--profile is handed back",
	"policy/source/discover_native.go os.UserHomeDir":       "--profile is handed back",
	"policy/source/jcli_folders.go os.Getenv":               "a policy with commands is handed back when PATH differs",
	"policy/source/load.go filepath.Abs":                    "serve gives absolute paths",
	"policy/source/settings_plugins.go os.UserHomeDir":      "HOME is fixed",
	"policy/source/settings_references.go os.Environ":       "only without Options.Environ",
	"policy/source/permission/permission.go os.UserHomeDir": "HOME is fixed",
	"policy/state/state.go filepath.Abs":                    "serve gives absolute paths",
	"policy/state/state.go os.Getenv":                       "XDG_STATE_HOME is fixed",
	"policy/state/state.go os.UserHomeDir":                  "HOME is fixed",
	"policy/trust/repo.go os.UserHomeDir":                   "HOME is fixed",
	"policy/trust/trust.go filepath.Abs":                    "serve gives absolute paths",
	"policy/trust/trust.go os.Getenv":                       "HOOKC_TRUST is fixed",
	"rego/tests.go filepath.Abs":                            "hookc test alone",
}

var worldNames = []string{"os.Getenv", "os.LookupEnv", "os.Environ", "os.ExpandEnv", "os.UserHomeDir", "os.UserConfigDir", "os.UserCacheDir",
	"os.TempDir", "os.Getwd", "filepath.Abs", "exec.LookPath", "user.Current"}

// TestEnvironmentReads: serve knows of every place that reads the environment.
func TestEnvironmentReads(t *testing.T) {
	found := map[string]bool{}
	root := filepath.Join("..", "..")
	require.NoError(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		if d.IsDir() && (rel == "cmd" || rel == "fleet" || rel == "internal/decide" || rel == "internal/serve" || rel == "tests" || rel == "policy/install" || rel == "internal/sites" || strings.HasPrefix(d.Name(), ".") && rel != ".") {
			return fs.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		for _, name := range namesIn(t, path) {
			found[rel+" "+name] = true
		}
		return nil
	}))
	for at := range found {
		assert.Contains(t, worldReads, at, "%s reads what differs from caller to caller: see worldReads", at)
	}
	for at := range worldReads {
		assert.True(t, found[at], "%s is gone", at)
	}
	for _, name := range []string{"HOME", "USER", "LOGNAME", "TMPDIR", "GEMINI_PLANS_DIR", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "HOOKC_TRUST"} {
		assert.Contains(t, fixedEnv, name)
	}
	assert.Contains(t, ownEnvironment().fixed, "GIT_DIR", "the guard of hookc itself looks at it")
	fixed := ownEnvironment().fixed
	assert.Contains(t, fixed, "XDG_RUNTIME_DIR")
	for _, a := range agent.All() {
		for _, f := range a.Files {
			assert.True(t, f.Env == "" || slices.Contains(slices.Collect(maps.Keys(fixed)), f.Env), "%s: %s says where what is protected lies", a.ID, f.Env)
		}
	}
}

func namesIn(t *testing.T, path string) (out []string) {
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
	require.NoError(t, err)
	ast.Inspect(file, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		if pkg, ok := sel.X.(*ast.Ident); ok && slices.Contains(worldNames, pkg.Name+"."+sel.Sel.Name) {
			out = append(out, pkg.Name+"."+sel.Sel.Name)
		}
		return true
	})
	return out
}

func TestEnvironmentDiffers(t *testing.T) {
	e := &environment{fixed: map[string]string{"HOME": "/h", "TZ": ""}}
	for _, row := range []struct {
		environ []string
		same    bool
	}{
		{[]string{"HOME=/h"}, true}, {[]string{"A=1", "HOME=/h", "TZ="}, true}, {[]string{"HOME=/x"}, false}, {nil, false},
		{[]string{"HOME=/h", "TZ=UTC"}, false}, {[]string{"HOME=/h", "HOME=/h"}, false},
	} {
		assert.Equal(t, row.same, e.differs(row.environ) == "", "%q", row.environ)
	}
	assert.Equal(t, digest([]string{"HOOKC_A=1", "OPENAI_B=2"}), digest([]string{"OPENAI_B=2", "HOOKC_A=1"}))
	assert.Equal(t, digest([]string{"A=1", "HOOKC_X=1"}), digest([]string{"A=2", "HOOKC_X=1"}))
	assert.NotEqual(t, digest([]string{"HOOKC_X=2"}), digest([]string{"HOOKC_X=1"}))
}

// TestPrints: every change of a file shows, of whatever kind.
func TestPrints(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a", "hooks.yaml")
	began := time.Now().Add(time.Hour) // as if the files were old
	watch := func() prints { return take([]string{path, filepath.Join(dir, "a", "b", "c")}, began) }
	steps := []struct {
		name string
		do   func() error
	}{
		{"folder made", func() error { return os.Mkdir(filepath.Dir(path), 0o755) }},
		{"file made", func() error { return os.WriteFile(path, []byte("a"), 0o644) }},
		{"content", func() error { return os.WriteFile(path, []byte("b"), 0o644) }},
		{"content, and its time put back", func() error {
			info, err := os.Stat(path)
			if err != nil {
				return err
			}
			if err := os.WriteFile(path, []byte("c"), 0o644); err != nil {
				return err
			}
			return os.Chtimes(path, info.ModTime(), info.ModTime())
		}},
		{"mode", func() error { return os.Chmod(path, 0o600) }},
		{"replaced", func() error {
			if err := os.WriteFile(path+".new", []byte("c"), 0o600); err != nil {
				return err
			}
			return os.Rename(path+".new", path)
		}},
		{"a link", func() error {
			if err := os.Rename(path, path+".real"); err != nil {
				return err
			}
			return os.Symlink(path+".real", path)
		}},
		{"behind a link", func() error { return os.WriteFile(path+".real", []byte("d"), 0o600) }},
		{"gone behind a link", func() error { return os.Remove(path + ".real") }},
		{"gone", func() error { return os.RemoveAll(filepath.Dir(path)) }},
	}
	for _, step := range steps {
		before := watch()
		require.True(t, before.same(), step.name)
		time.Sleep(15 * time.Millisecond) // a tick of the file system's clock
		require.NoError(t, step.do())
		assert.False(t, before.same(), step.name)
	}
	require.NoError(t, os.Mkdir(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, nil, 0o644))
	fresh := take([]string{path}, time.Now())
	assert.False(t, fresh.same(), "what was just written could be written again in the same tick")
}
