package guard

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/agent"
)

// TestAgentsConfiguration: path-guard protects every file of every agent into
// which hookc is installed, from file tools and from the shell.
func TestAgentsConfiguration(t *testing.T) {
	g := guard(t, "path-guard")
	files := 0
	for _, d := range agent.All() {
		place, err := d.Settings()
		if err != nil {
			continue
		}
		for _, f := range place.Files {
			files++
			p := strings.ReplaceAll(f.Path, "*", "mine")
			switch {
			case f.Base == agent.System:
				p = "/" + p
			case f.Scope() == agent.UserScope:
				p = home + "/" + p
			default:
				p = root + "/" + p
			}
			in := policy.NewContext(policy.PreToolExecution).Set(policy.FieldToolName, "Write").
				Set(policy.FieldToolInput, map[string]any{"file_path": p, "content": "{}"}).
				Set(policy.FieldCwd, root).Set(policy.FieldProjectRoot, root)
			r, err := g.Run(t.Context(), in, 0)
			require.NoError(t, err)
			assert.Equal(t, policy.Deny, r.Verdict, "%s %s", d.ID, p)
			assert.Equal(t, policy.Deny, decide(t, g, "echo '{}' > "+p, root).Verdict, "%s %s", d.ID, p)
			assert.Equal(t, policy.None, decide(t, g, "cat "+p, root).Verdict, "%s %s", d.ID, p)
		}
	}
	assert.Greater(t, files, 20)
}

// TestPlacesOfVariables: neither the variable that names the folder of temporary files nor
// the place that an agent says it works in makes what belongs to the machine or the user
// theirs, whatever it names.
func TestPlacesOfVariables(t *testing.T) {
	g := guard(t, "shell-guard") // which sets HOME and TMPDIR
	for _, dir := range []string{"/etc", "/usr", "/usr/lib", "/boot", "/var", "/home", "/bin", home, home + "/.ssh", home + "/docs"} {
		for _, command := range []string{"rm -rf DIR/x", "echo x > DIR/x", "cp a DIR/x", "find DIR -delete"} {
			command = strings.Replace(command, "DIR", dir, 1)
			t.Setenv("TMPDIR", "/tmp")
			want := decide(t, g, command, root).Verdict
			if strings.HasPrefix(command, "rm") {
				assert.NotEqual(t, policy.None, want, command)
			}
			t.Setenv("TMPDIR", dir)
			assert.Equal(t, want, decide(t, g, command, root).Verdict, "TMPDIR=%s %s", dir, command)
			if strings.HasPrefix(dir, home) {
				continue // a project may be there
			}
			in := policy.NewContext(policy.PreToolExecution).Set(policy.FieldToolName, "Bash").Set(policy.FieldToolInput, map[string]any{"command": command}).
				Set(policy.FieldCwd, dir).Set(policy.FieldProjectRoot, dir)
			r, err := g.Run(t.Context(), in, 0)
			require.NoError(t, err)
			assert.Equal(t, want, r.Verdict, "project %s %s", dir, command)
		}
	}
	for _, dir := range []string{"/scratch/tmp", "/var/folders/ab/cd/T", "/tmp/of/mine"} {
		t.Setenv("TMPDIR", dir)
		assert.Equal(t, policy.None, decide(t, g, "rm -rf "+dir+"/x", root).Verdict, dir)
	}
}
