package source

import (
	"path/filepath"
	"strings"

	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/internal/spell"
	"github.com/hookc/hookc/policy/agent"
)

// DiscoverPlaces are the files and folders whose presence or content decides what
// Discover finds, there or not: what is discovered is the same for as long as
// they are. Folders below which everything counts are in trees.
func DiscoverPlaces(o DiscoverOptions) (files, trees []string) {
	d := discovery{dir: Absolute("", o.Dir), options: o}
	files, trees = managedPlaces(o.Managed)
	if o.Profile != nil {
		for i, root := range d.roots() {
			d.root, d.innermost = root, i == len(d.roots())-1
			for _, f := range o.Profile.Files {
				if i == 0 || fromProject(f.Tier) {
					files = append(files, d.candidates(f)...)
				}
			}
		}
		return files, trees
	}
	var folders []string
	if config, file := o.user(); file != "" {
		folders = append(folders, filepath.Dir(file))
		files = append(files, file)
		trees = append(trees, filepath.Join(config, "agents", "hooks"))
	}
	for _, root := range d.roots() {
		folders = append(folders, filepath.Join(root, ".hookc"))
		files = append(files, filepath.Join(root, "hooks.yaml"))
		trees = append(trees, filepath.Join(root, ".agents", "hooks"))
	}
	for _, dir := range folders {
		files = append(files, dir, filepath.Join(dir, "hooks.yaml"), filepath.Join(dir, "hooks.local.yaml"))
	}
	return files, trees
}

// candidates are where a configuration file of an agent may be: in each of the
// folders upwards, for one that is looked for there, and with a glob also its
// folder.
func (d *discovery) candidates(f agent.File) []string {
	out := d.paths(f)
	if elsewhere(f) {
		return out
	}
	if strings.ContainsAny(f.Path, "*?[") {
		if base, ok := d.base(f); ok {
			out = append(out, filepath.Dir(filepath.Join(base, filepath.FromSlash(f.Path))))
		}
	}
	if !d.innermost || f.Base != agent.Upwards && f.Base != agent.Nearest {
		return out
	}
	path := filepath.FromSlash(f.Path)
	if f.Base == agent.Nearest {
		first, _, _ := spell.Cut(f.Path, "/")
		path = first
	}
	for dir := d.dir; ; dir = filepath.Dir(dir) {
		out = append(out, filepath.Join(dir, path))
		if dir == filepath.Dir(dir) {
			return out
		}
	}
}

// DiscoverVariables names the variables that Discover reads.
func DiscoverVariables(o DiscoverOptions) []string {
	out := []string{"HOME", "XDG_CONFIG_HOME"}
	if o.Profile != nil {
		for _, f := range o.Profile.Files {
			if f.Env != "" {
				out = append(out, f.Env)
			}
		}
	}
	return lists.Distinct(out)
}
