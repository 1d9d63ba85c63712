package commandline

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/hookc/hookc/internal/lazy"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/internal/spell"
)

// Covered is what a command consists of besides its text.
type Covered struct {
	Files, Globs []string
	// Notes are what is read and not covered, for the user to see; Opaque is set
	// when the command itself leaves open what it runs.
	Notes  []string
	Opaque bool
}

// Same reports whether a command consists of the same as before.
func (c *Covered) Same(o *Covered) bool {
	return lists.Equal(c.Files, o.Files) && lists.Equal(c.Globs, o.Globs) && lists.Equal(c.Notes, o.Notes) && c.Opaque == o.Opaque
}

// Imports are the folders of the Python scripts among paths.
func Imports(paths []string) []string {
	var out []string
	for _, p := range paths {
		if dir := filepath.Dir(p); filepath.Ext(p) == ".py" && !lists.Has(out, dir) {
			out = append(out, dir)
		}
	}
	return out
}

// maxFolder is how many files a folder of hooks may hold to be covered whole.
const maxFolder = 200

// Covers lists what a command's text names: the files of the project or beside
// the policy that are its arguments, its scripts, and what those consist of.
// All paths are live; live is the path whose copy is read at a path, or that path.
func Covers(command string, line Line, at Place, live func(string) string) Covered {
	r := &coverReader{at: at, seen: map[string]bool{}, globs: map[string]bool{}, scripts: map[string]bool{}}
	root := at.Dir
	if at.Kept != nil {
		root = at.Kept(root)
	}
	named, opaque := Files(command, root)
	r.c.Opaque = opaque || line.Unsure
	for _, f := range named {
		r.script(live(f), 0)
	}
	for _, f := range line.Scripts {
		if r.inProject(f) || r.at.Root == "" {
			r.script(f, 0)
		}
	}
	r.c.Files, r.c.Globs, r.c.Notes = lists.Keys(r.seen), lists.Keys(r.globs), lists.Distinct(r.c.Notes)
	return r.c
}

type coverReader struct {
	at      Place
	c       Covered
	seen    map[string]bool
	globs   map[string]bool
	scripts map[string]bool
}

func (r *coverReader) inProject(path string) bool {
	for _, dir := range []string{r.at.Root, r.at.Policy, r.at.Dir} {
		if rel, err := filepath.Rel(dir, path); dir != "" && err == nil && filepath.IsLocal(rel) {
			return true
		}
	}
	return false
}

// read is where a live path is looked at.
func (r *coverReader) read(live string) string {
	if r.at.Kept == nil {
		return live
	}
	return r.at.Kept(live)
}

func (r *coverReader) regular(live string) bool {
	info, err := os.Stat(r.read(live))
	return err == nil && info.Mode().IsRegular()
}

// script adds a file that is run or read, with what it visibly consists of.
func (r *coverReader) script(path string, depth int) {
	path = filepath.Clean(path)
	if r.scripts[path] || len(r.seen) > 20*maxFolder {
		return
	}
	r.scripts[path] = true
	r.seen[path] = true
	if !r.regular(path) {
		return
	}
	if folder := r.hooksFolder(filepath.Dir(path)); folder != "" && r.whole(folder) {
		if depth == 0 {
			r.reach(path, depth)
		}
		return
	}
	r.reach(path, depth)
}

// agentFolder is the name of a folder in which an agent, or hookc, keeps hooks.
var agentFolder = lazy.Value(func() *regexp.Regexp {
	return regexp.MustCompile(`^\.(hookc|agents|claude|gemini|codex|qwen|kimi|cursor|copilot|github|clawd|clawdcode|ai_agents|aiagents|jcli)$`)
})

// hooksFolder is the folder of hooks that a folder lies in, "" if there is none: hookc's
// own, or the outermost one called hooks.
func (r *coverReader) hooksFolder(dir string) string {
	found := ""
	for at := dir; r.inProject(at) && at != r.at.Root; at = filepath.Dir(at) {
		base := filepath.Base(at)
		if base == "hooks" || base == ".hookc" {
			found = at
		}
		if agentFolder().MatchString(base) {
			break
		}
	}
	return found
}

// whole adds a folder with all that is in it; false when that is too much.
func (r *coverReader) whole(dir string) bool {
	if r.seen[dir] {
		return true
	}
	n := 0
	err := filepath.WalkDir(r.read(dir), func(_ string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if n++; n > maxFolder || e.Type()&(fs.ModeNamedPipe|fs.ModeSocket|fs.ModeDevice) != 0 {
			return fs.SkipAll
		}
		return nil
	})
	if err != nil || n > maxFolder {
		r.c.Notes = append(r.c.Notes, dir+" is no folder of up to 200 files: only what its scripts visibly name is covered")
		return false
	}
	r.seen[dir] = true
	return true
}

