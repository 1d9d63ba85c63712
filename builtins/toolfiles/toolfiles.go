// Package toolfiles tells which files a call of a tool names, and where they lie.
package toolfiles

import (
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/hookc/hookc/builtins/losses"
	"github.com/hookc/hookc/builtins/shell"
	"github.com/hookc/hookc/builtins/toolcall"
	"github.com/hookc/hookc/internal/lazy"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/internal/paths"
	"github.com/hookc/hookc/internal/spell"
	"github.com/hookc/hookc/policy"
)

// File is a file that a call of a tool names.
type File struct {
	// Path is as it is written there (At).
	Path string
	// Writes is true where the call may change the file.
	Writes bool
	// Guessed is true for a text of which nothing says that it is a path.
	Guessed bool
}

// pathKeys are the names of arguments that hold a path or a list of paths, moveKeys
// those of calls that move and copy, which a search has not, and contentKeys those of
// what is written: a text may well be about paths. All are in lower case and without
// separators.
var (
	pathKeys = keysOf(policy.FieldPath, " dir folder uri fileuri paths filepaths files include absolutepaths uris fileuris outputpath outputfile")
	moveKeys = losses.Words("destination dest dst destpath destinationpath newpath source src sourcepath srcpath oldpath movepath target targetpath to from " +
		"sources destinations targets newfile oldfile")
	contentKeys = keysOf(policy.FieldContent, "")
)

// keysOf are the names of arguments that hold a field, and more.
func keysOf(field policy.Field, more string) func() map[string]bool {
	return lazy.Value(func() map[string]bool {
		for _, key := range toolcall.FindPart(field).Keys {
			more += " " + toolcall.Plain(key)
		}
		return losses.Words(more)()
	})
}

const (
	// MaxFiles bounds what is looked at of one call, MaxDepth how deep its arguments
	// nest. What exceeds them is a path that cannot be told.
	MaxFiles = 512
	MaxDepth = 16
)

// fileArgs collects the files that the arguments of a call name, at any depth.
type fileArgs struct {
	kind   string
	writes bool
	out    []File
}

//go:noinline
func (f *fileArgs) add(p string) {
	switch {
	case p == "":
	case len(f.out) < MaxFiles:
		f.out = append(f.out, File{Path: p, Writes: f.writes})
	case len(f.out) == MaxFiles:
		f.out = append(f.out, File{Path: untold, Writes: f.writes})
	}
}

// guess adds a text of a tool that may do anything with it: a path on its own,
// after an option, or in JSON that is sent as a text.
func (f *fileArgs) guess(s string, depth int) {
	if !f.writes || f.kind != toolcall.KindMCP && f.kind != toolcall.KindOther || s == "" || len(f.out) >= MaxFiles {
		return
	}
	if s[0] == '{' || s[0] == '[' {
		if v, err := policy.DecodeJSON([]byte(s)); err == nil {
			f.value(v, false, depth+1)
			return
		}
	}
	last := s[strings.LastIndexByte(s, '/')+1:]
	if strings.ContainsAny(s, "\n\x00") || len(s) > 4096 || strings.Count(last, " ") > 1 && !strings.Contains(last, ".") {
		return // a sentence
	}
	f.out = append(f.out, File{Path: s, Writes: true, Guessed: true})
	if _, value, ok := spell.Cut(s, "="); ok {
		f.out = append(f.out, File{Path: value, Writes: true, Guessed: true})
	}
}

// untold is a path that nobody can tell.
const untold = "\x00"

// value adds the paths of an argument: all its texts where its name says that it
// holds paths, else those that say themselves that they are files.
func (f *fileArgs) value(v any, named bool, depth int) {
	if depth > MaxDepth {
		f.add(untold)
		return
	}
	switch v := v.(type) {
	case string:
		if named || fileURI(v) {
			f.add(v)
		}
		f.guess(v, depth)
	case []any:
		for _, e := range v {
			f.value(e, named, depth+1)
		}
	case map[string]any:
		f.object(v, depth)
	}
}

func (f *fileArgs) object(args map[string]any, depth int) {
	for _, key := range lists.Keys(args) {
		name := toolcall.Plain(key)
		f.guess(key, depth)
		if _, text := args[key].(string); contentKeys()[name] && (text || name != "input" && name != "data") && (f.kind == toolcall.KindWrite || f.kind == toolcall.KindEdit) {
			continue
		}
		f.value(args[key], pathKeys()[name] || f.kind != toolcall.KindSearch && moveKeys()[name], depth+1)
	}
}

// fileURI reports whether a text is a file's address.
func fileURI(s string) bool {
	return len(s) > len("file:") && strings.EqualFold(s[:len("file:")], "file:")
}

// Of lists the files that a call of a tool of some kind names, in the order of the
// arguments' names. A tool of which nothing is known writes, unless its name says that it
// only looks.
func Of(in *policy.Context, kind string) []File {
	value, _ := in.Get(policy.FieldToolInput)
	args, _ := value.(map[string]any)
	writes := kind == toolcall.KindWrite || kind == toolcall.KindEdit || (kind == toolcall.KindMCP || kind == toolcall.KindOther) && !looksOnly(in.Text(policy.FieldToolName))
	f := fileArgs{kind: kind, writes: writes}
	f.object(args, 0)
	if kind == toolcall.KindWrite || kind == toolcall.KindRead {
		return f.out // what is written may well be about patches
	}
	for _, p := range PatchFiles(PatchText(in)) {
		f.writes = true
		f.add(p)
	}
	return f.out
}

