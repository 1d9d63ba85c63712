package install

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/hookc/hookc/internal/spell"
	"github.com/hookc/hookc/policy/agent"
	"github.com/hookc/hookc/policy/diag"
	"github.com/hookc/hookc/policy/source/tree"
)

// FolderFile is one file of a HOOK.md folder, its path relative to the folder
// of hook folders.
type FolderFile struct {
	Path    string
	Content string
	Mode    fs.FileMode
}

// FolderName is the name of hookc's hook folder for an event.
//
//go:noinline
func FolderName(event string) string { return agent.HookName + "-" + event }

// FolderFiles are the files of hookc's hook folder for an entry. Its priority
// is the lowest, so that it sees what other hooks have rewritten.
func (t *Target) FolderFiles(e Entry) []FolderFile {
	lines := []string{"---", "name: " + FolderName(e.Event), "description: hookc decides this event (written by hookc install)", "trigger: " + e.Event}
	if e.Matcher != "" {
		lines = append(lines, "matcher:", "  tool: '"+strings.ReplaceAll(e.Matcher, "'", "''")+"'")
	}
	lines = append(lines, fmt.Sprintf("timeout: %d", t.count(e.Timeout)), "async: false", "priority: 0", "---", "",
		"`hookc install` writes this folder and `hookc uninstall` takes it away.", "")
	dir := FolderName(e.Event)
	return []FolderFile{
		{filepath.Join(dir, "HOOK.md"), strings.Join(lines, "\n"), 0o644},
		{filepath.Join(dir, "scripts", "run.sh"), "#!/bin/sh\nexec " + e.Command + "\n", 0o755},
	}
}

// ReadFolders lists the hook folders below a folder, hookc's and others'.
func (t *Target) ReadFolders(base string) ([]Found, error) {
	items, err := os.ReadDir(base)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var out []Found
	for _, item := range items {
		content, err := os.ReadFile(filepath.Join(base, item.Name(), "HOOK.md"))
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrInvalid) || !isFolder(filepath.Join(base, item.Name())) {
			continue
		}
		if err != nil {
			return nil, err
		}
		f := Found{Line: 1}
		t.frontmatter(content, &f)
		script, err := os.ReadFile(filepath.Join(base, item.Name(), "scripts", "run.sh"))
		if err == nil {
			f.Command = scriptCommand(string(script))
			f.Own = item.Name() == FolderName(f.Event) && t.Own(f.Command)
		}
		out = append(out, f)
	}
	return out, nil
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// frontmatter reads what stands between the first two lines of dashes; a hook
// that cannot be read is somebody else's.
func (t *Target) frontmatter(content []byte, f *Found) {
	text := strings.TrimPrefix(string(content), "---")
	front, _, ok := spell.Cut(text, "\n---")
	if !ok || len(text) == len(content) {
		return
	}
	root, found := tree.ParseYAML(diag.NewSource("HOOK.md", front), 0, len(front))
	if root == nil || found.HasErrors() || root.Shape != tree.Map {
		return
	}
	if v := root.Get("trigger"); v != nil {
		f.Event = v.Text.Value
	}
	if v := root.Get("timeout"); v != nil {
		if n, ok := v.Float(); ok {
			f.Timeout = t.duration(n)
		}
	}
	if m := root.Get("matcher"); m != nil {
		if v := m.Get("tool"); v != nil {
			f.Matcher = v.Text.Value
		}
		f.Odd = len(m.Entries) > 1 || m.Get("tool") == nil
	}
}

// scriptCommand is the command of a script of one command, "" for others.
func scriptCommand(script string) string {
	var out []string
	for line := range strings.Lines(script) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			out = append(out, line)
		}
	}
	if len(out) != 1 {
		return ""
	}
	return strings.TrimPrefix(out[0], "exec ")
}
