package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hookc/hookc/internal/release"
	"github.com/hookc/hookc/internal/starter"
)

// initTeam writes what a team's repository has besides a policy. What is there
// stays: a repository often has its own.
func initTeam(out io.Writer, dir string) error {
	named := release.Current().Version
	if named == "devel" || strings.ContainsAny(named, "-+") { // no release
		named = ""
	}
	for _, f := range starter.Team(named) {
		path := filepath.Join(dir, filepath.FromSlash(f.Path))
		if _, err := os.Lstat(path); err == nil {
			fmt.Fprintf(out, "%s exists; it is left as it is. It would have:\n\n%s\n", path, f.Text)
			continue
		}
		if err := writeNew(path, f.Text); err != nil {
			return err
		}
		fmt.Fprintf(out, "wrote %s\n", path)
	}
	return nil
}

func newInit() *cobra.Command {
	var user, team bool
	cmd := &cobra.Command{
		Use:   "init [DIR]",
		Short: "Write a first policy",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			path, err := initPath(args, user)
			if err != nil {
				return err
			}
			if err := writeNew(path, starter.Policy); err != nil {
				return err
			}
			fmt.Fprintf(cmd.OutOrStdout(), "wrote %s\n", path)
			if team {
				if err := initTeam(cmd.OutOrStdout(), filepath.Dir(filepath.Dir(path))); err != nil {
					return err
				}
			}
			if !user {
				fmt.Fprintf(cmd.OutOrStdout(), "next: %s, then hookc install AGENT (hookc list dialect has the agents)\n", strings.Join(append([]string{"hookc trust"}, args...), " "))
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&user, "user", false, "the user's policy instead of the project's")
	cmd.Flags().BoolVar(&team, "team", false, "the project's tests, pre-commit and CI as well")
	cmd.MarkFlagsMutuallyExclusive("user", "team")
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
