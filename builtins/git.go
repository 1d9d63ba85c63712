package builtins

import (
	"path/filepath"

	"github.com/hookc/hookc/internal/paths"
	"github.com/hookc/hookc/internal/spell"
	"github.com/hookc/hookc/policy"
)

// The git functions read the files of a repository; they start no process and
// do not look at the repository's configuration.

var _ = register(Func{
	Name: "git.branch", Params: []Param{{Name: "dir", Type: str}}, Result: str, World: policy.WorldRead,
	Call: func(args []any) (any, error) { return gitBranch(text(args[0])) },
	Doc:  "the branch checked out in the repository that dir is in; empty outside of one and when no branch is checked out",
	Examples: []Example{
		{Call: `git.branch("/")`, Want: ""},
	},
})

var _ = register(Func{
	Name: "git.root", Params: []Param{{Name: "dir", Type: str}}, Result: str, World: policy.WorldRead,
	Call: func(args []any) (any, error) {
		work, _, err := paths.Repository(text(args[0]))
		return filepath.ToSlash(work), err
	},
	Doc: "the top folder of the repository that dir is in; empty outside of one",
	Examples: []Example{
		{Call: `git.root("/")`, Want: ""},
	},
})

// headPrefix begins the HEAD of a repository with a branch checked out.
const headPrefix = "ref: refs/heads/"

func gitBranch(dir string) (any, error) {
	_, git, err := paths.Repository(dir)
	if err != nil || git == "" {
		return "", err
	}
	head, err := paths.FirstLine(filepath.Join(git, "HEAD"))
	if err != nil {
		return nil, err
	}
	branch, ok := spell.CutPrefix(head, headPrefix)
	if !ok {
		return "", nil
	}
	return branch, nil
}
