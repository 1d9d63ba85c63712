package source

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/agent"
	"github.com/hookc/hookc/policy/diag"
	"github.com/hookc/hookc/policy/source/tree"
)

//go:noinline
func dirOf(path string) string { return filepath.Dir(path) }

// This format reads the hook folders of newer releases of jcli: a folder of
// folders that each hold a HOOK.yaml, in the order of their names
// (docs/reference/dialects, jcli §1.0).
var _ = register(Format{
	Name: "jclifolders",
	Doc:  "hook folders of jcli (HOOK.yaml or HOOK.yml)",
	Match: func(in *File) bool {
		return in.Folder && len(jcliFolders(in.Path)) > 0
	},
	Read: readJCLIFolders,
})

// This one reads what jcli's own configuration says about hooks.
var _ = register(Format{
	Name:  "jcliconfig",
	Doc:   "agent_config.json of jcli: the hooks that are turned off",
	Match: func(in *File) bool { return !in.Folder && filepath.Base(in.Path) == "agent_config.json" },
	Read:  readJCLIConfig,
})

// jcliFolders lists the hook files in the folders of dir. A folder called
// example is a template, no hook.
func jcliFolders(dir string) []string {
	items, err := readFolder(dir)
	if err != nil {
		return nil
	}
	var out []string
	for _, item := range items {
		if item.Name() == "example" {
			continue
		}
		for _, name := range []string{"HOOK.yaml", "HOOK.yml"} {
			if path := filepath.Join(dir, item.Name(), name); exists(path) {
				out = append(out, path)
				break
			}
		}
	}
	return out
}

func readJCLIFolders(l *Loader, in *File) {
	for _, path := range jcliFolders(in.Path) {
		rel, err := filepath.Rel(in.Path, path)
		if err != nil {
			rel = path
		}
		file := in.beside(filepath.Join(in.Name, rel), path)
		if err := l.openFile(file); err != nil {
			l.Report(file, codeFile.Report(fileSpan(file.Name), "%s: %v", file.Name, err))
			continue
		}
		readJCLIFolder(l, file)
	}
}

// readJCLIFolder reads one HOOK.yaml. What is wrong with it costs this hook
// alone. Its command runs in its folder, which comes first in PATH.
func readJCLIFolder(l *Loader, in *File) {
	dir := dirOf(in.Path)
	r := &jcliReader{l: l, in: in, source: l.Source(in, "jclifolders"), config: &policy.FileConfig{Dir: dir, Within: in.Within}}
	r.source.Uses = append(r.source.Uses, dir)
	root, found := tree.ParseYAML(diag.NewSource(in.Name, in.Content), 0, len(in.Content))
	if !r.syntax(found) || root == nil {
		return
	}
	h := r.hook(root, append([]string{"events"}, jcliKeys...))
	var hooks []jcliHook
	for _, event := range r.events(root) {
		if h == nil {
			break
		}
		name := filepath.Base(dir)
		h.Description = name
		h.Body.WorkDir = dir
		h.Body.Env = []policy.EnvVar{{Name: "JCLI_HOOK_DIR", Value: dir},
			{Name: "PATH", Value: strings.Join([]string{dir, os.Getenv("PATH")}, string(os.PathListSeparator))}}
		hooks = append(hooks, r.on(h, event, name))
	}
	r.add(hooks)
}

// events reads the events of a hook folder.
func (r *jcliReader) events(root *tree.Node) []policy.Event {
	if root.Shape != tree.Map {
		return nil // which has been reported
	}
	list := root.Get("events")
	if list == nil || list.Shape != tree.List {
		r.wrong(itemSpan(root), "the hook has no list of events")
		return nil
	}
	if len(list.Items) == 0 {
		r.report(codeNative.Report(list.Span, "the list of events is empty: the hook never runs"))
	}
	var out []policy.Event
	for _, n := range list.Items {
		event, ok := r.jcliEvent(n)
		if !ok {
			r.wrong(n.Span, "%q is no event of jcli", n.Text.Value)
			continue
		}
		out = append(out, event)
	}
	return out
}

func (r *jcliReader) jcliEvent(n *tree.Node) (policy.Event, bool) {
	if !n.IsText() {
		return "", false
	}
	d := r.l.dialect
	if !r.l.isJCLI() {
		var err error
		if d, err = agent.Find("jcli"); err != nil {
			panic("source: " + err.Error())
		}
	}
	return d.Event(n.Text.Value)
}

// readJCLIConfig notes which hooks the user turned off.
func readJCLIConfig(l *Loader, in *File) {
	src := diag.NewSource(in.Name, in.Content)
	l.Source(in, "jcliconfig")
	root, found := tree.ParseJSON(src)
	for i := range found {
		found[i].Severity = diag.Warning // jcli goes on with its defaults: no hook is off
	}
	l.Report(in, found...)
	if root == nil || root.Shape != tree.Map || in.Untrusted != "" {
		return
	}
	list := root.Get("disabled_hooks")
	if list == nil {
		return
	}
	for _, n := range list.Items {
		if n.IsText() {
			l.jcli.disabled = append(l.jcli.disabled, n.Text)
		}
	}
}
