// Package release says which hookc this is: its version, what it was built of, and
// the formats that it reads and writes.
package release

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/hookc/hookc/internal/wire"
	"github.com/hookc/hookc/policy/artifact"
	"github.com/hookc/hookc/policy/source"
	"github.com/hookc/hookc/policy/state"
)

// Version is what `hookc version --json` prints. Commit and Date are empty and
// Dirty false in a build without version control.
type Version struct {
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

// Current is that of this program.
func Current() Version {
	v := Version{Version: "devel", Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH,
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

// Line is the version in a line.
func (v Version) Line() string {
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
