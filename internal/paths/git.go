package paths

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/internal/spell"
)

// GitVariables tell git which repository it works with, and what is in it.
var GitVariables = []string{"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_COMMON_DIR",
	"GIT_NO_REPLACE_OBJECTS", "GIT_REPLACE_REF_BASE", "GIT_GRAFT_FILE", "GIT_SHALLOW_FILE"}

// Git is what git is told of the repository that it works with, beside the folder it is
// asked in: its git folder and its work tree, and whether it is told more than that.
type Git struct {
	Dir, Work string
	More      bool
}

// Add adds what the variables among the words NAME=value say.
func (g *Git) Add(words []string) {
	for _, word := range words {
		name, value, set := spell.Cut(word, "=")
		if !set || !lists.Has(GitVariables, name) {
			continue
		}
		to := &g.Dir
		if name == "GIT_WORK_TREE" {
			to = &g.Work
		} else if name != "GIT_DIR" {
			g.More = true
			continue
		}
		if value == "" || *to != "" && *to != value {
			value = "$" // nobody says which it is
		}
		*to = value
	}
}

// Foreign is the folder below which git, asked in dir, changes files of a repository that is
// not the one that Repository finds of them, "" where it does not: it is told another, dir
// lies in a folder that is a repository itself, or settings name a work tree.
func (g Git) Foreign(dir string) string {
	top, git, err := Repository(dir)
	for at := filepath.Clean(dir); at != top && at != filepath.Dir(at); at = filepath.Dir(at) {
		_, head := os.Stat(filepath.Join(at, "HEAD"))
		if _, objects := os.Stat(filepath.Join(at, "objects")); head == nil && objects == nil {
			git = at
			break
		}
	}
	if g.Dir != "" { // then the folder is the work tree
		top, git = dir, in(dir, g.Dir)
	}
	if git == "" && g.Work == "" {
		return "" // no repository
	}
	if g.Work != "" {
		top = filepath.Clean(in(dir, g.Work))
	}
	if g.Work == "" && namesTree(git, top) || strings.ContainsAny(g.Dir+g.Work, "$`") {
		return "/" // anywhere
	}
	tree, own, wrong := Repository(top)
	if g.More || err != nil || wrong != nil || tree != filepath.Clean(top) || filepath.Clean(own) != filepath.Clean(git) {
		return lists.First(Slash(top), "/")
	}
	return ""
}

//go:noinline
func in(dir, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return dir + string(filepath.Separator) + path // .. after a link is the disk's to follow
}

// namesTree reports whether the settings of a repository name another work tree than top.
func namesTree(git, top string) bool {
	for _, name := range []string{"config", "config.worktree"} {
		at := filepath.Join(git, name)
		if info, err := os.Stat(at); err != nil || !info.Mode().IsRegular() {
			continue // git reads none
		}
		text, _ := os.ReadFile(at)
		for _, line := range strings.Split(string(text), "\n") {
			key, value, _ := spell.Cut(line, "=")
			if !strings.HasSuffix(strings.ToLower(strings.TrimSpace(key)), "worktree") {
				continue
			}
			if to := in(git, strings.TrimSpace(value)); realPath(to) != realPath(top) {
				return true
			}
		}
	}
	return false
}
