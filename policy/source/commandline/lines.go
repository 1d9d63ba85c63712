package commandline

import (
	"os"
	"path/filepath"
	"regexp"
	"sort"
	"strings"

	"github.com/hookc/hookc/internal/lazy"
	"github.com/hookc/hookc/internal/lists"
)

// Place is where the programs and scripts of a command are found
// (semantics.md §2.8): not in the folder that an event is in, which anybody
// may fill.
type Place struct {
	// Dir is the folder they are found in, live; Policy that of the policy file;
	// Root the project's, "" if there is none.
	Dir, Policy, Root string
	// Kept is where the copy of a live path lies that decides in its place, ""
	// if there is none; nil is no copy at all.
	Kept func(live string) string
}

// Line is a command with its programs and scripts found.
type Line struct {
	// Live is the text with the project's own files, Kept with the copies.
	Live, Kept string
	// Scripts are the live paths of the programs and scripts.
	Scripts []string
	// Unsure is set when what runs depends on the folder of the event.
	Unsure bool
}

// Find resolves the programs of a command, and the scripts that
// interpreters are given.
func Find(command string, at Place) Line {
	f := &commandFinder{at: at, text: command}
	f.read(0, len(command), at.Dir, 0)
	return Line{Live: apply(command, f.live), Kept: apply(command, f.keep), Scripts: f.scripts, Unsure: f.unsure}
}

type commandEdit struct {
	start, end int
	text       string
}

type commandFinder struct {
	at         Place
	text       string
	live, keep []commandEdit
	scripts    []string
	unsure     bool
}

// apply replaces parts of a text; of two that overlap the first stays.
func apply(text string, edits []commandEdit) string {
	sort.SliceStable(edits, func(i, j int) bool { return edits[i].start < edits[j].start })
	var b strings.Builder
	done := 0
	for _, e := range edits {
		if e.start < done {
			continue
		}
		b.WriteString(text[done:e.start])
		b.WriteString(e.text)
		done = e.end
	}
	return b.String() + text[done:]
}

// read resolves the commands in a part of the text, begun in dir.
func (f *commandFinder) read(from, to int, dir string, depth int) {
	if depth > 8 {
		f.unsure = true
		return
	}
	commands, inner, _ := split(f.text[from:to])
	for _, part := range inner {
		f.read(from+part[0], from+part[1], dir, depth+1)
	}
	for _, words := range commands {
		for i := range words {
			words[i].start, words[i].end = words[i].start+from, words[i].end+from
		}
		dir = f.command(words, dir, depth)
	}
}

// before are words that another command follows.
var before = []string{"!", "{", "builtin", "command", "do", "elif", "else", "env", "eval", "exec", "if", "nice", "nohup", "setsid",
	"stdbuf", "sudo", "then", "time", "timeout", "until", "while", "xargs"}

// waited is an argument of such a word: the seconds of timeout.
var waited = lazy.Value(func() *regexp.Regexp { return regexp.MustCompile(`^[0-9][0-9.]*[smhd]?$`) })

// command resolves one simple command and is the folder the next one is in.
func (f *commandFinder) command(words []shellWord, dir string, depth int) string {
	for i := range words {
		if words[i].redirect && strings.HasPrefix(words[i].operator, "<") && words[i].operator == "<" {
			f.argument(words[i], dir)
		}
	}
	args := lists.Without(words, func(w *shellWord) bool { return w.redirect })
	wrapped := false
	for len(args) > 0 {
		word := args[0].text
		switch {
		case assignment().MatchString(word):
		case lists.Has(before, filepath.Base(word)) && !strings.HasPrefix(word, "."):
			wrapped = true
		case wrapped && (strings.HasPrefix(word, "-") || waited().MatchString(word)):
		default:
			return f.program(args, dir, depth)
		}
		args = args[1:]
	}
	return dir
}

func (f *commandFinder) program(args []shellWord, dir string, depth int) string {
	program := args[0]
	switch base := filepath.Base(program.text); {
	case program.text == "cd":
		return f.enter(args, dir)
	case program.text == "." || program.text == "source":
		if len(args) > 1 {
			f.script(args[1], dir)
		}
	case isInterpreter(base):
		if strings.Contains(program.text, "/") {
			f.script(program, dir)
		}
		f.interpreted(base, args[1:], dir, depth)
	case strings.Contains(program.text, "/"):
		f.script(program, dir)
		f.arguments(args[1:], dir)
	default:
		f.arguments(args[1:], dir)
	}
	return dir
}

// versioned is the number at the end of an interpreter's name: python3.12.
var versioned = lazy.Value(func() *regexp.Regexp { return regexp.MustCompile(`[0-9.]*$`) })

func isInterpreter(base string) bool {
	return lists.Has(interpreters, versioned().ReplaceAllString(base, "")) || lists.Has([]string{"awk", "gawk", "mawk", "bun", "deno", "tsx", "ts-node", "lua", "jq", "sed"}, base)
}

// enter is the folder after `cd`: a relative one is found like a program.
func (f *commandFinder) enter(args []shellWord, dir string) string {
	if len(args) < 2 || dir == "" {
		f.unsure = true
		return ""
	}
	path, ok := f.path(args[1], dir)
	if !ok {
		f.unsure = f.unsure || len(args[1].text) > 0
		return ""
	}
	if !filepath.IsAbs(args[1].text) {
		f.edit(args[1], path, false)
	}
	return path
}

// takesValue are options of interpreters that another word belongs to;
// runsFile those whose word is a script; inline those whose word is a program's
// text.
var (
	takesValue = []string{"-o", "-O", "+o", "+O", "--rcfile", "--init-file", "-W", "-X", "-I", "-L", "-S", "--arg", "--argjson", "-v", "-F"}
	runsFile   = []string{"-f", "--file", "--from-file", "-r", "--require", "--import", "--loader", "--experimental-loader"}
)

