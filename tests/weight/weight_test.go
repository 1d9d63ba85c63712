// Package weight holds hookc to its budgets: how large it is, what it links,
// what it does before it begins, and that a release can be built again.
package weight

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/tests/depth"
	"github.com/hookc/hookc/tests/programs"
)

// The budgets in bytes, of linux/amd64. A change that needs more belongs into
// the nested module fleet, or pays for itself elsewhere.
const (
	maxPlain    = 55_000_000
	maxReleased = 40_000_000
	maxGate     = 5_000_000
	// maxLoad and maxOwnLoad are what all packages, and hookc's own, may
	// allocate while they load. Every process pays for it, whatever it does.
	maxLoad    = 1_200_000
	maxOwnLoad = 250_000
)

// root is the folder of the module.
func root(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs(filepath.Join("..", ".."))
	require.NoError(t, err)
	return dir
}

// linux is the environment of a build for the system of the budgets.
func linux() []string { return append(os.Environ(), "GOOS=linux", "GOARCH=amd64", "GOFLAGS=") }

func run(t *testing.T, dir string, env []string, name string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	var stderr bytes.Buffer
	cmd.Dir, cmd.Env, cmd.Stderr = dir, env, &stderr
	out, err := cmd.Output()
	require.NoError(t, err, "%s %s: %s", name, strings.Join(args, " "), &stderr)
	return string(out)
}

func size(t *testing.T, path string) int64 {
	t.Helper()
	info, err := os.Stat(path)
	require.NoError(t, err)
	return info.Size()
}

// TestSizes builds hookc as it is released. On the system of the budgets the hookc
// of all tests is what `go build ./cmd/hookc` makes; elsewhere that is built too.
func TestSizes(t *testing.T) {
	depth.NotShort(t)
	dir := t.TempDir()
	plain := programs.Hookc(t)
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		plain = filepath.Join(dir, "plain")
		run(t, root(t), linux(), "go", "build", "-o", plain, "./cmd/hookc")
	}
	run(t, root(t), linux(), filepath.Join(root(t), ".ci", "release"), dir)
	assert.LessOrEqual(t, size(t, plain), int64(maxPlain), "go build ./cmd/hookc: see docs/dependencies.md for what weighs how much")
	assert.LessOrEqual(t, size(t, filepath.Join(dir, "hookc")), int64(maxReleased), "as released: see docs/dependencies.md for what weighs how much")
	assert.LessOrEqual(t, size(t, filepath.Join(dir, "hookgate")), int64(maxGate))
	// Each budget is one that a build can miss.
	assert.Greater(t, size(t, filepath.Join(dir, "hookc")), int64(maxReleased/2))
}

// TestReleaseIsReproducible builds two copies of the module, in folders of
// other names and depths. One compiles everything again, as another machine would,
// and one takes what was compiled before. That takes minutes, so only .ci/run does it.
func TestReleaseIsReproducible(t *testing.T) {
	if os.Getenv("HOOKC_TEST_COLD") == "" {
		t.Skip("builds hookc from nothing; .ci/run sets HOOKC_TEST_COLD=1")
	}
	var sums [2][2][sha256.Size]byte
	for i, place := range []string{"a", filepath.Join("elsewhere", "and deeper")} {
		dir := filepath.Join(t.TempDir(), place)
		copyModule(t, root(t), dir)
		env := linux()
		if i == 0 {
			env = append(env, "GOCACHE="+filepath.Join(t.TempDir(), "cache"))
		}
		run(t, dir, env, filepath.Join(dir, ".ci", "release"), "out")
		for j, name := range []string{"hookc", "hookgate"} {
			data, err := os.ReadFile(filepath.Join(dir, "out", name))
			require.NoError(t, err)
			sums[i][j] = sha256.Sum256(data)
			assert.NotContains(t, string(data), filepath.ToSlash(filepath.Dir(dir)), "%s holds the folder it was built in", name)
		}
	}
	assert.Equal(t, sums[0], sums[1], "two builds of the same sources differ")
}

// copyModule copies what a build needs, and no version control: what that says
// is the same for two clones of one commit.
func copyModule(t *testing.T, from, to string) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		switch {
		case d.Name() == ".git", d.IsDir() && d.Name() == "testdata":
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		case d.IsDir():
			return os.MkdirAll(filepath.Join(to, rel), 0o755)
		case !d.Type().IsRegular():
			return nil
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, rel), data, info.Mode().Perm())
	}))
}

