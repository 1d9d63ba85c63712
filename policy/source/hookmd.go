package source

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
	"github.com/hookc/hookc/policy/source/tree"
)

// HookFile is the name a hook folder is found by; discovery tells letter case
// apart, also where the file system does not.
const HookFile = "HOOK.md"

// hookMDFormat is the format's name.
const hookMDFormat = "hookmd"

// This format reads HOOK.md folders of the Agent Hooks format: one folder, or a
// folder of them in the order of their names. Only the frontmatter is read;
// the entry point under scripts/ is looked for when an event needs the hook.
var _ = register(Format{
	Name:  hookMDFormat,
	Doc:   "HOOK.md folders of the Agent Hooks format (scripts/run, run.sh, run.py, run.rego, run.expr, or a block of Rego)",
	Match: matchHookMD,
	Read:  readHookMD,
})

var codeNeverFound = diag.Define("HK059", diag.Warning, "hook file that is never found")

func matchHookMD(in *File) bool {
	if !in.Folder {
		return strings.EqualFold(filepath.Base(in.Path), HookFile)
	}
	if hookFileIn(in.Path) != "" {
		return true
	}
	folders, err := hookFolders(in.Path, 1)
	return err == nil && len(folders) > 0
}

// hookFileIn is the name of a folder's hook file in whatever letter case,
// HOOK.md before others, or "".
func hookFileIn(dir string) string {
	items, err := readFolder(dir) // sorted: upper case comes first
	if err != nil {
		return ""
	}
	for _, item := range items {
		if strings.EqualFold(item.Name(), HookFile) {
			return item.Name()
		}
	}
	return ""
}

// hookFolders lists the folders in dir that hold a hook file in whatever
// letter case, sorted by name, and no more than the most. A link to a folder counts
// as one, hookc's own
// does not.
func hookFolders(dir string, most int) ([]string, error) {
	items, err := readFolder(dir)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, item := range items {
		if folder := filepath.Join(dir, item.Name()); hookFileIn(folder) != "" && !ownFolder(folder) {
			if out = append(out, item.Name()); len(out) == most {
				break
			}
		}
	}
	return out, nil
}

func readHookMD(l *Loader, in *File) {
	if !in.Folder {
		if base := filepath.Base(in.Path); base != HookFile && strings.EqualFold(base, HookFile) {
			l.Report(in, neverFound(in.Name))
		}
		readHook(l, in, strings.NewReader(in.Content))
		return
	}
	if hookFileIn(in.Path) != "" {
		readHookFolder(l, in)
		return
	}
	folders, err := hookFolders(in.Path, l.limits.files+1)
	if err != nil {
		l.Report(in, codeFile.Report(fileSpan(in.Name), "%s: %v", in.Name, plainError(err)))
		return
	}
	for _, name := range folders {
		if in.Outside(filepath.Join(in.Path, name)) != nil {
			l.Report(in, codeFile.Report(fileSpan(filepath.Join(in.Name, name)), "%s: %s", filepath.Join(in.Name, name), errOutside))
			continue
		}
		sub := *in
		sub.Name, sub.Path = filepath.Join(in.Name, name), filepath.Join(in.Path, name)
		if l.full(&sub) {
			return
		}
		readHookFolder(l, &sub)
	}
}

func neverFound(name string) diag.Diagnostic {
	return codeNeverFound.Report(fileSpan(name), "only a file called %s is found; %s is never read", HookFile, filepath.Base(name)).
		WithHint("rename it to %s", HookFile)
}

// fileSpan is the beginning of a file that was not read.
//
//go:noinline
func fileSpan(name string) diag.Span { return diag.Span{Source: diag.NewSource(name, "")} }

func readHookFolder(l *Loader, folder *File) {
	if ownFolder(folder.Path) {
		return
	}
	base := hookFileIn(folder.Path)
	in := *folder
	in.Folder = false
	in.Name, in.Path = filepath.Join(folder.Name, base), filepath.Join(folder.Path, base)
	if base != HookFile {
		l.Report(&in, neverFound(in.Name))
		return
	}
	if text, ok := l.cache.draft(in.Path); ok && in.Outside(in.Path) == nil {
		readHook(l, &in, strings.NewReader(text))
		return
	}
	f, err := in.openRegular()
	if err != nil {
		l.brokenMD(&in, nil, diag.List{codeFile.Report(fileSpan(in.Name), "%s: %v", in.Name, err)})
		return
	}
	defer f.Close()
	readHook(l, &in, f)
}

