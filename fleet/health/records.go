package health

import (
	"os"
	"path/filepath"

	"github.com/hookc/hookc/fleet/ship"
	"github.com/hookc/hookc/internal/decisionlog"
)

// Records are the records of decisions on this machine: of the users whose agents are
// looked at. A folder that is another user's, or a link, is none.
func Records() []ship.Log {
	var out []ship.Log
	for _, u := range users() {
		dir := decisionlog.Folder(filepath.Join(stateOf(u.home), "hookc"))
		info, err := os.Lstat(dir)
		if err == nil && info.IsDir() && u.owns(info) {
			out = append(out, ship.Log{User: u.name, Dir: dir})
		}
	}
	return out
}
