// Command commands prints what .ci/run runs, from where it is written: the
// README's numbered commands, and every fuzz target as `package Target`. Of a page
// it prints a script that makes the page's files and runs its commands.
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
		fail("usage: commands N | fuzz | PAGE")
	}
	switch {
	case os.Args[1] == "fuzz":
		fuzzTargets()
		return
	case strings.HasSuffix(os.Args[1], ".md"):
		pageScript(os.Args[1])
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

var (
	pageBlock = regexp.MustCompile("(?s)\n```([a-z]+)\n(.*?)```")
	fileName  = regexp.MustCompile(`^# (\S+)\n`)
)

// pageScript prints a page as a script. It works in a new folder, and prints each
// command before what the command itself prints, as the page does.
func pageScript(page string) {
	text, err := os.ReadFile(page)
	if err != nil {
		fail(err.Error())
	}
	source, err := os.Getwd()
	if err != nil {
		fail(err.Error())
	}
	fmt.Printf("cd \"$(mktemp -d)\" || exit\nHOOKC_SOURCE='%s'\n", source)
	for _, block := range pageBlock.FindAllStringSubmatch(string(text), -1) {
		if file := fileName.FindStringSubmatch(block[2]); file != nil {
			fmt.Printf("mkdir -p \"$(dirname %[1]s)\"\ncat >%[1]s <<'END OF FILE'\n%[2]sEND OF FILE\n", file[1], block[2])
			continue
		}
		for _, session := range strings.Split("\n"+block[2], "\n$ ")[1:] {
			line, _, _ := strings.Cut(session, "\n")
			fmt.Printf("cat <<'END OF LINE'\n$ %[1]s\nEND OF LINE\n{ %[1]s\n} 2>&1 || echo \"[exit $?]\"\n", line)
		}
	}
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