// writers are the words in a tool's name that say that it writes.
var writers = losses.Words("write edit update create set put patch append insert save upload push apply modify change copy overwrite store")

// looksOnly reports whether the name of an unknown tool says that it reads.
func looksOnly(tool string) bool {
	if i := strings.LastIndexAny(tool, "_:/."); i >= 0 && strings.HasPrefix(tool, "mcp__") {
		tool = tool[strings.LastIndex(tool, "__")+2:]
	}
	if TakesAway(tool) || slices.ContainsFunc(nameWords(tool), func(w string) bool { return writers()[w] }) {
		return false
	}
	return slices.ContainsFunc(lookers, func(word string) bool { return strings.HasPrefix(strings.ToLower(tool), word) })
}

// lookers begin the names of tools that read.
var lookers = []string{"read", "get", "list", "search", "find", "view", "show", "stat", "query", "fetch", "describe", "info", "directory_tree", "grep", "glob"}

// takers are the words in a tool's name that say that it takes what it is given
// away, or puts another thing in its place.
var takers = losses.Words("delete remove rm rmdir move mv rename trash replace unlink erase wipe clean clear purge drop discard revert restore reset chmod chown mode permission " +
	"permissions truncate sync mirror symlink destroy archive cut recycle")

// TakesAway reports whether a tool says by its name that it takes folders.
func TakesAway(tool string) bool {
	return slices.ContainsFunc(nameWords(tool), func(w string) bool { return takers()[w] })
}

// nameWords are the words of a tool's name: delete_file, deleteFile, fs/rm-rf.
func nameWords(tool string) []string { return losses.Tokens(tool[max(0, len(tool)-120):]) }

// PatchText is the patches that a call brings, in whatever arguments: Codex sends
// one as the input of apply_patch, or as a shell command.
func PatchText(in *policy.Context) string {
	value, _ := in.Get(policy.FieldToolInput)
	var found []string
	patchesIn(value, "", &found)
	return strings.Join(found, "\n")
}

// patchesIn adds the patches in the value of an argument.
func patchesIn(v any, key string, found *[]string) {
	switch v := v.(type) {
	case string:
		if v != "" && shell.WordIn(key, "patch diff") || shell.WordIn(key, "input command cmd content text") && strings.Contains(v, "*** Begin Patch") {
			*found = append(*found, v)
		}
	case []any:
		for _, e := range v {
			patchesIn(e, key, found)
		}
	case map[string]any:
		for _, k := range lists.Keys(v) {
			patchesIn(v[k], toolcall.Plain(k), found)
		}
	}
}

// patchMarks begin the lines of a patch that name a file.
var patchMarks = []string{"*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: ", "+++ ", "--- ", "rename to ", "rename from "}

// PatchFiles lists the files a patch changes.
func PatchFiles(patch string) []string {
	var out []string
	for line := range strings.Lines(patch) {
		line = strings.TrimRight(line, "\r\n")
		i := slices.IndexFunc(patchMarks, func(m string) bool { return strings.HasPrefix(line, m) })
		if i < 0 || len(out) >= MaxFiles {
			continue
		}
		name, _, _ := spell.Cut(line[len(patchMarks[i]):], "\t")
		name = strings.TrimSpace(name)
		if strings.HasPrefix(patchMarks[i], "+") || strings.HasPrefix(patchMarks[i], "-") {
			if rest, ok := spell.CutPrefix(name, "a/"); ok {
				name = rest
			} else {
				name = strings.TrimPrefix(name, "b/")
			}
		}
		if name != "" && name != "/dev/null" && !lists.Has(out, name) {
			out = append(out, name)
		}
	}
	return out
}

// At is the path of a File as an absolute path.
func At(p string, at shell.At) (string, bool) {
	if fileURI(p) {
		plain, err := url.PathUnescape(p[len("file:"):])
		if err != nil {
			return "", false
		}
		rest, full := spell.CutPrefix(plain, "//")
		if host, file, ok := spell.Cut(rest, "/"); full && ok && (host == "" || strings.EqualFold(host, "localhost")) {
			plain = "/" + file
		}
		p = strings.TrimPrefix(plain, "//")
	}
	if p == "" || strings.IndexByte(p, 0) >= 0 {
		return "", false
	}
	p = paths.Slash(p)
	if p == "~" || strings.HasPrefix(p, "~/") {
		if at.Home == "" {
			return "", false
		}
		p = at.Home + p[1:]
	}
	base := at.Cwd
	if base == "" {
		base = at.Root
	}
	p, ok := paths.Abs(p, base)
	return p, ok && strings.HasPrefix(p, "/") || ok && path.IsAbs(p) || ok && len(p) > 2 && p[1] == ':'
}
