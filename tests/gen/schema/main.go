// Command schema writes the reference pages that are derived from code:
// docs/reference/schema.md and docs/reference/diagnostics.md. Run it in the root of the repository.
package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
)

// pages are the files and the flag of `hookc schema` that prints each.
var pages = []struct{ path, flag string }{
	{"docs/reference/schema.md", "--markdown"},
	{"docs/reference/diagnostics.md", "--codes"},
}

func main() {
	for _, p := range pages {
		if err := generate(p.path, p.flag); err != nil {
			fmt.Fprintf(os.Stderr, "schema: %s: %v\n", p.path, err)
			os.Exit(1)
		}
	}
}

// generate asks the command itself: only it links everything that registers a
// code.
func generate(path, flag string) error {
	cmd := exec.Command("go", "run", "./cmd/hookc", "schema", flag)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, os.Stderr
	if err := cmd.Run(); err != nil {
		return err
	}
	return os.WriteFile(path, out.Bytes(), 0o644)
}