func (f *commandFinder) interpreted(base string, args []shellWord, dir string, depth int) {
	noScript := lists.Has([]string{"awk", "gawk", "mawk", "jq", "sed"}, base)
	shell := lists.Has([]string{"bash", "dash", "ksh", "sh", "zsh"}, base)
	for i := 0; i < len(args); i++ {
		text := args[i].text
		switch {
		case lists.Has(runsFile, text) && i+1 < len(args):
			if base != "jq" || text != "-r" {
				i++
				f.module(args[i], dir)
			}
		case lists.Has(takesValue, text) && i+1 < len(args):
			i++
		case shell && len(text) > 1 && text[0] == '-' && text[1] != '-' && strings.HasSuffix(text, "c"):
			if i+1 < len(args) {
				f.inline(args[i+1], dir, depth)
			}
			return
		case base != "" && lists.Has([]string{"-c", "-e", "-m", "-p", "--eval", "--print", "-"}, text) && !shell:
			f.unsure = f.unsure || text == "-m"
			f.arguments(args[i+1:], dir)
			return
		case strings.HasPrefix(text, "-") || strings.HasPrefix(text, "+"):
		case lists.Has([]string{"run", "test"}, text) && (base == "bun" || base == "deno"):
		case noScript:
			f.arguments(args[i:], dir)
			return
		default:
			f.script(args[i], dir)
			f.arguments(args[i+1:], dir)
			return
		}
	}
}

// module is a script that an option names; a bare name may be one that is
// installed.
func (f *commandFinder) module(w shellWord, dir string) {
	if path, ok := f.path(w, dir); ok && (strings.Contains(w.text, "/") || f.there(path)) {
		f.script(w, dir)
	}
}

// inline resolves the commands of `sh -c TEXT`.
func (f *commandFinder) inline(w shellWord, dir string, depth int) {
	if !w.quotes && !w.expands {
		f.read(w.start, w.end, dir, depth+1)
		return
	}
	if w.expands {
		f.unsure = true
		return
	}
	inner := Find(w.text, Place{dir, f.at.Policy, f.at.Root, f.at.Kept})
	f.scripts, f.unsure = append(f.scripts, inner.Scripts...), f.unsure || inner.Unsure
	if inner.Live != w.text {
		f.live = append(f.live, commandEdit{w.start, w.end, Quote(inner.Live)})
	}
	if inner.Kept != w.text {
		f.keep = append(f.keep, commandEdit{w.start, w.end, Quote(inner.Kept)})
	}
}

// script resolves a word that is executed.
func (f *commandFinder) script(w shellWord, dir string) {
	path, ok := f.path(w, dir)
	if !ok {
		f.unsure = true
		return
	}
	f.scripts = append(f.scripts, path)
	f.edit(w, path, !filepath.IsAbs(w.text))
}

// arguments are words that may be read: where a copy decides, they are those
// of the copy.
//
//go:noinline
func (f *commandFinder) arguments(args []shellWord, dir string) {
	for _, w := range args {
		f.argument(w, dir)
	}
}

func (f *commandFinder) argument(w shellWord, dir string) {
	if f.at.Kept == nil {
		return
	}
	if path, ok := f.path(w, dir); ok && !w.glob {
		if info, err := os.Stat(f.at.Kept(path)); err == nil && info.Mode().IsRegular() {
			f.keep = append(f.keep, commandEdit{w.start, w.end, Quote(f.at.Kept(path))})
		}
	}
}

// edit writes a path in the place of a word: the live one where live is set,
// and the kept one where there is a copy.
func (f *commandFinder) edit(w shellWord, path string, live bool) {
	if live || !filepath.IsAbs(w.text) {
		f.live = append(f.live, commandEdit{w.start, w.end, Quote(path)})
	}
	to := path
	if f.at.Kept != nil {
		if kept := f.at.Kept(path); f.there(path) {
			to = kept
		}
	}
	if to != w.text {
		f.keep = append(f.keep, commandEdit{w.start, w.end, Quote(to)})
	}
}

// there reports whether something stands at a path, or at its copy.
func (f *commandFinder) there(path string) bool {
	if f.at.Kept != nil {
		path = f.at.Kept(path)
	}
	_, err := os.Lstat(path)
	return err == nil
}

// projectVariable begins a word with a variable that names a folder.
var projectVariable = lazy.Value(func() *regexp.Regexp {
	return regexp.MustCompile(`^\$(?:\{([A-Z_]+)(?::-[^}]*)?\}|([A-Z_]+))/([^$` + "`" + `]+)$`)
})

// path is the live path that a word means; false when only the shell knows.
func (f *commandFinder) path(w shellWord, dir string) (string, bool) {
	text := w.text
	if w.expands {
		m := projectVariable().FindStringSubmatch(text)
		if m == nil || w.dynamic {
			return "", false
		}
		base := ""
		switch variable := m[1] + m[2]; {
		case variable == "HOOKC_POLICY_DIR":
			base = f.at.Policy
		case variable == "HOOKC_PROJECT_ROOT", strings.HasSuffix(variable, "_PROJECT_DIR"):
			base = f.at.Root
		case variable == "JCLI_HOOK_DIR", variable == "AGENT_HOOK_DIR":
			base = f.at.Policy
		}
		return filepath.Join(base, m[3]), base != ""
	}
	switch {
	case text == "" || w.glob || strings.ContainsRune(text, 0):
		return "", false
	case filepath.IsAbs(text):
		return filepath.Clean(text), true
	case dir == "" || strings.HasPrefix(text, "~"):
		return "", false
	}
	return filepath.Join(dir, filepath.FromSlash(text)), true
}
