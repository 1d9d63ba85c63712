// Package programs builds the real hookc and hookgate for tests. All test
// packages of a run share one build of them.
//
// [Hookc] and [Hookgate] return the paths, and [Dir] the folder that holds both.
// The first call builds, so a package whose selected tests need no program
// builds none. A package needs no TestMain for it:
//
//	cmd := exec.Command(programs.Hookc(t), "check", "-f", path)
//
// The programs lie in the user's cache folder, beside Go's build cache: hookc does
// not install itself from a folder of `go run`. Go decides whether they are up to
// date: each test process runs `go build`, which links only what the
// sources or GOFLAGS changed, and a lock makes the processes do so in turn. The
// returned path contains the build IDs. A path therefore never gets another
// program while a test uses it, also where the sources change during a run, and
// clones of the repository can share the cache. Tests must not write into the
// folder: they copy a program that they want to change. Results of tests that
// ask for a program are cached by `go test` only until a source file changes.
//
// The commit is not stamped into the programs. Two stamped copies of one commit
// are the same hookc to a compiled policy, and a test tells copies apart.
package programs

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/lockedfile"

	"github.com/hookc/hookc/tests/depth"
)

// module is the module whose commands are built.
const module = "github.com/hookc/hookc"

// names are the programs of the folder.
var names = []string{"hookc", "hookgate"}

// unusedFor is how long a folder of programs is kept after its last use.
const unusedFor = 3 * 24 * time.Hour

// environ and workDir are what the process started with: a test may change HOME
// or the working directory before it asks for a program.
var (
	environ             = os.Environ()
	workDir, _          = os.Getwd()
	userCache, cacheErr = os.UserCacheDir()
)

// Hookc is the path of the real hookc.
func Hookc(t testing.TB) string {
	t.Helper()
	return filepath.Join(Dir(t), "hookc")
}

// Hookgate is the path of the real hookgate, which lies beside hookc.
func Hookgate(t testing.TB) string {
	t.Helper()
	return filepath.Join(Dir(t), "hookgate")
}

// Dir is the folder with hookc and hookgate. It ends the test if they cannot be
// built, and skips it with -short: what needs the built programs is left out.
func Dir(t testing.TB) string {
	t.Helper()
	depth.NotShort(t)
	dir, err := built()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

var built = sync.OnceValues(build)

// build brings the programs up to date and returns the folder of this version.
func build() (string, error) {
	if cacheErr != nil {
		return "", cacheErr
	}
	mod, err := command("env", "GOMOD")
	if err != nil {
		return "", err
	}
	sources := filepath.Dir(strings.TrimSpace(mod))
	if err := readFolders(sources); err != nil {
		return "", err
	}
	// One workshop for each clone: clones would link over each other's programs.
	clone := sha256.Sum256([]byte(sources))
	root := filepath.Join(userCache, "hookc-tests")
	workshop := filepath.Join(root, fmt.Sprintf("build-%x", clone[:8]))
	if err := os.MkdirAll(workshop, 0o755); err != nil {
		return "", err
	}
	unlock, err := lockedfile.MutexAt(filepath.Join(root, "lock")).Lock()
	if err != nil {
		return "", err
	}
	defer unlock()
	if _, err := command("build", "-buildvcs=false", "-o", workshop+string(filepath.Separator), module+"/cmd/hookc", module+"/cmd/hookgate"); err != nil {
		return "", err
	}
	return keep(root, workshop)
}

// readFolders reads the folders of the sources, because `go test` caches what a
// test said until a file or folder that the test opened changes. It does not
// know what a program that the test runs was built from.
func readFolders(sources string) error {
	return filepath.WalkDir(sources, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		if name := d.Name(); path != sources && (strings.HasPrefix(name, ".") || name == "testdata" || path == filepath.Join(sources, "tests")) {
			return filepath.SkipDir
		}
		return nil
	})
}

// keep gives the programs of the workshop names that do not change: those of the
// folder named by their build IDs. It deletes folders that are no longer used.
func keep(root, workshop string) (string, error) {
	var ids strings.Builder
	for _, name := range names {
		id, err := command("tool", "buildid", filepath.Join(workshop, name))
		if err != nil {
			return "", err
		}
		ids.WriteString(id)
	}
	ids.WriteString(" copied") // not those that were second names
	version := sha256.Sum256([]byte(ids.String()))
	dir := filepath.Join(root, fmt.Sprintf("%x", version[:8]))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	for _, name := range names {
		if err := copyOnce(filepath.Join(workshop, name), filepath.Join(dir, name)); err != nil {
			return "", err
		}
	}
	now := time.Now()
	for _, used := range []string{workshop, dir} {
		if err := os.Chtimes(used, now, now); err != nil {
			return "", err
		}
	}
	return dir, removeUnused(root, now)
}

// copyOnce copies a program unless it is there. A second name of the file would
// not do: go build sets the time of a program that is up to date, and a server
// whose hookc has another time ends. Another process copies: a program cannot be
// started while a process has it open to write, as one does for a moment that is
// started meanwhile.
func copyOnce(from, path string) error {
	if _, err := os.Stat(path); err == nil || !os.IsNotExist(err) {
		return err
	}
	unfinished := path + ".new" // the lock is held
	if out, err := exec.Command("cp", from, unfinished).CombinedOutput(); err != nil {
		return fmt.Errorf("cp: %w: %s", err, out)
	}
	return os.Rename(unfinished, path)
}

func removeUnused(root string, now time.Time) error {
	entries, err := os.ReadDir(root)
	if err != nil {
		return err
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			return err
		}
		if !e.IsDir() || now.Sub(info.ModTime()) < unusedFor {
			continue
		}
		if err := os.RemoveAll(filepath.Join(root, e.Name())); err != nil {
			return err
		}
	}
	return nil
}

// command runs go and returns what it prints.
func command(args ...string) (string, error) {
	cmd := exec.Command("go", args...)
	cmd.Env, cmd.Dir = environ, workDir
	out, err := cmd.Output()
	if err != nil {
		var text []byte
		if exit, ok := err.(*exec.ExitError); ok {
			text = exit.Stderr
		}
		return "", fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, text)
	}
	return string(out), nil
}
