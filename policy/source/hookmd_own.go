package source

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/hookc/hookc/policy/agent"
	"github.com/hookc/hookc/policy/source/commandline"
)

// maxOwnScript is more than the script of hookc's own folder ever has.
const maxOwnScript = 64 << 10

// ownFolder reports whether a hook folder is hookc itself, put there for an
// agent that runs HOOK.md folders: its script is a single call of hookc. It is
// no hook of a policy, else hookc would call itself without end.
func ownFolder(dir string) bool {
	if !strings.HasPrefix(filepath.Base(dir), agent.HookName+"-") {
		return false
	}
	path := filepath.Join(dir, "scripts", "run.sh")
	if info := regularFile(path); info == nil || info.Size() > maxOwnScript {
		return false
	}
	script, err := os.ReadFile(path)
	if err != nil {
		return false
	}
	var lines []string
	for line := range strings.Lines(string(script)) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			lines = append(lines, line)
		}
	}
	return len(lines) == 1 && commandline.Own(lines[0])
}
