package wire

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/tests/depth"
)

// TestBuildIsContent: a program is known by what it does, not by where or when
// it was built or copied.
func TestBuildIsContent(t *testing.T) {
	depth.NotShort(t)
	build := func(text string, flags ...string) string {
		dir := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module m\n\ngo 1.24\n"), 0o600))
		require.NoError(t, os.WriteFile(filepath.Join(dir, "main.go"), []byte("package main\n\nfunc main() { println("+text+") }\n"), 0o600))
		cmd := exec.Command("go", append(append([]string{"build", "-trimpath", "-buildvcs=false", "-o", "p"}, flags...), ".")...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOOS=linux", "GOARCH=amd64", "CGO_ENABLED=0", "GOFLAGS=", "GOWORK=off")
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
		return filepath.Join(dir, "p")
	}
	of := func(path string) string {
		id, err := BuildOf(path)
		require.NoError(t, err)
		require.Len(t, id, 16)
		return id
	}
	one := build(`1`)
	assert.Equal(t, of(one), of(build(`1`)), "the same source in another folder")
	assert.NotEqual(t, of(one), of(build(`2`)), "other code")
	assert.NotEqual(t, of(one), of(build(`1`, "-ldflags=-s -w")), "other flags")
	assert.Equal(t, of(build(`1`, "-ldflags=-s -w")), of(build(`1`, "-ldflags=-s -w")))

	data, err := os.ReadFile(one)
	require.NoError(t, err)
	copied := filepath.Join(t.TempDir(), "copy")
	require.NoError(t, os.WriteFile(copied, data, 0o700))
	require.NoError(t, os.Chtimes(copied, time.Time{}, time.Unix(1, 0)))
	assert.Equal(t, of(one), of(copied))

	plain := build(`1`, "-ldflags=-buildid=")
	before := of(plain)
	require.NoError(t, os.Chtimes(plain, time.Time{}, time.Unix(1, 0)))
	assert.NotEqual(t, before, of(plain), "without the id a program is its file")
	_, err = BuildOf(filepath.Join(t.TempDir(), "none"))
	assert.Error(t, err)
}

// TestBuildIDElsewhere: where programs are not ELF files, the id is text.
func TestBuildIDElsewhere(t *testing.T) {
	assert.Equal(t, "a/b/c", string(buildID([]byte("MZ\x00\xff Go build ID: \"a/b/c\"\n \xffcode"))))
	for _, head := range []string{"", "Go\x00\x00", "\x04\x00\x00\x00\xff\xff\x00\x00\x04\x00\x00\x00Go\x00\x00id", "\xff Go build ID: \"a", "\xff Go build ID: \"\"\n"} {
		assert.Empty(t, buildID([]byte(head)), "%q", head)
	}
}

func BenchmarkBuildOf(b *testing.B) {
	for b.Loop() {
		if _, err := BuildOf("/proc/self/exe"); err != nil {
			b.Fatal(err)
		}
	}
}
