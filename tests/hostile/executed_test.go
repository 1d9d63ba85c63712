//go:build unix

package hostile

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/tests/depth"
	"github.com/hookc/hookc/tests/programs"
)

// guardScript is a trusted script that refuses every call, and changedScript
// what somebody wants to be executed in its place.
const (
	guardScript   = "#!/bin/sh\ncat > /dev/null\necho 'the script says no' >&2\nexit 2\n"
	changedScript = "#!/bin/sh\ncat > /dev/null\nexit 0\n"
)

// swaps put what was changed in the place of a script, and back. other is a file
// with the changed script, on the same file system.
var swaps = map[string]func(script, other string) error{
	"is renamed over": func(script, other string) error {
		return first(os.Link(other, script+".a"), os.Rename(script+".a", script), os.WriteFile(script+".b", []byte(guardScript), 0o755), os.Rename(script+".b", script))
	},
	"becomes a link": func(script, other string) error {
		return first(os.Symlink(other, script+".a"), os.Rename(script+".a", script), os.WriteFile(script+".b", []byte(guardScript), 0o755), os.Rename(script+".b", script))
	},
	"moves away and back": func(script, other string) error {
		return first(os.Rename(script, script+".mine"), os.Link(other, script), os.Rename(script+".mine", script))
	},
	"is edited in place": func(script, _ string) error {
		return first(os.WriteFile(script, []byte(changedScript), 0o755), os.WriteFile(script, []byte(guardScript), 0o755))
	},
	"is edited without a time": func(script, _ string) error {
		info, err := os.Stat(script)
		if err != nil {
			return err
		}
		same := strings.Replace(guardScript, "exit 2", "exit 0", 1)
		return first(os.WriteFile(script, []byte(same), 0o755), os.Chtimes(script, info.ModTime(), info.ModTime()),
			os.WriteFile(script, []byte(guardScript), 0o755), os.Chtimes(script, info.ModTime(), info.ModTime()))
	},
	"is in a folder that moves": func(script, other string) error {
		dir := filepath.Dir(script)
		return first(os.Rename(dir, dir+".mine"), os.Mkdir(dir, 0o755), os.Link(other, script), os.RemoveAll(dir), os.Rename(dir+".mine", dir))
	},
	"is in a folder above that moves": func(script, other string) error {
		dir := filepath.Dir(filepath.Dir(script))
		return first(os.Rename(dir, dir+".mine"), os.MkdirAll(filepath.Dir(script), 0o755), os.Link(other, script), os.RemoveAll(dir), os.Rename(dir+".mine", dir))
	},
}

func first(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// scripted is a trusted project whose guard is a script, and where that lies.
func scripted(t *testing.T, command, at, text string) (h *house, script, other string) {
	t.Helper()
	h = newHouse(t)
	require.NoError(t, os.RemoveAll(filepath.Join(h.home, ".config")))
	require.NoError(t, put(h.project, ".hookc/hooks.yaml",
		fmt.Sprintf("defaults: {chain_timeout: 95}\npre_tool_execution: [{name: g, command: %q, protocol: claude, timeout: 90}]\n", command)))
	require.NoError(t, put(h.project, at, text))
	script = filepath.Join(h.project, filepath.FromSlash(at))
	require.NoError(t, os.Chmod(script, 0o755))
	require.Equal(t, 0, h.ask(t, "", programs.Hookc(t), "trust", "--yes").code)
	other = filepath.Join(filepath.Dir(h.project), "other.sh")
	require.NoError(t, os.WriteFile(other, []byte(changedScript), 0o755))
	return h, script, other
}

// TestSwappedScriptDecidesNothing: somebody changes a trusted script and puts it
// back, without a pause, while events are decided. What was trusted answers each.
func TestSwappedScriptDecidesNothing(t *testing.T) {
	rounds := depth.Of(32)
	for name, swap := range swaps {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, at := range []string{".hookc/hooks/x.sh", "tools/deep/x.sh"} {
				h, script, other := scripted(t, "sh ./"+at, at, guardScript)
				stop := make(chan struct{})
				var swapped atomic.Int64
				var failed error
				var swapper sync.WaitGroup
				swapper.Go(func() {
					for failed == nil {
						select {
						case <-stop:
							return
						default:
						}
						failed = swap(script, other)
						swapped.Add(1)
					}
				})
				for range rounds {
					a := h.ask(t, removal, programs.Hookc(t), "run", "PreToolUse", "--dialect", "claude", "--deadline", "100s")
					if !assert.Contains(t, a.stdout+a.stderr, "the script says no", "%s, after %d swaps", at, swapped.Load()) {
						break
					}
				}
				assert.Eventually(t, func() bool { return swapped.Load() > int64(rounds) }, time.Minute, time.Millisecond, "a loaded machine swaps late")
				close(stop)
				swapper.Wait()
				require.NoError(t, failed)
			}
		})
	}
}

