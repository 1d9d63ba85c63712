// Package toolcall reads tool calls: of what kind a tool is, and which derived
// fields (semantics.md §1.3) its arguments hold.
package toolcall

import (
	"slices"
	"strings"

	"github.com/hookc/hookc/builtins/quoting"
	"github.com/hookc/hookc/builtins/shell"
	"github.com/hookc/hookc/internal/lazy"
	"github.com/hookc/hookc/internal/spell"
	"github.com/hookc/hookc/policy"
)

// What tool_kind may be (semantics.md §1.3).
const (
	KindShell  = "shell"
	KindRead   = "read"
	KindWrite  = "write"
	KindEdit   = "edit"
	KindSearch = "search"
	kindFetch  = "fetch"
	kindAgent  = "agent"
	KindMCP    = "mcp"
	KindOther  = "other"
)

// kindTools lists the tools of each kind under the names the known agents
// give them, so that one guard serves several agents.
var kindTools = []struct{ kind, tools string }{
	{KindShell, "Bash Shell run_shell_command BashExecutor exec_command local_shell shell bash container.exec run_command run_terminal_cmd run_in_terminal " +
		"execute_command execute_bash Execute write_stdin unified_exec PowerShell powershell shell_command terminal ShellTool Monitor BashTool " +
		"developer__shell"},
	{KindRead, "Read read_file ReadFile FileReader read_many_files ReadManyFiles NotebookRead fs_read view View view_file view_image read_media_file " +
		"ReadMediaFile open_file read"},
	{KindWrite, "Write write_file WriteFile FileWriter create_file CreateFile Create create fs_write write_to_file write save_file"},
	{KindEdit, "Edit MultiEdit replace str_replace StrReplace StrReplaceFile str_replace_editor str_replace_based_edit_tool apply_patch ApplyPatch " +
		"NotebookEdit edit_file EditFile CodeEditor edit search_replace insert_edit_into_file replace_string_in_file multi_replace_string_in_file " +
		"replace_in_file apply_diff edit_notebook multi_edit multiedit text_editor patch Delete delete_file"},
	{KindSearch, "Glob Grep LS search_file_content grep_search GrepSearch glob grep list_directory list_dir ListDir ls list file_search find_files " +
		"find_by_name codebase_search semantic_search search_files list_files grep_files ToolSearch"},
	{kindFetch, "WebFetch web_fetch WebSearch web_search google_web_search GoogleSearch FetchURL SearchWeb webfetch websearch fetch fetch_webpage fetch_url " +
		"read_url_content search_web open_url"},
	{kindAgent, "Task Agent task agent spawn_agent delegate_to_agent runSubagent run_subagent use_subagent subagent codebase_investigator invoke_agent " +
		"CreateSubagent Workflow"},
}

// mcpPrefixes begin the names of tools of MCP servers: Claude's and Codex's
// mcp__server__tool, Gemini's mcp_server_tool, Cursor's MCP:tool, Kiro's
// @server/tool.
var mcpPrefixes = []string{"mcp__", "mcp_", "MCP:", "@"}

var toolKinds = lazy.Value(func() map[string]string {
	m := map[string]string{}
	for _, k := range kindTools {
		for name := range strings.FieldsSeq(k.tools) {
			if m[name] != "" {
				panic("builtins: tool " + name + " has two kinds")
			}
			m[name] = k.kind
		}
	}
	return m
})

// KindOf is the kind of a tool by its name: shell, read, write, edit,
// search, fetch, agent, mcp, or other when the name is not known.
func KindOf(tool string) string {
	if kind := toolKinds()[tool]; kind != "" {
		return kind
	}
	for _, prefix := range mcpPrefixes {
		if strings.HasPrefix(tool, prefix) {
			return KindMCP
		}
	}
	return KindOther
}

// Names lists the tools whose kind is known by their name, sorted. Any other
// is of kind mcp or other.
func Names() []string { return spell.Keys(toolKinds()) }

// OfKind lists every name whose KindOf is kind; nil for mcp, other and what is
// no kind. The caller may change the list.
//
//go:noinline
func OfKind(kind string) []string {
	for _, k := range kindTools {
		if k.kind == kind {
			return strings.Fields(k.tools)
		}
	}
	return nil
}

// MCPPrefixes begin the names of tools of kind mcp that Names does not list.
func MCPPrefixes() []string { return slices.Clone(mcpPrefixes) }

// HasCommand reports whether a call of a tool may have a command line.
func HasCommand(tool string) bool { return commandPart.of(KindOf(tool)) }

// Part is how a derived field is found in a call's arguments.
type Part struct {
	field policy.Field
	// Kinds are the kinds of tool that have the part. Tools of MCP servers and
	// unknown ones may have any.
	Kinds []string
	// Keys are the names agents give it, in the order in which they are looked
	// for: the first that holds a text, or a list of texts, which are the words of
	// a command line. Callers do not change them.
	Keys []string
	// Edits is the key of a list of edits that is looked at after all of them, ""
	// if there is none.
	Edits string
}

