package guard

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/hookc/hookc/policy"
)

// TestFolderOfACall: a call that names the folder in which its command runs is judged at least as
// strictly as the command after `cd` to that folder, and as the command where no tool heeds the name.
func TestFolderOfACall(t *testing.T) {
	guards := map[string]policy.Runner{
		"shell-guard": mustGuard(t, "shell-guard", map[string]any{"packs": []any{"all"}}),
		"path-guard":  mustGuard(t, "path-guard", map[string]any{"protect": []any{"infra/prod/**"}, "hide": []any{"**/.env"}}),
	}
	commands := []string{"rm -rf ./sub", "rm -rf *", "echo x > passwd", "sed -i s/a/b/ settings.json", "cat .env", "rm -rf prod", "mv prod old", "chmod -R 777 .", "git clean -fd", "tee authorized_keys < /dev/null", "ls", "rm -rf build", "go test ./..."}
	folders := []string{"/", "/etc", "/home/dev", "~", "~/.ssh", "..", "../..", "infra", "./infra/", "/tmp/x", "build", ".claude", "/home/dev/project", "/home/dev/project/build", "infra/../..", "$HOME"}
	for use, g := range guards {
		for _, command := range commands {
			here := say(t, g, bashCall(command)).Verdict
			for _, folder := range folders {
				there := say(t, g, bashCall("cd "+folder+" && "+command)).Verdict
				for i, key := range []string{"workdir", "working_directory", "cwd", "dir_path", "directory"} {
					spelt := spellings(key)
					if folder != folders[i+1] {
						spelt = spelt[:1]
					}
					for _, spelt := range spelt {
						for _, input := range placings(map[string]any{"command": command}, spelt, folder) {
							got := say(t, g, toolCall("exec_command", input)).Verdict
							if folder != "$HOME" { // a value is no word of a shell
								assert.Equal(t, there != policy.None || here != policy.None, got != policy.None, "%s %v: %v, after cd %v, without %v", use, input, got, there, here)
							}
							assert.False(t, got == policy.None && (here != policy.None || folder == "$HOME" && command == "rm -rf ./sub" && use == "shell-guard"), "%s %v", use, input)
						}
					}
				}
			}
		}
	}
	g := guards["shell-guard"]
	for _, folder := range []any{[]any{"/etc"}, 7, true, map[string]any{"path": "/etc"}, "~root", "`pwd`"} {
		assert.NotEqual(t, policy.None, say(t, g, toolCall("exec_command", map[string]any{"command": "rm -rf ./sub", "workdir": folder})).Verdict, "%v", folder)
	}
	for _, folder := range []any{"", nil, ".", "/home/dev/project", "/tmp/x"} {
		assert.Equal(t, policy.None, say(t, g, toolCall("exec_command", map[string]any{"command": "rm -rf ./build", "workdir": folder})).Verdict, "%v", folder)
	}
	unknown := policy.NewContext(policy.PreToolExecution).Set(policy.FieldToolName, "exec_command").Set(policy.FieldToolInput, map[string]any{"command": "rm -rf ./sub", "workdir": "sub"})
	assert.NotEqual(t, policy.None, say(t, g, unknown).Verdict)
}