// maxScript is how much of a script is looked through.
const maxScript = 1 << 20

// reach adds what a script visibly sources, imports or starts.
func (r *coverReader) reach(path string, depth int) {
	info, err := os.Stat(r.read(path))
	if err != nil || !info.Mode().IsRegular() {
		return
	}
	if info.Size() > maxScript || depth > 8 {
		r.c.Notes = append(r.c.Notes, path+" is too long to be looked through: what it sources or imports is not covered")
		return
	}
	content, err := os.ReadFile(r.read(path))
	if err != nil {
		return
	}
	text, dir := string(content), filepath.Dir(path)
	r.mentioned(text, dir, path, depth)
	for _, lang := range languages() {
		if lang.of(path, text) {
			lang.reach(r, text, dir, path, depth)
		}
	}
}

// token is what may be a path in a script.
var token = lazy.Value(func() *regexp.Regexp { return regexp.MustCompile(`[A-Za-z0-9_.@+/-]+`) })

// scriptEnd is the ending of a file that is code.
var scriptEnd = lazy.Value(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\.(sh|bash|zsh|ksh|py|js|mjs|cjs|ts|mts|cts|rb|pl|pm|lua|php|awk|sed|jq|rego|lib|inc)$`)
})

// mentioned adds the files that a script's text has the path of, from its own
// folder or from the project's root, whatever variable stands before it.
func (r *coverReader) mentioned(text, dir, from string, depth int) {
	for _, word := range token().FindAllString(text, 4096) {
		word = strings.Trim(word, "/")
		if word == "" || word == "." || word == ".." || !scriptEnd().MatchString(word) && !strings.Contains(word, "/") {
			continue
		}
		for _, base := range []string{dir, r.at.Dir, r.at.Root} {
			if base == "" {
				continue
			}
			at := filepath.Join(base, filepath.FromSlash(word))
			if at == from || !r.inProject(at) || !r.regular(at) {
				continue
			}
			info, err := os.Stat(r.read(at))
			if err == nil && (scriptEnd().MatchString(word) || info.Mode()&0o111 != 0) {
				r.script(at, depth+1)
			}
		}
	}
}

// candidate adds a file that code would be loaded from, there or not: one that
// comes to be would be loaded first.
func (r *coverReader) candidate(depth int, paths ...string) bool {
	for _, p := range paths {
		if !r.inProject(p) {
			continue
		}
		if r.regular(p) {
			r.script(p, depth+1)
			return true
		}
		r.seen[p] = true
	}
	return false
}

// language is what a kind of script loads besides itself.
type language struct {
	of    func(path, text string) bool
	reach func(r *coverReader, text, dir, path string, depth int)
}

// written reports whether a script has one of some endings, or names one of
// some interpreters in its first line.
func written(ends, interpreters string) func(path, text string) bool {
	return func(path, text string) bool {
		line, _, _ := spell.Cut(text, "\n")
		return lists.Has(strings.Fields(ends), strings.TrimPrefix(filepath.Ext(path), ".")) ||
			strings.HasPrefix(line, "#!") && slices.ContainsFunc(strings.Fields(interpreters), func(i string) bool { return strings.Contains(line, i) })
	}
}

func languages() []language {
	return []language{
		{written("sh bash zsh ksh", "sh"), (*coverReader).shell},
		{written("py", "python"), (*coverReader).python},
		{written("js mjs cjs ts mts cts", "node bun deno tsx"), (*coverReader).javascript},
		{written("rb", "ruby"), (*coverReader).ruby},
		{written("pl pm", "perl"), (*coverReader).perl},
	}
}

var sourced = lazy.Value(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)(?:^|[;&|({]|then|do|else)[ \t]*(?:\.|source)[ \t]+(.*)$`)
})

// shell reports what is sourced from the folder of the event, or from where
// only the shell knows.
func (r *coverReader) shell(text, dir, path string, depth int) {
	for _, m := range sourced().FindAllStringSubmatch(text, 256) {
		commands, _, _ := split(m[1])
		if len(commands) == 0 {
			continue
		}
		word := commands[0][0].text
		if !strings.ContainsAny(word, "$`") {
			if !filepath.IsAbs(word) {
				r.candidate(depth, filepath.Join(r.at.Dir, word))
				r.c.Notes = append(r.c.Notes, path+" sources "+word+" from the folder the event is in: that is covered in the project's root alone")
			} else if r.inProject(word) {
				r.candidate(depth, word)
			}
			continue
		}
		tail := word[strings.LastIndexAny(word, "})\"`")+1:]
		if i := strings.LastIndexByte(tail, '$'); i >= 0 {
			_, tail, _ = spell.Cut(tail[i:], "/")
		}
		tail = strings.TrimLeft(tail, "/")
		if tail == "" || !r.candidate(depth, filepath.Join(dir, tail)) && !r.candidate(depth, filepath.Join(r.at.Dir, tail)) {
			r.c.Notes = append(r.c.Notes, path+" sources "+word+", which cannot be determined")
		}
	}
}

