package main

import (
	"os"
	"path/filepath"

	"github.com/hookc/hookc/policy/dialect"
	"github.com/hookc/hookc/policy/format"
)

// commandLine is the hook's command for an event.
func (s *sources) commandLine(program, native string, d *dialect.Dialect) (string, error) {
	line := dialect.ShellQuote(program) + " run " + native + " --dialect " + d.ID
	for _, value := range s.files {
		in, err := format.ParseInput(value)
		if err != nil {
			return "", cannot("%v", err)
		}
		abs, err := filepath.Abs(in.Path)
		if err != nil {
			return "", cannot("%v", err)
		}
		line += " -f " + dialect.ShellQuote(value[:len(value)-len(in.Path)]+abs)
	}
	if s.format != "" {
		line += " --format " + dialect.ShellQuote(s.format)
	}
	return line, nil
}

// thisProgram is the path of hookc that settings can name for good.
func thisProgram() (string, error) {
	path, err := os.Executable()
	if err == nil {
		path, err = filepath.EvalSymlinks(path)
	}
	if err != nil {
		return "", cannot("where hookc lies cannot be found: %v", err)
	}
	for dir := filepath.Dir(path); dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if ok, _ := filepath.Match("go-build*", filepath.Base(dir)); ok {
			return "", cannot("%s is a temporary program of `go run`: build hookc first (go build -o hookc ./cmd/hookc)", path)
		}
	}
	return path, nil
}
