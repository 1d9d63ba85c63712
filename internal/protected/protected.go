// Package protected lists what hookc consists of on a machine: what an agent must not
// change, lest it decide for itself. Variables of the environment can name other places
// than the user's own, and an agent's settings in a repository can set them: both count.
package protected

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"

	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/internal/paths"
	"github.com/hookc/hookc/internal/wire"
	"github.com/hookc/hookc/policy/agent"
	"github.com/hookc/hookc/policy/source"
	"github.com/hookc/hookc/policy/state"
)

// Places are the files and folders of projects and of their user in which policies and the
// settings of agents are, there or not, and those in which hookc keeps what it knows.
// o is how policies are discovered, started the folders that agents may have been started in.
func Places(o source.DiscoverOptions, started ...string) []string {
	profile, user := o.Profile, o.User
	var out []string
	discovered := func(user string, profile *agent.Agent) {
		o.User, o.Profile = user, profile
		files, trees := source.DiscoverPlaces(o)
		out = append(append(out, files...), trees...)
	}
	discovered("", nil)
	if user != "" {
		discovered(user, nil)
	}
	if home := paths.Account(); home != "" {
		discovered(filepath.Join(home, ".config", "hookc", "hooks.yaml"), nil)
	}
	if profile != nil {
		discovered("", profile)
	}
	out = lists.DeleteFunc(out, func(f string) bool { // notes may lie there; the policy files are listed by name
		return filepath.Base(f) == ".hookc" && lists.Has(started, filepath.Dir(f))
	})
	for _, e := range environments() {
		out = append(append(out, settings(started, e, profile)...), state.Place(e.getenv, e.home), wire.Dir(e.getenv))
	}
	return out
}

// environment is what says where a user's files are.
type environment struct {
	home   string
	getenv func(string) string
}

// environments are the one of the process, and the one of the account without any
// variable.
func environments() []environment {
	set, _ := os.UserHomeDir()
	account := paths.Account()
	return []environment{{set, os.Getenv}, {account, func(name string) string {
		if name == "HOME" {
			return account
		}
		return ""
	}}}
}

// settings are the files in which agents are told to start hookc, and in which they could
// be told not to, and all that the profile reads.
func settings(started []string, e environment, profile *agent.Agent) []string {
	var out []string
	add := func(files []agent.File) {
		for i := range files {
			f := &files[i]
			if f.Base == agent.Home && !filepath.IsAbs(e.home) {
				continue
			}
			roots := started
			if f.Base == agent.Home || f.Base == agent.System {
				roots = []string{""}
			}
			for _, root := range roots {
				if p := f.Where(e.home, root, e.getenv); !strings.Contains(f.EnvPath+f.Path, "*") {
					out = append(out, p)
				}
			}
		}
	}
	for _, d := range agent.All() {
		if place, failed := d.Settings(); failed == nil {
			add(place.Files)
		}
	}
	if profile != nil {
		add(profile.Files)
	}
	return out
}

// Programs are hookc and hookgate, as they run here and as agents find them.
func Programs() []string {
	var out []string
	if build, ok := debug.ReadBuildInfo(); ok && strings.HasPrefix(build.Path, "github.com/hookc/hookc/cmd/") {
		if exe, err := os.Executable(); err == nil {
			out = append(out, exe, filepath.Join(filepath.Dir(exe), "hookgate"), filepath.Join(filepath.Dir(exe), "hookc"))
		}
	}
	for _, name := range []string{"hookc", "hookgate"} {
		if p, err := exec.LookPath(name); err == nil && filepath.IsAbs(p) {
			out = append(out, p)
		}
	}
	return out
}

// WithTargets adds where links lead, each path once; what is no absolute path is left out.
func WithTargets(paths []string) []string {
	seen, led := map[string]bool{}, map[string]string{}
	var out []string
	var target func(p string) string
	target = func(p string) string {
		to, known := led[p]
		if known || p == filepath.Dir(p) {
			return lists.First(to, p)
		}
		to = filepath.Join(target(filepath.Dir(p)), filepath.Base(p))
		if info, err := os.Lstat(to); err == nil && info.Mode()&os.ModeSymlink != 0 {
			if end, err := filepath.EvalSymlinks(to); err == nil {
				to = end
			}
		}
		led[p] = to
		return to
	}
	for _, p := range paths {
		if filepath.IsAbs(p) && !seen[p] {
			seen[p] = true
			out = append(out, p)
			if to := target(filepath.Clean(p)); !seen[to] {
				seen[to] = true
				out = append(out, to)
			}
		}
	}
	return out
}
