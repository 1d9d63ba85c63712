//go:build unix

package main

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/hookc/hookc/internal/gate/rules"
	"github.com/hookc/hookc/internal/gate/table"
	"github.com/hookc/hookc/internal/wire"
	"github.com/hookc/hookc/policy/artifact"
)

// freely is how many bytes rules may look at, all together, before the time is
// watched: nothing stops a regular expression.
const freely = 1 << 20

// fromArtifact answers from the compiled policy alone, where that says for
// certain that no hook concerns the event, or holds the rules of all that do; nil
// leaves it to hookc run.
func (c *call) fromArtifact() *wire.Reply {
	if !c.simple() || c.build == "" {
		return nil
	}
	f, err := artifact.Open(c.artifact)
	if err != nil {
		return nil
	}
	defer f.Close()
	if f.MadeBy(c.build, "") != nil {
		return nil
	}
	section, err := f.Section(artifact.Gate)
	if err != nil {
		return nil
	}
	opened, ok := table.Open(section)
	if !ok {
		return nil
	}
	answer, ok := opened.Decide(&table.Asked{Dialect: c.dialect, Event: c.event, Input: c.input, Env: os.Getenv})
	if !ok {
		return nil
	}
	said := &rules.Reply{Stdout: answer.Stdout, Stderr: answer.Stderr, Exit: answer.Exit}
	if n := len(answer.Rules); n > 0 {
		if len(c.input) > freely/n {
			c.limit()
		}
		said = c.byRules(f, answer)
	}
	if said == nil || !c.current(f) || c.left() <= 0 || !noted(answer, said.Ran) {
		return nil
	}
	return &wire.Reply{Stdout: said.Stdout, Stderr: said.Stderr, Exit: said.Exit}
}

// current reports whether the artifact is what its sources compile to now, for a
// command line that says nothing but its name.
func (c *call) current(f *artifact.File) bool {
	conditions, err := f.Conditions()
	if err != nil {
		return false
	}
	for _, flag := range conditions.Flags {
		if flag.Set {
			return false
		}
	}
	return f.Fresh(environ()) == nil
}

// simple reports whether the command line and the environment say nothing that
// hookc run would have to look at.
func (c *call) simple() bool {
	if !artifact.Named(c.artifact) || len(c.rest) != 2 || strings.Contains(c.artifact, "=") { // TIER=PATH
		return false // or hookc run may take the file for another kind
	}
	for _, kv := range environ() {
		name, value, _ := strings.Cut(kv, "=")
		switch {
		case value == "" || name == "HOOKC_TRUST": // which Fresh compares
		case strings.HasPrefix(name, "HOOKC_"):
			return false
		case name == "OPENAI_BASE_URL" || name == "ANTHROPIC_BASE_URL":
			if !plainAddress(value) { // hookc run refuses what is no address
				return false
			}
		}
	}
	return true
}

// plainAddress reports whether text is an address beyond doubt: http or https, a
// host, perhaps a port and a path.
func plainAddress(text string) bool {
	for _, scheme := range []string{"http://", "https://"} {
		rest, ok := strings.CutPrefix(text, scheme)
		if !ok || rest == "" {
			continue
		}
		n := span(rest, ".-")
		if n == 0 {
			return false
		}
		if rest = rest[n:]; rest != "" && rest[0] == ':' {
			rest = strings.TrimLeft(rest[1:], "0123456789")
		}
		return rest == "" || rest[0] == '/' && span(rest, "/.-_") == len(rest)
	}
	return false
}

// span is how many bytes of s are letters, digits or of more.
func span(s, more string) int {
	for i := range len(s) {
		c := s[i]
		if ok := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'; !ok && strings.IndexByte(more, c) < 0 {
			return i
		}
	}
	return len(s)
}

