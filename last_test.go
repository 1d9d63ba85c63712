package hookc

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/internal/host"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/state"
)

// lastCase is a policy file, the state folder of its project, and a clock that
// is as far from the disk's as the test says.
type lastCase struct {
	*testing.T
	path   string
	dir    *state.Dir
	ahead  time.Duration
	slept  []time.Duration
	asleep func()
	more   []Option
}

func newLast(t *testing.T) *lastCase {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	dir, err := state.Open(t.TempDir())
	require.NoError(t, err)
	return &lastCase{T: t, path: filepath.Join(t.TempDir(), "hooks.yaml"), dir: dir}
}

func (l *lastCase) write(text string) {
	l.Helper()
	require.NoError(l, os.WriteFile(l.path, []byte(text), 0o644))
}

// at is the engine that a process would open now, and what it decides about a
// removal.
func (l *lastCase) at() (*policy.Decision, error) {
	l.Helper()
	clocked := func(c *config) {
		c.last.now = func() time.Time { return time.Now().Add(l.ahead) }
		c.last.sleep = func(d time.Duration) {
			l.slept = append(l.slept, d)
			l.ahead += d
			if l.asleep != nil {
				l.asleep()
			}
		}
	}
	eng, err := Open(l.Context(), append([]Option{Files(l.path), host.KeepLast[Option](l.dir), clocked, SkipVerify()}, l.more...)...)
	if err != nil {
		return nil, err
	}
	defer eng.Close()
	return eng.PreTool(l.Context(), Call{Tool: "Bash", Input: map[string]any{"command": "rm -rf /"}})
}

// codes are those of a decision's warnings.
func codes(d *policy.Decision) []string {
	out := []string{}
	for _, w := range d.Warnings {
		out = append(out, w.Code.ID)
	}
	return out
}

const denies = "pre_tool_execution:\n  - {name: g, deny: 'command contains \"rm\"', reason: no removing}\n"

func TestLastPlanDecidesWhileAFileIsWritten(t *testing.T) {
	l := newLast(t)
	l.write(denies)
	l.ahead = 2 * time.Second
	d, err := l.at()
	require.NoError(t, err)
	assert.False(t, d.Permits())
	assert.Empty(t, codes(d))
	for _, half := range []string{"", "# comment\n", "pre_tool_execution:\n", "{}\n", "notify: []\n", denies[:40]} {
		l.write(half)
		l.ahead = 0
		d, err := l.at()
		require.NoError(t, err, "%q", half)
		assert.False(t, d.Permits(), "%q", half)
		assert.Equal(t, []string{"HK023"}, codes(d), "%q", half)
	}
	require.NoError(t, os.Rename(l.path, l.path+"~")) // as some editors save
	d, err = l.at()
	require.NoError(t, err)
	assert.False(t, d.Permits())
	assert.Equal(t, []string{"HK023"}, codes(d))
	require.NoError(t, os.Rename(l.path+"~", l.path))

	l.write("") // half a policy that stays so is a broken one
	l.ahead = 2 * time.Second
	_, err = l.at()
	require.Error(t, err)
	l.write("{}\n") // and a whole one that permits, permits
	d, err = l.at()
	require.NoError(t, err)
	assert.True(t, d.Permits())
	assert.Empty(t, l.slept)
}

func TestSameBytesAreNoChange(t *testing.T) {
	l := newLast(t)
	l.write(denies)
	l.ahead = 2 * time.Second
	_, err := l.at()
	require.NoError(t, err)
	l.write(denies)
	l.ahead = 0
	d, err := l.at()
	require.NoError(t, err)
	assert.Empty(t, codes(d))
	assert.Empty(t, l.slept)
}

func TestWithoutALastPlanAFileMustBeQuiet(t *testing.T) {
	l := newLast(t)
	l.write("{}\n")
	writes := 0
	l.asleep = func() {
		if writes++; writes == 1 {
			l.write(denies)
		}
	}
	d, err := l.at()
	require.NoError(t, err)
	assert.False(t, d.Permits(), "what it holds once it is quiet decides")
	assert.Empty(t, codes(d))
	assert.NotEmpty(t, l.slept)
}

func TestAFileThatIsWrittenAllTheTime(t *testing.T) {
	l := newLast(t)
	l.write("{}\n")
	looks := 0
	clocked := func(c *config) {
		c.last.sleep = func(time.Duration) { t.Error("it has waited long enough") }
		c.last.now = func() time.Time {
			if looks++; looks == 1 {
				return time.Now().Add(-2 * halfWritten) // when it began to wait
			}
			return time.Now()
		}
	}
	eng, err := Open(t.Context(), Files(l.path), host.KeepLast[Option](l.dir), clocked, SkipVerify())
	require.NoError(t, err)
	defer eng.Close()
	d, err := eng.PreTool(t.Context(), Call{Tool: "Bash", Input: map[string]any{"command": "rm -rf /"}})
	require.NoError(t, err)
	assert.Equal(t, []string{"HK023"}, codes(d))
}

func TestFewPlansAreKept(t *testing.T) {
	l := newLast(t)
	for i := range maxLast + 3 {
		l.path = filepath.Join(t.TempDir(), string(rune('a'+i))+".yaml")
		l.write(denies)
		l.ahead = 2 * time.Second
		_, err := l.at()
		require.NoError(t, err)
	}
	kept, err := filepath.Glob(filepath.Join(l.dir.Path(), lastPrefix+"*[0-9a-f]"))
	require.NoError(t, err)
	plans := 0
	for _, path := range kept {
		info, err := os.Stat(path)
		require.NoError(t, err)
		assert.Equal(t, os.FileMode(0o600), info.Mode().Perm())
		if filepath.Ext(path) == "" {
			plans++
		}
	}
	assert.Equal(t, maxLast, plans)
}

// A broken policy that was just written, and one that is written again and
// again, is answered after a second, also where an agent's settings are it.
func TestABrokenFileIsNotWaitedForLong(t *testing.T) {
	for name, c := range map[string]struct {
		file, text string
		options    []Option
		warns      bool
	}{
		"policy":       {"hooks.yaml", "pre_tool_execution: [", nil, false},
		"empty policy": {"hooks.yaml", "", nil, false},
		"settings":     {".ai_agents/settings.json", `{"hooks": `, []Option{Profile("aiagents", false)}, false},
		"faithful":     {".ai_agents/settings.json", `{"hooks": `, []Option{Profile("aiagents", true)}, true},
		"of claude":    {".claude/settings.json", `{"hooks": {},}`, []Option{Profile("claude", false)}, false},
	} {
		for _, again := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, written again %v", name, again), func(t *testing.T) {
				l := newLast(t)
				l.path = filepath.Join(t.TempDir(), filepath.FromSlash(c.file))
				require.NoError(t, os.MkdirAll(filepath.Dir(l.path), 0o755))
				l.write(c.text)
				l.more = c.options
				if again { // the file is always as new as the clock has it
					l.ahead = quiet - halfWritten
					l.asleep = func() { l.write(c.text) }
				}
				d, err := l.at()
				var slept time.Duration
				for _, nap := range l.slept {
					slept += nap
				}
				assert.LessOrEqual(t, slept, halfWritten+quiet)
				if !c.warns {
					require.Error(t, err)
					return
				}
				require.NoError(t, err)
				assert.Contains(t, codes(d), "HK002")
			})
		}
	}
}
