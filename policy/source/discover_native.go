package source

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/internal/spell"
	"github.com/hookc/hookc/policy/agent"
)

// native finds the configuration of an agent in the agent's own places, in
// the order its hooks stand. Those of a project stand together, where the first
// of them does.
func (d *discovery) native(p *agent.Agent) {
	done := false
	for _, f := range p.Files {
		switch {
		case !fromProject(f.Tier):
			d.configured(f)
		case !done:
			done = true
			d.projects(p.ID, func(d *discovery) {
				for _, f := range p.Files {
					if fromProject(f.Tier) {
						d.configured(f)
					}
				}
				d.partsOf(p, true)
			})
		}
	}
	d.partsOf(p, false)
}

func (d *discovery) configured(f agent.File) {
	for _, path := range d.paths(f) {
		if d.withheld && strings.ContainsAny(f.Path, "*?[") {
			path = filepath.Dir(path) // what is in it is not looked at
		}
		if _, err := os.Lstat(path); !absent(err) {
			d.inputs = append(d.inputs, Input{Path: path, Tier: f.Tier, Format: f.Format})
		}
	}
}

// paths are where a configuration file may be; a glob is what is there.
func (d *discovery) paths(f agent.File) []string {
	base, ok := d.base(f)
	if !ok {
		return nil
	}
	path := filepath.Join(base, filepath.FromSlash(f.Path))
	if f.EnvPath != "" && elsewhere(f) {
		path = filepath.Join(base, filepath.FromSlash(f.EnvPath))
	}
	if d.withheld {
		return []string{path}
	}
	found, err := filepath.Glob(path)
	if err != nil || len(found) == 0 {
		return []string{path} // reported as missing only where something is there
	}
	lists.Sort(found)
	return found
}

// elsewhere reports whether a variable holds another base. It counts only when
// it names an absolute folder: a relative one would let a project pose as its
// user.
func elsewhere(f agent.File) bool { return f.Env != "" && filepath.IsAbs(os.Getenv(f.Env)) }

// base is the folder a path starts from.
func (d *discovery) base(f agent.File) (string, bool) {
	if elsewhere(f) {
		return os.Getenv(f.Env), true
	}
	first, _, _ := spell.Cut(f.Path, "/")
	switch {
	case f.Base == agent.Project, !d.innermost && (f.Base == agent.Upwards || f.Base == agent.Nearest):
		return d.root, true
	case f.Base == agent.Upwards:
		return d.upwards(f.Path), true
	case f.Base == agent.Nearest:
		return d.upwards(first), true
	case f.Base == agent.System:
		return string(filepath.Separator), true
	}
	home, err := os.UserHomeDir()
	return home, err == nil && filepath.IsAbs(home)
}

// upwards is the nearest folder, from the one the agent works in, that has
// path.
func (d *discovery) upwards(path string) string {
	for dir := d.dir; ; dir = filepath.Dir(dir) {
		if _, err := os.Lstat(filepath.Join(dir, filepath.FromSlash(path))); err == nil {
			return dir
		}
		if dir == filepath.Dir(dir) {
			return d.root
		}
	}
}