// noted does what hookc run would leave behind beside the answer: it records
// that the agent's hook fires, for doctor, and which hooks ran. It is false where
// hookc run would have more to do, or to say: it keeps the decision log.
func noted(answer *table.Answer, ran []rules.Ran) bool {
	root := answer.Root
	if root == "" || answer.Named {
		cwd := answer.Cwd
		if cwd == "" {
			dir, err := os.Getwd()
			if err != nil {
				return false
			}
			cwd = dir
		}
		at := projectRoot(cwd)
		if at == "" || root != "" && root != at {
			return false
		}
		root = at
	}
	dir := stateDir(root)
	if dir == "" || exists(filepath.Dir(dir)+"/log.json") || answer.Counted && exists(dir+"/gates.json") {
		return false
	}
	return counted(dir, string(answer.Event), ran) && mark(dir+"/"+table.Marker+string(answer.Agent)+"."+string(answer.Native))
}

// projectRoot is policy.ProjectRoot of a folder that is written plainly; "" for
// any other.
func projectRoot(dir string) string {
	if !clean(dir) {
		return ""
	}
	for d := dir; ; {
		base := d
		if base == "/" {
			base = ""
		}
		if exists(base+"/.git") || exists(base+"/.hookc") {
			return d
		}
		if d == "/" {
			return dir
		}
		d = filepath.Dir(d)
	}
}

func exists(path string) bool {
	var st syscall.Stat_t
	return syscall.Lstat(path, &st) == nil
}

// clean reports whether a path is absolute and as filepath.Clean leaves it.
func clean(path string) bool { return filepath.IsAbs(path) && filepath.Clean(path) == path }

// stateDir is the state folder of a project, as package policy/state has it; ""
// when it is not there yet, or not as it must be, or the project is reached
// through a symbolic link.
func stateDir(root string) string {
	if !clean(root) {
		return ""
	}
	var st syscall.Stat_t
	for d := root; d != "/"; d = filepath.Dir(d) {
		if syscall.Lstat(d, &st) != nil || st.Mode&syscall.S_IFMT == syscall.S_IFLNK {
			return ""
		}
	}
	home := stateHome()
	if home == "" {
		return ""
	}
	dir := home + "/hookc"
	for _, d := range []string{dir, dir + "/" + table.Leaf(root)} {
		if syscall.Lstat(d, &st) != nil || st.Mode&syscall.S_IFMT != syscall.S_IFDIR || !mine(st.Uid) {
			return ""
		}
		dir = d
	}
	return dir
}

// mine reports whether a file is this user's, or root's, who could change it
// anyway.
func mine(uid uint32) bool { return uid == 0 || int(uid) == os.Geteuid() }

// mark notes in the time of a file that the agent's event came; false when that
// cannot be done.
func mark(path string) bool {
	if info, err := os.Lstat(path); err == nil {
		if ago := time.Since(info.ModTime()); ago >= 0 && ago < table.MarkEvery*time.Second {
			return true
		}
	}
	var st syscall.Stat_t
	fd, err := syscall.Open(path, syscall.O_CREAT|syscall.O_WRONLY|syscall.O_NOFOLLOW|syscall.O_CLOEXEC|syscall.O_NONBLOCK, 0o600)
	if err != nil {
		return false
	}
	defer syscall.Close(fd)
	if syscall.Fstat(fd, &st) != nil || st.Mode&syscall.S_IFMT != syscall.S_IFREG || !mine(st.Uid) {
		return false
	}
	n, err := syscall.Write(fd, []byte{'\n'})
	return n == 1 && err == nil
}

// stateHome is where the user's state is kept, "" where that is not beyond
// doubt.
func stateHome() string {
	if dir := os.Getenv("XDG_STATE_HOME"); dir != "" && dir[0] == '/' {
		if !clean(dir) {
			return ""
		}
		return dir
	}
	home := os.Getenv("HOME")
	switch {
	case !clean(home) || home == "/":
		return ""
	case runtime.GOOS == "darwin":
		return home + "/Library/Application Support"
	}
	return home + "/.local/state"
}
