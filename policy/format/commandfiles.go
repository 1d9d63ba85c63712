package format

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// commandFiles says which files in dir a command of a bash hook names, as
// absolute paths, sorted: what trust must cover besides the policy itself.
// opaque is true when the command may run or read a project file that is not
// among them; the user is shown such a command when trusting it.
//
// This is no shell parser (those live in package builtins): it knows quoted
// words, pipes, lists and redirections, and calls everything else opaque. It
// errs only towards more files and towards opaque.
func commandFiles(command, dir string) (files []string, opaque bool) {
	c := commandReader{dir: filepath.Clean(dir), seen: map[string]bool{}}
	opaque = c.read(command, 0)
	for f := range c.seen {
		files = append(files, f)
	}
	slices.Sort(files)
	return files, opaque
}

type commandReader struct {
	dir  string
	seen map[string]bool
}

// read adds the files named in text and reports whether it is opaque. Text
// inside a quoted word is looked at too (`sh -c './x.sh'`), to a bounded
// depth.
func (c *commandReader) read(text string, depth int) (opaque bool) {
	commands, odd := splitCommands(text)
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
		args := slices.DeleteFunc(slices.Clone(words), func(w shellWord) bool { return w.redirect })
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

var assignment = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*=`) })

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
	if slices.Contains(plainBuiltins, program) {
		return true
	}
	base := filepath.Base(program)
	if !slices.Contains(plainPrograms, base) && !slices.Contains(interpreters, base) {
		return false
	}
	at, err := exec.LookPath(program)
	if err != nil || !filepath.IsAbs(at) || c.inside(at) {
		return false
	}
	if slices.Contains(plainPrograms, base) {
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

// shellWord is one word of a command, quotes removed.
type shellWord struct {
	text string
	// expands: the shell replaces part of it by what only it knows. glob: it
	// is a pattern of file names. redirect: it follows < or >.
	expands, glob, redirect bool
}

// splitCommands cuts a text into simple commands and those into words. odd is
// true when the text holds what is not understood: a substitution, a
// subshell, a here-document, an unclosed quote.
func splitCommands(text string) (commands [][]shellWord, odd bool) {
	s := commandSplitter{text: text}
	for s.at < len(s.text) {
		s.step()
	}
	s.endCommand()
	return s.commands, s.odd
}

type commandSplitter struct {
	text     string
	at       int
	commands [][]shellWord
	words    []shellWord
	buf      strings.Builder
	word     shellWord
	inWord   bool
	redirect bool
	odd      bool
}

func (s *commandSplitter) endWord() {
	if !s.inWord {
		return
	}
	s.word.text = s.buf.String()
	s.word.redirect, s.redirect = s.redirect, false
	if s.word.text == "[" || s.word.text == "]" {
		s.word.glob = false
	}
	s.words = append(s.words, s.word)
	s.word, s.inWord = shellWord{}, false
	s.buf.Reset()
}

func (s *commandSplitter) endCommand() {
	s.endWord()
	s.redirect = false
	if len(s.words) > 0 {
		s.commands = append(s.commands, s.words)
	}
	s.words = nil
}

// step reads one character, quoted string or operator.
func (s *commandSplitter) step() {
	b := s.text[s.at]
	s.at++
	switch b {
	case ' ', '\t', '\r':
		s.endWord()
	case '\n', ';', '|':
		s.endCommand()
	case '&', '<', '>':
		s.operator()
	case '(', ')', '`':
		s.odd = true
		s.endCommand()
	case '#':
		if s.inWord {
			s.put(b)
			return
		}
		if i := strings.IndexByte(s.text[s.at:], '\n'); i >= 0 {
			s.at += i
		} else {
			s.at = len(s.text)
		}
	case '\'', '"':
		s.quoted(b)
	case '\\':
		s.escape()
	default:
		s.mark(b)
		s.put(b)
	}
}

// mark notes what an unquoted character makes of its word.
func (s *commandSplitter) mark(b byte) {
	switch b {
	case '$', '{', '}':
		s.word.expands = true
	case '~':
		s.word.expands = s.word.expands || !s.inWord
	case '*', '?', '[':
		s.word.glob = true
	}
}

func (s *commandSplitter) put(b byte) {
	s.inWord = true
	s.buf.WriteByte(b)
}

// escape reads what follows a backslash outside quotes; one before a line
// break joins the lines.
func (s *commandSplitter) escape() {
	if s.at == len(s.text) {
		s.odd = true
		return
	}
	if b := s.text[s.at]; b != '\n' {
		s.put(b)
	}
	s.at++
}

// operator reads a run of &, < and >: a redirection when it holds < or >,
// else the end of a command.
func (s *commandSplitter) operator() {
	start := s.at - 1
	for s.at < len(s.text) && strings.IndexByte("&<>|", s.text[s.at]) >= 0 {
		s.at++
	}
	run := s.text[start:s.at]
	s.odd = s.odd || strings.Contains(run, "<<")
	if !strings.ContainsAny(run, "<>") {
		s.endCommand()
		return
	}
	s.endWord()
	s.redirect = true
}

// quoted reads up to the closing quote.
func (s *commandSplitter) quoted(quote byte) {
	s.inWord = true
	for s.at < len(s.text) {
		b := s.text[s.at]
		s.at++
		switch {
		case b == quote:
			return
		case quote == '\'':
		case b == '\\' && s.at < len(s.text) && strings.IndexByte("$`\"\\\n", s.text[s.at]) >= 0:
			b = s.text[s.at]
			s.at++
		case b == '$' || b == '`':
			s.word.expands = true
		}
		s.buf.WriteByte(b)
	}
	s.odd = true
}
