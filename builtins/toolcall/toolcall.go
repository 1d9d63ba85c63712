// Package toolcall reads tool calls: of what kind a tool is, and which derived
// fields (semantics.md §1.3) its arguments hold.
package toolcall

import (
	"path"
	"strings"
	"unicode"

	"github.com/hookc/hookc/builtins/losses"
	"github.com/hookc/hookc/builtins/quoting"
	"github.com/hookc/hookc/builtins/shell"
	"github.com/hookc/hookc/internal/fault"
	"github.com/hookc/hookc/internal/lazy"
	"github.com/hookc/hookc/internal/lists"
	"github.com/hookc/hookc/internal/paths"
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
		for _, name := range strings.Fields(k.tools) {
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
func Names() []string { return lists.Keys(toolKinds()) }

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
func MCPPrefixes() []string { return lists.Copy(mcpPrefixes) }

// HasCommand reports whether a call of a tool may have a command line.
func HasCommand(tool string) bool { return commandPart.of(KindOf(tool)) }

// Part is how a derived field is found in a call's arguments.
type Part struct {
	field policy.Field
	// Kinds are the kinds of tool that have the part. Tools of MCP servers and
	// unknown ones may have any.
	Kinds []string
	// Keys are the names agents give it, in the order in which they are looked
	// for: those that hold a text, or a list of texts, which are the words of
	// a command line. Letter case and what stands between words do not count
	// (Plain). Callers do not change them.
	Keys []string
	// each says that all texts count, a line each, those in lists and objects too: a call
	// may do what any of them says. Of other parts the first counts, and Doubt tells of a
	// further one.
	each bool
}

var parts = []Part{
	{policy.FieldCommand, []string{KindShell},
		[]string{"command", "cmd", "script", "command_line", "commandLine", "argv", "chars", "shell_command", "code"}, true},
	{policy.FieldPath, []string{KindRead, KindWrite, KindEdit, KindSearch},
		[]string{"file_path", "filePath", "absolute_path", "notebook_path", "target_file", "path", "filepath", "file", "filename", "file_name",
			"dir_path", "directory", "relative_path", "target_notebook", "TargetFile", "AbsolutePath"}, false},
	{policy.FieldContent, []string{KindWrite, KindEdit},
		[]string{"content", "contents", "new_string", "newString", "new_str", "new_source", "file_text", "text", "new_content", "code_edit",
			"replacement", "insert_text", "patch", "diff", "input", "data"}, true},
	{policy.FieldURL, []string{kindFetch},
		[]string{"url", "uri", "address", "href", "urls"}, false},
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
		if s, ok := Shell(c); ok && HasCommand(c.Text(policy.FieldToolName)) {
			return s.JSON(), true
		}
		return nil, false
	})
	for i := range parts {
		policy.Provide(parts[i].field, parts[i].provide)
	}
}

// plainKeys has the part of each key, without its spelling.
var plainKeys = lazy.Value(func() map[string]*Part {
	m := map[string]*Part{}
	for i := range parts {
		for _, key := range parts[i].Keys {
			m[Plain(key)] = &parts[i]
		}
	}
	return m
})

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

// Keys are the Keys of all parts.
func Keys() [][]string {
	out := make([][]string, len(parts))
	for i := range parts {
		out[i] = parts[i].Keys
	}
	return out
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
	texts := p.texts(c)
	switch {
	case len(texts) == 0:
		return nil, false
	case p.each:
		return strings.Join(texts, "\n"), true
	}
	return texts[0], true
}

// texts are the different texts that a call has for a part, in the order of the keys.
// An empty one counts where there is no other.
func (p *Part) texts(c *policy.Context) []string {
	input, _ := c.Get(policy.FieldToolInput)
	args, isObject := input.(map[string]any)
	if !isObject || !p.of(KindOf(c.Text(policy.FieldToolName))) {
		return nil
	}
	out := p.find(args, nil)
	if len(out) > 1 {
		out = lists.DeleteFunc(out, func(s string) bool { return s == "" })
	}
	return out
}

