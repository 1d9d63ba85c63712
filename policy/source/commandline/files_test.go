package commandline

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// commandProject is a folder with scripts, and a PATH that holds the programs
// the tests name.
func commandProject(t *testing.T) string {
	t.Helper()
	dir, bin := t.TempDir(), t.TempDir()
	for _, name := range []string{"hooks/a.sh", "hooks/b.sh", "my hooks/c.sh", "rules.txt", "tools/jq"} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte("exit 0\n"), 0o755))
	}
	for _, name := range []string{"sh", "bash", "python3", "grep", "jq", "cat", "make", "tee"} {
		require.NoError(t, os.WriteFile(filepath.Join(bin, name), []byte("#!\n"), 0o755))
	}
	t.Setenv("PATH", bin)
	return dir
}

func TestFiles(t *testing.T) {
	dir := commandProject(t)
	for _, c := range []struct {
		command string
		files   []string
		opaque  bool
	}{
		{"", nil, false},
		{"# nothing", nil, false},
		{"./hooks/a.sh", []string{"hooks/a.sh"}, false},
		{"hooks/a.sh --strict", []string{"hooks/a.sh"}, false},
		{`'./my hooks/c.sh'`, []string{"my hooks/c.sh"}, false},
		{`"./my hooks"/c.sh x`, []string{"my hooks/c.sh"}, false},
		{`./my\ hooks/c.sh`, []string{"my hooks/c.sh"}, false},
		{dir + "/hooks/a.sh", []string{"hooks/a.sh"}, false},
		{"sh hooks/a.sh", []string{"hooks/a.sh"}, false},
		{"python3 hooks/a.sh | tee /dev/null", []string{"hooks/a.sh"}, false},
		{"grep -f rules.txt && ./hooks/a.sh; hooks/b.sh", []string{"hooks/a.sh", "hooks/b.sh", "rules.txt"}, false},
		{"./hooks/a.sh \\\n  x", []string{"hooks/a.sh"}, false},
		{"./hooks/a.sh # ./hooks/b.sh", []string{"hooks/a.sh"}, false},
		{"jq -r .x <rules.txt >out.json 2>&1", []string{"rules.txt"}, false},
		{`echo '{"decision": "deny"}'`, nil, false},
		{"cat --file=rules.txt", []string{"rules.txt"}, false},
		{"printf '$HOME %s'", nil, false},

		{"make lint", nil, true},
		{"./hooks/missing.sh", nil, true},
		{"hooks", nil, true},
		{"grep -r x hooks", nil, true},
		{"nosuchprogram x", nil, true},
		{"python3 -c 'import os'", nil, true},
		{"python3 -m hooks.a", nil, true},
		{"python3 < hooks/a.sh", []string{"hooks/a.sh"}, true},
		{"sh missing.sh", nil, true},
		{"sh ../other/x.sh", nil, true},
		{"sh /elsewhere/x.sh", nil, true},
		{"cat ../x", nil, true},
		{"cat ./later.txt", nil, true},
		{"cd hooks && ./a.sh", nil, true},
		{`eval "./hooks/a.sh"`, []string{"hooks/a.sh"}, true},
		{`"$CLAUDE_PROJECT_DIR"/hooks/a.sh`, []string{"hooks/a.sh"}, true},
		{"${HOOKC_PROJECT_ROOT}/hooks/a.sh x", []string{"hooks/a.sh"}, true},
		{"cat $(./hooks/a.sh)", []string{"hooks/a.sh"}, true},
		{"cat `./hooks/a.sh`", []string{"hooks/a.sh"}, true},
		{`cat "$(./hooks/a.sh rules.txt)"`, []string{"hooks/a.sh", "rules.txt"}, true},
		{"cat hooks/*.sh", []string{"hooks/a.sh", "hooks/b.sh"}, true},
		{"~/x.sh", nil, true},
		{"PATH=tools jq -r .x", nil, true},
		{"tools/jq -r .x", []string{"tools/jq"}, false},
		{"sh -c './hooks/a.sh; hooks/b.sh'", []string{"hooks/a.sh", "hooks/b.sh"}, true},
		{"if true; then ./hooks/a.sh; fi", []string{"hooks/a.sh"}, true},
		{"(./hooks/a.sh)", []string{"hooks/a.sh"}, true},
		{"cat <<EOF\nx\nEOF", nil, true},
		{"./hooks/a.sh 'unclosed", []string{"hooks/a.sh"}, true},
		{"./hooks/{a,b}.sh", nil, true},
		{". hooks/a.sh", []string{"hooks/a.sh"}, true},
		{`./hooks/a.sh \`, []string{"hooks/a.sh"}, true},
	} {
		var want []string
		for _, f := range c.files {
			want = append(want, filepath.Join(dir, f))
		}
		files, opaque := Files(c.command, dir)
		assert.Equal(t, want, files, "%q", c.command)
		assert.Equal(t, c.opaque, opaque, "%q", c.command)
	}
}

// TestProgramOfTheProjectIsNoSystemProgram: a PATH that leads into the
// project (direnv, node_modules/.bin) makes any name a project file.
func TestProgramOfTheProjectIsNoSystemProgram(t *testing.T) {
	dir := commandProject(t)
	_, opaque := Files("jq -r .x", dir)
	assert.False(t, opaque)
	t.Setenv("PATH", filepath.Join(dir, "tools")+string(os.PathListSeparator)+os.Getenv("PATH"))
	_, opaque = Files("jq -r .x", dir)
	assert.True(t, opaque)
}

func FuzzFiles(f *testing.F) {
	for _, s := range []string{"./a.sh 'x y' \"$Z\" | cat <x >y 2>&1 && (b) # c", "\\", "'", "a\x00b", "[", "$/x"} {
		f.Add(s)
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, command string) {
		files, _ := Files(command, dir)
		assert.Empty(t, files, "the folder is empty")
	})
}
