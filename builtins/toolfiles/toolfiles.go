// Package toolfiles tells which files a call of a tool names, and where they lie.
package toolfiles

import (
	"net/url"
	"path"
	"strconv"
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
	// Guessed is true for a text of which nothing says that it is a path, and for
	// another spelling of one.
	Guessed bool
}

// pathKeys are the names of arguments that hold a path or a list of paths, moveKeys
// those of calls that move and copy, which a search has not, and contentKeys those of
// what is written: a text may well be about paths. All are in lower case and without
// separators.
var (
	pathKeys = keysOf(policy.FieldPath, " dir folder uri fileuri paths filepaths files include absolutepaths fullpath uris fileuris outputpath outputfile")
	moveKeys = losses.Words("destination dest dst destpath destinationpath newpath source src sourcepath srcpath oldpath movepath target targetpath to from " +
		"sources destinations targets newfile oldfile")
	contentKeys = keysOf(policy.FieldContent, "")
)

// proseKeys hold what is said to somebody, or names of branches.
const proseKeys = "content title body message messages text question questions label description thought result summary plan step steps todo todos subject branch branchname head base ref prompt " +
	"fact comment commitmessage reason explanation note notes activeform"

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
	kind string
	// any is true where nothing is known of the tool, shows where a search shows what it finds.
	writes, any, shows bool
	out                []File
}

//go:noinline
func (f *fileArgs) add(p string, guessed bool) {
	if n := len(f.out); p == "" || n > MaxFiles || n == MaxFiles && guessed {
		return
	} else if n == MaxFiles {
		p = untold
	}
	f.out = append(f.out, File{Path: p, Writes: f.writes, Guessed: guessed})
}

