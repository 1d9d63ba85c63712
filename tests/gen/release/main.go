// Command release makes what a release holds beside the programs:
//
//	release pages DIR              completions and man pages
//	release sbom PROGRAM FILE      what a program is built of, as CycloneDX JSON
//	release npm DIST DIR           the packages for npm, of what goreleaser left in DIST
//	release formula DIST FILE      the formula for Homebrew, of the same
//
// The same sources make the same files.
package main

import (
	"fmt"
	"os"
)

func main() {
	args := os.Args[1:]
	var err error
	switch {
	case len(args) == 2 && args[0] == "pages":
		err = pages(args[1])
	case len(args) == 3 && args[0] == "sbom":
		err = sbom(args[1], args[2])
	case len(args) == 3 && args[0] == "npm":
		err = npm(args[1], args[2])
	case len(args) == 3 && args[0] == "formula":
		err = formula(args[1], args[2])
	default:
		err = fmt.Errorf("usage: release pages DIR | sbom PROGRAM FILE | npm DIST DIR | formula DIST FILE")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}