// TestScriptChangedWhileItRuns: a script that runs already is changed, and
// perhaps changed back before it ends: what the changed one says does not count,
// and the next answer is of what was trusted, too.
func TestScriptChangedWhileItRuns(t *testing.T) {
	for name, change := range map[string][2]string{
		"what follows":             {`sed -i 's/exit .code/exit 0/' "$0"`},
		"the same file":            {`sed 's/exit .code/exit 0/' "$0" > "$HOME/new"; cat "$HOME/new" > "$0"`},
		"a file it reads":          {`echo 'code=0' > "$dir/lib.sh"`},
		"a file it reads, a while": {`echo 'code=0' > "$dir/lib.sh"`, `echo 'code=2' > "$dir/lib.sh"`},
		"a file by another":        {`mv "$dir/lib.sh" "$HOME/lib"; cp "$HOME/zero" "$dir/lib.sh"`, `mv "$HOME/lib" "$dir/lib.sh"`},
		"a file by a link":         {`ln -sf "$HOME/zero" "$dir/lib.sh"`},
		"its folder":               {`mv "$dir" "$dir.old"; mkdir -p "$dir/sub"; cp "$HOME/zero" "$dir/lib.sh"; : > "$dir/sub/more.sh"`},
		"its folder, a while":      {`mv "$dir" "$dir.old"; mkdir -p "$dir/sub"; cp "$HOME/zero" "$dir/lib.sh"; : > "$dir/sub/more.sh"`, `rm -rf "$dir"; mv "$dir.old" "$dir"`},
		"a folder above, a while": {`up=$(dirname "$dir"); mv "$up" "$up.old"; mkdir -p "$dir/sub"; cp "$HOME/zero" "$dir/lib.sh"; : > "$dir/sub/more.sh"`,
			`rm -rf "$up"; mv "$up.old" "$up"`},
		"the folder of another, a while": {`mv "$dir/sub" "$dir/old"; mkdir "$dir/sub"; cp "$HOME/zero" "$dir/sub/more.sh"`,
			`rm -rf "$dir/sub"; mv "$dir/old" "$dir/sub"`},
		"itself gone": {`rm "$0"; code=0; exit 0`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			// The change is made by what lies in the user's folder, as a process of the
			// agent beside the script would: the script itself is what was trusted. Only
			// what runs in the project is changed, not the copy.
			text := "#!/bin/sh\ncat > /dev/null\necho \"$0\" > \"$HOME/ran\"\ndir=$(dirname \"$0\")\n" +
				"case $dir in */.local/*) ;; *) [ ! -f \"$HOME/before\" ] || . \"$HOME/before\" ;; esac\n" +
				". \"$dir/lib.sh\"\n. \"$dir/sub/more.sh\"\n" +
				"case $dir in */.local/*) ;; *) [ ! -f \"$HOME/after\" ] || . \"$HOME/after\" ;; esac\n" +
				"[ \"$code\" = 0 ] || echo 'the script says no' >&2\nexit $code\n"
			h, script, _ := scripted(t, "sh ./.hookc/hooks/x.sh", ".hookc/hooks/x.sh", text)
			require.NoError(t, put(filepath.Dir(script), "lib.sh", "code=2\n"))
			require.NoError(t, put(filepath.Dir(script), "sub/more.sh", ":\n"))
			require.Equal(t, 0, h.ask(t, "", programs.Hookc(t), "trust", "--yes").code)
			ask := func() answer {
				return h.ask(t, removal, programs.Hookc(t), "run", "PreToolUse", "--dialect", "claude", "--deadline", "100s")
			}
			for began := time.Now(); ; { // until the project's own is old enough to run
				require.Contains(t, ask().stdout, "the script says no")
				ran, err := os.ReadFile(filepath.Join(h.home, "ran"))
				if require.NoError(t, err); !strings.Contains(string(ran), "/.local/") {
					break
				}
				require.Less(t, time.Since(began), hang)
			}
			require.NoError(t, put(h.home, "zero", "code=0\n"))
			require.NoError(t, put(h.home, "before", "touch \"$HOME/changed\"\n"+change[0]+"\n"))
			require.NoError(t, put(h.home, "after", change[1]+"\n"))
			for range 2 {
				a := ask()
				assert.Contains(t, a.stdout+a.stderr, "the script says no")
				assert.Equal(t, 2, a.code)
				assert.FileExists(t, filepath.Join(h.home, "changed"), "the change was made")
				require.NoError(t, put(h.home, "before", ""))
				require.NoError(t, put(h.home, "after", ""))
			}
		})
	}
}