// openRegular opens a file that is a file: opening a pipe may never end.
func (in *File) openRegular() (*os.File, error) {
	path := in.Path
	if err := in.Outside(path); err != nil {
		return nil, err
	}
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, plainError(err)
	case info.IsDir():
		return nil, errors.New("is a folder")
	case !info.Mode().IsRegular():
		return nil, errors.New("is not a regular file")
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, plainError(err)
	}
	return f, nil
}

// readHook adds the hook whose HOOK.md is in, reading from r no further than
// the frontmatter goes.
func readHook(l *Loader, in *File, r io.Reader) {
	dir := filepath.Dir(in.Path)
	source := l.Source(in, hookMDFormat)
	// The whole folder: a script added to it may take precedence.
	source.Uses = append(source.Uses, dir)
	front, found := readFrontmatter(in.Name, r)
	m := mdFields{folder: filepath.Base(dir), front: front}
	var h *policy.Hook
	rule, torn := false, found.HasErrors()
	if front != nil {
		h = m.hook()
		found = lists.Concat(found, m.found)
	}
	if h != nil {
		var more diag.List
		rule, more = l.mdRule(in, h, front.source.Content)
		found = lists.Concat(found, more)
	}
	if found.HasErrors() && !l.silentMD() {
		if torn { // of a key that is written twice nobody knows which was meant
			h = nil
		}
		l.brokenMD(in, h, found)
		return
	}
	if ok := l.mdReport(in, found); !ok || h == nil {
		return
	}
	h.Dir = dir
	h.File = &policy.FileConfig{Dir: dir, Within: in.Within}
	l.agentHooksOne(h, m.written)
	if rule {
		if h.TimeoutSpan.IsZero() {
			h.Timeout = 0 // a rule has a budget
		}
		l.Add(in, h)
		return
	}
	h.Body = policy.Body{
		Protocol: policy.AgentHooksProtocol,
		WorkDir:  dir,
		Env: []policy.EnvVar{
			{Name: "AGENT_HOOK_DIR", Value: dir},
			// Python's caches would change the folder that trust covers.
			{Name: "PYTHONDONTWRITEBYTECODE", Value: "1"},
		},
	}
	if l.isAgentHooks() {
		h.Body.Agent.Event, h.Body.Agent.Emulate = l.dialect.Can(h.Event)[0].Native, l.faithful
	}
	h.Body.Load = loadEntry(h.Body, h.Span)
	l.Add(in, h)
}

// mdReport reports what is wrong with a hook; false drops it: the format's own
// reader passes over such a hook in silence, and so does its profile when it
// is followed faithfully.
func (l *Loader) mdReport(in *File, found diag.List) bool {
	silent := l.silentMD()
	ok := !silent || !found.HasErrors()
	for i := range found {
		if silent && found[i].Severity == diag.Error {
			found[i].Severity = diag.Warning
		}
	}
	l.Report(in, found...)
	return ok
}

// silentMD reports whether a hook that is wrong is passed over, as the format's
// own reader does.
func (l *Loader) silentMD() bool { return l.isAgentHooks() && l.faithful }

// brokenMD keeps what is wrong with one hook to its own events. h is what could
// be read of it, or nil.
func (l *Loader) brokenMD(in *File, h *policy.Hook, found diag.List) {
	name, events, filter := filepath.Base(dirOf(in.Path)), brokenEvents(found), policy.Filter{}
	if h != nil {
		events = []policy.Event{h.Event}
	}
	if h != nil { // as far as its matcher can be read
		filter = h.Filter
	}
	l.Report(in, l.broken(in, name, events, filter, policy.Body{Protocol: policy.AgentHooksProtocol}, found)...)
}

// written reports whether the file has a field.
func (m *mdFields) written(field string) bool {
	return m.front.tree != nil && m.front.tree.Shape == tree.Map && m.front.tree.Get(field) != nil
}
