// Package starter has the files that a project begins with.
package starter

import (
	"cmp"
	_ "embed"
	"strings"
)

// Policy is a first policy: useful as it stands.
//
//go:embed policy.yaml
var Policy string

//go:embed cases.yaml
var cases string

// File is one file, at a path of a repository with slashes.
type File struct{ Path, Text string }

// Team is what a team's repository has besides a policy. It names a release of hookc;
// without one, "", the branch that releases are made of.
func Team(release string) []File {
	fill := strings.NewReplacer("RELEASE", cmp.Or(release, "main"))
	return []File{{".hookc/hooks_test.yaml", cases}, {".pre-commit-config.yaml", fill.Replace(preCommit)},
		{".github/workflows/hookc.yml", fill.Replace(workflow)}, {".gitignore", "/hookc-review/\n"}}
}

const preCommit = `repos:
  - repo: https://github.com/hookc/hookc
    rev: RELEASE
    hooks: [{id: hookc-fmt}, {id: hookc-check}, {id: hookc-test}]
`

const workflow = `# Checks the policy, runs its tests with coverage, and fails where a change loosens it.
name: hookc
on:
  pull_request:
  push: {branches: [main]}
permissions: {contents: read, security-events: write}
jobs:
  review:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      - id: hookc
        uses: hookc/hookc@RELEASE
        with: {coverage-min: 100}
      - if: always() && steps.hookc.outputs.sarif
        uses: github/codeql-action/upload-sarif@v3
        with: {sarif_file: "${{ steps.hookc.outputs.sarif }}"}
`
