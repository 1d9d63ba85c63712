package builtins

import (
	"slices"
	"strings"

	"github.com/hookc/hookc/policy"
)

// calledFile is a file that a call of a file tool names.
type calledFile struct {
	path   string
	writes bool
}

// fileLists are arguments that hold several paths.
var fileLists = []string{"paths", "file_paths", "filePaths", "files", "include", "absolute_paths"}

// maxCalledFiles bounds what is looked at of one call.
const maxCalledFiles = 512

// calledFiles lists the files a call names, in the order of the arguments'
// names as they are listed here. A tool of which nothing is known writes,
// unless its name says that it only looks.
func calledFiles(in *policy.Context, kind string) []calledFile {
	value, _ := in.Get(policy.FieldToolInput)
	args, _ := value.(map[string]any)
	writes := kind == kindWrite || kind == kindEdit || (kind == kindMCP || kind == kindOther) && !looksOnly(in.Text(policy.FieldToolName))
	var out []calledFile
	add := func(v any) {
		if p, ok := v.(string); ok && p != "" && len(out) < maxCalledFiles {
			out = append(out, calledFile{p, writes})
		}
	}
	addAll := func(args map[string]any) {
		for _, key := range callParts[1].keys {
			add(args[key])
		}
		for _, key := range []string{"destination", "new_path", "source", "old_path", "move_path", "target"} {
			if kind != kindSearch {
				add(args[key])
			}
		}
	}
	addAll(args)
	for _, key := range fileLists {
		list, _ := args[key].([]any)
		for _, v := range list {
			add(v)
			if entry, ok := v.(map[string]any); ok {
				addAll(entry)
			}
		}
	}
	edits, _ := args["edits"].([]any)
	for _, v := range edits {
		if entry, ok := v.(map[string]any); ok {
			addAll(entry)
		}
	}
	if kind == kindWrite || kind == kindRead {
		return out // what is written may well be about patches
	}
	for _, p := range patchFiles(patchText(in)) {
		out = append(out, calledFile{p, true})
	}
	return out
}

// looksOnly reports whether the name of an unknown tool says that it reads.
func looksOnly(tool string) bool {
	if i := strings.LastIndexAny(tool, "_:/."); i >= 0 && strings.HasPrefix(tool, "mcp__") {
		tool = tool[strings.LastIndex(tool, "__")+2:]
	}
	tool = strings.ToLower(tool)
	for _, word := range []string{"read", "get", "list", "search", "find", "view", "show", "stat", "query", "fetch", "describe", "info", "directory_tree", "grep", "glob"} {
		if strings.HasPrefix(tool, word) {
			return true
		}
	}
	return false
}

// patchText is the patch that a call brings, in whatever argument: Codex sends
// one as the input of apply_patch, or as a shell command.
func patchText(in *policy.Context) string {
	value, _ := in.Get(policy.FieldToolInput)
	args, _ := value.(map[string]any)
	for _, key := range []string{"patch", "input", "diff", "command", "cmd", "content", "text"} {
		v := args[key]
		if list, ok := v.([]any); ok && len(list) > 0 {
			v = list[len(list)-1]
		}
		text, _ := v.(string)
		if strings.Contains(text, "*** Begin Patch") || (key == "patch" || key == "diff") && text != "" {
			return text
		}
	}
	return ""
}

// patchMarks begin the lines of a patch that name a file.
var patchMarks = []string{"*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: ", "+++ ", "--- ", "rename to ", "rename from "}

// patchFiles lists the files a patch changes.
func patchFiles(patch string) []string {
	var out []string
	for line := range strings.Lines(patch) {
		line = strings.TrimRight(line, "\r\n")
		i := slices.IndexFunc(patchMarks, func(m string) bool { return strings.HasPrefix(line, m) })
		if i < 0 || len(out) >= maxCalledFiles {
			continue
		}
		name, _, _ := strings.Cut(line[len(patchMarks[i]):], "\t")
		name = strings.TrimSpace(name)
		if strings.HasPrefix(patchMarks[i], "+") || strings.HasPrefix(patchMarks[i], "-") {
			if name == "/dev/null" {
				continue
			}
			if rest, ok := strings.CutPrefix(name, "a/"); ok {
				name = rest
			} else if rest, ok := strings.CutPrefix(name, "b/"); ok {
				name = rest
			}
		}
		if name != "" && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}
