package commandline

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/hookc/hookc/internal/lazy"
	"github.com/hookc/hookc/internal/lists"
)

// Files says which files in dir a command of a bash hook names, as
// absolute paths, sorted: what trust must cover besides the policy itself.
// opaque is true when the command may run or read a project file that is not
// among them; the user is shown such a command when trusting it.
//
// This is no shell parser (those live in package builtins): it knows quoted
// words, pipes, lists and redirections, and calls everything else opaque. It
// errs only towards more files and towards opaque.
func Files(command, dir string) (files []string, opaque bool) {
	c := commandReader{dir: filepath.Clean(dir), seen: map[string]bool{}}
	opaque = c.read(command, 0)
	return append(files, lists.Keys(c.seen)...), opaque
}

type commandReader struct {
	dir  string
	seen map[string]bool
}

// read adds the files named in text and reports whether it is opaque. Text
// inside a quoted word is looked at too (`sh -c './x.sh'`), to a bounded
// depth.
func (c *commandReader) read(text string, depth int) (opaque bool) {
	commands, _, odd := split(text)
	for _, words := range commands {
		listed := make([]bool, len(words))
		for i, w := range words {
			found, doubt := c.add(w)
			listed[i] = found
			odd = odd || doubt
			if !found && depth < 3 && strings.ContainsAny(w.text, " \t\n;|&<>()\"'`=@") {
				c.read(strings.NewReplacer("=", " ", "@", " ").Replace(w.text), depth+1)
			}
		}
		args := lists.Without(words, func(w *shellWord) bool { return w.redirect })
		if len(args) > 0 && !c.resolved(args, listed[slices.Index(words, args[0])]) {
			odd = true
		}
	}
	return odd
}

// add records the files a word names, and reports whether it names one and
// whether it leaves a doubt: a folder may be run or read in any part, a glob
// or a path that does not exist yet may name another file tomorrow.
func (c *commandReader) add(w shellWord) (found, doubt bool) {
	text := w.text
	if i := strings.IndexByte(text, '/'); i > 0 && w.expands && text[0] == '$' {
		text = text[i+1:] // "$CLAUDE_PROJECT_DIR"/hooks/x.sh
	}
	if w.glob {
		matches, _ := filepath.Glob(filepath.Join(c.dir, text)) // a malformed pattern matches nothing
		for _, m := range matches {
			c.file(m)
		}
		return false, true
	}
	path := text
	if !filepath.IsAbs(path) {
		path = filepath.Join(c.dir, path)
	}
	folder, found := c.file(path)
	named := strings.HasPrefix(text, "./") || strings.HasPrefix(text, "../")
	return found, folder || w.expands || named && !found
}

// file records a path that exists below dir.
func (c *commandReader) file(path string) (folder, found bool) {
	path = filepath.Clean(path)
	if !c.inside(path) {
		return false, false
	}
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return false, false
	case info.IsDir():
		return true, false
	}
	c.seen[path] = true
	return false, true
}

func (c *commandReader) inside(path string) bool {
	rel, err := filepath.Rel(c.dir, path)
	return err == nil && filepath.IsLocal(rel)
}

var assignment = lazy.Value(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*=`) })

// Programs that read nothing of a project but what their arguments name. All
// others may (make reads a Makefile, npm a package.json, git its hooks), so
// the list is short on purpose.
var plainPrograms = []string{"[", "basename", "cat", "cut", "date", "dirname", "egrep", "fgrep", "grep", "head",
	"jq", "logger", "mkdir", "notify-send", "sleep", "sort", "tail", "tee", "touch", "tr", "uniq", "wc"}

// plainBuiltins are the shell's own commands of which the same is true.
var plainBuiltins = []string{":", "echo", "exit", "false", "printf", "test", "true"}

// interpreters run the file that is their first argument; with an option
// before it (-c, -m, -e) they may run anything.
var interpreters = []string{"bash", "dash", "ksh", "node", "perl", "php", "python", "python3", "ruby", "sh", "zsh"}

// resolved reports whether what a simple command runs is known: a listed
// file, an interpreter of one, or a plain program of the system.
func (c *commandReader) resolved(args []shellWord, listed bool) bool {
	program := args[0].text
	if assignment().MatchString(program) {
		return false // PATH=, BASH_ENV=, NODE_OPTIONS= change what runs
	}
	if strings.ContainsAny(program, `/\`) && listed {
		return true
	}
	if lists.Has(plainBuiltins, program) {
		return true
	}
	base := filepath.Base(program)
	if !lists.Has(plainPrograms, base) && !lists.Has(interpreters, base) {
		return false
	}
	at, err := exec.LookPath(program)
	if err != nil || !filepath.IsAbs(at) || c.inside(at) {
		return false
	}
	if lists.Has(plainPrograms, base) {
		return true
	}
	if len(args) < 2 || args[1].expands || args[1].glob {
		return false
	}
	script := args[1].text
	if !filepath.IsAbs(script) {
		script = filepath.Join(c.dir, script)
	}
	return c.seen[filepath.Clean(script)]
}
