package format

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/hookc/hookc/policy/dialect"
)

// ownFolder reports whether a hook folder is hookc itself, put there for an
// agent that runs HOOK.md folders: its script is a single call of hookc. It is
// no hook of a policy, else hookc would call itself without end.
func ownFolder(dir string) bool {
	if !strings.HasPrefix(filepath.Base(dir), dialect.HookName+"-") {
		return false
	}
	script, err := os.ReadFile(filepath.Join(dir, "scripts", "run.sh"))
	if err != nil {
		return false
	}
	var commands []string
	for line := range strings.Lines(string(script)) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			commands = append(commands, line)
		}
	}
	return len(commands) == 1 && dialect.OwnCommand(commands[0])
}