var parts = []Part{
	{policy.FieldCommand, []string{KindShell},
		[]string{"command", "cmd", "script", "command_line", "commandLine", "argv", "chars", "shell_command", "code"}, ""},
	{policy.FieldPath, []string{KindRead, KindWrite, KindEdit, KindSearch},
		[]string{"file_path", "filePath", "absolute_path", "notebook_path", "target_file", "path", "filepath", "file", "filename", "file_name",
			"dir_path", "directory", "relative_path", "target_notebook", "TargetFile", "AbsolutePath"}, ""},
	{policy.FieldContent, []string{KindWrite, KindEdit},
		[]string{"content", "contents", "new_string", "newString", "new_str", "new_source", "file_text", "text", "new_content", "code_edit",
			"replacement", "insert_text", "patch", "diff", "input", "data"}, "edits"},
	{policy.FieldURL, []string{kindFetch},
		[]string{"url", "uri", "address", "href", "urls"}, ""},
}

// commandPart is the row of the command line, which is also parsed.
var commandPart = &parts[0]

func init() {
	policy.Provide(policy.FieldToolArguments, provideArguments)
	policy.Provide(policy.FieldToolKind, func(c *policy.Context) (any, bool) {
		tool := c.Text(policy.FieldToolName)
		return KindOf(tool), tool != ""
	})
	policy.Provide(policy.FieldShell, func(c *policy.Context) (any, bool) {
		if s, ok := Shell(c); ok {
			return s.JSON(), true
		}
		return nil, false
	})
	for i := range parts {
		policy.Provide(parts[i].field, parts[i].provide)
	}
}

// FindPart is how a derived field is found; nil for a field that is found in
// another way.
//
//go:noinline
func FindPart(f policy.Field) *Part {
	for i := range parts {
		if parts[i].field == f {
			return &parts[i]
		}
	}
	return nil
}

func provideArguments(c *policy.Context) (any, bool) {
	input, ok := c.Get(policy.FieldToolInput)
	if !ok {
		return nil, false
	}
	data, err := policy.EncodeJSON(input)
	if err != nil {
		return nil, false
	}
	return string(data), true
}

func (p *Part) provide(c *policy.Context) (any, bool) {
	input, ok := c.Get(policy.FieldToolInput)
	args, isObject := input.(map[string]any)
	if !ok || !isObject || !p.of(KindOf(c.Text(policy.FieldToolName))) {
		return nil, false
	}
	for _, key := range p.Keys {
		if text, ok := partText(args[key]); ok {
			return text, true
		}
	}
	if p.Edits != "" {
		return editsText(args[p.Edits])
	}
	return nil, false
}

func (p *Part) of(kind string) bool {
	return kind == KindMCP || kind == KindOther || slices.Contains(p.Kinds, kind)
}

// partText is a part as text: a string as it is, a list of strings as a
// command line whose words are quoted where they must be.
func partText(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case []any:
		words := make([]string, len(v))
		for i, w := range v {
			s, ok := w.(string)
			if !ok {
				return "", false
			}
			words[i] = quoting.Quote(s)
		}
		return strings.Join(words, " "), len(words) > 0
	}
	return "", false
}

// editsText is what a list of edits writes: their new texts, a line each.
func editsText(v any) (any, bool) {
	edits, ok := v.([]any)
	if !ok {
		return nil, false
	}
	var out []string
	for _, e := range edits {
		edit, _ := e.(map[string]any)
		for _, key := range []string{"new_string", "newString", "new_str", "replacement", "content"} {
			if s, ok := edit[key].(string); ok {
				out = append(out, s)
				break
			}
		}
	}
	return strings.Join(out, "\n"), len(out) > 0
}

// Shell returns what the command line of a shell call would do; false when
// the event is no shell call. It is computed at most once per Context, and is
// what the field `shell` shows.
func Shell(c *policy.Context) (*shell.Line, bool) {
	s, _ := c.Memo(policy.FieldShell, func(c *policy.Context) any {
		if line, ok := Command(c); ok {
			return shell.Parse(line, Place(c))
		}
		return nil
	}).(*shell.Line)
	return s, s != nil
}

// Place is where a shell call runs, and the shell that it says reads it.
func Place(c *policy.Context) shell.At {
	at := shell.Here(c.Text(policy.FieldCwd), c.Text(policy.FieldProjectRoot))
	at.Shell = shell.DialectOf(c.Text(policy.FieldToolName))
	value, _ := c.Get(policy.FieldToolInput)
	if args, _ := value.(map[string]any); at.Shell == "" {
		for _, key := range []string{"shell", "shell_type", "shellType", "interpreter"} {
			if name, _ := args[key].(string); name != "" {
				at.Shell = shell.DialectOf(name)
			}
		}
	}
	return at
}

// Command is the command line of a call, as it is found in the call's input.
//
//go:noinline
func Command(c *policy.Context) (string, bool) {
	v, _ := commandPart.provide(c)
	line, ok := v.(string)
	return line, ok
}
