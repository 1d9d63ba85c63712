package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

// shells are those that hookc completes for, with the names of their files.
var shells = map[string]string{"bash": "hookc.bash", "zsh": "_hookc", "fish": "hookc.fish", "powershell": "hookc.ps1"}

// pages writes what hookc itself says of its commands: as man pages and as
// completions. No library for pages is linked into hookc for it.
func pages(dir string) error {
	temp, err := os.MkdirTemp("", "hookc-pages-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	program := filepath.Join(temp, "hookc")
	build := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-o", program, "./cmd/hookc")
	build.Env = append(os.Environ(), "GOOS=", "GOARCH=") // it runs here
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	for _, sub := range []string{"completions", "man"} {
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o755); err != nil {
			return err
		}
	}
	for shell, file := range shells {
		text, err := exec.Command(program, "completion", shell).Output()
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, "completions", file), text, 0o644)
		}
		if err != nil {
			return fmt.Errorf("completion of %s: %w", shell, err)
		}
	}
	return manPages(program, dir, nil)
}

var listed = regexp.MustCompile(`(?m)^  ([a-z][a-z-]*) +(\S.*)$`)

// manPages writes the page of a command and of those below it.
func manPages(program, dir string, command []string) error {
	help, err := exec.Command(program, append(append([]string{}, command...), "--help")...).Output()
	if err != nil {
		return fmt.Errorf("hookc %s --help: %w", strings.Join(command, " "), err)
	}
	name := strings.Join(append([]string{"hookc"}, command...), "-")
	page, below := manPage(name, string(help))
	if err := os.WriteFile(filepath.Join(dir, "man", name+".1"), page, 0o644); err != nil {
		return err
	}
	for _, sub := range below {
		if err := manPages(program, dir, append(append([]string{}, command...), sub)); err != nil {
			return err
		}
	}
	return nil
}

// manPage makes a page of a help text, and names the commands below.
func manPage(name, help string) (page []byte, below []string) {
	about, rest, _ := strings.Cut(help, "\nUsage:\n")
	first, _, _ := strings.Cut(strings.TrimSpace(about), "\n")
	var b bytes.Buffer
	fmt.Fprintf(&b, ".TH %s 1 \"\" \"hookc\" \"hookc's commands\"\n.SH NAME\n%s \\- %s\n", strings.ToUpper(roff(name)), roff(name), roff(first))
	section(&b, "DESCRIPTION", about)
	for i, part := range strings.Split("Usage:\n"+rest, "\n\n") {
		title, text, ok := strings.Cut(part, ":\n")
		if i > 0 && !ok || strings.Contains(title, "\n") {
			section(&b, "", part)
			continue
		}
		if title == "Available Commands" {
			for _, m := range listed.FindAllStringSubmatch(text, -1) {
				if m[1] != "help" && m[1] != "completion" {
					below = append(below, m[1])
				}
			}
		}
		section(&b, strings.ToUpper(title), text)
	}
	return b.Bytes(), below
}

// section is a text as it is laid out, under a heading.
func section(b *bytes.Buffer, title, text string) {
	if title != "" {
		fmt.Fprintf(b, ".SH %s\n", title)
	}
	fmt.Fprintf(b, ".nf\n%s\n.fi\n", roff(strings.Trim(text, "\n")))
}

// roff is a text that roff shows as it is.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(text)
	return regexp.MustCompile(`(?m)^([.'])`).ReplaceAllString(text, `\&$1`)
}
