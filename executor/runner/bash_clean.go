package runner

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hookc/hookc/policy"
)

// searched are the variables that list folders in which programs and modules
// are looked for. An entry that is no absolute path means the folder the
// process is in, which is the event's: anybody may put a program there.
var searched = []string{"PATH", "PYTHONPATH", "NODE_PATH", "RUBYLIB", "PERL5LIB", "PERLLIB", "CDPATH"}

// started are the variables that name a file which a shell reads first.
var started = []string{"BASH_ENV", "ENV", "PYTHONSTARTUP"}

// cleaned is an environment in which nothing is looked for in the folder of
// the event (semantics.md §2.8 "Where commands are found"). At an event that
// guards, Python does not import from there either; imports are the folders of
// the hook's own Python scripts, which go on doing so.
func cleaned(environ, imports []string, event policy.Event) []string {
	guards := event == policy.PreToolExecution || event == policy.PermissionRequest || event == policy.SubagentStart
	set := map[string]string{"PYTHONDONTWRITEBYTECODE": "1", "PERL_USE_UNSAFE_INC": "0"}
	if guards {
		set["PYTHONSAFEPATH"] = "1"
	}
	out := make([]string, 0, len(environ)+len(set)+1)
	for _, kv := range environ {
		name, value, _ := strings.Cut(kv, "=")
		switch {
		case slices.Contains(searched, name):
			value = absolutes(value)
			if name == "PYTHONPATH" && guards {
				imports = append(slices.Clone(imports), filepath.SplitList(value)...)
				continue
			}
			if value == "" && name != "PATH" {
				continue
			}
			kv = name + "=" + value
		case slices.Contains(started, name) && value != "" && !filepath.IsAbs(value), set[name] != "":
			continue
		}
		out = append(out, kv)
	}
	if guards && len(imports) > 0 {
		set["PYTHONPATH"] = strings.Join(imports, string(filepath.ListSeparator))
	}
	for _, name := range slices.Sorted(maps.Keys(set)) {
		out = append(out, name+"="+set[name])
	}
	return out
}

// absolutes is a list of folders without those that are not absolute.
func absolutes(list string) string {
	kept := slices.DeleteFunc(filepath.SplitList(list), func(dir string) bool { return !filepath.IsAbs(dir) })
	return strings.Join(kept, string(filepath.ListSeparator))
}