// forbidden is what hookc does not link: packages, and all below them. Those
// that a fleet of hosts needs are for the nested module fleet.
var forbidden = map[string]string{
	"github.com/open-policy-agent/opa/v1/plugins":  "OPA's management of a host",
	"github.com/open-policy-agent/opa/v1/runtime":  "OPA's server",
	"github.com/open-policy-agent/opa/v1/server":   "OPA's server",
	"github.com/open-policy-agent/opa/v1/sdk":      "OPA's management of a host",
	"github.com/open-policy-agent/opa/v1/download": "OPA's management of a host",
	"oras.land/oras-go":                            "OCI registries",
	"github.com/opencontainers":                    "OCI registries",
	"github.com/containerd":                        "OCI registries",
	"github.com/google/go-containerregistry":       "OCI registries",
	"github.com/nats-io":                           "NATS",
	"go.opentelemetry.io":                          "OTLP",
	"google.golang.org/grpc":                       "OTLP and plugins",
	"github.com/prometheus":                        "a library for what a page of text is",
	"database/sql":                                 "an SQL store",
	"modernc.org/sqlite":                           "an SQL store",
	"github.com/mattn/go-sqlite3":                  "an SQL store",
	"github.com/jackc/pgx":                         "an SQL store",
	"github.com/lib/pq":                            "an SQL store",
	"github.com/go-sql-driver/mysql":               "an SQL store",
	"github.com/dgraph-io/badger":                  "OPA's store on disk",
	"go.etcd.io":                                   "a store on disk",
	"github.com/openai":                            "a provider's library: cmd/hookc/model asks in one POST",
	"github.com/anthropics":                        "a provider's library: cmd/hookc/model asks in one POST",
	"github.com/tetratelabs/wazero":                "a machine for Wasm",
}

// harmless are below a forbidden package and weigh nothing.
var harmless = []string{"database/sql/driver"} // the interface that github.com/google/uuid names

// TestForbiddenImports looks at every system hookc is built for.
func TestForbiddenImports(t *testing.T) {
	for _, goos := range []string{"linux", "darwin", "windows"} {
		deps := strings.Fields(run(t, root(t), append(os.Environ(), "GOOS="+goos, "GOFLAGS="), "go", "list", "-deps", "./cmd/hookc", "./cmd/hookgate"))
		require.Contains(t, deps, "github.com/open-policy-agent/opa/v1/topdown")
		for _, dep := range deps {
			for path, why := range forbidden {
				below := dep == path || strings.HasPrefix(dep, path+"/") || strings.HasPrefix(dep, path+".")
				assert.False(t, below && !slices.Contains(harmless, dep), "%s: hookc links %s: %s", goos, dep, why)
			}
		}
		for _, dep := range harmless {
			assert.Contains(t, deps, dep, "the exception is stale")
		}
	}
}

// TestCommandsEndBeforeACollection: what an agent waits for collects no garbage.
func TestCommandsEndBeforeACollection(t *testing.T) {
	hookc, dir := programs.Hookc(t), t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "hooks.yaml"), []byte("pre_tool_execution:\n  - source: |\n      package p\n      deny contains \"no\" if contains(input.tool_input.command, \"push\")\n"), 0o600))
	for _, command := range []string{"run", "check"} {
		cmd := exec.CommandContext(t.Context(), hookc, command, "-f", "hooks.yaml")
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOGC=", "GODEBUG=gctrace=1", "XDG_STATE_HOME="+dir)
		cmd.Stdin = strings.NewReader(`{"event":"pre_tool_execution","tool_name":"Bash","tool_input":{"command":"ls"}}`)
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
		assert.NotContains(t, string(out), "gc 1 @", command)
	}
}

// TestLoad sums up what packages allocate before main begins. Bytes do not
// depend on how busy the machine is.
func TestLoad(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), programs.Hookc(t), "version")
	var trace bytes.Buffer
	cmd.Env, cmd.Stderr = append(os.Environ(), "GODEBUG=inittrace=1"), &trace
	require.NoError(t, cmd.Run())
	var all, own int
	var heaviest []string
	for lines := bufio.NewScanner(&trace); lines.Scan(); {
		// init github.com/x @1.2 ms, 0.1 ms clock, 496 bytes, 5 allocs
		f := strings.Fields(lines.Text())
		if len(f) != 11 || f[0] != "init" || f[8] != "bytes," {
			continue
		}
		n, err := strconv.Atoi(f[7])
		require.NoError(t, err, lines.Text())
		all += n
		if f[1] == "main" || strings.HasPrefix(f[1], "github.com/hookc/hookc") {
			own += n
			heaviest = append(heaviest, strconv.Itoa(n)+" "+f[1])
		}
	}
	require.NotEmpty(t, heaviest, "no trace: %s", &trace)
	assert.LessOrEqual(t, all, maxLoad, "all packages")
	assert.LessOrEqual(t, own, maxOwnLoad, "hookc's own packages: %s", strings.Join(heaviest, "; "))
}
