// Package source reads policies from files: hooks.yaml, HOOK.md folders, agents' own
// settings and what else is registered, into one policy.Policy whose every string
// still knows where it was written. A source format is one file of this package that
// registers one Format value; the settings of an agent need none, since one reader
// reads them as the agent's own file says (package agent). Package tree reads the
// files themselves, package print writes them.
package source

import (
	"fmt"
	"slices"
	"sort"

	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/policy"
	"github.com/hookc/hookc/policy/source/extensions"
	"github.com/hookc/hookc/policy/trust"
)

// Format is one way of writing hooks down.
type Format struct {
	// Name is the id that `--format` takes.
	Name string
	// Doc says in a line what it reads.
	Doc string
	// Match reports whether the format reads the file or folder. It looks at
	// the name first and at the content only when the name does not tell.
	Match func(in *File) bool
	// Read adds what the file or folder holds to the policy, and what is
	// wrong with it to the diagnostics. It returns normally in every case.
	Read func(l *Loader, in *File)
}

// File is a file or folder about to be read.
type File struct {
	// Name is what people are shown, Path absolute and clean.
	Name, Path string
	// Folder is true for a folder; Content is empty then.
	Folder  bool
	Content string
	Tier    policy.Tier
	// Untrusted says why its hooks do not run, or is empty.
	Untrusted string
	// Root, Segment, Tree, Live and Within are those of the input that led to it.
	Root    string
	Segment int
	Tree    *trust.Tree
	Live    bool
	Within  string
	// Plugin is the root of the plugin that it is of, PluginData where that keeps its
	// data; "" if there is none.
	Plugin, PluginData string
	// Required is true where a managed file enables that plugin.
	Required bool
	// Part is what the skill or agent is called that it is, "" for neither.
	Part string
	// Extension is the extension that it is of, nil if there is none.
	Extension *extensions.Extension
	// source is what was noted of the file.
	source *policy.SourceFile
	// Off is true when the file, or one that includes it, says enabled: false.
	Off bool
}

// beside is another file of the same origin.
//
//go:noinline
func (f *File) beside(name, path string) *File {
	out := *f
	out.Name, out.Path, out.Folder, out.Content, out.source = name, path, false, "", nil
	return &out
}

var formats []Format

// register adds a format. It panics on a duplicate or an incomplete value, so
// a mistake is found when the package loads.
func register(f Format) Format {
	if f.Name == "" || f.Doc == "" || f.Match == nil || f.Read == nil {
		panic(fmt.Sprintf("source: format %q is incomplete", f.Name))
	}
	if _, dup := lookup(f.Name); dup {
		panic("source: format " + f.Name + " is registered twice")
	}
	formats = append(formats, f)
	sort.Slice(formats, func(i, j int) bool { return formats[i].Name < formats[j].Name })
	return f
}

//go:noinline
func lookup(name string) (Format, bool) {
	i := slices.IndexFunc(formats, func(f Format) bool { return f.Name == name })
	if i < 0 {
		return Format{}, false
	}
	return formats[i], true
}

// Formats lists every format by name.
func Formats() []Format { return lists.Copy(formats) }

// Names lists the ids `--format` takes, sorted.
//
//go:noinline
func Names() []string {
	out := make([]string, len(formats))
	for i, f := range formats {
		out[i] = f.Name
	}
	return out
}
