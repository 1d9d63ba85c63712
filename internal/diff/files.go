package diff

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/hookc/hookc/dag"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy"
)

// FileChange is a file beside the policy (Rego, data, a script) that is not as
// it was. Its path is relative to the policy's folder.
type FileChange struct {
	// Change is added, removed or changed.
	Change string `json:"change"`
	Path   string `json:"path"`
}

// filesOf are the contents of the files that a program's sources use, by path
// within the folder of the source, as hashes. Files that cannot be read are left
// out: whatever needs them says so when it runs.
func filesOf(p *dag.Program) map[string]string {
	out := map[string]string{}
	for _, s := range p.Sources {
		for _, use := range s.Uses {
			addFiles(out, filepath.Dir(s.Path), use)
		}
	}
	return out
}

// addFiles adds a file, or those of a folder.
func addFiles(out map[string]string, dir, path string) {
	_ = filepath.WalkDir(path, func(file string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() && e.Type()&fs.ModeSymlink == 0 {
			return nil
		}
		data, err := os.ReadFile(file)
		if err != nil {
			return nil
		}
		name := file
		if rel, err := filepath.Rel(dir, file); err == nil && filepath.IsLocal(rel) {
			name = filepath.ToSlash(rel)
		}
		out[name] = fmt.Sprintf("%x", sha256.Sum256(data))
		return nil
	})
}

// fileChanges lists the files that differ, by path.
func fileChanges(old, new *dag.Program) []FileChange {
	out := []FileChange{}
	was, is := filesOf(old), filesOf(new)
	for _, path := range lists.Keys(was) {
		switch now, there := is[path]; {
		case !there:
			out = append(out, FileChange{Removed, path})
		case now != was[path]:
			out = append(out, FileChange{Changed, path})
		}
	}
	for _, path := range lists.Keys(is) {
		if _, had := was[path]; !had {
			out = append(out, FileChange{Added, path})
		}
	}
	return out
}

// scriptChanges are the files that both have and that differ.
func scriptChanges(old, new *dag.Program) map[string]bool {
	out := map[string]bool{}
	for _, c := range fileChanges(old, new) {
		if c.Change == Changed {
			out[c.Path] = true
		}
	}
	return out
}

// scriptsOf are those of the changed files that a process's command names.
func scriptsOf(h *policy.Hook, changed map[string]bool) []string {
	if h.Kind != policy.KindBash {
		return nil
	}
	command := h.Body.Command.Value + "\x00" + strings.Join(h.Body.Args, "\x00")
	var out []string
	for _, path := range lists.Keys(changed) {
		if strings.Contains(filepath.ToSlash(command), path) || strings.Contains(command, filepath.Base(path)) {
			out = append(out, path)
		}
	}
	return out
}

// literalFiles are the texts of shared Rego and data, for the constants in them.
// One that is larger than maxLiteralFile is left out.
func literalFiles(p *dag.Program) []string {
	var out []string
	for _, s := range p.Sources {
		for _, use := range s.Uses {
			err := filepath.WalkDir(use, func(file string, e fs.DirEntry, err error) error {
				if err != nil || !e.Type().IsRegular() || !lists.Has([]string{".rego", ".json", ".yaml", ".yml"}, filepath.Ext(file)) {
					return nil
				}
				if len(out) >= maxLiteralFiles {
					return errEnough
				}
				if info, err := e.Info(); err != nil || info.Size() > maxLiteralFile {
					return nil
				}
				if data, err := os.ReadFile(file); err == nil {
					out = append(out, string(data))
				}
				return nil
			})
			if errors.Is(err, errEnough) {
				return out
			}
		}
	}
	return out
}

var errEnough = errors.New("enough files")

// The bounds of what is looked through for constants, in bytes and files.
const (
	maxLiteralFile  = 1 << 20
	maxLiteralFiles = 200
)
