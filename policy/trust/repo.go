package trust

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hookc/hookc/internal/paths"
	"github.com/hookc/hookc/internal/spell"
	"github.com/hookc/hookc/policy/state"
)

// home is the root under whose name consent is recorded: the project's own,
// or for a worktree of a repository the same folder of its main one.
func home(root string) string {
	for top := root; ; top = filepath.Dir(top) {
		if info, err := os.Lstat(filepath.Join(top, ".git")); err == nil {
			common := ""
			if info.Mode().IsRegular() {
				common = commonFolder(top)
			}
			rel, err := filepath.Rel(top, root)
			if common == "" || err != nil {
				return root
			}
			if filepath.Base(common) == ".git" {
				common = filepath.Dir(common)
			}
			return filepath.Join(common, rel)
		}
		if top == filepath.Dir(top) {
			return root
		}
	}
}

// commonFolder is the folder that the worktrees of a repository share, for one that is
// linked to it; "" when the repository does not know the worktree: what says so must lie
// where git keeps it, or who wrote the worktree says it.
func commonFolder(top string) string {
	own, ok := pointer(filepath.Join(top, ".git"), "gitdir: ")
	if !ok {
		return ""
	}
	if !filepath.IsAbs(own) {
		own = filepath.Join(top, own)
	}
	common, ok := pointer(filepath.Join(own, "commondir"), "")
	if !ok {
		return ""
	}
	if !filepath.IsAbs(common) {
		common = filepath.Join(own, common)
	}
	back, ok := pointer(filepath.Join(own, "gitdir"), "")
	if !filepath.IsAbs(back) {
		back = filepath.Join(own, back)
	}
	own, common = real(own), real(common)
	if !ok || filepath.Dir(own) != filepath.Join(common, "worktrees") || real(back) != real(filepath.Join(top, ".git")) {
		return "" // a repository that somebody else points at
	}
	return common
}

// pointer reads a small file of one line.
func pointer(path, prefix string) (string, bool) {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > 8<<10 {
		return "", false
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return "", false
	}
	line, ok := spell.CutPrefix(strings.TrimRight(string(text), "\r\n"), prefix)
	return line, ok && line != "" && !strings.ContainsRune(line, '\n')
}

func real(path string) string {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		return target
	}
	return filepath.Clean(path)
}

// Projects are the roots of the projects that a folder lies in, outermost
// first: each folder above it that is marked as one, or that consent was given
// for; the folder itself where there is none. The user's home and the root of
// the file system are no projects. Folders are looked at as they are written
// and without symbolic links.
func Projects(dirs ...string) []string {
	var out []string
	seen := map[string]bool{}
	for _, dir := range dirs {
		if !filepath.IsAbs(dir) {
			continue
		}
		for _, root := range above(dir) {
			if at := real(root); !seen[at] {
				seen[at] = true
				out = append(out, root)
			}
		}
	}
	return out
}

func above(dir string) []string {
	dir = filepath.Clean(dir)
	found := roots(dir)
	if at := real(dir); at != dir {
		found = append(found, roots(at)...)
	}
	if len(found) == 0 && !noProject(dir) {
		found = []string{dir}
	}
	return found
}

func roots(dir string) []string {
	var out []string
	for at := dir; at != filepath.Dir(at); at = filepath.Dir(at) {
		if !noProject(at) && (paths.Marked(at) || known(at)) {
			out = append([]string{at}, out...)
		}
	}
	return out
}

func noProject(dir string) bool {
	if dir == filepath.Dir(dir) {
		return true
	}
	set, _ := os.UserHomeDir()
	return slices.ContainsFunc([]string{paths.Account(), set}, func(home string) bool {
		return filepath.IsAbs(home) && (filepath.Clean(home) == dir || real(home) == real(dir))
	})
}

// IsProject reports whether a folder is the root of a project.
func IsProject(dir string) bool { return !noProject(dir) && paths.Marked(dir) }

// known reports whether consent was given for a folder, whatever has become of
// its marks.
func known(dir string) bool {
	s, err := state.Open(dir)
	return err == nil && (holds(s, File) || holds(s, linked))
}

func holds(d *state.Dir, name string) bool {
	_, err := os.Lstat(filepath.Join(d.Path(), name))
	return err == nil
}

// linked is the file in the state of a worktree that names the root of which it has had
// the consent: what becomes of its .git takes none away.
const linked = "worktree-of"

// dir is where the consent is that decides: the root's own, then that of the repository
// it was a worktree of, then of the one that its .git names now.
func (s *Store) dir() *state.Dir {
	if holds(s.own, File) {
		return s.own
	}
	if root, err := s.own.Read(linked); err == nil {
		if d, err := state.Open(string(root)); err == nil && holds(d, File) {
			return d
		}
	}
	return s.repo
}

// link remembers which repository the root is a worktree of.
func (s *Store) link() error {
	return s.own.Update(linked, func([]byte) ([]byte, error) { return []byte(s.home), nil })
}
