package source

import (
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
)

var codeHookEntry = diag.Define("HK058", diag.Warning, "HOOK.md folder whose script cannot be run")

// entryNames are the entry points of a hook folder, first match first.
var entryNames = []string{"run", "run.sh", "run.py"}

// loadEntry is the last stage of loading a HOOK.md folder: it finds the entry
// point when an event needs the hook. A body without one names the first
// entry point all the same, so that running it fails and on_error decides.
func loadEntry(body policy.Body, at diag.Span) func() (policy.Body, diag.List) {
	return func() (policy.Body, diag.List) {
		out := body
		out.Load = nil
		var found diag.List
		out.Args, found = entryArgs(body.WorkDir, at, runtime.GOOS)
		return out, found
	}
}

// entryArgs is the command line of the entry point in dir. What the system
// cannot execute itself (no executable bit, no #! line, Windows) is given to
// the interpreter its ending names.
func entryArgs(dir string, at diag.Span, goos string) ([]string, diag.List) {
	scripts := filepath.Join(dir, "scripts")
	for _, name := range entryNames {
		path := filepath.Join(scripts, name)
		info, err := os.Stat(path)
		if err != nil || info.IsDir() {
			continue
		}
		direct := goos != "windows" && info.Mode()&0o111 != 0
		switch filepath.Ext(name) {
		case ".sh":
			if !direct || !hashBang(path) {
				return []string{"sh", path}, nil
			}
		case ".py":
			if goos == "windows" {
				return []string{"python", path}, nil
			}
			if !direct || !hashBang(path) {
				return []string{"python3", path}, nil
			}
		default:
			if goos == "windows" {
				return []string{"sh", path}, nil
			}
			if !direct {
				return []string{path}, diag.List{codeHookEntry.Report(at, "scripts/%s is not executable", name).
					WithHint("chmod +x %s", path)}
			}
		}
		return []string{path}, nil
	}
	d := codeHookEntry.Report(at, "the hook has no scripts/run, run.sh, run.py, run.rego or run.expr")
	if other := otherScript(scripts); other != "" {
		d = codeHookEntry.Report(at, "scripts/%s is never run: the entry point is scripts/run, run.sh, run.py, run.rego or run.expr", other).
			WithHint("rename it to %s", entryFor(other))
	}
	return []string{filepath.Join(scripts, entryNames[0])}, diag.List{d}
}

// otherScript is a file in scripts that looks like a misnamed entry point: the
// first, when there is any.
func otherScript(scripts string) string {
	items, err := readFolder(scripts)
	if err != nil {
		return ""
	}
	for _, item := range items {
		if !item.IsDir() {
			return item.Name()
		}
	}
	return ""
}

// entryFor is the entry point that a file of another name was meant to be.
func entryFor(name string) string {
	if entry := entryNames[0] + strings.ToLower(filepath.Ext(name)); lists.Has(entryNames, entry) || lists.Has(ruleNames, entry) {
		return entry
	}
	return entryNames[0]
}

// hashBang reports whether a file names its interpreter in its first line.
func hashBang(path string) bool {
	if regularFile(path) == nil {
		return false
	}
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, 2)
	_, err = io.ReadFull(f, head)
	return err == nil && string(head) == "#!"
}
