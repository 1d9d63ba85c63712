package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/hookc/hookc/internal/wire"
	"github.com/hookc/hookc/policy/artifact"
	"github.com/hookc/hookc/policy/source"
	"github.com/hookc/hookc/policy/state"
)

// versionJSON is what `version --json` prints. Commit and Date are empty and
// Dirty false in a build without version control.
type versionJSON struct {
	Version string `json:"version"`
	Commit  string `json:"commit"`
	// Date is when the commit was made, so that it is the same for every build of it.
	Date  string `json:"date"`
	Dirty bool   `json:"dirty"`
	Go    string `json:"go"`
	OS    string `json:"os"`
	Arch  string `json:"arch"`
	OPA   string `json:"opa"`
	Expr  string `json:"expr"`
	// The formats that docs/upgrade.md speaks of.
	ArtifactFormat int `json:"artifact_format"`
	WireFormat     int `json:"wire_format"`
	StateFormat    int `json:"state_format"`
	PolicySchema   int `json:"policy_schema"`
}

func version() versionJSON {
	v := versionJSON{Version: "devel", Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH,
		ArtifactFormat: artifact.Version, WireFormat: wire.Version, StateFormat: state.Version, PolicySchema: source.Version}
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
			v.Commit = s.Value
		case "vcs.time":
			v.Date = s.Value
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
	commit := "no commit"
	if v.Commit != "" {
		commit = "commit " + v.Commit + " of " + v.Date
	}
	if v.Dirty {
		commit += " and changes"
	}
	return fmt.Sprintf("hookc %s (%s, %s, %s/%s) with OPA %s and expr %s, artifact format %d",
		v.Version, commit, v.Go, v.OS, v.Arch, v.OPA, v.Expr, v.ArtifactFormat)
}

func newVersion() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "version",
		Short:   "Print the version of hookc, its commit, its rule engines and its formats",
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