var imported = lazy.Value(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^[ \t]*(?:from[ \t]+(\.*[\w.]*)[ \t]+import|import[ \t]+([\w., \t]+))`)
})

// python adds siblings, and the names that a sibling could take from the
// standard library.
func (r *coverReader) python(text, dir, path string, depth int) {
	for _, pattern := range []string{"*.py", "*.pyc", "*.so", "*.pyd", "*/__init__.py"} {
		r.globs[filepath.Join(dir, pattern)] = true
	}
	for _, m := range imported().FindAllStringSubmatch(text, 256) {
		for _, module := range strings.Split(m[1]+","+m[2], ",") {
			fields := strings.Fields(module)
			if len(fields) == 0 {
				continue
			}
			at := filepath.Join(dir, filepath.FromSlash(strings.ReplaceAll(strings.TrimLeft(fields[0], "."), ".", "/")))
			if at != dir {
				r.existing(depth, at+".py", filepath.Join(at, "__init__.py"))
			}
			for up := filepath.Dir(at); up != dir && len(up) > len(dir); up = filepath.Dir(up) {
				r.existing(depth, filepath.Join(up, "__init__.py"))
			}
		}
	}
}

// existing adds those of some files that are there.
func (r *coverReader) existing(depth int, paths ...string) {
	for _, p := range paths {
		if r.inProject(p) && r.regular(p) {
			r.script(p, depth+1)
		}
	}
}

var required = lazy.Value(func() *regexp.Regexp {
	return regexp.MustCompile(`(?:require(?:\.resolve)?\s*\(\s*|from\s*|import\s*\(?\s*)["']([^"']+)["']`)
})

func (r *coverReader) javascript(text, dir, path string, depth int) {
	for _, m := range required().FindAllStringSubmatch(text, 256) {
		name := m[1]
		switch {
		case strings.HasPrefix(name, "./"), strings.HasPrefix(name, "../"), name == "..", name == ".":
			at := filepath.Join(dir, name)
			r.candidate(depth, at, at+".js", at+".json", at+".node", at+".cjs", at+".mjs", at+".ts", filepath.Join(at, "package.json"), filepath.Join(at, "index.js"))
			r.existing(depth, filepath.Join(at, "index.js"))
		case strings.HasPrefix(name, "node:"), lists.Has(nodeModules(), name):
		default:
			r.c.Notes = append(r.c.Notes, path+" requires "+name+": packages are not covered")
		}
	}
	r.seen[filepath.Join(dir, "package.json")] = true // says how files are read
}

// nodeModules are those of Node itself, which no folder can take the place of.
var nodeModules = lazy.Value(func() []string {
	return strings.Fields(`assert async_hooks buffer child_process cluster console constants crypto dgram diagnostics_channel dns domain events
	fs fs/promises http http2 https inspector module net os path perf_hooks process punycode querystring readline stream string_decoder sys timers
	timers/promises tls trace_events tty url util v8 vm wasi worker_threads zlib`)
})

var rubyRequired = lazy.Value(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^\s*(?:require_relative|load)\s*\(?\s*["']([^"']+)["']`)
})

func (r *coverReader) ruby(text, dir, _ string, depth int) {
	for _, m := range rubyRequired().FindAllStringSubmatch(text, 256) {
		at := filepath.Join(dir, m[1])
		r.candidate(depth, at, at+".rb")
	}
}

var perlRequired = lazy.Value(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^\s*(?:require|do)\s+["']([^"']+)["']|^\s*use\s+lib\s+(?:qw\()?["']?([^"';)]+)|^\s*(?:use|require)\s+([A-Z]\w*(?:::\w+)*)`)
})

func (r *coverReader) perl(text, dir, path string, depth int) {
	libs := []string{}
	for _, m := range perlRequired().FindAllStringSubmatch(text, 256) {
		switch {
		case m[1] != "":
			r.candidate(depth, filepath.Join(dir, m[1]))
		case m[2] != "":
			rest := m[2]
			if strings.HasPrefix(rest, "$") {
				_, rest, _ = spell.Cut(rest, "/")
			}
			lib := filepath.Join(dir, strings.TrimSpace(rest))
			libs = append(libs, lib)
			if info, err := os.Stat(r.read(lib)); err == nil && info.IsDir() && r.inProject(lib) {
				r.whole(lib)
			}
		default:
			for _, lib := range libs {
				r.existing(depth, filepath.Join(lib, strings.ReplaceAll(m[3], "::", "/")+".pm"))
			}
		}
	}
}