// path adds a path, and what tools take it for: with slashes, without a mention's @, a
// range of lines, or what an editor calls its folder.
func (f *fileArgs) path(p string) {
	f.add(p, false)
	q := strings.ReplaceAll(p, `\`, "/")
	for _, prefix := range []string{"${workspaceFolder}/", "@"} {
		q = strings.TrimPrefix(q, prefix)
	}
	for i := strings.LastIndexByte(q, ':'); i > 1 && strings.Trim(q[i:], ":-0123456789") == ""; i = strings.LastIndexByte(q, ':') {
		q = q[:i]
	}
	if q != p {
		f.add(q, true)
	}
}

// guess adds a text of a tool that may do anything with it: a path on its own,
// after an option, or in JSON that is sent as a text.
func (f *fileArgs) guess(s, key string, depth int) {
	if s == "" {
		return
	}
	if (f.any || losses.In(key, "edits args arguments")) && (s[0] == '{' || s[0] == '[') {
		if v, err := policy.DecodeJSON([]byte(s)); err == nil {
			f.value(v, key, depth+1)
			return
		}
	}
	last := s[strings.LastIndexByte(s, '/')+1:]
	if losses.In(key, proseKeys) || !f.any && (f.kind == toolcall.KindSearch || !losses.In(key, "name location document resource")) ||
		strings.ContainsAny(s, "\n\x00") || len(s) > 4096 || strings.Count(last, " ") > 1 && !strings.Contains(last, ".") {
		return // a sentence
	}
	f.add(s, true)
	if _, value, ok := spell.Cut(s, "="); ok {
		f.add(value, true)
	}
}

// untold is a path that nobody can tell.
const untold = "\x00"

// value adds the paths of an argument: all its texts where its name says that it
// holds paths, else those that say themselves that they are files.
func (f *fileArgs) value(v any, key string, depth int) {
	if depth > MaxDepth {
		f.add(untold, false)
		return
	}
	switch v := v.(type) {
	case string:
		switch {
		case f.kind == toolcall.KindSearch && losses.In(key, "glob include includes includepattern filepattern"):
			if f.shows && v != "" && v[0] != '!' { // of which lines are shown
				f.path("**/" + v)
			}
		case pathKeys()[key] || f.kind != toolcall.KindSearch && moveKeys()[key] || fileURI(v):
			f.path(v)
		}
		f.guess(v, key, depth)
	case []any:
		for _, e := range v {
			f.value(e, key, depth+1)
		}
	case map[string]any:
		f.object(v, depth)
	}
}

func (f *fileArgs) object(args map[string]any, depth int) {
	changes := f.kind == toolcall.KindWrite || f.kind == toolcall.KindEdit
	for _, key := range lists.Keys(args) {
		name := toolcall.Plain(key)
		if f.any {
			f.guess(key, "", depth)
		} else if changes && strings.ContainsAny(key, "/.") && !strings.ContainsAny(key, " \n") {
			f.add(key, true)
		}
		if _, text := args[key].(string); changes && contentKeys()[name] && (text || name != "input" && name != "data") {
			continue
		}
		f.value(args[key], name, depth+1)
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
	tool, args := called(in)
	f := fileArgs{kind: kind, shows: shows(tool, args)}
	unknown := kind == toolcall.KindMCP || kind == toolcall.KindOther
	f.writes = kind == toolcall.KindWrite || kind == toolcall.KindEdit && !views(tool, args) || unknown && !looksOnly(tool, args)
	f.any = f.writes && unknown && !losses.In(toolcall.Plain(tool), talkers)
	f.object(args, 0)
	at := shell.Here(in.Text(policy.FieldCwd), in.Text(policy.FieldProjectRoot))
	dirs := toolcall.Folders(args, at, nil)
	if kind != toolcall.KindWrite && kind != toolcall.KindRead { // what is written may well be about patches
		for _, p := range PatchFiles(PatchText(in)) {
			f.writes = true
			f.add(p, false)
		}
		if s, ok := toolcall.Shell(in); ok {
			for i := range s.Commands {
				if c := &s.Commands[i]; c.Name == "apply_patch" {
					dirs = append(dirs, c.Dir)
				}
			}
		}
	}
	for _, dir := range lists.Without(dirs, func(d *string) bool { return *d == "" || *d == at.Cwd }) {
		f.below(dir)
	}
	return f.out
}

//go:noinline
func called(in *policy.Context) (tool string, args map[string]any) {
	value, _ := in.Get(policy.FieldToolInput)
	args, _ = value.(map[string]any)
	return in.Text(policy.FieldToolName), args
}

// below adds the relative paths as they are in another folder.
func (f *fileArgs) below(dir string) {
	for _, file := range f.out {
		if p := file.Path; p != untold && p[0] != '/' && p[0] != '~' && !fileURI(p) {
			f.writes = file.Writes
			f.add(dir+"/"+p, file.Guessed || len(f.out) == MaxFiles)
		}
	}
}

const (
	// writers are the words in a tool's name that say that it writes, makers those that
	// say so beside one of lookers.
	writers = "write edit update create set put patch append insert save upload push apply modify change copy overwrite store"
	makers  = "generate fix format add make build render export download sync toggle convert compile migrate install init scaffold record"
	lookers = "read get list search find view show stat query fetch describe info grep glob diff log blame status lsp hover lint check test tests open analyze count " +
		"preview validate outline symbols references"
	// talkers are tools that only speak with the user or keep a plan.
	talkers = "todowrite updateplan writetodos managetodolist askuserquestion askfollowupquestion think sequentialthinking attemptcompletion taskcreate taskupdate savememory exitplanmode"
)

// Deed is what a call surely does to the files it names, as far as its tool's name tells:
// read, config where it may only use them, delete or write; else "".
func Deed(in *policy.Context, kind string) string {
	tool, args := called(in)
	words := nameWords(lastName(tool))
	unknown := kind == toolcall.KindMCP || kind == toolcall.KindOther
	switch {
	case kind == toolcall.KindSearch && !shows(tool, args):
	case (unknown || kind == toolcall.KindEdit) && (has(words, "delete rm rmdir unlink trash erase destroy purge") || has(words, "remove") && has(words, "file files dir directory folder path tree")):
		return "delete"
	case kind == toolcall.KindWrite, kind == toolcall.KindShell, kind == toolcall.KindEdit && !views(tool, args), unknown && has(words, "write edit append overwrite create save insert replace"):
		return "write"
	case unknown && has(words, "list ls glob stat info tree find exists dir directory metadata"):
	case unknown && !looksOnly(tool, args) && !has(words, "upload send attach share post"):
		return "config"
	default:
		return "read"
	}
	return ""
}

// shows reports whether a search shows lines of what it finds.
func shows(tool string, args map[string]any) bool {
	mode, told := args["output_mode"].(string)
	return mode == "content" || !told && losses.In(tool, "search_file_content grep_search GrepSearch grep codebase_search search_files grep_files")
}

// views reports whether a call of an editor that has several commands only looks.
func views(tool string, args map[string]any) bool {
	return args["command"] == "view" && losses.In(tool, "str_replace_editor str_replace_based_edit_tool text_editor edit") && (len(args) == 2 || len(args) == 3 && args["view_range"] != nil)
}

// looksOnly reports whether the name of an unknown tool says that it reads.
func looksOnly(tool string, args map[string]any) bool {
	name := lastName(tool)
	words := nameWords(name)
	if has(words, takers) || has(words, writers) {
		return false
	}
	if lists.Some(prefixes, func(p *string) bool { return strings.HasPrefix(strings.ToLower(name), *p) }) {
		return true
	}
	operation, _ := args["operation"].(string)
	if words = append(words, nameWords(operation)...); args["fix"] == true || has(words, takers) || has(words, writers) {
		return false
	}
	return has(words, "git") && has(words, "add commit stage") || has(words, lookers) && !has(words, makers) // git add leaves the files as they are
}

// lastName is a tool's name without that of its server.
func lastName(tool string) string {
	if strings.HasPrefix(tool, "mcp__") {
		return tool[strings.LastIndex(tool, "__")+2:]
	}
	return tool
}

//go:noinline
func has(words []string, list string) bool {
	return lists.Some(words, func(w *string) bool { return losses.In(*w, list) })
}

// prefixes begin the names of tools that read.
var prefixes = []string{"read", "get", "list", "search", "find", "view", "show", "stat", "query", "fetch", "describe", "info", "directory_tree", "grep", "glob"}

// takers are the words in a tool's name that say that it takes what it is given
// away, or puts another thing in its place.
const takers = "delete remove rm rmdir move mv rename trash replace unlink erase wipe clean clear purge drop discard revert restore reset chmod chown mode permission " +
	"permissions truncate sync mirror symlink destroy archive cut recycle"

// TakesAway reports whether a tool says by its name that it takes folders.
func TakesAway(tool string) bool {
	return has(nameWords(tool), takers)
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
		if v != "" && shell.WordIn(key, "patch diff patchtext difftext patchcontent unifieddiff") || shell.WordIn(key, "input command cmd content text") && strings.Contains(v, "*** Begin Patch") {
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
var patchMarks = []string{"diff --git ", "+++ ", "--- ", "*** Add File:", "*** Update File:", "*** Delete File:", "*** Move to:", "rename to ", "rename from ", "copy to ", "Index: "}

// PatchFiles lists the files a patch changes.
func PatchFiles(patch string) []string {
	var out []string
	above := ""
	for _, line := range strings.Split(patch, "\n") {
		line = strings.TrimRight(line, "\r")
		if trimmed := strings.TrimLeft(line, " \t"); strings.HasPrefix(trimmed, "*** ") {
			line = trimmed
		}
		if strings.HasPrefix(line, "<<<<<<< SEARCH") {
			out = addName(out, above, false)
		} else if line != "" && line[0] != '`' {
			above = line
		}
		for i, mark := range patchMarks {
			name, ok := spell.CutPrefix(line, mark)
			if name, _, _ = spell.Cut(name, "\t"); !ok || len(out) >= MaxFiles {
				continue
			}
			if b := strings.LastIndex(name, " b/"); i == 0 && b >= 0 { // of git, both sides
				out = addName(out, name[:b], true)
				name = name[b+1:]
			}
			out = addName(out, name, i < 3)
		}
	}
	return out
}

// addName adds a name of a patch. One of git has a letter before it, which may be any.
func addName(out []string, name string, side bool) []string {
	name = strings.TrimSpace(name)
	if plain, err := strconv.Unquote(name); err == nil {
		name = plain
	}
	if side && len(name) > 2 && name[1] == '/' {
		if name[0] > 'b' {
			out = addName(out, name, false)
		}
		name = name[2:]
	}
	if name == "" || name == "/dev/null" || lists.Has(out, name) {
		return out
	}
	return append(out, name)
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
