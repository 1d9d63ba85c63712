package trust

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hookc/hookc/internal/paths"
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

// commonFolder is the folder that the worktrees of a repository share, for
// one that is linked to it; "" when the repository does not know the worktree.
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
	if !ok || real(back) != real(filepath.Join(top, ".git")) {
		return "" // a repository that somebody else points at
	}
	return real(common)
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
	line, ok := strings.CutPrefix(strings.TrimRight(string(text), "\r\n"), prefix)
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
	if err != nil {
		return false
	}
	_, err = os.Lstat(filepath.Join(s.Path(), File))
	return err == nil
}
