// Package plugins finds what the installed plugins of Claude Code say of hooks, as the
// program itself does (tests/agents compares the two).
package plugins

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/hookc/hookc/internal/fault"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/internal/spell"
)

// Plugin is one that is enabled: the folder of its files, the one of its data, and the
// files that hold its hooks, of which the manifest may be one.
type Plugin struct {
	ID, Root, Data string
	Files          []string
	// Lost says what of it the program does not run, "" for nothing.
	Lost string
}

// installation is an entry of installed_plugins.json.
type installation struct{ Scope, InstallPath, ProjectPath string }

type catalog struct {
	Source          struct{ Source string }
	InstallLocation string
	Plugins         []struct {
		Name   string
		Source any
	}
}

// Find finds a plugin that is enabled, by its id NAME@MARKETPLACE; folder is that
// of the plugins in the program's configuration, projects are the roots of those that
// are worked on. looked are the files that decided.
func Find(folder, id string, projects []string) (p Plugin, looked []string) {
	name, market, _ := spell.Cut(id, "@")
	p = Plugin{ID: id, Data: filepath.Join(folder, "data", strings.ReplaceAll(id, "@", "-"))}
	var known map[string]*catalog
	var installed struct {
		Plugins map[string][]installation
	}
	for path, into := range map[string]any{"known_marketplaces.json": &known, "installed_plugins.json": &installed} {
		path = filepath.Join(folder, path)
		looked = append(looked, path)
		if err := read(path, into); err != nil {
			p.Lost = err.Error()
			return p, looked
		}
	}
	m := known[market]
	if m == nil || !filepath.IsAbs(m.InstallLocation) { // a relative one would let a project pose as its user
		p.Lost = "its marketplace is not known"
		return p, looked
	}
	list := filepath.Join(m.InstallLocation, ".claude-plugin", "marketplace.json")
	looked = append(looked, list)
	if err := read(list, m); err != nil {
		p.Lost = err.Error()
		return p, looked
	}
	p.Lost = "its marketplace has no such plugin"
	for _, e := range m.Plugins {
		if e.Name == name {
			p.Lost = ""
			if at, below := e.Source.(string); below && m.Source.Source == "directory" {
				p.Root = filepath.Join(m.InstallLocation, filepath.FromSlash(at))
			}
		}
	}
	for _, i := range installed.Plugins[id] {
		if p.Root == "" && filepath.IsAbs(i.InstallPath) && applies(i, projects) {
			p.Root = i.InstallPath
		}
	}
	if p.Lost == "" && p.Root == "" {
		p.Lost = "it is not installed here"
	}
	if p.Lost == "" {
		looked = append(looked, p.hooks())
	}
	return p, looked
}

// Among finds what a plugin in a folder of skills says of hooks; folder is that of the
// plugins in the program's configuration. Its name is that of its manifest.
func Among(folder, manifest string) (p Plugin, name string) {
	root := filepath.Dir(filepath.Dir(manifest))
	name = filepath.Base(root)
	var says struct{ Name string }
	if read(manifest, &says) == nil && says.Name != "" {
		name = says.Name
	}
	p = Plugin{ID: name + "@skills-dir", Root: root, Data: filepath.Join(folder, "data", name+"-skills-dir")}
	p.hooks()
	return p, name
}

// applies reports whether an installation is for the user, or for a project that is
// worked on.
func applies(i installation, projects []string) bool {
	for _, root := range projects {
		if i.ProjectPath != "" && filepath.Clean(i.ProjectPath) == root {
			return true
		}
	}
	return i.ProjectPath == ""
}

// hooks finds the files that hold hooks, and returns where the manifest is, there or
// not. A manifest that the program does not take loses the plugin.
func (p *Plugin) hooks() string {
	manifest := filepath.Join(p.Root, ".claude-plugin", "plugin.json")
	standard := filepath.Join(p.Root, "hooks", "hooks.json")
	var says struct{ Hooks any }
	if err := read(manifest, &says); err != nil && !errors.Is(err, fs.ErrNotExist) {
		p.Lost = err.Error()
		return manifest
	}
	if _, err := os.Lstat(standard); err == nil {
		p.Files = append(p.Files, standard)
	}
	more, isList := says.Hooks.([]any)
	if !isList && says.Hooks != nil {
		more = []any{says.Hooks}
	}
	inline := false
	for _, one := range more {
		switch one := one.(type) {
		case string:
			path := filepath.Join(p.Root, filepath.FromSlash(one))
			_, err := os.Lstat(path)
			switch {
			case !strings.HasPrefix(one, "./"):
				p.Files, p.Lost = nil, fmt.Sprintf("its manifest names the hooks %q, which does not begin with ./", one)
				return manifest
			case !strings.HasPrefix(path, p.Root+string(filepath.Separator)), err != nil:
				p.Lost = fmt.Sprintf("its hooks %q are not in it", one)
			case !lists.Has(p.Files, path):
				p.Files = append(p.Files, path)
			}
		case map[string]any:
			if _, wrapped := one["hooks"]; wrapped {
				p.Files, p.Lost = nil, "its manifest has hooks within hooks"
				return manifest
			}
			inline = true
		}
	}
	if inline {
		p.Files = append(p.Files, manifest)
	}
	return manifest
}

// read reads a file of JSON; one that is not there is an error too.
func read(path string, into any) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, into); err != nil {
		return fault.Errorf("%s: %w", path, err)
	}
	return nil
}
