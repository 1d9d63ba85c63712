package main

import (
	"os"
	"path/filepath"
	"time"

	"github.com/hookc/hookc/policy/agent"
	"github.com/hookc/hookc/policy/artifact"
	"github.com/hookc/hookc/policy/source"
	"github.com/hookc/hookc/policy/source/commandline"
)

// What an agent waits longer than the deadline of its hook: hookgate needs next
// to nothing of it, hookc run has to start first.
const (
	gateMargin = time.Second
	runMargin  = 2 * time.Second
)

// below is a deadline for a hook that an agent waits for.
func below(waits, margin time.Duration) string { return max(waits-margin, waits/2).String() }

// gateProgram is the hookgate beside hookc.
func gateProgram(hookc string) (string, error) {
	path := filepath.Join(filepath.Dir(hookc), "hookgate"+filepath.Ext(hookc))
	if info, err := os.Stat(path); err != nil || info.IsDir() {
		return "", cannot("--gate needs hookgate beside hookc: there is no %s (go build -o %s ./cmd/hookgate)", path, path)
	}
	return path, nil
}

// gateLine is the command that asks the resident server for an event, for an
// agent that waits for a time. A compiled policy is one that hookgate reads too.
func (s *sources) gateLine(program, native string, d *agent.Agent, waits time.Duration) (string, error) {
	flag := " -f "
	if len(s.Files) == 1 && artifact.Named(s.Files[0]) {
		flag = " --artifact "
	}
	return s.withFiles(commandline.Quote(program)+" "+native+" --dialect "+d.ID+" --deadline "+below(waits, gateMargin)+" --start", flag)
}

// commandLine is the hook's command for an event, for an agent that waits for a
// time.
func (s *sources) commandLine(program, native string, d *agent.Agent, waits time.Duration) (string, error) {
	return s.withFiles(commandline.Quote(program)+" run "+native+" --dialect "+d.ID+" --deadline "+below(waits, runMargin), " -f ")
}

// withFiles adds the policy that was named to a command, by a flag.
func (s *sources) withFiles(line, flag string) (string, error) {
	for _, value := range s.Files {
		in, err := source.ParseInput(value)
		if err != nil {
			return "", cannot("%v", err)
		}
		abs, err := filepath.Abs(in.Path)
		if err != nil {
			return "", cannot("%v", err)
		}
		line += flag + commandline.Quote(value[:len(value)-len(in.Path)]+abs)
	}
	if user := source.UserPolicy(); user != "" && len(s.Files) == 0 {
		line += " --user-policy " + commandline.Quote(user)
	}
	if s.Format != "" {
		line += " --format " + commandline.Quote(s.Format)
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
