package main

import (
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
)

// starter is the policy that init writes: useful as it stands.
//
//go:embed starter.yaml
var starter string

func newInit() *cobra.Command {
	var user bool
	cmd := &cobra.Command{
		Use:   "init [DIR]",
		Short: "Write a first policy",
		Long: `init writes .hookc/hooks.yaml in the project (or the user's own hooks.yaml with
--user): a policy that is useful as it stands, commented. An existing file is
never touched.`,
		Example: `  hookc init && hookc trust && hookc compile --explain
  hookc init --user`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			path, err := initPath(args, user)
			if err != nil {
				return err
			}
			if err := writeNew(path, starter); err != nil {
				return err
			}
			fmt.Fprintf(cmd.OutOrStdout(), "wrote %s\n", path)
			if !user {
				fmt.Fprintf(cmd.OutOrStdout(), "next: %s, then hookc compile --explain\n", strings.Join(append([]string{"hookc trust"}, args...), " "))
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&user, "user", false, "the user's policy instead of the project's")
	return cmd
}

func initPath(args []string, user bool) (string, error) {
	if !user {
		dir := "."
		if len(args) == 1 {
			dir = args[0]
		}
		return filepath.Join(dir, ".hookc", "hooks.yaml"), nil
	}
	if base := os.Getenv("XDG_CONFIG_HOME"); base != "" {
		return filepath.Join(base, "hookc", "hooks.yaml"), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", cannot("%v", err)
	}
	return filepath.Join(home, ".config", "hookc", "hooks.yaml"), nil
}

// writeNew writes a file that must not exist yet.
func writeNew(path, content string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return cannot("%v", err)
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".hookc-*")
	if err != nil {
		return cannot("%v", err)
	}
	defer os.Remove(f.Name())
	_, err = f.WriteString(content)
	if err := errors.Join(err, f.Chmod(0o644), f.Close()); err != nil {
		return cannot("%v", err)
	}
	err = os.Link(f.Name(), path) // whole at once, and never in the place of another
	if errors.Is(err, fs.ErrExist) {
		return cannot("%s exists; it is left as it is", path)
	}
	if err != nil {
		return cannot("%v", err)
	}
	return nil
}
