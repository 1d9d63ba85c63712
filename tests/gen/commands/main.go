// Command commands prints what .ci/run runs, from where it is written: the
// README's numbered commands, and every fuzz target as `package Target`.
package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

func main() {
	if len(os.Args) != 2 {
		fail("usage: commands N | fuzz")
	}
	if os.Args[1] == "fuzz" {
		fuzzTargets()
		return
	}
	n, err := strconv.Atoi(os.Args[1])
	if err != nil {
		fail(err.Error())
	}
	readmeCommand(n)
}

func fail(text string) {
	fmt.Fprintln(os.Stderr, text)
	os.Exit(1)
}

// readmeCommand prints the n-th shell block under "## Two commands".
func readmeCommand(n int) {
	text, err := os.ReadFile("README.md")
	if err != nil {
		fail(err.Error())
	}
	_, section, ok := strings.Cut(string(text), "## Two commands")
	if !ok {
		fail("README.md has no section \"Two commands\"")
	}
	blocks := strings.Split(section, "```sh\n")
	if n < 1 || n >= len(blocks) {
		fail("README.md has no such command")
	}
	command, _, _ := strings.Cut(blocks[n], "```")
	fmt.Print(command)
}

var fuzzFunc = regexp.MustCompile(`(?m)^func (Fuzz\w+)\(`)

func fuzzTargets() {
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, m := range fuzzFunc.FindAllStringSubmatch(string(text), -1) {
			fmt.Printf("./%s %s\n", filepath.ToSlash(filepath.Dir(path)), m[1])
		}
		return nil
	})
	if err != nil {
		fail(err.Error())
	}
}