// find adds the texts of an object, and where each counts those of the objects in it.
func (p *Part) find(args map[string]any, out []string) []string {
	for _, key := range p.Keys {
		out = addText(out, args[key])
	}
	more := false
	for key, v := range args {
		more = more || p.each && inner(v) || p.spelt(key)
	}
	if !more {
		return out
	}
	for _, key := range lists.Keys(args) {
		if p.spelt(key) {
			out = addText(out, args[key])
		}
		if p.each {
			out = p.within(args[key], out)
		}
	}
	return out
}

// addText adds a value that is a text, once.
//
//go:noinline
func addText(out []string, v any) []string {
	if text, ok := partText(v); ok && !lists.Has(out, text) {
		out = append(out, text)
	}
	return out
}

// inner reports whether a value may have objects in it.
func inner(v any) bool {
	switch v := v.(type) {
	case map[string]any:
		return true
	case []any:
		_, plain := partText(v)
		return !plain
	}
	return false
}

// within adds the texts of the objects in a value.
func (p *Part) within(v any, out []string) []string {
	switch v := v.(type) {
	case map[string]any:
		return p.find(v, out)
	case []any:
		for _, e := range v {
			out = p.within(e, out)
		}
	}
	return out
}

// spelt reports whether a key is one of Keys in another spelling.
func (p *Part) spelt(key string) bool {
	return len(key) < 64 && plainKeys()[Plain(key)] == p && !lists.Has(p.Keys, key)
}

// Plain is an argument's name without what agents write differently: some of them read
// names in any letter case, as Go's own reader of JSON does.
func Plain(key string) string {
	if !strings.ContainsFunc(key, func(r rune) bool { return r < 'a' && (r < '0' || r > '9') || r >= 0x80 }) {
		return key
	}
	out := make([]rune, 0, len(key))
	for _, r := range key {
		switch r = unicode.ToLower(r); r {
		case '_', '-', ' ':
		case 0x17f: // which folds to it
			out = append(out, 's')
		default:
			out = append(out, r)
		}
	}
	return string(out)
}

// Unfit says why a call cannot be decided (policy.Context.Unfit), or what it is about not be
// told where reads look at that: the input of a guarded call of a known tool has two different
// files, or addresses, under names of the same thing.
func Unfit(c *policy.Context, e policy.Event, reads policy.Paths) error {
	if err := c.Unfit(e); err != nil {
		return err
	}
	return Doubt(c, e, reads)
}

// Doubt is Unfit of a call that names its tool.
func Doubt(c *policy.Context, e policy.Event, reads policy.Paths) error {
	if !e.NeedsTool() {
		return nil
	}
	for i := range parts {
		p := &parts[i]
		if !p.each && reads.Covers(policy.Path{Field: p.field}) && lists.Has(p.Kinds, KindOf(c.Text(policy.FieldToolName))) {
			if texts := p.texts(c); len(texts) > 1 {
				return fault.Errorf("the tool's input has two different values of %s: %q and %q", p.field, texts[0], texts[1])
			}
		}
	}
	return nil
}

