package source

import (
	"path/filepath"
	"strings"

	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/agent"
	"github.com/hookc/hookc/policy/diag"
	"github.com/hookc/hookc/policy/source/tree"
)

// registerExtensions adds the reader of the folder of an agent's extensions. It is read
// after the settings, which say which of them may be loaded.
func registerExtensions(s *settings) {
	register(Format{
		Name: s.id + "extensions",
		Doc:  "hooks of the extensions of " + lists.First(s.Reading.Called, s.id),
		Match: func(in *File) bool {
			return in.Folder && filepath.Base(in.Path) == "extensions" && filepath.Base(filepath.Dir(in.Path)) == "."+s.id
		},
		Read: s.readExtensions,
	})
}

// extensionSettings notes what settings say of extensions.
func (r *settingsReader) extensionSettings(root *tree.Node) {
	c := &r.l.fork
	if security := root.Get("security"); security != nil {
		if list := security.Get("allowedExtensions"); list != nil && list.Shape == tree.List {
			c.extensions.Allowed = nil
			for _, n := range list.Items {
				c.extensions.Allowed = append(c.extensions.Allowed, n.Text.Value)
			}
		}
		if n := security.Get("blockGitExtensions"); n != nil {
			c.extensions.NoRemote = isTrue(n)
		}
	}
	if experimental := root.Get("experimental"); experimental != nil {
		if n := experimental.Get("extensionConfig"); n != nil {
			c.noSettings = !isTrue(n)
		}
	}
}

func (s *settings) readExtensions(l *Loader, in *File) {
	source := l.Source(in, s.id+"extensions")
	program := l.fork.extensions
	program.Manifest, program.Inline = s.Reading.Extension, s.Reading.References == agent.NamedReferences
	program.Settings = !program.Inline && !l.fork.noSettings
	found, looked := program.Find(in.Path, realPath(Absolute("", l.workspace)))
	source.Folders = append(looked, in.Path)
	for i := range found {
		x := &found[i]
		at := fileSpan(l.shown(filepath.Join(x.Root, s.Reading.Extension)))
		switch {
		case x.Lost != "":
			l.Report(in, codeNative.Report(at, "the extension %s is not loaded: %s: none of its hooks runs", x.Name, strings.ReplaceAll(x.Lost, "\n", " ")))
			continue
		case x.Hooks == "":
			continue
		case x.Off != "":
			d := codeReplaced.Report(fileSpan(l.shown(in.Path)), "the extension %s is disabled here by %q: its hooks do not run", x.Name, x.Off)
			d.Severity = diag.Hint // somebody meant it
			l.Report(in, d)
		case x.Unread != "":
			l.Report(in, codeUnrun.Report(at, "hookc does not read all that its user set of the extension %s: %s", x.Name, x.Unread))
		}
		file := in.beside(l.shown(x.Hooks), x.Hooks)
		file.Extension, file.Off = x, x.Off != ""
		l.hold(file, x.Root)
		if err := l.openFile(file); err != nil {
			l.Report(file, codeFile.Report(diag.Span{}, "%s: %s", file.Name, err))
			continue
		}
		l.load(file, s.id, at)
	}
}

// bare is a file of an extension of Qwen Code, which may have its events at the top.
func (r *settingsReader) bare(root *tree.Node) *tree.Node {
	if hooks := root.Get("hooks"); hooks != nil && hooks.Shape != tree.Scalar {
		return hooks
	}
	if r.in.Tier == policy.TierExtension && r.Reading.References == agent.NamedReferences && filepath.Base(r.in.Path) != r.Reading.Extension {
		return root
	}
	return root.Get("hooks")
}
