//go:build unix

package serve

import (
	"os"
	"path/filepath"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/hookc/hookc/internal/exit"
	"github.com/hookc/hookc/internal/paths"
)

// fleet becomes hookcd serve with the same words: the one beside this program, else
// the one in PATH, but for that of the project it is started in.
func (f *serveFlags) fleet(*cobra.Command) error {
	dir, _ := os.Getwd()
	program, err := paths.Program("hookcd", filepath.Join(dir, "hookcd")) // dir counts where it is marked
	if self, wrong := os.Executable(); wrong == nil {
		beside := filepath.Join(filepath.Dir(self), "hookcd")
		if info, wrong := os.Stat(beside); wrong == nil && info.Mode().IsRegular() {
			program, err = beside, nil
		}
	}
	if err != nil {
		return exit.Cannot("--config and --listen need hookcd, which is not beside hookc and not in PATH: go -C fleet build -o /usr/local/bin ./cmd/hookcd builds it of hookc's sources")
	}
	err = syscall.Exec(program, append([]string{program}, os.Args[1:]...), os.Environ())
	return exit.Cannot("%s: %v", program, err)
}
