package source

import (
	"os"
	"path/filepath"
	"sort"
	"strings"

	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/diag"
	"github.com/hookc/hookc/policy/source/parts"
	"github.com/hookc/hookc/policy/source/plugins"
	"github.com/hookc/hookc/policy/source/tree"
	"github.com/hookc/hookc/policy/trust"
)

// enabledPlugin is what settings say of one plugin, and the tier that says so.
type enabledPlugin struct {
	tier policy.Tier
	on   bool
	at   diag.Span
}

// This format is the list of Claude Code's installed plugins. It is read after the
// settings, which say which of them are enabled.
var _ = register(Format{
	Name:  "claudeplugins",
	Doc:   "hooks of Claude Code's installed plugins",
	Match: func(in *File) bool { return !in.Folder && filepath.Base(in.Path) == "installed_plugins.json" },
	Read:  readPlugins,
})

// notePlugins records which plugins a file enables: of several files the one that
// stands closer holds, and the managed one before all. What an untrusted file says
// does not count.
func (r *settingsReader) notePlugins(root *tree.Node) {
	list := root.Get("enabledPlugins")
	if r.Reading.Plugins == "" || list == nil || r.in.Untrusted != "" || r.in.Plugin != "" {
		return
	}
	if r.l.plugins == nil {
		r.l.plugins = map[string]enabledPlugin{}
	}
	for _, e := range list.Entries {
		id := e.Key.Text.Value
		on, _ := e.Value.Bool()
		before, known := r.l.plugins[id]
		if known && before.tier == policy.TierManaged {
			continue
		}
		if known && before.on && !on && r.in.Tier != policy.TierManaged {
			r.report(codeReplaced.Report(e.Key.Span, "the plugin %s is switched off here: its hooks do not run", id))
		}
		r.l.plugins[id] = enabledPlugin{r.in.Tier, on, e.Key.Span}
	}
}

// joined are the hooks of a plugin's manifest, which may list several maps beside the
// paths of files.
func joined(hooks *tree.Node) *tree.Node {
	if hooks.Shape != tree.List {
		return hooks
	}
	out := &tree.Node{Shape: tree.Map, Span: hooks.Span}
	for _, n := range hooks.Items {
		out.Entries = append(out.Entries, n.Entries...)
	}
	return out
}

func readPlugins(l *Loader, in *File) {
	source := l.Source(in, "claudeplugins")
	roots := l.projectRoots()
	for _, id := range lists.Keys(l.plugins) {
		if !l.plugins[id].on {
			continue
		}
		p, looked := plugins.Find(filepath.Dir(in.Path), id, roots)
		source.Folders = append(source.Folders, looked...)
		if p.Lost != "" {
			l.Report(in, codeNative.Report(l.plugins[id].at, "the plugin %s: %s: Claude Code runs none of those hooks", id, strings.ReplaceAll(p.Lost, "\n", " ")))
		}
		source.Folders = append(source.Folders, l.plugin(in, &p)...)
	}
}

// plugin reads the hooks of a plugin and of its skills; looked are the files and folders
// that decided which those are. Those of its agents the program does not run.
func (l *Loader) plugin(in *File, p *plugins.Plugin) (looked []string) {
	of := func(path, format string) {
		file := in.beside(l.shown(path), path)
		file.Plugin, file.PluginData, file.Required = p.Root, p.Data, l.plugins[p.ID].tier == policy.TierManaged
		if !fromProject(in.Tier) {
			l.hold(file, p.Root)
		}
		if err := l.openFile(file); err != nil {
			l.Report(file, codeFile.Report(diag.Span{}, "%s: %s", file.Name, err))
			return
		}
		if f, _ := lookup(format); path == in.Path { // which is being read
			f.Read(l, file)
			return
		}
		l.load(file, format, l.plugins[p.ID].at)
	}
	for _, path := range p.Files {
		of(path, "claude")
	}
	if p.Root == "" {
		return nil
	}
	found := parts.Find(p.Root)
	for _, path := range found.Skills {
		of(path, skillFormat)
	}
	for _, path := range found.Agents {
		l.Report(in, codeNative.Report(fileSpan(l.shown(path)), "Claude Code does not run the hooks of the agents of a plugin"))
	}
	return found.Looked
}

// This format is a plugin in a folder of skills, which is on unless settings switch it
// off.
var _ = register(Format{
	Name:  pluginFormat,
	Doc:   "hooks of a plugin among Claude Code's skills",
	Match: func(*File) bool { return false },
	Read: func(l *Loader, in *File) {
		source := l.Source(in, pluginFormat)
		config := os.Getenv("CLAUDE_CONFIG_DIR")
		if home, err := os.UserHomeDir(); err == nil && !filepath.IsAbs(config) {
			config = filepath.Join(home, ".claude")
		}
		p, name := plugins.Among(filepath.Join(config, "plugins"), in.Path)
		if said, known := l.plugins[p.ID]; known && !said.on {
			return
		}
		if p.Lost != "" {
			l.Report(in, codeNative.Report(fileSpan(in.Name), "the plugin %s: %s: Claude Code runs none of those hooks", name, strings.ReplaceAll(p.Lost, "\n", " ")))
		}
		source.Folders = append(source.Folders, l.plugin(in, &p)...)
	},
})

// projectRoots are the roots of the projects whose settings were read, and the folder
// the policy is for.
func (l *Loader) projectRoots() []string {
	out := []string{l.dir}
	for _, in := range l.inputs {
		if fromProject(in.Tier) {
			out = append(out, in.Root, filepath.Dir(filepath.Dir(Absolute("", in.Path))))
		}
	}
	sort.Strings(out)
	return lists.Compact(lists.DeleteFunc(out, func(s string) bool { return s == "" }))
}

// hold keeps the hooks of a plugin or an extension from running that lies in a project
// that is worked on: consent does not cover it. Where a home lies in a project, what is
// in it is its user's.
func (l *Loader) hold(file *File, root string) {
	home, err := os.UserHomeDir()
	for _, project := range l.projects {
		if err == nil && isBelow(realPath(project), realPath(home)) && isBelow(realPath(home), realPath(root)) {
			continue
		}
		if isBelow(realPath(project), realPath(root)) && !trust.Open(project).Decreed() {
			file.Within = project
			file.Untrusted = "it lies in the project, and consent does not cover it: whatever writes there could change what runs"
		}
	}
}
