package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// versionJSON is what `version --json` prints. Revision is empty and Dirty
// false in a build without version control.
type versionJSON struct {
	Version  string `json:"version"`
	Revision string `json:"revision"`
	Dirty    bool   `json:"dirty"`
	Go       string `json:"go"`
	OS       string `json:"os"`
	Arch     string `json:"arch"`
	OPA      string `json:"opa"`
	Expr     string `json:"expr"`
}

func version() versionJSON {
	v := versionJSON{Version: "devel", Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH}
	build, ok := debug.ReadBuildInfo()
	if !ok {
		return v
	}
	if build.Main.Version != "" && build.Main.Version != "(devel)" {
		v.Version = build.Main.Version
	}
	for _, s := range build.Settings {
		switch s.Key {
		case "vcs.revision":
			v.Revision = s.Value
		case "vcs.modified":
			v.Dirty = s.Value == "true"
		}
	}
	for _, d := range build.Deps {
		switch d.Path {
		case "github.com/open-policy-agent/opa":
			v.OPA = d.Version
		case "github.com/expr-lang/expr":
			v.Expr = d.Version
		}
	}
	return v
}

// line is the version in a line.
func (v versionJSON) line() string {
	return fmt.Sprintf("hookc %s (%s, %s/%s) with OPA %s and expr %s", v.Version, v.Go, v.OS, v.Arch, v.OPA, v.Expr)
}

func newVersion() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "version",
		Short:   "Print the version of hookc and of its rule engines",
		Example: "  hookc version --json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			v := version()
			if asJSON {
				return writeJSON(cmd.OutOrStdout(), v)
			}
			fmt.Fprintln(cmd.OutOrStdout(), v.line())
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "as JSON")
	return cmd
}