func (p *Part) of(kind string) bool {
	return kind == KindMCP || kind == KindOther || lists.Has(p.Kinds, kind)
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

// Shell returns what the command lines of a call would do; false when it has
// none. It is computed at most once per Context, and is what the field `shell`
// shows of calls that may have a command line.
func Shell(c *policy.Context) (*shell.Line, bool) {
	s, _ := c.Memo(policy.FieldShell, func(c *policy.Context) any {
		if s := Parse(c, 0); s != nil {
			return s
		}
		return nil
	}).(*shell.Line)
	return s, s != nil
}

// Parse is Shell for lines of at most so many bytes, 0 for as many as are usual; nil when the
// event is no shell call. Each line is read on its own, in each shell and each folder that the
// call names, and in the event's own folder, for the tool may not know the name: one that is not
// closed hides nothing of another.
func Parse(c *policy.Context, maxBytes int) *shell.Line {
	var out *shell.Line
	at := shell.Here(c.Text(policy.FieldCwd), c.Text(policy.FieldProjectRoot))
	at.MaxBytes = maxBytes
	offset := 0
	input, _ := c.Get(policy.FieldToolInput)
	dirs := Folders(input, at, []string{at.Cwd})
	for _, line := range lines(c) {
		for _, name := range shells(c) {
			for _, at.Cwd = range dirs {
				at.Shell = name
				out = joined(out, shell.Parse(line, at), offset)
			}
		}
		offset += len(line) + 1
	}
	return out
}

// joined is what two lines do. It takes both.
func joined(a, b *shell.Line, offset int) *shell.Line {
	if a == nil {
		return b
	}
	first, pipes := len(a.Commands), 0
	for i := range a.Commands {
		pipes = max(pipes, a.Commands[i].Pipe)
	}
	for i := range b.Commands {
		c := &b.Commands[i]
		if c.Offset += offset; c.Pipe > 0 {
			c.Pipe += pipes
		}
	}
	for i := range b.Effects {
		e := &b.Effects[i]
		if e.Offset += offset; e.Command >= 0 {
			e.Command += first
		}
	}
	a.Commands, a.Effects = append(a.Commands, b.Commands...), append(a.Effects, b.Effects...)
	a.Dynamic, a.Unknown = a.Dynamic || b.Dynamic, append(a.Unknown, b.Unknown...)
	return a
}

// Folders adds to out those in which a call may run its command lines: each that it names, at
// whatever depth, "" for one that nobody can tell.
func Folders(v any, at shell.At, out []string) []string {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			out = Folders(e, at, out)
		}
	case map[string]any:
		for _, key := range lists.Keys(v) {
			if losses.In(Plain(key), "workdir workingdir workingdirectory workdirectory cwd dir directory dirpath chdir currentdir currentdirectory folder workspace repopath rootdir basepath projectpath workspaceroot") {
				out = lists.Add(out, []string{folder(v[key], at)})
			} else {
				out = Folders(v[key], at, out)
			}
		}
	}
	return out
}

// folder is the folder that a value names; the event's own where it names none.
func folder(v any, at shell.At) string {
	text, known := v.(string)
	dir := paths.Slash(text)
	switch {
	case v == nil || known && dir == "":
		return at.Cwd
	case !known || strings.ContainsAny(dir, "$`*?"):
		return ""
	case dir == "~" || strings.HasPrefix(dir, "~/"):
		return path.Join(at.Home, dir[1:])
	case dir[0] == '/' || len(dir) > 1 && dir[1] == ':':
		return path.Clean(dir)
	case dir[0] == '~' || at.Cwd == "":
		return ""
	}
	return path.Join(at.Cwd, dir)
}

// shells are the shells that a call says read its command lines, "" for those of POSIX.
func shells(c *policy.Context) []string {
	tool := c.Text(policy.FieldToolName)
	if name := shell.DialectOf(tool); name != "" {
		return []string{name}
	}
	if words := losses.Tokens(tool); lists.Has(words, "pwsh") || lists.Has(words, "powershell") { // executePwsh
		return []string{"powershell"}
	}
	var out []string
	value, _ := c.Get(policy.FieldToolInput)
	args, _ := value.(map[string]any)
	for key, v := range args {
		if name, _ := v.(string); name != "" && losses.In(Plain(key), "shell shelltype interpreter") {
			out = append(out, shell.DialectOf(name))
		}
	}
	if len(out) == 0 {
		return []string{""}
	}
	return lists.Distinct(out)
}

// Command is the command line of a call, as it is found in the call's input: several are
// a line each.
//
//go:noinline
func Command(c *policy.Context) (string, bool) {
	v, _ := commandPart.provide(c)
	line, ok := v.(string)
	return line, ok
}

// Unreadable reports whether a shell call has a list under a key of the command line that is
// none of words: nobody can tell what the agent makes of it.
func Unreadable(c *policy.Context) bool {
	input, _ := c.Get(policy.FieldToolInput)
	args, _ := input.(map[string]any)
	for key, v := range args {
		if list, ok := v.([]any); ok && len(list) > 0 && inner(v) && (lists.Has(commandPart.Keys, key) || commandPart.spelt(key)) {
			return true
		}
	}
	return false
}
