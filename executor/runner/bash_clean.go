package runner

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/internal/paths"
	"github.com/hookc/hookc/internal/spell"
	"github.com/hookc/hookc/policy"
)

// folders are the variables that list folders in which programs, modules and
// libraries are looked for. An entry that is no absolute path means the folder
// the process is in, which is the event's: anybody may put a program there.
var folders = []string{"PATH", "PYTHONPATH", "NODE_PATH", "RUBYLIB", "PERL5LIB", "PERLLIB", "CDPATH", "FPATH", "CLASSPATH", "GEM_PATH",
	"LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "DYLD_FRAMEWORK_PATH", "DYLD_FALLBACK_LIBRARY_PATH", "GCONV_PATH", "LOCPATH",
	"PYTHONHOME", "PYTHONUSERBASE", "GEM_HOME", "ZDOTDIR", "OPENSSL_CONF", "OPENSSL_MODULES", "OPENSSL_ENGINES", "PHPRC", "PHP_INI_SCAN_DIR",
	"XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR", "XDG_CONFIG_DIRS", "XDG_DATA_DIRS"}

// loaders are the variables, and with a star the beginnings of variables, that
// have an interpreter, a shell or the system's loader read more code than the
// hook names, or execute it otherwise: SHELLOPTS=noexec has bash execute
// nothing, PYTHONINSPECT=1 has Python lose its exit code. A policy may set them
// with `env:`; the environment of an agent may not.
var loaders = []string{"BASH_ENV", "ENV", "BASH_FUNC_*", "SHELLOPTS", "BASHOPTS", "BASH_COMPAT", "BASH_LOADABLES_PATH", "POSIXLY_CORRECT", "PS4",
	"IFS", "GLOBIGNORE", "EXECIGNORE", "LD_*", "DYLD_*", "PYTHON*", "PERL5*", "RUBYOPT", "NODE_OPTIONS", "NODE_REPL_EXTERNAL_MODULE",
	"NODE_COMPILE_CACHE", "NODE_CHANNEL_*", "LUA_INIT*", "JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS",
	"GIT_*", "MAKEFLAGS", "GNUMAKEFLAGS", "MAKEFILES", "GOFLAGS", "LUA_PATH*", "LUA_CPATH*", "DOTNET_STARTUP_HOOKS", "CORECLR_*", "COR_PROFILER*", "BUN_OPTIONS", "AWKLIBPATH"}

// harmless are those that loaders would name and that change no code.
var harmless = []string{"PYTHONUTF8", "PYTHONUNBUFFERED", "PYTHONHASHSEED", "PYTHONNOUSERSITE",
	"GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL", "GIT_TERMINAL_PROMPT", "GIT_OPTIONAL_LOCKS"}

// reach says how far the environment of the agent reaches a hook.
type reach struct {
	// within are the folders of a project that has no say in the hook: what lies
	// there comes last.
	within []string
	// safe is whether Python leaves the folder of the event out.
	safe bool
}

// reach is how far host, the environment of the agent, reaches this hook.
func (b *bash) reach(in *policy.Context, host []string) reach {
	// The command of a fact, on which guards rest, is on no event.
	guards := b.hook.Event == "" || b.hook.Event == policy.PreToolExecution || b.hook.Event == policy.PermissionRequest || b.hook.Event == policy.SubagentStart
	foreign := b.hook.Tier < policy.TierProject
	r := reach{safe: guards || foreign || slices.ContainsFunc(host, func(kv string) bool {
		value, ok := spell.CutPrefix(kv, "PYTHONSAFEPATH=")
		return ok && value != ""
	})}
	if !guards || !foreign {
		return r
	}
	for _, f := range []policy.Field{policy.FieldCwd, policy.FieldProjectRoot} {
		dir := in.Text(f)
		real, err := filepath.EvalSymlinks(dir)
		if err != nil || !filepath.IsAbs(dir) {
			continue
		}
		// A folder that holds the system, the user's home or the policy is no
		// project: an agent may go to /usr, and a hook still needs its programs.
		for _, at := range append(above(filepath.Clean(dir)), above(real)...) {
			if folder := (reach{within: []string{at}}); !slices.ContainsFunc([]string{"/bin", "/usr/bin", paths.Account(), b.hook.Dir}, folder.inside) {
				r.within = append(r.within, at)
			}
		}
	}
	return r
}

