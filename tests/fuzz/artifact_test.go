package fuzz

import (
	"crypto/sha256"
	stdbinary "encoding/binary"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc"
	"github.com/hookc/hookc/compiler"
	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/dag/codec"
	"github.com/hookc/hookc/executor/runner"
	"github.com/hookc/hookc/internal/binary"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/artifact"
)

// FuzzArtifact: whatever a file holds, it is refused or read, also where somebody
// forged the hash over it.
func FuzzArtifact(f *testing.F) {
	w := &artifact.Writer{Build: "build", Release: "v1"}
	w.AddSources([]artifact.Source{{Path: "/none"}, {Path: "/some", Print: artifact.Print{Found: true, Ino: 1, Size: 2}}})
	w.AddEnvironment(artifact.Take([]string{"A=1"}, []string{"A"}, []string{"B_"}))
	w.Add(artifact.Gate, []byte("gate"))
	f.Add(w.Bytes(), 0)
	f.Add(w.Bytes(), 60)
	f.Add((&artifact.Writer{}).Bytes(), 0)
	f.Fuzz(func(t *testing.T, data []byte, end int) {
		if end > 16 && end+sha256.Size <= len(data) {
			stdbinary.LittleEndian.PutUint32(data[12:], uint32(end))
			sum := sha256.Sum256(data[:end])
			copy(data[end:], sum[:])
		}
		file, err := artifact.Parse("policy.hookc", data)
		if err != nil {
			var refused *artifact.Error
			require.ErrorAs(t, err, &refused)
			return
		}
		_ = file.Verify()
		_, _ = file.Sources()
		_, _ = file.Conditions()
		_ = file.Fits(nil)
		_ = file.Unchanged()
	})
}

// FuzzArtifactValues: a section's values are read or refused.
func FuzzArtifactValues(f *testing.F) {
	w := &artifact.Writer{}
	w.AddSources([]artifact.Source{{Path: "/none"}, {Path: "/some", Print: artifact.Print{Found: true, Ino: 1, Size: 2}}})
	w.AddEnvironment(artifact.Take([]string{"A=1"}, []string{"A"}, []string{"B_"}))
	whole, err := artifact.Parse("", w.Bytes())
	require.NoError(f, err)
	for _, name := range whole.Names() {
		content, err := whole.Section(name)
		require.NoError(f, err)
		f.Add(content)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		w := &artifact.Writer{}
		w.Add(artifact.Sources, data)
		w.Add(artifact.Environment, data)
		file, err := artifact.Parse("", w.Bytes())
		require.NoError(t, err)
		_, _ = file.Sources()
		if c, err := file.Conditions(); err == nil {
			again := &artifact.Writer{}
			again.AddEnvironment(c)
			read, err := artifact.Parse("", again.Bytes())
			require.NoError(t, err)
			got, err := read.Conditions()
			require.NoError(t, err)
			require.Equal(t, c, got)
		}
		_ = file.Fits([]string{"B_X=1"})
	})
}

// FuzzProgram: bytes that are no program, or a changed one, are refused or give a
// program that can be looked at; nothing panics, and no more memory is taken than
// belongs to as many bytes.
func FuzzProgram(f *testing.F) {
	dir := f.TempDir()
	path := filepath.Join(dir, "policy.hookc")
	x, found, err := hookc.NewArtifact(hookc.Text("hooks.yaml", `
pre_tool_execution:
  - {name: a, deny: 'command contains "rm"', reason: "no", filter: {tool_matcher: "Bash|Edit", command: "^rm"}}
  - {name: b, command: "cat", on_error: deny, reads: [tool_input.command], writes: []}
  - {name: c, use: tool-list, deny: ["rm"]}
stop:
  - {name: d, prompt: "is {{assistant_output}} done?"}
`), hookc.SkipVerify())
	require.NoError(f, err)
	require.NotNil(f, x, "%s", found.Render())
	require.NoError(f, x.WriteFile(path, nil))
	file, err := artifact.Open(path)
	require.NoError(f, err)
	defer file.Close()
	program, err := file.Section(artifact.Program)
	require.NoError(f, err)
	in := binary.NewReader(program)
	in.Bytes()
	first := in.Rest()
	f.Add(first, []byte{})
	for _, name := range file.Names() {
		if strings.HasPrefix(name, "event/") {
			chain, err := file.Section(name)
			require.NoError(f, err)
			f.Add(first, chain)
		}
	}
	f.Fuzz(func(t *testing.T, first, second []byte) {
		head, base, err := codec.ReadHead(first)
		if err != nil || head.Program == nil || head.Policy == nil {
			return
		}
		chain, err := codec.ReadChain(second, base)
		if err != nil || chain.Plan == nil {
			return
		}
		head.Program.Plans = []*dag.Plan{chain.Plan}
		kinds := runner.Kinds(runner.Options{})
		_ = compiler.Restore(head.Policy, head.Program, map[policy.Event][][]byte{chain.Plan.Event: chain.Codes}, compiler.Config{Kinds: kinds})
	})
}
