// Package parts finds the skills, commands and agents of Claude Code that have
// hooks in their frontmatter, as the program does (tests/agents compares the two).
package parts

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/hookc/hookc/internal/lazy"
	"github.com/hookc/hookc/policy/diag"
	"github.com/hookc/hookc/policy/source/tree"
)

const (
	// mostBytes is how far a file is read in search of the end of its frontmatter,
	// mostFiles how many entries are looked at below one folder.
	mostBytes = 64 << 10
	mostFiles = 5000
)

// Found is what a folder of Claude Code's files holds: the skills and agents with hooks,
// the manifests of plugins with hooks among the skills, and the files and folders that
// decided.
type Found struct{ Skills, Agents, Plugins, Looked []string }

// Find looks below a folder such as .claude, or the root of a plugin.
func Find(base string) Found {
	f := &finder{left: mostFiles}
	skills := filepath.Join(base, "skills")
	for _, e := range f.list(skills) {
		f.skill(filepath.Join(skills, e.Name()))
	}
	f.below(filepath.Join(base, "commands"), &f.found.Skills, 0)
	f.below(filepath.Join(base, "agents"), &f.found.Agents, 0)
	return f.found
}

type finder struct {
	found Found
	left  int
}

// list is what a folder holds, nothing where it is none.
func (f *finder) list(dir string) []fs.DirEntry {
	f.found.Looked = append(f.found.Looked, dir)
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return nil
	}
	all, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	if len(all) > f.left {
		all = all[:f.left]
	}
	f.left -= len(all)
	return all
}

// skill looks at the folder of a skill, which may be a plugin as well.
func (f *finder) skill(dir string) {
	manifest := filepath.Join(dir, ".claude-plugin", "plugin.json")
	standard := filepath.Join(dir, "hooks", "hooks.json")
	f.found.Looked = append(f.found.Looked, manifest, standard)
	if text, there := f.text(manifest); there {
		_, err := os.Lstat(standard)
		within := Find(dir)
		f.found.Looked = append(f.found.Looked, within.Looked...)
		if err == nil || strings.Contains(text, `"hooks"`) || len(within.Skills) > 0 {
			f.found.Plugins = append(f.found.Plugins, manifest)
		}
	}
	for _, e := range f.list(dir) {
		if strings.EqualFold(e.Name(), "SKILL.md") {
			f.file(filepath.Join(dir, e.Name()), &f.found.Skills)
		}
	}
}

// below looks at every Markdown file below a folder.
func (f *finder) below(dir string, into *[]string, depth int) {
	if depth > 20 {
		return
	}
	for _, e := range f.list(dir) {
		path := filepath.Join(dir, e.Name())
		info, err := os.Stat(path)
		switch {
		case err != nil:
		case info.IsDir():
			f.below(path, into, depth+1)
		case strings.EqualFold(filepath.Ext(path), ".md"):
			f.file(path, into)
		}
	}
}

func (f *finder) file(path string, into *[]string) {
	f.found.Looked = append(f.found.Looked, path)
	text, there := f.text(path)
	start, end := head(text)
	if there && mayHold().MatchString(text[start:end]) {
		*into = append(*into, path)
	}
}

// text is the beginning of a file. A pipe or a device may never end.
func (f *finder) text(path string) (text string, there bool) {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return "", false
	}
	in, err := os.Open(path)
	if err != nil {
		return "", false
	}
	defer in.Close()
	all, err := io.ReadAll(io.LimitReader(in, mostBytes))
	return string(all), err == nil
}

// mayHold finds a key called hooks, wherever in the frontmatter it stands.
var mayHold = lazy.Value(func() *regexp.Regexp { return regexp.MustCompile(`(?m)(?:^|[\s{,])["']?hooks["']?[ \t]*:`) })

var (
	opening = lazy.Value(func() *regexp.Regexp { return regexp.MustCompile(`^(?:\x{feff})?---[ \t]*\r?\n`) })
	closing = lazy.Value(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^---`) })
)

// head is where the frontmatter of a text stands; nothing where it has none.
func head(text string) (start, end int) {
	m := opening().FindStringIndex(text)
	if m == nil {
		return 0, 0
	}
	if at := closing().FindStringIndex(text[m[1]:]); at != nil {
		return m[1], m[1] + at[0]
	}
	return 0, 0
}

// block is the key hooks with all that is indented below it.
var block = lazy.Value(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^["']?hooks["']?[ \t]*:.*(?:\r?\n(?:[ \t#-].*)?$)*`)
})

// Read is the frontmatter of a file as a tree. Where other values of it are no YAML, as
// a description with a colon is none, the hooks alone are read, as Claude Code does.
func Read(src *diag.Source) (*tree.Node, diag.List) {
	start, end := head(src.Content)
	root, found := tree.ParseYAML(src, start, end)
	if root != nil && root.Shape == tree.Map && !found.HasErrors() {
		return root, found
	}
	if at := block().FindStringIndex(src.Content[start:end]); at != nil {
		if hooks, more := tree.ParseYAML(src, start+at[0], start+at[1]); hooks != nil && !more.HasErrors() {
			return hooks, more
		}
	}
	return nil, found
}

// Word is the value of a key of the frontmatter that is one line of text, wherever the
// rest of it cannot be read.
func Word(src *diag.Source, key string) string {
	start, end := head(src.Content)
	m := regexp.MustCompile(`(?m)^` + key + `[ \t]*:[ \t]*(.*?)[ \t\r]*$`).FindStringSubmatch(src.Content[start:end])
	if m == nil {
		return ""
	}
	return strings.Trim(m[1], `"'`)
}