// above are a folder and those above it that are marked as projects.
func above(dir string) []string {
	out := []string{dir}
	for at := filepath.Dir(dir); at != filepath.Dir(at); at = filepath.Dir(at) {
		if paths.Marked(at) {
			out = append(out, at)
		}
	}
	return out
}

// hosted is a variable of the agent's environment as a hook gets it
// (semantics.md §2.8 "Where commands are found"); keep is false where the hook
// does not get it.
func (r reach) hosted(kv string) (as string, keep bool) {
	name, value, _ := spell.Cut(kv, "=")
	if name == "HOME" && (!filepath.IsAbs(value) || r.inside(value)) {
		return "HOME=" + paths.Account(), paths.Account() != ""
	}
	if lists.Has(folders, name) {
		value = r.absolutes(name, value)
		return name + "=" + value, value != ""
	}
	return kv, lists.Has(harmless, name) || !slices.ContainsFunc(loaders, func(l string) bool {
		begin, many := spell.CutSuffix(l, "*")
		return name == l || many && strings.HasPrefix(name, begin)
	})
}

// absolutes is a list of folders without those that are not absolute. Those of
// a project that has no say are left out too, and in PATH come last: what only
// they have is still found there.
func (r reach) absolutes(name, list string) string {
	var kept, last []string
	// The system's loader takes both signs between folders.
	for _, dir := range strings.FieldsFunc(list, func(c rune) bool { return c == filepath.ListSeparator || c == ';' }) {
		switch {
		case !filepath.IsAbs(dir):
		case !r.inside(dir):
			kept = append(kept, dir)
		case name == "PATH":
			last = append(last, dir)
		}
	}
	return strings.Join(append(kept, last...), string(filepath.ListSeparator))
}

// inside reports whether a path lies in a project that has no say, by its name
// or behind its links.
func (r reach) inside(path string) bool {
	if len(r.within) == 0 || path == "" {
		return false
	}
	paths := []string{path}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		paths = append(paths, real)
	}
	return slices.ContainsFunc(r.within, func(dir string) bool {
		return slices.ContainsFunc(paths, func(p string) bool {
			rel, err := filepath.Rel(dir, p)
			return err == nil && filepath.IsLocal(rel)
		})
	})
}

// find looks for a program in the folders of PATH in which it may be.
func (r reach) find(name string) (string, error) {
	for _, dir := range filepath.SplitList(r.absolutes("PATH", os.Getenv("PATH"))) {
		if found, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
			return found, nil
		}
	}
	return "", &exec.Error{Name: name, Err: exec.ErrNotFound}
}

// program is what is executed: what was found when the hook was made ready, or
// another of that name where the first lies in a project that has no say.
func (b *bash) program(in *policy.Context) string {
	r := b.reach(in, nil)
	if named := len(b.body.Args) > 0 && b.path == b.body.Args[0]; named || !r.inside(b.path) {
		return b.path
	}
	if found, err := r.find(filepath.Base(b.path)); err == nil {
		return found
	}
	return b.path
}

// settled is the environment of a hook, without entries of lists that are not
// absolute, and with what keeps interpreters from importing what lies in the
// event's folder. imports are the folders of the hook's own Python scripts,
// which go on doing so.
func (r reach) settled(environ, imports []string) []string {
	set := map[string]string{"PYTHONDONTWRITEBYTECODE": "1", "PERL_USE_UNSAFE_INC": "0"}
	out := make([]string, 0, len(environ)+len(set)+1)
	for _, kv := range environ {
		name, value, _ := spell.Cut(kv, "=")
		switch {
		case name == "PYTHONSAFEPATH":
			r.safe = false // the policy says so itself: the agent's is not here
		case lists.Has(folders, name):
			value = reach{}.absolutes(name, value)
			if name == "PYTHONPATH" && r.safe {
				imports = append(lists.Copy(imports), filepath.SplitList(value)...)
				continue
			}
			if value == "" {
				continue
			}
			kv = name + "=" + value
		case set[name] != "":
			continue
		}
		out = append(out, kv)
	}
	if r.safe {
		set["PYTHONSAFEPATH"] = "1"
		if len(imports) > 0 {
			set["PYTHONPATH"] = strings.Join(imports, string(filepath.ListSeparator))
		}
	}
	for _, name := range lists.Keys(set) {
		out = append(out, name+"="+set[name])
	}
	return out
}
